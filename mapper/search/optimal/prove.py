"""`--search optimal`: the best mapping of a mapspace, or its front, with a proof that no other is better.

Branch and bound over chains (branch_and_bound.py) with a bound that holds for all loop orders (relaxation.py); of each
combination of chains that the bound cannot rule out, the best loop orders (leaves.py). docs/optimal.md argues why
nothing better is passed over. Stopped early, by time or Ctrl-C, it gives the best found and what is proven so far.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ....energy import EnergyTable
from ...certificate import Choice, Layer
from ...mapping import Floats, MappingBatch
from ...mapspace import Mapspace
from ...model import OBJECTIVES, CostOptions, InternalError, Objective, figures_exact
from ...model.bounds import ROUNDING, Bound, Geometric, Relaxation, ideal
from ...runtime import Part, TimeUp
from ..coverage import Coverage
from ..options import NEVER, SearchOptions
from ..outcome import FrontProof, Outcome, Point
from ..recorder import Recorder, Statistics, Stop
from ..run import search_chunks
from .branch_and_bound import Branching, Evaluate, importance
from .certify import layer_said
from .incumbents import BestIncumbent, FrontIncumbents, Incumbents, without_equals
from .keep_choice import KeepChoice
from .leaves import LeafEvaluator
from .local_search import LocalSearch

MOST_CHAINS = 300_000  # chain combinations of one group of dims; beyond that only the ideal bounds are known
MOST_KEPT = 2**14  # choices of what is kept; each is bounded by itself, in some hundredths of a second
FIRST_LOOK = 30_000  # mappings drawn at random for a first best
STARTS = 3  # mappings drawn at random and improved
SEEN_ALL = "every mapping ruled out or seen"
LEFT_OPEN = f"{SEEN_ALL} but some with too many loop orders"
BOUNDED = "choices of what is kept bounded"
INEXACT = "no proof: figures of this layer may pass 2^53, where they are rounded"
UNCOUNTED = "no proof: not every combination of chains is accounted for, an internal error; please report it"


def optimal(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
    checkpoint: Part | None = None,
) -> Outcome:
    """The best mapping of `space`, with `lower_bound` and whether it is `optimal`; with `options.front` also the front
    and its `proof`.

    A finished search that `checkpoint` holds is told again; one that was interrupted, or that the time limit ended and
    that has a longer one now, begins with its best.
    """
    work = _Optimal(space, table, options, costs or CostOptions(), progress, checkpoint)
    if checkpoint and (state := checkpoint.load()):
        if not _goes_on(state, options.time_limit, checkpoint):
            return _restored(space, state)
        work.go_on(state)
    outcome = work.run()
    if checkpoint:
        finished = not outcome.statistics.interrupted
        checkpoint.save(_state(space, outcome, outcome.statistics.stopped_by if finished else ""))
    return outcome


def lower_bound(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    best: MappingBatch,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
) -> Outcome:
    """What no mapping of `space` can beat, in `lower_bound`, after `options.bound` seconds of proof; with 0 seconds,
    what is known of the mapspace as a whole.

    `best` is a mapping found by any search; the proof may find a better one.
    """
    seconds = options.bound or 0.0
    proof = replace(options, strategy="optimal", objective=options.objectives[0], front="", time_limit=seconds or None)
    work = _Optimal(space, table, proof, costs or CostOptions(), progress, given=best, root_only=not seconds)
    return work.run()


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of what is kept that were bounded so far. Replaced as a whole, as Ctrl-C may come any time."""

    waiting: tuple[KeepChoice, ...] = ()  # those that may hold something better
    left: Coverage = Coverage()  # what became of the combinations of the others,
    said: tuple[Choice, ...] = ()  # and what the certificate says of them, where one is asked for


@dataclass(eq=False)
class _Optimal:
    space: Mapspace
    table: EnergyTable
    options: SearchOptions
    costs: CostOptions
    progress: Callable[[Recorder], None] | None = None
    checkpoint: Part | None = None
    given: MappingBatch | None = None  # to begin with
    root_only: bool = False  # bound the mapspace as a whole, and stop
    before: Outcome | None = None  # what is proven already
    choices: Choices = Choices()
    bounded: bool = False  # whether `waiting` bounds all that is not seen yet

    def __post_init__(self) -> None:
        objective = self.objective
        self.recorder = Recorder(Stop(None, time_limit=self.options.time_limit))
        self.incumbents: Incumbents = FrontIncumbents(objective) if self.options.front else BestIncumbent(objective)
        self.every = LeafEvaluator(self.space, self.table, self.costs, self.incumbents, self.recorder, self._late)
        self.local_search = LocalSearch(self.every)
        self.rng = np.random.default_rng(self.options.seed)
        self.ideal = ideal(self.space.arch, self.space.workload, self.table)

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Begin with the mappings of an earlier search, and with what it proved."""
        self.before = _restored(self.space, state)
        self.recorder.statistics = replace(self.before.statistics, stopped_by="")
        trace = list(self.statistics.trace)
        self.given = self.before.best
        for batch in [*([] if self.given is None else [self.given]), *self.before.front]:
            self.every.offer(batch)
        self.statistics.trace = trace

    def run(self) -> Outcome:
        self.began = time.monotonic() - self.statistics.seconds
        try:
            self._first_look()
            self._prove()
        except TimeUp:
            self.statistics.stopped_by = "time limit"
        except KeyboardInterrupt:
            self.statistics.stopped_by = "interrupted"
        self.statistics.seconds = time.monotonic() - self.began
        return self._outcome()

    @property
    def objective(self) -> Objective:
        """The one to minimise."""
        return OBJECTIVES[self.options.objectives[0]]

    @property
    def waiting(self) -> tuple[KeepChoice, ...]:
        """The choices of what is kept that may hold something better."""
        return self.choices.waiting

    @property
    def statistics(self) -> Statistics:
        return self.recorder.statistics

    def _first_look(self) -> None:
        """A first best: the one given, or from a random search, a short one if a proof can follow."""
        if self.given is not None:
            self.every.offer(self.given)
            return
        look, limit = replace(self.options, strategy="random"), self.options.time_limit
        if not self._hindrance:
            look = replace(look, samples=FIRST_LOOK, time_limit=None if limit is None else limit / 4)
        elif limit is not None:
            look = replace(look, victory=NEVER)  # nothing follows that could use the time
        outcome = search_chunks(self.space, self.table, look, self.costs)
        seen, found = self.statistics, outcome.statistics
        seen.evaluated, seen.valid, seen.invalid = found.evaluated, found.valid, found.invalid
        for batch in [*outcome.front, *([] if outcome.best is None else [outcome.best])]:
            self.every.offer(batch)
        if found.interrupted:
            raise KeyboardInterrupt

    # Proof

    @property
    def _hindrance(self) -> str:
        """Why nothing can be proven: chains or choices of what is kept cannot be listed, or bounds would be rounded."""
        if not figures_exact(self.space.arch, self.space.workload):
            return INEXACT
        if self.every.most > MOST_CHAINS:
            return f"no proof: more than {MOST_CHAINS:,} chains of one dim or window"
        return f"no proof: more than {MOST_KEPT:,} choices of what is kept" if self._choices > MOST_KEPT else ""

    @property
    def _choices(self) -> int:
        return self.space.size.bypass

    def _prove(self) -> None:
        """Open nodes of all choices of kept tensors until none can beat the best, or time is up."""
        if hindrance := self._hindrance:
            self.statistics.stopped_by = hindrance
            return
        self.every.make(self._check)
        self._bound()
        if self.root_only:
            self.statistics.stopped_by = "the mapspace bounded as a whole"
        else:
            self._branch()

    def _bound(self) -> None:
        """Bound every choice of kept tensors; those above the best are dropped at once, with their columns."""
        root, limit = np.inf, self.incumbents.cutoff
        powers = self.objective.powers if isinstance(self.incumbents, BestIncumbent) else None
        for i, keep in enumerate(self.space.every_keep(), 1):
            self._check()
            relaxed = Relaxation(self.every.groups, self.table, keep, self.costs.leakage)
            if i == self._choices:
                for group in self.every.groups:
                    group.forget()
            one = KeepChoice(relaxed, self._of, Geometric(relaxed, powers) if powers else None)
            self.choices = replace(self.choices, waiting=(*self.waiting, one))
            self.bounded = i == self._choices
            if one.least < limit * (1 - ROUNDING):
                one.sharpen()
            root = min(root, one.least)
            if one.least >= limit * (1 - ROUNDING):
                self._close([one])
            self._tell(i)
        if self.incumbents.best is not None and root > limit * (1 + ROUNDING):
            raise InternalError("internal error: a mapping is below the bound of its mapspace; please report it")

    def _rule_out(self) -> None:
        self._close([one for one in self.waiting if one.least >= self.incumbents.cutoff * (1 - ROUNDING)])

    def _close(self, choices: list[KeepChoice]) -> None:
        """Let go of choices that hold nothing better."""
        before = self.choices
        closed = set(choices)
        said = [one.said(self.every.names) for one in choices if self.options.certify]
        self.choices = Choices(
            tuple(one for one in before.waiting if one not in closed),
            sum((one.coverage.closed() for one in choices), before.left),
            (*before.said, *said),
        )

    def _of(self, bound: Bound) -> Floats:
        return self.incumbents.merit(bound.energy_pj, bound.cycles)

    def _branch(self) -> None:
        steps = 1
        while True:
            self._rule_out()
            if not self.waiting:
                seen_all = self.every.unresolved >= self.incumbents.cutoff * (1 - ROUNDING)
                # chains that were left for want of time are not those with too many orders
                self.statistics.stopped_by = SEEN_ALL if seen_all else self.statistics.stopped_by or LEFT_OPEN
                return
            if self._late():
                return
            one = min(self.waiting, key=lambda each: each.least)
            if one.branching is None:
                self._grow(one)
            elif steps % 32 == 0 and steps & (steps - 1) == 0:  # ever more rarely
                one.branching.dive(lambda: self.incumbents.cutoff, self._see(one))
                self.local_search.start(one.relaxed, self.rng, 1)
            else:
                one.branching.step(lambda: self.incumbents.cutoff, self._see(one))
            steps += one.branching is not None
            self._tell()

    def _grow(self, one: KeepChoice) -> None:
        self.local_search.start(one.relaxed, self.rng, STARTS)
        best = self.incumbents.best
        some = np.zeros(len(self.every.groups), np.int64) if best is None else self.every.rows(best)
        weights = importance(one.relaxed, some)
        one.branching = Branching(
            one.relaxed, self._of, weights, one.geometric, self.incumbents.cutoff, certify=self.options.certify
        )

    def _see(self, one: KeepChoice) -> Evaluate:
        return lambda rows, bounds: self.every.see(rows, bounds, one.relaxed.keep)

    def _late(self) -> bool:
        limit = self.options.time_limit
        if limit is None or time.monotonic() - self.began < limit:
            return False
        self.statistics.stopped_by = "time limit"
        return True

    def _check(self) -> None:
        if self._late():
            raise TimeUp

    def _tell(self, begun: int | None = None) -> None:
        """Report progress; `begun`: so many choices of what is kept are bounded, as long as not all are."""
        self.statistics.seconds = time.monotonic() - self.began
        if self.progress:
            self.recorder.proven = self._proven() if self.bounded else f"{begun:,} of {self._choices:,} {BOUNDED}"
            self.progress(self.recorder)
        if self.checkpoint:
            self.checkpoint.offer(lambda: _state(self.space, self._found, ""))

    def _proven(self) -> str:
        """What is known so far, for the line of progress."""
        sets = sum(one.open for one in self.waiting)
        least = min((one.least for one in self.waiting), default=np.inf)
        limit = self.incumbents.cutoff if self.incumbents.best is not None else np.inf
        share = max(0.0, 1 - least / limit) if limit else 0.0
        return f"the best possible at most {share:.2%} below, {sets:,} sets open"

    # What is proven

    @property
    def _found(self) -> Outcome:
        """What is found so far, and what was proven before."""
        front: tuple[MappingBatch, ...] = ()
        if isinstance(self.incumbents, FrontIncumbents):
            stay = np.flatnonzero(without_equals(self.incumbents.energy_pj, self.incumbents.cycles))
            front = tuple(self.incumbents.batches[i] for i in stay.tolist())
        before = self.before or Outcome(None, self.statistics)
        return Outcome(self.incumbents.best, self.statistics, before.lower_bound, front=front, proof=before.proof)

    def _outcome(self) -> Outcome:
        """What is found and proven: no more than the ideal bounds where the combinations do not add up."""
        if self.bounded and self.coverage.total != self.every.number * self._choices:
            self.statistics.stopped_by, self.bounded = UNCOUNTED, False
        found, least = replace(self._found, coverage=self.coverage), self.incumbents.least
        if found.best is None:
            return found
        if isinstance(self.incumbents, FrontIncumbents):
            aim, corners = self.incumbents, self._corners(self.incumbents)
            cycles, energy_pj = np.array(corners).reshape(-1, 2).T
            pending = float(self.objective.value(energy_pj, cycles).min(initial=np.inf))
            proofs = [FrontProof.of(corners), *([found.proof] if found.proof else [])]
            tightest = min(proofs, key=lambda proof: proof.gap(aim.energy_pj, aim.cycles))
            found = replace(found, proof=tightest)
        else:
            pending = min(self._pending, self.every.unresolved)
        lower = min(least, max(pending, self._ideal_value, found.lower_bound or 0.0))
        found = replace(found, lower_bound=lower, optimal=lower >= least * (1 - ROUNDING))
        if self.options.certify and self.bounded:
            found = replace(found, certificate=self._certificate(found, pending))
        return found

    def _certificate(self, found: Outcome, pending: float) -> Layer:
        """What this proof did, for another program to check: the bounds of an earlier one are not in it."""
        choices = (*self.choices.said, *(one.said(self.every.names) for one in self.waiting))
        problem = self.space, self.table, self.costs
        if isinstance(self.incumbents, FrontIncumbents):
            return layer_said(*problem, "front", self.incumbents.batches, 0.0, self._corners(self.incumbents), choices)
        assert found.best is not None
        bound = min(pending, self.incumbents.least)
        return layer_said(*problem, self.objective.name, (found.best,), bound, (), choices)

    @property
    def coverage(self) -> Coverage:
        """What became of the combinations of all choices of what is kept."""
        begun = sum((one.coverage for one in self.waiting), self.choices.left)
        return begun if self.bounded else begun + Coverage(open=self.every.number * self._choices - begun.total)

    @property
    def _ideal_value(self) -> float:
        """What the objective is at least by the ideal bounds."""
        energy_pj, cycles = np.array([self.ideal.energy_pj]), np.array([float(self.ideal.cycles)])
        return float(self.objective.value(energy_pj, cycles)[0])

    @property
    def _pending(self) -> float:
        """The least that the objective can be among mappings not looked at yet."""
        return min((one.least for one in self.waiting), default=np.inf) if self.bounded else self._ideal_value

    def _corners(self, aim: FrontIncumbents) -> list[Point]:
        """Of a front: whatever is not seen lies above one of these."""
        least = (float(self.ideal.cycles), self.ideal.energy_pj)
        if not self.bounded:
            return [least]
        corners = [] if np.isinf(self.every.unresolved) else aim.times(self.every.unresolved)
        for one in self.waiting:
            corners += one.corners(aim)
        return [(max(cycles, least[0]), max(energy_pj, least[1])) for cycles, energy_pj in corners]


# The state for the checkpoint: mappings by their numbers in the mapspace


def _state(space: Mapspace, outcome: Outcome, stopped_by: str) -> dict[str, Any]:
    return {
        "statistics": asdict(outcome.statistics) | {"stopped_by": stopped_by},
        "best": None if outcome.best is None else space.index(outcome.best)[0],
        "lower_bound": outcome.lower_bound,
        "optimal": outcome.optimal,
        "front": [space.index(batch)[0] for batch in outcome.front],
        "corners": None if outcome.proof is None else outcome.proof.corners,
        "coverage": None if outcome.coverage is None else asdict(outcome.coverage),
    }


def _goes_on(state: Mapping[str, Any], limit: float | None, checkpoint: Part) -> bool:
    """Whether the search of that state is unfinished, with this time limit."""
    seen = state["statistics"]
    if seen["stopped_by"] == "time limit" and not checkpoint.final:
        return limit is None or limit > seen["seconds"]
    return not seen["stopped_by"]


def _statistics(state: Mapping[str, Any]) -> Statistics:
    seen = state["statistics"]
    return Statistics(**seen | {"trace": [(n, best) for n, best in seen["trace"]]})


def _restored(space: Mapspace, state: Mapping[str, Any]) -> Outcome:
    best = None if state["best"] is None else space[state["best"]]
    front = tuple(space[index] for index in state["front"])
    corners = state["corners"]
    proof = None if corners is None else FrontProof(tuple((cycles, energy_pj) for cycles, energy_pj in corners))
    coverage = Coverage(**state["coverage"]) if state.get("coverage") else None
    return Outcome(best, _statistics(state), state["lower_bound"], state["optimal"], front, proof, coverage)
