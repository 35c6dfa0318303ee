"""im2col writes a convolution as a matrix product: C, R and S become one dim, and so do N, P and Q."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from ....arch import Architecture
from ....workloads import Network, Workload, shaped


@dataclass(frozen=True)
class Im2col:
    """The transformation that writes every convolution so; other layers stay as they are."""

    name: str = "im2col"

    def apply(self, arch: Architecture, work: Network) -> Iterator[Network]:
        """Yield the network of products, the only alternative."""
        yield replace(work, layers=tuple((flattened(layer), count) for layer, count in work.layers))


def flattened(workload: Workload) -> Workload:
    """Write a convolution as a product of the same MACs; with groups, as a batched one.

    Words of the inputs that several windows share are words of their own: the matrix has a row for each pixel and a
    column for each weight of a filter (Chellapilla et al., IWFHR 2006).

    >>> from ruby_map.workloads import load_workload
    >>> dict(zip(*[(layer := flattened(load_workload("alexnet/conv1"))).dims, layer.sizes]))
    {'M': 96, 'N': 3025, 'K': 363}
    """
    if workload.shape != "conv2d":
        return workload
    sizes = {name: prod(map(workload.size, dims)) for name, dims in (("M", "M"), ("N", "NPQ"), ("K", "CRS"))}
    groups = workload.size("G")
    bits = {tensor.name: tensor.word_bits for tensor in workload.tensors if tensor.word_bits is not None}
    if groups > 1:
        product = shaped("batched_matmul", workload.name, B=groups, word_bits=bits, **sizes)
    else:
        product = shaped("matmul", workload.name, word_bits=bits, **sizes)
    return replace(product, ineffectual_macs=workload.ineffectual_macs)
