"""What Timeloop's constraints may speak of: the keys that this model knows, and a workload's dims and tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...workloads import Keys, Workload
from ...workloads.timeloop import Names, Reader, choices
from ..fit import known_tensors
from ..loop_constraint import FactorRule

# They change what Timeloop counts or how the mapper is driven, and have no counterpart here.
REFUSED = (
    *("no_reuse", "no_temporal_reuse", "no_multicast_no_reduction", "rmw_first_update", "no_coalesce"),
    "max_overbooked_proportion",
)
GREEDY = ("maximize_dims", "maximize_dims_capacity")


@dataclass(frozen=True)
class Scope:
    """A file while its constraints are read. Faults stay in `reader`; without a workload few of its names are known."""

    reader: Reader
    workload: Workload | None
    # what maximize_dims comes to, by the path of its constraint: in the nodes of 0.4, once all of them are known
    greedy: Mapping[Keys, tuple[FactorRule, ...]] = field(default_factory=dict)

    @property
    def dims(self) -> tuple[str, ...]:
        """The dims of the workload; none where there is no workload."""
        return self.workload.dims if self.workload else ()

    @property
    def names(self) -> Names:
        """The names that expressions may use; of a problem in another file its instance counts by its dims."""
        counted = ("instance", "shape.dimensions") if self.workload else ()
        return {f"len(spec.problem.{part})": len(self.dims) for part in counted} | dict(self.reader.names)

    def section(self, path: Keys, known: tuple[str, ...]) -> dict[str, Any]:
        """The mapping at `path`. Keys outside `known` are faults, and so are those of REFUSED that say anything."""
        values = self.reader.mapping(path, (*known, *REFUSED))
        for key in REFUSED:
            if values.get(key) not in (None, [], {}):
                self.reader.fault((*path, key), f"{key} is not supported")
        return values

    def needed(self, path: Keys) -> Workload | None:
        """The workload, which the value at `path` cannot be read without; a fault where there is none."""
        if self.workload is None:
            self.reader.fault(path, f"{path[-1]} can only be read together with the workload")
        return self.workload

    def tensors(self, path: Keys) -> tuple[str, ...]:
        """The names of tensors at `path`; `*` stands for all tensors of the workload."""
        names = self.reader.words(path)
        if "*" in names:
            workload = self.needed(path)
            return tuple(tensor.name for tensor in workload.tensors) if workload else ()
        known = known_tensors(self.workload) if self.workload else frozenset(names)
        for name in names:
            if name not in known:
                self.reader.fault(path, f"unknown tensor {name!r}{choices(name, sorted(known))}")
        return names
