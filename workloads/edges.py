"""What the layers of a network hand each other: `from` and `pad` of a network file, checked against the layers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from .checking import IntExpr, Section
from .faults import Fault
from .fitting import FitError, Made, linked
from .networks import Edge
from .operations import OperationEntry, SizesError, output_sizes
from .operators import OPERATORS, Causal, Makes, Operation
from .reading import Document, Keys, near
from .shapes import Word
from .spec import Rank, Tensor, Workload

Zeros = Annotated[IntExpr, Field(ge=0, lt=2**31)]


def _both_ends(value: object) -> object:
    return tuple(value) if isinstance(value, list | tuple) else (value, value)


_BETWEEN = [name for name, operator in OPERATORS.items() if operator.rows]  # two layers, where `through` says so


class Linked(Section):
    """What an entry of a network says of the layers before it."""

    source: Annotated[dict[Word, str], Field(alias="from")] = {}
    # zeros before and after the words that it reads, along the windows of these dims: one number for both, or two
    pad: dict[Word, Annotated[tuple[Zeros, Zeros], BeforeValidator(_both_ends)]] = {}
    through: dict[Word, str] = {}  # by tensor the operator on the words between
    streaming: bool = False  # whether that operator goes tile by tile
    causal: bool = False  # whether queries see no later keys


def entry_name(document: Document, at: Keys) -> str:
    """The name of an entry that is no layer and no operation, as others may read it."""
    said, place = document.get(at), int(at[-1]) + 1
    own = said if isinstance(said, dict) else {}
    return str(own.get("name") or f"{own.get('op', 'layer')}_{place}")


class EdgesReader:
    """Reads the edges of a network, entry by entry, each after those that it may read from."""

    def __init__(
        self,
        document: Document,
        names: Mapping[str, Keys],
        inputs: Mapping[str, tuple[int, ...]] | None = None,
        faulty: Iterable[str] = (),
    ) -> None:
        """Begin; `names` has the path of every layer and operation of the network by its name, `inputs` the sizes of
        what nobody in the network makes; `faulty` entries are told already, and what reads them is not."""
        self.document, self.names = document, names
        self.edges: list[Edge] = []
        self.operations: list[Operation] = []
        self.faults: list[Fault] = []
        self._faulty = set(faulty)  # layers and operations that are none
        self._before = {name: Made.of_sizes(name, sizes) for name, sizes in (inputs or {}).items()}

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
        self._before[layer.name] = Made.of_layer(layer, count)

    def operate(self, at: Keys, entry: OperationEntry, name: str) -> None:
        """Read the operation `name` at `at`."""
        operator = OPERATORS.get(entry.op)
        if operator is None:
            hint = near(entry.op, OPERATORS) or f"; known: {', '.join(OPERATORS)}"
            self._fault((*at, "op"), f'unknown operator "{entry.op}"{hint}')
            self._faulty.add(name)
            return
        makers = [self._maker((*at, "from"), source, name, entry.count) for source in entry.source]
        made = [own for own in makers if own is not None]
        if len(made) < len(makers):
            self._faulty.add(name)
            return
        try:
            sizes = output_sizes(operator, [own.sizes for own in made], entry.sizes)
        except SizesError as error:
            self._fault(at, f"{entry.op} {error}")
            self._faulty.add(name)
            return
        self.operations.append(Operation(name, entry.op, entry.source, sizes, entry.count))
        own = Made.of_sizes(name, sizes, entry.count)
        if operator.makes is Makes.SAME and sizes == made[0].sizes:
            own = replace(own, ranks=made[0].ranks, layer=made[0].layer)
        self._before[name] = own

    def _maker(self, path: Keys, name: str, own: str, count: int) -> Made | None:
        """Return what `name` makes for `own`, so often in the network; collect why it makes nothing."""
        made = self._before.get(name)
        if name == own:
            self._fault(path, f"{name} would read what it makes itself")
        elif made is not None:
            if made.count in (None, count):
                return made
            rule = f"{name} is there {made.count} times and {own} {count} times: write them one by one"
            self._fault(path, rule)
        elif name in self._faulty:
            return None  # its own fault is told
        elif name in self.names:
            rule = f"{name} stands below {own}: layers stand in an order in which they can be computed"
            self._fault(path, rule)
        else:
            self._fault(path, f'no layer "{name}" in this network{near(name, self.names)}')
        return None

    def _of_tensor(self, path: Keys, tensor: str, name: str, said: Linked, own: tuple[Workload, int]) -> None:
        (layer, count), inputs = own, [tensor.name for tensor in self._inputs(own[0])]
        if tensor not in inputs:
            self._fault(path, f'unknown input "{tensor}"; {layer.name} reads {", ".join(inputs)}')
        elif (made := self._maker(path, name, layer.name, count)) is not None:
            try:
                edge = linked(made, layer, tensor, said.pad)
            except FitError as error:
                self._fault(path, str(error))
                return
            self.edges.append(replace(edge, **self._attention(path[:-2], said, layer, tensor)))

    def _operator_faults(self, at: Keys, said: Linked) -> None:
        """Collect what is wrong with operators between layers, whatever the layers are."""
        for tensor, name in said.through.items():
            path = (*at, "through", tensor)
            if tensor not in said.source:
                self._fault(path, f"goes with from: no layer is said to make {tensor}")
            if name not in _BETWEEN:
                self._fault(path, f'unknown operator "{name}"{near(name, _BETWEEN)}; known: {", ".join(_BETWEEN)}')
        rows = any(name in _BETWEEN for name in said.through.values())
        if said.streaming and not rows:
            self._fault((*at, "streaming"), "goes with an operator on rows, as through: {Inputs: softmax}")
        if said.causal and not rows:
            self._fault((*at, "causal"), "goes with an operator on rows, as through: {Inputs: softmax}")

    def _attention(self, at: Keys, said: Linked, layer: Workload, tensor: str) -> dict[str, Any]:
        """The fields of an edge that tell the operator on its words."""
        name = said.through.get(tensor, "")
        if name not in _BETWEEN:
            return {}
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
