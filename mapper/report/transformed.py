"""Layers that transformations changed before they were mapped, as text: of one, and of those of a network."""

from collections.abc import Iterable

from ...workloads import Workload, variant


def transformations(workloads: Iterable[Workload]) -> list[str]:
    """List the transformations that changed some of the layers."""
    return list(dict.fromkeys(name for workload in workloads for name in workload.transformations))


def network_title(name: str, workloads: Iterable[Workload]) -> str:
    """Return the name of a network, and what transformations made of layers: `net, layers padded`."""
    made = variant(transformations(workloads))
    return f"{name}, layers {made}" if made else name


def searched_space(mapspace: str | None, workload: Workload) -> str:
    """Name the mappings that a proof is about: `pfm`, `pfm of the padded layer`."""
    return f"{mapspace} of the {workload.variant} layer" if workload.variant else str(mapspace)
