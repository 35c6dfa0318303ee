"""A model of ONNX while it is written: names of tensors, nodes, and constants that are computed at the end."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, count
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs import WEIGHT, Label, Tensor, TensorGraph, folded
from ..terms import INPUT, Term
from .checks import opset_of

MOST_SMALL = 64  # words of constants that are written in any case: others may follow from them
OPSET, IR_VERSION = 17, 8  # of graphs that were read from no file


@dataclass(frozen=True)
class _Constant:
    """A constant as a node reads it."""

    own: Term
    dtype: str
    sizes: tuple[int, ...]


class Model:
    """Collects the nodes of a file. A term has the names that its source has for it, where they are free."""

    def __init__(self, onnx: Any, graph: TensorGraph, *, hollow: bool = False) -> None:
        """Begin; `hollow`: of large constants the sizes are written, and no words."""
        self.onnx, self.graph, self.source, self.hollow = onnx, graph, graph.source, hollow
        self.proto = self._header()
        self.opset = opset_of(self.proto)
        self.written: set[Term] = set()  # terms that a node of several has made
        self._taken = {*graph.inputs, *graph.outputs}
        self._reserved = {*graph.weights, *(label.tensor for label in graph.source.labels.values())}
        self._nodes: set[str] = set()
        self._first: list[Any] = []  # nodes before all others
        self._names: dict[Term, str] = {}
        self._constants: dict[_Constant, str] = {}
        self._integers: dict[tuple[int, ...], str] = {}
        for name, own in graph.outputs.items():
            if own.op != INPUT and own not in graph.constants:
                self._names.setdefault(own, name)
        for own in graph.terms:  # names of the source are free for its own tensors before any others
            if own.op == INPUT:
                self._names[own] = own.name
            elif own not in self._names and own not in graph.constants and self._label(own).tensor:
                self._names[own] = self._kept(self._label(own).tensor)

    def name(self, own: Term) -> str:
        """Return the name of what a node makes, or of an input."""
        if own not in self._names:
            self._names[own] = self._free(f"{own.op}_1")
        return self._names[own]

    def operand(self, own: Term, reader: Term, sizes: tuple[int, ...] | None = None) -> str:
        """Return the name of what the node of a term reads; of a constant in other sizes, where these are said."""
        tensor = self.source.tensor(reader)
        return self.read(own, tensor.dtype if tensor else None, sizes)

    def read(self, own: Term, dtype: str | None, sizes: tuple[int, ...] | None = None) -> str:
        """Return the name of a tensor; of a constant of the table as one of a dtype. Raises ValueError without any."""
        if own not in self.graph.constants:
            return self.name(own)
        tensor = self.source.tensor(own)
        if tensor is None or (tensor.dtype or dtype) is None:
            raise ValueError(f"{own!r} is of no known type")
        constant = _Constant(own, str(tensor.dtype or dtype), tensor.sizes if sizes is None else sizes)
        if constant not in self._constants:
            label = own.name if own.op == WEIGHT else self._label(own).tensor
            self._constants[constant] = self._kept(label) if label else self._free(f"{own.op}_1")
        return self._constants[constant]

    def integers(self, values: Sequence[int]) -> str:
        """Return the name of a constant list of integers."""
        key = tuple(values)
        if key not in self._integers:
            self._integers[key] = self._free(f"places_{'_'.join(map(str, key))}")
        return self._integers[key]

    def temporary(self, own: Term) -> str:
        """Return the name of what stands between two nodes of a term."""
        return self._free(f"{self.name(own)}.{own.op}")

    def unread(self, name: str) -> str:
        """Return a name for what a node makes and nobody reads."""
        return self._free(f"{name}.unread")

    def add(self, op: str, inputs: Sequence[str], outputs: Sequence[str], own: Term | None, **attributes: Any) -> None:
        """Add a node, named as that of a term in the source."""
        name = self._node_name(own, outputs[0])
        self.proto.graph.node.append(self.onnx.helper.make_node(op, inputs, outputs, name=name, **attributes))

    def add_opaque(self, own: Term, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Add a node as its file had it."""
        node = self.onnx.NodeProto.FromString(self.source.nodes[own.name].content)
        node.name = self._node_name(own, next(filter(None, outputs), own.name))
        node.input.extend(inputs)
        node.output.extend(outputs)
        self.proto.graph.node.append(node)

    def close(self) -> None:
        """Add outputs that other names make, and the values of constants."""
        helper, constants = self.onnx.helper, self.graph.constants
        codes = {value.name: value.type.tensor_type.elem_type for value in self.proto.graph.output}
        for name, own in self.graph.outputs.items():
            made = self.read(own, str(helper.tensor_dtype_to_np_dtype(codes[name])) if own in constants else None)
            if made != name:
                self.add("Identity", [made], [name], None)
        for key, name in self._integers.items():
            self._add_weight(name, np.array(key, np.int64))
        self._add_constants()
        after = list(self.proto.graph.node)
        self.proto.graph.ClearField("node")
        self.proto.graph.node.extend([*self._first, *after])

    def _add_constants(self) -> None:
        """Add the values of constants, those of one dtype together."""
        helper = self.onnx.helper
        # a list for each dtype, as a constant of the table may be read in several
        for dtype in dict.fromkeys(constant.dtype for constant in self._constants):
            wanted = {constant: name for constant, name in self._constants.items() if constant.dtype == dtype}
            large = {constant for constant in wanted if self.hollow and prod(constant.sizes) > MOST_SMALL}
            values = folded(self.source, {constant.own: dtype for constant in wanted if constant not in large})
            for constant, name in wanted.items():
                if constant in large:
                    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
                    empty = self.onnx.TensorProto(name=name, data_type=code, dims=constant.sizes)
                    self.proto.graph.initializer.append(empty)
                else:
                    self._add_weight(name, values[constant.own].reshape(constant.sizes))

    def _add_weight(self, name: str, value: NDArray[Any]) -> None:
        """Add a constant. One word that is repeated, as a ConstantOfShape makes it, is written as that."""
        graph, make = self.proto.graph, self.onnx.numpy_helper.from_array
        if value.size > 1 and not any(value.strides):
            word = make(value.reshape(-1)[:1])
            shape = self._free(f"{name}.shape")
            graph.initializer.append(make(np.array(value.shape, np.int64), shape))
            self._first.append(self.onnx.helper.make_node("ConstantOfShape", [shape], [name], name=name, value=word))
        else:
            graph.initializer.append(make(np.ascontiguousarray(value).reshape(value.shape), name))

    def _header(self) -> Any:
        """The model without its nodes and weights."""
        if self.source.header:
            return self.onnx.ModelProto.FromString(self.source.header)
        helper = self.onnx.helper

        def values(tensors: Mapping[str, Tensor | None]) -> list[Any]:
            made = []
            for name, own in tensors.items():
                if own is None or own.dtype is None:
                    raise ValueError(f"{name} is of no known type")
                dtype = helper.np_dtype_to_tensor_dtype(np.dtype(own.dtype))
                made.append(helper.make_tensor_value_info(name, dtype, own.sizes))
            return made

        outputs = {name: self.source.tensor(own) for name, own in self.graph.outputs.items()}
        graph = helper.make_graph([], "graph", values(self.source.inputs), values(outputs))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)

    def _label(self, own: Term) -> Label:
        return self.source.labels.get(own, Label(""))

    def _kept(self, name: str) -> str:
        """The name that the source has for a tensor, where it is free."""
        return self._free(name) if name in self._taken else _first_free(name, self._taken)

    def _free(self, name: str) -> str:
        """A name that no other tensor has, nor any in the source."""
        return _first_free(name, self._taken, self._reserved)

    def _node_name(self, own: Term | None, output: str) -> str:
        return _first_free((self._label(own).node if own else "") or output, self._nodes)


def _first_free(name: str, taken: set[str], reserved: Set[str] = frozenset()) -> str:
    """A name, or the first with a number behind it, that is not taken; it is taken then."""
    stem = name.removesuffix("_1")
    names = chain([name], (f"{stem}_{number}" for number in count(2)))
    own = next(one for one in names if one not in taken and one not in reserved)
    taken.add(own)
    return own
