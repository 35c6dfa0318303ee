"""The part of a network between some of its tensors, as a network of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ....workloads.onnx import package
from ..graphs import Source, Tensor, TensorGraph
from ..terms import Term, below, given, names_in, rebuilt


def between(graph: TensorGraph, inputs: Mapping[str, Term], outputs: Mapping[str, Term]) -> TensorGraph:
    """Return the network that makes some tensors of a graph from others, which are its inputs, by the names of both.

    Inputs of the graph that it reads are inputs of it, too. Raises ValueError where a tensor is of no known type,
    InputError where onnx is not installed.
    """
    source, become = graph.source, {own: given(name) for name, own in inputs.items()}
    roots = rebuilt(tuple(outputs.values()), become)
    read = names_in(roots)
    tensors = {name: tensor for name, tensor in source.inputs.items() if name in read}
    tensors |= {name: _known(source, own) for name, own in inputs.items()}
    whole = below(outputs.values())
    labels = zip(rebuilt(whole, become), map(source.labels.get, whole), strict=True)
    header = _header(source.header, tensors, {name: _known(source, own) for name, own in outputs.items()})
    own = Source(tensors, source.weights, source.nodes, {new: label for new, label in labels if label}, header)
    return TensorGraph(dict(zip(outputs, roots, strict=True)), own)


def _known(source: Source, own: Term) -> Tensor:
    tensor = source.tensor(own)
    if tensor is None or tensor.dtype is None:
        raise ValueError(f"{own!r} is of no known type")
    return tensor


def _header(header: bytes, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> bytes:
    """The bytes of a model without nodes and weights, with other inputs and outputs."""
    if not header:
        return header
    onnx = package(Path("model"))
    proto: Any = onnx.ModelProto.FromString(header)
    for field, tensors in (("input", inputs), ("output", outputs)):
        proto.graph.ClearField(field)
        values = [_value(onnx, name, own) for name, own in tensors.items()]
        getattr(proto.graph, field).extend(values)
    proto.graph.ClearField("initializer")  # values for inputs that nobody gives
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def _value(onnx: Any, name: str, own: Tensor) -> Any:
    code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(own.dtype))
    return onnx.helper.make_tensor_value_info(name, code, own.sizes)
