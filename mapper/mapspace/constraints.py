"""An architecture's loop constraints, read as limits on the bounds of one workload, and the conflicts among them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Literal

from ...arch import Architecture, FactorRule, Slot
from ...workloads import Workload
from .bound_classes import ALONE, Width, class_starts
from .chain_steps import SlotRule
from .chains import ProductRule
from .quotients import TooLargeError


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit at one slot, or at those of a stack: on the bound of one dim, or (dim None) on all dims together."""

    # size: that of an axis, which no constraint can change; product: of the bounds at several slots, those of a stack
    kind: Literal["bound", "size", "loops", "utilization", "product"]
    slot: int
    text: str  # as a user knows it: "C<=4 at glb.X"
    dim: int | None = None
    lo: int = 1
    hi: int | None = None  # kinds bound, size, product: lo <= P <= hi; loops: at most so many bounds over 1
    least: int = 0  # kind utilization: of the product of the bounds
    more: tuple[int, ...] = ()  # further slots, of a stack or of all levels

    @property
    def slots(self) -> tuple[int, ...]:
        """All slots that it is about."""
        return (self.slot, *self.more)


@dataclass(frozen=True, slots=True)
class SharedLimit:
    """A quantity that the dims share at one slot: the product of their bounds, or how many are over 1.

    Of a stack, or of all levels, it may be how many bounds are over 1 at all its slots.
    """

    kind: Literal["product", "loops"]
    slot: int
    members: frozenset[int]  # the dims that count
    most: int
    least: int = 0
    orders: bool = False  # loops: their number decides how many distinct loop orders there are
    more: tuple[int, ...] = ()  # loops: further slots, of a stack

    @property
    def slots(self) -> tuple[int, ...]:
        """All slots that it is about."""
        return (self.slot, *self.more)

    @property
    def unlimited(self) -> bool:
        """Whether there may be any number of loops from `least` on, and it does not matter how many."""
        return self.kind == "loops" and not self.orders and self.most >= len(self.members) * len(self.slots)

    @property
    def values(self) -> range:
        return range(1, self.most + 1) if self.kind == "product" else range(self.most + 1)


def limits(arch: Architecture, workload: Workload) -> tuple[Limit, ...]:
    """List every limit of the architecture on the dims of `workload`; limits on other dims are ignored."""
    listed: list[Limit] = []
    more = {slots[0]: slots[1:] for slots in temporal_stacks(arch)}
    inner = {slot for slots in more.values() for slot in slots}  # the first slot of a stack stands for all
    for index, slot in enumerate(arch.slots):
        stack, rules = more.get(index, ()), () if index in inner else slot.constraint.factors
        listed += _dim_limits(index, slot, workload, rules, stack)
        if slot.axis is None and slot.constraint.max_loops is not None and index not in inner:
            text = f"at most {slot.constraint.max_loops} loops at {slot.name}"
            listed.append(Limit("loops", index, text, hi=slot.constraint.max_loops, more=stack))
        if slot.axis is not None and slot.constraint.min_utilization > 0:
            text = f"a utilization of at least {slot.constraint.min_utilization:g} of {slot.name}"
            listed.append(Limit("utilization", index, text, least=slot.least))
    if arch.max_loops is not None:
        first, *other_slots = (index for index, slot in enumerate(arch.slots) if not slot.spatial)
        text = f"at most {arch.max_loops} temporal loops"
        listed.append(Limit("loops", first, text, hi=arch.max_loops, more=tuple(other_slots)))
    return tuple(listed)


def _dim_limits(
    index: int, slot: Slot, workload: Workload, rules: Sequence[FactorRule], stack: tuple[int, ...]
) -> Iterator[Limit]:
    """List the limits of a slot on single dims, dim by dim: by `rules`, those of all slots of a stack; by the dims that
    are allowed; by the size of an axis."""
    allowed = slot.constraint.dims
    for d, (dim, size) in enumerate(zip(workload.dims, workload.sizes, strict=True)):
        for rule in rules:
            if rule.dim == dim:
                lo, hi = _ends(rule, size)
                yield Limit("product" if stack else "bound", index, f"{rule} at {slot.name}", d, lo, hi, more=stack)
        if allowed is not None and dim not in allowed:
            names = ", ".join(allowed) or "none"
            yield Limit("bound", index, f"the dims allowed at {slot.name} ({names})", d, 1, 1)
        if slot.axis is not None:
            yield Limit("size", index, f"the size {slot.axis.size} of {slot.name}", d, 1, slot.axis.size)


def _ends(rule: FactorRule, size: int) -> tuple[int, int | None]:
    """The least and the most that a rule allows of a dim's `size`; None: any."""
    value = size if rule.value is None else rule.value
    return 1 if rule.op == "<=" else value, None if rule.op == ">=" else value


def even_limits(arch: Architecture, workload: Workload) -> tuple[Limit, ...]:
    """List the limits that leave even placement of stacks: all loops of a memory stand below all its tensors."""
    inside = [slot for slots in temporal_stacks(arch) for slot in slots[:-1]]
    return tuple(
        Limit("bound", slot, f"even placement at {arch.slots[slot].name}", d, 1, 1)
        for slot in inside
        for d in range(len(workload.dims))
    )


def temporal_stacks(arch: Architecture) -> tuple[tuple[int, ...], ...]:
    """List the slots of the temporal loops of each stack of levels, outermost first."""
    temporal = [index for index, slot in enumerate(arch.slots) if not slot.spatial]
    return tuple(tuple(temporal[level] for level in levels) for levels in arch.stacks if len(levels) > 1)


@dataclass(frozen=True)
class Rules:
    """The limits of a mapspace over the slots, and what follows for each dim and for the dims together."""

    slots: tuple[Slot, ...]
    sizes: tuple[int, ...]
    remainders: tuple[bool, ...]  # per slot
    limits: tuple[Limit, ...]
    # per slot, the dims whose loops are ordered freely; given only to count distinct orders
    distinct: tuple[frozenset[int], ...] | None = None
    # slots of stacks at which what is kept decides whether there are no loops, or at least one
    patterned: tuple[int, ...] = ()

    def bounds(self, slot: int, dim: int) -> tuple[int, int]:
        """The least and the largest bound of `dim` at `slot` as far as its own limits go."""
        own = self._own.get((slot, dim), ())
        low = [limit.lo for limit in own if limit.kind != "product"]  # the other factors of a product may make it
        size = self.sizes[dim]
        return max([1, *low]), min([size, *(limit.hi or size for limit in own)])

    @cached_property
    def _own(self) -> dict[tuple[int, int], list[Limit]]:
        """The limits of a dim by itself, by slot and dim."""
        own: dict[tuple[int, int], list[Limit]] = {}
        for limit in self.limits:
            if limit.dim is not None:
                for slot in dict.fromkeys(limit.slots):
                    own.setdefault((slot, limit.dim), []).append(limit)
        return own

    @cached_property
    def loops(self) -> tuple[frozenset[int], ...]:
        """Per slot, the dims that may have a bound over 1 there."""
        every = range(len(self.sizes))
        return tuple(frozenset(d for d in every if self.bounds(s, d)[1] > 1) for s in range(len(self.slots)))

    @cached_property
    def shared(self) -> tuple[SharedLimit, ...]:
        """What couples the dims: only limits that the limits of each dim do not imply already."""
        return tuple(
            shared for index in range(len(self.slots)) for shared in (*self._products(index), *self._loops(index))
        )

    def with_loops(self, none: frozenset[int], needed: frozenset[int]) -> tuple[SharedLimit, ...]:
        """What couples the dims where there are no loops at the slots `none`, and at least one at each of `needed`."""
        assert none | needed <= set(self.patterned), "chains tell about loops there"
        pattern = [SharedLimit("loops", slot, self.loops[slot], 0) for slot in sorted(none)]
        pattern += [
            SharedLimit("loops", slot, self.loops[slot], len(self.loops[slot]), least=1) for slot in sorted(needed)
        ]
        return (*self.shared, *pattern)

    def _products(self, index: int) -> list[SharedLimit]:
        axis, members = self.slots[index].axis, self.loops[index]
        if axis is None:
            return []
        least = max((limit.least for limit in self._of("utilization", index)), default=0)
        if not least and prod(self.bounds(index, dim)[1] for dim in members) <= axis.size:
            return []
        return [SharedLimit("product", index, members, axis.size, least)]

    def _loops(self, index: int) -> list[SharedLimit]:
        members, own = self.loops[index], self._of("loops", index)
        shared = [shared_limit for limit in own if limit.more for shared_limit in self._loops_of_several(limit)]
        most = min((limit.hi for limit in own if limit.hi is not None and not limit.more), default=len(members))
        free = self.distinct[index] if self.distinct else frozenset[int]()
        if len(free) > 1 and free == members:
            return [*shared, SharedLimit("loops", index, members, min(most, len(members)), orders=True)]
        if most < len(members):
            shared.append(SharedLimit("loops", index, members, most))
        return [*shared, SharedLimit("loops", index, free, len(free), orders=True)] if len(free) > 1 else shared

    def _loops_of_several(self, limit: Limit) -> list[SharedLimit]:
        """What a limit on the loops at several slots together, of a stack or of all levels, makes the dims share."""
        slots, most = limit.slots, limit.hi or 0
        if most >= sum(len(self.loops[slot]) for slot in slots):
            return []
        members = frozenset[int]().union(*(self.loops[slot] for slot in slots))
        return [SharedLimit("loops", slots[0], members, most, more=slots[1:])]

    def _of(self, kind: str, slot: int) -> list[Limit]:
        return [limit for limit in self.limits if limit.kind == kind and limit.slot == slot]

    def of_dim(self, dim: int, width: Width = ALONE) -> tuple[SlotRule, ...]:
        """The rule of `dim` at each slot, telling what the dims share there; of axes in classes of that width."""
        rules = []
        for slot in range(len(self.slots)):
            kinds: set[str] = {shared.kind for shared in self.shared if slot in shared.slots and dim in shared.members}
            kinds |= {"product"} if any(slot in rule.slots for rule in self.products(dim)) else set()
            kinds |= {"loops"} if slot in self.patterned else set()
            tell: Literal["nothing", "loop", "bound"] = (
                "bound" if "product" in kinds else "loop" if "loops" in kinds else "nothing"
            )
            axis = self.slots[slot].axis
            step = width.used if self._of("utilization", slot) else width.other
            starts = class_starts(axis.size, step) if axis and tell == "bound" else ()
            rules.append(SlotRule(*self.bounds(slot, dim), self.remainders[slot], tell, starts))
        return tuple(rules)

    def products(self, dim: int) -> tuple[ProductRule, ...]:
        """The rules of `dim` about the product of its bounds over the slots of a stack."""
        size, own = self.sizes[dim], [limit for limit in self.limits if limit.kind == "product" and limit.dim == dim]
        return tuple(ProductRule(limit.slots, limit.lo, limit.hi or size ** len(limit.slots)) for limit in own)

    def keeping(self, limits: Sequence[Limit]) -> "Rules":
        return replace(self, limits=tuple(limits))


def conflict(rules: Rules, may_drop: Callable[[Limit], bool], possible: Callable[[Rules], bool]) -> list[Limit]:
    """Find limits that exclude each other: without any of them, mappings exist, or it takes too long to say so.

    Tries to drop each limit that `may_drop` allows, in turn, and drops it for good where the rest still conflict.
    """
    limits = list(rules.limits)
    for limit in filter(may_drop, rules.limits):
        rest = [other for other in limits if other is not limit]
        with suppress(TooLargeError):  # the limit stays: the set is then perhaps not the smallest
            limits = limits if possible(rules.keeping(rest)) else rest
    return [limit for limit in limits if may_drop(limit)]
