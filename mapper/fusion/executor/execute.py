"""The executor of a group: it walks the shared loops step by step, with every word. The truth in tests.

Nothing here is clever on purpose, and nothing is shared with the closed form in intervals.py, held_words.py and
steps.py: sets of words are needed, computed, held and dropped as docs/fusion.md says, and values are computed from the
words that are there. A stage in a step is executed by the executor of layers (model/simulate.py).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from ....workloads import Tensor, Workload
from ...mapping import MappingBatch
from ...model import Counts, simulate
from ..group import Group
from ..steps import StepLayer
from .needs import Moving, Step, moved_by_readers, moved_with_masks, needed_words, steps_of
from .word_values import Array, Ends, Word, Words, extents_of, sees, sums_over, tensor_named, with_mask, words_under


class NoBoxError(Exception):
    """What a stage would have to compute is no box: no group retains words like this."""


@dataclass
class Executed:
    """What executing a group counts."""

    output: Array
    layers: Counter[StepLayer] = field(default_factory=Counter)
    counts: dict[StepLayer, Counts] = field(default_factory=dict)  # of one step
    between: dict[tuple[int, int], int] = field(default_factory=dict)  # (producer, stage) -> most words in any step
    most: dict[tuple[int, str], int] = field(default_factory=dict)  # words of the largest tile of a kept tensor
    moved: dict[tuple[int, str], int] = field(default_factory=dict)  # words of it that come, or begin
    distinct: dict[tuple[int, str], int] = field(default_factory=dict)
    passed: Counter[int] = field(default_factory=Counter)  # words of a stage that an operator passes over
    rows: Counter[bool] = field(default_factory=Counter)  # of steps in which rows stream: by whether they had started
    rescaled: int = 0  # words of the output that are rescaled
    most_rows: int = 0  # that have started and not ended


def execute(
    group: Group, inputs: Mapping[tuple[int, str], Array], mappings: Mapping[StepLayer, MappingBatch] | None = None
) -> Executed:
    """Execute a group on inputs by (stage, tensor), and each stage in each step by its mapping, where there is one.

    Raises NoBoxError where some stage would compute no box.
    """
    run = _Run(group, inputs)
    run.plan()
    run.compute()
    for key in group.depths:
        run.keep(*key)
    for layer in run.executed.layers:
        if mappings is not None and layer in mappings:
            run.executed.counts[layer] = simulate(mappings[layer])
    return run.executed


class _Run:
    """One execution."""

    def __init__(self, group: Group, inputs: Mapping[tuple[int, str], Array]) -> None:
        self.group, self.inputs = group, inputs
        self.steps = steps_of(group)
        self.boxes: list[dict[Step, Ends]] = [{} for _ in group.stages]
        self.moving: list[Moving] = [{} for _ in group.stages]
        self.needed: dict[int, dict[Step, Words]] = {}  # words of each stage's output
        self.during: dict[int, dict[Step, Words]] = {}  # words of each stage's output that are there while it is read
        self.after: dict[int, dict[Step, Words]] = {}  # and those that stay
        last = group.stages[-1]
        self.executed = Executed(np.zeros(extents_of(last.output, last)))

    def plan(self) -> None:
        """Find what each stage computes in each step, from the last to the first."""
        last, tiles = self.group.stages[-1], dict(self.group.shared)
        whole: dict[int, dict[Step, Words]] = {}
        if tiles:
            without = type(self)(replace(self.group, shared=(), retained=frozenset(), kept=()), self.inputs)
            without.plan()
            whole = without.needed
        for step in self.steps:
            at = dict(zip(self.group.loops, step, strict=True))
            self.boxes[-1][step] = {
                dim: (at[dim] * tiles[dim], min((at[dim] + 1) * tiles[dim], size)) if dim in tiles else (0, size)
                for dim, size in zip(last.dims, last.sizes, strict=True)
            }
        self.moving[-1] = moved_with_masks(
            self.group, len(self.group.stages) - 1, {dim: frozenset({dim}) for dim in tiles}
        )
        for step in self.steps:
            self.boxes[-1][step] = self._unmasked(len(self.group.stages) - 1, self.boxes[-1][step])
        for stage in reversed(range(len(self.group.stages) - 1)):
            self._plan_stage(stage, whole[stage][()] if whole else None)

    def _unmasked(self, stage: int, ends: Ends) -> Ends:
        """Leave out the keys that a causal mask hides from all queries. Raises NoBoxError where rows are cut."""
        layer = self.group.stages[stage]
        for link in self.group.inputs(stage):
            if not ends or not link.through:
                continue
            dims = {term.dim for rank in tensor_named(layer, link.tensor).ranks for term in rank} - layer.output.dims
            cut = any(ends[dim] != (0, layer.size(dim)) for dim in dims)
            mask = link.mask
            if cut and (not link.streaming or mask is not None):
                raise NoBoxError(f"{layer.name} would read rows in parts")
            if mask is not None:
                rows, keys = range(*ends[mask.query]), range(layer.size(mask.key))
                seen = [key for key in keys if any(sees(link, layer, row, key) for row in rows)]
                ends = ends | {mask.key: (0, max(seen) + 1)}
        return ends

    def _plan_stage(self, stage: int, whole: Words | None) -> None:
        self.moving[stage] = moved_with_masks(self.group, stage, moved_by_readers(self.group, stage, self.moving))
        needed = self.needed[stage] = needed_words(self.group, stage, self.moving[stage], self.boxes, whole)
        uses: dict[Word, list[int]] = {}
        for number, step in enumerate(self.steps):
            for word in needed[step]:
                uses.setdefault(word, []).append(number)
        layer, held = self.group.stages[stage], frozenset[Word]()
        sizes = [layer.size(rank[0].dim) for rank in layer.output.ranks]
        links = self.group.consumers(stage)
        last = max(link.consumer for link in links)
        self.during[stage], self.after[stage] = {}, {}
        for number, step in enumerate(self.steps):
            new = frozenset(
                word for word in needed[step] - held if all(0 <= i < size for i, size in zip(word, sizes, strict=True))
            )
            self.boxes[stage][step] = self._unmasked(stage, self._box(layer, new))
            before, held = held, held | needed[step]
            self.during[stage][step] = held
            held = frozenset(word for word in held if self._stays(uses[word], number))
            self.after[stage][step] = held
            for at in range(len(self.group.stages)):
                present = before if at < stage else held if at > last else self.during[stage][step]
                key = stage, at
                self.executed.between[key] = max(self.executed.between.get(key, 0), len(present))

    def _stays(self, uses: list[int], number: int) -> bool:
        """Whether a word stays after a step: if its last use and its next one differ first in a retained loop."""
        later = next((self.steps[use] for use in uses if use > number), None)
        if later is None:
            return False
        last = self.steps[max(use for use in uses if use <= number)]
        first = next(i for i, (a, b) in enumerate(zip(last, later, strict=True)) if a != b)
        return self.group.loops[first] in self.group.retained

    def _box(self, layer: Workload, new: Words) -> Ends:
        """The box of a stage's dims for new words of its output. Raises NoBoxError where they are none."""
        if not new:
            return {}
        ends = {dim: (0, size) for dim, size in zip(layer.dims, layer.sizes, strict=True)}
        for i, rank in enumerate(layer.output.ranks):
            along = [word[i] for word in new]
            ends[rank[0].dim] = min(along), max(along) + 1
        if words_under(layer.output, ends) != new:
            raise NoBoxError(f"{layer.name} would compute {len(new)} words that are no box")
        return ends

    def compute(self) -> None:
        """Compute values step by step, from words that are there alone, and count the layers that stages are."""
        values: list[dict[Word, float]] = [{} for _ in self.group.stages]
        summed: set[Word] = set()
        for step in self.steps:
            for stage, layer in enumerate(self.group.stages):
                box = self.boxes[stage][step]
                if not box:
                    continue
                made = sums_over(layer, box, [self._operand(stage, tensor, step, values) for tensor in layer.tensors])
                again = False
                if stage == len(self.group.stages) - 1:
                    words = words_under(layer.output, box)
                    again = words <= summed
                    assert again or not words & summed, "a tile of the output has some sums"
                    summed |= words
                    for word, value in made.items():
                        self.executed.output[word] += value
                    self._stream(step, again)
                else:
                    values[stage] |= made
                    self.executed.passed[stage] += len(made) * any(link.through for link in self.group.consumers(stage))
                sizes = tuple(box[dim][1] - box[dim][0] for dim in layer.dims)
                self.executed.layers[StepLayer(stage, sizes, again)] += 1
            for stage, staying in self.after.items():
                values[stage] = {word: value for word, value in values[stage].items() if word in staying[step]}

    def _stream(self, step: Step, again: bool) -> None:
        """Count the rows of the last stage in a step, where they stream, and the words of its output that change."""
        last = len(self.group.stages) - 1
        layer = self.group.stages[last]
        for link in self.group.inputs(last):
            dims = {term.dim for rank in tensor_named(layer, link.tensor).ranks for term in rank}
            several = {loop for loop in self.group.loops if self.group.trips(loop) > 1}
            if not link.streaming or not (dims - layer.output.dims) & several:
                continue
            rows = self._rows_from(step, several - layer.output.dims, sorted(dims & layer.output.dims))
            started = set().union(*(own for at, own in rows.items() if at <= step))
            later = set().union(*(own for at, own in rows.items() if at >= step))
            self.executed.rows[again] += len(rows[step])
            self.executed.rescaled += len(words_under(layer.output, self.boxes[last][step])) * again
            self.executed.most_rows = max(self.executed.most_rows, len(started & later))

    def _rows_from(self, step: Step, cutting: set[str], dims: list[str]) -> dict[Step, set[Word]]:
        """The rows of steps that are alike in the loops outside those that cut rows; in others they begin anew."""
        outside = next(i for i, loop in enumerate(self.group.loops) if loop in cutting)
        return {at: self._rows(at, dims) for at in self.steps if at[:outside] == step[:outside]}

    def _rows(self, step: Step, dims: list[str]) -> set[Word]:
        """The rows that the last stage reads in a step, by their indices along these dims."""
        return set(product(*(range(*self.boxes[-1][step][dim]) for dim in dims)))

    def _operand(self, stage: int, tensor: Tensor, step: Step, values: list[dict[Word, float]]) -> Array | None:
        """A tensor of a stage as far as its words are there; others are no numbers."""
        if tensor.output:
            return None
        links = [link for link in self.group.links if link.consumer == stage and link.tensor == tensor.name]
        if not links:
            return self.inputs[stage, tensor.name]
        (link,) = links
        producer = self.group.stages[link.producer]
        array = np.full(extents_of(tensor, self.group.stages[stage]), np.nan)
        place = [
            next((i for i, (dim, _) in enumerate(link.ranks) if dim == rank[0].dim), None)
            for rank in producer.output.ranks
        ]
        for word in np.ndindex(*array.shape):
            own = tuple(0 if i is None else word[i] - link.ranks[i][1] for i in place)
            if own in self.during[link.producer][step]:
                inside = all(
                    0 <= x < producer.size(rank[0].dim) for x, rank in zip(own, producer.output.ranks, strict=True)
                )
                array[word] = values[link.producer].get(own, np.nan) if inside else 0.0
        return with_mask(link, self.group.stages[stage], array)

    def keep(self, stage: int, name: str) -> None:
        """Count what a kept tensor moves: its tile is what the steps of all loops inside it read."""
        tensor, depth = tensor_named(self.group.stages[stage], name), self.group.depths[stage, name]
        prefixes = list(dict.fromkeys(step[:depth] for step in self.steps))
        held, seen, moved, most = frozenset[Word](), set[Word](), 0, 0
        for prefix in prefixes:
            read = [
                word
                for step in self.steps
                if step[:depth] == prefix and self.boxes[stage][step]
                for word in words_under(tensor, self.boxes[stage][step])
            ]
            if not read:
                continue
            low, high = np.min(read, axis=0), np.max(read, axis=0)
            tile = frozenset(product(*(range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True))))
            moved, most, held = moved + len(tile - held), max(most, len(tile)), tile
            seen |= tile
        key = stage, name
        self.executed.most[key], self.executed.moved[key], self.executed.distinct[key] = most, moved, len(seen)
