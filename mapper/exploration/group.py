"""Explores a fused group: the best of all memories that may be its keeper, beside its layers alone."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Network, Workload, option_fault
from ..bounds.sums import LayerBounds, edp_bound
from ..fusion import Group, Link, boxes, outer_words, pass_costs, passes, stages_of
from ..group_search import MOST_ROWS, Family, GroupSearch
from ..mapspace import Preset
from ..problem import ROUNDING, Charges, Objective, Point, Problem
from ..report import NetworkResult
from ..report.groups import Alone, GroupResult
from ..runtime import one_thread
from ..search.options import SearchOptions
from ..search.outcome import Ended
from .api import Request, explored
from .time_slices import NoMapspaceError, Study
from .uncounted import machine_faults

LAYERS_SHARE = 0.5  # of a time limit, at most: for the layers alone
STEPS_A_ROW = 4  # of the effort: with little of it fewer tiles are bounded


@dataclass(frozen=True)
class GroupProgress:
    """How far a search of groups is."""

    looked_at: int  # groups whose layers were bounded or solved
    best: float  # by the objective; inf before the first
    lower_bound: float
    effort: float | None  # the share that is used; None: it has no limit

    @classmethod
    def of(cls, search: GroupSearch) -> Self:
        """Read it of a search."""
        steps = search.limits.steps
        used = None if not steps else min(1.0, search.statistics.all_steps / steps)
        return cls(search.looked_at, search.value, search.lower_bound, used)


def group_faults(arch: Architecture, options: SearchOptions) -> list[Fault]:
    """List what a search of groups does not do."""
    faults = []
    if len(options.objectives) > 1:
        faults.append(option_fault("objective", "names one objective for --group"))
    return faults + machine_faults(arch)


@one_thread()
def explore_group(
    network: Network,
    names: Sequence[str],
    machine: tuple[Architecture, EnergyTable, Charges],
    mapspace: Preset,
    options: SearchOptions,
    progress: Callable[[GroupProgress], None] | None = None,
) -> GroupResult:
    """Search the groups of the layers of these names, and the layers alone; `progress` is told after each group.

    Raises InputError with what is wrong with the names, and where no memory can be the keeper.
    """
    began, (arch, energies, charges) = time.monotonic(), machine
    stages, links = stages_of(network, names, lambda message: Fault("--group", None, "", message))
    options = replace(options, strategy="optimal", effort=options.effort or "normal")
    steps, seconds = options.limits.steps, options.limits.seconds
    rows = MOST_ROWS if steps is None else min(MOST_ROWS, steps // STEPS_A_ROW)
    families = [
        Family(stages, links, arch, energies, charges, mapspace, arch.levels[level].name, rows)
        for level in keepers(arch, stages, links)
    ]
    # first, so that there is something to compare with whenever the search of groups ends
    half = replace(options, certify=False, time_limit=None if seconds is None else seconds * LAYERS_SHARE)
    alone, unmapped = _alone(network.name, families[0].group(), machine, mapspace, half)
    left = options if seconds is None else replace(options, time_limit=max(0.0, began + seconds - time.monotonic()))
    search = GroupSearch(families, options.goal.minimised[0], left)
    outcome = search.run(None if progress is None else lambda own: progress(GroupProgress.of(own)))
    return GroupResult(
        tuple(stage.name for stage in stages),
        arch.name,
        options.goal,
        mapspace,
        options.seed,
        outcome.best,
        outcome.lower_bound,
        alone,
        unmapped,
        outcome.statistics,
        outcome.looked_at,
        outcome.tiles,
        _tried(families[0]),
        outcome.proof,
        outcome.no_proof,
    )


def _tried(family: Family) -> tuple[tuple[str, int, int], ...]:
    """Return of each shared dim its size, and how many of its tiles are tried."""
    pairs = zip(family.loops, family.tiles, strict=True)
    return tuple((dim, family.stages[-1].size(dim), len(tiles)) for dim, tiles in pairs)


def keepers(arch: Architecture, stages: tuple[Workload, ...], links: tuple[Link, ...]) -> list[int]:
    """List the levels that may be the keeper. Raises InputError with why each may not, and where stages do not meet."""
    good, why = [], []
    try:
        boxes(Group(stages, links, arch.levels[-1].name))
    except ValueError as error:
        raise InputError(Fault("--group", None, "", str(error))) from None
    for level in range(1, len(arch.levels)):
        group = Group(stages, links, arch.levels[level].name)
        try:
            for stage in range(len(stages)):
                arch.with_resident(level, group.resident(stage))
            good.append(level)
        except ValueError as error:
            why.append(str(error))
    if not good:
        rule = f"no memory of {arch.name} can hold what stands between the stages: {'; '.join(why)}"
        raise InputError(Fault("--group", None, "", rule))
    return good


def _alone(
    name: str,
    group: Group,
    machine: tuple[Architecture, EnergyTable, Charges],
    mapspace: Preset,
    options: SearchOptions,
) -> tuple[Alone | None, bool]:
    """The layers one by one, chosen together for their sum; operators pass over words at the outermost level.

    Under a causal mask layers by themselves are whole: they compute what the mask hides. Without a mapping of each
    None, and whether it is proven that some layer has none. Raises KeyboardInterrupt where Ctrl-C ends the search.
    """
    arch, energies, charges = machine
    alone = Network(name, tuple((stage, 1) for stage in group.stages))
    goal, objective = options.goal, options.goal.minimised[0]
    beside = _operators(group, machine)
    study = Study.of(alone, lambda layer: Problem(arch, layer, energies, charges, goal), mapspace, False, options)
    try:
        result = explored(replace(study, beside=beside), Request())
    except NoMapspaceError:
        return None, True
    assert isinstance(result, NetworkResult), "of a network"
    if result.statistics.interrupted:
        raise KeyboardInterrupt
    if not result.found:
        without = [layer for layer, _ in result.layers if not layer.found]
        return None, any({Ended.SEEN_ALL, Ended.EMPTY} & set(layer.statistics.ended) for layer in without)
    cycles, energy = beside
    best = result.energy_pj + energy, int(result.cycles + cycles)
    value = objective.value(best[0], float(best[1]))
    bound = None if result.lower_bound is None else min(value, _least_with(objective, result, beside))
    return Alone(*best, bound, bound is not None and bound >= value * (1 - ROUNDING), _words(result)), False


def _operators(group: Group, machine: tuple[Architecture, EnergyTable, Charges]) -> Point:
    """Compute the cycles and pJ of operators that pass over words at the outermost level."""
    arch, energies, charges = machine
    energy, cycles = 0.0, 0.0
    for number, own in enumerate(group.stages):
        listed = passes(group, 0, number, accumulates=False, output_kept=False)
        pj, took = pass_costs(listed, arch, energies, charges, dict(zip(own.dims, own.sizes, strict=True)))
        energy, cycles = energy + pj, cycles + took
    return cycles, energy


def _words(result: NetworkResult) -> dict[str, int]:
    """Count the words that the outermost level reads and takes, by stage.tensor."""
    words: dict[str, int] = {}
    for stage, layer in result.by_name:
        assert layer.mapped is not None, "every layer has a mapping"
        words |= {f"{stage}.{tensor}": own for tensor, own in outer_words(layer.mapped).items()}
    return words


def _least_with(objective: Objective, result: NetworkResult, beside: Point) -> float:
    """Bound the objective of layers with operators beside them from below.

    By Hoelder's inequality (E + e)^a (C + c)^b is at least E^a C^b + e^a c^b, where a + b = 1.
    """
    assert result.lower_bound is not None, "each layer has a bound"
    if objective.powers == (1, 1):
        return edp_bound([*(layer.needs(count) for layer, count in result.layers), LayerBounds.fixed(beside)]).edp
    power, (cycles, energy) = sum(objective.powers), beside
    both = result.lower_bound ** (1 / power) + objective.value(energy, cycles) ** (1 / power)
    return float(both**power)
