"""Timeloop constraints -> ours: factors, permutations, splits, keep and bypass lists.

Permutations are innermost first there: the part before `_` is innermost, the part after it outermost.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ...workloads import Keys, Workload
from ...workloads.timeloop import Reader, choices
from ..fit import known_tensors
from ..spec import Axis, FactorRule, LoopConstraint, Storage

_LOOPS = ("factors", "factors_only", "permutation", "remainders", "default_max_factor", "default_min_factor")
_MACROS = ("no_iteration_over_dataspaces", "must_iterate_over_dataspaces")
TEMPORAL_KEYS = (*_LOOPS, *_MACROS)
SPATIAL_KEYS = (*_LOOPS, *_MACROS, "split", "no_link_transfer")  # links between neighbours are not modelled at all
DATASPACE_KEYS = ("keep", "bypass", "keep_only", "bypass_only")
# They change what Timeloop counts or how the mapper is driven, and have no counterpart here.
REFUSED = (
    *("no_reuse", "no_temporal_reuse", "no_multicast_no_reduction", "rmw_first_update", "no_coalesce"),
    *("maximize_dims", "maximize_dims_capacity", "max_overbooked_proportion"),
)


@dataclass
class Constraints:
    """Reads single constraints; `workload` is needed where a list of all dims or tensors is."""

    reader: Reader
    workload: Workload | None

    def section(self, path: Keys, known: tuple[str, ...]) -> dict[str, Any]:
        """The mapping at `path`, known keys checked, those of no counterpart refused by name."""
        found = self.reader.mapping(path, (*known, *REFUSED))
        for key in REFUSED:
            if found.get(key) not in (None, [], {}):
                self.reader.fault((*path, key), f"{key} is not supported")
        return found

    def _need(self, path: Keys) -> Workload | None:
        if self.workload is None:
            self.reader.fault(path, f"{path[-1]} can only be read together with the workload")
        return self.workload

    def tensors(self, path: Keys) -> tuple[str, ...]:
        """Tensor names at `path`, `*` written out."""
        names = self.reader.words(path)
        if "*" in names:
            workload = self._need(path)
            return tuple(tensor.name for tensor in workload.tensors) if workload else ()
        known = known_tensors(self.workload) if self.workload else frozenset(names)
        for name in names:
            if name not in known:
                self.reader.fault(path, f"unknown tensor {name!r}{choices(name, sorted(known))}")
        return names

    def _fixed_by_tensors(self, path: Keys, found: dict[str, Any]) -> list[FactorRule]:
        """The dims that the two macros hold at 1."""
        ones: set[str] = set()
        for macro in _MACROS:
            if found.get(macro) is None:
                continue
            names, workload = self.tensors((*path, macro)), self._need((*path, macro))
            if workload:
                dims = {dim for tensor in workload.tensors if tensor.name in names for dim in tensor.dims}
                ones |= dims if macro == _MACROS[0] else set(workload.dims) - dims
        return [FactorRule(dim, "=", 1) for dim in sorted(ones)]

    def _defaults(self, path: Keys, rules: list[FactorRule]) -> list[FactorRule]:
        """default_max_factor and default_min_factor, for the dims without a rule of their own."""
        found: list[FactorRule] = []
        for key, op in (("default_max_factor", "<="), ("default_min_factor", ">=")):
            bound = self.reader.integer((*path, key))
            workload = self._need((*path, key)) if bound is not None else None
            if workload:
                own = {rule.dim for rule in rules if rule.op in ("=", op)}
                # `op` is one of the two literals
                found += [FactorRule(dim, op, bound) for dim in workload.dims if dim not in own]  # type: ignore[arg-type]
        return found

    def _rules(self, path: Keys, found: dict[str, Any]) -> tuple[list[FactorRule], tuple[str, ...] | None]:
        """The factor rules of one constraint, and the only dims allowed (None: all)."""
        rules: list[FactorRule] = []
        dims = None
        for key in ("factors", "factors_only"):
            at = (*path, key)
            for dim, op, bound, residual in self.reader.factors(at):
                if residual is not None:
                    self.reader.fault(at, f"a constraint has no residual, got {dim}={bound},{residual}")
                if bound == 0 and op != "=":
                    self.reader.fault(at, f"a bound must be at least 1, got {dim}{op}0")
                rules.append(FactorRule(dim, op, bound or None))  # type: ignore[arg-type]
            if key == "factors_only" and found.get(key) is not None:
                dims = tuple(dict.fromkeys(rule.dim for rule in rules))
        rules += self._fixed_by_tensors(path, found)
        rules += self._defaults(path, rules)
        return self.consistent(path, rules), dims

    def consistent(self, path: Keys, rules: Iterable[FactorRule]) -> list[FactorRule]:
        """The rules, each once; two values for one dim and operator are a fault."""
        first: dict[tuple[str, str], FactorRule] = {}
        for rule in rules:
            known = first.setdefault((rule.dim, rule.op), rule)
            if known != rule:
                self.reader.fault(path, f"two rules for one dim: {known} and {rule}")
        return list(first.values())

    def _remainders(self, path: Keys) -> bool | None:
        bound = self.reader.integer((*path, "remainders"), least=0)
        return None if bound is None else bound > 1

    def temporal(self, path: Keys, known: tuple[str, ...] = ()) -> LoopConstraint:
        """The constraint on a level's temporal loops."""
        found = self.section(path, (*known, *TEMPORAL_KEYS))
        rules, dims = self._rules(path, found)
        order = self.reader.permutation((*path, "permutation"), self.workload.dims if self.workload else ())
        cut = order.index("_") if "_" in order else len(order)
        return LoopConstraint(
            factors=tuple(rules),
            dims=dims,
            remainders=self._remainders(path),
            innermost=order[:cut][::-1],
            outermost=order[cut + 1 :][::-1],
        )

    def spatial(self, path: Keys, axes: tuple[Axis, ...], known: tuple[str, ...] = ()) -> tuple[LoopConstraint, ...]:
        """The constraints on `axes`, one each. The first `split` dims of the permutation go on X, the rest on Y."""
        found = self.section(path, (*known, *SPATIAL_KEYS))
        rules, dims = self._rules(path, found)
        ones = all(rule.value == 1 for rule in rules if rule.op != ">=")
        if not axes:
            if not ones or any(rule.op == ">=" for rule in rules):
                self.reader.fault(path, "there is no fan-out here for spatial loops")
            return ()
        if len({axis.mesh for axis in axes}) < len(axes):
            names = ", ".join(axis.name for axis in axes)
            self.reader.fault(path, f"several axes share a mesh: name the axis as the target, one of {names}")
            return (LoopConstraint(),) * len(axes)
        base = LoopConstraint(factors=tuple(rules), dims=dims, remainders=self._remainders(path))
        split = self.reader.integer((*path, "split"), least=0)
        if split is not None:
            return self._split(path, split, base, axes)
        if len(axes) > 1 and not ones:
            self.reader.fault(path, "with meshX and meshY a split must say on which of them each dim goes")
        return (base,) * len(axes)

    def _split(
        self, path: Keys, split: int, base: LoopConstraint, axes: tuple[Axis, ...]
    ) -> tuple[LoopConstraint, ...]:
        dims = self.workload.dims if self.workload else ()
        listed = self.reader.permutation((*path, "permutation"), dims)
        if "_" in listed:
            self.reader.fault((*path, "permutation"), "a spatial permutation has no _")
        full = (*listed, *(dim for dim in dims if dim not in listed))
        # Without the workload the dims not listed are unknown: they follow the listed ones, on Y,
        # and where the split reaches beyond the list, on X.
        beyond = not dims and split > len(listed)
        on_x, on_y = full[:split], full[split:]
        for rule in base.factors:
            mesh = "X" if rule.dim in on_x or beyond else "Y"
            if rule.value != 1 and mesh not in {axis.mesh for axis in axes}:
                self.reader.fault(
                    path, f"split {split} puts {rule.dim} on mesh {mesh}, but there is no such axis ({rule})"
                )
        found = []
        side: tuple[str, ...] | None
        for axis in axes:
            if beyond:
                side, own = None if axis.mesh == "X" else (), base.factors if axis.mesh == "X" else ()
            elif axis.mesh == "X":
                side, own = on_x, tuple(rule for rule in base.factors if rule.dim in on_x)
            else:
                side = on_y if dims else None
                own = tuple(rule for rule in base.factors if rule.dim not in on_x)
                own += () if dims else tuple(FactorRule(dim, "=", 1) for dim in on_x)
            if base.dims is not None:
                side = base.dims if side is None else tuple(dim for dim in side if dim in base.dims)
            found.append(replace(base, factors=own, dims=side))
        return tuple(found)

    def dataspace(self, path: Keys, known: tuple[str, ...] = ()) -> tuple[frozenset[str], frozenset[str]]:
        """The tensors that must be kept, and those that must be bypassed."""
        found = self.section(path, (*known, *DATASPACE_KEYS))
        keep, bypass = set(self.tensors((*path, "keep"))), set(self.tensors((*path, "bypass")))
        for key, own, other in (("keep_only", keep, bypass), ("bypass_only", bypass, keep)):
            if found.get(key) is not None:
                names, workload = self.tensors((*path, key)), self._need((*path, key))
                own |= set(names)
                other |= {tensor.name for tensor in workload.tensors} - own if workload else set()
        for name in sorted(keep & bypass):
            self.reader.fault(path, f"{name} is both kept and bypassed")
        return frozenset(keep), frozenset(bypass - keep)

    def merged(self, path: Keys, old: LoopConstraint, new: LoopConstraint) -> LoopConstraint:
        """Both constraints at once; where they contradict each other, a fault."""
        for name in ("innermost", "outermost", "remainders"):
            one, two = getattr(old, name), getattr(new, name)
            if one not in (None, ()) and two not in (None, ()) and one != two:
                self.reader.fault(path, f"{name} is constrained twice: {one} and {two}")
        dims = new.dims if old.dims is None else old.dims
        if old.dims is not None and new.dims is not None:
            dims = tuple(dim for dim in old.dims if dim in new.dims)
        return LoopConstraint(
            factors=tuple(self.consistent(path, (*old.factors, *new.factors))),
            dims=dims,
            remainders=old.remainders if new.remainders is None else new.remainders,
            outermost=old.outermost or new.outermost,
            innermost=old.innermost or new.innermost,
            max_loops=old.max_loops if new.max_loops is None else new.max_loops,
            min_utilization=max(old.min_utilization, new.min_utilization),
        )


def keeping(
    reader: Reader, path: Keys, level: Storage, keep: frozenset[str], bypass: frozenset[str], outermost: bool
) -> Storage:
    """`level` with more tensors to keep and to bypass; contradictions are faults."""
    keep, bypass = level.keep | keep, level.bypass | bypass
    for name in sorted(keep & bypass):
        reader.fault(path, f"{name} is both kept and bypassed at {level.name}")
    if outermost and bypass:
        reader.fault(
            path, f"the outermost level {level.name} keeps every tensor, got bypass {', '.join(sorted(bypass))}"
        )
    return replace(level, keep=keep, bypass=bypass)
