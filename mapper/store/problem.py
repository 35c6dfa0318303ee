"""What identifies a problem: all that decides which mappings are valid and which of two is better, and nothing else."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import PurePath
from typing import Any, Self

from pydantic import TypeAdapter

from ...arch import Architecture, ComponentClass, ComponentPart, Written
from ...energy import EnergyTable, as_written
from ...workloads import Workload
from ..model import OBJECTIVES, CostOptions
from ..search import Task
from ..search.outcome import COST_MODEL
from .plain import Json, digest, plain

MODEL = "exact"  # the counts of docs/model.md; else the command of a cost model


@dataclass(frozen=True)
class Problem:
    """A layer on a machine, with energies, costs and objectives.

    The mapspace is no part of it: a mapping that was found in one is knowledge for all. Neither are names of the
    machine and the layer, nor areas, nor where figures come from.
    """

    arch: Architecture  # with one level for each memory
    workload: Workload
    table: EnergyTable
    objective: str = "edp"  # or a list, as delay,energy
    costs: CostOptions = CostOptions()
    model: str = MODEL

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return the problem of a search."""
        arch, table = as_written(task.space.arch, task.table)
        options = task.options
        objective = COST_MODEL if options.cost_model else ",".join(options.objectives)
        return cls(arch, task.space.workload, table, objective, task.costs, str(options.cost_model or MODEL))

    @property
    def answered(self) -> bool:
        """Whether its values are the answers of a cost model of a user."""
        return self.model != MODEL

    @property
    def objectives(self) -> tuple[str, ...]:
        """The objectives to minimise: the first; among equals the second, and so on."""
        return tuple(self.objective.split(","))

    @cached_property
    def digest(self) -> str:
        """The hash of its identity."""
        work, leaks = self.workload, self.costs.leakage
        levels = [plain(replace(level, cls="", attributes=())) for level in self.arch.levels]
        energies = [
            [level.read_pj, level.write_pj, level.update_pj, level.leak_pj_per_cycle if leaks else 0]
            for level in self.table.levels
        ]
        mac = [self.table.compute.mac_pj(work), self.table.compute.leak_pj_per_cycle if leaks else 0]
        # left out at its default, as by `plain`: the digests of older stores stay
        most_loops = {} if self.arch.max_loops is None else {"max_loops": self.arch.max_loops}
        return digest(
            {
                "model": self.model,
                "objective": self.objective,
                "costs": plain(self.costs),
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

    def values(self, energy_pj: float, cycles: int) -> tuple[float, ...]:
        """Compute the objectives of a mapping, in turn."""
        every = {(1, 1): energy_pj * cycles, (1, 0): energy_pj, (0, 1): cycles}
        return tuple(float(every[OBJECTIVES[name].powers]) for name in self.objectives)

    def plain(self) -> Json:
        """Convert to plain values that say all of it; `of_plain` reads them."""
        arch = replace(self.arch, components=tuple(_without_folders(each) for each in self.arch.components))
        described = {"arch": plain(arch), "workload": plain(self.workload), "table": plain(self.table)}
        return {"model": self.model, "objective": self.objective, "costs": plain(self.costs), **described}

    @classmethod
    def of_plain(cls, values: Json) -> "Problem":
        """Read the values of `plain`. Raises ValueError where they are none, or name unknown objectives."""
        read = _reader().validate_python(values)
        known = [COST_MODEL] if read.answered else OBJECTIVES
        unknown = [name for name in read.objectives if name not in known]
        if unknown:
            raise ValueError(f"unknown objectives {', '.join(unknown)}")
        levels = tuple(replace(level, attributes=_tuples(level.attributes)) for level in read.arch.levels)
        compute = replace(read.arch.compute, attributes=_tuples(read.arch.compute.attributes))
        return replace(read, arch=replace(read.arch, levels=levels, compute=compute))


@cache
def _reader() -> TypeAdapter[Problem]:
    return TypeAdapter(Problem)


def _tuples(value: Any) -> Any:
    """Write lists as tuples: the values of attributes may be of any type, and given energies are pairs."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _without_folders(own: ComponentClass) -> ComponentClass:
    """Return a class of components without the folders of the files that its values come from."""
    parts = tuple(_part(each) for each in own.parts)
    actions = tuple((name, tuple((part, _value(times)) for part, times in does)) for name, does in own.actions)
    return ComponentClass(_value(own.name), _values(own.attributes), parts, actions)


def _part(own: ComponentPart) -> ComponentPart:
    return ComponentPart(own.name, _value(own.cls), _value(own.count), _values(own.attributes))


def _values(every: tuple[tuple[str, Written], ...]) -> tuple[tuple[str, Written], ...]:
    return tuple((name, _value(each)) for name, each in every)


def _value(own: Written) -> Written:
    return replace(own, source=PurePath(own.source).name)
