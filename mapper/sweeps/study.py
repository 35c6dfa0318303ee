"""A sweep whose designer is asked and told trial by trial, as studies of optuna are."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...arch import Architecture
from ...workloads import Fault, InputError
from ..designs import DESIGNERS, Finding, Trial, Values
from .answer import Answer
from .file import read_sweep
from .optimise import Optimiser
from .result import SweepResult
from .store import open_store


@dataclass(frozen=True)
class DesignTrial:
    """What a designer asks for: the best mappings of a design, or a bound that holds for a set of designs."""

    trial: Trial
    designs: tuple[Values, ...]  # the parameters of each
    mapspaces: tuple[str, ...]  # of each
    architecture: Architecture  # of the design; of a set one that none of them is better than

    @property
    def single(self) -> bool:
        """Whether it is of one design."""
        return self.trial.single

    @property
    def parameters(self) -> Values:
        """The parameters of a single design. Raises ValueError for a set."""
        if not self.single:
            raise ValueError(f"a set of {len(self.designs)} designs: each has parameters of its own, in `designs`")
        return self.designs[0]


class DesignStudy:
    """A sweep that looks for the best design, step by step; what is searched is kept in the folder `out`.

    >>> with DesignStudy("best_array.yaml", "DIR") as study:  # doctest: +SKIP
    ...     while (trial := study.ask()) is not None:
    ...         study.tell(trial)
    ...     print(study.answer.best)

    Its designer must be one that searches less than all points. With `measured` the objectives of designs come from
    elsewhere, a simulator or a chip: `tell(trial, value)`; nothing is then said of a design by what is known of others,
    and the designer must not go by bounds of our model. Raises InputError as `sweep` does.
    """

    def __init__(
        self,
        given: Path | str | Mapping[str, Any],
        out: Path | str | None = None,
        *,
        jobs: int = 1,
        measured: bool = False,
    ) -> None:
        self.plan, self.measured = read_sweep(given), measured
        row = DESIGNERS[self.plan.designer]
        if self.plan.grid or (measured and row.by_bounds):
            rule = "goes by bounds of our model, which others may lie below: name another designer, as random"
            if self.plan.grid:
                rule = "asks for all points: name what to look for, by minimize, subject_to or pareto, or a designer"
            raise InputError(Fault(self.plan.name, None, "designer", f"{self.plan.designer} {rule}"))
        if measured and (limits := self.plan.question.other_limits):
            objective = self.plan.question.objective
            rule = f"only the objective, {objective}, is told of measured designs: {limits[0].text!r}"
            raise InputError(Fault(self.plan.name, None, "subject_to", rule))
        self._open = ExitStack()
        folder = None if out is None else Path(out)
        store = self._open.enter_context(open_store(folder, self.plan.fingerprint, self.plan.identity))
        try:
            self._optimiser = Optimiser(self.plan, store, jobs, None, apart=measured)
            self._open.callback(self._optimiser.close)
            self._designer = self._optimiser.designer(self._optimiser.standing)
        except BaseException:
            self._open.close()
            raise
        self._waiting: list[Trial] = []  # asked for by the designer, not yet by the user
        self._asked: dict[int, Trial] = {}  # not yet told

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._open.close()

    def ask(self) -> DesignTrial | None:
        """Ask for the next trial; None: the answer is found.

        Several may be asked for before they are told; ValueError says that those have to be told first.
        """
        if not self._waiting:
            if self._asked:
                raise ValueError(f"the next trial depends on those asked for: tell {len(self._asked)} first")
            self._waiting = self._designer.ask()
        if not self._waiting:
            return None
        trial = self._waiting.pop(0)
        self._asked[trial.number] = trial
        candidates = self._optimiser.optimised.candidates
        places = [candidates.place(int(row)) for row in trial.rows]
        designs = tuple(candidates.described(int(row)).values for row in trial.rows)
        machine = self.plan.arch(places[0][0]) if trial.single else candidates.space.machine(trial.rows)[0]
        return DesignTrial(trial, designs, tuple(mapspace for _, mapspace in places), machine)

    def tell(self, asked: DesignTrial, objective: float | Mapping[str, float] | None = None) -> None:
        """Search the mappings of a trial, and tell the designer what is proven of them.

        Of a study of measured designs `objective` says what the objective of mappings (`edp`...) came to, of several
        workloads by their names; inf: there is no mapping. Raises ValueError for a trial that was not asked for.
        """
        trial = asked.trial
        if self._asked.get(trial.number) is not trial:
            raise ValueError(f"trial {trial.number} is not one that was asked for and not told yet")
        if (objective is not None) != self.measured:
            raise ValueError(
                "an objective is told in a study of measured designs, DesignStudy(..., measured=True), only"
            )
        finding = None if objective is None else self._given(objective)
        del self._asked[trial.number]
        self._optimiser.take(self._designer, trial, finding)

    def _given(self, objective: float | Mapping[str, float]) -> Finding:
        works = list(self.plan.workloads)
        given = objective if isinstance(objective, Mapping) else dict.fromkeys(works[:1], objective)
        if set(given) != set(works):
            raise ValueError(f"tell the objective of each workload: {', '.join(works)}")
        values = tuple(float(given[work]) for work in works)
        if not all(value >= 0 for value in values):
            raise ValueError(f"an objective is a number from 0 on, inf where there is no mapping; got {values}")
        return Finding(values, values)

    @property
    def answer(self) -> Answer:
        """The best design and the frontier so far, with what is proven."""
        return Answer(self._optimiser.optimised)

    @property
    def result(self) -> SweepResult:
        """The sweep so far: what was searched here."""
        return SweepResult.of(self._optimiser.optimised)
