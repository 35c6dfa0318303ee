"""How a search goes while it runs: a live line on a terminal, or plain lines for a log."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ...workloads import Workload
from ..exploration import ChangeProgress, PlanProgress, Progress
from ..runtime import print_message
from ..search import Recorder
from ..search.options import read_budget

NAME = 16  # columns of a layer's name, where there is little room
_THOUSANDS = ("", *"kMGTPE")
EVERY = 5.0  # seconds between log lines, and at each end


@dataclass(frozen=True)
class Part:
    """A part of a progress line; those of the least rank are left out first where there is no room, 0 is never."""

    text: str
    rank: int = 0
    short: str = ""  # in its place where there is little room

    @property
    def compact(self) -> "Part":
        """The same in fewer letters, large numbers rounded."""
        return replace(self, text=re.sub(r"\d{1,3}(?:,\d{3})+", _rounded, self.short or self.text))


def _rounded(number: re.Match[str]) -> str:
    """A number with commas, `12,345,678`, as `12.3M`."""
    digits = number[0].replace(",", "")
    value, power = float(f"{float(digits):.3g}"), 0
    while value >= 1000 and power < len(_THOUSANDS) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.4g}{_THOUSANDS[power]}"


def line(layer: Workload, recorder: Recorder) -> list[Part]:
    """Evaluated, valid share, best and when, rate, what remains."""
    seen = recorder.statistics
    short = f"{cut(layer.name, NAME)}: {seen.evaluated:,}"
    parts = [Part(f"{layer.name}: {seen.evaluated:,} mappings", short=short)]
    parts.append(Part(f", {seen.valid / max(seen.evaluated, 1):.1%} valid", 3))
    if seen.trace:
        parts += [Part(f", best {recorder.best:.4g}"), Part(f" at {seen.trace[-1][0]:,}", 4)]
    else:
        parts.append(Part(", none yet"))
    parts.append(Part(f", {seen.rate:,.0f}/s", 2))
    if recorder.pruned:  # shown here alone: it depends on the number of processes
        parts.append(Part(f" ({recorder.pruned / recorder.bounded:.1%} of the valid ruled out by a bound)", 1))
    ending = f", ended by: {seen.stopped_by}" if seen.ended else f", {remaining(recorder)}"
    short = re.sub("the best possible at most", "gap", re.sub(" below, [0-9,]+ sets open", "", ending))
    return [*parts, Part(ending, short=short)]


def text_of(parts: Iterable[Part]) -> str:
    """The whole line."""
    return "".join(part.text for part in parts)


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with an ellipsis where it is longer; many letters of Asia take two."""
    from rich.cells import cell_len  # not before it is needed

    if cell_len(text) <= width:
        return text
    text = text[: max(width, 0)]  # a name may have a million letters
    while text and cell_len(text) >= width:
        text = text[:-1]
    return text + "\N{HORIZONTAL ELLIPSIS}"


def shortened(parts: Sequence[Part], width: int) -> str:
    """The line in one line of the terminal: parts of the least rank go first, then letters and digits, then the end."""
    for rank in sorted({part.rank for part in parts} - {0}):
        if _wide(parts, width):
            parts = [part for part in parts if part.rank != rank]
    if _wide(parts, width):
        parts = [part.compact for part in parts]
    return cut(text_of(parts), width)


def _wide(parts: Sequence[Part], width: int) -> bool:
    text = text_of(parts)
    return cut(text, width) != text


def remaining(recorder: Recorder) -> str:
    """What the stop rules still allow, in the nearest of them; of a proof, how far it is."""
    stop, seen = recorder.stop, recorder.statistics
    if recorder.proven:
        seconds = recorder.expected_seconds
        return recorder.proven + ("" if seconds is None else f", {seconds:.0f} s left")
    allowances = []
    if stop.effort.mappings is not None:
        n = max(stop.effort.mappings - seen.evaluated, 0)
        allowances.append((n / max(seen.rate, 1e-9), f"{n:,} mappings left"))
    if stop.samples is not None:
        n = stop.samples - seen.evaluated
        allowances.append((n / max(seen.rate, 1e-9), f"{n:,} samples left"))
    if stop.time_limit is not None:
        seconds = max(stop.time_limit - seen.seconds, 0.0)
        allowances.append((seconds, f"{seconds:.0f} s left"))
    if stop.victory is not None:
        n = stop.victory - recorder.since
        pace = seen.rate * seen.valid / max(seen.evaluated, 1)  # valid mappings per second
        allowances.append((n / max(pace, 1e-9), f"{n:,} valid to victory"))
    return min(allowances)[1] if allowances else "no end set"


class Progressing:
    """The layers together: how many are over, or what of the budget is used."""

    def __init__(self, layers: int, budget: str) -> None:
        self.layers, self.budget = layers, read_budget(budget).samples if budget else None
        self.seen: dict[str, tuple[int, bool]] = {}  # by layer: mappings looked at, whether it is over

    def line(self, layer: Workload, recorder: Recorder) -> list[Part]:
        """How far all are, then how far this one is."""
        self.seen[layer.name] = (recorder.statistics.evaluated, bool(recorder.statistics.ended))
        own = line(layer, recorder)
        if self.layers == 1:
            return own
        if self.budget:
            done = sum(evaluated for evaluated, _ in self.seen.values())
            return [Part(f"{done:,} of {self.budget:,} mappings; ", short=f"{done:,} of {self.budget:,}; "), *own]
        over = sum(over for _, over in self.seen.values())
        return [Part(f"{over} of {self.layers} layers; ", short=f"{over}/{self.layers}; "), *own]


@contextmanager
def live_line(first: str) -> Iterator[Callable[[Sequence[Part]], None] | None]:
    """Show a line on standard error that changes, `first` at the beginning; yields None where that is no terminal."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status(first) as status:
        # the spinner and a blank stand before it; a line that wraps would leave its parts behind
        yield lambda parts: status.update(escape(shortened(parts, console.width - 3)))


@contextmanager
def progress(
    log: bool, layers: int = 1, budget: str = ""
) -> Iterator[tuple[Progress | None, Callable[[PlanProgress], None] | None]]:
    """Show progress of layers and of plans as log lines, or as a live line on standard error.

    Yields None for both where that is no terminal.
    """
    together = Progressing(layers, budget)
    if log:
        every = Every()
        yield _log(together), lambda step: write_line(plan_line(step)) if every.now() else None
        return
    with live_line("searching") as show:
        if show is None:
            yield None, None
        else:
            yield lambda *seen: show(together.line(*seen)), lambda step: show([Part(plan_line(step))])


@contextmanager
def live_steps[S](log: bool, first: str, line: Callable[[S], str]) -> Iterator[Callable[[S], None] | None]:
    """Show steps as log lines, or as a live line on standard error; yields None where that is no terminal.

    `first`: what the live line says before the first step; `line` formats a step.
    """
    if log:
        every = Every()
        yield lambda step: write_line(line(step)) if every.now() else None
        return
    with live_line(first) as show:
        yield None if show is None else lambda step: show([Part(line(step))])


def plan_line(step: PlanProgress) -> str:
    """Format how far a search of plans is: prices searched, how far the best is from the bound, the effort used."""
    below = 1 - step.least / step.value if step.value else 0.0
    text = f"plans: {step.searched:,} prices of parts, the best possible at most {below:.2%} below"
    return text if step.effort is None else f"{text}, {step.effort:.0%} of the effort"


class Every:
    """Says when a log has its next line: at first, and after EVERY seconds."""

    def __init__(self) -> None:
        self.last = -EVERY

    def now(self, *, always: bool = False) -> bool:
        """Whether it is time for a line."""
        if not always and time.monotonic() - self.last < EVERY:
            return False
        self.last = time.monotonic()
        return True


def _log(together: Progressing) -> Progress:
    every = Every()

    def show(layer: Workload, recorder: Recorder) -> None:
        parts = together.line(layer, recorder)
        if every.now(always=bool(recorder.statistics.ended)):
            write_line(text_of(parts))

    return show


@contextmanager
def steps(log: bool, what: str) -> Iterator[ChangeProgress | None]:
    """Show how many of `what` are done, as `progress` does."""
    seen = 0

    def show_step(done: int, number: int, text: str) -> None:
        nonlocal seen
        if done > seen:
            seen = done
            write_line(f"{done} of {number} {what}; {text}")

    if log:
        yield show_step
        return
    with live_line(what) as show:
        yield None if show is None else lambda done, number, text: show([Part(f"{done} of {number} {what}; {text}")])


def write_line(text: str) -> None:
    """A line of a log, with the time, there at once."""
    print_message(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {text}")
