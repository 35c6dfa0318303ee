"""How large a YAML text with aliases is once they are written out: a few lines can stand for billions."""

import math
from collections.abc import Iterable

import yaml


def written_out(node: yaml.Node, known: dict[int, float]) -> float:
    """The number of nodes from `node` down once aliases are written out; infinite where a node contains itself."""
    if id(node) not in known:
        known[id(node)] = math.inf  # until it is counted: a second visit comes from inside it
        children: Iterable[yaml.Node] = ()
        if isinstance(node, yaml.MappingNode):
            children = (child for pair in node.value for child in pair)
        elif isinstance(node, yaml.SequenceNode):
            children = node.value
        count = 1 + sum(written_out(child, known) for child in children)
        known[id(node)] = count if math.isinf(count) else min(count, 1e18)
    return known[id(node)]
