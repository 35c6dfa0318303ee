"""What a mapspace is made of before its chains are counted together: remainders, loop orders, limits on bounds."""

from dataclasses import dataclass, replace
from typing import Self

from ...arch import Architecture, of_stacks, stacked
from ...workloads import Workload
from .chains import ChainSpace
from .constraints import Rules
from .construction import Construction
from .orders import Orders, level_orders
from .presets import Preset


@dataclass(frozen=True, eq=False)
class Frame:
    """The machine with a level for each tensor of an uneven memory, and the limits of a mapspace on it."""

    arch: Architecture
    construction: Construction
    reason: str  # why slots may have remainders or not
    temporal: tuple[int, ...]  # the slots of temporal loops
    orders: Orders
    rules: Rules

    @classmethod
    def of(
        cls,
        arch: Architecture,
        workload: Workload,
        preset: Preset | tuple[bool, ...],
        *,
        distinct: bool = False,
        even: bool = False,
    ) -> Self:
        """Make that of a mapspace; see Mapspace. Raises InputError where its constraints contradict each other."""
        levels = stacked(arch, workload)
        construction = Construction(levels, workload, distinct)
        construction.check_names()
        flags = preset if isinstance(preset, str) else of_stacks(preset, arch, levels)
        remainders, reason = construction.remainders(flags)
        temporal = tuple(index for index, slot in enumerate(levels.slots) if not slot.spatial)
        plain = construction.rules(remainders, even=even)
        orders = Orders(level_orders(levels, workload, plain.loops), temporal, distinct)
        rules = replace(plain, distinct=orders.free(len(levels.slots))) if distinct else plain
        return cls(levels, construction, reason, temporal, orders, rules)

    def chains(self, d: int) -> ChainSpace:
        """List the chains of dim number d by itself, whatever the others. Raises InputError where it has none."""
        return self.construction.chain_space(self.rules, d)
