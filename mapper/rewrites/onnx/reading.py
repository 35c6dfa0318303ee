"""Terms of an ONNX model while its nodes are read, in their order."""

from collections.abc import Hashable, Iterable, Iterator, Set
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....workloads.onnx import Graph, Model, Node
from ..graphs import OPAQUE, OUTPUT, WEIGHT, Label, Opaque, Port, Source, Tensor, made
from ..terms import Term, given, term

ABSENT = Port(None, present=False)
SHARED_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")  # of other domains nobody knows whether equal nodes make equal tensors
RANDOM = frozenset(
    ["Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"]
)


class Reading:
    """What is known of a model so far: the terms of its tensors by names, and the source to which they refer."""

    def __init__(self, model: Model, graph: Graph, opset: int) -> None:
        self.model, self.graph, self.opset = model, graph, opset
        self.weights: dict[str, NDArray[Any]] = {}
        self._inputs: dict[str, Tensor] = {}
        self._nodes: dict[str, Opaque] = {}
        self._labels: dict[Term, Label] = {}
        self.source = Source(self._inputs, self.weights, self._nodes, self._labels)
        self.tensors: dict[str, Term] = {}
        self._keys: dict[Opaque, str] = {}
        self._derived: dict[Hashable, Term] = {}
        self._dtypes = dict(_dtypes(model))
        self._taken = {name for node in graph.nodes for name in (*node.inputs, *node.outputs)} | {*self._dtypes}

    def known(self, tensor: str) -> Tensor | None:
        """What the file says of a tensor, or what follows from it; None where its sizes are not all known."""
        dims, dtype = self.graph.shapes.get(tensor), self._dtypes.get(tensor)
        sizes = tuple(dim for dim in dims or () if isinstance(dim, int))
        return Tensor(dtype, sizes) if dims is not None and dtype and len(sizes) == len(dims) else None

    def add_input(self, name: str, tensor: Tensor) -> None:
        """Add what is given."""
        self._inputs[name] = tensor
        self.tensors[name] = given(name)

    def add_weight(self, name: str, value: NDArray[Any]) -> Term:
        """Add a constant of the model under its name."""
        self.weights[name] = value
        return term(WEIGHT, (name,))

    def derived(self, key: Hashable, name: str, value: NDArray[Any]) -> Term:
        """Return a constant that the file does not have, added where none of this key was before."""
        if key not in self._derived:
            names = (name if not number else f"{name}_{number}" for number in count())
            free = next(one for one in names if one not in self._taken and one not in self.weights)
            self._derived[key] = self.add_weight(free, value)
        return self._derived[key]

    def scalar(self, value: float, dtype: str) -> Term:
        """Return a constant of no dims."""
        return self.derived((value, dtype), f"scalar_{value:g}", np.array(value, dtype))

    def value(self, own: Term | None) -> NDArray[Any] | None:
        """Return the value of a constant of the model; None of all else."""
        return self.weights[own.name] if own is not None and own.op == WEIGHT else None

    def integers(self, own: Term | None) -> list[int] | None:
        """Return the values of a constant list of integers; None of all else."""
        value = self.value(own)
        listed = value is not None and value.ndim == 1 and value.dtype.kind in "iu"
        return [int(one) for one in value] if value is not None and listed else None

    def operand(self, node: Node, number: int) -> Term | None:
        """Return what a node reads at a place; None where that is nothing."""
        name = node.inputs[number] if number < len(node.inputs) else ""
        return self.tensors[name] if name else None

    def operands(self, node: Node) -> list[Term]:
        """Return all that a node reads."""
        return [self.tensors[name] for name in node.inputs if name]

    def made(self, op: str, params: tuple[Hashable, ...], *operands: Term) -> Term | None:
        """Return the term of an operator; None where it cannot be applied to such operands."""
        own = made(self.source, op, params, operands)
        return None if self.source.tensor(own) is None else own

    def sizes(self, own: Term) -> tuple[int, ...]:
        """Return the sizes of a tensor; they are known of what operators of the table are applied to."""
        return self.source.sizes(own)

    def reshaped(self, own: Term, sizes: tuple[int, ...]) -> Term:
        """Return the same words, in their order, in other sizes."""
        if (value := self.value(own)) is not None:
            if value.shape == sizes:
                return own
            return self.derived(
                (own, sizes), f"{own.name}.{'x'.join(map(str, sizes)) or 'scalar'}", value.reshape(sizes)
            )
        if self.sizes(own) == sizes:
            return own
        if own.op == OUTPUT and self._nodes[own.operands[0].name].op == "Reshape":
            before = own.operands[0].operands[0]
            if (tensor := self.source.tensor(before)) is not None:
                return self.reshaped(before, sizes)
        tensor = self.source.tensor(own)
        assert tensor is not None, "its sizes are known"
        shape = self.derived(sizes, f"shape_{'x'.join(map(str, sizes))}", np.array(sizes, np.int64))
        ports = Port(tensor), Port(Tensor("int64", (len(sizes),)))
        node = Opaque("Reshape", self.content(self._plain("Reshape")), ports, (Port(Tensor(tensor.dtype, sizes)),))
        return term(OUTPUT, (0,), (term(OPAQUE, (self._key(node),), (own, shape)),))

    def agrees(self, tensor: str, own: Term) -> bool:
        """Whether the file says nothing else of a tensor than what its term is."""
        known = self.known(tensor)
        return known is None or known == self.source.tensor(own)

    def opaque(self, node: Node, proto: Any) -> list[Term]:
        """Return what a node makes for which the table has no operator: a term for each of its outputs."""
        reads = tuple(Port(self._tensor(name)) if name else ABSENT for name in node.inputs)
        makes = tuple(Port(self.known(name)) if name else ABSENT for name in node.outputs)
        own = Opaque(node.op, self.content(proto), reads, makes)
        shared = proto.domain in SHARED_DOMAINS and proto.op_type not in RANDOM
        opaque = term(OPAQUE, (self._key(own, shared),), tuple(self.operands(node)))
        if proto.name:
            self._labels.setdefault(opaque, Label("", proto.name))
        return [term(OUTPUT, (number,), (opaque,)) for number in range(len(node.outputs))]

    def bind(self, node: Node, proto: Any, outputs: Iterable[Term]) -> None:
        """Say what a node makes. A tensor that several nodes make has the names of the first."""
        for name, own in zip(node.outputs, outputs, strict=True):
            if name:
                self.tensors[name] = own
                self._labels.setdefault(own, Label(name, proto.name))

    def finished(self, header: bytes) -> Source:
        """Return the source of all terms, with what else the file says."""
        return replace(self.source, header=header)

    def forget(self, terms: frozenset[Term]) -> None:
        """Leave out of the source what none of some terms refers to."""
        weights = {own.name for own in terms if own.op == WEIGHT}
        nodes = {own.name for own in terms if own.op == OPAQUE}
        _keep(self.weights, weights)
        _keep(self._nodes, nodes)
        _keep(self._labels, terms)

    def content(self, proto: Any) -> bytes:
        """The bytes of a node without its name and those of its tensors; equal ones of nodes that compute the same."""
        plain = self.model.onnx.NodeProto()
        plain.CopyFrom(proto)
        for field in ("name", "input", "output", "doc_string", "metadata_props", "device_configurations"):
            plain.ClearField(field)
        attributes = sorted(plain.attribute, key=lambda entry: str(entry.name))
        plain.ClearField("attribute")
        plain.attribute.extend(attributes)
        content: bytes = plain.SerializeToString(deterministic=True)
        return content

    def _plain(self, op: str) -> Any:
        return self.model.onnx.NodeProto(op_type=op)

    def _tensor(self, name: str) -> Tensor | None:
        own = self.source.tensor(self.tensors[name])
        return own or self.known(name)

    def _key(self, node: Opaque, shared: bool = True) -> str:
        """The key of a node: of equal ones the same, where these are shared."""
        if shared and node in self._keys:
            return self._keys[node]
        key = f"{node.op}_{len(self._nodes) + 1}"
        self._nodes[key] = node
        if shared:
            self._keys[node] = key
        return key


def _dtypes(model: Model) -> Iterator[tuple[str, str]]:
    """The dtypes of tensors, as NumPy names them; none of types that it has no name for."""
    graph, helper = model.proto.graph, model.onnx.helper
    named = {code: str(helper.tensor_dtype_to_np_dtype(code)) for code in helper.get_all_tensor_dtypes()}
    codes = [(weight.name, weight.data_type) for weight in graph.initializer]
    codes += [
        (value.name, value.type.tensor_type.elem_type) for value in (*graph.input, *graph.value_info, *graph.output)
    ]
    yield from ((name, named[code]) for name, code in codes if code in named)


def _keep[K](held: dict[K, Any], kept: Set[K]) -> None:
    for name in held.keys() - kept:
        del held[name]
