"""Which tensors each level keeps: what is fixed, and every choice of the rest by number and by chance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from math import prod
from typing import Self

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Bools
from .integers import BigInts, divide

Levels = frozenset[int]


@dataclass(frozen=True, eq=False)
class _Stack:
    """A stack of levels, one memory in which each tensor may lie below other loops (arch/stacks.py).

    An option is a sequence of tensors, one for each level from some level on; the levels before are empty.
    """

    levels: range
    options: Bools  # (option, level, tensor)
    resident: Bools  # (tensor,) what the last level has beside

    @classmethod
    def of(cls, levels: range, may: Sequence[int], must: Levels, resident: Bools, *, even: bool) -> Self:
        """List the sequences, if `even` those in order, of tensors it `may` keep with all that it `must`."""
        listed = [
            sequence
            for number in range(len(must), len(may) + 1)
            for subset in combinations(may, number)
            if must <= set(subset)
            for sequence in ([subset] if even else permutations(subset))
        ]
        options = np.zeros((len(listed), len(levels), len(resident)), bool)
        for option, sequence in zip(options, listed, strict=True):
            option[range(len(levels) - len(sequence), len(levels)), sequence] = True
        options[:, -1] |= resident
        return cls(levels, options, resident)

    def pattern(self, option: Bools) -> tuple[Levels, Levels]:
        """Return the levels that have no loops with an option # (level, tensor), and those that need one.

        No loop stands in an empty level; where tensors are not in the order of the workload, one stands between them.
        """
        tensors = [int(row.argmax()) if row.any() else -1 for row in option & ~self.resident]
        idle = [level for level, tensor in zip(self.levels[:-1], tensors, strict=False) if tensor < 0]
        needed = [
            level for level, (one, other) in zip(self.levels, pairwise(tensors), strict=False) if one > other >= 0
        ]
        return frozenset(idle), frozenset(needed)

    def patterns(self) -> Iterator[tuple[Levels, Levels, Self]]:
        """Divide it by the patterns of its options."""
        by_pattern: dict[tuple[Levels, Levels], list[int]] = {}
        for i, option in enumerate(self.options):
            by_pattern.setdefault(self.pattern(option), []).append(i)
        for (idle, needed), indices in by_pattern.items():
            yield idle, needed, type(self)(self.levels, self.options[indices], self.resident)

    def places(self, keep: Bools) -> BigInts:
        """Return the option of each mapping # (mapping, level, tensor) of all levels; -1 where it is none of these."""
        block = keep[:, self.levels.start : self.levels.stop]
        matches = (block[:, None] == self.options[None]).all(axis=(2, 3))
        return np.where(matches.any(axis=1), matches.argmax(axis=1), -1)


@dataclass(frozen=True)
class Pattern:
    """Choices that have loops in the same levels of stacks: each with the same combinations of chains."""

    idle: Levels  # levels that have no loops
    needed: Levels  # levels that have at least one
    choices: "KeepChoices"

    def slots(self, temporal: Sequence[int]) -> tuple[Levels, Levels]:
        """Return the same levels by their slots, the temporal slot of each level given."""
        return frozenset(temporal[level] for level in self.idle), frozenset(temporal[level] for level in self.needed)


class KeepChoices:
    """The choices to keep or bypass that the constraints of `arch` leave for the tensors of `workload`.

    A choice of all of them has a number: its bits, the first free choice the most significant, then the option of each
    stack of levels.
    """

    def __init__(
        self, arch: Architecture, workload: Workload, stacks: Sequence[_Stack] | None = None, *, even: bool = False
    ) -> None:
        """List them; `even`: each stack has its tensors in the order of the workload only."""
        self._arch, self._workload = arch, workload
        names = [tensor.name for tensor in workload.tensors]
        may, must, stays = _allowed(arch, names)
        several = [levels for levels in arch.stacks if len(levels) > 1]
        self.stacks = stacks if stacks is not None else [
            _Stack.of(levels, np.flatnonzero(may[levels[0]] & ~stays[levels[-1]]).tolist(),
                      frozenset(np.flatnonzero(must[levels[0]] & ~stays[levels[-1]]).tolist()),
                      stays[levels[-1]], even=even)
            for levels in several
        ]  # fmt: skip
        for levels in several:
            may[levels] = must[levels] = False
        self._may, self._must = may, must
        self.free = np.argwhere(self._may & ~self._must)  # (choice, 2): level and tensor
        count = len(self.free)
        dtype = np.int64 if count < 62 else object
        self._weights: BigInts = np.array([1 << i for i in reversed(range(count))], dtype=dtype)  # (choice,)

    @property
    def number(self) -> int:
        """How many choices of all there are."""
        return (1 << len(self.free)) * self._of_stacks

    @property
    def _of_stacks(self) -> int:
        return prod(len(stack.options) for stack in self.stacks)

    @property
    def tensors(self) -> int:
        """The number of tensors."""
        return len(self._may.T)

    @property
    def most_of_tensor(self) -> int:
        """The largest number of sets of levels that may keep a tensor."""
        free: list[int] = self.free[:, 1].tolist()
        return max(1 << free.count(tensor) for tensor in range(self.tensors))

    def of_tensor(self, tensor: int) -> Bools:
        """The sets of levels that may keep a tensor, whatever is kept of the others. # (set, level)"""
        levels = self.free[self.free[:, 1] == tensor, 0]
        kept = np.repeat(self._must[None, :, tensor], 1 << len(levels), axis=0)
        kept[:, levels] = np.arange(len(kept))[:, None] >> np.arange(len(levels))[::-1] & 1
        return kept

    @property
    def patterns(self) -> list[Pattern]:
        """All choices, divided by the levels that have loops; without stacks it is one pattern."""
        if not self.stacks:
            return [Pattern(frozenset(), frozenset(), self)]
        patterns = []
        for parts in product(*(stack.patterns() for stack in self.stacks)):
            idle = frozenset[int]().union(*(none for none, _, _ in parts))
            needed = frozenset[int]().union(*(used for _, used, _ in parts))
            patterns.append(
                Pattern(idle, needed, KeepChoices(self._arch, self._workload, [stack for _, _, stack in parts]))
            )
        return patterns

    def unrank(self, numbers: BigInts) -> Bools:
        """What the choices of these numbers keep. # (number, level, tensor)"""
        options = []
        for stack in reversed(self.stacks):
            numbers, option = divide(numbers, len(stack.options))
            options.append(option.astype(np.int64))
        bits = (numbers.astype(self._weights.dtype)[:, None] & self._weights).astype(bool)
        return self._kept(bits, options[::-1])

    def rank(self, keep: Bools) -> BigInts:
        """The number of each choice # (mapping, level, tensor); ValueError for one that the constraints exclude."""
        options = [stack.places(keep) for stack in self.stacks]
        single = np.ones(len(self._may), bool)
        for stack in self.stacks:
            single[stack.levels] = False
        wrong = (keep & ~self._may | ~keep & self._must)[:, single].any()
        if wrong or any((option < 0).any() for option in options):
            raise ValueError("a choice of kept tensors is not in the mapspace")
        numbers: BigInts = keep[:, self.free[:, 0], self.free[:, 1]] @ self._weights
        for stack, option in zip(self.stacks, options, strict=True):
            numbers = numbers * len(stack.options) + option
        return numbers

    def every(self) -> Bools:
        """Every choice of what is kept. # (choice, level, tensor)"""
        return self.unrank(np.arange(self.number))

    def sample(self, rng: np.random.Generator, n: int) -> Bools:
        """`n` uniform choices; without a free one no random numbers are taken. # (n, level, tensor)"""
        bits = np.empty((n, 0), bool)
        if len(self.free):
            bits = rng.integers(0, 2, (n, len(self.free)), np.int8).astype(bool)
        return self._kept(bits, [rng.integers(0, len(stack.options), n) for stack in self.stacks])

    def nearest(self, keep: Bools) -> Bools:
        """The choice that differs least from `keep`; of several the first. # (mapping, level, tensor)"""
        chosen: Bools = keep & self._may | self._must
        for stack in self.stacks:
            block = keep[:, stack.levels.start : stack.levels.stop]
            differ = (block[:, None] != stack.options[None]).sum(axis=(2, 3))
            chosen[:, stack.levels.start : stack.levels.stop] = stack.options[differ.argmin(axis=1)]
        return chosen

    def changed(self, keep: Bools, rng: np.random.Generator) -> Bools:
        """Change one choice, drawn for all of `keep` # (..., level, tensor): a bit, or the sequence of a stack."""
        keep, chosen = keep.copy(), int(rng.integers(len(self.free) + len(self.stacks)))
        if chosen < len(self.free):
            level, tensor = self.free[chosen]
            keep[..., level, tensor] ^= True
        else:
            stack = self.stacks[chosen - len(self.free)]
            keep[..., stack.levels.start : stack.levels.stop, :] = stack.options[rng.integers(len(stack.options))]
        return keep

    def _kept(self, chosen: Bools, options: Sequence[BigInts]) -> Bools:
        """What each mapping keeps # (mapping, level, tensor) from its free choices # (mapping, choice) and options."""
        if not len(self.free) and not self.stacks:
            return np.broadcast_to(self._must, (len(chosen), *self._must.shape))
        keep = np.repeat(self._must[None], len(chosen), axis=0)
        keep[:, self.free[:, 0], self.free[:, 1]] = chosen
        for stack, option in zip(self.stacks, options, strict=True):
            keep[:, stack.levels.start : stack.levels.stop] = stack.options[option]
        return keep


def _allowed(arch: Architecture, names: Sequence[str]) -> tuple[Bools, Bools, Bools]:
    """Which tensors each level may keep, which it must, and which are resident there. # (level, tensor) each"""
    may = [[name not in level.bypass for name in names] for level in arch.levels]
    must = [[level.must_keep(name) or i == arch.home(name) for name in names] for i, level in enumerate(arch.levels)]
    resident = [[name in level.resident for name in names] for level in arch.levels]
    return np.array(may), np.array(must), np.array(resident)
