"""The graph of a network as a table of text and as a JSON object."""

from dataclasses import asdict
from typing import Any

from ....workloads import Network
from ..tables import TextTable
from .nodes import Kind, Node, Totals, inputs_of, nodes_of, totals

NOTHING_KNOWN = "nothing is known of what these layers hand each other: none of them says `from`"
HEAD = ("name", "what", "output", "words", "MACs", "count", "reads")


def graph_text(network: Network) -> str:
    """Tabulate layers and operations in the order of computing, then the totals."""
    rows = [[node.name, "input", node.shape, f"{node.words:,}", "", "", ""] for node in inputs_of(network)]
    rows += [_row(node) for node in nodes_of(network)]
    own = totals(network)
    unknown = [NOTHING_KNOWN, ""] if not own.edges else []
    table = TextTable(HEAD, rows, left=(0, 1, 2, 6))
    return "\n".join([network.name, "", str(table), "", *unknown, f"total  {totals_text(own)}"])


def totals_text(own: Totals) -> str:
    """Write totals in a line."""
    figures = [(own.layers, "layer"), (own.operations, "operation"), (own.edges, "edge"), (own.pairs or 0, "pair")]
    layers, operations, edges, pairs = (f"{number:,} {name}{'' if number == 1 else 's'}" for number, name in figures)
    if own.words_between is None:
        return f"{layers}, {operations}; in all occurrences {own.macs:,} MACs"
    graph = f"{layers}, {operations}, {edges}, {pairs} of layers that could hand each other tiles"
    return f"{graph}; in all occurrences {own.macs:,} MACs, {own.words_between:,} words between layers"


def _row(node: Node) -> list[str]:
    macs = f"{node.macs:,}" if node.kind is Kind.LAYER else ""
    return [node.name, node.what, node.shape, f"{node.words:,}", macs, f"{node.count:,}", ", ".join(node.reads)]


def graph_json(network: Network) -> dict[str, Any]:
    """Write the graph as the object of `ruby-map --graph --json`."""
    return {
        "network": network.name,
        "inputs": [{"name": node.name, "sizes": list(node.sizes), "words": node.words} for node in inputs_of(network)],
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind.value,
                "what": node.what,
                "sizes": list(node.sizes),
                "words": node.words,
                "macs": node.macs,
                "reads": list(node.reads),
                "count": node.count,
            }
            for node in nodes_of(network)
        ],
        "totals": asdict(totals(network)),
    }
