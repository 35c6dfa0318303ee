"""The entries of a network file: layers and operations, each after what it reads, and the inputs of the network."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ..faults import InputError
from ..fitting import FitError, Made, linked
from ..operations import SizesError, output_sizes
from ..operators import OPERATORS, Makes, Moves
from ..shapes import MOST_NAME
from ..spec import Workload
from .graph import Graph, Node
from .layers import Product, workload_of
from .views import View

Sizes = tuple[int, ...]
Read = tuple[Made, View | None]  # what a layer reads, and in which order; None: in no order of its dims


@dataclass(frozen=True)
class _Passed:
    """An operation that changes words as they pass."""

    before: str  # what it reads
    op: str
    root: str  # the first before it whose words have not passed another
    depth: int  # how many there are from there


@dataclass(frozen=True)
class Kept:
    """The entries of a network, and what became of nodes."""

    entries: tuple[tuple[str, dict[str, Any], int], ...]  # names, entries, how often
    inputs: Mapping[str, Sizes]
    nodes: int  # that have entries
    unread: Counter[str]  # nodes of which none counts, by their operations


class Entries:
    """Collects the entries of a network, and which of them makes which tensor of the graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.remarks: list[str] = []  # what could not be said of what layers read
        self._every: list[tuple[str, dict[str, Any], Node | None]] = []  # name, entry, of which node
        self._inputs: dict[str, Sizes] = {}
        self._names: Counter[str] = Counter()
        self._tensors: dict[str, Made] = {}
        self._entries: dict[str, Made] = {}
        self._passed: dict[str, _Passed] = {}
        self._turned: dict[str, tuple[Made, View]] = {}  # transposes, and of what
        self._views: dict[tuple[str, str, Sizes, View | None], Made] = {}

    def tensor(self, tensor: str) -> Made | None:
        """What makes a tensor of the graph: an input of the network where nothing does; None of unknown sizes."""
        made, sizes = self._tensors.get(tensor), self.graph.sizes(tensor)
        if made is None and sizes is not None:
            made = Made.of_sizes(layer_name(tensor, self._names), sizes)
            self._inputs[made.name] = sizes
            self._tensors[tensor] = self._entries[made.name] = made
        return made

    def make(self, tensor: str, made: Made) -> None:
        """Say what makes a tensor of the graph: its readers read that."""
        sizes = self.graph.sizes(tensor)
        if sizes is None or prod(sizes) == prod(made.sizes):
            self._tensors[tensor] = made
        else:
            rule = f"makes {_shown(made.sizes)}, and the model says {_shown(sizes)} of it: it is read as an input"
            self.remarks.append(f"{made.name} {rule}")

    def product(self, node: Node, product: Product) -> None:
        """Add the layer of a node, of which it is the only one."""
        reads = {}
        for tensor, (name, view) in product.reads.items():
            made = None if name in self.graph.constants else self.tensor(name)
            if made is not None:
                reads[tensor] = (made, view)
        layer = self.layer(node, node.name, product, reads)
        made, sizes = self.as_in_graph(node.output, layer, product.made), self.graph.sizes(node.output)
        own = product.bias and product.bias not in self.graph.constants
        if own and sizes is not None and (bias := self.tensor(product.bias)) is not None:
            of_bias = self.graph.sizes(product.bias) or bias.sizes
            made = self.operation(f"{layer.name}.add", "add", [(made, sizes), (bias, of_bias)], sizes)
        if sizes is not None:
            self.make(node.output, made)

    def as_in_graph(self, tensor: str, made: Made, view: View | None) -> Made:
        """What is made, as the graph has that tensor."""
        sizes = self.graph.sizes(tensor)
        return made if sizes is None or prod(sizes) != prod(made.sizes) else self.viewed(made, view, sizes)

    def layer(self, node: Node, name: str, product: Product, reads: Mapping[str, Read], **said: object) -> Made:
        """Add a layer with what it reads, and what is `said` of its Inputs. Raises InputError."""
        name = layer_name(name, self._names)
        try:
            workload = workload_of(product.layer, name)
        except InputError as error:
            why = "; ".join(f"{fault.path}: {fault.message}" for fault in error.faults)
            raise self.graph.fault(node, why) from None
        sources = {}
        for tensor, read in reads.items():
            try:
                sources[tensor] = self._fitted(read, workload, tensor, product).name
            except FitError as error:
                self.remarks.append(f"{name}: nothing is said of what makes its {tensor}: {error}")
        entry = {**product.layer, **({"from": sources} if sources else {})}
        if "Inputs" in sources:
            pad = {dim: list(both) if both[0] != both[1] else both[0] for dim, both in (product.pad or {}).items()}
            entry |= {**({"pad": pad} if pad else {}), **said}
        return self._added(Made.of_layer(workload), entry, node)

    def operation(
        self, name: str, op: str, operands: Sequence[tuple[Made, Sizes]], sizes: Sizes, node: Node | None = None
    ) -> Made:
        """Add an operation on operands with their sizes in the graph; `other` where `op` cannot be of such sizes."""
        makers = [made for made, _ in operands]
        made = _result(op, makers, sizes)
        if made is None and OPERATORS[op].makes is Makes.LARGEST:
            makers = [own if own.sizes == whole else self.viewed(own, None, whole) for own, whole in operands]
            made = _result(op, makers, sizes)
        if made is None:
            op, makers, made = "other", [made for made, _ in operands], Made.of_sizes("", sizes, 1)
        made = replace(made, name=layer_name(name, self._names))
        names = [own.name for own in makers]
        entry: dict[str, Any] = {"op": op, "from": names[0] if len(names) == 1 else names}
        if made.sizes != _own_sizes(op, makers):
            entry["sizes"] = list(made.sizes)
        if _passes(op):
            self._passed[made.name] = _Passed(names[0], op, self._root(names[0]), self._depth(names[0]) + 1)
        return self._added(made, entry, node)

    def turned(self, node: Node, operand: tuple[Made, Sizes], order: Sequence[int], sizes: Sizes) -> Made:
        """Add a transpose of the graph; a reshape where it moves dims of one word alone."""
        view = View.of(operand[1], order)
        made = self.operation(node.name, "reshape" if view.plain else "transpose", [operand], sizes, node)
        if not view.plain:
            self._turned[made.name] = (operand[0], view)
        return made

    def viewed(self, made: Made, view: View | None, sizes: Sizes) -> Made:
        """What is made with its words in the order of a view, where that is another; without one, of these sizes."""
        if view is not None and view.plain:
            return made
        op = "reshape" if view is None else "transpose"
        key = (made.name, op, sizes, view)
        if key not in self._views:
            own = Made.of_sizes(layer_name(f"{made.name}.view", self._names), sizes, 1)
            self._views[key] = self._added(own, {"op": op, "from": made.name, "sizes": list(sizes)}, None)
            if view is not None:
                self._turned[own.name] = (made, view)
        return self._views[key]

    def common(self, makers: Sequence[Made]) -> tuple[Made, list[str]] | None:
        """The nearest tensor whose words all of these are, changed as they pass, and by which operators."""
        names, operators = {made.name for made in makers}, list[str]()
        if len({self._root(name) for name in names}) != 1:
            return None
        while len(names) > 1:
            deepest = max(names, key=self._depth)
            names = (names - {deepest}) | {self._passed[deepest].before}
            operators.append(self._passed[deepest].op)
        return self._entries[names.pop()], operators

    def kept(self) -> Kept:
        """What counts: operations that move nothing, and whose output nobody reads, do not."""
        read = {made.name for tensor in self.graph.outputs if (made := self._tensors.get(tensor)) is not None}
        entries, nodes, every = [], set[int](), {id(node): node for _, _, node in self._every if node is not None}
        for name, entry, node in reversed(self._every):
            if name in read or "op" not in entry or OPERATORS[entry["op"]].moves is not Moves.NONE:
                entries.append((name, entry, 1))
                nodes.add(id(node))
                read.update(_names_of(entry.get("from", ())))
        inputs = {name: sizes for name, sizes in self._inputs.items() if name in read}
        unread = Counter(node.op for key, node in every.items() if key not in nodes)
        return Kept(tuple(entries[::-1]), inputs, len(every) - unread.total(), unread)

    def _added(self, made: Made, entry: dict[str, Any], node: Node | None) -> Made:
        self._every.append((made.name, entry, node))
        self._entries[made.name] = made
        return made

    def _fitted(self, read: Read, workload: Workload, tensor: str, product: Product) -> Made:
        """What is read, in the order and of the sizes of the ranks of a layer's tensor. Raises FitError."""
        (made, view), pad = self._untransposed(read), product.pad
        if pad is None and tensor == "Inputs":
            raise FitError("it leaves out words at the edges")
        sizes = _sizes_read(workload, tensor, product.spatial)
        if prod(sizes) != prod(made.sizes):
            raise FitError(f"it reads {_shown(sizes)}, and {made.name} makes {_shown(made.sizes)}")
        made = self.viewed(made, view, sizes)
        try:
            linked(made, workload, tensor, pad or {})
        except FitError:
            made = self.viewed(made, None, sizes)
            linked(made, workload, tensor, pad or {})
        return made

    def _untransposed(self, read: Read) -> Read:
        """What was transposed where a layer reads it in the order of before; else what is read."""
        made, view = read
        while view is not None and not view.plain and made.name in self._turned:
            made, first = self._turned[made.name]
            view = view.after(first)
        return read if view is None or not view.plain else (made, view)

    def _root(self, name: str) -> str:
        """The first tensor whose words are those of an operation, changed as they pass."""
        return self._passed[name].root if name in self._passed else name

    def _depth(self, name: str) -> int:
        return self._passed[name].depth if name in self._passed else 0


def layer_name(name: str, names: "Counter[str]") -> str:
    """The name of an entry from that of its node: printable, without blanks and slashes, not too long, and different
    from all in `names`."""
    shown = "".join(one if one.isprintable() else "_" for one in "_".join(name.split()))
    plain = ".".join(part for part in shown.split("/") if part) or "layer"
    plain = plain.encode()[: MOST_NAME - len(".999999")].decode(errors="ignore")
    while names[plain]:
        names[plain] += 1
        plain = f"{plain}_{names[plain]}"
    names[plain] += 1
    return plain


def _result(op: str, makers: Sequence[Made], sizes: Sizes) -> Made | None:
    """What an operator makes of this, with these sizes; None where it cannot."""
    operator = OPERATORS[op]
    same = operator.makes is Makes.SAME
    if same and prod(makers[0].sizes) != prod(sizes):
        return None
    try:
        output_sizes(operator, [own.sizes for own in makers], None if same else sizes)
    except SizesError:
        return None
    return replace(makers[0], count=1) if same else Made.of_sizes("", sizes, 1)


def _own_sizes(op: str, makers: Sequence[Made]) -> Sizes | None:
    """The sizes that an operation makes where a file says none."""
    try:
        return output_sizes(OPERATORS[op], [own.sizes for own in makers], None)
    except SizesError:
        return None


def _passes(op: str) -> bool:
    """Whether an operator changes words as they pass."""
    return OPERATORS[op].makes is Makes.SAME and OPERATORS[op].moves is Moves.NONE


def _sizes_read(layer: Workload, tensor: str, spatial: Sizes) -> Sizes:
    """The sizes of what a layer reads, rank by rank; along its windows those of the data, `spatial`."""
    ranks = next(own.ranks for own in layer.tensors if own.name == tensor)
    windows = sum(len(rank) > 1 for rank in ranks)
    sizes = iter((1,) * (windows - len(spatial)) + spatial)
    return tuple(next(sizes) if len(rank) > 1 else layer.size(rank[0].dim) for rank in ranks)


def _names_of(sources: object) -> Iterator[str]:
    """The names in `from` of an entry."""
    if isinstance(sources, str):
        yield sources
    elif isinstance(sources, Mapping):
        yield from sources.values()
    elif isinstance(sources, Sequence):
        yield from sources


def _shown(sizes: Sizes) -> str:
    return " x ".join(f"{size:,}" for size in sizes)
