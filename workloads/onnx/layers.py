"""The layer of a node: convolutions and matrix products of ONNX as named shapes, and how they read their operands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from ..load import shaped
from ..spec import Workload
from .graph import INNER, Graph, Node
from .pads import Zeros, zeros_around, zeros_of_transposed
from .views import View

Layer = dict[str, Any]  # as a network file has it: shape, sizes, stride, dilation
Sizes = tuple[int, ...]
MOST_ZEROS = 2**31  # fewer stand on a side

# Operations that multiply and are not read, or in other domains not: what is left out with them is work.
HEAVY = {
    *("Attention", "ConvTranspose", "DeformConv", "Einsum", "GRU", "LSTM", "RNN"),
    # of the runtime's own domain
    *("GroupQueryAttention", "MultiHeadAttention", "PackedAttention", "PackedMultiHeadAttention", "QAttention"),
    *("SparseAttention", "LongformerAttention", "DecoderMaskedSelfAttention", "DecoderMaskedMultiHeadAttention"),
    *("MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "FusedMatMul"),
    *("FusedConv", "FusedGemm", "QGemm", "NhwcConv", "MoE", "QMoE"),
    *INNER,
}


@dataclass(frozen=True)
class Product:
    """A layer of ours, how it reads tensors of the graph, and how the graph has its output."""

    layer: Layer
    reads: Mapping[str, tuple[str, View | None]]  # by tensor of ours: that of the graph, and how; None: in no order
    made: View | None  # the output as the graph has it; None: in no order of its dims
    bias: str = ""  # the tensor of the graph that is added to the output
    # zeros by the dim of a window; None: the layer leaves out words at the edges, which no padding can say
    pad: Mapping[str, tuple[int, int]] | None = field(default_factory=dict)
    spatial: Sizes = ()  # the sizes of the data along the windows


def product(graph: Graph, node: Node) -> Product | str | None:
    """The layer of a node; a text about a node that multiplies and is left out; None for any other."""
    kind, data, weights, bias = OPERATIONS.get(node.op, (None, 0, 0, 0))
    if kind is None:
        why = "the graph inside it is not read" if node.op in INNER else "no layer of ours is like it"
        return f"{node.op} {node.name}: {why}" if node.op.split(".")[-1] in HEAVY else None
    if len(node.inputs) <= max(data, weights) or not node.inputs[data] or not node.inputs[weights]:
        raise graph.fault(node, f"has {sum(map(bool, node.inputs))} inputs; its two operands are expected")
    for name in WHOLE & node.attributes.keys():
        if not isinstance(node.attributes[name], int):
            raise graph.fault(node, f"{name} is {node.attributes[name]!r}, a whole number is expected")
    for name in LISTS & node.attributes.keys():
        if not _whole_numbers(node.attributes[name]):
            raise graph.fault(node, f"{name} are {node.attributes[name]!r}, whole numbers are expected")
    made = kind(graph, node, node.inputs[data], node.inputs[weights])
    if isinstance(made, str):
        return made
    return replace(made, bias=node.inputs[bias] if 0 < bias < len(node.inputs) else "")


def _whole_numbers(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, int) for value in values)


def workload_of(layer: Layer, name: str = "") -> Workload:
    """A layer of a network file as a value. Raises InputError."""
    options: dict[str, Any] = {key: tuple(layer[key]) for key in ("stride", "dilation") if key in layer}
    return shaped(layer["shape"], name, word_bits=layer.get("word_bits"), **options, **layer["sizes"])


def _convolution(graph: Graph, node: Node, data: str, weights: str) -> Product | str:
    """The layer of a Conv: data N C (D) H W, weights M C/group (T) R S, up to three spatial dims."""
    inputs, filters = graph.shape(data, node), graph.shape(weights, node)
    if not 3 <= len(filters) <= 5:
        return f"{node.op} {node.name}: {len(filters) - 2} spatial dims"
    output = graph.shape(node.output, node)
    _agree(graph, node, inputs, filters, output, (filters[0], filters[1]))
    layer = _windows(graph, node, "conv3d" if len(filters) == 5 else "conv2d", filters, output)
    zeros = zeros_around(graph, node, inputs[2:], filters[2:], output[2:])
    reads = {"Inputs": (data, View.of(inputs)), "Weights": (weights, View.of(filters))}
    return Product(layer, reads, View.of(output), pad=_pad(zeros), spatial=inputs[2:])


def _transposed(graph: Graph, node: Node, data: str, weights: str) -> Product | str:
    """The layer of a ConvTranspose: data N C H W, weights C M/group R S, one or two spatial dims."""
    inputs, filters = graph.shape(data, node), graph.shape(weights, node)
    if not 3 <= len(filters) <= 4:
        return f"{node.op} {node.name}: {len(filters) - 2} spatial dims"
    output, groups = graph.shape(node.output, node), node.attributes.get("group", 1)
    _agree(graph, node, inputs, filters, output, (filters[1] * groups, filters[0] // max(groups, 1)))
    per_group = (filters[1] * groups, filters[0] // groups, *filters[2:])
    layer = _windows(graph, node, "transposed_conv2d", per_group, output)
    if "dilation" in layer:
        return f"{node.op} {node.name}: a dilated one has no shape here"
    steps = zip(layer.get("stride", (1, 1)), ("PR", "QS"), strict=True)
    if any(layer["sizes"][dim] % step for step, dims in steps for dim in dims):
        return f"{node.op} {node.name}: its stride does not divide its output and filter"
    zeros = zeros_of_transposed(graph, node, inputs[2:], filters[2:], output[2:])
    reads = {"Inputs": (data, View.of(inputs)), "Weights": (weights, None)}
    made = None if "stride" in layer else View.of(output)  # the phases of a stride stand beside each other
    return Product(layer, reads, made, pad=None if zeros is None else _pad(zeros), spatial=inputs[2:])


def _pad(zeros: Zeros) -> dict[str, tuple[int, int]] | None:
    """The zeros by the dims of windows; None where a network file cannot say them."""
    if not all(0 <= number < MOST_ZEROS for both in zeros for number in both):
        return None
    dims = "OPQ"[-len(zeros) :]
    return {dim: both for dim, both in zip(dims, zeros, strict=True) if any(both)}


def _agree(graph: Graph, node: Node, inputs: Sizes, filters: Sizes, output: Sizes, channels: tuple[int, int]) -> None:
    """Raises InputError unless the shapes of a convolution go together; its channels: outputs, inputs per group."""
    groups = node.attributes.get("group", 1)
    given = f"data {inputs}, weights {filters}, output {output}"
    if not len(inputs) == len(output) == len(filters):
        raise graph.fault(node, f"{given} differ in their number of dims")
    made, read = channels
    if groups < 1 or inputs[1] != read * groups or made % groups or output[1] != made:
        raise graph.fault(node, f"the channels of {given} do not go together in {groups} groups")
    if "kernel_shape" in node.attributes and tuple(node.attributes["kernel_shape"]) != filters[2:]:
        raise graph.fault(node, f"kernel_shape is {node.attributes['kernel_shape']}, the weights are {filters}")


def _windows(graph: Graph, node: Node, shape: str, filters: Sizes, output: Sizes) -> Layer:
    """The layer of filters M C/group (T) R S; where there is one spatial dim, the height is 1."""
    groups, spatial = node.attributes.get("group", 1), len(filters) - 2
    height = (1,) * max(0, 2 - spatial)
    sizes = {"N": output[0], "G": groups, "M": filters[0] // groups, "C": filters[1]}
    names = "OPQTRS" if spatial == 3 else "PQRS"
    sizes |= dict(zip(names, (*height, *output[2:], *height, *filters[2:]), strict=True))
    layer: Layer = {"shape": shape, "sizes": {d: n for d, n in sizes.items() if n > 1 or d not in "NG"}}
    for key, attribute in (("stride", "strides"), ("dilation", "dilations")):
        steps = [*height, *node.attributes.get(attribute, (1,) * spatial)]
        if len(steps) != spatial + len(height) or min(steps) < 1:
            raise graph.fault(node, f"{attribute} are {steps[len(height) :]}, {spatial} of at least 1 are expected")
        if any(step != 1 for step in steps):
            layer[key] = steps
    return layer


def _gemm(graph: Graph, node: Node, data: str, weights: str) -> Product:
    """The layer of a Gemm: data n x k (or transposed) by weights k x m (or transposed)."""
    left, right = graph.shape(data, node), graph.shape(weights, node)
    if not len(left) == len(right) == 2:
        raise graph.fault(node, f"matrices are expected, got {left} and {right}")
    turned = [node.attributes.get(attribute, 0) for attribute in ("transA", "transB")]
    (n, k), (inner, m) = left[::-1] if turned[0] else left, right[::-1] if turned[1] else right
    if inner != k:
        raise graph.fault(node, f"{(n, k)} by {(inner, m)} is no product of matrices")
    operands = [_Operand(data, View.of(left, (1, 0) if turned[0] else (0, 1)), n)]
    operands.append(_Operand(weights, View.of(right, (0, 1) if turned[1] else (1, 0)), m))
    return _product(graph, operands, (1, k), View.of((n, m)))


def _matmul(graph: Graph, node: Node, data: str, weights: str) -> Product:
    """The layer of a MatMul as in numpy: ... n k by ... k m, with any number of leading dims.

    A leading dim of both operands is a batch; that of one adds to its n or m.
    """
    left, right = graph.shape(data, node), graph.shape(weights, node)
    if not left or not right:
        raise graph.fault(node, f"at least one dim is expected of each operand, got {left} and {right}")
    left, right = left if len(left) > 1 else (1, *left), right if len(right) > 1 else (*right, 1)
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    pairs = list(zip(left[:-2], right[:-2], strict=True))
    if left[-1] != right[-2] or any(1 not in pair and pair[0] != pair[1] for pair in pairs):
        raise graph.fault(node, f"{left} by {right} is no product of matrices")
    batch, of_data, of_weights = _leading(pairs)
    rows, columns = [*of_data, rank - 2], [*of_weights, rank - 1]
    operands = [
        _Operand(data, View.of(left, [*batch, *of_weights, *rows, rank - 1]), prod(left[at] for at in rows)),
        _Operand(weights, View.of(right, [*batch, *of_data, *columns, rank - 2]), prod(right[at] for at in columns)),
    ]
    order = [*batch, *columns, *rows] if _swapped(graph, operands) else [*batch, *rows, *columns]
    output = [*map(max, pairs), left[-2], right[-1]]
    made = View.of([output[at] for at in order], [order.index(at) for at in range(rank)])
    return _product(graph, operands, (prod(left[at] for at in batch), left[-1]), made)


def _leading(pairs: Sequence[tuple[int, int]]) -> tuple[list[int], list[int], list[int]]:
    """The places of dims of a batch, of those of the first operand alone, and of those of the second."""
    places = range(len(pairs))
    return (
        [at for at in places if pairs[at][0] == pairs[at][1]],
        [at for at in places if pairs[at][0] > pairs[at][1]],
        [at for at in places if pairs[at][0] < pairs[at][1]],
    )


@dataclass(frozen=True)
class _Operand:
    """An operand of a matrix product: batch, its own dim, the dim that is added up over."""

    tensor: str
    view: View
    size: int  # of its own dim


def _swapped(graph: Graph, operands: Sequence[_Operand]) -> bool:
    """Whether the second is the data: the operand that belongs to the model is Weights, on whichever side it stands."""
    return operands[0].tensor in graph.constants and operands[1].tensor not in graph.constants


def _product(graph: Graph, operands: Sequence[_Operand], common: tuple[int, int], made: View) -> Product:
    """The layer of two operands with a batch and a sum in common."""
    data, weights = operands[::-1] if _swapped(graph, operands) else operands
    (batch, k), reads = common, {"Inputs": (data.tensor, data.view), "Weights": (weights.tensor, weights.view)}
    layer: Layer = {"shape": "matmul", "sizes": {"M": weights.size, "N": data.size, "K": k}}
    if batch > 1:
        layer = {"shape": "batched_matmul", "sizes": {"B": batch, **layer["sizes"]}}
    return Product(layer, reads, made)


WHOLE = {"group", "transA", "transB"}  # attributes of a type
LISTS = {"kernel_shape", "strides", "dilations", "pads", "output_padding"}

Kind = Callable[[Graph, Node, str, str], Product | str]

# operation: how it becomes a layer, and which of its inputs are the data and the weights
OPERATIONS: Mapping[str, tuple[Kind | None, int, int, int]] = {
    "Conv": (_convolution, 0, 1, 2),
    "ConvTranspose": (_transposed, 0, 1, 2),
    "ConvInteger": (_convolution, 0, 1, 0),
    "QLinearConv": (_convolution, 0, 3, 8),
    "Gemm": (_gemm, 0, 1, 2),
    "MatMul": (_matmul, 0, 1, 0),
    "MatMulInteger": (_matmul, 0, 1, 0),
    "QLinearMatMul": (_matmul, 0, 3, 0),
}
