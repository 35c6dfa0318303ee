"""What a search is asked for: `SearchOptions`, and what may be wrong with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real

from ...workloads import Fault, InputError, near
from ..model import OBJECTIVES
from ..runtime import cluster_faults
from .budget import read_budget
from .engines import engine_faults
from .recorder import GIVE_UP, Stop
from .score import STRATEGIES


@dataclass(frozen=True)
class SearchOptions:
    """What to look for, how, and when to stop (whichever rule is met first).

    Several names may be a list or tuple, a budget of mappings a number; what is kept is the text of the command, so
    that one search has one form. Of wrong types `faults` tells.
    """

    strategy: str = "random"
    objective: str | Sequence[str] = "edp"
    victory: int = 3000  # consecutive valid mappings without improvement (of endless strategies)
    samples: int | None = None  # mappings drawn, valid or not
    time_limit: float | None = None  # seconds; the one rule whose effect depends on the machine
    jobs: int = 1
    seed: int = 0
    give_up: int = GIVE_UP  # consecutive invalid mappings (of endless strategies)
    valid: int | None = None  # valid mappings drawn
    patience: tuple[float, int] | None = None  # (f, n): n consecutive valid mappings without an improvement by f
    target: float | None = None  # of the first objective
    front: str | Sequence[str] = ""  # objectives whose Pareto front to keep
    cluster: str | None = None  # where instead of `jobs` processes here
    budget: str | float = ""  # mappings (1000000) or seconds (60s) that all layers share; then victory ends none
    prune: bool = True  # skip counts that cannot change the answer
    engine: str = "numpy"  # what runs the model; the answer does not depend on it
    bound: float | None = None  # seconds to prove how good the result of any search is; 0: the mapspace as a whole
    certify: bool = False  # keep what a certificate of the proof needs

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in NAMES and isinstance(value, str | list | tuple):
                value = _joined(value)
            elif option.name in (*WHOLE, "budget"):
                value = _whole(value)
            elif option.name in NUMBERS and isinstance(value, Real) and not isinstance(value, bool):
                value = float(value)
            elif option.name == "patience" and isinstance(value, list):
                value = tuple(value)
            if option.name == "budget" and not isinstance(value, bool):
                value = str(value).strip() if isinstance(value, str | int | float) else value
            object.__setattr__(self, option.name, value)

    @property
    def objectives(self) -> tuple[str, ...]:
        """What to minimise: the first, then among equals the second..."""
        return _names(self.objective)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the front."""
        return _names(self.front)

    def faults(self) -> list[Fault]:
        """What is wrong with the options, in the user's words: first those of a wrong type, as Python lets be given."""
        wrong = {field.name: rule for field in fields(self) if (rule := _type_rule(field.name, self)) is not None}
        given = {name: getattr(self, name) for name in wrong}
        told = [
            fault(
                _OPTION.get(name, name.replace("_", "-")), f"{rule}; got {type(given[name]).__name__} {given[name]!r}"
            )
            for name, rule in wrong.items()
        ]
        defaults = {field.name: field.default for field in fields(self) if field.name in wrong}
        return told + (replace(self, **defaults) if wrong else self)._value_faults()  # type: ignore[arg-type]

    def _value_faults(self) -> list[Fault]:
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
        found += [] if self.objectives else [unknown("objective", "", OBJECTIVES)]
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
            rule = "an optimal search proves the front of energy,delay"
            found.append(fault("front", f'{rule}: name both, or use random; got "{self.front}"'))
        if self.strategy == "optimal":
            more: dict[str, object] = {"objective": len(self.objectives) > 1, "patience": self.patience}
            more |= {"target": self.target, "cluster": self.cluster}
            rule = "an optimal search proves the best by one objective, in this process"
            found += [fault(name, f"{rule}: leave this out or use random") for name, given in more.items() if given]
            if self.samples is not None:
                found.append(fault("samples", f"{PROOF}: leave this out or use random"))
        return found

    def _budget_faults(self) -> list[Fault]:
        if not self.budget:
            return []
        try:
            samples = read_budget(str(self.budget)).samples
        except InputError as error:
            return list(error.faults)
        given = {"samples": self.samples, "time-limit": self.time_limit}
        found = [fault(name, BY_BUDGET) for name, it in given.items() if it]
        if samples and self.strategy == "optimal":
            found.append(fault("budget", f'must be seconds for an optimal search, as 60s; got "{self.budget}"'))
        return found


def stop_rules(options: SearchOptions) -> Stop:
    """When a search with these options ends."""
    more = (options.valid, options.patience, options.target)
    if STRATEGIES[options.strategy].finite:
        return Stop(None, options.samples, options.time_limit, None, *more)
    return Stop(options.victory, options.samples, options.time_limit, options.give_up, *more)


BY_BUDGET = "leave this out: the budget says when to stop"
PROOF = "an optimal search ends with a proof, by a time limit or a budget of seconds"
NEVER = 10**18  # as `victory`: more mappings than any search looks at
NAMES = ("strategy", "objective", "front", "engine")  # and lists of names, as text
WHOLE = ("victory", "samples", "jobs", "seed", "give_up", "valid")
NUMBERS = ("time_limit", "target", "bound")
NONE = ("samples", "valid", "patience", "cluster", *NUMBERS)  # may be left out
_OPTION = {"strategy": "search", "bound": "bound-seconds"}  # where the command has another name


def _names(text: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(str(text).split(",")) if text else ()


def _joined(names: str | Sequence[object]) -> object:
    """`energy,delay`, from text with blanks or a sequence; what holds other things than names stays as it is."""
    several = names.split(",") if isinstance(names, str) else names
    return ",".join(one.strip() for one in several) if all(isinstance(one, str) for one in several) else names  # type: ignore[attr-defined]


def _whole(value: object) -> object:
    """A whole number as an int, whatever kind of number it is (1e6, an element of an array)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    return int(float(value)) if float(value).is_integer() else value


def _type_rule(name: str, options: SearchOptions) -> str | None:
    """What the value of a field must be, where it is of another type."""
    value = getattr(options, name)
    if value is None and name in NONE:
        return None
    kinds: tuple[tuple[Sequence[str], type, str], ...] = (
        (("objective", "front"), str, "must be names, as text or a list"),
        (("strategy", "cluster", "engine"), str, "must be a name"),
        (WHOLE, int, "must be a whole number"),
        (NUMBERS, float, "must be a number"),
        (("budget",), str, "must be a number of mappings, as 1000000, or seconds, as 60s"),
    )
    for some, kind, rule in kinds:
        if name in some:
            return None if isinstance(value, kind) and not isinstance(value, bool) else rule
    if name in ("prune", "certify"):
        return None if isinstance(value, bool) else "must be True or False"
    pair = isinstance(value, list | tuple) and [isinstance(one, int | float) for one in value] == [True, True]
    return None if pair else "must be a pair, FRACTION and N, as (0.01, 5000)"


def idle_faults(options: SearchOptions, given: Iterable[str]) -> list[Fault]:
    """Rules that a user `given` and these options would pass over in silence: a default does no harm, an order does."""
    why = {
        "exhaustive": "an exhaustive search visits every mapping, improvement or not",
        "optimal": PROOF,
    }
    if "victory" not in given:
        return []
    if options.budget:
        return [fault("victory", BY_BUDGET)]
    idle = options.strategy in why
    return [fault("victory", f"{why[options.strategy]}: leave this out or use random")] if idle else []


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
    return fault(option, f'must be one of {", ".join(choices)}; got "{value}"{near(str(value), choices)}')


def fault(option: str, message: str) -> Fault:
    """Something wrong with an option, in the user's words."""
    return Fault(option, None, "", message)
