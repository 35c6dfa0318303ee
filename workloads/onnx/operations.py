"""The operations of a network that nodes of ONNX become: all that is no layer."""

from collections.abc import Sequence
from math import prod

from ..fitting import Made
from .entries import Entries, Sizes
from .graph import Node
from .operators import ELEMENTWISE, HANDED_ON, operator_of, passing

# why nodes have no entry
OF_CONSTANTS = "that compute with constants and shapes alone"
SAME_WORDS = "that hand on what they read"
UNREAD = "that move nothing, and nobody reads what they make"
NO_SIZES = "whose operands or outputs have no known sizes"


def operate(entries: Entries, node: Node) -> str:
    """Add what a node that is no product does; returns why that is nothing, or an empty text."""
    graph, outputs, operands = entries.graph, _outputs(entries, node), _operands(entries, node)
    if not outputs or graph.constants.issuperset(outputs) or operands == []:
        return OF_CONSTANTS
    if operands is None or None in map(graph.sizes, outputs):
        return NO_SIZES
    sizes = graph.sizes(outputs[0]) or ()
    if node.op in HANDED_ON and outputs == [node.output] and node.inputs[0] not in graph.constants:
        entries.make(node.output, operands[0][0])
        return SAME_WORDS
    if node.op == "Split" or len(outputs) > 1:
        _several(entries, node, outputs, operands)
    elif node.op in ELEMENTWISE:
        entries.make(outputs[0], _elementwise(entries, node, operands, sizes))
    else:
        entries.make(outputs[0], _single(entries, node, operands, sizes))
    return ""


def _outputs(entries: Entries, node: Node) -> list[str]:
    """The outputs of a node that somebody reads; the first where nobody does."""
    outputs = [tensor for tensor in node.outputs if tensor]
    return [tensor for tensor in outputs if tensor in entries.graph.read] or outputs[:1]


def _operands(entries: Entries, node: Node) -> list[tuple[Made, Sizes]] | None:
    """What makes the operands that do not belong to the model, and their sizes in it; None of unknown ones."""
    active = [tensor for tensor in node.inputs if tensor and tensor not in entries.graph.constants]
    every = [(entries.tensor(tensor), entries.graph.sizes(tensor)) for tensor in active]
    known = [(made, sizes) for made, sizes in every if made is not None and sizes is not None]
    return known if len(known) == len(every) else None


def _several(entries: Entries, node: Node, outputs: Sequence[str], operands: Sequence[tuple[Made, Sizes]]) -> None:
    """Add the parts that a Split makes; or what makes all outputs of a node, and each as a part of these words."""
    sizes = {tensor: entries.graph.sizes(tensor) or () for tensor in outputs}
    if node.op != "Split":
        words = (sum(map(prod, sizes.values())),)
        operands = [(entries.operation(node.name, "other", operands, words, node), words)]
    for number, tensor in enumerate(node.outputs, 1):
        if tensor in sizes:
            name = f"{node.name}.{number}"
            entries.make(tensor, entries.operation(name, "slice", operands, sizes[tensor], node))


def _elementwise(entries: Entries, node: Node, operands: Sequence[tuple[Made, Sizes]], sizes: Sizes) -> Made:
    """Add what a node does word by word: to one tensor as its words pass, where all operands are that, or constants."""
    makers = [made for made, _ in operands]
    common = entries.common(makers)
    if common is None:
        return entries.operation(node.name, ELEMENTWISE[node.op][0], operands, sizes, node)
    made, between = common
    by_itself = len(makers) > 1 and all(own.name == made.name for own in makers)
    op = passing(node.op, between, by_itself, node.inputs[0] in entries.graph.constants)
    if prod(sizes) != prod(made.sizes):  # its words are repeated along constants
        op = "expand"
    return entries.operation(node.name, op, [(made, operands[0][1])], sizes, node)


def _single(entries: Entries, node: Node, operands: Sequence[tuple[Made, Sizes]], sizes: Sizes) -> Made:
    """Add any other operation of one output."""
    op = operator_of(node.op, node.inputs[0] in entries.graph.constants)
    if node.op == "Transpose":
        dims = operands[0][1]
        order = node.attributes.get("perm", [*range(len(dims))][::-1])
        if isinstance(order, list) and {*order} == {*range(len(dims))} and prod(dims) == prod(sizes):
            return entries.turned(node, operands[0], order, sizes)
    if op == "concat" and len(operands) == 1 and prod(sizes) != prod(operands[0][1]):
        op = "pad"  # with words of the model
    return entries.operation(node.name, op, operands, sizes, node)
