"""Tensors in block-scaled formats (OCP Microscaling): elements of few bits, and a tensor of scales beside them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from ..checking import Section
from ..faults import Fault, InputError
from ..named_shapes import SHAPES
from ..reading import Document, Keys, near
from ..spec import Rank, Tensor, Term, Workload


@dataclass(frozen=True)
class BlockFormat:
    """A format whose elements share a scale, block by block."""

    element_bits: int
    block: int = 32  # elements of one scale
    scale_bits: int = 8


# the concrete formats of the OCP Microscaling Formats (MX) Specification, version 1.0, section 5
FORMATS: Mapping[str, BlockFormat] = {
    "mxfp4": BlockFormat(4),
    "mxfp6": BlockFormat(6),
    "mxfp8": BlockFormat(8),
    "mxint8": BlockFormat(8),
}


class BlockScaled(Section):
    """How a tensor is held: the format of its blocks, and the dim along which a block runs."""

    format: str
    along: str | None = None  # None: the first dim of the tensor that is summed over


def blocks_of(dim: str) -> str:
    """The name of the dim that counts the blocks of `dim`, which itself counts the elements of a block then."""
    return f"{dim}_blocks"


def scales_of(tensor: str) -> str:
    """The name of the tensor that has the scales of `tensor`."""
    return f"{tensor}Scales"


def block_scaled(workload: Workload, said: Mapping[str, BlockScaled]) -> tuple[Workload | None, list[tuple[Keys, str]]]:
    """The workload with tensors in block-scaled formats, and the faults, by their paths below `said`.

    A dim K along which blocks run becomes two: K_blocks, and K, the elements of a block. In a tensor both are ranks, so
    its words stay what they are; in a window they are a sum. The scales of a tensor are a tensor of its ranks but K.
    """
    faults = [fault for tensor, own in said.items() for fault in _faults(workload, tensor, own)]
    if faults:
        return None, faults
    along = {tensor: _along(workload, tensor, own) for tensor, own in said.items()}
    blocks = {along[tensor]: FORMATS[own.format].block for tensor, own in said.items()}
    for dim, block in blocks.items():
        workload = _divided(workload, dim, block)
    tensors: list[Tensor] = []
    for tensor in workload.tensors:
        own = FORMATS[said[tensor.name].format] if tensor.name in said else None
        tensors.append(tensor if own is None else replace(tensor, word_bits=own.element_bits))
        if own is not None:
            ranks = tuple(rank for rank in tensor.ranks if rank != (Term(along[tensor.name]),))
            name = scales_of(tensor.name)
            tensors.append(Tensor(name, ranks, word_bits=own.scale_bits, scale_of=tensor.name))
    return replace(workload, tensors=tuple(tensors)), []


def joined_ranks(workload: Workload, tensor: Tensor) -> list[Rank]:
    """The ranks of a tensor with one rank for each dim that is divided in blocks: K_blocks * 32 + K."""
    blocks = {blocks_of(dim): dim for dim in workload.block_dims}
    ranks = [rank for rank in tensor.ranks if not (len(rank) == 1 and blocks.get(rank[0].dim) in tensor.dims)]
    whole = {dim: (Term(name, workload.size(dim)), Term(dim)) for name, dim in blocks.items()}
    return [whole[rank[0].dim] if len(rank) == 1 and rank[0].dim in whole else rank for rank in ranks]


def scaled(document: Document, at: Keys, workload: Workload, said: Mapping[str, BlockScaled]) -> Workload:
    """The layer at `at` with the tensors that its key `block_scaled` names. Raises InputError with every fault."""
    work, faults = block_scaled(workload, said)
    if work is None:
        raise InputError(document.fault((*at, "block_scaled", *path), message) for path, message in faults)
    return work


def scaled_by_default(
    document: Document, at: Keys, workload: Workload, said: Mapping[str, BlockScaled], made: Collection[str]
) -> Workload:
    """The layer at `at` with the scales that its network says, of inputs that nobody in the network makes.

    `made` are those that somebody makes. A tensor with a width of its own stays as it is. Raises InputError.
    """
    plain = {own.name for own in workload.tensors if not own.output and own.word_bits is None and own.name not in made}
    work, faults = block_scaled(workload, {tensor: own for tensor, own in said.items() if tensor in plain})
    if work is None:
        leave = f"or write block_scaled: {{}} at {workload.name}, which leaves it without scales"
        raise InputError(document.fault(at, f"block_scaled of the network: {rule}; {leave}") for _, rule in faults)
    return work


def unused_default(document: Document, said: Mapping[str, BlockScaled], layers: Collection[Workload]) -> list[Fault]:
    """The faults of tensors that a network says to be scaled, and that none of its layers has so."""
    used = {tensor.scale_of for work in layers for tensor in work.tensors}
    rule = "no layer reads a tensor of this name that nobody in the network makes and that has no width of its own"
    return [document.fault(("block_scaled", tensor), rule) for tensor in said if tensor not in used]


def _along(workload: Workload, tensor: str, own: BlockScaled) -> str:
    """The dim along which blocks run; empty where none is said and the tensor is not summed over."""
    ranks = next(one for one in workload.tensors if one.name == tensor).ranks
    plain = [rank[0].dim for rank in ranks if len(rank) == 1 and rank[0].coef == 1]
    summed = [dim for dim in plain if dim not in workload.output.dims]
    return own.along if own.along is not None else next(iter(summed), "")


def _faults(workload: Workload, tensor: str, own: BlockScaled) -> Iterator[tuple[Keys, str]]:
    tensors = {one.name: one for one in workload.tensors}
    if own.format not in FORMATS:
        yield (tensor, "format"), f"must be one of {', '.join(FORMATS)}; got {own.format!r}{near(own.format, FORMATS)}"
    if tensor not in tensors:
        inputs = [name for name, one in tensors.items() if not one.output]
        yield (tensor,), f'unknown tensor "{tensor}"; {workload.name or "the layer"} reads {", ".join(inputs)}'
        return
    if tensors[tensor].output:
        yield (tensor,), f"{tensor} is the output: only what is read has scales, as a layer makes a single tensor"
        return
    if tensors[tensor].word_bits is not None:
        yield (tensor,), f"{tensor} has word_bits of its own already; the format says how wide its elements are"
    if scales_of(tensor) in tensors:
        yield (tensor,), f"{scales_of(tensor)}, the name of the scales, is that of another tensor"
    yield from _dim_faults(workload, tensors[tensor], own)


def _dim_faults(workload: Workload, tensor: Tensor, own: BlockScaled) -> Iterator[tuple[Keys, str]]:
    path: Keys = (tensor.name, "along") if own.along is not None else (tensor.name,)
    dim = _along(workload, tensor.name, own)
    plain = [rank[0].dim for rank in tensor.ranks if len(rank) == 1 and rank[0].coef == 1]
    have = f"{tensor.name} has {', '.join(plain) or 'windows alone'}"
    if not dim:
        yield path, f"along is expected, a dim whose blocks share a scale: no dim is summed over; {have}"
    elif dim not in plain:
        what = "is of a window" if dim in tensor.dims else "is no dim of the tensor"
        yield path, f"{dim} {what}; blocks run along a dim of a rank of its own: {have}{near(dim, plain)}"
    elif dim == "M" and workload.shape in SHAPES and SHAPES[workload.shape].transposed:
        yield path, "M has the channels of all phases of a transposed convolution: no block runs along it"
    elif blocks_of(dim) in workload.dims:
        yield path, f"{blocks_of(dim)}, the name for the number of blocks, is that of another dim"
    elif own.format in FORMATS and (size := workload.size(dim)) % FORMATS[own.format].block:
        block = FORMATS[own.format].block
        more = -(-size // block) * block
        yield path, f"{dim} must be a multiple of {block}, got {size}: pad it with zeros to {more}"


def _divided(workload: Workload, dim: str, block: int) -> Workload:
    """The same with `dim` as two dims: its blocks, and the elements of a block."""
    at = workload.dims.index(dim)
    dims = (*workload.dims[:at], blocks_of(dim), *workload.dims[at:])
    sizes = (*workload.sizes[:at], workload.sizes[at] // block, block, *workload.sizes[at + 1 :])
    tensors = tuple(
        replace(tensor, ranks=tuple(own for rank in tensor.ranks for own in _ranks(rank, dim, block)))
        for tensor in workload.tensors
    )
    return replace(workload, dims=dims, sizes=sizes, tensors=tensors)


def _ranks(rank: Rank, dim: str, block: int) -> Iterator[Rank]:
    """A rank once `dim` is divided: two ranks where it is that dim alone, a longer sum in a window."""
    if rank == (Term(dim),):
        yield (Term(blocks_of(dim)),)
        yield rank
        return
    own = [(Term(blocks_of(dim), block * term.coef), term) if term.dim == dim else (term,) for term in rank]
    yield tuple(term for terms in own for term in terms)
