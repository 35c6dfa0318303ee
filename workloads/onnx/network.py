"""Makes network files of ONNX graphs: convolutions and matrix products as layers, equal layers counted once."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import yaml

from ..faults import Fault, InputError
from ..load import shaped
from ..shapes import MOST_NAME
from ..spec import Workload
from .attention import attention
from .graph import Graph, Node, read_graph

Layer = dict[str, Any]  # as a network file has it: shape, sizes, stride, dilation
Sizes = tuple[int, ...]

# Operations that multiply and are not read, or in other domains not: what is left out with them is work.
_INNER = ("If", "Loop", "Scan")
HEAVY = {
    *("Attention", "ConvTranspose", "DeformConv", "Einsum", "GRU", "LSTM", "RNN"),
    # of the runtime's own domain
    *("GroupQueryAttention", "MultiHeadAttention", "PackedAttention", "PackedMultiHeadAttention", "QAttention"),
    *("SparseAttention", "LongformerAttention", "DecoderMaskedSelfAttention", "DecoderMaskedMultiHeadAttention"),
    *("MatMulNBits", "MatMulBnb4", "MatMulFpQ4", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "FusedMatMul"),
    *("FusedConv", "FusedGemm", "QGemm", "NhwcConv", "MoE", "QMoE"),
    *_INNER,
}


@dataclass(frozen=True)
class Imported:
    """The layers of an ONNX model, and the nodes of it that became none."""

    name: str
    source: str
    layers: tuple[tuple[str, Layer, int], ...]  # name, layer, count
    left_out: Mapping[str, int]  # operation: nodes that are no convolution or matrix product
    heavy: tuple[str, ...]  # nodes left out that do multiply, and why

    @property
    def macs(self) -> int:
        return sum(count * _workload(layer).macs for _, layer, count in self.layers)


def import_onnx(path: Path, dims: Mapping[str, int] | None = None) -> Imported:
    """The convolutions and matrix products of an ONNX file; `dims` are sizes of dynamic dims by name.

    Raises InputError with the faults of the file and of all nodes that should have become layers.
    """
    graph = read_graph(path, dims)
    layers: dict[str, tuple[str, Layer, int]] = {}
    names: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    heavy: list[str] = []
    faults: list[Fault] = []
    for node in graph.nodes:
        try:
            made = _layers(graph, node)
        except InputError as error:
            faults += error.faults
            continue
        if isinstance(made, str):
            heavy.append(made)
        elif not made:
            left_out[node.op] += 1
        else:
            for more, layer in made:
                first, _, count = layers.get(key := repr(layer), ("", layer, 0))
                layers[key] = (first or layer_name(node.name + more, names), layer, count + 1)
    if not layers and not faults:
        faults.append(
            Fault(str(path), None, "", f"no convolution or matrix product among its {len(graph.nodes)} nodes")
        )
    if faults:
        raise InputError(dict.fromkeys(faults))
    stem = "".join(path.stem.split()) or "model"
    return Imported(stem, path.name, tuple(layers.values()), dict(left_out.most_common()), tuple(heavy))


def layer_name(name: str, names: "Counter[str]") -> str:
    """The name of a layer from that of its node: printable, without blanks and slashes, not too long, and different
    from all in `names`."""
    shown = "".join(one if one.isprintable() else "_" for one in "_".join(name.split()))
    plain = ".".join(part for part in shown.split("/") if part) or "layer"
    plain = plain.encode()[: MOST_NAME - len(".999999")].decode(errors="ignore")
    while names[plain]:
        names[plain] += 1
        plain = f"{plain}_{names[plain]}"
    names[plain] += 1
    return plain


def _layers(graph: Graph, node: Node) -> list[tuple[str, Layer]] | str:
    """The layers of a node, by what to add to its name; a text about one that multiplies and is left out."""
    if node.op == "Attention":  # of other domains it is another operation, and has their name before it
        made = attention(graph, node)
        for _, layer in made:
            _check(graph, node, layer)
        return made
    single = _layer(graph, node)
    return single if isinstance(single, str) else [("", single)] if single else []


def _layer(graph: Graph, node: Node) -> Layer | str | None:
    """The layer of a node; a text about a node that multiplies and is left out; None for any other."""
    kind, data, weights = OPERATIONS.get(node.op, (None, 0, 0))
    if kind is None:
        why = "the graph inside it is not read" if node.op in _INNER else "no layer of ours is like it"
        return f"{node.op} {node.name}: {why}" if node.op.split(".")[-1] in HEAVY else None
    if len(node.inputs) <= max(data, weights) or not node.inputs[data] or not node.inputs[weights]:
        raise graph.fault(node, f"has {sum(map(bool, node.inputs))} inputs; its two operands are expected")
    for name in WHOLE & node.attributes.keys():
        if not isinstance(node.attributes[name], int):
            raise graph.fault(node, f"{name} is {node.attributes[name]!r}, a whole number is expected")
    for name in LISTS & node.attributes.keys():
        if not _whole_numbers(node.attributes[name]):
            raise graph.fault(node, f"{name} are {node.attributes[name]!r}, whole numbers are expected")
    layer = kind(graph, node, node.inputs[data], node.inputs[weights])
    if not isinstance(layer, str):
        _check(graph, node, layer)
    return layer


def _whole_numbers(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, int) for value in values)


def _workload(layer: Layer, name: str = "") -> Workload:
    options: dict[str, Any] = {key: tuple(layer[key]) for key in ("stride", "dilation") if key in layer}
    return shaped(layer["shape"], name, word_bits=layer.get("word_bits"), **options, **layer["sizes"])


def _check(graph: Graph, node: Node, layer: Layer) -> None:
    """Raises InputError where the layer cannot stand in a network file."""
    try:
        _workload(layer, node.name)
    except InputError as error:
        raise graph.fault(node, "; ".join(f"{fault.path}: {fault.message}" for fault in error.faults)) from None


def _convolution(graph: Graph, node: Node, data: str, weights: str) -> Layer | str:
    """The layer of a Conv: data N C (D) H W, weights M C/group (T) R S, up to three spatial dims.

    The output gives the padding.
    """
    inputs, filters = graph.shape(data, node), graph.shape(weights, node)
    if not 3 <= len(filters) <= 5:
        return f"{node.op} {node.name}: {len(filters) - 2} spatial dims"
    output = graph.shape(node.output, node)
    _agree(graph, node, inputs, filters, output, (filters[0], filters[1]))
    return _windows(graph, node, "conv3d" if len(filters) == 5 else "conv2d", filters, output)


def _transposed(graph: Graph, node: Node, data: str, weights: str) -> Layer | str:
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
    return layer


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
        if len(steps) != spatial + len(height):
            raise graph.fault(node, f"{attribute} are {steps[len(height) :]}, {spatial} are expected")
        if any(step != 1 for step in steps):
            layer[key] = steps
    return layer


def _gemm(graph: Graph, node: Node, data: str, weights: str) -> Layer:
    """The layer of a Gemm: data n x k (or transposed) by weights k x m (or transposed)."""
    left, right = graph.shape(data, node), graph.shape(weights, node)
    left = left[::-1] if node.attributes.get("transA", 0) else left
    right = right[::-1] if node.attributes.get("transB", 0) else right
    if not len(left) == len(right) == 2:
        raise graph.fault(node, f"matrices are expected, got {left} and {right}")
    return _product(graph, node, left, right, data, weights)


def _matmul(graph: Graph, node: Node, data: str, weights: str) -> Layer:
    """The layer of a MatMul as in numpy, with any number of leading dims."""
    left, right = graph.shape(data, node), graph.shape(weights, node)
    if not left or not right:
        raise graph.fault(node, f"at least one dim is expected of each operand, got {left} and {right}")
    return _product(
        graph, node, left if len(left) > 1 else (1, *left), right if len(right) > 1 else (*right, 1), data, weights
    )


def _product(graph: Graph, node: Node, left: tuple[int, ...], right: tuple[int, ...], data: str, weights: str) -> Layer:
    """The layer of ... n k by ... k m. A leading dim of both operands is a batch; that of one adds to its n or m."""
    (*ahead, n, k), (*before, inner, m) = left, right
    longest = max(len(ahead), len(before))
    pairs = list(zip([1] * (longest - len(ahead)) + ahead, [1] * (longest - len(before)) + before, strict=True))
    if inner != k or any(1 not in pair and pair[0] != pair[1] for pair in pairs):
        raise graph.fault(node, f"{left} by {right} is no product of matrices")
    batch = prod(x for x, y in pairs if x == y)
    n *= prod(x for x, y in pairs if y == 1)
    m *= prod(y for x, y in pairs if x == 1)
    if data in graph.constants and weights not in graph.constants:
        n, m = m, n  # the operand that belongs to the model is Weights, on whichever side it stands
    if batch == 1:
        return {"shape": "matmul", "sizes": {"M": m, "N": n, "K": k}}
    return {"shape": "batched_matmul", "sizes": {"B": batch, "M": m, "N": n, "K": k}}


WHOLE = {"group", "transA", "transB"}  # attributes of a type
LISTS = {"kernel_shape", "strides", "dilations"}

Kind = Callable[[Graph, Node, str, str], Layer | str]

# operation: how it becomes a layer, and which of its inputs are the data and the weights
OPERATIONS: Mapping[str, tuple[Kind | None, int, int]] = {
    "Conv": (_convolution, 0, 1),
    "ConvTranspose": (_transposed, 0, 1),
    "ConvInteger": (_convolution, 0, 1),
    "QLinearConv": (_convolution, 0, 3),
    "Gemm": (_gemm, 0, 1),
    "MatMul": (_matmul, 0, 1),
    "MatMulInteger": (_matmul, 0, 1),
    "QLinearMatMul": (_matmul, 0, 3),
}


def left_out_lines(imported: Imported) -> list[str]:
    """The lines that name the nodes without a layer."""
    lines = [f"left out, though it multiplies: {node}" for node in imported.heavy]
    if imported.left_out:
        total = sum(imported.left_out.values())
        named = ", ".join(f"{op} {count}" for op, count in imported.left_out.items())
        lines.append(f"left out, {total} nodes that are no convolution or matrix product: {named}")
    return lines


def network_yaml(imported: Imported) -> str:
    """The text of the network file; comments above it name its source and what is left out."""
    nodes = sum(count for _, _, count in imported.layers)
    lines = [f"# {imported.source}: {nodes} nodes as {len(imported.layers)} layers, {imported.macs:,} MACs"]
    lines += [f"# {line}" for line in left_out_lines(imported)]
    lines += [_flow({"name": imported.name})[1:-1], "layers:"]
    for name, layer, count in imported.layers:
        lines.append("  - " + _flow({"name": name, **({"count": count} if count > 1 else {}), **layer}))
    return "\n".join(lines) + "\n"


def _flow(data: object) -> str:
    return yaml.safe_dump(data, default_flow_style=True, sort_keys=False, width=10**9, allow_unicode=True).strip()
