"""Reads an ONNX model as a tensor graph: nodes as operators of the table where they are exactly that, else opaque."""

from collections.abc import Mapping
from pathlib import Path

from ....workloads import Fault, InputError
from ....workloads.onnx import Model, graph_of, read_model, reason
from ..graphs import TensorGraph
from ..terms import Term
from .checks import DEFAULTS, check, opset_of
from .readers import read_node
from .reading import Reading


def read_tensor_graph(path: Path, dims: Mapping[str, int] | None = None) -> TensorGraph:
    """Read the graph of an ONNX file; `dims` are sizes of dynamic dims by name, and every input has known sizes then.

    A node is an operator of the table where that computes exactly what ONNX says of it, for tensors of floats; else it
    is opaque: kept as it is. Identities, and what is dropped in training alone, vanish, as do nodes of which nobody
    reads anything. Initializers are weights, but for those that an input may replace (from IR version 4); before that
    version, all of them are listed as inputs too, and are none here.

    Raises InputError for a file that is no valid ONNX model, for names in `dims` that no tensor has, and for what is
    not read: opsets before 7, graphs inside of nodes (If, Loop, Scan), sparse weights, data in other files, inputs and
    outputs that are no tensors, steps of training; also where the package onnx is not installed.
    """
    model = read_model(path, dims)
    graph = graph_of(model)
    check(model, graph)
    reading = Reading(model, graph, opset_of(model.proto))
    defaults = _add_leaves(reading)
    for node, proto in zip(graph.nodes, model.proto.graph.node, strict=True):
        made = read_node(reading, node)
        reading.bind(node, proto, reading.opaque(node, proto) if made is None else made)
    outputs: dict[str, Term] = {}
    for value in model.proto.graph.output:
        if value.name not in reading.tensors:
            raise InputError(Fault(str(path), None, value.name, "nothing makes this output"))
        outputs[value.name] = reading.tensors[value.name]
    whole = TensorGraph(outputs, reading.finished(_header(model, defaults)))
    reading.forget(frozenset(whole.terms))
    return whole


def _add_leaves(reading: Reading) -> frozenset[str]:
    """Add the inputs and the weights of a model; returns which inputs have a value in the file."""
    proto, to_array = reading.model.proto, reading.model.onnx.numpy_helper.to_array
    initial = {weight.name for weight in proto.graph.initializer}
    inputs = [value.name for value in proto.graph.input]
    if proto.ir_version < DEFAULTS:
        inputs = [name for name in inputs if name not in initial]
    for weight in proto.graph.initializer:
        if weight.name not in inputs:
            try:
                reading.tensors[weight.name] = reading.add_weight(weight.name, to_array(weight))
            except Exception as error:  # of NumPy, about bytes that are no such numbers: several kinds
                raise InputError(Fault(reading.model.source, None, weight.name, reason(error))) from None
    for name in inputs:
        known = reading.known(name)
        if known is None:
            raise InputError(Fault(reading.model.source, None, name, "the dtype of this input is not in the file"))
        reading.add_input(name, known)
    return frozenset(initial.intersection(inputs))


def _header(model: Model, defaults: frozenset[str]) -> bytes:
    """The bytes of a model without its nodes and weights. These are taken out of it, as a copy may be large."""
    proto, graph = model.proto, model.proto.graph
    initial = {weight.name for weight in graph.initializer}
    held = [weight.SerializeToString() for weight in graph.initializer if weight.name in defaults]
    for field in ("node", "initializer", "value_info", "quantization_annotation"):
        graph.ClearField(field)
    graph.initializer.extend(model.onnx.TensorProto.FromString(weight) for weight in held)
    if proto.ir_version < DEFAULTS:
        inputs = [value for value in graph.input if value.name not in initial]
        graph.ClearField("input")
        graph.input.extend(inputs)
        proto.ir_version = DEFAULTS
    content: bytes = proto.SerializeToString(deterministic=True)
    return content
