"""The folder that `--out` writes: mapping, statistics, pictures, trace and front, beside the checkpoint."""

import csv
import json
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path

from ...workloads import written_together
from ..certificate import Certificate, write_certificate
from ..mapping import mapping_yaml
from ..problem import OBJECTIVES, ROUNDING
from ..runtime import csv_cell
from ..search.outcome import Ended
from .answer import minimised
from .frames import layer_rows
from .index_page import index_html
from .mapping_page import mapping_html
from .network_result import NetworkResult
from .pictures import (
    draw_convergence,
    draw_convergences,
    draw_cycles,
    draw_energy,
    draw_front,
    draw_layers,
    save_picture,
)
from .plan_files import plan_yaml
from .plan_pages import remove_other_parts, write_plan
from .result import Result
from .result_json import result_json

FRONT_FILE = "{:03d}.yaml"


def write_folder(result: Result | NetworkResult, folder: Path) -> None:
    """Write `result`, which has a mapping, at least of one layer; a network also has a folder per layer.

    All files or none; `stats.json` comes last, so that what it describes is there. Files of the same run, written when
    it was interrupted, are replaced. Raises InputError where that fails.
    """
    with written_together(folder, "stats.json", "make room and give --resume to write them") as part:
        _write(result, part)
        fronts = {path.relative_to(part): len(list(path.iterdir())) for path in part.rglob("front") if path.is_dir()}
    for front, size in fronts.items():
        _remove_longer_front(folder / front, size)
    if isinstance(result, NetworkResult) and result.plan is not None:
        remove_other_parts(result.plan, folder)


def _remove_longer_front(front: Path, size: int) -> None:
    """Remove the mappings that a front of an interrupted run had more; all other files stay."""
    for number in count(size + 1):
        path = front / FRONT_FILE.format(number)
        if not path.exists():
            return
        path.unlink()


def write_proof(result: Result | NetworkResult, path: Path) -> str:
    """Write the certificate of all layers; returns why there is none, or that it proves less than the result says.

    Raises InputError where that fails.
    """
    layers = [layer for layer, _ in result.layers]
    if missing := _without_proof(result, layers):
        return f"{path}: not written: {missing}"
    proofs = [layer.certificate for layer in layers if layer.certificate is not None]
    write_certificate(Certificate(program=version("ruby-map"), arch=layers[0].arch.name, layers=proofs), path)
    weaker = [layer.workload.name for layer in layers if _proves_less(layer)]
    if not weaker:
        return ""
    return f"{path}: proves less of {', '.join(weaker)} than is said above, by the ideal; ruby-check says what"


def _without_proof(result: Result | NetworkResult, layers: Sequence[Result]) -> str:
    """Why some of the layers have nothing to certify, or nothing where all have."""
    if none := [layer.workload.name for layer in layers if Ended.EMPTY in layer.statistics.ended]:
        return f"a certificate is of all layers, and {', '.join(none)} can have no mapping"
    missing = [layer.workload.name for layer in layers if layer.certificate is None]
    if missing or result.missing:
        what = ", ".join(missing) or "some layers"
        return f"nothing is proven of {what} by this run, but that it is not below the ideal"
    return ""


def _proves_less(layer: Result) -> bool:
    """Whether the certificate has no sets of chains for a bound that the result has, as it is that of the ideal."""
    proof = layer.certificate
    if proof is None or layer.front or not layer.lower_bound:
        return False
    claims = [stage.lower_bound or 0.0 for stage in layer.stages] or [layer.lower_bound]
    proven = [proof.lower_bound, *(stage.lower_bound for stage in proof.stages)]
    proven += [0.0] * (len(claims) - len(proven))
    return any(bound < claim * (1 - ROUNDING) for bound, claim in zip(proven, claims, strict=True))


def _write(result: Result | NetworkResult, folder: Path) -> None:
    if isinstance(result, NetworkResult):
        _write_network(result, folder)
    else:
        _write_layer(result, folder)
        if result.table.counted:
            save_picture(partial(draw_energy, result), folder / "energy")
        save_picture(partial(draw_convergence, result), folder / "convergence")
        if result.axes:
            save_picture(partial(draw_front, result), folder / "front")


def _write_network(network: NetworkResult, folder: Path) -> None:
    """Write the totals, and a folder per layer without pictures, which would take longer than the search.

    An interrupted search has only some of it: layers that have a mapping, no shares of a whole.
    """
    _write_json(network, folder)
    folders = dict[int, str]()
    for place, (number, (layer, _)) in enumerate(zip(network.numbers or count(), network.layers, strict=False)):
        if layer.found:
            folders[place] = f"{number + 1:02d}_{layer.workload.name.replace('/', '_')}"
            (folder / folders[place]).mkdir()
            _write_layer(layer, folder / folders[place])
    rows = layer_rows(network)
    head = list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))
    _write_csv(folder / "layers.csv", head, [[row.get(name) for name in head] for row in rows])
    if network.found:
        draw = draw_layers if network.layers[0][0].table.counted else draw_cycles
        save_picture(partial(draw, network), folder / "layers")
    if network.plan is not None:
        write_plan(network.plan, folder)
        (folder / "plan.yaml").write_text(plan_yaml(network.plan.costs), encoding="utf-8")
    save_picture(partial(draw_convergences, network), folder / "convergence")
    pictures = [name for name in ("layers.png", "convergence.png") if (folder / name).exists()]
    (folder / "index.html").write_text(index_html(network, folders, pictures), encoding="utf-8")


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
        name = f"front/{FRONT_FILE.format(number)}"
        (folder / name).write_text(mapping_yaml(member.batch))
        rows.append([name, *(member.value(axis) for axis in result.axes)])
    _write_csv(folder / "front.csv", ["mapping", *(OBJECTIVES[axis].column for axis in result.axes)], rows)


def _write_json(result: Result | NetworkResult, folder: Path) -> None:
    (folder / "stats.json").write_text(json.dumps(result_json(result), indent=2, allow_nan=False) + "\n")


def _write_csv(path: Path, head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(map(csv_cell, row) for row in rows)
