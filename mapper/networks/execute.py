"""The executor of plans: it computes a network part by part, from words that are where the plan says. The truth in
tests.

It shares nothing with movements.py and costs.py: words are counted as arrays are read and written, and a tensor that is
not where it is read is an error. Groups are executed word by word (fusion/executor). Values of operators stand in for
theirs: those that keep their sizes hand on their words, those on several tensors add them up.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from ...workloads import Network, Workload
from ...workloads.operators import Makes, Moves, Operation
from ..fusion import Link, StepLayer
from ..fusion.executor import Array, Executed, execute, extents_of, sums_over, tensor_named, with_mask
from ..mapping import MappingBatch
from .plan import Part, Plan

INSIDE, OFF_CHIP = "inside", "off chip"
COPY = ""  # in place of an operation: what a part of layers makes leaves the chip, too


@dataclass
class ExecutedPlan:
    """What executing a plan counts."""

    groups: dict[int, Executed] = field(default_factory=dict)  # by the number of the part
    # by the number of the part, the operation or COPY, where, and whether words are written
    moved: Counter[tuple[int, str, str, bool]] = field(default_factory=Counter)
    inside: list[dict[str, int]] = field(default_factory=list)  # per part the words of each tensor that stays
    read_inside: set[tuple[str, str]] = field(default_factory=set)  # layers and their tensors
    values: dict[str, Array] = field(default_factory=dict)  # of all that leaves the chip


def execute_plan(
    plan: Plan, seed: int = 0, mappings: Mapping[int, Mapping[StepLayer, MappingBatch]] | None = None
) -> ExecutedPlan:
    """Execute a plan on drawn inputs, and each layer in each step by its mapping, where there is one, by part.

    Raises LookupError where words are read that are not there.
    """
    run = _Run(plan, seed, mappings or {})
    for number, part in enumerate(plan.parts):
        run.execute(number, part)
    return run.executed


def reference(network: Network, seed: int = 0) -> dict[str, Array]:
    """Compute what all layers and operations of a network make, one after the other, each as a whole."""
    values: dict[str, Array] = {}
    tensors = _Tensors(network, seed, lambda name, *_: values[name])
    for name in network.order:
        own = network.by_name[name]
        if isinstance(own, Workload):
            inputs = {tensor.name: tensors.of_layer(own, tensor.name) for tensor in own.tensors if not tensor.output}
            values[name] = _computed(own, inputs)
        else:
            values[name] = operated(own, [tensors.named(source, name) for source in own.inputs])
    return values


class _Run:
    """One execution."""

    def __init__(self, plan: Plan, seed: int, mappings: Mapping[int, Mapping[StepLayer, MappingBatch]]) -> None:
        self.plan, self.mappings = plan, mappings
        self.executed = ExecutedPlan()
        self.memory: dict[str, Array] = {}
        self._resident = {own.tensor: own for own in plan.residents}
        self.off_chip: dict[str, Array] = {}
        self.tensors = _Tensors(plan.graph.network, seed, self._fetch)

    def execute(self, number: int, part: Part) -> None:
        """Execute a part: what it makes is in the memory, or off chip, or both; then what is read no more leaves."""
        if part.layers:
            made = self._layers(number, part)
            operations = list(part.operations)
            before = part.layers[-1]
        else:
            before, *operations = part.operations
            made = self._operation(number, before, {})
        for name in operations:
            made = self._operation(number, name, {before: made})
            before = name
        self._store(number, part, made)
        held = {name: array.size for name, array in self.memory.items()}
        self.executed.inside.append(held)
        for own in self.plan.residents:
            if own.until in part.names:
                del self.memory[own.tensor]

    def _fetch(self, name: str, source: str, reader: str) -> Array:
        """A tensor from where `source` is for a reader, which is made of it."""
        return self.memory[name] if self._where(source, reader) == INSIDE else self.off_chip[name]

    def _early(self, name: str, reader: str) -> bool:
        """Whether a tensor stays, and is still there for a reader."""
        stays = self._resident.get(name)
        return stays is not None and self.plan.place[reader] <= self.plan.place[stays.until]

    def _layers(self, number: int, part: Part) -> Array:
        group = part.group
        assert group is not None, "it has layers"
        inputs = {
            (stage, tensor.name): self.tensors.of_layer(layer, tensor.name)
            for stage, layer in enumerate(group.stages)
            for tensor in layer.tensors
            if not tensor.output and not group.intermediate(stage, tensor.name)
        }
        network = self.plan.graph.network
        self.executed.read_inside |= {
            (edge.consumer, edge.tensor)
            for name in part.layers
            for edge in network.inputs_of(name)
            if self._where(edge.producer, name) == INSIDE
        }
        executed = self.executed.groups[number] = execute(group, inputs, self.mappings.get(number))
        return executed.output

    def _operation(self, number: int, name: str, passing: Mapping[str, Array]) -> Array:
        """Apply an operation; the words of `passing` are not read. It reads each other tensor once."""
        own, inputs = self.plan.graph.network.by_name[name], dict[str, Array]()
        assert isinstance(own, Operation), "a layer is in a group"
        for source in dict.fromkeys(own.inputs):
            maker = next(iter(passing), "")
            if source in self._behind(maker):
                inputs[source] = self.tensors.operated_on(source, maker, passing[maker])
                passing = {}
                continue
            inputs[source] = array = self.tensors.named(source, name)
            self.executed.moved[number, name, self._where(source, name), False] += array.size
        return operated(own, [inputs[source] for source in own.inputs])

    def _behind(self, maker: str) -> set[str]:
        """What has the words of `maker` and no others: itself, and operations on it that move nothing."""
        names, network = {maker}, self.plan.graph.network
        for own in network.operations:
            if own.operator.moves is Moves.NONE and names.issuperset(own.inputs):
                names.add(own.name)
        return names

    def _where(self, source: str, reader: str) -> str:
        """Where a tensor is read: inside if all that is behind it is there."""
        places, waiting, network = set[str](), [source], self.plan.graph.network
        while waiting:
            name = waiting.pop()
            own = network.by_name.get(name)
            if isinstance(own, Operation) and own.operator.moves is Moves.NONE:
                waiting += own.inputs
            else:
                places.add(INSIDE if self._early(name, reader) else OFF_CHIP)
        return INSIDE if places == {INSIDE} else OFF_CHIP

    def _store(self, number: int, part: Part, made: Array) -> None:
        stays = self._resident.get(part.last)
        if stays is not None:
            self.memory[part.last] = made
        if stays is None or stays.copied:
            self.off_chip[part.last] = self.executed.values[part.last] = made
        if not part.layers:  # layers have written theirs
            for where in [INSIDE] * (stays is not None) + [OFF_CHIP] * (stays is None or stays.copied):
                self.executed.moved[number, part.last, where, True] += made.size
        elif stays is not None and stays.copied:
            self.executed.moved[number, COPY, INSIDE, False] += made.size
            self.executed.moved[number, COPY, OFF_CHIP, True] += made.size


@dataclass(frozen=True)
class _Tensors:
    """The tensors of a network; `fetch` gets what a layer or an operation that moves words makes: its name, that of
    the tensor that is read, and what reads it."""

    network: Network
    seed: int
    fetch: Callable[[str, str, str], Array]

    def named(self, name: str, reader: str, source: str = "") -> Array:
        """The words of a layer, an operation, or an input of the network, as one reads them."""
        own = self.network.by_name.get(name)
        if own is None:
            return self._drawn(name, dict(self.network.inputs)[name])
        if isinstance(own, Operation) and own.operator.moves is Moves.NONE:
            return operated(own, [self.named(part, reader, source or name) for part in own.inputs])
        return self.fetch(name, source or name, reader)

    def operated_on(self, name: str, maker: str, made: Array) -> Array:
        """The words of `name`, where operations that move nothing stand between it and `maker`."""
        own = self.network.by_name[name]
        if name == maker or not isinstance(own, Operation):
            return made
        return operated(own, [self.operated_on(source, maker, made) for source in own.inputs])

    def of_layer(self, layer: Workload, tensor: str) -> Array:
        """An input of a layer, with zeros around it; what nobody in the network makes is drawn."""
        edge = next((own for own in self.network.inputs_of(layer.name) if own.tensor == tensor), None)
        extents = extents_of(tensor_named(layer, tensor), layer)
        if edge is None:
            return self._drawn(f"{layer.name}.{tensor}", extents)
        made = self.named(edge.producer, layer.name)
        array = _in_turn(made, extents)
        if not edge.whole:
            array = _along(edge.ranks, self._dims(edge.producer), made, extents)
        return with_mask(Link(0, 0, tensor, edge.ranks, causal=edge.causal), layer, array)

    def _dims(self, name: str) -> list[str]:
        """The dims of the layer behind a tensor."""
        own = self.network.by_name.get(name)
        while isinstance(own, Operation):
            own = self.network.by_name.get(own.inputs[0])
        return [] if own is None else [rank[0].dim for rank in own.output.ranks]

    def _drawn(self, name: str, sizes: tuple[int, ...]) -> Array:
        random = np.random.default_rng([self.seed, crc32(name.encode())])
        return random.integers(1, 3, sizes).astype(float)


def _in_turn(made: Array, extents: tuple[int, ...]) -> Array:
    """The same words in turn, as far as there is room: where nothing is known of ranks."""
    array = np.zeros(extents)
    words = min(made.size, array.size)
    array.flat[:words] = made.flat[:words]
    return array


def _along(
    ranks: Sequence[tuple[str | None, int]], dims: Sequence[str], made: Array, extents: tuple[int, ...]
) -> Array:
    """What was made along the ranks of a tensor, with zeros around it."""
    array = np.zeros(extents)
    for word in np.ndindex(*made.shape):
        place = tuple(word[dims.index(dim)] + zeros if dim is not None else 0 for dim, zeros in ranks)
        if all(0 <= i < extent for i, extent in zip(place, extents, strict=True)):
            array[place] = made[word]
    return array


def _computed(layer: Workload, inputs: Mapping[str, Array]) -> Array:
    """The output of a layer."""
    operands = [None if tensor.output else inputs[tensor.name] for tensor in layer.tensors]
    output, ends = np.zeros(extents_of(layer.output, layer)), {dim: (0, layer.size(dim)) for dim in layer.dims}
    for word, value in sums_over(layer, ends, operands).items():
        output[word] = value
    return output


def operated(own: Operation, inputs: Sequence[Array]) -> Array:
    """What an operation makes of these: values that stand in for its own, of its sizes."""
    words = np.concatenate([array.ravel() for array in inputs])
    if own.operator.makes is Makes.LARGEST:
        largest = max(inputs, key=lambda array: array.size)
        words = sum((np.resize(array, largest.size) for array in inputs), np.zeros(largest.size))
    return np.resize(words, own.sizes)
