"""Constraints of an architecture on tensors and dims, where layers hold tensors in block-scaled formats."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from ...workloads import Workload
from ...workloads.block_scales import blocks_of
from ..loop_constraint import LoopConstraint
from ..spec import Architecture, Axis, Storage


def with_scales(arch: Architecture, layers: Iterable[Workload]) -> Architecture:
    """The same with what it says of a tensor said of its scales, and of a dim K of its blocks, K_blocks, too.

    Scales are kept and bypassed where their tensor is, unless the level names them. A list of dims with K has K_blocks
    before it. Where a bound of K is to be the full size, so is that of K_blocks. Any other rule is one on the product
    of both bounds: it stays one on K, and that of K_blocks is 1 (or free, where K is to have at least so many). What
    names K_blocks itself stays as it is.
    """
    scales, dims = dict[str, str](), set[str]()
    for layer in layers:
        scales |= {tensor.scale_of: tensor.name for tensor in layer.tensors if tensor.scale_of}
        dims |= layer.block_dims
    if not scales:
        return arch
    return replace(arch, levels=tuple(_level(level, scales, dims) for level in arch.levels))


def _level(level: Storage, scales: dict[str, str], dims: Collection[str]) -> Storage:
    said = level.keep | level.bypass | level.resident
    more = {tensor: own for tensor, own in scales.items() if own not in said}
    return replace(
        level,
        keep=level.keep.union(own for tensor, own in more.items() if tensor in level.keep),
        bypass=level.bypass.union(own for tensor, own in more.items() if tensor in level.bypass),
        temporal=_constraint(level.temporal, dims),
        fanout=tuple(_axis(axis, dims) for axis in level.fanout),
    )


def _axis(axis: Axis, dims: Collection[str]) -> Axis:
    return replace(axis, constraint=_constraint(axis.constraint, dims))


def _constraint(loops: LoopConstraint, dims: Collection[str]) -> LoopConstraint:
    named = {*(rule.dim for rule in loops.factors), *(loops.dims or ()), *loops.outermost, *loops.innermost}
    divided = frozenset(dim for dim in dims if blocks_of(dim) not in named)
    rules = [replace(own, dim=blocks_of(own.dim), value=own.value and 1) for own in loops.factors if own.dim in divided]
    return replace(
        loops,
        factors=(*loops.factors, *dict.fromkeys(rules)),
        dims=None if loops.dims is None else _both(loops.dims, divided),
        outermost=_both(loops.outermost, divided),
        innermost=_both(loops.innermost, divided),
    )


def _both(dims: tuple[str, ...], divided: Collection[str]) -> tuple[str, ...]:
    return tuple(own for dim in dims for own in ((blocks_of(dim), dim) if dim in divided else (dim,)))
