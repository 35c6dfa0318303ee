"""What one shared loop makes of the stages, step by step, as if it were the only one.

Plain ranges of whole numbers, walked from the last stage to the first in each step (docs/fusion.md, sections 2 and 3).
Of several loops the ranges of a dim are those of the loop that moves it.
"""

from dataclasses import dataclass, field
from functools import cached_property

from ..problem import Refused
from .stages import Stages

Span = tuple[int, int]  # from the first to below the second
Box = dict[str, Span]  # per dim of a stage


class NoGroupError(Exception):
    """Nothing is executed so: a stage would compute what is no box."""


@dataclass(eq=False)
class Trace:
    """The boxes of all stages and what is needed of what they make, in each step of one loop."""

    stages: Stages
    loop: str | None  # None: no loop, one step
    tile: int
    retains: bool
    boxes: list[list[Box | None]] = field(default_factory=list)  # per step and stage; None: it does not run
    needs: list[dict[int, tuple[Span, ...]]] = field(default_factory=list)  # per step, by producer, along its ranks

    def __post_init__(self) -> None:
        """Walk the steps. Raises NoGroupError."""
        size = 1 if self.loop is None else self.stages.last.size(self.loop)
        covered: dict[int, list[Span]] = {}
        for low in range(0, size, self.tile):
            boxes: list[Box | None] = [None] * len(self.stages.layers)
            tile = {dim: (0, own) for dim, own in zip(self.stages.last.dims, self.stages.last.sizes, strict=True)}
            boxes[-1] = tile if self.loop is None else tile | {self.loop: (low, min(low + self.tile, size))}
            needs: dict[int, tuple[Span, ...]] = {}
            for stage in reversed(range(len(boxes) - 1)):
                need = self._need(stage, boxes)
                if need is not None:
                    needs[stage] = need
                    boxes[stage] = self._box(stage, need, covered)
            self.boxes.append(boxes)
            self.needs.append(needs)

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.boxes)

    def _need(self, producer: int, boxes: list[Box | None]) -> tuple[Span, ...] | None:
        """What later stages read of what a stage makes, in its own coordinates; None: nothing."""
        spans: dict[str, Span] = {}
        running = False
        for _, consumer, name, ranks in self.stages.consumers(producer):
            box = boxes[consumer]
            if box is None:
                continue
            running = True
            for rank, (dim, zeros) in zip(self.stages.tensor(consumer, name).ranks, ranks, strict=True):
                if dim is not None:
                    low = sum(term.coef * box[term.dim][0] for term in rank) - zeros
                    high = sum(term.coef * (box[term.dim][1] - 1) for term in rank) + 1 - zeros
                    before = spans.get(dim, (low, high))
                    spans[dim] = min(low, before[0]), max(high, before[1])
        if not running:
            return None
        return tuple(spans.get(rank[0].dim, (0, 1)) for rank in self.stages.layers[producer].output.ranks)

    def _box(self, stage: int, need: tuple[Span, ...], covered: dict[int, list[Span]]) -> Box | None:
        """What a stage computes for a need: what is within its sizes, and was not computed before if that stays."""
        layer = self.stages.layers[stage]
        dims = [rank[0].dim for rank in layer.output.ranks]
        spans = [(max(low, 0), min(high, layer.size(dim))) for (low, high), dim in zip(need, dims, strict=True)]
        if any(low >= high for low, high in spans):
            return None  # zeros of padding alone
        new = spans if not self.retains or stage not in covered else _beyond(spans, covered[stage])
        if new is None:
            return None
        before = covered.get(stage, spans)
        covered[stage] = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(spans, before, strict=True)]
        box = {dim: (0, size) for dim, size in zip(layer.dims, layer.sizes, strict=True)}
        return box | dict(zip(dims, new, strict=True))

    def sizes(self, step: int, stage: int) -> dict[str, int] | None:
        """The sizes of a stage in a step; None where it does not run."""
        box = self.boxes[step][stage]
        return None if box is None else {dim: high - low for dim, (low, high) in box.items()}

    @cached_property
    def repeats(self) -> bool:
        """Whether some word between stages is needed in several steps."""
        for producer in range(len(self.stages.layers) - 1):
            needs = [own[producer] for own in self.needs if producer in own]
            for i, one in enumerate(needs):
                if any(_meet(one, other) for other in needs[i + 1 : i + 2]):
                    return True
        return False


def _beyond(spans: list[Span], covered: list[Span]) -> list[Span] | None:
    """What is new of a box beside one that is there; None where nothing is. Raises NoGroupError where it is no box."""
    pairs = list(zip(spans, covered, strict=True))
    beyond = [i for i, ((low, high), own) in enumerate(pairs) if low < own[0] or high > own[1]]
    if not beyond:
        return None
    if any(spans[i][0] >= covered[i][1] for i in beyond):
        return spans
    i = beyond[0]
    if len(beyond) > 1 or spans[i][0] < covered[i][0]:
        raise NoGroupError("what a stage would compute anew is no box")
    return [*spans[:i], (covered[i][1], spans[i][1]), *spans[i + 1 :]]


def _meet(one: tuple[Span, ...], other: tuple[Span, ...]) -> bool:
    return all(max(a, c) < min(b, d) for (a, b), (c, d) in zip(one, other, strict=True))


@dataclass(eq=False)
class Walks:
    """The traces of loops, each walked once."""

    stages: Stages
    _traces: dict[tuple[str, int, bool], Trace | NoGroupError] = field(default_factory=dict)
    _moved: dict[str, tuple[frozenset[str], ...]] = field(default_factory=dict)

    @cached_property
    def whole(self) -> Trace:
        """The stages without loops."""
        return Trace(self.stages, None, 1, retains=False)

    def trace(self, loop: str, tile: int, *, retains: bool) -> Trace:
        """Walk a loop. Raises NoGroupError."""
        key = loop, tile, retains
        if key not in self._traces:
            try:
                self._traces[key] = Trace(self.stages, loop, tile, retains=retains)
            except NoGroupError as error:
                self._traces[key] = error
        trace = self._traces[key]
        if isinstance(trace, NoGroupError):
            raise trace
        return trace

    def moved(self, loop: str) -> tuple[frozenset[str], ...]:
        """Return per stage the dims whose ranges a loop changes, in steps of one."""
        if loop not in self._moved:
            own, moved = self.trace(loop, 1, retains=False), []
            for stage, whole in enumerate(self.whole.boxes[0]):
                boxes = [box for boxes in own.boxes if (box := boxes[stage]) is not None]
                assert whole is not None, "without loops each stage runs"
                moved.append(frozenset(dim for dim in whole if any(box[dim] != whole[dim] for box in boxes)))
            self._moved[loop] = tuple(moved)
        return self._moved[loop]

    @cached_property
    def shared(self) -> list[str]:
        """The dims of the last stage that may be shared: of several steps, that move what a stage before computes.

        Dims of filters are none: they stand in a window and not in the output. Raises Refused where two of them would
        move one dim, or one window, of a stage.
        """
        dims = [dim for dim in self.stages.last.dims if self._may_share(dim)]
        for stage, layer in enumerate(self.stages.layers):
            windows = [frozenset(term.dim for term in rank) for tensor in layer.tensors for rank in tensor.ranks]
            for together in [*windows, *(frozenset({dim}) for dim in layer.dims)]:
                if sum(bool(together & self.moved(dim)[stage]) for dim in dims) > 1:
                    raise Refused(f"two shared loops move one window of {layer.name}")
        return dims

    def _may_share(self, dim: str) -> bool:
        last = self.stages.last
        windows = {term.dim for tensor in last.tensors for rank in tensor.ranks if len(rank) > 1 for term in rank}
        if last.size(dim) == 1 or (dim in windows and dim not in last.output.dims):
            return False
        return any(needs != self.whole.needs[0] for needs in self.trace(dim, 1, retains=False).needs)
