"""What binds the best design: of each layer, or part of a plan, what sets its cycles, and where its energy goes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..comparison import Stored, pieces
from ..model.figures import plain
from ..report import Json, TextTable
from .optimised import Optimised


@dataclass(frozen=True)
class LayerBottleneck:
    """What binds a layer, or a part of a plan."""

    workload: str
    layer: str  # of a part its layers and operations
    count: int  # how often it occurs
    bound_by: str  # compute, or bandwidths of levels; empty of a part
    utilization: float | None  # share of the MAC units that are busy; None of a part without MACs
    cycles_share: float  # of the workload, all occurrences
    energy_share: float | None  # of the workload, all occurrences; None: energies are not known
    largest: str | None  # the level, or other part, that takes most of its energy
    largest_share: float | None  # of the layer's energy

    def json(self) -> Json:
        """An entry of `--json`."""
        shares = ("utilization", "cycles_share", "energy_share", "largest_share")
        return {
            "workload": self.workload,
            "layer": self.layer,
            "count": self.count,
            "bound_by": self.bound_by,
            "largest": self.largest,
            **{name: None if (own := getattr(self, name)) is None else plain(own) for name in shares},
        }


def bottlenecks(optimised: Optimised, row: int) -> tuple[LayerBottleneck, ...]:
    """What binds each layer of each workload on a candidate, with the mappings that are known, as results store it."""
    return tuple(own for workload in optimised.candidates.plan.workloads for own in _of(optimised, row, workload))


def _of(optimised: Optimised, row: int, workload: str) -> Iterator[LayerBottleneck]:
    outcome = optimised.outcome(row, workload)
    if outcome is None or outcome.result is None:
        return
    every = pieces(Stored.model_validate(outcome.result))
    own = [piece for piece in every if piece.cycles or piece.energy_pj]
    cycles, energy = sum(piece.cycles for piece in own), sum(sum(piece.energy_pj.values()) for piece in own)
    for piece in own:
        share = piece.cycles / cycles
        figures = workload, piece.name, piece.count, piece.bound_by, piece.utilization, share
        yield LayerBottleneck(*figures, *_largest(piece.energy_pj, energy))


def _largest(parts: Mapping[str, float], energy: float) -> tuple[float | None, str | None, float | None]:
    """The share of a layer of all `energy`, its largest part, and the share of that; none where they are not known."""
    total = sum(parts.values())
    if not total:
        return None, None, None
    largest = max(parts, key=lambda name: parts[name])
    return total / energy, largest, parts[largest] / total


def bottleneck_table(rows: tuple[LayerBottleneck, ...]) -> TextTable:
    """The layers as a table."""
    several = len({row.workload for row in rows}) > 1
    head = ["layer", "bound by", "MACs busy", "cycles", "energy", "most energy"]
    cells = []
    for row in rows:
        name = f"{row.workload}: {row.layer}" if several and row.workload != row.layer else row.layer
        times = f" \N{MULTIPLICATION SIGN}{row.count}" if row.count > 1 else ""
        energy = "" if row.energy_share is None else f"{row.energy_share:.1%}"
        most = "" if row.largest_share is None else f"{row.largest} {row.largest_share:.0%}"
        busy = "" if row.utilization is None else f"{row.utilization:.0%}"
        figures = [busy, f"{row.cycles_share:.1%}", energy]
        cells.append([f"{name}{times}", row.bound_by, *figures, most])
    return TextTable(head, cells, (0, 1, 5), "what binds the best design")
