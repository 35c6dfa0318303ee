"""Searches the price of one part at one slope, from nothing: so it can be done anywhere, and again."""

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from typing import NamedTuple

from ..fusion import Group, GroupCosts, Standing
from ..group_search import MOST_ROWS, Extent, Family, GroupSearch, Known, Solver, Space, UnsolvedError
from ..mapping import MappingBatch
from ..mapspace import Preset
from ..problem import ROUNDING, WeightedSum
from ..runtime import TimeUp
from ..search.options import SearchOptions
from ..search.outcome import Statistics
from .prices import Floor, Slope
from .states import Machine

BOUNDED, TRIED, SEARCHED = 1, 2, 3  # how far a price is known: bounded for all slopes; of a group tried; searched
SHARES = {TRIED: 1.0, SEARCHED: 12.0}  # so many layers' steps a group has for each of its stages
SLOPES = tuple(1.19**i for i in range(-5, 6))  # times that of the request: at these a price is bounded
STEPS_A_ROW = 60  # of the effort: with little of it fewer tiles are bounded
TABLES = 4  # groups whose tables a process keeps


@dataclass(frozen=True, eq=False)
class PriceStudy:
    """What all prices share; sent to each worker once."""

    machine: Machine
    mapspace: Preset
    options: SearchOptions  # whose effort is that of a layer
    gap: float = ROUNDING  # the search of a group may end with so much between bound and value, as a share


class PriceRequest(NamedTuple):
    """A price to search."""

    number: int
    group: Group
    slope: Slope
    step: int
    starts: tuple[tuple[MappingBatch, ...], ...] = ()  # per stage mappings of its layer on other machines
    enough: float = inf  # no need to know more than that it is not below
    seconds: float | None = None  # a cap


class PriceResult(NamedTuple):
    """What came of a request."""

    number: int
    floor: Floor | None  # None: no mapping is valid
    costs: GroupCosts | None
    statistics: Statistics


class _Clock:
    """Says when a request has had its time; spaces that are kept look at it."""

    until: float | None = None

    def check(self) -> None:
        """Raise TimeUp once it is late."""
        if self.until is not None and time.monotonic() >= self.until:
            raise TimeUp


_CLOCK = _Clock()


def search_price(study: PriceStudy, request: PriceRequest) -> PriceResult:
    """Search the price of a part, or bound it; where its time is over before anything is known, nothing is learnt."""
    _CLOCK.until = None if request.seconds is None else time.monotonic() + request.seconds
    try:
        if len(request.group.stages) == 1:
            return _of_layer(study, request)
        return _bounded(study, request) if request.step == BOUNDED else _of_group(study, request)
    except TimeUp:
        _space.cache_clear()  # what is half made
        return PriceResult(request.number, Floor(), None, Statistics())


def _family(study: PriceStudy, group: Group) -> Family:
    machine, steps = study.machine, study.options.limits.steps
    rows = MOST_ROWS if steps is None else min(MOST_ROWS, steps // STEPS_A_ROW)
    arch, energies, charges = machine.arch, machine.energies, machine.charges
    stages, links = group.stages, group.links
    family = Family(
        stages, links, arch, energies, charges, study.mapspace, machine.keeper, rows, group.lasting, group.reserved
    )
    return family.with_tables_of(_known(study)) if len(stages) > 1 else family


def _bounded(study: PriceStudy, request: PriceRequest) -> PriceResult:
    """Bound all mappings of a group together, at several slopes."""
    slopes = () if request.slope is None else tuple(request.slope * factor for factor in SLOPES)
    *sums, energy_pj, cycles = _space(study, request.group).least_sums(slopes).tolist()
    if cycles == inf:
        return PriceResult(request.number, None, None, Statistics())
    floor = Floor(energy_pj, cycles, sums=tuple(zip(slopes, sums, strict=True)))
    return PriceResult(request.number, floor, None, Statistics())


def _of_layer(study: PriceStudy, request: PriceRequest) -> PriceResult:
    """Find the best mapping of a layer alone, or bound its mapspace as a whole from a mapping to begin with."""
    family, statistics = _family(study, request.group), Statistics()
    solver, standing = Solver(family, study.options, _CLOCK.until), Standing(request.group, family.arch)
    _begin(solver, request)
    (layer,) = standing.layers
    try:
        solved = solver.solve(standing, layer, request.slope, statistics, root_only=request.step == BOUNDED)
    except UnsolvedError:
        return PriceResult(request.number, Floor(), None, statistics)
    if solved is None:
        return PriceResult(request.number, None, None, statistics)
    costs = GroupCosts(standing, family.energies, family.charges, standing.layers, {layer: solved.mapped})
    return PriceResult(request.number, Floor().with_sum(request.slope, solved.least), costs, statistics)


def _of_group(study: PriceStudy, request: PriceRequest) -> PriceResult:
    """Search a fused group."""
    objective = WeightedSum(request.slope)
    options = replace(study.options, time_limit=request.seconds)
    space = _space(study, request.group)
    extent = Extent(request.enough, study.gap, SHARES[request.step])
    search = GroupSearch([space.family], objective, options, [space], extent)
    _begin(search.spaces[0].solver, request)
    outcome = search.run()
    if outcome.lower_bound == inf:
        return PriceResult(request.number, None, None, outcome.statistics)
    floor = Floor().with_sum(request.slope, outcome.lower_bound)
    return PriceResult(request.number, floor, outcome.best, outcome.statistics)


def _begin(solver: Solver, request: PriceRequest) -> None:
    for stage, batches in enumerate(request.starts):
        if batches:
            solver.begin_with(stage, batches)


@lru_cache(maxsize=1)
def _known(study: PriceStudy) -> Known:
    """What groups on one machine have in common; results do not depend on it."""
    return Known()


@lru_cache(maxsize=TABLES)
def _space(study: PriceStudy, group: Group) -> Space:
    """The space of a group, whose tables are made once."""
    return Space(_family(study, group), study.options, _CLOCK.check, None)
