"""What is refused of an ONNX model whose tensors are to become terms: all faults at once."""

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from ....workloads import Fault, InputError
from ....workloads.onnx import Graph, Model, reason

OPSET = 7  # before it, Add and Mul do not repeat words as NumPy does, and AveragePool leaves out zeros
DEFAULTS = 4  # the IR version from which an initializer that is an input too is a value that may be replaced


def opset_of(proto: Any) -> int:
    """The version of ONNX's own operators that a model uses; 0 of none."""
    return max((int(entry.version) for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def check(model: Model, graph: Graph) -> None:
    """Raise InputError with all that is refused of a model, or with why it is none."""
    faults = [*_of_model(model), *_of_values(model), *_of_nodes(model, graph)]
    if faults:
        raise InputError(dict.fromkeys(faults))
    try:  # at last, as it looks for data in other files
        importlib.import_module("onnx.checker").check_model(model.proto)
    except Exception as error:  # of onnx's C++ part: several kinds
        raise InputError(Fault(model.source, None, "", f"not a valid ONNX model: {reason(error)}")) from None


def _of_model(model: Model) -> Iterator[Fault]:
    opset = opset_of(model.proto)
    if opset < OPSET:
        rule = (
            f"operators of opset {OPSET} or later are expected, this is {opset}: convert it with onnx.version_converter"
        )
        yield Fault(model.source, None, "", rule)
    if model.proto.training_info:
        yield Fault(model.source, None, "", "it holds steps of training, which would be lost")
    for weight in model.proto.graph.sparse_initializer:
        yield Fault(model.source, None, weight.values.name, "a sparse weight is not read: save it dense")
    for weight in model.proto.graph.initializer:
        if _elsewhere(model, [weight]):
            yield Fault(model.source, None, weight.name, _ELSEWHERE)


def _of_values(model: Model) -> Iterator[Fault]:
    weights = set() if model.proto.ir_version >= DEFAULTS else {one.name for one in model.proto.graph.initializer}
    inputs = [value for value in model.proto.graph.input if value.name not in weights]
    for value in (*inputs, *model.proto.graph.output):
        if (kind := value.type.WhichOneof("value")) != "tensor_type":
            yield Fault(model.source, None, value.name, f"a tensor is expected, this is a {str(kind).split('_')[0]}")
    for value in inputs:
        if value.type.WhichOneof("value") == "tensor_type" and (message := _sizes(value.type.tensor_type)):
            yield Fault(model.source, None, value.name, message)


def _sizes(tensor: Any) -> str:
    """What is wrong with the sizes of an input, if anything is."""
    if not tensor.HasField("shape"):
        return "the sizes of this input are not in the file"
    unknown = [dim.dim_param for dim in tensor.shape.dim if not dim.HasField("dim_value") or dim.dim_value < 0]
    if not unknown:
        return ""
    given = " ".join(f"--dim {name}=SIZE" for name in dict.fromkeys(unknown) if name)
    return (
        f"a size of this input is dynamic; give it as {given}" if given else "a size of this input is not in the file"
    )


def _of_nodes(model: Model, graph: Graph) -> Iterator[Fault]:
    for node, proto in zip(graph.nodes, model.proto.graph.node, strict=True):
        place = f"{node.op} {node.name}"
        if any(entry.HasField("g") or entry.graphs for entry in proto.attribute):
            yield Fault(model.source, None, place, "has a graph inside, which is not read")
        if any(_elsewhere(model, [entry.t, *entry.tensors]) for entry in proto.attribute):
            yield Fault(model.source, None, place, _ELSEWHERE)


_ELSEWHERE = "its data is in another file, which is not read: save the model as a single file"


def _elsewhere(model: Model, tensors: Sequence[Any]) -> bool:
    return any(tensor.data_location == model.onnx.TensorProto.EXTERNAL for tensor in tensors)
