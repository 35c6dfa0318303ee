"""What a search is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real

from ...workloads import InputError, option_fault
from .recorder import GIVE_UP


@dataclass(frozen=True)
class SearchOptions:
    """What to look for, how, and when to stop (whichever rule is met first).

    Several names may be a list or tuple, a budget of mappings a number; what is kept is the text of the command, so
    that one search has one form. `option_faults` checks types and values.
    """

    strategy: str = "random"
    objective: str | Sequence[str] = "edp"
    victory: int | None = 3000  # consecutive valid mappings without improvement (of endless strategies); None: no end
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


NAMES = ("strategy", "objective", "front", "engine")  # and lists of names, as text
WHOLE = ("victory", "samples", "jobs", "seed", "give_up", "valid")
NUMBERS = ("time_limit", "target", "bound")


def _names(text: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(str(text).split(",")) if text else ()


def _joined(names: str | Sequence[object]) -> object:
    """`energy,delay`, from text with blanks or a sequence; what holds other things than names stays as it is."""
    several = names.split(",") if isinstance(names, str) else names
    return ",".join(name.strip() for name in several) if all(isinstance(name, str) for name in several) else names  # type: ignore[attr-defined]


def _whole(value: object) -> object:
    """A whole number as an int, whatever kind of number it is (1e6, an element of an array)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    return int(float(value)) if float(value).is_integer() else value


def read_patience(text: str) -> tuple[float, int]:
    """`0.01:5000` as (0.01, 5000). Raises InputError."""
    fraction, _, number = text.partition(":")
    try:
        return float(fraction), int(number)
    except ValueError:
        raise InputError(option_fault("patience", f'must be FRACTION:N, as 0.01:5000; got "{text}"')) from None
