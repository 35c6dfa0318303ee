"""Attention of ONNX (opset 23), lowered to its two products: scores of queries by keys, and their sums of values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..fitting import Made
from .entries import Entries, Read
from .graph import Graph, Node
from .layers import Layer, Product
from .views import View

QUERY, KEY, VALUE, MASK, PAST_KEY, PAST_VALUE, NO_KEYS = range(7)  # numbers of inputs
Sizes = tuple[int, ...]  # batch, heads, length, depth


@dataclass(frozen=True)
class _Heads:
    """The sizes of the operands by heads; `past` are those of the keys before the new ones."""

    queries: Sizes
    keys: Sizes
    values: Sizes
    past: Sizes

    @property
    def length(self) -> int:
        """How many keys each query sees without a mask."""
        return self.keys[2] + self.past[2]

    @property
    def scores(self) -> Sizes:
        """The sizes of the scores."""
        return (*self.queries[:3], self.length)

    @property
    def aligned(self) -> bool:
        """Whether the last query sees the last key where none sees a key after its own."""
        return self.keys[2] == self.queries[2] and self.length > 1

    @property
    def agree(self) -> bool:
        """Whether the operands go together."""
        (batch, heads, _, depth), shared = self.queries, self.keys[1]
        same = batch == self.keys[0] == self.values[0] and depth == self.keys[3] and self.keys[2] == self.values[2]
        same = same and self.keys == (*self.past[:2], self.keys[2], self.past[3])
        return same and shared == self.values[1] and shared >= 1 and not heads % shared

    def layer(self, shape: str, outputs: int, summed: int) -> Layer:
        """A product of the operands."""
        batch, heads, rows, _ = self.queries
        common = {"B": batch * self.keys[1], "H": heads // self.keys[1], "N": rows}
        common = {dim: size for dim, size in common.items() if size > 1 or dim == "N"}
        return {"shape": shape, "sizes": common | {"M": outputs, "K": summed}}


def attention(entries: Entries, node: Node) -> None:
    """Add the layers of an Attention. Masks leave nothing out: all scores are computed.

    Query heads share the heads of keys and values in equal groups. Keys of the past come before the new ones. Raises
    InputError where shapes do not go together.
    """
    heads, names = _heads(entries.graph, node), [*node.inputs, *[""] * 7]
    query, key, value = _operands(entries, node, heads)
    shape = heads.layer("attention_scores", heads.length, heads.queries[3])
    made = _added(entries, node, (".scores", shape), {"Inputs": query, "Weights": key})
    mask = entries.tensor(names[MASK]) if names[MASK] and names[MASK] not in entries.graph.constants else None
    if mask is not None:
        operands = [(made, heads.scores), (mask, mask.sizes)]
        made = entries.operation(f"{node.name}.mask", "add", operands, heads.scores)

    shape = heads.layer("attention_context", heads.values[3], heads.length)
    scores = (made, View.of(heads.scores))
    turned = value and (value[0], _turned(heads, value[1]))  # the layer adds up along the words of a value's dim
    said: dict[str, Any] = {"through": {"Inputs": "softmax"}}
    # the mask of ONNX goes from the first new key, ours from the last one of all; some may be no keys
    if node.attributes.get("is_causal", 0) and heads.aligned and not names[NO_KEYS]:
        said["causal"] = True
    made = _added(entries, node, (".context", shape), {"Inputs": scores, "Weights": turned}, said)

    by_heads = len(entries.graph.shape(names[QUERY], node)) == 4
    context = View.of((*heads.queries[:3], heads.values[3]), None if by_heads else (0, 2, 1, 3))
    for tensor, read in zip(node.outputs, ((made, context), key, value, scores), strict=False):
        if tensor and read is not None:
            entries.make(tensor, entries.as_in_graph(tensor, *read))


def _operands(entries: Entries, node: Node, heads: _Heads) -> tuple[Read | None, Read | None, Read | None]:
    """What makes queries, keys and values; None of what belongs to the model, or is not known."""
    names, value = [*node.inputs, *[""] * 7], None
    query = _operand(entries, names[QUERY], heads.queries)
    key = _with_past(entries, f"{node.name}.keys", (names[KEY], names[PAST_KEY]), (heads.keys, heads.past))
    if bool(names[PAST_KEY]) == (entries.graph.sizes(names[PAST_VALUE]) is not None):
        sizes = heads.values, (*heads.past[:3], heads.values[3])
        value = _with_past(entries, f"{node.name}.values", (names[VALUE], names[PAST_VALUE]), sizes)
    return query, key, value


def _turned(heads: _Heads, view: View | None) -> View | None:
    """The view of values with a word of each key beside each other."""
    sizes = (*heads.values[:2], heads.length, heads.values[3])
    return view and View.of(sizes, (0, 1, 3, 2)).after(view)


def _added(
    entries: Entries,
    node: Node,
    layer: tuple[str, Layer],
    reads: Mapping[str, Read | None],
    said: Mapping[str, Any] | None = None,
) -> Made:
    """Add a layer of a node; what belongs to the model is None among what it reads."""
    active = {tensor: read for tensor, read in reads.items() if read is not None}
    return entries.layer(node, node.name + layer[0], Product(layer[1], {}, None), active, **(said or {}))


def _operand(entries: Entries, tensor: str, heads: Sizes) -> Read | None:
    """What makes an operand, and how it is read by heads; None where it belongs to the model."""
    made = None if tensor in entries.graph.constants else entries.tensor(tensor)
    if made is None:
        return None
    batch, number, length, depth = heads
    if len(entries.graph.shapes[tensor]) == 4:
        return made, View.of(heads)
    return made, View.of((batch, length, number, depth), (0, 2, 1, 3))


def _with_past(entries: Entries, name: str, tensors: Sequence[str], heads: Sequence[Sizes]) -> Read | None:
    """Keys or values, after those of the past where there are such."""
    (new, past), (sizes, before) = tensors, heads
    if not past:
        return _operand(entries, new, sizes)
    whole = (*sizes[:2], before[2] + sizes[2], sizes[3])
    parts = [(_operand(entries, past, before), before), (_operand(entries, new, sizes), sizes)]
    operands = [(entries.viewed(*own, its), its) for own, its in parts if own is not None]
    if not operands:
        return None
    return entries.operation(name, "concat" if len(operands) > 1 else "pad", operands, whole), View.of(whole)


def _heads(graph: Graph, node: Node) -> _Heads:
    names = [*node.inputs, *[""] * 7]
    if not all(names[:3]):
        raise graph.fault(node, f"has {sum(map(bool, node.inputs))} inputs; queries, keys and values are expected")
    queries = _by_heads(graph, node, names[QUERY], "q_num_heads")
    keys, values = (_by_heads(graph, node, names[at], "kv_num_heads") for at in (KEY, VALUE))
    past = _by_heads(graph, node, names[PAST_KEY], "kv_num_heads") if names[PAST_KEY] else (*keys[:2], 0, keys[3])
    heads = _Heads(queries, keys, values, past)
    before = _by_heads(graph, node, names[PAST_VALUE], "kv_num_heads") if graph.sizes(names[PAST_VALUE]) else ()
    if not heads.agree or before not in ((), (*past[:3], values[3])):
        raise graph.fault(node, f"queries {queries}, keys {keys} and values {values} do not go together")
    return heads


def _by_heads(graph: Graph, node: Node, name: str, attribute: str) -> Sizes:
    """The shape of an operand: batch, heads, length, depth; of three dims the last holds all heads."""
    shape = graph.shape(name, node)
    if len(shape) == 4:
        return shape
    heads = node.attributes.get(attribute, 0)
    if len(shape) != 3 or not isinstance(heads, int) or heads < 1 or shape[2] % heads:
        rule = f"four dims, or three and {attribute} that divides the last, are expected of {name}"
        raise graph.fault(node, f"{rule}; got {shape} and {heads!r}")
    return (shape[0], heads, shape[1], shape[2] // heads)
