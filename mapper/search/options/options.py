"""The options of a search."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from ....workloads import InputError, option_fault
from ...problem import EXACT, Effort, Goal, effort_text, read_effort
from .settings import as_text

GIVE_UP = 1_000_000  # invalid mappings in a row that end an endless search


@dataclass(frozen=True)
class SearchOptions:
    """The objective, the strategy and the stop rules of a search; it ends at the first rule met.

    Several names may be given as a list or tuple, a budget of mappings as a number. The fields store them as text, like
    the command line, so that equal searches have equal options. `option_faults` checks types and values.
    """

    strategy: str = "auto"
    objective: str | Sequence[str] = "edp"
    victory: int | None = 3000  # consecutive valid mappings without improvement (endless strategies); None: no end
    samples: int | None = None  # mappings drawn, valid or not
    time_limit: float | None = None  # seconds; a cap, and the one rule whose effect depends on the machine
    jobs: int = 1
    seed: int = 0
    give_up: int = GIVE_UP  # consecutive invalid mappings (endless strategies)
    valid: int | None = None  # valid mappings drawn
    patience: tuple[float, int] | None = None  # (f, n): n consecutive valid mappings without an improvement by f
    target: float | None = None  # value of the first objective
    front: str | Sequence[str] = ""  # objectives whose Pareto front to record
    cluster: str | None = None  # a cluster, in place of `jobs` processes here
    budget: str | float = ""  # mappings (1000000) or seconds (60s) that all layers share; then victory does not apply
    prune: bool = True  # skip counts that cannot change the answer
    engine: str = "numpy"  # what runs the model; the answer does not depend on it
    bound: float | None = None  # seconds to prove how good the result of any search is; 0: the mapspace as a whole
    certify: bool = False  # record what a certificate of the proof needs
    # asked for the value of each mapping, in place of our model: a command, as text or its words, or a function
    cost_model: str | Sequence[str] | Callable[[dict[str, Any]], float | str] | None = None
    cost_timeout: float = 60.0  # seconds that it has for a mapping
    settings: str | Mapping[str, object] = ""  # of the strategy alone: NAME=VALUE, several with commas
    effort: str | Effort = ""  # quick, normal, thorough, or numbers; "": what the strategy does without (auto: normal)

    def __post_init__(self) -> None:
        for name, convert in _CONVERSIONS:
            object.__setattr__(self, name, convert(getattr(self, name)))

    @property
    def objectives(self) -> tuple[str, ...]:
        """The objectives to minimise: the first; among equals the second, and so on."""
        return _names(self.objective)

    @property
    def goal(self) -> Goal:
        """What to minimise."""
        return Goal(self.objectives, self.axes, str(self.cost_model or EXACT))

    @property
    def limits(self) -> Effort:
        """The effort, capped by the time limit."""
        effort = read_effort(str(self.effort))
        caps = [cap for cap in (effort.seconds, self.time_limit) if cap is not None]
        return replace(effort, seconds=min(caps, default=None))

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the front."""
        return _names(self.front)


NAMES = ("strategy", "objective", "front", "engine")  # and lists of names, as text
WHOLE = ("victory", "samples", "jobs", "seed", "give_up", "valid")
NUMBERS = ("time_limit", "target", "bound", "cost_timeout")


def _names(text: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(str(text).split(",")) if text else ()


def _joined(names: str | Sequence[object]) -> object:
    """Join names to `energy,delay`, from text with blanks or a sequence. Returns other values unchanged."""
    several = names.split(",") if isinstance(names, str) else names
    return ",".join(name.strip() for name in several) if all(isinstance(name, str) for name in several) else names  # type: ignore[attr-defined]


def _whole(value: object) -> object:
    """Convert a whole number of any type (1e6, an element of an array) to int. Returns other values unchanged."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    return int(float(value)) if float(value).is_integer() else value


def _number(value: object) -> object:
    """Convert a number of any type to float. Returns other values unchanged."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value


def _text(value: object) -> object:
    """Write a budget as text. Returns other values unchanged."""
    if isinstance(value, bool):
        return value
    return str(value).strip() if isinstance(value, str | int | float) else value


def _command(value: object) -> object:
    """Join the words of a command. Returns other values unchanged."""
    words = isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
    return shlex.join(value) if words else value  # type: ignore[arg-type]


# how the values of options are stored, in turn
_CONVERSIONS: tuple[tuple[str, Callable[[Any], object]], ...] = (
    *((name, lambda value: _joined(value) if isinstance(value, str | list | tuple) else value) for name in NAMES),
    *((name, _whole) for name in (*WHOLE, "budget")),
    *((name, _number) for name in NUMBERS),
    ("patience", lambda value: tuple(value) if isinstance(value, list) else value),
    ("budget", _text),
    ("cost_model", _command),
    ("effort", lambda value: effort_text(value) if isinstance(value, str | Effort) else value),
    ("settings", lambda value: as_text(value) if isinstance(value, str | Mapping) else value),
)


def read_patience(text: str) -> tuple[float, int]:
    """Read `0.01:5000` as (0.01, 5000). Raises InputError."""
    fraction, _, number = text.partition(":")
    try:
        return float(fraction), int(number)
    except ValueError:
        raise InputError(option_fault("patience", f'must be FRACTION:N, as 0.01:5000; got "{text}"')) from None
