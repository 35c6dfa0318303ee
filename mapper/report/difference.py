"""Why a mapping is better than another: two results of a layer on a machine, difference by difference.

A row is what a level does for a tensor. Its energy is split by reads, fills and updates, so that each difference
of energy has the words that make it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..mapping import MappingBatch
from ..model import Costs
from ..model.figures import plain
from .loop_nest import loop_nest
from .result import Result
from .result_json import Json, result_json
from .tables import energy_unit, heading, table_text

ACCESSES = ("reads", "fills", "updates")
NAMES = {"burst_reads": "bursts read", "burst_updates": "bursts updated", "activations": "rows opened"}


@dataclass(frozen=True)
class Change:
    """A figure that differs, and the energy of the difference."""

    figure: str  # one of ACCESSES, or bursts and rows of a DRAM
    a: int  # words, over all instances
    b: int
    energy_pj: float  # that B needs more than A


@dataclass(frozen=True)
class Row:
    """A level and a tensor in both mappings."""

    level: str
    tensor: str
    kept: tuple[bool, bool]  # in A, in B
    energy_a_pj: float
    energy_b_pj: float
    changes: tuple[Change, ...]  # the dearest first

    @property
    def energy_pj(self) -> float:
        """That B needs more than A."""
        return self.energy_b_pj - self.energy_a_pj


def rows(a: Result, b: Result) -> list[Row]:
    """List every level with each tensor that A or B keeps there, the largest difference of energy first.

    Both must have costs, of one workload, architecture and energy table. The differences of energy add up to that of
    the totals, leakage and network aside.
    """
    if (a.workload, a.arch, a.table) != (b.workload, b.arch, b.table):
        raise ValueError("two mappings of one workload on one architecture with one energy table are expected")
    levels, tensors = range(len(a.arch.levels)), range(len(a.workload.tensors))
    every = [_row(a, b, level, v) for level in levels for v in tensors]
    return sorted((row for row in every if any(row.kept)), key=lambda row: -abs(row.energy_pj))


def _row(a: Result, b: Result, level: int, v: int) -> Row:
    storage, tensor = a.arch.levels[level], a.workload.tensors[v]
    (batch_a, costs_a), (batch_b, costs_b) = _mapping(a), _mapping(b)
    changes = []
    for (figure, x, pj), (_, y, _) in zip(*(_figures(own, level, v) for own in (a, b)), strict=True):
        if x != y:
            changes.append(Change(figure, x, y, (y - x) * pj))
    return Row(
        storage.name,
        tensor.name,
        (bool(batch_a.kept[0, level, v]), bool(batch_b.kept[0, level, v])),
        float(costs_a.level_energy_pj[0, level, v]),
        float(costs_b.level_energy_pj[0, level, v]),
        tuple(sorted(changes, key=lambda change: -abs(change.energy_pj))),
    )


def _figures(result: Result, level: int, v: int) -> list[tuple[str, int, float]]:
    """What a level does for a tensor: the name of each figure, the figure, and the energy of one."""
    storage, tensor, pj = result.arch.levels[level], result.workload.tensors[v], result.table.levels[level]
    vectors_per_word = storage.bits(tensor.name, tensor.word_bits) / storage.width_bits
    counts = _mapping(result)[1].counts
    prices = (pj.read_pj, pj.write_pj, pj.update_pj) if storage.dram is None else (0.0, 0.0, 0.0)
    listed = [
        (name, int(getattr(counts, name)[0, level, v]), vectors_per_word * word_pj)
        for name, word_pj in zip(ACCESSES, prices, strict=True)
    ]
    if storage.dram is None:
        return listed
    words = vectors_per_word * storage.blocks(result.workload, tensor).words
    figures = {"burst_reads": words * pj.read_pj, "burst_updates": words * pj.update_pj}
    figures["activations"] = storage.dram.activate_pj
    return listed + [(name, int(getattr(counts, name)[0, v]), one_pj) for name, one_pj in figures.items()]


def _mapping(result: Result) -> tuple[MappingBatch, Costs]:
    """The mapping of a result and its costs. Raises ValueError where there is none."""
    if result.batch is None or result.costs is None:
        raise ValueError(f"no valid mapping of {result.workload.name} was found, so there is nothing to compare")
    return result.batch, result.costs


def difference_text(a: Result, b: Result, names: tuple[str, str]) -> str:
    """Print both loop nests, the totals, and what differs by level and tensor; `names` say where A and B come from."""
    nests = [
        f"{letter}  {name}\n\n{loop_nest(_mapping(result)[0])}"
        for letter, name, result in zip("AB", names, (a, b), strict=True)
    ]
    compared = rows(a, b)
    differing = [row for row in compared if row.changes]
    parts = [heading(a.arch, a.workload), *nests, _totals(a, b)]
    if differing:
        parts.append(_table(differing, b.energy_pj - a.energy_pj, max(a.energy_pj, b.energy_pj)))
    same = len(compared) - len(differing)
    blocks = "" if a.arch.levels[0].dram is None else ", and of a DRAM equal bursts and rows"
    parts.append(f"{same} of {len(compared)} pairs of level and tensor have equal reads, fills and updates{blocks}")
    return "\n\n".join(parts)


def _totals(a: Result, b: Result) -> str:
    """Tabulate cycles, also of each level with a bandwidth, energy, utilisation and EDP."""
    unit, size = energy_unit(max(a.energy_pj, b.energy_pj))
    lines = [_line("cycles", a.cycles, b.cycles)]
    lines += [_line("  of fill and drain", x, y) for x, y in _fill_drain(a, b)]
    lines += [_line("  of starts", x, y) for x, y in _starts(a, b)]
    lines += [_line(f"  of {name}", x, y) for name, x, y in _level_cycles(a, b)]
    lines += [
        ["utilisation", f"{a.utilization:.1%}", f"{b.utilization:.1%}", "", _relative(a.utilization, b.utilization)],
        _line(f"energy [{unit}]", a.energy_pj / size, b.energy_pj / size, ",.5g"),
        *_interconnect_line(a, b, unit, size),
        _line("EDP [pJ cycles]", a.edp, b.edp, ".5g"),
    ]
    return table_text(["", "A", "B", "B - A", "relative"], lines, left=(0,))


def _interconnect_line(a: Result, b: Result, unit: str, size: float) -> Iterator[list[str]]:
    """Yield the line of the energy of the hops, where it is counted."""
    if _mapping(a)[1].options.has_interconnect:
        x, y = (float(_mapping(result)[1].interconnect_energy_pj[0].sum()) / size for result in (a, b))
        yield _line(f"  of network [{unit}]", x, y, ",.4g")


def _level_cycles(a: Result, b: Result) -> Iterator[tuple[str, int, int]]:
    """Yield name and cycles in A and in B of each level with a bandwidth."""
    for i, level in enumerate(a.arch.levels):
        if level.bandwidths:
            yield level.name, *(int(_mapping(result)[1].level_cycles[0, i]) for result in (a, b))  # type: ignore[misc]


def _fill_drain(a: Result, b: Result) -> Iterator[tuple[int, int]]:
    """Yield the cycles in which the systolic array fills and drains, in A and in B, where there is one."""
    waits = [result.fill_drain for result in (a, b)]
    if any(waits):
        first, second = (0 if wait is None else wait[0] for wait in waits)
        yield first, second


def _starts(a: Result, b: Result) -> Iterator[tuple[int, int]]:
    """Yield the cycles in which tiles begin, in A and in B, where there are any."""
    starts = [result.starts or 0 for result in (a, b)]
    if any(starts):
        yield starts[0], starts[1]


def _waits_json(a: Result, b: Result) -> Json:
    pairs = {"fill_drain_cycles": next(_fill_drain(a, b), None), "start_cycles": next(_starts(a, b), None)}
    return {name: _pair(*pair) for name, pair in pairs.items() if pair is not None}


def _table(differing: list[Row], net_pj: float, largest_pj: float) -> str:
    """Tabulate each row's energy with its share of the net difference, and below it the words that make it."""
    unit, size = energy_unit(largest_pj)
    lines = []
    for row in differing:
        energies = _line(f"energy [{unit}]", row.energy_a_pj / size, row.energy_b_pj / size, ",.4g")
        lines.append([row.level, row.tensor, *energies, _share(row.energy_pj, net_pj)])
        for change in row.changes:
            name = NAMES.get(change.figure, change.figure)
            lines.append(["", "", *_line(name, change.a, change.b), _share(change.energy_pj, net_pj)])
        if not all(row.kept):
            lines[-1][0] = f"  only in {'A' if row.kept[0] else 'B'}"
    head = ["level", "tensor", "", "A", "B", "B - A", "relative", "share of difference"]
    return table_text(head, lines, left=(0, 1, 2))


def _line(name: str, a: float, b: float, form: str = ",") -> list[str]:
    return [name, format(a, form), format(b, form), format(b - a, "+" + form) if a != b else "", _relative(a, b)]


def _relative(a: float, b: float) -> str:
    return f"{b / a - 1:+.1%}" if a and a != b else ""


def _share(energy_pj: float, net_pj: float) -> str:
    return f"{energy_pj / net_pj:.1%}" if net_pj else ""


def difference_json(a: Result, b: Result) -> Json:
    """Write both results as `result_json` does, and their differences, the dearest rows first.

    A difference is B less A; `relative` is that over A, null where A is 0. Figures of a row that are equal are left
    out; `energy_pj` inside a figure is what its difference costs.
    """
    totals = {name: (getattr(a, name), getattr(b, name)) for name in ("cycles", "energy_pj", "edp", "utilization")}
    return {
        "a": result_json(a),
        "b": result_json(b),
        "difference": {
            **{name: _pair(x, y) for name, (x, y) in totals.items()},
            **_waits_json(a, b),
            "level_cycles": {name: _pair(x, y) for name, x, y in _level_cycles(a, b)},
            "rows": [
                {
                    "level": row.level,
                    "tensor": row.tensor,
                    "kept": {"a": row.kept[0], "b": row.kept[1]},
                    "energy_pj": _pair(row.energy_a_pj, row.energy_b_pj),
                    **{
                        change.figure: _pair(change.a, change.b) | {"energy_pj": plain(change.energy_pj)}
                        for change in row.changes
                    },
                }
                for row in rows(a, b)
            ],
        },
    }


def _pair(a: float, b: float) -> Json:
    return {"a": plain(a), "b": plain(b), "difference": plain(b - a), "relative": plain((b - a) / a) if a else None}
