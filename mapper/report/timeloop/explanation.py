"""Which of Timeloop's rules make its counts differ from the executed ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from math import isclose, prod
from typing import get_args

from ...mapping import MappingBatch
from ...model.timeloop_rules import Arrays, Rules, TimeloopCounts, TimeloopNest, Walk, timeloop_counts, walked

Files = tuple[Arrays, Rules]  # how arrays are written; the rules

STEPS = 20_000  # in time, of a nest that is walked whole
KNOWN = {
    "links": "neighbours of an array pass whole tiles on: Timeloop's memory does not read these again",
    "nested": "Timeloop serves an array inside an array for itself: a word that several of them need is read for each",
    "jumps": "a window whose step changes, as where a loop begins anew, Timeloop reads whole, not its new words alone",
    "stops": "before 2025 Timeloop also read a window whole that starts to move or stops",
    "first": "before May 2023 Timeloop also filled partial sums with which it begins",
    "samples": "of the steps of a loop Timeloop takes the first, the second and a remainder's last for all",
    "truncated": "Timeloop cuts averages (instances in use, words of an instance) to whole numbers",
    "elements": "Timeloop takes the first element of an array for all, also for those with the remainders of a loop",
    "bounds": "Timeloop counts cycles from the full bounds wherever a loop has a remainder",
    "bandwidth": "Timeloop's bandwidths wait for the average instance, rounded up by tensor; ours for the busiest",
    "sparse": "Timeloop's run was of a sparse design: its cycles are without the computes that it skips",
    "unknown": "not by Timeloop's rules for these files: other files, another version, or options of its own",
}


class Explanation:
    """The counts by Timeloop's rules, and by fewer of them, of the one mapping of `batch`."""

    def __init__(self, batch: MappingBatch) -> None:
        self.nests = {arrays: TimeloopNest(batch, arrays) for arrays in get_args(Arrays)}
        self.nest = self.nests["meshes"]
        self._counts: dict[Files, TimeloopCounts] = {}
        self._walks: dict[Files, tuple[Walk, ...]] = {}

    def words(self, place: tuple[int, int], figure: str, stated: float, ours: int, instances: float) -> tuple[str, ...]:
        """The rules that make a count of an instance differ: `stated` by Timeloop, `ours` of all instances."""

        def total(files: Files) -> float:
            tile = self._counted(files).tiles[place]
            return float(getattr(tile, figure)) * (instances if files[1].truncated else tile.instances)

        return self._removed(total, stated * instances, ours)

    def computes(self, stated: float, ours: int) -> tuple[str, ...]:
        """The rules that make the MACs differ: how words are served has no part in it."""
        rules = self._removed(lambda files: self._counted(files).computes, stated, ours)
        return ("elements",) if "nested" in rules else rules

    def cycles(self, stated: float, steps: int) -> tuple[str, ...]:
        """The rules that make the cycles differ from ours, which are `steps` without bandwidths."""
        expected = next((counts for counts in map(self._counted, self._whole()) if counts.cycles == stated), None)
        if expected is None:
            return ("unknown",)
        rules = ["bounds"] if expected.steps != steps else []
        waits = expected.cycles != expected.steps or not rules
        return (*rules, "bandwidth") if waits else tuple(rules)

    def _counted(self, files: Files) -> TimeloopCounts:
        if files not in self._counts:
            nest, walk = self.nests[files[0]], (files[0], files[1].of_walks)
            if walk not in self._walks:
                self._walks[walk] = walked(nest, files[1])
            self._counts[files] = timeloop_counts(nest, files[1], self._walks[walk])
        return self._counts[files]

    def _whole(self) -> Iterator[Files]:
        """All rules, of today's Timeloop first.

        A mapping does not say whether neighbours pass words on, how an array is written, nor what version counted.
        """
        written: tuple[Arrays, ...] = ("meshes", "nested")
        for version in (Rules(), Rules(stops=True), Rules(stops=True, first=True)):
            for arrays in written:
                yield arrays, version
                yield arrays, replace(version, links=False)

    def _removed(self, total: Callable[[Files], float], stated: float, ours: int) -> tuple[str, ...]:
        """The fewest rules without which Timeloop would count as we do."""
        whole = next((files for files in self._whole() if isclose(total(files), stated, rel_tol=1e-9)), None)
        if whole is None:
            return ("unknown",)
        arrays, rules = whole
        names = ["nested"] * (self.nests[arrays].blocks != self.nests["one"].blocks)
        names += [name for name in ("stops", "first", "links", "jumps", "truncated") if getattr(rules, name)]
        names += ["samples"] * (self._steps <= STEPS)
        for many in range(1, len(names) + 1):
            for dropped in combinations(names, many):
                fewer = replace(rules, **dict.fromkeys({*dropped} - {"nested"}, False))
                if isclose(total(("one" if "nested" in dropped else arrays, fewer)), ours, rel_tol=1e-9):
                    # A word served for each of several arrays is read more often, never less.
                    return tuple("elements" if name == "nested" and stated < ours else name for name in dropped)
        return ("elements",) if self._remainders_in_space else ("samples",) if self._imperfect else ("unknown",)

    @cached_property
    def _imperfect(self) -> bool:
        return not all(loop.perfect for loop in self.nest.loops)

    @cached_property
    def _steps(self) -> int:
        return prod(loop.bound for loop in self.nest.loops if not loop.mesh)

    @cached_property
    def _remainders_in_space(self) -> bool:
        """Whether elements of an array differ: a dim with a spatial loop has a remainder."""
        spread = {loop.dim for loop in self.nest.loops if loop.mesh}
        return any(not loop.perfect for loop in self.nest.loops if loop.dim in spread)
