"""Writes a tensor graph as an ONNX model: operators of the table as nodes, constants as initializers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ....workloads import Fault, InputError, write_whole
from ....workloads.onnx import MAX_BYTES, Imported, graph_of, import_graph, package, with_shapes
from ....workloads.onnx import Model as Read
from ..graphs import CONCAT, OPAQUE, OUTPUT, PART, TensorGraph
from ..operators import RELU, SAME
from ..terms import INPUT, Term, term
from .model import Model
from .plan import FACTORS, RESHAPE, Plan, turned


def write_onnx(graph: TensorGraph, path: Path) -> None:
    """Write a graph as an ONNX file of the same inputs, outputs, and opset as the file it was read from.

    What is made of weights alone is computed and written as a weight, in its dtype. Several terms are one node where
    ONNX has one: a Conv or a Gemm with its bias, a Concat of many, a Split, a MatMul of many dims. Tensors and nodes
    of the source keep their names, where these are not those of outputs.

    Raises InputError where the file would be too large, cannot be written, or onnx is not installed; ValueError where
    a term is of no known type.
    """
    model = _written(Model(package(path), graph))
    if (size := sum(weight.ByteSize() for weight in model.proto.graph.initializer)) > MAX_BYTES:
        rule = f"its weights are {size:,} bytes; an ONNX file has at most {MAX_BYTES:,}"
        raise InputError(Fault(str(path), None, "", rule))
    write_whole(path, model.proto.SerializeToString())


def network_of(graph: TensorGraph, name: str) -> Imported:
    """Return the network that the file of a graph would be imported as. No weights are computed, no file is written.

    Raises InputError where nothing in it multiplies, or onnx is not installed; ValueError as `write_onnx` does.
    """
    onnx = package(Path(name))
    proto, remark = with_shapes(onnx, _written(Model(onnx, graph, hollow=True)).proto)
    return import_graph(graph_of(Read(name, onnx, proto, remark)))


def _written(model: Model) -> Model:
    """Return a model with the nodes and the constants of its graph."""
    plan = Plan(model.graph)
    for own in model.graph.terms:
        if own in plan.reads:
            _WRITERS[own.op](model, plan, own)
    model.close()
    return model


def _word_by_word(op: str, **attributes: Any) -> "Writer":
    """A node that reads what its term does."""

    def write(model: Model, plan: Plan, own: Term) -> None:
        inputs = [model.operand(operand, own) for operand in plan.reads[own]]
        model.add(op, inputs, [model.name(own)], own, **attributes)

    return write


def _bias(model: Model, plan: Plan, own: Term) -> None:
    product = own.operands[0]
    if not plan.biased(own):
        _factor(model, plan, own)
    elif product.op == "matmul":
        flags = {
            f"trans{letter}": 1 for letter, one in zip("AB", product.operands, strict=True) if one is not turned(one)
        }
        _word_by_word("Gemm", **flags)(model, plan, own)
    else:
        _write_conv(model, plan, own, product)


def _conv(model: Model, plan: Plan, own: Term) -> None:
    _write_conv(model, plan, own, own)


def _write_conv(model: Model, plan: Plan, own: Term, product: Term) -> None:
    """A convolution with what it reads beside, and a Relu behind it where it has that."""
    stride, pad, act = product.params
    (_, channels, *_), (_, of_group, *kernel) = map(plan.source.sizes, product.operands)
    attributes = {
        **_windows(tuple(kernel), stride, pad),
        **({"group": channels // of_group} if product.op == "gconv" else {}),
    }
    inputs, output = [model.operand(operand, own) for operand in plan.reads[own]], model.name(own)
    if act == RELU:
        between = model.temporary(own)
        model.add("Conv", inputs, [between], None, **attributes)
        model.add("Relu", [between], [output], own)
    else:
        model.add("Conv", inputs, [output], own, **attributes)


def _windows(kernel: Any, stride: Any, pad: Any) -> dict[str, Any]:
    around = [window // 2 if pad == SAME else 0 for window in kernel]
    return {"kernel_shape": list(kernel), "pads": around * 2, "strides": list(stride)}


def _pool(model: Model, plan: Plan, own: Term) -> None:
    windows = _windows(*own.params)
    if own.op == "pool_max":
        _word_by_word("MaxPool", **windows)(model, plan, own)
    else:
        counted = {"count_include_pad": 1} if any(windows["pads"]) else {}
        _word_by_word("AveragePool", **windows, **counted)(model, plan, own)


def _factor(model: Model, plan: Plan, own: Term) -> None:
    """A tensor and a vector that is repeated along all axes but one, or a scalar along all."""
    (whole, vector), sizes = plan.reads[own], plan.vector_sizes(own)
    if vector in plan.graph.constants:
        name = model.operand(vector, own, sizes)
    else:
        name = model.operand(vector, own)
        if vector is own.operands[1] and plan.source.sizes(vector) != sizes:
            lying, name = name, model.temporary(own)
            model.add(RESHAPE, [lying, model.integers(sizes)], [name], None)
    model.add(FACTORS[own.op], [model.operand(whole, own), name], [model.name(own)], own)


def _concat(model: Model, plan: Plan, own: Term) -> None:
    _word_by_word("Concat", axis=own.params[0])(model, plan, own)


def _enlarge(model: Model, plan: Plan, own: Term) -> None:
    (operand,), kernel = own.operands, plan.source.sizes(own)[2:]
    around = [(whole - one) // 2 for one, whole in zip(plan.source.sizes(operand)[2:], kernel, strict=True)]
    pads = [0, 0, *around] * 2
    name, output = model.operand(operand, own), model.name(own)
    if model.opset < 11:
        model.add("Pad", [name], [output], own, pads=pads)
    else:
        model.add("Pad", [name, model.integers(pads)], [output], own)


def _part(model: Model, plan: Plan, own: Term) -> None:
    """A Slice; or the Split that makes all parts of a tensor, with the first of them that is met."""
    axis, begin, end = own.params
    if own in model.written:
        return
    name, parts = model.operand(own.operands[0], own), plan.splits.get(own)
    if parts is not None:
        model.written.update(parts)
        sizes, outputs = [plan.source.sizes(one)[int(str(axis))] for one in parts], [model.name(one) for one in parts]
        if model.opset < 13:
            model.add("Split", [name], outputs, own, axis=axis, split=sizes)
        else:
            model.add("Split", [name, model.integers(sizes)], outputs, own, axis=axis)
    elif model.opset < 10:
        model.add("Slice", [name], [model.name(own)], own, axes=[axis], starts=[begin], ends=[end])
    else:
        places = [model.integers([int(str(place))]) for place in (begin, end, axis)]
        model.add("Slice", [name, *places], [model.name(own)], own)


def _opaque(model: Model, plan: Plan, own: Term) -> None:
    node, operands = plan.source.nodes[own.name], iter(own.operands)
    dtypes = [port.tensor.dtype if port.tensor else None for port in node.reads]
    ports = zip(node.reads, dtypes, strict=True)
    inputs = [model.read(next(operands), dtype) if port.present else "" for port, dtype in ports]
    outputs = []
    for number, port in enumerate(node.makes):
        made = term(OUTPUT, (number,), (own,))
        free = model.unread(own.name) if port.present and made not in plan.reads else ""
        outputs.append(model.name(made) if made in plan.reads else free)
    model.add_opaque(own, inputs, outputs)


def _output(model: Model, plan: Plan, own: Term) -> None:
    """What an opaque node makes is written with it, but for a product between two reshapes."""
    if plan.product_of_many_dims(own) is not None:
        _word_by_word("MatMul")(model, plan, own)


def _nothing(*_: object) -> None:
    """An input is there."""


Writer = Callable[[Model, Plan, Term], None]
_WRITERS: Mapping[str, Writer] = {
    INPUT: _nothing,
    OPAQUE: _opaque,
    OUTPUT: _output,
    PART: _part,
    CONCAT: _concat,
    "bias": _bias,
    "conv": _conv,
    "enlarge": _enlarge,
    "ewadd": _word_by_word("Add"),
    "ewmul": _word_by_word("Mul"),
    "gconv": _conv,
    "matmul": _word_by_word("MatMul"),
    "pool_avg": _pool,
    "pool_max": _pool,
    "relu": _word_by_word("Relu"),
    "scale": _factor,
    "smul": _factor,
    "transpose": _word_by_word("Transpose", perm=[1, 0]),
}
