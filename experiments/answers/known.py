"""What all measurements together know of each problem's optimum, and whether two of them contradict each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from ruby_map.mapper import Result
from searches import Json

INSIDE = {  # mapspaces whose mappings a mapspace has
    "pfm": ("pfm",),
    "ruby-s": ("pfm", "ruby-s"),
    "ruby-t": ("pfm", "ruby-t"),
    "ruby": ("pfm", "ruby-s", "ruby-t", "ruby"),
}
ROUNDING = 1e-9


@dataclass(frozen=True)
class Answer:
    """What a search says of the least EDP of one layer on one machine."""

    machine: str
    workload: str
    mapspace: str
    edp: float | None  # None: no valid mapping was found
    lower_bound: float | None
    optimal: bool

    @property
    def gap(self) -> float:
        """The share by which the optimum may be lower; 1 where nothing is proven."""
        if self.optimal:
            return 0.0
        return 1.0 if self.edp is None or self.lower_bound is None else max(0.0, 1 - self.lower_bound / self.edp)


def answer(machine: str, workload: str, mapspace: str, result: Result) -> Json:
    """The layer's own answer as plain values: its own best, where another mapping was chosen for the network."""
    edp = None if not result.found else result.edp if result.alone is None else result.alone
    closed = result.lower_bound is not None and edp is not None and result.own_gap <= ROUNDING
    return vars(Answer(machine, workload, mapspace, edp, result.lower_bound, closed))


class Known:
    """The answers of all measurements, by problem."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self.answers: dict[tuple[str, str], list[Answer]] = {}
        for known_answer in answers:
            self.answers.setdefault((known_answer.machine, known_answer.workload), []).append(known_answer)

    def best(self, machine: str, workload: str, mapspace: str) -> float:
        """The least EDP known of the mapspace's mappings, those of the mapspaces inside it too; inf without any."""
        inside = self._inside(machine, workload, mapspace)
        return min((known_answer.edp for known_answer in inside if known_answer.edp is not None), default=inf)

    def over_best(self, answer: Json, edp: float | None) -> float:
        """An EDP over the least known of the problem that `answer` (or a case) names; inf without an EDP."""
        best = self.best(answer["machine"], answer["workload"], answer["mapspace"])
        return inf if edp is None else edp / best

    def contradictions(self) -> list[str]:
        """Lower bounds above a mapping that is in the mapspace: then a proof is wrong."""
        contradictions = []
        for (machine, workload), answers in self.answers.items():
            for known_answer in answers:
                best = self.best(machine, workload, known_answer.mapspace)
                if known_answer.lower_bound is not None and best < known_answer.lower_bound * (1 - ROUNDING):
                    where = f"{machine} {workload} {known_answer.mapspace}"
                    contradictions.append(
                        f"{where}: an EDP of {best:.6g} is below the bound {known_answer.lower_bound:.6g}"
                    )
        return contradictions

    def _inside(self, machine: str, workload: str, mapspace: str) -> list[Answer]:
        every = self.answers.get((machine, workload), [])
        return [known_answer for known_answer in every if known_answer.mapspace in INSIDE[mapspace]]
