"""The inputs of a point of a sweep: its machine, its layers and its energies."""

import warnings
from dataclasses import dataclass
from functools import lru_cache

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Network, Workload
from ..exploration import load
from ..exploration.transforms import transformed
from ..mapspace import PRESETS, Preset
from .plan import Plan, Point


@dataclass(frozen=True)
class PointInputs:
    """What is searched at a point."""

    machine: Architecture
    work: Workload | Network
    table: EnergyTable
    preset: Preset


def inputs_of(plan: Plan, point: Point) -> PointInputs:
    """The inputs of a point. Raises InputError, or ExpressionError."""
    machine, table, _ = machine_of(plan, point.design)
    name, _, transformation = point.mapspace.partition("+")
    machine, work = load(machine, plan.workloads[point.workload])
    work = transformed(machine, work, [transformation] if transformation else [])
    return PointInputs(machine, work, table, next(preset for preset in PRESETS if preset == name))


@lru_cache(maxsize=4)
def machine_of(plan: Plan, design: int) -> tuple[Architecture, EnergyTable, tuple[warnings.WarningMessage, ...]]:
    """A design's architecture and energies, which its points share, and what was warned of on the way.

    Each of the points tells it, whichever comes first in its process.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = plan.arch(design)
        table = plan.energies.table(machine)
    return machine, table, tuple(caught)
