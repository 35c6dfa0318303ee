"""The stages and links of a group named by a user, from the edges of a network."""

from collections.abc import Callable, Collection, Sequence

from ...workloads import Fault, InputError, Network, Workload, near
from .group import Link

MOST_STAGES = 8


def stages_of(
    network: Network, names: Sequence[str], tell: Callable[[str], Fault]
) -> tuple[tuple[Workload, ...], tuple[Link, ...]]:
    """Return the layers of these names in the order of the network, and what they hand each other.

    `tell` makes a fault of a message. Raises InputError with every fault: names that are no layers, layers that hand
    nothing to the others, and tensors between them that layers outside read.
    """
    layers = {layer.name: layer for layer, _ in network.layers}
    if wrong := _wrong_names(network, layers, names):
        raise InputError(map(tell, wrong))
    chosen = [name for name in layers if name in names]
    if wrong := _wrong_edges(network, chosen):
        raise InputError(map(tell, wrong))
    links = tuple(
        Link(
            chosen.index(edge.producer),
            chosen.index(edge.consumer),
            edge.tensor,
            edge.ranks,
            edge.through,
            edge.streaming,
            edge.causal,
        )
        for edge in network.handed
        if edge.producer in chosen and edge.consumer in chosen
    )
    stages = tuple(layers[name] for name in chosen)
    if wrong := _two_ways(stages, links):
        raise InputError(map(tell, wrong))
    return stages, links


def _wrong_names(network: Network, layers: Collection[str], names: Sequence[str]) -> list[str]:
    """List what is wrong with the names of a group."""
    unknown = [name for name in dict.fromkeys(names) if name not in layers]
    faults = [f'no layer "{name}" in {network.name}{near(name, layers)}' for name in unknown]
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1 and name in layers]
    faults += [f"{name} is named twice" for name in twice]
    if not faults and not 2 <= len(names) <= MOST_STAGES:
        faults.append(f"a group has 2 to {MOST_STAGES} layers, as A+B; got {len(names)}")
    return faults


def _wrong_edges(network: Network, chosen: Sequence[str]) -> list[str]:
    """List the layers of a group, but the last, that hand nothing to the group, or something to others."""
    inside = {edge.producer for edge in network.handed if edge.consumer in chosen}
    faults = [_unlinked(network, name, chosen) for name in chosen[:-1] if name not in inside]
    for name in chosen[:-1]:
        for reader in network.outside(name, chosen) if network.edges else ():
            does = "reads"
            rule = f"{reader}, outside the group, {does} what {name} makes: it has to leave the chip"
            faults.append(rule)
    for edge in network.handed:
        if edge.whole and edge.producer in chosen and edge.consumer in chosen:
            rule = f"{edge.consumer} reads {edge.tensor} with the ranks of {edge.producer} joined or split"
            faults.append(f"{rule}: tiles of such layers are not matched")
    return faults


def _two_ways(stages: Sequence[Workload], links: Sequence[Link]) -> list[str]:
    """List what is read in two ways: an operator changes words where they stand."""
    faults = []
    for producer, stage in enumerate(stages):
        ways = {_way(stages[link.consumer], link) for link in links if link.producer == producer}
        if len(ways) > 1:
            operators = sorted({way[0] for way in ways})
            said = " and ".join(f"through {own}" if own else "as it is" for own in operators)
            twice = "" if len(operators) > 1 else " in two ways"
            faults.append(f"what {stage.name} makes is read {said}{twice}: an operator changes it where it stands")
    return faults


def _way(consumer: Workload, link: Link) -> tuple[str, bool, int, frozenset[str | None]]:
    """Return what is done to words before they are read: the operator, whether it streams, the queries of its mask, and
    along which ranks of what was made its rows are."""
    tensor = next(tensor for tensor in consumer.tensors if tensor.name == link.tensor)
    summed = [not {term.dim for term in rank} <= consumer.output.dims for rank in tensor.ranks]
    rows = frozenset(dim for (dim, _), own in zip(link.ranks, summed, strict=True) if own and link.through)
    return link.through, link.streaming, link.mask.queries if link.mask else 0, rows


def _unlinked(network: Network, name: str, chosen: Sequence[str]) -> str:
    if not network.edges:
        return f"{network.name} does not say what its layers hand each other: write from: {{Inputs: {name}}}"
    return f"no layer of {'+'.join(chosen)} reads what {name} makes: write from: {{Inputs: {name}}}"
