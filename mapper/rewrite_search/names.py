"""Which node of a model a tensor of its graph belongs to."""

from collections.abc import Mapping

from ..rewrites import TensorGraph, Term


def node_names(graph: TensorGraph) -> Mapping[Term, str]:
    """Return the names of the nodes that make tensors; where a node has no name that of its tensor stands.

    A node may be several terms (a product and its bias, a reshape around it): what stands inside has its name, too.
    """
    names: dict[Term, str] = {}
    labels = graph.source.labels
    for own in reversed(graph.terms):  # readers before what they read
        if own in labels:
            names[own] = labels[own].node or labels[own].tensor or own.op
        for operand in own.operands if own in names else ():
            if operand not in labels and operand.operands:  # no input, and no weight
                names.setdefault(operand, names[own])
    return names
