"""Plans of networks as files: what `ruby-map --fuse auto --out` writes and `ruby-model` counts.

Each part has the keys `group` and `stages` of the file of a group (fusion/plans), without a keeper of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from ...arch import Architecture
from ...workloads import Document, Fault, InputError, Keys, Network, Section, check, collect, near
from ...workloads.operators import Moves, Operation
from ..fusion import Group, Standing, StepLayer
from ..fusion.plans import GroupShape, PlanStage, group_faults, keeper_faults, read_mappings, shaped_group
from ..mapping import MappingBatch
from .costs import overfull_bits
from .graph import Graph
from .plan import Part, Plan, PlanFault, Resident

ROOT = "parts"  # the key by which a file is one of a network
Name = Annotated[str, Field(min_length=1)]


class PlanFilePart(Section):
    """What is executed at once: a layer or a fused group with its mappings, or an operation; and what ends it."""

    group: GroupShape | None = None
    stages: tuple[PlanStage, ...] = ()
    between: tuple[Name, ...] = ()
    operations: tuple[Name, ...] = ()


class PlanFileResident(Section):
    """A tensor that stays in the keeper between parts."""

    tensor: Name
    until: Name
    copied: bool = False


class NetworkPlanFile(Section):
    """Parts in an order, and what stays in one memory between them."""

    keeper: Name
    parts: tuple[PlanFilePart, ...] = Field(min_length=1)
    resident: tuple[PlanFileResident, ...] = ()


@dataclass(frozen=True, eq=False)
class MappedPlan:
    """A plan with the mappings of its layers, by the number of the part."""

    plan: Plan
    batches: Mapping[int, Mapping[StepLayer, MappingBatch]]
    fitted: Mapping[int, frozenset[StepLayer]]  # those whose mapping was written for larger tiles
    overfull: tuple[str, ...]  # what finds no room beside what stays in the keeper


def is_network_plan(document: Document) -> bool:
    """Whether a file has parts."""
    return isinstance(document.data, dict) and ROOT in document.data


def read_network_plan(document: Document, network: Network, arch: Architecture) -> MappedPlan:
    """Read a plan of a network with its mappings. Raises InputError with every fault, each with its line.

    What is wrong with the plan is said before its mappings are read.
    """
    return _PlanReader(document, check(document, NetworkPlanFile), Graph.of(network), arch).read()


class _PlanReader:
    """A plan while it is read."""

    def __init__(self, document: Document, file: NetworkPlanFile, graph: Graph, arch: Architecture) -> None:
        self.document, self.file, self.graph, self.arch = document, file, graph, arch
        self.inner = _parts_of(document)
        self.faults = list[Fault]()
        self.broken = set[int]()  # parts whose groups have faults

    def read(self) -> MappedPlan:
        """Read it. Raises InputError with every fault."""
        faults = self.faults
        if not (self.graph.network.edges or self.graph.network.operations):
            self._fault((ROOT,), f"{self.graph.network.name} does not say what its layers hand each other")
        faults += self._keeper_faults()
        keeps = not faults  # whether the machine can be asked what the keeper may have
        parts = tuple(self._part(number) for number in range(len(self.file.parts)))
        residents = tuple(Resident(own.tensor, own.until, own.copied) for own in self.file.resident)
        plan = Plan(self.graph, self.file.keeper, parts, residents)
        for own in plan.placed_faults():
            if own.part not in self.broken or own.name:
                self._fault(self._path(own), own.message)
        if keeps and not faults:
            for number in range(len(parts)):
                faults += self._standing_faults(plan, number)
        if faults:
            raise InputError(dict.fromkeys(faults))
        return self._mapped(plan)

    def _fault(self, at: Keys, message: str) -> None:
        self.faults.append(self.document.fault(at, message))

    def _keeper_faults(self) -> Iterator[Fault]:
        keeper = self.file.keeper
        wrong = list(keeper_faults(self.document, ("keeper",), keeper, self.arch))
        if not wrong:
            try:
                self.arch.with_resident(self.arch.number_of(keeper), ())
            except ValueError as error:
                wrong.append(self.document.fault(("keeper",), str(error)))
        yield from wrong

    def _part(self, number: int) -> Part:
        """Read a part without its mappings; names that nothing has are faults, and left out."""
        entry = self.file.parts[number]
        operations = self._operations(number, "operations", entry.operations)
        between = self._operations(number, "between", entry.between)
        if entry.group is None:
            if entry.stages:
                self._fault((ROOT, number, "stages"), "mappings are of layers: write group: {stages: [...]}, too")
            if entry.between:
                self._fault((ROOT, number, "between"), "stand between the layers of a group, and there are none")
            return Part(operations=operations)
        names = entry.group.stages
        group = self._alone(number, entry.group) if len(names) == 1 else self._fused(number, entry.group)
        if group is None:
            self.broken.add(number)
            return Part(tuple(name for name in names if name in self.graph.nodes), between, operations)
        inside = between_layers(self.graph, names)
        if set(between) != set(inside) and len(between) == len(entry.between):  # names that nothing has are told
            wanted = ", ".join(inside) or "nothing"
            self._fault((ROOT, number, "between"), f"must name the operations on rows between these layers: {wanted}")
        return Part(names, inside, operations, group)

    def _operations(self, number: int, key: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The operations of these names; others are faults."""
        network, known = self.graph.network, list[str]()
        for place, name in enumerate(names):
            own = network.by_name.get(name)
            if name in self.graph.nodes:
                known.append(name)
            elif isinstance(own, Operation) and own.operator.moves is Moves.NONE:
                self._fault((ROOT, number, key, place), f"{name} moves no words, and is in no part: leave it out")
            else:
                hint = near(name, [name for name, node in self.graph.nodes.items() if node.layer is None])
                self._fault((ROOT, number, key, place), f'no operation "{name}" in {network.name}{hint}')
        return tuple(known)

    def _alone(self, number: int, shape: GroupShape) -> Group | None:
        """The group of a single layer, which shares no loops; None with a fault."""
        (name,), document, before = shape.stages, self.inner[number], len(self.faults)
        layers = {layer.name: layer for layer, _ in self.graph.network.layers}
        if name not in layers:
            rule = f'no layer "{name}" in {self.graph.network.name}{near(name, layers)}'
            self.faults.append(document.fault(("group", "stages", 0), rule))
        for key in ("shared", "halo", "life"):
            if getattr(shape, key):
                rule = f"is of layers that are fused, and {name} is one: leave it out"
                self.faults.append(document.fault(("group", key), rule))
        return Group((layers[name],), (), self.file.keeper) if len(self.faults) == before else None

    def _fused(self, number: int, shape: GroupShape) -> Group | None:
        """The group of several layers; None with its faults."""
        document, network = self.inner[number], self.graph.network
        return collect(self.faults, lambda: shaped_group(document, shape, self.file.keeper, network))

    def _path(self, own: PlanFault) -> Keys:
        """Where the value stands that a fault names."""
        if own.resident is not None:
            entry = self.file.resident[own.resident]
            return "resident", own.resident, "until" if own.name == entry.until else "tensor"
        if own.part is None:
            return (ROOT,)
        part = self.file.parts[own.part]
        stages = part.group.stages if part.group is not None else ()
        for at, names in (
            (("group", "stages"), stages),
            (("between",), part.between),
            (("operations",), part.operations),
        ):
            if own.name in names:
                return ROOT, own.part, *at, names.index(own.name)
        return ROOT, own.part

    def _standing_faults(self, plan: Plan, number: int) -> Iterator[Fault]:
        """Yield why the keeper may not have what stands in it while a part is executed."""
        if plan.parts[number].group is None:
            return
        document, group = self.inner[number], plan.placed(number).group(self.arch)
        plain = replace(group, lasting=frozenset(), reserved=())
        wrong = group_faults(document, plain, self.arch, ("group", "stages"))
        yield from wrong
        for stage, name in sorted(group.depths.keys() & group.lasting):
            own = f"{group.stages[stage].name}.{name}"
            rule = "stays from part to part, as resident says: leave it out"
            wrong.append(document.fault(("group", "life", own), rule))
            yield wrong[-1]
        if not wrong:
            yield from group_faults(document, group, self.arch, ())

    def _mapped(self, plan: Plan) -> MappedPlan:
        """Read the mappings. Raises InputError with every fault."""
        batches, fitted = dict[int, Mapping[StepLayer, MappingBatch]](), dict[int, frozenset[StepLayer]]()
        overfull = list[str]()
        for number in range(len(plan.parts)):
            placed, document, stages = plan.placed(number), self.inner[number], self.file.parts[number].stages
            if placed.part.group is None:
                if over := overfull_bits(placed, self.arch):
                    overfull.append(
                        f"{placed.part.last}: {plan.keeper} is {over:,} bits too small for what stays in it"
                    )
                continue
            standing = Standing(placed.group(self.arch), self.arch)
            own = collect(self.faults, lambda: read_mappings(document, stages, standing))  # noqa: B023 - called here
            if own is not None:
                batches[number], fitted[number] = own.batches, own.fitted
                overfull += own.overfull
        if self.faults:
            raise InputError(dict.fromkeys(self.faults))
        return MappedPlan(plan, batches, fitted, tuple(overfull))


def _parts_of(document: Document) -> list[Document]:
    """The parts as documents of their own, whose faults name their places in the file."""
    places: list[dict[Keys, tuple[str, int]]] = [{} for _ in document.data[ROOT]]
    for path, place in document.places.items():
        if len(path) > 1 and path[0] == ROOT and isinstance(path[1], int):
            places[path[1]][path[2:]] = place
    return [
        replace(document, data=data, places=places[number], at=(ROOT, number))
        for number, data in enumerate(document.data[ROOT])
    ]


def between_layers(graph: Graph, layers: tuple[str, ...]) -> tuple[str, ...]:
    """The operations on rows between the layers of a group, in the order of the graph."""
    return tuple(
        name
        for name, node in graph.nodes.items()
        if node.operator is not None
        and node.operator.rows
        and node.makers
        and set(node.makers) <= set(layers[:-1])
        and set(layers).intersection(graph.readers[name])
    )
