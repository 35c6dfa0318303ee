"""The stages and links of a group named by a user, from the edges of a network."""

from collections.abc import Sequence

from ...workloads import Fault, InputError, Network, Workload, near
from .group import Link

MOST_STAGES = 8


def stages_of(network: Network, names: Sequence[str]) -> tuple[tuple[Workload, ...], tuple[Link, ...]]:
    """Return the layers of these names in the order of the network, and what they hand each other.

    Raises InputError with every fault: names that are no layers, layers that hand nothing to the others, and tensors
    between them that layers outside read.
    """
    layers = {layer.name: layer for layer, _ in network.layers}
    faults = [
        _fault(f'no layer "{name}" in {network.name}{near(name, layers)}') for name in names if name not in layers
    ]
    faults += [_fault(f"{name} is named twice") for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if not faults and not 2 <= len(names) <= MOST_STAGES:
        faults.append(_fault(f"a group has 2 to {MOST_STAGES} layers, as A+B; got {len(names)}"))
    if faults:
        raise InputError(faults)
    chosen = [name for name in layers if name in names]
    inside = [edge for edge in network.edges if edge.producer in chosen and edge.consumer in chosen]
    for name in chosen[:-1]:
        if not any(edge.producer == name for edge in inside):
            faults.append(_fault(_unlinked(network, name, chosen)))
    for edge in network.edges:
        if edge.producer in chosen[:-1] and edge.consumer not in chosen:
            rule = f"{edge.consumer}, outside the group, reads what {edge.producer} makes: it has to leave the chip"
            faults.append(_fault(rule))
    if faults:
        raise InputError(faults)
    links = tuple(
        Link(chosen.index(edge.producer), chosen.index(edge.consumer), edge.tensor, edge.ranks) for edge in inside
    )
    return tuple(layers[name] for name in chosen), links


def _unlinked(network: Network, name: str, chosen: Sequence[str]) -> str:
    if not network.edges:
        return f"{network.name} does not say what its layers hand each other: write from: {{Inputs: {name}}}"
    return f"no layer of {'+'.join(chosen)} reads what {name} makes: write from: {{Inputs: {name}}}"


def _fault(message: str) -> Fault:
    return Fault("--group", None, "", message)
