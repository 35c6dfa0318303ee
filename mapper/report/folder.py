"""The folder that `--out` writes: mapping, statistics, pictures, trace and front, beside the checkpoint."""

import csv
import json
import os
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from itertools import count
from pathlib import Path

from ...workloads import Fault, written_together
from ..certificate import Certificate, write_certificate
from ..mapping import mapping_yaml
from ..model import OBJECTIVES
from .answer import minimised
from .frames import layer_rows
from .mapping_page import mapping_html
from .network_result import NetworkResult
from .pictures import (
    draw_convergence,
    draw_convergences,
    draw_cycles,
    draw_energy,
    draw_front,
    draw_layers,
    save_figure,
)
from .result import Result
from .result_json import result_json


def write_folder(result: Result | NetworkResult, folder: Path) -> None:
    """Write `result`, which has a mapping, at least of one layer; a network also has a folder per layer.

    All files or none; `stats.json` comes last, so that what it describes is there. Files of the same run, written when
    it was interrupted, are replaced. Raises InputError where that fails.
    """
    with written_together(folder, "stats.json", "make room and give --resume to write them") as part:
        _write(result, part)


def certificate_faults(path: Path, *, proves: bool) -> list[Fault]:
    """Why no certificate can be written to `path`, or there would be nothing to write."""
    faults = [] if proves else [Fault("certificate", None, "", "needs a proof: give --search optimal, or --bound")]
    if (path.exists() and not path.is_file()) or not os.access(path.absolute().parent, os.W_OK):
        faults.append(Fault("certificate", None, str(path), "must be a file in a folder that you may write to"))
    return faults


def write_proof(result: Result | NetworkResult, path: Path, pad: bool) -> str:
    """Write the certificate of all layers; returns why there is none. Raises InputError where that fails."""
    layers = [result] if isinstance(result, Result) else [layer for layer, _ in result.layers]
    missing = [layer.workload.name for layer in layers if layer.certificate is None]
    if missing or (isinstance(result, NetworkResult) and result.missing):
        what = ", ".join(missing) or "some layers"
        return f"{path}: not written: nothing is proven of {what} by this run, but for ideal bounds"
    proofs = [layer.certificate.model_copy(update={"pad": pad}) for layer in layers if layer.certificate is not None]
    write_certificate(Certificate(program=version("ruby-map"), arch=layers[0].arch.name, layers=proofs), path)
    return ""


def _write(result: Result | NetworkResult, folder: Path) -> None:
    if isinstance(result, NetworkResult):
        _write_network(result, folder)
    else:
        _write_layer(result, folder)
        if result.table.counted:
            save_figure(draw_energy(result), folder / "energy")
        save_figure(draw_convergence(result), folder / "convergence")
        if result.axes:
            save_figure(draw_front(result), folder / "front")


def _write_network(network: NetworkResult, folder: Path) -> None:
    """Write the totals, and a folder per layer without pictures, which would take longer than the search.

    An interrupted search has only some of it: layers that have a mapping, no shares of a whole.
    """
    _write_json(network, folder)
    for number, (layer, _) in zip(network.numbers or count(), network.layers, strict=False):
        if layer.found:
            inner = folder / f"{number + 1:02d}_{layer.workload.name.replace('/', '_')}"
            inner.mkdir()
            _write_layer(layer, inner)
    rows = layer_rows(network)
    head = list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))
    _write_csv(folder / "layers.csv", head, [[row.get(name) for name in head] for row in rows])
    if network.found:
        draw = draw_layers if network.layers[0][0].table.counted else draw_cycles
        save_figure(draw(network), folder / "layers")
    save_figure(draw_convergences(network), folder / "convergence")


def _write_layer(result: Result, folder: Path) -> None:
    assert result.batch is not None, "nothing was found, so nothing is written"
    _write_json(result, folder)
    (folder / "mapping.yaml").write_text(mapping_yaml(result.batch))
    (folder / "mapping.html").write_text(mapping_html(result), encoding="utf-8")
    key, _ = minimised(str(result.objective))
    _write_csv(folder / "trace.csv", ["mappings", f"best_{key}"], result.statistics.trace)
    if result.axes:
        _write_front(result, folder)


def _write_front(result: Result, folder: Path) -> None:
    (folder / "front").mkdir()
    rows = []
    for number, member in enumerate(result.front, 1):
        name = f"front/{number:03d}.yaml"
        (folder / name).write_text(mapping_yaml(member.batch))
        rows.append([name, *(member.value(axis) for axis in result.axes)])
    _write_csv(folder / "front.csv", ["mapping", *(OBJECTIVES[axis].column for axis in result.axes)], rows)


def _write_json(result: Result | NetworkResult, folder: Path) -> None:
    (folder / "stats.json").write_text(json.dumps(result_json(result), indent=2, allow_nan=False) + "\n")


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(rows)
