"""Reads ONNX files, with the shape of every tensor; whatever is wrong with a file is an `InputError`.

The package onnx (extra `onnx`) is imported when a file is read.
"""

import importlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..faults import Fault, InputError
from ..files import read_bytes
from ..reading import near
from ..shapes import MAX_WORDS

MAX_BYTES = 2**31 - 1  # protobuf takes no larger message
MAX_NODES = 50_000  # with those of functions in their places
INNER = ("If", "Loop", "Scan")  # with graphs inside

Dims = tuple[int | str | None, ...]  # a size, the name of a dynamic dim, or nothing known


@dataclass(frozen=True)
class Node:
    """An operation of the graph."""

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def output(self) -> str:
        """The first of its outputs; empty where it has none."""
        return self.outputs[0] if self.outputs else ""


@dataclass(frozen=True)
class Graph:
    """The nodes of a model, in its order, and the shapes of its tensors as far as they are known."""

    source: str
    nodes: tuple[Node, ...]
    shapes: Mapping[str, Dims]
    constants: frozenset[str]  # tensors that belong to the model, or follow from these and from shapes
    outputs: frozenset[str]
    read: frozenset[str]  # outputs, and tensors that a node reads
    remark: str  # what stopped the shape inference, if anything did

    def sizes(self, tensor: str) -> tuple[int, ...] | None:
        """The sizes of a tensor, of a scalar one word; None where one is not known, or the tensor is empty."""
        dims = self.shapes.get(tensor, (None,))
        sizes = tuple(dim for dim in dims if isinstance(dim, int))
        known = len(dims) == len(sizes) and 0 < math.prod(sizes) < MAX_WORDS
        return sizes or (1,) if known else None

    def shape(self, tensor: str, node: Node) -> tuple[int, ...]:
        """The sizes of a tensor. Raises InputError where a size is not known; the message says how to give it."""
        dims = self.shapes.get(tensor)
        why = f" ({self.remark})" if self.remark else ""
        if dims is None:
            raise self.fault(node, f'the shape of "{tensor}" is not in the file and cannot be inferred{why}')
        named = [dim for dim in dims if isinstance(dim, str)]
        if named:
            given = " ".join(f"--dim {name}=SIZE" for name in dict.fromkeys(named))
            raise self.fault(node, f'the shape of "{tensor}", {_shown(dims)}, is dynamic; give it as {given}')
        if None in dims:
            raise self.fault(
                node, f'the shape of "{tensor}", {_shown(dims)}, has sizes that the file does not say{why}'
            )
        sizes = tuple(dim for dim in dims if isinstance(dim, int))
        if 0 in sizes:
            raise self.fault(node, f'"{tensor}" is empty: its shape is {_shown(dims)}')
        return sizes

    def fault(self, node: Node, message: str) -> InputError:
        return InputError(Fault(self.source, None, f"{node.op} {node.name}", message))


def _shown(dims: Dims) -> str:
    return " x ".join("?" if dim is None else str(dim) for dim in dims)


@dataclass(frozen=True)
class Model:
    """A model as its file has it, with nodes in place of calls of functions, sizes of dims, and inferred shapes."""

    source: str
    onnx: Any  # the package
    proto: Any  # its ModelProto; data in other files is not loaded
    remark: str  # what stopped the shape inference, if anything did


def read_model(path: Path, dims: Mapping[str, int] | None = None) -> Model:
    """The model in an ONNX file, with dynamic dims named in `dims` set to sizes.

    Raises InputError for a file that is missing or no ONNX model, for names in `dims` that no tensor has, and where
    onnx is not installed.
    """
    onnx = package(path)
    proto = _inlined(_load(onnx, path), path)
    _set_dims(proto, dims or {}, path)
    proto, remark = with_shapes(onnx, proto)
    return Model(str(path), onnx, proto, remark)


def read_graph(path: Path, dims: Mapping[str, int] | None = None) -> Graph:
    """The graph in an ONNX file, with dynamic dims named in `dims` set to sizes; of weights the shapes alone.

    Raises InputError as `read_model` does, and as `graph_of`.
    """
    return graph_of(read_model(path, dims))


def graph_of(model: Model) -> Graph:
    """The nodes of a model in its order, and what is known of its tensors.

    Raises InputError where an attribute is that of a function, and its node stands in none.
    """
    graph = model.proto.graph
    constants = {tensor.name for tensor in graph.initializer}
    shapes: dict[str, Dims] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for value in _values(graph):
        if value.type.tensor_type.HasField("shape"):
            shapes.setdefault(value.name, tuple(map(_dim, value.type.tensor_type.shape.dim)))
    if any(entry.ref_attr_name for node in graph.node for entry in node.attribute):
        raise InputError(Fault(model.source, None, "", "a node has an attribute of a function, and stands in none"))
    nodes = tuple(_node(model.onnx, node, number) for number, node in enumerate(graph.node, 1))
    _add_constants(nodes, constants)
    outputs = frozenset(tensor.name for tensor in graph.output)
    read = outputs.union(*(node.inputs for node in nodes))
    return Graph(model.source, nodes, shapes, frozenset(constants), outputs, read, model.remark)


def _add_constants(nodes: Iterable[Node], constants: set[str]) -> None:
    """Add what follows from constants and shapes alone, in the order of the graph."""
    for node in nodes:
        # a Constant, made of constants alone, or of a shape; graphs inside a node may read what is outside
        follows = node.op in ("Shape", "Size") or constants.issuperset(filter(None, node.inputs))
        if follows and node.op not in INNER:
            constants.update(node.outputs)


def _garbled(message: Any) -> Iterator[str]:
    """The fields of a message, at any depth, whose text is no UTF-8: protobuf gives it as bytes."""
    for field, value in message.ListFields():
        values = value if hasattr(value, "__getitem__") and not isinstance(value, str | bytes) else [value]
        if field.type == field.TYPE_STRING and any(isinstance(item, bytes) for item in values):
            yield field.name
        if field.message_type:
            for inner in values:
                yield from _garbled(inner)


def package(path: Path) -> Any:
    """The package onnx, for a file. Raises InputError where it is not installed."""
    try:
        return importlib.import_module("onnx")
    except ImportError:
        message = "ONNX files need the package onnx: pip install 'ruby-map[onnx]'"
        raise InputError(Fault(str(path), None, "", message)) from None


def _load(onnx: Any, path: Path) -> Any:
    content = read_bytes(path, MAX_BYTES)
    try:
        model = onnx.load_model_from_string(content, format="protobuf")
    except Exception as error:  # protobuf's DecodeError, whose package is not ours to import
        raise InputError(Fault(str(path), None, "", f"not an ONNX model: {reason(error)}")) from None
    if not model.graph.node:
        raise InputError(Fault(str(path), None, "", "not an ONNX model: it has no graph with nodes"))
    if garbled := next(_garbled(model), None):
        raise InputError(Fault(str(path), None, "", f"not an ONNX model: {garbled}: no UTF-8 text"))
    return model


def reason(error: Exception) -> str:
    """The message of an error of a foreign package in a single line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def _inlined(model: Any, path: Path) -> Any:
    """The model with the nodes of its functions in place of their calls."""
    if not model.functions:
        return model
    functions = {(function.domain, function.name): function for function in model.functions}
    try:
        number = _nodes(model.graph.node, functions, {})
    except RecursionError:  # a long line of functions that call one another
        number = math.inf
    if number > MAX_NODES:
        why = "go round in circles, or are nested too deeply"
        rule = f"the calls of its functions come to more than {MAX_NODES:,} nodes, {why}"
        raise InputError(Fault(str(path), None, "", rule))
    try:
        return importlib.import_module("onnx.inliner").inline_local_functions(model)
    except Exception as error:  # of onnx's C++ part: several kinds
        raise InputError(Fault(str(path), None, "", f"its functions cannot be used: {reason(error)}")) from None


def _nodes(
    nodes: Iterable[Any], functions: Mapping[tuple[str, str], Any], known: dict[tuple[str, str], float]
) -> float:
    """The number of nodes with those of functions and inner graphs; infinite where a function calls itself."""
    count = 0.0
    for node in nodes:
        graphs = [graph for entry in node.attribute for graph in (entry.g, *entry.graphs)]
        count += 1 + sum(_nodes(graph.node, functions, known) for graph in graphs)
        key = (node.domain, node.op_type)
        if key in functions and key not in known:
            known[key] = math.inf  # until it is counted: a second call comes from inside it
            known[key] = _nodes(functions[key].node, functions, known)
        count += known.get(key, 0.0)
    return count


def _values(graph: Any) -> Iterator[Any]:
    yield from graph.input
    yield from graph.value_info
    yield from graph.output


def _dim(dim: Any) -> int | str | None:
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None


def _set_dims(model: Any, given: Mapping[str, int], path: Path) -> None:
    """Sets named dynamic dims of the model to the sizes `given`. Raises InputError for unknown names and bad sizes."""
    known: set[str] = set()
    for value in _values(model.graph):
        for dim in value.type.tensor_type.shape.dim:
            known.add(dim.dim_param)
            if 0 < given.get(dim.dim_param, 0) < MAX_WORDS:
                dim.dim_value = given[dim.dim_param]  # clears dim_param: the two are a oneof
    faults = list(_unknown(given, known - {""}, path))
    faults += [_too_large(path, name) for name, size in given.items() if not 0 < size < MAX_WORDS]
    if faults:
        raise InputError(faults)


def _too_large(path: Path, name: str) -> Fault:
    return Fault(str(path), None, "", f'the size given for "{name}" must be from 1 to {MAX_WORDS - 1}')


def _unknown(given: Iterable[str], known: set[str], path: Path) -> Iterator[Fault]:
    for name in given:
        if name not in known:
            have = near(name, known) or (f"; it has {', '.join(sorted(known))}" if known else "; it has none")
            yield Fault(str(path), None, "", f'no dynamic dim "{name}" in the model{have}')


def with_shapes(onnx: Any, model: Any) -> tuple[Any, str]:
    """The model with the shapes that can be inferred, and why the rest cannot."""
    infer = importlib.import_module("onnx.shape_inference").infer_shapes
    remark = ""
    for strict in (True, False):
        try:
            return infer(model, strict_mode=strict, data_prop=True), remark
        except Exception as error:  # of onnx's C++ part: several kinds
            remark = reason(error)
    return model, remark


def _node(onnx: Any, node: Any, number: int) -> Node:
    attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
    name = node.name or f"node_{number}"
    domain = "" if node.domain in ("", "ai.onnx") else f"{node.domain}."
    return Node(name, domain + node.op_type, tuple(node.input), tuple(node.output), attributes)
