"""Bounds of the groups of a family with one choice of retained loops, for all combinations of tiles at once.

Energy and cycles of stages are the sums of stage_tables.py. A bound is of one order of the loops and of every choice of
kept tensors, each with what it moves, that have room beside what stands between stages in one step; where the choices
are many, of those of each stage apart, without the cycles of what is moved.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, pairwise, permutations, product
from math import prod

import numpy as np

from ..fusion import LoopWords, Standing
from ..mapping import Bools, Floats
from ..problem import Objective, WeightedSum
from .family import Family, LoopTable
from .kept_options import Kept, KeptOption, KeptOptions
from .stage_tables import IMPOSSIBLE, StageTables
from .tensor_words import TensorWords

MOST_CHOICES = 10**8  # choices of kept tensors times combinations of tiles that are bounded one by one


def subsets(names: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yield every set of some names."""
    yield from map(frozenset, chain.from_iterable(combinations(names, n) for n in range(len(names) + 1)))


class Grid:
    """All combinations of tiles with one choice of retained loops. Arrays are # (tile of each loop, ...)."""

    def __init__(
        self,
        family: Family,
        tables: Mapping[tuple[int, frozenset[str]], StageTables],
        retained: frozenset[str],
        check: Callable[[], None],
    ) -> None:
        """Begin; `check` is called now and then, and may raise."""
        self.family, self.tables, self.retained, self.check = family, tables, retained, check
        self.shape = tuple(len(tiles) for tiles in family.tiles)
        self.standing = Standing(family.group(), family.arch)
        self._known: dict[tuple[int, frozenset[str]], tuple[Floats, Floats]] = {}

    @cached_property
    def orders(self) -> list[tuple[str, ...]]:
        """All orders of the loops, outermost first."""
        return list(permutations(self.family.loops))

    def values(self, order: tuple[str, ...], objective: Objective | WeightedSum) -> Floats:
        """Bound the objective of each combination of tiles in an order, over all choices of kept tensors.

        It is inf where nothing fits.
        """
        least = np.full(self.shape, np.inf)
        for energy, cycles in self._choices(order):
            with np.errstate(invalid="ignore"):
                value = objective.value(energy, cycles)
            least = np.fmin(least, np.where(np.isfinite(energy), value, np.inf))
        return least

    def least_sums(self, order: tuple[str, ...], slopes: Floats) -> Floats:
        """Bound energy + slope x cycles of all combinations of tiles together, and energy and cycles by themselves.

        # (slope + 2,); inf where nothing fits
        """
        least = np.full(len(slopes) + 2, np.inf)
        distinct = self.distinct(order)
        for energy, cycles in self._choices(order):
            at = np.isfinite(energy) & distinct
            if at.any():
                pj, took = energy[at], cycles[at]
                sums = [float((pj + slope * took).min()) for slope in slopes.tolist()]
                least = np.minimum(least, [*sums, pj.min(), took.min()])
        return least

    def _choices(self, order: tuple[str, ...]) -> Iterator[tuple[Floats, Floats]]:
        """Yield bounds of energy and cycles for each choice of kept tensors, inf where nothing fits; where the choices
        are many, one for the least of each stage by itself."""
        options = {key: self._kept.of(key, order) for key in self.family.keepable()}
        choices = prod(len(own) + 1 for own in options.values())
        stages = range(len(self.family.stages))
        self._bound_stages(options)
        if choices * prod(self.shape) <= MOST_CHOICES:
            for energy, cycles in self._with_every(tuple(stages), options, order, together=True):
                yield self._where_possible(energy, cycles, order)
            return
        energy, cycles = np.zeros(self.shape), np.zeros(self.shape)
        for stage in stages:
            part_energy, part_cycles = np.full(self.shape, np.inf), np.full(self.shape, np.inf)
            for own_energy, own_cycles in self._with_every((stage,), options, order, together=False):
                part_energy, part_cycles = np.minimum(part_energy, own_energy), np.minimum(part_cycles, own_cycles)
            energy, cycles = energy + part_energy, cycles + part_cycles
        yield self._where_possible(energy, cycles, order)

    def _with_every(
        self,
        stages: Sequence[int],
        options: "Mapping[Kept, Sequence[KeptOption]]",
        order: tuple[str, ...],
        *,
        together: bool,
    ) -> Iterator[tuple[Floats, Floats]]:
        """Yield the bounds of some stages with each choice of their kept tensors."""
        keys = [key for key in options if key[0] in stages]
        for chosen in product(*([None, *options[key]] for key in keys)):
            kept = [(key, own) for key, own in zip(keys, chosen, strict=True) if own is not None]
            self.check()
            yield self._with_kept(stages, kept, order, together=together)

    def _where_possible(self, energy: Floats, cycles: Floats, order: tuple[str, ...]) -> tuple[Floats, Floats]:
        possible = np.isfinite(energy) & (energy < IMPOSSIBLE / 1e3) & (self.room[order] >= 0)
        return np.where(possible, energy, np.inf), np.where(possible, cycles, np.inf)

    def _bound_stages(self, options: "Mapping[Kept, Sequence[KeptOption]]") -> None:
        """Bound the stages with all that may be kept, one after the other: each takes much room meanwhile."""
        for stage in range(len(self.family.stages)):
            for names in subsets([name for (number, name), own in options.items() if own and number == stage]):
                self.sums(stage, names)
            self.tables[stage, frozenset()].listed.forget()

    def _with_kept(
        self,
        stages: Sequence[int],
        kept: "Sequence[tuple[Kept, KeptOption]]",
        order: tuple[str, ...],
        *,
        together: bool,
    ) -> tuple[Floats, Floats]:
        """Bound energy and cycles of some stages with these kept tensors; inf where they have no room.

        `together`: they are all kept tensors of the group, so that what they move takes cycles of its own.
        """
        energy, cycles = np.zeros(self.shape), np.zeros(self.shape)
        for stage in stages:
            names = frozenset(name for (number, name), _ in kept if number == stage)
            own = self.sums(stage, names)
            energy, cycles = energy + own[0], cycles + own[1]
        if not kept:
            return energy, cycles
        bits, every = sum((own.bits for _, own in kept), np.zeros(())), [own for _, own in kept]
        fits = bits <= self.room[order]
        moved = sum((own.energy_pj for own in every), energy)
        flows = [sum(of_all, np.zeros(())) for of_all in zip(*(own.cycles for own in every), strict=True)]
        if together and flows:
            took = np.maximum.reduce(np.broadcast_arrays(*flows))
            leak_pj = self.family.charges.leak_pj_per_cycle(self.family.arch, self.family.energies)
            moved, cycles = moved + leak_pj * took, cycles + took
        return np.where(fits, moved, np.inf), np.where(fits, cycles, np.inf)

    def sums(self, stage: int, names: frozenset[str]) -> tuple[Floats, Floats]:
        """The bounds of a stage with some tensors kept, for all combinations of tiles."""
        if (stage, names) not in self._known:
            self._known[stage, names] = self.tables[stage, names].sums(self.retained)
        return self._known[stage, names]

    def distinct(self, order: tuple[str, ...]) -> Bools:
        """Where there is such a group, and no other order or choice of retained loops is the same.

        No loop in which words are computed again stands inside one that retains, and one in which none are needed again
        does not retain. Loops of a single step stand last, in the order of the family.
        """
        pairs = zip(self.family.loops, self.family.tiles, strict=True)
        single = {loop: self._axis(loop, tiles == tiles[-1]) for loop, tiles in pairs}
        good = np.ones(self.shape, bool)
        for table in self._loop_tables:
            good &= self._axis(table.loop, table.possible)
        repeats = {loop: self._axis(loop, self.family.tables[loop, False].repeats) for loop in order}
        for loop in self.retained:
            good &= repeats[loop] & ~single[loop]
        for place, loop in enumerate(order):
            if loop not in self.retained and self.retained.intersection(order[:place]):
                good &= single[loop] | ~repeats[loop]
        for loop, inner in pairwise(order):
            late = self.family.loops.index(loop) > self.family.loops.index(inner)
            good &= ~(single[loop] & (late | ~single[inner]))
        return good

    @cached_property
    def room(self) -> dict[tuple[str, ...], Floats]:
        """By order the bits that are free beside what stands between stages in one step, at most."""
        usable = self.family.arch.levels[self.family.level].usable_bits
        if usable is None:
            return {order: np.full(self.shape, np.inf) for order in self.orders}
        return {order: usable - self._standing_bits(order) for order in self.orders}

    def _standing_bits(self, order: Sequence[str]) -> Floats:
        """Bits between stages in a step in the middle of all loops, and of what lasts, at the stage with the most."""
        lasting = self.family.reserved or (0,) * len(self.family.stages)
        totals = [np.full(self.shape, float(bits)) for bits in lasting]
        for producer, words in self._between.items():
            last = max(link.consumer for link in self.standing.group.consumers(producer))
            bits = self.standing.word_bits(producer) * words.still
            for stage, total in enumerate(totals):
                total += bits * words.most(order, before=stage < producer, after=stage > last)
        most: Floats = np.maximum.reduce(totals)
        return most

    @cached_property
    def _between(self) -> dict[int, TensorWords]:
        """The words of each tensor between stages."""
        return {
            producer: TensorWords(
                {table.loop: self._along(table, producer) for table in self._loop_tables},
                prod(int(own.lengths[0]) for i, own in enumerate(needed.ranks) if not self._moves(producer, i)),
            )
            for producer, needed in self.standing.needed.items()
        }

    def _along(self, table: LoopTable, producer: int) -> "dict[str, Floats]":
        """What a loop makes of the words of a tensor between stages, in a step in its middle, along the loop's axis."""
        loops = [own.held[producer].loops[0] for own in table.steps]
        steps = [own.trips // 2 for own in table.steps]

        def column(field: str) -> Floats:
            return np.array([_at(getattr(loop, field), step) for loop, step in zip(loops, steps, strict=True)], float)

        return {field: self._axis(table.loop, column(field)) for field in LoopWords.FIGURES}

    def _moves(self, producer: int, rank: int) -> bool:
        """Whether some loop moves a rank of what a stage makes."""
        return any(table.steps[0].between[producer].ranks[rank].loop == table.loop for table in self._loop_tables)

    def _axis[A: (Bools, Floats)](self, loop: str, column: A) -> A:
        """Lay a figure of each tile of a loop # (tile,) along its axis."""
        shape = [1] * len(self.shape)
        shape[self.family.loops.index(loop)] = len(column)
        return column.reshape(shape)

    @cached_property
    def _kept(self) -> KeptOptions:
        return KeptOptions(self.family, self.standing, self._loop_tables, self._axis)

    @cached_property
    def _loop_tables(self) -> list[LoopTable]:
        return [self.family.tables[loop, loop in self.retained] for loop in self.family.loops]


def _at(figures: "np.ndarray | int", step: int) -> int:
    return int(figures) if isinstance(figures, int) else int(figures[step])
