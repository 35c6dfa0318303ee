"""Timeloop's constraints on loops: factors, permutations, splits.

Its permutations are innermost first: the part before `_` is innermost, the part after it outermost.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

from ...workloads import Keys
from ...workloads.timeloop import Reader
from ..loop_constraint import FactorRule, LoopConstraint
from ..spec import Axis
from .scope import GREEDY, Scope

_FACTORS = ("factors", "factors_only", "permutation", "remainders", "default_max_factor", "default_min_factor")
_MACROS = ("no_iteration_over_dataspaces", "must_iterate_over_dataspaces")
TEMPORAL_KEYS = (*_FACTORS, *_MACROS, *GREEDY)
SPATIAL_KEYS = (*TEMPORAL_KEYS, "split", "no_link_transfer")  # links between neighbours are not modelled at all


def temporal(scope: Scope, path: Keys, known: tuple[str, ...] = ()) -> LoopConstraint:
    """The constraint at `path` on the temporal loops of a level; `known` keys stand beside its own."""
    values = scope.section(path, (*known, *TEMPORAL_KEYS))
    rules, dims = factor_rules(scope, path, values)
    order = scope.reader.permutation((*path, "permutation"), scope.dims)
    cut = order.index("_") if "_" in order else len(order)
    return LoopConstraint(
        factors=tuple(rules),
        dims=dims,
        remainders=_remainders(scope, path),
        innermost=order[:cut][::-1],
        outermost=order[cut + 1 :][::-1],
    )


def spatial(
    scope: Scope, path: Keys, axes: tuple[Axis, ...], known: tuple[str, ...] = ()
) -> tuple[LoopConstraint, ...]:
    """The constraint at `path` for each of `axes`; `known` keys stand beside its own.

    The first `split` dims of the permutation go on X, the rest on Y.
    """
    values = scope.section(path, (*known, *SPATIAL_KEYS))
    rules, dims = factor_rules(scope, path, values)
    ones = all(rule.value == 1 for rule in rules if rule.op != ">=")
    if not axes:
        if not ones or any(rule.op == ">=" for rule in rules):
            scope.reader.fault(path, "there is no fan-out here for spatial loops")
        return ()
    if len({axis.mesh for axis in axes}) < len(axes):
        names = ", ".join(axis.name for axis in axes)
        scope.reader.fault(path, f"several axes share a mesh: name the axis as the target, one of {names}")
        return (LoopConstraint(),) * len(axes)
    base = LoopConstraint(factors=tuple(rules), dims=dims, remainders=_remainders(scope, path))
    split = scope.reader.integer((*path, "split"), least=0, names=scope.names)
    if split is not None:
        return _split(scope, path, split, base, axes)
    if len(axes) > 1 and not ones:
        return _some_split(scope, path, base, axes)
    return (base,) * len(axes)


def _some_split(scope: Scope, path: Keys, base: LoopConstraint, axes: tuple[Axis, ...]) -> tuple[LoopConstraint, ...]:
    """What of `base` holds for each axis where no split says on which of them its dims go.

    Timeloop tries all; here it is the first way that the sizes of the axes allow, X before Y. Dims without a rule may
    go on both.
    """
    rules = [rule for rule in base.factors if rule.value != 1]
    least = {rule.dim: rule.value or _size(scope, rule.dim) for rule in rules if rule.op != "<="}
    ways = list(_fitting(dict.fromkeys(rule.dim for rule in rules), least, axes))
    if not ways:
        scope.reader.fault(path, "with meshX and meshY a split must say on which of them each dim goes")
        return (base,) * len(axes)
    if len(ways) > 1:
        split = ", ".join(f"{dim} on {axis.mesh}" for dim, axis in ways[0].items())
        scope.reader.warn(path, f"has no split: {split}, of {len(ways)} ways; Timeloop tries all of them")
    constraints = []
    for axis in axes:
        own_rules = [rule for rule in base.factors if ways[0].get(rule.dim, axis) is axis]
        away = [FactorRule(dim, "=", 1) for dim, on in ways[0].items() if on is not axis]
        constraints.append(replace(base, factors=(*own_rules, *away)))
    return tuple(constraints)


def _fitting(dims: Collection[str], least: Mapping[str, int], axes: tuple[Axis, ...]) -> Iterator[dict[str, Axis]]:
    """The ways to put `dims` on `axes`, X before Y, in which each axis has room for the `least` bounds of its dims."""
    for way in product(sorted(axes, key=lambda axis: axis.mesh != "X"), repeat=len(dims)):
        put = dict(zip(dims, way, strict=True))
        if all(prod(least.get(dim, 1) for dim, on in put.items() if on is axis) <= axis.size for axis in axes):
            yield put


def _size(scope: Scope, dim: str) -> int:
    """The size of a dim of the workload; 1 where it is unknown."""
    return scope.workload.size(dim) if scope.workload and dim in scope.workload.dims else 1


def _split(
    scope: Scope, path: Keys, split: int, base: LoopConstraint, axes: tuple[Axis, ...]
) -> tuple[LoopConstraint, ...]:
    """What of `base` holds for each axis, by the dims that the split puts on its mesh."""
    dims = scope.dims
    listed = scope.reader.permutation((*path, "permutation"), dims)
    if "_" in listed:
        scope.reader.fault((*path, "permutation"), "a spatial permutation has no _")
    full = (*listed, *(dim for dim in dims if dim not in listed))
    # Without the workload the dims not listed are unknown: they follow the listed ones, on Y,
    # and where the split reaches beyond the list, on X.
    beyond = not dims and split > len(listed)
    on_x, on_y = (None, ()) if beyond else (full[:split], full[split:] if dims else None)
    meshes = {axis.mesh for axis in axes}
    for rule in base.factors:
        mesh = "X" if on_x is None or rule.dim in on_x else "Y"
        if rule.value != 1 and mesh not in meshes:
            message = f"split {split} puts {rule.dim} on mesh {mesh}, but there is no such axis ({rule})"
            scope.reader.fault(path, message)
    return tuple(_on_x(base, on_x) if axis.mesh == "X" else _on_y(base, on_x, on_y) for axis in axes)


def _on_x(base: LoopConstraint, on_x: tuple[str, ...] | None) -> LoopConstraint:
    """What of `base` holds on mesh X, where the dims `on_x` go; None: all."""
    if on_x is None:
        return base
    rules = tuple(rule for rule in base.factors if rule.dim in on_x)
    return replace(base, factors=rules, dims=_common(on_x, base.dims))


def _on_y(base: LoopConstraint, on_x: tuple[str, ...] | None, on_y: tuple[str, ...] | None) -> LoopConstraint:
    """What of `base` holds on mesh Y, where the dims `on_y` go; None: all that are not `on_x`, which then have 1."""
    if on_x is None:
        return replace(base, factors=(), dims=())
    rules = tuple(rule for rule in base.factors if rule.dim not in on_x)
    ones = tuple(FactorRule(dim, "=", 1) for dim in on_x) if on_y is None else ()
    return replace(base, factors=(*rules, *ones), dims=_common(on_y, base.dims))


def _common(first_dims: tuple[str, ...] | None, second_dims: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The dims that two constraints allow, in the order of the first; None: all."""
    if first_dims is None or second_dims is None:
        return second_dims if first_dims is None else first_dims
    return tuple(dim for dim in first_dims if dim in second_dims)


def merged(reader: Reader, path: Keys, old: LoopConstraint, new: LoopConstraint) -> LoopConstraint:
    """Both constraints at once; where they contradict each other, a fault of the constraint at `path`."""
    for name in ("innermost", "outermost", "remainders"):
        before, after = getattr(old, name), getattr(new, name)
        if before not in (None, ()) and after not in (None, ()) and before != after:
            reader.fault(path, f"{name} is constrained twice: {before} and {after}")
    return LoopConstraint(
        factors=tuple(_consistent(reader, path, (*old.factors, *new.factors))),
        dims=_common(old.dims, new.dims),
        remainders=old.remainders if new.remainders is None else new.remainders,
        outermost=old.outermost or new.outermost,
        innermost=old.innermost or new.innermost,
        max_loops=old.max_loops if new.max_loops is None else new.max_loops,
        min_utilization=max(old.min_utilization, new.min_utilization),
    )


def factor_rules(scope: Scope, path: Keys, values: dict[str, Any]) -> tuple[list[FactorRule], tuple[str, ...] | None]:
    """The factor rules of the constraint at `path`, whose keys have `values`, and the only dims allowed (None: all)."""
    rules: list[FactorRule] = []
    dims = None
    for key in ("factors", "factors_only"):
        at = (*path, key)
        for dim, op, bound, residual in scope.reader.factors(at):
            if residual is not None:
                scope.reader.fault(at, f"a constraint has no residual, got {dim}={bound},{residual}")
            if bound == 0 and op != "=":
                scope.reader.fault(at, f"a bound must be at least 1, got {dim}{op}0")
            if _over_the_size(scope, dim, op, bound):
                scope.reader.warn(at, f"{dim}{op}{bound} is over the size of {dim}: no effect, as in Timeloop")
                continue
            rules.append(FactorRule(dim, op, bound or None))  # type: ignore[arg-type]
        if key == "factors_only" and values.get(key) is not None:
            dims = tuple(dict.fromkeys(rule.dim for rule in rules))
    rules += _fixed_by_tensors(scope, path, values)
    rules += scope.greedy.get(path, ())
    rules += _defaults(scope, path, rules)
    return _consistent(scope.reader, path, rules), dims


def _over_the_size(scope: Scope, dim: str, op: str, bound: int) -> bool:
    """Whether no mapping can have a bound that a rule asks for; Timeloop then forgets the rule."""
    workload = scope.workload
    return workload is not None and op != "<=" and dim in workload.dims and bound > workload.size(dim)


def _fixed_by_tensors(scope: Scope, path: Keys, values: dict[str, Any]) -> list[FactorRule]:
    """The rules of the dims that the two macros hold at 1."""
    ones: set[str] = set()
    for macro in _MACROS:
        if values.get(macro) is None:
            continue
        names, workload = scope.tensors((*path, macro)), scope.needed((*path, macro))
        if workload:
            dims = {dim for tensor in workload.tensors if tensor.name in names for dim in tensor.dims}
            ones |= dims if macro == _MACROS[0] else set(workload.dims) - dims
    return [FactorRule(dim, "=", 1) for dim in sorted(ones)]


def _defaults(scope: Scope, path: Keys, rules: list[FactorRule]) -> list[FactorRule]:
    """The rules of `default_max_factor` and `default_min_factor`, for the dims without a rule of their own."""
    defaults: list[FactorRule] = []
    for key, op in (("default_max_factor", "<="), ("default_min_factor", ">=")):
        bound = scope.reader.integer((*path, key))
        workload = scope.needed((*path, key)) if bound is not None else None
        if workload:
            own = {rule.dim for rule in rules if rule.op in ("=", op)}
            # `op` is one of the two literals
            defaults += [FactorRule(dim, op, bound) for dim in workload.dims if dim not in own]  # type: ignore[arg-type]
    return defaults


def _consistent(reader: Reader, path: Keys, rules: Iterable[FactorRule]) -> list[FactorRule]:
    """The rules, each once; two values for one dim and operator are a fault."""
    first: dict[tuple[str, str], FactorRule] = {}
    for rule in rules:
        known = first.setdefault((rule.dim, rule.op), rule)
        if known != rule:
            reader.fault(path, f"two rules for one dim: {known} and {rule}")
    return list(first.values())


def _remainders(scope: Scope, path: Keys) -> bool | None:
    """Whether `remainders` allows bounds that do not divide; None where it does not stand at `path`."""
    bound = scope.reader.integer((*path, "remainders"), least=0)
    return None if bound is None else bound > 1
