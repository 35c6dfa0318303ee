"""Runs a designer over the candidates of a sweep: trials side by side, each kept in the store as soon as it is done."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ..designs import DESIGNERS, Designer, Finding, Settings, Standing, Trial, note, outdone
from ..exploration.sets import KnownLayer, PowerLimit, known_layers
from ..mapspace import PRESETS, Preset
from ..problem import ROUNDING
from ..report import Json
from ..runtime import InternalError, Workers, in_order
from .candidates import Candidates
from .cheapest import cheaper
from .neighbours import neighbour_row, neighbours_of
from .optimised import Optimised, interval, proofs_of, standing_of
from .pieces import PointPiece, SetPiece, search_piece
from .plan import Plan, Point
from .store import PointOutcome, Store

ALL_REMAINDERS: Preset = "ruby"  # the mapspace that has all mappings of every other


Tell = Callable[[Any], None]


class _Done(NamedTuple):
    """A trial that was made, and by workload where the store has what came of it."""

    trial: Trial
    keys: tuple[str, ...]
    results: tuple[Json, ...] = ()  # what came of it, as long as it is needed: of many sets it takes much room


class Optimiser:
    """A running designer."""

    def __init__(self, plan: Plan, store: Store, jobs: int | str, tell: Tell | None, *, apart: bool = False) -> None:
        self.plan, self.store, self.jobs, self.tell = plan, store, jobs, tell
        candidates = Candidates.judged(plan, jobs, tell)
        self.standing = standing_of(candidates, apart=apart)
        self.standing.outdone = outdone(candidates.space, self.standing.wanted)
        self.optimised = Optimised(candidates, self.standing)
        self.trials: dict[int, _Done] = {}
        self.beside = False  # whether designs beside the best are searched
        self.workers = Workers(search_piece, plan, jobs)

    def close(self) -> None:
        """Give up the processes, or the cluster."""
        self.workers.close()

    def run(self) -> Optimised:
        """Make the trials that the designer asks for, until it asks for none, or Ctrl-C."""
        try:
            self._pursue(self.standing)
            if self.plan.question.sensitivity:
                self.beside = True
                self._search_beside()
        except KeyboardInterrupt:
            self.optimised.interrupted = True
        return self.optimised

    def designer(self, standing: Standing) -> Designer:
        """Make the designer of the plan, for what `standing` wants."""
        make = DESIGNERS[self.plan.designer].make
        assert make is not None, "a grid needs none"
        settings = Settings(self.plan.question.width, self.plan.seeds[0], self._next_number)
        return make(self.optimised.candidates.space, standing, settings)

    def _pursue(self, standing: Standing) -> None:
        """Make trials until nothing is left that could change what `standing` wants, or no proofs are left for it."""
        designer = self.designer(standing)
        most, before = self.plan.question.proofs, self.optimised.all_proofs
        while (trials := designer.ask()) and (most is None or self.optimised.all_proofs - before < most):
            for trial, _, results in self._made(trials):
                designer.tell(trial, self._finding(trial, results))
            self._tell_progress()

    def take(self, designer: Designer, trial: Trial, finding: Finding | None = None) -> None:
        """Tell a designer what came of a trial: what is given, else what its search says."""
        if finding is None:
            (done,) = self._made([trial])
            finding = self._finding(trial, done.results)
        designer.tell(trial, finding)

    def _search_beside(self) -> None:
        """Search the designs beside the best, and the cheapest one that is better by far; where one of them is a better
        answer (nothing was proven), those beside it in turn."""
        candidates, standing, before = self.optimised.candidates, self.standing, None
        while (best := standing.best_row) is not None and best != before:
            before = best
            rows = (neighbour_row(candidates, best, own) for own in neighbours_of(self.plan, candidates.place(best)[0]))
            self._search({row for row in rows if row is not None and self._can_be_searched(row)})
            if standing.best_row == best and standing.comparable:
                self._pursue(cheaper(candidates, standing, best))

    def _can_be_searched(self, row: int) -> bool:
        return not self.standing.searched[row] and bool(self.optimised.candidates.made[row])

    def _search(self, rows: Collection[int]) -> None:
        """Search single candidates."""
        first = self._next_number
        trials = [Trial(first + at, np.array([row]), self._holding(row)) for at, row in enumerate(sorted(rows))]
        for trial, _, results in self._made(trials):
            note(self.optimised.candidates.space, self.standing, trial, self._finding(trial, results))
        self._tell_progress()

    @property
    def _next_number(self) -> int:
        return max(self.trials, default=-1) + 1

    def _holding(self, row: int) -> int | None:
        """The trial of the smallest set that holds a candidate."""
        sets = (done.trial for done in self.trials.values() if not done.trial.single and row in done.trial.rows)
        smallest = min(sets, key=lambda own: (len(own.rows), -own.number), default=None)
        return None if smallest is None else smallest.number

    def _tell_progress(self) -> None:
        if self.tell:
            self.tell(self.optimised.progress)

    def _made(self, trials: Sequence[Trial]) -> list[_Done]:
        """Make trials."""
        pieces = [self._piece(trial, work) for trial in trials for work in self.plan.workloads]
        results = self._searched(pieces)
        for piece, result in zip(pieces, results, strict=True):
            if isinstance(piece, PointPiece):
                self.optimised.outcomes[self.plan.number(piece.point)] = result
            if self.beside:
                self.optimised.proofs_beside += proofs_of(result)
            else:
                self.optimised.proofs += proofs_of(result)
        width = len(self.plan.workloads)
        keys = list(map(self._key, pieces))
        parts = [slice(at * width, (at + 1) * width) for at in range(len(trials))]
        made = [
            _Done(trial, tuple(keys[part]), tuple(results[part])) for trial, part in zip(trials, parts, strict=True)
        ]
        self.trials |= {done.trial.number: done._replace(results=()) for done in made}
        return made

    def _searched(self, pieces: Sequence[PointPiece | SetPiece]) -> list[Any]:
        """Search pieces side by side, but for those in the store. Of few pieces the layers are, by processes; a worker
        of a cluster searches a whole piece."""
        results: list[Any] = [self._stored(piece) for piece in pieces]
        missing = [number for number, result in enumerate(results) if result is None]
        todo, jobs = [pieces[number] for number in missing], self.jobs
        several = self.optimised.layers > len(self.plan.workloads)
        if several and isinstance(jobs, int) and len(missing) < jobs:
            plan = replace(self.plan, options=replace(self.plan.options, jobs=jobs))
            made = in_order(search_piece, plan, todo, most=1)
        else:
            made = self.workers.in_order(todo, most=1)
        with closing(made):
            for number, result in zip(missing, made, strict=True):
                self._keep(pieces[number], result)
                self.optimised.made += 1
                results[number] = result
        return results

    def _piece(self, trial: Trial, workload: str) -> PointPiece | SetPiece:
        known = self._known(trial, workload)
        if trial.single:
            design, mapspace = self.optimised.candidates.place(int(trial.rows[0]))
            return PointPiece(Point(design, workload, mapspace, self.plan.seeds[0]), known)
        names = {self.optimised.candidates.place(int(row))[1] for row in trial.rows}
        presets = {name.partition("+")[0] for name in names}
        transformation = next(iter(names)).partition("+")[2]
        alone = next(iter(presets)) if len(presets) == 1 else "auto"
        preset = next(name for name in PRESETS if name == alone)
        machine, table = self.optimised.candidates.space.machine(trial.rows)
        space = ALL_REMAINDERS if preset == "auto" else preset
        return SetPiece(machine, table, workload, space, transformation, known, self._limits(trial, workload))

    def _limits(self, trial: Trial, workload: str) -> tuple[PowerLimit, ...]:
        """Of each limit the loosest of all designs of a trial."""
        if not self.plan.question.other_limits:
            return ()
        at, known = list(self.plan.workloads).index(workload), self.optimised.candidates.known
        every = [self.plan.question.limits_of(own[at]) for row in trial.rows if (own := known[int(row)]) is not None]
        loosest = (PowerLimit(own[0][0], max(most for _, most in own)) for own in zip(*every, strict=True))
        return tuple(limit for limit in loosest if limit.most < inf)

    def _known(self, trial: Trial, workload: str) -> Mapping[str, KnownLayer]:
        """What is known of the layers on the machine of the set that holds a trial."""
        if trial.parent is None:
            return {}
        at = list(self.plan.workloads).index(workload)
        bounds = self.store.bounds(self.trials[trial.parent].keys[at])
        assert bounds is not None, "it was kept there"
        return known_layers(bounds)

    def _stored(self, piece: PointPiece | SetPiece) -> PointOutcome | Json | None:
        key = self._key(piece)
        return self.store.outcome(key) if isinstance(piece, PointPiece) else self.store.bounds(key)

    def _key(self, piece: PointPiece | SetPiece) -> str:
        """Where the store has a piece."""
        if isinstance(piece, PointPiece):
            return self.plan.key(piece.point)
        return self.plan.set_key(piece.workload, piece.key)

    def _keep(self, piece: PointPiece | SetPiece, result: Any) -> None:
        if isinstance(piece, PointPiece):
            self.store.add(self._key(piece), result)
        else:
            self.store.add_bounds(self._key(piece), result)

    def _finding(self, trial: Trial, results: Sequence[Any]) -> Finding:
        """What a trial says of the objective, by workload."""
        if not trial.single:
            return Finding(tuple(inf if own["empty"] else own["lower_bound"] or 0.0 for own in results))
        lower, upper = zip(*(interval(self.plan, own) for own in results), strict=True)
        before = self.standing.lower[trial.rows[0]]
        for value, bound in zip(upper, before, strict=True):
            if value < bound * (1 - ROUNDING):
                raise InternalError(
                    "internal error: a design is better than the bound of a set that holds it; please report it"
                )
        return Finding(lower, upper)
