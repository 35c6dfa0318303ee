"""Attention of ONNX (opset 23), lowered to its two products: scores of queries by keys, and their sums of values."""

from typing import Any

from .graph import Graph, Node

Layer = dict[str, Any]  # as a network file has it
QUERY, KEY, VALUE, PAST_KEY = 0, 1, 2, 4  # numbers of inputs


def attention(graph: Graph, node: Node) -> list[tuple[str, Layer]]:
    """The layers of an Attention, by what to add to its name. Masks leave nothing out: all scores are computed.

    Query heads share the heads of keys and values in equal groups. Keys of the past come before the new ones. Raises
    InputError where shapes do not go together.
    """
    names = [*node.inputs, "", "", "", "", ""]
    if not all(names[:3]):
        raise graph.fault(node, f"has {sum(map(bool, node.inputs))} inputs; queries, keys and values are expected")
    queries = _heads(graph, node, names[QUERY], "q_num_heads")
    keys, values = (_heads(graph, node, names[at], "kv_num_heads") for at in (KEY, VALUE))
    past = _heads(graph, node, names[PAST_KEY], "kv_num_heads") if names[PAST_KEY] else (*keys[:2], 0, keys[3])
    (batch, heads, rows, depth), (shared, length) = queries, (keys[1], keys[2] + past[2])
    agree = batch == keys[0] == values[0] and depth == keys[3] and shared == values[1] and keys[2] == values[2]
    if not agree or shared < 1 or heads % shared:
        raise graph.fault(node, f"queries {queries}, keys {keys} and values {values} do not go together")
    common = {"B": batch * shared, "H": heads // shared, "N": rows}
    common = {dim: size for dim, size in common.items() if size > 1 or dim == "N"}
    scores = {"shape": "attention_scores", "sizes": common | {"M": length, "K": depth}}
    context = {"shape": "attention_context", "sizes": common | {"M": values[3], "K": length}}
    return [(".scores", scores), (".context", context)]


def _heads(graph: Graph, node: Node, name: str, attribute: str) -> tuple[int, ...]:
    """The shape of an operand: batch, heads, length, depth; of three dims the last holds all heads."""
    shape = graph.shape(name, node)
    if len(shape) == 4:
        return shape
    heads = node.attributes.get(attribute, 0)
    if len(shape) != 3 or not isinstance(heads, int) or heads < 1 or shape[2] % heads:
        rule = f"four dims, or three and {attribute} that divides the last, are expected of {name}"
        raise graph.fault(node, f"{rule}; got {shape} and {heads!r}")
    return (shape[0], heads, shape[1], shape[2] // heads)
