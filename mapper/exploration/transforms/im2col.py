"""im2col lays the windows of a convolution out as rows of a matrix: its reduction has one dim in place of three."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from ....arch import Architecture
from ....workloads import Network, Rank, Tensor, Term, Workload


@dataclass(frozen=True)
class Im2col:
    """The transformation that unrolls the windows of every convolution; other layers stay as they are."""

    name: str = "im2col"

    def apply(self, arch: Architecture, work: Network) -> Iterator[Network]:
        """Yield the network of matrix products, the only alternative."""
        yield replace(work, layers=tuple((unrolled(layer), count) for layer, count in work.layers))


def unrolled(workload: Workload) -> Workload:
    """Put the dims of the reduction, C, R and S, together in the first of them; the others stay with size 1.

    The inputs become a matrix of a row for each output pixel, in which words of overlapping windows repeat, and what a
    stride leaves out is missing. MACs and outputs are the same. A layer without windows, or in groups, stays as it is.
    """
    reduced = [dim for dim in workload.dims if dim not in workload.output.dims]
    inputs = [tensor for tensor in workload.tensors if not tensor.output]
    if not _unrolls(workload, inputs, reduced):
        return workload
    plain = [rank for tensor in inputs if _slides(tensor) for rank in tensor.ranks]  # C among them, unlike R and S
    first = next((dim for dim in reduced if (Term(dim),) in plain), reduced[0])
    ones = dict.fromkeys(reduced, 1) | {first: prod(workload.size(dim) for dim in reduced)}
    sizes = tuple(ones.get(dim, size) for dim, size in zip(workload.dims, workload.sizes, strict=True))
    tensors = tuple(_matrix(tensor, reduced, first) if _slides(tensor) else tensor for tensor in workload.tensors)
    return replace(workload, sizes=sizes, tensors=tensors).transformed("im2col")


def _unrolls(workload: Workload, inputs: list[Tensor], reduced: list[str]) -> bool:
    """Whether some of the inputs has windows, and all have the whole reduction; a layer in groups is no product."""
    if not any(map(_slides, inputs)) or not reduced:
        return False
    return not _grouped(workload) and all(tensor.dims.issuperset(reduced) for tensor in inputs)


def _grouped(workload: Workload) -> bool:
    """Whether some dim divides all tensors, as groups do."""
    return any(
        size > 1 and all(dim in tensor.dims for tensor in workload.tensors)
        for dim, size in zip(workload.dims, workload.sizes, strict=True)
    )


def _slides(tensor: Tensor) -> bool:
    return any(len(rank) > 1 for rank in tensor.ranks)


def _matrix(tensor: Tensor, reduced: list[str], first: str) -> Tensor:
    """The same tensor with a plain rank for each dim of the outputs, and one for the whole reduction."""
    pixels: list[Rank] = [(Term(term.dim),) for rank in tensor.ranks for term in rank if term.dim not in reduced]
    return replace(tensor, ranks=(*pixels, (Term(first),)))
