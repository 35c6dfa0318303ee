"""The folder that `--out` writes: mapping, statistics, pictures, trace and front, beside the checkpoint."""

import csv
import json
import os
import shutil
from pathlib import Path

from ..workloads import Fault, InputError
from .checkpoint import NAME
from .figures import draw_convergence, draw_energy, draw_front
from .mapping_file import mapping_yaml
from .report import NetworkResult, Result, result_json

PART = ".part"  # while results are being written
DPI = 200  # of pictures


def folder_faults(folder: Path) -> list[Fault]:
    """Why results cannot be written to `folder`; asked before a search, so that none is lost."""
    if (folder / NAME).exists():
        return []  # the checkpoint says whether the run may go on here
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

    The files are written in a folder beside their places and then moved, `stats.json` last, so what it describes is
    there. Files of the same run, written when it was interrupted, are replaced. Raises InputError where that fails.
    """
    part = folder / PART
    try:
        shutil.rmtree(part, ignore_errors=True)  # left by a run that was killed here
        part.mkdir(parents=True)
        _write(result, part)
        for path in sorted(part.iterdir(), key=lambda path: path.name == "stats.json"):
            shutil.rmtree(folder / path.name, ignore_errors=True)
            path.replace(folder / path.name)
    except OSError as error:
        why = f"the results cannot be written ({error.strerror}): make room and give --resume to write them"
        raise InputError(_fault(folder, why)) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _fault(folder: Path, message: str) -> Fault:
    return Fault("out", None, str(folder), message)


def _write(result: Result | NetworkResult, folder: Path) -> None:
    (folder / "stats.json").write_text(json.dumps(result_json(result), indent=2, allow_nan=False) + "\n")
    draw_energy(result).savefig(folder / "energy.png", dpi=DPI)
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
            rows.writerow(["mappings", f"best_{str(result.objective).split(',')[0].strip()}"])
            rows.writerows(result.statistics.trace)
        draw_convergence(result).savefig(folder / "convergence.png", dpi=DPI)
        if result.axes:
            _write_front(result, folder)


def _write_front(result: Result, folder: Path) -> None:
    (folder / "front").mkdir()
    with (folder / "front.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["mapping", *result.axes])
        for number, one in enumerate(result.front, 1):
            name = f"front/{number:03d}.yaml"
            (folder / name).write_text(mapping_yaml(one.batch))
            rows.writerow([name, *(one.value(axis) for axis in result.axes)])
    draw_front(result).savefig(folder / "front.png", dpi=DPI)
