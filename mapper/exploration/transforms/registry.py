"""The table of transformations of workloads into others that compute the same."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from ....arch import Architecture
from ....workloads import Network, Workload
from .im2col import Im2col
from .padding import Padding


class Transformation(Protocol):
    """A way to rewrite layers such that their results stay the same."""

    @property
    def name(self) -> str:
        """The name in options and files: `pad` of `--pad` and of `PRESET+pad`."""

    def apply(self, arch: Architecture, work: Network) -> Iterator[Network]:
        """Yield alternatives to `work` that compute the same on `arch`, the most promising first.

        An alternative has at least the MACs of `work`; `ineffectual_macs` of its layers says which of them are added.
        """


# in the order in which several are applied
TRANSFORMATIONS: Mapping[str, Transformation] = {
    transformation.name: transformation for transformation in (Im2col(), Padding())
}


def chosen(**wanted: object) -> tuple[str, ...]:
    """Return the names of the transformations that are wanted, in turn; other keyword arguments are none.

    >>> chosen(pad=True, im2col=True)
    ('im2col', 'pad')
    """
    return tuple(name for name in TRANSFORMATIONS if wanted.get(name))


def transformed(arch: Architecture, work: Workload | Network, names: Iterable[str]) -> Workload | Network:
    """Apply transformations by name, in turn, and take the most promising alternative of each.

    A layer stays a layer where it becomes no network of several.
    """
    network = work if isinstance(work, Network) else Network(work.name, ((work, 1),))
    for name in names:
        network = next(TRANSFORMATIONS[name].apply(arch, network))
    if isinstance(work, Workload) and len(network.layers) == 1:
        return network.layers[0][0]
    return network
