"""Constraints of an architecture on tensors and dims, where layers hold tensors in block-scaled formats."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from math import gcd

from ...workloads import Workload
from ...workloads.block_scales import blocks_of
from ..loop_constraint import FactorRule, LoopConstraint
from ..spec import Architecture, Storage


def with_scales(arch: Architecture, layers: Iterable[Workload]) -> Architecture:
    """The same with what it says of a tensor said of its scales, and of a dim K of its blocks, K_blocks, too.

    Scales are bypassed where their tensor is, unless the level names them; where it is kept the mapper chooses, as a
    register for one word of a tensor has no room for a scale. A list of dims with K has K_blocks before it. Where a
    bound of K is to be the full size, so is that of K_blocks. Any other rule is one on the product of both bounds:
    it becomes rules that each such product meets. What names K_blocks itself stays as it is.
    """
    scales, blocks, plain = dict[str, str](), dict[str, int](), set[str]()
    for layer in layers:
        scales |= {tensor.scale_of: tensor.name for tensor in layer.tensors if tensor.scale_of}
        blocks |= {dim: layer.size(dim) for dim in layer.block_dims}
        plain.update(set(layer.dims) - layer.block_dims)
    if not scales:
        return arch
    divided = {dim: 0 if dim in plain else size for dim, size in blocks.items()}
    return replace(arch, levels=tuple(_level(level, scales, divided) for level in arch.levels))


def _level(level: Storage, scales: Mapping[str, str], blocks: Mapping[str, int]) -> Storage:
    said = level.keep | level.bypass | level.resident
    more = {own for tensor, own in scales.items() if own not in said and tensor in level.bypass}
    return replace(
        level,
        bypass=level.bypass.union(more),
        temporal=_constraint(level.temporal, blocks),
        fanout=tuple(replace(axis, constraint=_constraint(axis.constraint, blocks)) for axis in level.fanout),
    )


def _constraint(loops: LoopConstraint, blocks: Mapping[str, int]) -> LoopConstraint:
    named = {*(rule.dim for rule in loops.factors), *(loops.dims or ()), *loops.outermost, *loops.innermost}
    divided = frozenset(dim for dim in blocks if blocks_of(dim) not in named)
    rules = [new for own in loops.factors for new in (_rules(own, blocks[own.dim]) if own.dim in divided else [own])]
    return replace(
        loops,
        factors=tuple(dict.fromkeys(rules)),
        dims=None if loops.dims is None else _both(loops.dims, divided),
        outermost=_both(loops.outermost, divided),
        innermost=_both(loops.innermost, divided),
    )


def _rules(own: FactorRule, block: int) -> list[FactorRule]:
    """Rules on the bounds of a dim and of its blocks; `block`: its elements, 0 where some layers have the dim whole."""
    number, value = blocks_of(own.dim), own.value
    if value is None or not block or value <= block:  # within a block; or all
        one = value and 1
        return [own] if own.op == ">=" and value is not None else [own, replace(own, dim=number, value=one)]
    if own.op == "=":
        inside = gcd(value, block)
        return [replace(own, value=inside), replace(own, dim=number, value=value // inside)]
    if own.op == "<=":
        return [replace(own, dim=number, value=value // block)]
    return [replace(own, value=block), replace(own, dim=number, value=-(-value // block))]


def _both(dims: tuple[str, ...], divided: Collection[str]) -> tuple[str, ...]:
    return tuple(own for dim in dims for own in ((blocks_of(dim), dim) if dim in divided else (dim,)))
