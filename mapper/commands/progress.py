"""Shows the progress of a search: as a live line on a terminal, or as plain lines for a log."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from ...workloads import Workload
from ..exploration import Progress
from ..runtime import tell
from ..search import Recorder, read_budget

EVERY = 5.0  # seconds between log lines, and at each end


def line(layer: Workload, recorder: Recorder) -> str:
    """Format a line: mappings seen, valid share, best and when it came, rate, what remains."""
    seen = recorder.statistics
    best = "none yet"
    if seen.trace:
        best = f"best {recorder.best:.4g} at {seen.trace[-1][0]:,}"
    share = f"{seen.valid / max(seen.evaluated, 1):.1%} valid"
    text = f"{layer.name}: {seen.evaluated:,} mappings, {share}, {best}, {seen.rate:,.0f}/s"
    if recorder.pruned:  # shown only here: it depends on the number of processes
        text += f" ({recorder.pruned / recorder.bounded:.1%} of the valid ruled out by a bound)"
    return text + (f", {remaining(recorder)}" if not seen.ended else f", ended by: {seen.stopped_by}")


def shortened(text: str, width: int) -> str:
    """Shorten `text` to a line of the terminal: first drop the least important parts, then cut the end."""
    for least in (r" \([^()]* ruled out by a bound\)", r", [\d,]+/s", r", [\d.]+% valid", r" at [\d,]+"):
        if len(text) > width:
            text = re.sub(least, "", text, count=1)
    return text if len(text) <= width else text[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"


def remaining(recorder: Recorder) -> str:
    """Format how far the nearest stop rule is; for a proof, its state."""
    stop, seen = recorder.stop, recorder.statistics
    if recorder.proven:
        return recorder.proven + (f", {max(stop.time_limit - seen.seconds, 0.0):.0f} s left" if stop.time_limit else "")
    left = []
    if stop.samples is not None:
        n = stop.samples - seen.evaluated
        left.append((n / max(seen.rate, 1e-9), f"{n:,} samples left"))
    if stop.time_limit is not None:
        seconds = max(stop.time_limit - seen.seconds, 0.0)
        left.append((seconds, f"{seconds:.0f} s left"))
    if stop.victory is not None:
        n = stop.victory - recorder.since
        pace = seen.rate * seen.valid / max(seen.evaluated, 1)  # valid mappings per second
        left.append((n / max(pace, 1e-9), f"{n:,} valid to victory"))
    return min(left)[1] if left else "no end set"


class Progressing:
    """The progress of all layers: how many are over, or how much of the budget is used."""

    def __init__(self, layers: int, budget: str) -> None:
        self.layers, self.budget = layers, read_budget(budget).samples if budget else None
        self.seen: dict[str, tuple[int, bool]] = {}  # by layer: mappings seen, whether it is over

    def line(self, layer: Workload, recorder: Recorder) -> str:
        """Format the progress of all layers, then that of `layer`."""
        self.seen[layer.name] = (recorder.statistics.evaluated, bool(recorder.statistics.ended))
        own = line(layer, recorder)
        if self.layers == 1:
            return own
        if self.budget:
            return f"{sum(evaluated for evaluated, _ in self.seen.values()):,} of {self.budget:,} mappings; {own}"
        return f"{sum(over for _, over in self.seen.values())} of {self.layers} layers; {own}"


@contextmanager
def progress(log: bool, layers: int = 1, budget: str = "") -> Iterator[Progress | None]:
    """Show progress as log lines, or as a live line on standard error; yields None where that is no terminal."""
    together = Progressing(layers, budget)
    if log:
        yield _log(together)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("searching") as status:
        # a spinner and a blank precede it; a wrapped line would leave parts on the screen
        yield lambda layer, recorder: status.update(
            escape(shortened(together.line(layer, recorder), console.width - 3))
        )


def _log(together: Progressing) -> Progress:
    last = -EVERY

    def show(layer: Workload, recorder: Recorder) -> None:
        nonlocal last
        now, text = time.monotonic(), together.line(layer, recorder)
        if recorder.statistics.ended or now - last >= EVERY:
            last = now
            write_line(text)

    return show


def write_line(text: str) -> None:
    """Write a line of a log at once, with the time."""
    tell(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {text}")
