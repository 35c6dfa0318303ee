"""What searches of sums of prices share, slope after slope: the effort they may use, what they learn, how they end."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..problem import EFFORTS, ROUNDING, Effort
from ..runtime import Workers
from ..search.options import SearchOptions
from ..search.outcome import Ended, Statistics
from .prices import Prices
from .work import BOUNDED, PriceRequest, PriceResult

GAP = 0.005  # between bound and value at a slope, with which a search may end; with thorough effort it goes on
THOROUGH = EFFORTS["thorough"].steps or 0
FAR_APART = 2.0  # times GAP: bound and best of an EDP are no longer close
SHARE = 12  # a search has the steps of so many layers for each of its different layers, those of mappings among them
LEAST_SECONDS = 0.05  # for a price that is searched once it is late


@dataclass(eq=False, kw_only=True)
class SlopeSearch(ABC):
    """A search of prices of parts, for the least sums at one slope after the other."""

    options: SearchOptions
    gap: float = 0.0  # the search at a slope may end with so much between bound and value, as a share
    deadline: float | None = None  # by time.monotonic
    most_steps: int | None = None  # of proofs; the effort
    statistics: Statistics = field(default_factory=Statistics)
    searched: int = 0  # prices
    left_open: bool = False  # at some slope each price was searched as far as its own effort goes

    def allow(self, limits: Effort, layers: int) -> None:
        """Begin with what may be used, for so many different layers."""
        steps, seconds = limits.steps, limits.seconds
        self.gap = GAP if steps is not None and steps < THOROUGH else 0.0
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.most_steps = None if steps is None else SHARE * steps * layers

    @cached_property
    def workers(self) -> Workers:
        """Who searches prices: the same at all slopes, as they keep what they know of groups."""
        jobs = self.options.cluster or self.options.jobs
        return Workers(*self.work(replace(self.options, jobs=1, cluster=None), max(ROUNDING, self.gap / 2)), jobs)

    @abstractmethod
    def work(self, options: SearchOptions, gap: float) -> tuple[Callable[..., Any], Any]:
        """Return what is done to each request, and what all share; a group may end with so much of a gap."""

    @property
    def late(self) -> bool:
        """Whether time is over, which ends the search."""
        late = self.deadline is not None and time.monotonic() >= self.deadline
        if late:
            self.statistics.stop(Ended.TIME_LIMIT)
        return late

    @property
    def used_up(self) -> bool:
        """Whether the effort is used up, which ends the search."""
        used_up = self.most_steps is not None and self.statistics.all_steps >= self.most_steps
        if used_up:
            self.statistics.stop(Ended.EFFORT)
        return used_up

    @property
    def effort(self) -> float | None:
        """The share of the effort that is used; None: it has no limit."""
        return None if not self.most_steps else min(1.0, self.statistics.all_steps / self.most_steps)

    @property
    def seconds_left(self) -> float | None:
        """What a price that is searched now may take; None: it has no limit."""
        return None if self.deadline is None else max(LEAST_SECONDS, self.deadline - time.monotonic())

    def close(self, least: float, value: float) -> bool:
        """Whether bound and value at a slope are close enough."""
        return least >= value * (1 - max(ROUNDING, self.gap))

    def learn(self, prices: Prices, request: PriceRequest, result: PriceResult) -> None:
        """Note what came of a request. Raises KeyboardInterrupt after one that was interrupted."""
        price = prices.every[request.group]
        price.bounded |= request.step == BOUNDED
        price.steps[request.slope] = max(request.step, price.steps.get(request.slope, 0))
        prices.learn(price, request.slope, result.floor, result.costs)
        self.statistics.add(result.statistics)
        self.searched += 1
        if result.statistics.interrupted:
            raise KeyboardInterrupt

    def leave(self) -> None:
        """Leave the workers."""
        if "workers" in self.__dict__:
            self.workers.close()

    def end(self, *, proven: bool, gap: float) -> None:
        """Note why the search ended, unless it is known; `gap` is the share by which bound and best are apart.

        Of a product, or within limits, they may be apart though sums of energy and cycles are known as well as can be.
        """
        if self.statistics.ended:
            return
        if proven:
            self.statistics.stop(Ended.SEEN_ALL)
        elif self.left_open:
            self.statistics.stop(Ended.EFFORT)
        else:
            self.statistics.stop(Ended.CLOSE if gap <= FAR_APART * GAP else Ended.SUMS)
