"""What the terms of a network refer to by name: inputs, weights, and nodes without an operator in the table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from numpy.typing import NDArray

from ..terms import INPUT, Term
from ..types import sizes
from .table import NETWORK_OPERATORS, OPAQUE, OUTPUT, WEIGHT


@dataclass(frozen=True)
class Tensor:
    """What is known of a tensor before it is computed."""

    dtype: str | None  # as NumPy names it; None: a constant of the table, of whatever dtype its readers have
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Port:
    """A place where a node of a file reads or makes a tensor: it may be empty, and the tensor may not be known."""

    tensor: Tensor | None
    present: bool = True


@dataclass(frozen=True)
class Opaque:
    """A node of a file for which the table has no operator: it can be written again, and not computed."""

    op: str  # with its domain before it, where that is not the one of ONNX
    content: bytes  # of the file's format: all of the node but its name and those of its tensors
    reads: tuple[Port, ...]
    makes: tuple[Port, ...]


@dataclass(frozen=True)
class Label:
    """The names that a file has for a tensor, and for the node that makes it."""

    tensor: str
    node: str = ""


@dataclass(frozen=True, eq=False)
class Source:
    """What terms refer to. One source serves all graphs that a network is rewritten to."""

    inputs: Mapping[str, Tensor]
    weights: Mapping[str, NDArray[Any]]
    nodes: Mapping[str, Opaque] = field(default_factory=dict)  # by keys
    labels: Mapping[Term, Label] = field(default_factory=dict)
    header: bytes = b""  # of the file's format: all of the model but its nodes and weights; empty: no file
    _known: WeakKeyDictionary[Term, Tensor | None] = field(default_factory=WeakKeyDictionary, repr=False)

    def tensor(self, own: Term) -> Tensor | None:
        """Return what is known of a tensor, which is kept; None where its sizes are not known, or it cannot be
        computed, and of an `opaque` itself, which is no tensor."""
        waiting = [own]
        while waiting:
            top = waiting[-1]
            below = [operand for operand in top.operands if operand not in self._known]
            if not below:
                self._known[waiting.pop()] = self._of(top)
            waiting += below
        return self._known[own]

    def sizes(self, own: Term) -> tuple[int, ...]:
        """Return the sizes of a tensor. Raises ValueError where they are not known."""
        tensor = self.tensor(own)
        if tensor is None:
            raise ValueError(f"the sizes of {own!r} are not known")
        return tensor.sizes

    def _of(self, own: Term) -> Tensor | None:
        """What is known of a tensor whose operands are known."""
        if own.op == INPUT:
            return self.inputs[own.name]
        if own.op == WEIGHT:
            weight = self.weights[own.name]
            return Tensor(str(weight.dtype), weight.shape)
        if own.op == OPAQUE:
            return None
        if own.op == OUTPUT:
            node, (number,) = self.nodes[own.operands[0].name], own.params
            return node.makes[int(str(number))].tensor
        return self._computed(own)

    def _computed(self, own: Term) -> Tensor | None:
        """What is known of what an operator of the table makes: its operands are of one dtype."""
        operands = [tensor for operand in own.operands if (tensor := self._known[operand]) is not None]
        dtypes = {tensor.dtype for tensor in operands} - {None}
        if len(operands) < len(own.operands) or len(dtypes) > 1:
            return None
        made = NETWORK_OPERATORS[own.op].types(own.params, [tensor.sizes for tensor in operands])
        return None if made is None else Tensor(next(iter(dtypes), None), sizes(made))
