"""One group, step by step: the layers that its stages are, what stands in the keeper, what kept tensors move."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from .....arch import Architecture, Storage
from .....energy import EnergyTable
from ....mapping import Bools, Ints, unique_rows
from ....problem import Charges
from ..problem import Refused
from .extents import distinct_words, ends_of, joined
from .passes import STATISTICS, pass_figures, passes_of, streaming
from .traces import NoGroupError, Span
from .transfers import Moved, flows_of, transfer_cycles, transfer_pj
from .walks import Walks

MOST_LOOKED_AT = 50_000_000  # pairs of a step and a kind of word
Kind = tuple[int, tuple[int, ...], bool]  # a stage, its sizes, whether its output holds sums before


@dataclass(eq=False)
class GroupSteps:
    """A group of some stages: shared loops with their tiles, retained loops, kept tensors with the loops outside."""

    walks: Walks
    shared: tuple[tuple[str, int], ...]  # the outermost first, of several steps
    retained: frozenset[str]
    kept: tuple[tuple[int, str, int], ...]

    def __post_init__(self) -> None:
        """Walk each loop. Raises NoGroupError where a loop whose steps need words again, and compute them again, is
        inside one that retains: what is left to compute would be no box."""
        self.stages, self.whole = self.walks.stages, self.walks.whole
        self._held: dict[tuple[int, bool], tuple[int, int, int]] = {}
        self.traces = [self.walks.trace(dim, tile, retains=dim in self.retained) for dim, tile in self.shared]
        self.moved = [trace.moved for trace in self.traces]
        for place, (dim, _) in enumerate(self.shared):
            outside = {own for own, _ in self.shared[:place]}
            again = dim not in self.retained and self.traces[place].repeats
            if again and outside & self.retained:
                raise NoGroupError(f"a loop over {dim} that computes again stands inside one that retains")

    @cached_property
    def kinds(self) -> Counter[Kind]:
        """The layers that stages are, each with the number of its steps."""
        kinds: Counter[Kind] = Counter()
        for stage, layer in enumerate(self.stages.layers):
            last = stage == len(self.stages.layers) - 1
            still = self.whole.sizes(0, stage)
            assert still is not None, "without loops each stage runs"
            choices = []
            for trace, moved in zip(self.traces, self.moved, strict=True):
                adds = last and trace.loop not in layer.output.dims
                own: Counter[tuple[tuple[tuple[str, int], ...], bool]] = Counter()
                for step in range(trace.steps):
                    sizes = trace.sizes(step, stage)
                    if sizes is not None:
                        own[tuple((dim, sizes[dim]) for dim in sorted(moved[stage])), adds and step > 0] += 1
                choices.append(own)
            for chosen in product(*(own.items() for own in choices)):
                sizes, number, again = dict(still), 1, False
                for (changed, later), times in chosen:
                    sizes |= dict(changed)
                    number, again = number * times, again or later
                kinds[stage, tuple(sizes[dim] for dim in layer.dims), again] += number
        return kinds

    def words_held(self, producer: int, *, halfway: bool = False) -> tuple[int, int, int]:
        """The most words of what a stage makes that stand in the keeper in any step, or in one `halfway` of all loops:
        while earlier stages run, from the stage to its last reader, and while later stages run."""
        if (producer, halfway) in self._held:
            return self._held[producer, halfway]
        first, last, times, still = self._uses(producer)
        steps = [trace.steps for trace in self.traces]
        if not halfway and prod(steps) * max(len(times), 1) > MOST_LOOKED_AT:
            raise Refused("a group has too many steps to look at what stands in its keeper")
        retains = np.array([trace.loop in self.retained for trace in self.traces], bool)
        most = [0, 0, 0]
        for step in [tuple(number // 2 for number in steps)] if halfway else product(*map(range, steps)):
            at = np.array(step, np.int64)
            inside = (first <= at) & (at <= last)
            used = inside.all(axis=1)
            waiting = ~used & _waits(at, first, last, inside, retains)
            before = used & _by_innermost(at > first, retains)
            after = used & _by_innermost(at < last, retains)
            for i, standing in enumerate((waiting | before, waiting | used, waiting | after)):
                most[i] = max(most[i], int(times[standing].sum()) * still)
        self._held[producer, halfway] = most[0], most[1], most[2]
        return self._held[producer, halfway]

    def _uses(self, producer: int) -> tuple[Ints, Ints, Ints, int]:
        """Kinds of words by the first and last step of each loop that needs them # (kind, loop); how many there are of
        each kind # (kind,); and words along ranks that no loop moves."""
        output = self.stages.layers[producer].output
        whole = self.whole.needs[0][producer]
        sides: list[tuple[Ints, Ints, Ints]] = []
        free = set(range(len(output.ranks)))
        for trace in self.traces:
            spans = {step: needs[producer] for step, needs in enumerate(trace.needs) if producer in needs}
            moved = [rank for rank in free if output.ranks[rank][0].dim in trace.moved[producer]]
            free -= set(moved)
            if len(moved) > 1:
                sides.append(_apart({step: [span[rank] for rank in moved] for step, span in spans.items()}))
            else:
                sides.append(_along({step: span[moved[0]] for step, span in spans.items()} if moved else
                                    dict.fromkeys(spans, (0, 1))))  # fmt: skip
        still = prod(whole[rank][1] - whole[rank][0] for rank in free)
        return *_crossed(sides), still

    def moves(self, stage: int, name: str, outside: int) -> Moved:
        """Walk what the first loops outside a kept tensor make of it: its tile is what all steps inside need."""
        tensor = self.stages.tensor(stage, name)
        base, runs = self.whole.boxes[0][stage], []
        assert base is not None, "without loops each stage runs"
        for trace in self.traces:
            runs.append([box for boxes in trace.boxes if (box := boxes[stage]) is not None])
        spans: list[list[tuple[int, ...]]] = []  # per outer loop, per step: the ends along each rank
        inner = dict(base)
        for own, moved in zip(runs[outside:], self.moved[outside:], strict=True):
            for dim in moved[stage]:
                inner[dim] = min(box[dim][0] for box in own), max(box[dim][1] for box in own)
        for own, moved in zip(runs[:outside], self.moved[:outside], strict=True):
            changed = [{dim: box[dim] for dim in moved[stage]} for box in own]
            spans.append([ends_of(tensor.ranks, inner | change) for change in changed])
        plain = ends_of(tensor.ranks, inner)
        boxes = np.array([joined(plain, chosen) for chosen in product(*spans)], np.int64).reshape(
            -1, 2 * len(tensor.ranks)
        )
        low, high = boxes[:, ::2], boxes[:, 1::2]
        sizes = (high - low).prod(axis=1)
        shared = np.maximum(np.minimum(high[1:], high[:-1]) - np.maximum(low[1:], low[:-1]), 0).prod(axis=1)
        return Moved(int(sizes.max(initial=0)), int(sizes.sum() - shared.sum()), distinct_words(low, high))

    def room(self, arch: Architecture, level: int, stage: int, *, halfway: bool = False) -> float:
        """The bits of the keeper that are left for the other tensors of a stage, in the step with the least; `halfway`
        of all loops no fewer."""
        storage = arch.levels[level]
        if storage.capacity_bits is None:
            return float("inf")
        bits = sum(self.moves(*own).most * self.bits(storage, *own[:2]) for own in self.kept)
        bits += self.statistics_bits(storage)
        for producer in range(len(self.stages.layers) - 1):
            words = self.words_held(producer, halfway=halfway)
            last = max(read.consumer for read in self.stages.consumers(producer))
            which = 0 if stage < producer else 2 if stage > last else 1
            bits += words[which] * self.between_bits(storage, producer)
        return storage.capacity_bits // storage.multiple_buffering - bits

    def statistics_bits(self, storage: Storage) -> int:
        """The bits of two words for each row that has begun and may go on, where rows stream: of the rows of all loops
        from the outermost one inwards that cuts rows."""
        last, bits = len(self.stages.layers) - 1, 0
        for read in streaming(self.stages, self.cuts):
            place = next(i for i, (dim, _) in enumerate(self.shared) if dim in self.cuts)
            tiles, rows = dict(self.shared[:place]), 1
            for dim in self.stages.row_dims(last, read.tensor, adds=False):
                rows *= tiles.get(dim, self.stages.last.size(dim))
            bits += STATISTICS * rows * self.bits(storage, last, read.tensor)
        return bits

    @cached_property
    def cuts(self) -> frozenset[str]:
        """The shared loops over dims that the last stage adds up over."""
        several = frozenset(dim for dim, tile in self.shared if tile < self.stages.last.size(dim))
        return several - self.stages.last.output.dims

    def passes(self, machine: tuple[Architecture, int, EnergyTable], costs: Charges) -> tuple[float, int]:
        """Energy and cycles of operators on words between stages, in all steps."""
        energy, cycles = 0.0, 0
        for (stage, sizes, again), number in self.kinds.items():
            kept = (stage, self.stages.layers[stage].output.name) in {own[:2] for own in self.kept}
            pj, took = pass_figures(
                passes_of(self.stages, stage, self.cuts, accumulates=again, output_kept=kept),
                dict(zip(self.stages.layers[stage].dims, sizes, strict=True)),
                machine,
                costs,
            )
            energy, cycles = energy + number * pj, cycles + number * took
        return energy, cycles

    def free_bits(self, arch: Architecture, level: int, *, halfway: bool = False) -> float:
        """The bits that are left for any stage."""
        return min(self.room(arch, level, stage, halfway=halfway) for stage in range(len(self.stages.layers)))

    def bits(self, storage: Storage, stage: int, name: str) -> int:
        """The bits of a word of a stage's tensor in the keeper."""
        return storage.bits(name, self.stages.tensor(stage, name).word_bits)

    def between_bits(self, storage: Storage, producer: int) -> int:
        """The bits of a word between stages: the most that a stage gives it."""
        own = [self.bits(storage, producer, self.stages.layers[producer].output.name)]
        return max(own + [self.bits(storage, own.consumer, own.tensor) for own in self.stages.consumers(producer)])

    def transfers(self, arch: Architecture, level: int, table: EnergyTable, costs: Charges) -> tuple[float, int]:
        """Energy and cycles of what comes and goes for kept tensors."""
        energy, flows = 0.0, [0, 0, 0, 0]
        for stage, name, outside in self.kept:
            moved = self.moves(stage, name, outside)
            words = flows_of(self.stages, stage, name, moved)
            energy += transfer_pj(self.stages, (stage, name), words, (arch, level, table), costs)
            flows = [a + b for a, b in zip(flows, words, strict=True)]
        cycles = transfer_cycles(flows, arch, level, costs)
        return energy + costs.leak_pj_per_cycle(arch, table) * cycles, cycles


def _crossed(sides: Sequence[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints, Ints]:
    """The kinds of words along all loops: every combination of those along each."""
    grid = np.meshgrid(*(np.arange(len(times)) for _, _, times in sides), indexing="ij") if sides else []
    number = grid[0].size if grid else 1
    first, last = np.zeros((number, len(sides)), np.int64), np.zeros((number, len(sides)), np.int64)
    times = np.ones(number, np.int64)
    for place, ((begin, end, own), index) in enumerate(zip(sides, grid, strict=True)):
        which = index.ravel()
        first[:, place], last[:, place], times = begin[which], end[which], times * own[which]
    return first, last, times


def _along(spans: dict[int, Span]) -> tuple[Ints, Ints, Ints]:
    """The kinds of words along one rank: first and last step that needs them, and how many there are. # (kind,) each"""
    low, high = min(low for low, _ in spans.values()), max(high for _, high in spans.values())
    first, last = np.full(high - low, -1, np.int64), np.full(high - low, -1, np.int64)
    for step, (a, b) in sorted(spans.items()):
        own = slice(a - low, b - low)
        first[own] = np.where(first[own] < 0, step, first[own])
        last[own] = step
    needed = first >= 0  # a window may leave words out
    rows, which = unique_rows(np.stack([first, last], axis=1)[needed])
    return rows[:, 0], rows[:, 1], np.bincount(which, minlength=len(rows))


def _apart(spans: dict[int, list[Span]]) -> tuple[Ints, Ints, Ints]:
    """The same of words along several ranks that one loop moves: no two steps have a word together.

    Raises Refused where two have.
    """
    boxes = list(spans.values())
    if any(all(max(a, c) < min(b, d) for (a, b), (c, d) in zip(own, other, strict=True))
           for i, own in enumerate(boxes) for other in boxes[:i]):  # fmt: skip
        raise Refused("a loop moves several ranks of a tensor between stages, and its steps share words")
    steps = np.array(list(spans), np.int64)
    return steps, steps, np.array([prod(high - low for low, high in own) for own in boxes], np.int64)


def _by_innermost(holds: Bools, retains: Bools) -> Bools:
    """Whether the innermost loop for which something holds retains; False where it holds for none. # (kind,)"""
    answer = np.zeros(len(holds), bool)
    for loop in range(holds.shape[1]):
        answer = np.where(holds[:, loop], retains[loop], answer)
    return answer


def _waits(at: Ints, first: Ints, last: Ints, inside: Bools, retains: Bools) -> Bools:
    """Whether words that a step does not need stay from an earlier step to a later one. # (kind,)

    The last use before and the first after it differ first in the innermost loop, of those outside the first loop that
    excludes the step, that can still advance (where the step is after all uses in it) or has advanced (before).
    """
    stays = np.zeros(len(first), bool)
    outside = np.ones(len(first), bool)
    ahead, behind = np.zeros(len(first), bool), np.zeros(len(first), bool)
    for loop in range(len(at)):
        out = outside & ~inside[:, loop]
        stays |= out & np.where(at[loop] > last[:, loop], ahead, behind)
        outside &= inside[:, loop]
        ahead = np.where(outside & (at[loop] < last[:, loop]), retains[loop], ahead)
        behind = np.where(outside & (at[loop] > first[:, loop]), retains[loop], behind)
    return stays
