"""Plans: groups with a mapping of each layer that their stages are in steps, read from files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ....arch import Architecture, stacked
from ....workloads import Document, Fault, InputError, Keys, Network, Workload, collect, near
from ...mapping import MappingBatch, read_mapping
from ..machine import Standing
from ..steps import StepLayer, step_layers
from .file import PlanLayer, PlanStage, read_group


@dataclass(frozen=True, eq=False)
class Plan:
    """A group with a mapping of each layer that its stages are in steps."""

    standing: Standing
    numbers: Mapping[StepLayer, int]  # of steps
    batches: Mapping[StepLayer, MappingBatch]
    fitted: frozenset[StepLayer]  # those whose mapping was written for larger tiles, and is cut to their sizes
    overfull: tuple[str, ...]  # the stages beside which what stays in the keeper finds no room


def read_plan(document: Document, network: Network, arch: Architecture) -> Plan:
    """Read a group of layers of a network with its mappings. Raises InputError with every fault, each with its line."""
    document, file, group = read_group(document, network, arch)
    return read_mappings(document, file.stages, Standing(group, arch))


def read_mappings(document: Document, stages: Sequence[PlanStage], standing: Standing) -> Plan:
    """Read the mappings of a group, the key `stages` of a document. Raises InputError with every fault."""
    return _Mappings(document, stages, standing).read()


class _Mappings:
    """The mappings of a plan while they are read."""

    def __init__(self, document: Document, stages: Sequence[PlanStage], standing: Standing) -> None:
        self.document, self.stages, self.standing = document, stages, standing
        self.group, self.faults = standing.group, list[Fault]()
        self.batches: dict[StepLayer, MappingBatch] = {}
        self.fitted: set[StepLayer] = set()
        self.overfull: dict[str, None] = {}

    def read(self) -> Plan:
        """Read those of all stages. Raises InputError with every fault."""
        places = self._places()
        numbers: dict[StepLayer, int] = {}
        for stage, box in enumerate(self.standing.boxes):
            own = step_layers(self.group, stage, box)
            numbers |= own
            if self.group.stages[stage].name in places:
                self._stage(places[self.group.stages[stage].name], own)
        if self.faults:
            raise InputError(dict.fromkeys(self.faults))
        return Plan(self.standing, numbers, self.batches, frozenset(self.fitted), tuple(self.overfull))

    def _places(self) -> dict[str, int]:
        """The place in the file of each stage; those that it has not, or twice, or not in the group, are faults."""
        names, places = [stage.name for stage in self.group.stages], dict[str, int]()
        for i, stage in enumerate(self.stages):
            if stage.name not in names:
                rule = f'no stage "{stage.name}" in the group{near(stage.name, names)}'
                self._fault(("stages", i, "name"), f"{rule}; there are {', '.join(names)}")
            elif stage.name in places:
                line = self.document.line(("stages", places[stage.name]))
                self._fault(("stages", i, "name"), f"{stage.name} once more, first on line {line}")
            else:
                places[stage.name] = i
        for name in names:
            if name not in places:
                self._fault(("stages",), f"the mappings of {name} are missing")
        return places

    def _fault(self, at: Keys, message: str) -> None:
        self.faults.append(self.document.fault(at, message))

    def _stage(self, place: int, own: Mapping[StepLayer, int]) -> None:
        """Read the mappings of one stage: of certain sizes, and one for all others."""
        general = None
        for i, entry in enumerate(self.stages[place].layers):
            at = ("stages", place, "layers", i)
            if entry.sizes is None and general is not None:
                self._fault(at, "a second mapping without sizes: say of which steps it is")
            elif entry.sizes is None:
                general = at, entry
            else:
                self._of_sizes(at, entry, own)
        left = [layer for layer in own if layer not in self.batches]
        if general is not None:
            self._general(*general, [layer for layer in left if general[1].accumulates in (None, layer.accumulates)])
            left = [layer for layer in left if general[1].accumulates not in (None, layer.accumulates)]
        if left and not self.faults:
            self._fault(("stages", place), f"no mapping of {self._described(left, own)}")

    def _of_sizes(self, at: Keys, entry: PlanLayer, own: Mapping[StepLayer, int]) -> None:
        """Read a mapping of the steps of certain sizes; dims left out are whole."""
        assert entry.sizes is not None, "it has sizes"
        work = self.group.stages[next(iter(own)).stage]
        unknown = [dim for dim in entry.sizes if dim not in work.dims]
        for dim in unknown:
            self._fault((*at, "sizes", dim), f'no dim "{dim}" of {work.name}{near(dim, work.dims)}')
        sizes = tuple(entry.sizes.get(dim, size) for dim, size in zip(work.dims, work.sizes, strict=True))
        same = [layer for layer in own if layer.sizes == sizes and entry.accumulates in (None, layer.accumulates)]
        if not same and not unknown:
            self._fault((*at, "sizes"), f"no step has these; there are {self._described(own, own)}")
        for layer in same:
            if layer in self.batches:
                self._fault(at, "a second mapping of the same steps")
            self._read(at, layer)

    def _general(self, at: Keys, entry: PlanLayer, left: Sequence[StepLayer]) -> None:
        """Read a mapping of the largest of some layers, and cut it to the sizes of the others."""
        if not left:
            which = {None: "", True: " that adds to sums", False: " that adds to none"}[entry.accumulates]
            return self._fault(at, f"no step{which} is without a mapping: leave this one out")
        largest = max(left, key=lambda layer: (prod(layer.sizes), not layer.accumulates))
        self._read(at, largest)
        if largest in self.batches:
            for layer in left:
                if layer != largest:
                    self.batches[layer] = _cut(self.batches[largest], self._machine(layer), layer.workload(self.group))
                    self.fitted.update([layer] if layer.sizes != largest.sizes else [])
        return None

    def _read(self, at: Keys, layer: StepLayer) -> None:
        machine, work = self._machine(layer), layer.workload(self.group)
        batch = collect(self.faults, lambda: read_mapping(self.document, machine, work, (*at, "mapping")))
        if batch is not None:
            self.batches[layer] = batch

    def _machine(self, layer: StepLayer) -> Architecture:
        """The machine of a layer; where what stays in the keeper finds no room, with a keeper without limit."""
        try:
            return self.standing.machine(layer)
        except ValueError as error:
            self.overfull[f"{self.group.stages[layer.stage].name}: {error}"] = None
            arch = self.standing.arch.with_resident(self.standing.level, self.group.resident(layer.stage))
            levels = list(arch.levels)
            levels[self.standing.level] = replace(levels[self.standing.level], capacity_bits=None)
            return replace(arch, levels=tuple(levels))

    def _described(self, layers: Sequence[StepLayer] | Mapping[StepLayer, int], own: Mapping[StepLayer, int]) -> str:
        """Name layers by the sizes that differ, with their steps."""
        work = self.group.stages[next(iter(own)).stage]
        differ = [d for d in range(len(work.dims)) if len({layer.sizes[d] for layer in own}) > 1
                  or any(layer.sizes[d] != work.sizes[d] for layer in own)]  # fmt: skip
        texts = []
        for layer in layers:
            sizes = " ".join(f"{work.dims[d]}={layer.sizes[d]}" for d in differ) or "the whole layer"
            adds = ", adding" if layer.accumulates else ""
            texts.append(f"{sizes}{adds} ({own[layer]:,} step{'s'[: own[layer] > 1]})")
        return ", ".join(texts)


def _cut(batch: MappingBatch, machine: Architecture, work: Workload) -> MappingBatch:
    """Make a mapping of a smaller layer: from the innermost loop outwards no bound is more than is left."""
    bounds, left = batch.factors[0].copy(), np.array(work.sizes, np.int64)  # (slot, dim), (dim,)
    for slot in reversed(range(len(bounds))):
        bounds[slot] = np.minimum(bounds[slot], left)
        left = -(-left // bounds[slot])
    bounds[0] *= left
    return MappingBatch.of(stacked(machine, work), work, bounds[np.newaxis], batch.order[:1], batch.keep[:1])
