"""The parts that a plan of some nodes may have: layers alone, fused groups, operations; before anything is applied."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...arch import Architecture
from ...workloads import Fault, InputError
from ..fusion import Group, boxes, stages_of
from ..networks import Graph, Part, applies

MOST_STAGES = 4  # of a fused group


def candidates(
    graph: Graph, names: Sequence[str], keeper: str, arch: Architecture, most_stages: int = MOST_STAGES
) -> list[Part]:
    """List the parts of these nodes: each node alone, and each group of layers whose inner words nobody else reads.

    A group has `most_stages` layers at most.
    """
    parts = []
    for name in names:
        layer = graph.nodes[name].layer
        if layer is None:
            parts.append(Part(operations=(name,)))
        else:
            parts.append(Part((name,), group=Group((layer,), (), keeper)))
            parts += _fused(graph, name, keeper, arch, most_stages)
    return parts


def _fused(graph: Graph, last: str, keeper: str, arch: Architecture, most_stages: int) -> Iterator[Part]:
    """Yield the groups that end with a layer."""
    seen, waiting = {frozenset({last})}, [frozenset({last})]
    while waiting:
        inside = waiting.pop()
        for more in _grown(graph, inside):
            layers = [name for name in graph.nodes if name in more and graph.nodes[name].layer is not None]
            if more in seen or len(layers) > most_stages:
                continue
            seen.add(more)
            waiting.append(more)
            between = tuple(name for name in graph.nodes if name in more and name not in layers)
            part = _part(graph, tuple(layers), between, keeper, arch)
            if part is not None:
                yield part


def _grown(graph: Graph, inside: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield the sets with one maker more of what some node inside reads, and the operation that stands between."""
    makers = {maker for name in inside for maker in graph.nodes[name].makers}
    for maker in sorted(makers - inside):
        if not inside.issuperset(graph.readers[maker]):
            continue
        operator = graph.nodes[maker].operator
        if operator is None:
            yield inside | {maker}
        elif operator.rows:
            (before,) = graph.nodes[maker].reads
            if len(before.makers) == 1 and not before.outside and graph.readers[before.makers[0]] == (maker,):
                yield inside | {maker, *before.makers}


def _part(
    graph: Graph, layers: tuple[str, ...], between: tuple[str, ...], keeper: str, arch: Architecture
) -> Part | None:
    """Make the part of some layers; None where no group of them can be executed in this memory."""
    try:
        stages, links = stages_of(graph.network, layers, lambda message: Fault("", None, "", message))
        group = Group(stages, links, keeper)
        boxes(group)
        level = arch.number_of(keeper)
        for stage in range(len(stages)):
            arch.with_resident(level, group.resident(stage))
    except (InputError, ValueError):
        return None
    return Part(layers, between, (), group)


def with_applied(graph: Graph, part: Part, done: Callable[[str], bool]) -> Iterator[Part]:
    """Yield a part, and with each number of operations that can be applied to its words as they pass.

    All else that they read is `done`.
    """
    yield part
    while readers := graph.readers[part.last]:
        name = readers[0]
        makers = (maker for maker in graph.nodes[name].makers if maker != part.last)
        if not (applies(graph, name, part.last) and all(map(done, makers))):
            return
        part = replace(part, operations=(*part.operations, name))
        yield part
