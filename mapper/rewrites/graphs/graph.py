"""Networks as graphs of terms: what they make of what they are given."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from ..operators import Array
from ..terms import Term, below
from ..types import Type
from .source import Source, Tensor
from .values import constants, values_of_roots


@dataclass(frozen=True, eq=False)
class TensorGraph:
    """A network: its outputs by names, as terms, and the source to which these refer."""

    outputs: Mapping[str, Term]
    source: Source

    @property
    def inputs(self) -> Mapping[str, Tensor]:
        """What is given, by names; some may be read by nothing."""
        return self.source.inputs

    @property
    def weights(self) -> Mapping[str, NDArray[Any]]:
        """The constants of the model, by names; some may be read by nothing."""
        return self.source.weights

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All that stands in the outputs, each once, operands first."""
        return tuple(below(self.outputs.values()))

    @cached_property
    def types(self) -> Mapping[Term, Type | None]:
        """The sizes of all terms; None where they are not known, and of opaque nodes, which are no tensors."""
        tensors = {own: self.source.tensor(own) for own in self.terms}
        return {own: None if tensor is None else tensor.sizes for own, tensor in tensors.items()}

    @cached_property
    def constants(self) -> frozenset[Term]:
        """The terms that are made of weights alone by operators of the table: they are computed before it is run."""
        return constants(self.terms)

    def with_outputs(self, outputs: Mapping[str, Term]) -> "TensorGraph":
        """Return the graph of the same source that makes other terms under the same names."""
        return replace(self, outputs=outputs)


def computed(graph: TensorGraph, inputs: Mapping[str, NDArray[Any]]) -> dict[str, Array]:
    """Return the outputs of a graph, computed in float64 by the table of operators.

    Raises ValueError where opaque nodes stand in it.
    """
    values = values_of_roots(graph.source, graph.outputs.values(), inputs)
    return {name: values[own] for name, own in graph.outputs.items()}
