"""A graph in parts that are drawn side by side: what is not linked, and long graphs cut into columns."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, sqrt

from .nodes import Kind, Node
from .rows import row_numbers

TALL = 1500.0  # points: a graph that is taller is cut where one tensor alone goes on
WIDE = 250.0  # points of a column, about
EVEN = 0.97  # of the height that is left, shared evenly: a column that is about as high ends
_HEIGHTS = {Kind.LAYER: 79.0, Kind.OPERATION: 52.0, Kind.PASSING: 43.0, Kind.INPUT: 43.0}  # with the gap below


def linked(nodes: Sequence[Node]) -> list[list[Node]]:
    """Nodes that are linked to each other, directly or through others; each list in the order of computing."""
    parent = list(range(len(nodes)))
    numbers = {node.name: number for number, node in enumerate(nodes)}  # without edges several may have one name

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = number = parent[parent[number]]
        return number

    for number, node in enumerate(nodes):
        for name in node.reads:
            parent[root(numbers[name])] = root(number)
    lists: dict[int, list[Node]] = {}
    for number, node in enumerate(nodes):
        lists.setdefault(root(number), []).append(node)
    return list(lists.values())


def cut_into_columns(nodes: Sequence[Node]) -> list[list[Node]]:
    """Cut linked nodes into columns where they are many; inputs stand in each column that reads them.

    A column after the first begins with a copy of the node that the one before ends with, as an input.
    """
    numbers = row_numbers(nodes)
    heights = dict[int, float]()
    for node in nodes:
        heights[numbers[node.name]] = max(heights.get(numbers[node.name], 0.0), _HEIGHTS[node.kind])
    height = sum(heights.values())
    if height < TALL:
        return [list(nodes)]
    widest = max(Counter(numbers.values()).values())
    left = ceil(height / max(TALL, sqrt(height * widest * WIDE)))
    cuts, reached = list[int](), 0.0
    for row, alone in enumerate(_alone(nodes, numbers, len(heights))):
        reached += heights[row]
        if alone and left > 1 and reached >= EVEN * height / left and height - reached >= height / left / 2:
            cuts.append(row)
            height, reached, left = height - reached, 0.0, left - 1
    return _columns(nodes, numbers, cuts)


def _alone(nodes: Sequence[Node], numbers: dict[str, int], rows: int) -> list[bool]:
    """By row whether the output of a node in it alone goes on to rows below, beside inputs."""
    last = {node.name: numbers[node.name] for node in nodes if node.kind is not Kind.INPUT}
    for node in nodes:
        for name in node.reads:
            if name in last:
                last[name] = max(last[name], numbers[node.name])
    begin, end = Counter[int](), Counter[int]()
    for name, row in last.items():
        if row > numbers[name]:
            begin[numbers[name]] += 1
            end[row] += 1
    alone, number = list[bool](), 0
    for row in range(rows):
        number += begin[row] - end[row]
        alone.append(number == 1 == begin[row])
    return alone


def _columns(nodes: Sequence[Node], numbers: dict[str, int], cuts: Sequence[int]) -> list[list[Node]]:
    by_name = {node.name: node for node in nodes}
    columns: list[list[Node]] = [[] for _ in range(len(cuts) + 1)]
    for node in nodes:
        if node.kind is not Kind.INPUT:
            columns[sum(row < numbers[node.name] for row in cuts)].append(node)
    for number, column in enumerate(columns):
        present = {node.name for node in column}
        sources = dict.fromkeys(name for node in column for name in node.reads if name not in present)
        copies = [by_name[name] for name in sources]
        columns[number] = [Node(copy.name, Kind.INPUT, "", copy.sizes) for copy in copies] + column
    return columns
