"""What a search is asked for: `SearchOptions`, and what may be wrong with them."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..workloads import Fault, InputError, near
from .budget import read_budget
from .cluster import cluster_faults
from .engine import engine_faults
from .record import GIVE_UP, Stop
from .score import OBJECTIVES, STRATEGIES


@dataclass(frozen=True)
class SearchOptions:
    """What to look for, how, and when to stop (whichever rule is met first)."""

    strategy: str = "random"
    objective: str = "edp"
    victory: int = 3000  # consecutive valid mappings without improvement (of endless strategies)
    samples: int | None = None  # mappings drawn, valid or not
    time_limit: float | None = None  # seconds; the one rule whose effect depends on the machine
    jobs: int = 1
    seed: int = 0
    give_up: int = GIVE_UP  # consecutive invalid mappings (of endless strategies)
    valid: int | None = None  # valid mappings drawn
    patience: tuple[float, int] | None = None  # (f, n): n consecutive valid mappings without an improvement by f
    target: float | None = None  # of the first objective
    front: str = ""  # objectives whose Pareto front to keep
    cluster: str | None = None  # where instead of `jobs` processes here
    budget: str = ""  # mappings (1000000) or seconds (60s) that all layers share; then victory ends none
    prune: bool = True  # skip counts that cannot change the answer
    engine: str = "numpy"  # what runs the model; the answer does not depend on it
    bound: float | None = None  # seconds to prove how good the result of any search is; 0: the mapspace as a whole

    @property
    def objectives(self) -> tuple[str, ...]:
        """What to minimise: the first, then among equals the second..."""
        return _names(self.objective)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the front."""
        return _names(self.front)

    def faults(self) -> list[Fault]:
        """What is wrong with the options, in the user's words."""
        lists = (("objective", self.objectives), ("front", self.axes))
        least = (
            ("victory", self.victory, 1),
            ("samples", self.samples, 1),
            ("jobs", self.jobs, 1),
            ("seed", self.seed, 0),
            ("give-up", self.give_up, 1),
            ("valid", self.valid, 1),
        )
        found = [] if self.strategy in STRATEGIES else [unknown("search", self.strategy, STRATEGIES)]
        found += [] if self.objectives else [unknown("objective", self.objective, OBJECTIVES)]
        for option, names in lists:
            found += [unknown(option, name, OBJECTIVES) for name in names if name not in OBJECTIVES]
            found += [fault(option, "names one of its objectives twice")] if len(set(names)) < len(names) else []
        found += [
            fault(name, f"must be at least {low}, got {n}") for name, n, low in least if n is not None and n < low
        ]
        if self.time_limit is not None and not self.time_limit > 0:
            found.append(fault("time-limit", f"must be more than 0 seconds, got {self.time_limit:g}"))
        return found + self._more_faults()

    def _more_faults(self) -> list[Fault]:
        found = cluster_faults(self.cluster) + engine_faults(self.engine, self.strategy) + self._budget_faults()
        if self.target is not None and not self.target > 0:
            found.append(fault("target", f"must be more than 0, got {self.target:g}"))
        if self.bound is not None and not self.bound >= 0:
            found.append(fault("bound-seconds", f"must be 0 or more, got {self.bound:g}"))
        if self.patience and not (0 < self.patience[0] < 1 and self.patience[1] >= 1):
            given = f"got {self.patience[0]:g}:{self.patience[1]}"
            found.append(fault("patience", f"must be FRACTION:N with 0 < FRACTION < 1 and N at least 1, {given}"))
        if len(self.axes) == 1:
            found.append(fault("front", f'must name two objectives or more, got "{self.front}"'))
        known = self.front and set(self.axes) <= set(OBJECTIVES)
        if self.strategy == "optimal" and known and not {"energy", "delay"} <= set(self.axes):
            rule = "--search optimal proves the front of energy,delay"
            found.append(fault("front", f'{rule}: name both, or use random; got "{self.front}"'))
        if self.strategy == "optimal":
            more: dict[str, object] = {"objective": len(self.objectives) > 1, "patience": self.patience}
            more |= {"target": self.target, "cluster": self.cluster}
            rule = "--search optimal proves the best by one objective, in this process"
            found += [fault(name, f"{rule}: leave this out or use random") for name, given in more.items() if given]
        return found

    def _budget_faults(self) -> list[Fault]:
        if not self.budget:
            return []
        try:
            samples = read_budget(self.budget).samples
        except InputError as error:
            return list(error.faults)
        given = {"samples": self.samples, "time-limit": self.time_limit}
        found = [fault(name, "leave this out: the budget says when to stop") for name, it in given.items() if it]
        if samples and self.strategy == "optimal":
            found.append(fault("budget", f'must be seconds for --search optimal, as 60s; got "{self.budget}"'))
        return found


def stop_rules(options: SearchOptions) -> Stop:
    """When a search with these options ends."""
    more = (options.valid, options.patience, options.target)
    if STRATEGIES[options.strategy].finite:
        return Stop(None, options.samples, options.time_limit, None, *more)
    return Stop(options.victory, options.samples, options.time_limit, options.give_up, *more)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def read_patience(text: str) -> tuple[float, int]:
    """`0.01:5000` as (0.01, 5000). Raises InputError."""
    fraction, _, number = text.partition(":")
    try:
        return float(fraction), int(number)
    except ValueError:
        raise InputError(fault("patience", f'must be FRACTION:N, as 0.01:5000; got "{text}"')) from None


def unknown(option: str, value: str, choices: Iterable[str]) -> Fault:
    """The fault of an option that names none of `choices`."""
    choices = list(choices)
    return fault(option, f'must be one of {", ".join(choices)}; got "{value}"{near(value, choices)}')


def fault(option: str, message: str) -> Fault:
    """Something wrong with an option, in the user's words."""
    return Fault(option, None, "", message)
