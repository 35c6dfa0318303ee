"""Searches the price of one part at one slope, from nothing: so it can be done anywhere, and again."""

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from typing import NamedTuple

from ..fusion import Group, GroupCosts, Standing
from ..group_search import MOST_ROWS, Family, GroupSearch, Solver, Space, UnsolvedError
from ..mapping import MappingBatch
from ..mapspace import Preset
from ..networks import layers_of
from ..problem import Effort, WeightedSum, effort_text
from ..search.options import SearchOptions
from ..search.outcome import Statistics
from .prices import Slope
from .states import Machine

BOUNDED, TRIED, SEARCHED = 1, 2, 3  # how far the price of a fused group is known; of a layer it is searched at once
TRIAL = 12  # a group is tried with this part of its effort
STEPS_A_ROW = 60  # of the effort: with little of it fewer tiles are bounded
TABLES = 4  # groups whose tables a process keeps


@dataclass(frozen=True, eq=False)
class PriceStudy:
    """What all prices share; sent to each worker once."""

    machine: Machine
    mapspace: Preset
    options: SearchOptions  # whose effort is that of a layer


class PriceRequest(NamedTuple):
    """A price to search."""

    number: int
    group: Group
    slope: Slope
    step: int
    start: tuple[MappingBatch, ...] = ()  # mappings of its layer on other machines
    enough: float = inf  # no need to know more than that it is not below
    seconds: float | None = None  # a cap


class FoundPrice(NamedTuple):
    """What was found of it."""

    number: int
    least: float  # no mapping has a sum below; inf: it has none
    costs: GroupCosts | None
    statistics: Statistics


def search_price(study: PriceStudy, request: PriceRequest) -> FoundPrice:
    """Search the price of a part."""
    return _of_layer(study, request) if len(request.group.stages) == 1 else _of_group(study, request)


def _family(study: PriceStudy, group: Group) -> Family:
    machine, steps = study.machine, study.options.limits.steps
    rows = MOST_ROWS if steps is None else min(MOST_ROWS, steps // STEPS_A_ROW)
    arch, energies, charges = machine.arch, machine.energies, machine.charges
    stages, links = group.stages, group.links
    return Family(
        stages, links, arch, energies, charges, study.mapspace, machine.keeper, rows, group.lasting, group.reserved
    )


def _of_layer(study: PriceStudy, request: PriceRequest) -> FoundPrice:
    family, statistics = _family(study, request.group), Statistics()
    deadline = None if request.seconds is None else time.monotonic() + request.seconds
    solver, standing = Solver(family, study.options, deadline), Standing(request.group, family.arch)
    solver.begin_with(0, request.start)
    layers = layers_of(standing)
    (layer,) = layers
    try:
        solved = solver.solve(standing, layer, request.slope, statistics, root_only=False)
    except UnsolvedError:
        return FoundPrice(request.number, 0.0, None, statistics)
    if solved is None:
        return FoundPrice(request.number, inf, None, statistics)
    costs = GroupCosts(standing, family.energies, family.charges, layers, {layer: solved.mapped})
    return FoundPrice(request.number, solved.least, costs, statistics)


def _of_group(study: PriceStudy, request: PriceRequest) -> FoundPrice:
    objective = WeightedSum(request.slope)
    options = replace(_effort(study.options, request.step), time_limit=request.seconds)
    space = _bounded_space(study, request.group)
    search = GroupSearch([space.family], objective, options, [space], request.enough)
    if request.step == BOUNDED:
        return FoundPrice(request.number, search.bound(), None, search.statistics)
    outcome = search.run()
    return FoundPrice(request.number, outcome.lower_bound, outcome.best, outcome.statistics)


def _effort(options: SearchOptions, step: int) -> SearchOptions:
    steps = options.limits.steps
    if steps is None or step != TRIED:
        return options
    return replace(options, effort=effort_text(Effort(None, steps // TRIAL)))


@lru_cache(maxsize=TABLES)
def _bounded_space(study: PriceStudy, group: Group) -> Space:
    """The space of a group, whose tables are made once."""
    return Space(_family(study, group), study.options, lambda: None, None)
