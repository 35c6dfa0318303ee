"""What identifies a problem: all that decides which mappings are valid and which of two is better, and nothing else."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import PurePath
from typing import Any

from pydantic import TypeAdapter

from ...arch import Architecture, ComponentClass, ComponentPart, Written
from ...energy import EnergyTable
from ...workloads import Workload
from .charges import Charges
from .goal import COST_MODEL, EXACT, Goal
from .objectives import OBJECTIVES
from .plain import Json, digest, plain


@dataclass(frozen=True)
class Problem:
    """A layer on a machine, with energies, charges and a goal.

    The mapspace is no part of it: a mapping that was found in one is knowledge for all. Names of the machine and the
    layer, areas, and where figures come from are not part of its identity; neither is a front.
    """

    arch: Architecture  # as written, with one level for each memory
    workload: Workload
    energies: EnergyTable  # of its levels
    charges: Charges = Charges()
    goal: Goal = Goal()

    @cached_property
    def digest(self) -> str:
        """The hash of its identity."""
        work, leaks = self.workload, self.charges.leakage
        levels = [plain(replace(level, cls="", attributes=())) for level in self.arch.levels]
        energies = [
            [level.read_pj, level.write_pj, level.update_pj, level.leak_pj_per_cycle if leaks else 0]
            for level in self.energies.levels
        ]
        mac = [self.energies.compute.mac_pj(work), self.energies.compute.leak_pj_per_cycle if leaks else 0]
        # left out at its default, as by `plain`: the digests of older stores stay
        most_loops = {} if self.arch.max_loops is None else {"max_loops": self.arch.max_loops}
        return digest(
            {
                "model": self.goal.model,
                "objective": self.goal.text,
                "costs": plain(self.charges),
                "levels": levels,
                "mac_word_bits": self.arch.compute.word_bits,
                "dims": plain(work.dims),
                "sizes": plain(work.sizes),
                "tensors": plain(work.tensors),
                "energies": energies,
                "mac": mac,
                **most_loops,
            }
        )

    def plain(self) -> Json:
        """Convert to plain values that say all of it but the front; `of_plain` reads them."""
        arch = replace(self.arch, components=tuple(_without_folders(component) for component in self.arch.components))
        described = {"arch": plain(arch), "workload": plain(self.workload), "table": plain(self.energies)}
        costs = plain(self.charges)
        return {"model": self.goal.model, "objective": self.goal.text, "costs": costs, **described}

    @classmethod
    def of_plain(cls, values: Json) -> "Problem":
        """Read the values of `plain`. Raises ValueError where they are none, or name unknown objectives."""
        read = _reader().validate_python(values)
        goal, names = Goal(model=read.model), tuple(read.objective.split(","))
        known = [COST_MODEL] if goal.answered else OBJECTIVES
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"unknown objectives {', '.join(unknown)}")
        goal = goal if goal.answered else replace(goal, objectives=names)
        levels = tuple(replace(level, attributes=_tuples(level.attributes)) for level in read.arch.levels)
        compute = replace(read.arch.compute, attributes=_tuples(read.arch.compute.attributes))
        arch = replace(read.arch, levels=levels, compute=compute)
        return cls(arch, read.workload, read.table, read.costs, goal)


@dataclass(frozen=True)
class _Plain:
    """A problem by the keys of its plain values, which files have."""

    arch: Architecture
    workload: Workload
    table: EnergyTable
    objective: str = "edp"
    costs: Charges = Charges()
    model: str = EXACT


@cache
def _reader() -> TypeAdapter[_Plain]:
    return TypeAdapter(_Plain)


def _tuples(value: Any) -> Any:
    """Write lists as tuples: the values of attributes may be of any type, and given energies are pairs."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _without_folders(own: ComponentClass) -> ComponentClass:
    """Return a class of components without the folders of the files that its values come from."""
    parts = tuple(_part(part) for part in own.parts)
    actions = tuple((name, tuple((part, _value(times)) for part, times in does)) for name, does in own.actions)
    return ComponentClass(_value(own.name), _values(own.attributes), parts, actions)


def _part(own: ComponentPart) -> ComponentPart:
    return ComponentPart(own.name, _value(own.cls), _value(own.count), _values(own.attributes))


def _values(every: tuple[tuple[str, Written], ...]) -> tuple[tuple[str, Written], ...]:
    return tuple((name, _value(written)) for name, written in every)


def _value(own: Written) -> Written:
    return replace(own, source=PurePath(own.source).name)
