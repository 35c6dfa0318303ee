"""The folder that `--out` writes: mapping, statistics, picture and trace; whole or not at all."""

import csv
import json
import os
import shutil
from pathlib import Path

from ..workloads import Fault
from .figures import draw_energy
from .mapping_file import mapping_yaml
from .report import NetworkResult, Result, result_json


def folder_faults(folder: Path) -> list[Fault]:
    """Why results cannot be written to `folder`; asked before a search, so that none is lost."""
    if folder.is_dir() and any(folder.iterdir()):
        return [_fault(folder, "already holds files, and results are never mixed: name another folder or remove it")]
    if folder.exists() and not folder.is_dir():
        return [_fault(folder, "must be a folder, but is a file")]
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        return [_fault(folder, f"cannot be made: {above} is not a folder that you may write to")]
    return []


def write_folder(result: Result | NetworkResult, folder: Path) -> None:
    """Write the found `result`; a network has a folder per layer besides its own totals.

    The files are written to a sibling that is then renamed, so `folder` never holds half a result.
    """
    folder = folder.absolute()
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        _write(result, part)
        if folder.exists():
            folder.rmdir()  # empty: folder_faults saw to it
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _fault(folder: Path, message: str) -> Fault:
    return Fault("out", None, str(folder), message)


def _write(result: Result | NetworkResult, folder: Path) -> None:
    (folder / "stats.json").write_text(json.dumps(result_json(result), indent=2, allow_nan=False) + "\n")
    draw_energy(result, folder / "energy.png")
    if isinstance(result, NetworkResult):
        for number, (layer, _) in enumerate(result.layers, 1):
            inner = folder / f"{number:02d}_{layer.workload.name.replace('/', '_')}"
            inner.mkdir()
            _write(layer, inner)
    else:
        assert result.batch is not None, "nothing was found, so nothing is written"
        (folder / "mapping.yaml").write_text(mapping_yaml(result.batch))
        with (folder / "trace.csv").open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["mappings", f"best_{result.objective}"])
            rows.writerows(result.statistics.trace)
