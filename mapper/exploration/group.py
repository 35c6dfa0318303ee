"""Explores a fused group: the best of all memories that may be its keeper, beside its layers alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Network, Workload, option_fault
from ..fusion import Group, Link, outer_words, pass_costs, passes, stages_of
from ..group_search import MOST_ROWS, Family, GroupSearch
from ..mapspace import Preset
from ..problem import Charges, Problem
from ..report import NetworkResult
from ..report.groups import Alone, GroupResult
from ..search.options import SearchOptions
from .api import Request, explored
from .time_slices import Study

STEPS_A_ROW = 4  # of the effort: with little of it fewer tiles are bounded


@dataclass(frozen=True)
class GroupProgress:
    """How far a search of groups is."""

    solved: int  # groups whose layers were solved
    best: float  # by the objective; inf before the first
    lower_bound: float
    effort: float | None  # the share that is used; None: it has no limit

    @classmethod
    def of(cls, search: GroupSearch) -> Self:
        """Read it of a search."""
        steps = search.limits.steps
        used = None if not steps else min(1.0, search.statistics.steps / steps)
        return cls(search.solved, search.value, search.lower_bound, used)


def group_faults(arch: Architecture, options: SearchOptions) -> list[Fault]:
    """List what a search of groups does not do."""
    faults = []
    if len(options.objectives) > 1:
        faults.append(option_fault("objective", "names one objective for --group"))
    return faults + systolic_faults(arch)


def systolic_faults(arch: Architecture) -> list[Fault]:
    """Refuse a machine whose groups are not counted."""
    rule = "has systolic axes: nothing is proven of its mappings, nor of groups"
    return [Fault(arch.name, None, "", rule)] if arch.systolic is not None else []


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
    arch, energies, charges = machine
    stages, links = stages_of(network, names, lambda message: Fault("--group", None, "", message))
    options = replace(options, strategy="optimal", effort=options.effort or "normal")
    steps = options.limits.steps
    rows = MOST_ROWS if steps is None else min(MOST_ROWS, steps // STEPS_A_ROW)
    families = [
        Family(stages, links, arch, energies, charges, mapspace, arch.levels[level].name, rows)
        for level in keepers(arch, stages, links)
    ]
    search = GroupSearch(families, options.goal.minimised[0], options)
    outcome = search.run(None if progress is None else lambda own: progress(GroupProgress.of(own)))
    return GroupResult(
        tuple(stage.name for stage in stages),
        arch.name,
        options.goal,
        mapspace,
        options.seed,
        outcome.best,
        outcome.lower_bound,
        _alone(network.name, families[0].group(), machine, mapspace, options),
        outcome.statistics,
        outcome.solved,
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
    """List the levels that may be the keeper. Raises InputError with why each may not."""
    good, why = [], []
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
) -> Alone | None:
    """The layers one by one, chosen together for their sum; operators pass over words at the outermost level.

    Under a causal mask layers by themselves are whole: they compute what the mask hides.
    """
    arch, energies, charges = machine
    alone = Network(name, tuple((stage, 1) for stage in group.stages))
    goal = options.goal
    study = Study.of(alone, lambda layer: Problem(arch, layer, energies, charges, goal), mapspace, False, options)
    try:
        result = explored(study, Request())
    except InputError:
        return None
    assert isinstance(result, NetworkResult), "of a network"
    if not result.found:
        return None
    words: dict[str, int] = {}
    for i, (layer, _) in enumerate(result.layers):
        assert layer.mapped is not None, "every layer has a mapping"
        for stage in (layer.workload.name, *(result.alike[i] if result.alike else ())):
            words |= {f"{stage}.{tensor}": own for tensor, own in outer_words(layer.mapped).items()}
    energy, cycles = result.energy_pj, int(result.cycles)
    for number, own in enumerate(group.stages):
        listed = passes(group, 0, number, accumulates=False, output_kept=False)
        pj, took = pass_costs(listed, arch, energies, charges, dict(zip(own.dims, own.sizes, strict=True)))
        energy, cycles = energy + pj, cycles + took
    return Alone(energy, cycles, result.lower_bound, words)
