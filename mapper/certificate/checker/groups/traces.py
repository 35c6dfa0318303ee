"""What one shared loop makes of the stages, step by step, as if it were the only one.

Plain ranges of whole numbers, walked from the last stage to the first in each step (docs/fusion.md, sections 2 and 3).
Of several loops the ranges of a dim are those of the loop that moves it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from .....workloads import Rank
from .stages import Stages

Span = tuple[int, int]  # from the first to below the second
Spans = tuple[Span, ...]
Box = dict[str, Span]  # per dim of a stage
EMPTY = (0, 0)


class NoGroupError(Exception):
    """Nothing is executed so: a stage would compute what is no box."""


@dataclass(eq=False)
class Trace:
    """The boxes of all stages and what is needed of what they make, in each step of one loop."""

    stages: Stages
    loop: str | None  # None: no loop, one step
    tile: int
    retains: bool
    whole: "Trace | None" = None  # the stages without loops; None: it is that
    boxes: list[list[Box | None]] = field(init=False)  # per step and stage; None: it does not run
    needs: list[dict[int, Spans]] = field(init=False)  # per step, by producer, along its ranks

    def __post_init__(self) -> None:
        """Walk the stages from the last to the first, each in all steps. Raises NoGroupError."""
        size = 1 if self.loop is None else self.stages.last.size(self.loop)
        starts, stages = range(0, size, self.tile), len(self.stages.layers)
        self.boxes = [[None] * stages for _ in starts]
        self.needs = [{} for _ in starts]
        self._ranges: list[list[Box]] = [[] for _ in range(stages)]  # per stage and step; of those that do not run, too
        self._needed: list[dict[str, Span | None]] = [{} for _ in range(stages)]  # in the first step
        whole = {dim: (0, own) for dim, own in zip(self.stages.last.dims, self.stages.last.sizes, strict=True)}
        for step, low in enumerate(starts):
            tile = {} if self.loop is None else {self.loop: (low, min(low + self.tile, size))}
            self._put(step, stages - 1, whole | tile, runs=True)
        for stage in reversed(range(stages - 1)):
            self._walk(stage)
            if all(boxes[stage] is None for boxes in self.boxes):
                raise NoGroupError(f"no step needs what {self.stages.layers[stage].name} makes")
        self._check_ranks()

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.boxes)

    @property
    def moved(self) -> tuple[frozenset[str], ...]:
        """Per stage the dims that the loop moves."""
        return self.stages.moved(self.loop)

    def _put(self, step: int, stage: int, ranges: Box, *, runs: bool) -> None:
        """Set what a stage computes in a step: nothing where it does not run, or a range is empty."""
        if _filled(ranges):
            ranges = self._seen(stage, ranges)
            self.boxes[step][stage] = ranges if runs else None
        self._ranges[stage].append(ranges)

    def _walk(self, stage: int) -> None:
        """Find what is needed of what a stage makes, and what it computes of that: what was not computed before, if
        that stays."""
        layer = self.stages.layers[stage]
        dims = [rank[0].dim for rank in layer.output.ranks]
        moved = self.moved[stage] & set(dims)
        spans = {dim: self._spans(stage, dim) for dim in dims}
        self._needed[stage] = {dim: own[0] for dim, own in spans.items()}
        anew = self._anew(spans, moved)
        whole = {dim: (0, size) for dim, size in zip(layer.dims, layer.sizes, strict=True)}
        once, made, reached = self.retains and not moved, False, 0
        for step in range(self.steps):
            need = {dim: spans[dim][step] or EMPTY for dim in dims}
            running = self._is_read(step, stage, need)
            ranges = {dim: (max(low, 0), min(high, layer.size(dim))) for dim, (low, high) in need.items()}
            if anew and _filled({anew: ranges[anew]}):
                low, high = ranges[anew]
                ranges[anew], reached = (max(low, reached), high), max(reached, high)
            self._put(step, stage, whole | ranges, runs=running and not (once and made))
            made = made or self.boxes[step][stage] is not None

    def _is_read(self, step: int, producer: int, need: Box) -> bool:
        """Whether a stage runs in a step that reads what another makes, of which this is needed.

        Raises NoGroupError where none does and the loop moves nothing of it.
        """
        running = any(self.boxes[step][read.consumer] is not None for read in self.stages.consumers(producer))
        layer = self.stages.layers[producer]
        if running and _filled(need):
            self.needs[step][producer] = tuple(need[rank[0].dim] for rank in layer.output.ranks)
        elif not (self._all_rest(producer) or any(need[dim] == EMPTY for dim in self.moved[producer] & need.keys())):
            raise NoGroupError(f"in some steps no stage reads what {layer.name} makes")
        return running

    def _all_rest(self, producer: int) -> bool:
        """Whether all that read what a stage makes compute in one step alone, as the loop retains and moves nothing of
        what they make."""
        readers, last = {read.consumer for read in self.stages.consumers(producer)}, len(self.stages.layers) - 1
        moving = [stage for stage in readers if self.moved[stage] & self.stages.layers[stage].output.dims]
        return self.retains and not moving and last not in readers

    def _spans(self, producer: int, dim: str) -> list[Span | None]:
        """What is needed along a dim in each step: around all that stages read along it, where the loop moves all of
        that; else what is needed without the loop. None: nothing."""
        if self.whole is not None and dim not in self.moved[producer]:
            return [self.whole._needed[producer][dim]] * self.steps
        spans: list[list[Span]] = [[] for _ in range(self.steps)]
        ranks = list(self.stages.along(producer, dim))
        for consumer, rank, zeros in ranks:
            for step, box in enumerate(self._ranges[consumer]):
                if all(box[term.dim][0] < box[term.dim][1] for term in rank):
                    low, high = reach(rank, box)
                    spans[step].append((low - zeros, high - zeros))
        if not ranks:
            return [(0, 1)] * self.steps
        return [_around(own) for own in spans]

    def _anew(self, spans: dict[str, list[Span | None]], moved: frozenset[str]) -> str:
        """The dim along which a stage computes only what is new: the one that the loop moves, if words stay and some
        are needed in several steps; none: "". Raises NoGroupError where what is new would be no box."""
        if not self.retains or not moved or not all(_overlap(spans[dim]) for dim in moved):
            return ""
        if len(moved) > 1:
            raise NoGroupError("what a stage would compute anew is no box: a loop moves several ranks")
        (dim,) = moved
        own = [span for span in spans[dim] if span is not None]
        if any(b[0] < a[0] or b[1] < a[1] for a, b in pairwise(own)):
            raise NoGroupError("what a stage would compute anew is no box: a loop goes back")
        return dim

    def _seen(self, stage: int, box: Box) -> Box:
        """A box without the keys that a causal mask hides from all its queries: query by query, what each sees.

        Raises NoGroupError where it has a part of rows that an operator needs whole.
        """
        layer = self.stages.layers[stage]
        for read in self.stages.inputs(stage):
            if read.operator is None or not read.operator.rows:
                continue
            dims = self.stages.row_dims(stage, read.tensor, adds=True)
            cut = any(box[dim] != (0, layer.size(dim)) for dim in dims)
            if cut and (not read.streaming or read.mask is not None):
                raise NoGroupError(f"{read.through} needs whole rows")
            if (causal := read.mask) is not None:
                (low, high), keys = box[causal.query], layer.size(causal.key)
                rows = [i % causal.queries for i in range(low, min(high, low + causal.queries))]
                box = box | {causal.key: (0, keys - causal.queries + 1 + max(rows))}
        return box

    def _check_ranks(self) -> None:
        """Raise NoGroupError where a causal mask moves several ranks of a tensor that is not between stages."""
        for stage, layer in enumerate(self.stages.layers):
            for tensor in layer.tensors:
                ranks = [rank for rank in tensor.ranks if any(term.dim in self.moved[stage] for term in rank)]
                if len(ranks) > 1 and tensor.name not in self.stages.between[stage]:
                    raise NoGroupError(f"a causal mask moves several ranks of {tensor.name}")

    def sizes(self, step: int, stage: int) -> dict[str, int] | None:
        """The sizes of a stage in a step; None where it does not run."""
        box = self.boxes[step][stage]
        return None if box is None else {dim: high - low for dim, (low, high) in box.items()}

    @cached_property
    def repeats(self) -> bool:
        """Whether some word between stages is needed in several steps."""
        for producer in range(len(self.stages.layers) - 1):
            ranks = [rank[0].dim for rank in self.stages.layers[producer].output.ranks]
            moved = [rank for rank, dim in enumerate(ranks) if dim in self.moved[producer]]
            needs = [own[producer] for own in self.needs if producer in own]
            if self.steps > 1 and all(_overlap([own[rank] for own in needs]) for rank in moved):
                return True
        return False


def reach(rank: Rank, box: Box) -> Span:
    """Where the words of a box begin and end along a rank."""
    low = sum(term.coef * box[term.dim][0] for term in rank)
    return low, sum(term.coef * (box[term.dim][1] - 1) for term in rank) + 1


def _filled(box: Box) -> bool:
    """Whether no range is empty."""
    return all(low < high for low, high in box.values())


def _around(spans: Sequence[Span]) -> Span | None:
    """The least range around some; None where there are none."""
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None


def _overlap(spans: Sequence[Span | None]) -> bool:
    """Whether two ranges share an index."""
    own = sorted(span for span in spans if span is not None)
    return any(b[0] < a[1] for a, b in pairwise(own))
