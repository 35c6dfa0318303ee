"""One side of an equation as the nodes of a graph: operators, inputs, outputs; both parts of a split are one node."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum

from ..operators import OPERATORS
from ..terms import INPUT, SPLIT, SPLITS, Term, Unknown, below


class Kind(Enum):
    """What a node stands for."""

    INPUT = "in"
    OPERATOR = "op"
    OUTPUT = "out"
    BEND = "bend"  # of an edge that passes a row


@dataclass(frozen=True)
class Port:
    """Where an edge begins: a node, and which of what it makes."""

    node: int
    number: int = 0


@dataclass(frozen=True)
class Node:
    """A node with its lines of text; `reads` are the ends of its edges above it, from left to right."""

    kind: Kind
    lines: tuple[str, ...]
    reads: tuple[Port, ...] = ()
    makes: int = 1  # tensors


def nodes_of(side: Sequence[Term]) -> list[Node]:
    """List the nodes of a side, what is read before its readers; the outputs of the side stand last, in their order."""
    nodes: list[Node] = []
    ports: dict[Term, Port] = {}
    splits: dict[Hashable, int] = {}
    for own in below(side):
        reads = tuple(ports[operand] for operand in own.operands)
        if own.op in SPLITS:
            key = (own.params, own.operands)
            if key not in splits:
                splits[key] = len(nodes)
                nodes.append(Node(Kind.OPERATOR, _lines(SPLIT, own), reads, len(SPLITS)))
            ports[own] = Port(splits[key], SPLITS.index(own.op))
            continue
        ports[own] = Port(len(nodes))
        is_input = own.op == INPUT
        nodes.append(Node(Kind.INPUT if is_input else Kind.OPERATOR, _lines(own.op, own), reads))
    names = ["out"] if len(side) == 1 else [f"out {number}" for number in range(1, len(side) + 1)]
    return nodes + [Node(Kind.OUTPUT, (name,), (ports[own],)) for name, own in zip(names, side, strict=True)]


def _lines(op: str, own: Term) -> tuple[str, ...]:
    """The name of an operator, and its parameters by their values, or by their own names where any value may stand."""
    if own.op == INPUT:
        return (own.name,)
    names = OPERATORS[own.op].params
    params = [_shown(name, value) for name, value in zip(names, own.params, strict=True)]
    return (op, ", ".join(params)) if params else (op,)


def _shown(name: str, value: Hashable) -> str:
    if isinstance(value, Unknown):
        return value.name
    if isinstance(value, tuple):
        return f"{name} {'x'.join(map(str, value))}"
    return f"{name} {value}"
