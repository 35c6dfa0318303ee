"""What the layers of a network hand each other: `from` and `pad` of a network file, checked against the layers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from .checking import IntExpr, Section
from .faults import Fault
from .operators import OPERATORS, Causal
from .reading import Document, Keys, near
from .shapes import Word
from .spec import Edge, Rank, Tensor, Workload

Zeros = Annotated[IntExpr, Field(ge=0, lt=2**31)]


def _both_ends(value: object) -> object:
    return tuple(value) if isinstance(value, list | tuple) else (value, value)


class Linked(Section):
    """What an entry of a network says of the layers before it."""

    source: Annotated[dict[Word, str], Field(alias="from")] = {}
    # zeros before and after the words that it reads, along the windows of these dims: one number for both, or two
    pad: dict[Word, Annotated[tuple[Zeros, Zeros], BeforeValidator(_both_ends)]] = {}
    through: dict[Word, str] = {}  # by tensor the operator on the words between
    streaming: bool = False  # whether that operator goes tile by tile
    causal: bool = False  # whether queries see no later keys


class FitError(ValueError):
    """The output of one layer is not what another reads."""


def linked(producer: Workload, consumer: Workload, tensor: str, pad: Mapping[str, tuple[int, int]]) -> Edge:
    """Make the edge by which `consumer` reads the output of `producer` as `tensor`.

    Ranks of one word are left out on either side; the others run along each other in their order. `pad` has the zeros
    before and after, by a dim of the window. Raises FitError.
    """
    read = next(own for own in consumer.tensors if own.name == tensor)
    made = [(rank[0].dim, producer.size(rank[0].dim)) for rank in producer.output.ranks]
    every = [_Read(rank, consumer, pad) for rank in read.ranks]
    pairs = _paired(made, every)
    if pairs is None:
        have = " x ".join(f"{dim}={size}" for dim, size in made)
        want = " x ".join(own.text for own in every)
        raise FitError(
            f"{consumer.name} reads {tensor}[{want}], and {producer.name} makes [{have}]{_hint(made, every)}"
        )
    ranks = tuple((dim, own.zeros[0] if dim is not None else 0) for dim, own in zip(pairs, every, strict=True))
    return Edge(producer.name, consumer.name, tensor, ranks)


class _Read:
    """A rank of a tensor that a layer reads."""

    def __init__(self, rank: Rank, layer: Workload, pad: Mapping[str, tuple[int, int]]) -> None:
        self.extent = sum(term.coef * (layer.size(term.dim) - 1) for term in rank) + 1
        self.zeros = next((pad[term.dim] for term in rank if term.dim in pad), (0, 0))
        self.dims = [term.dim for term in rank]
        steps = [term.coef for term in rank if term.dim in layer.output.dims]
        self.step = steps[0] if steps and (len(rank) > 1 or steps[0] > 1) else 1  # a window may leave the last words
        self.text = f"{'+'.join(self.dims)}={self.extent}"

    def fits(self, size: int) -> bool:
        """Whether it runs along a dim of this size: to its end, or less than a step of the window before it."""
        return 0 <= size + sum(self.zeros) - self.extent < self.step


def _paired(made: Sequence[tuple[str, int]], every: Sequence[_Read]) -> list[str | None] | None:
    """Pair ranks in their order: for each that is read the dim that it runs along, None for one of one word alone."""
    if not every:
        return [] if all(size == 1 for _, size in made) else None
    if made and every[0].fits(made[0][1]):
        rest = _paired(made[1:], every[1:])
        if rest is not None:
            return [made[0][0], *rest]
    if every[0].extent == 1 and not any(every[0].zeros):
        rest = _paired(made, every[1:])
        if rest is not None:
            return [None, *rest]
    return _paired(made[1:], every) if made and made[0][1] == 1 else None


def _hint(made: Sequence[tuple[str, int]], every: Sequence[_Read]) -> str:
    """Say how much padding would make the ranks fit, where each is a window that reads more than there is."""
    sizes = [size for _, size in made if size > 1]
    wide = [own for own in every if own.extent > 1]
    if len(sizes) != len(wide):
        return ""
    needed = [(own, own.extent - size - sum(own.zeros)) for size, own in zip(sizes, wide, strict=True)]
    if any(more and (len(own.dims) == 1 or not 0 <= more <= own.extent) for own, more in needed):
        return ""  # zeros stand around windows, and not within them
    texts = [f"{own.dims[0]}: {(more + 1) // 2 + own.zeros[0]}" for own, more in needed if more]
    return f"; write pad: {{{', '.join(texts)}}} if zeros stand around them" if texts else ""


class EdgesReader:
    """Reads the edges of a network, entry by entry, each after those that it may read from."""

    def __init__(self, document: Document, names: Mapping[str, Keys]) -> None:
        """Begin; `names` has the path of every layer of the network by its name."""
        self.document, self.names = document, names
        self.edges: list[Edge] = []
        self.faults: list[Fault] = []
        self._before: dict[str, tuple[Workload, int]] = {}

    def read(self, at: Keys, said: Linked, layer: Workload, count: int) -> None:
        """Read what the entry at `at`, `count` times in the network, says of its inputs."""
        windows = dict.fromkeys(rank for tensor in self._inputs(layer) for rank in tensor.ranks if len(rank) > 1)
        dims = {dim for rank in windows for dim in _dims(rank)}
        for dim in said.pad.keys() - dims:
            have = f": {', '.join(sorted(dims))} have" if dims else ""
            self._fault((*at, "pad", dim), f"{layer.name} has no window along {dim}{have}")
        for rank in windows:
            padded = [dim for dim in said.pad if dim in _dims(rank)]
            for dim in padded[1:]:
                self._fault((*at, "pad", dim), f"{padded[0]} and {dim} are of one window: pad it by one of them")
        if said.pad and not said.source:
            self._fault((*at, "pad"), "goes with from: zeros stand around what another layer made")
        self._operator_faults(at, said)
        for tensor, name in said.source.items():
            self._of_tensor((*at, "from", tensor), tensor, name, said, (layer, count))
        self._before[layer.name] = layer, count

    def _of_tensor(self, path: Keys, tensor: str, name: str, said: Linked, own: tuple[Workload, int]) -> None:
        (layer, count), inputs = own, [tensor.name for tensor in self._inputs(own[0])]
        if tensor not in inputs:
            self._fault(path, f'unknown input "{tensor}"; {layer.name} reads {", ".join(inputs)}')
        elif name == layer.name:
            self._fault(path, f"{name} would read what it makes itself")
        elif name in self._before:
            producer, number = self._before[name]
            if number != count:
                self._fault(
                    path, f"{name} is there {number} times and {layer.name} {count} times: write them one by one"
                )
                return
            try:
                edge = linked(producer, layer, tensor, said.pad)
            except FitError as error:
                self._fault(path, str(error))
                return
            self.edges.append(replace(edge, **self._attention(path[:-2], said, layer, tensor)))
        elif name in self.names:
            self._fault(
                path, f"{name} stands below {layer.name}: layers stand in an order in which they can be computed"
            )
        else:
            self._fault(path, f'no layer "{name}" in this network{near(name, self.names)}')

    def _operator_faults(self, at: Keys, said: Linked) -> None:
        """Collect what is wrong with operators between layers, whatever the layers are."""
        for tensor, name in said.through.items():
            path = (*at, "through", tensor)
            if tensor not in said.source:
                self._fault(path, f"goes with from: no layer is said to make {tensor}")
            if name not in OPERATORS:
                self._fault(path, f'unknown operator "{name}"{near(name, OPERATORS)}; known: {", ".join(OPERATORS)}')
        rows = any(name in OPERATORS and OPERATORS[name].rows for name in said.through.values())
        if said.streaming and not rows:
            self._fault((*at, "streaming"), "goes with an operator on rows, as through: {Inputs: softmax}")
        if said.causal and not rows:
            self._fault((*at, "causal"), "goes with an operator on rows, as through: {Inputs: softmax}")

    def _attention(self, at: Keys, said: Linked, layer: Workload, tensor: str) -> dict[str, Any]:
        """The fields of an edge that tell the operator on its words."""
        name = said.through.get(tensor, "")
        if name not in OPERATORS or not OPERATORS[name].rows:
            return {"through": name}
        ranks = [rank[0].dim for rank in next(own for own in layer.tensors if own.name == tensor).ranks]
        if layer.output.dims >= set(ranks):
            rule = f"{layer.name} adds up over no dim of {tensor}, so it has no rows: say it of a layer that does"
            self._fault((*at, "through", tensor), f"{name} needs whole rows, and {rule}")
        keys = [dim for dim in ranks if dim not in layer.output.dims and layer.size(dim) > 1]
        queries = [dim for dim in ranks if dim in layer.output.dims]
        fields: dict[str, Any] = {"through": name, "streaming": said.streaming}
        if said.causal:
            fields["causal"] = self._causal(at, said, layer, (queries, keys))
        return fields

    def _causal(self, at: Keys, said: Linked, layer: Workload, dims: tuple[list[str], list[str]]) -> Causal | None:
        """The mask of a product of scores and values, whose dims of queries and of keys these are."""
        (queries, keys), sizes = dims, getattr(said, "sizes", None)
        if len(keys) != 1 or not queries or not isinstance(sizes, dict):
            rule = "goes with a product of scores and values whose sizes are written here, with one dim of keys"
            self._fault((*at, "causal"), rule)
            return None
        causal = Causal(queries[-1], keys[0], sizes.get(queries[-1], layer.size(queries[-1])))
        if causal.queries > layer.size(causal.key):
            rule = f"has more queries ({causal.queries:,}) than keys ({layer.size(causal.key):,})"
            self._fault((*at, "causal"), f"{layer.name} {rule}: the first would see none")
            return None
        return causal

    @staticmethod
    def _inputs(layer: Workload) -> list[Tensor]:
        return [tensor for tensor in layer.tensors if not tensor.output]

    def _fault(self, path: Keys, message: str) -> None:
        self.faults.append(self.document.fault(path, message))


def _dims(rank: Rank) -> list[str]:
    return [term.dim for term in rank]
