"""The effort of a search, counted: so its answer depends on neither the machine nor what else runs there."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from ...workloads import Fault, InputError, near, option_fault

STEPS_A_SECOND = 2_000_000  # of a proof, about, on one quiet core


@dataclass(frozen=True)
class Effort:
    """What a search of a layer may do; None: no limit. It ends by what is used up first of its kind.

    An evolution, or another search that proposes mappings, ends by `mappings`; a proof by `steps`. A search that does
    both has both, one after the other or beside each other. `seconds` is a cap: where it ends a search, the answer
    depends on the machine and on its load.
    """

    mappings: int | None = None  # evaluated
    steps: int | None = None  # of a proof: about half a microsecond each, by fixed weights of what is computed
    seconds: float | None = None
    gap: float = 0.0  # a proof of one objective may end once its bound is so near its best, as a share

    @property
    def expected_steps(self) -> int | None:
        """The steps for which a proof plans: those it may do, or about as many as the seconds allow."""
        if self.steps is not None or self.seconds is None:
            return self.steps
        return int(min(self.seconds, 1e9) * STEPS_A_SECOND)

    def faults(self) -> list[Fault]:
        """List the values that are no effort."""
        counts = (("mappings", self.mappings, 1), ("steps", self.steps, 0))
        faults = [
            option_fault("effort", f"{name} must be at least {least}, got {value}")
            for name, value, least in counts
            if value is not None and value < least
        ]
        if self.seconds is not None and not self.seconds > 0:
            faults.append(option_fault("effort", f"seconds must be more than 0, got {self.seconds:g}"))
        if not 0 <= self.gap < 1:
            faults.append(option_fault("effort", f"gap must be from 0 to below 1, got {self.gap:g}"))
        return faults


EFFORTS = {
    "quick": Effort(2**15, STEPS_A_SECOND // 4),
    "normal": Effort(2**18, 10 * STEPS_A_SECOND),
    "thorough": Effort(2**21, 240 * STEPS_A_SECOND),
}
NO_GAP = ("gap", 0.0)  # which is not said
_KINDS: dict[str, Callable[[str], int | float]] = {"mappings": int, "steps": int, "seconds": float, "gap": float}


def effort_text(effort: str | Effort) -> str:
    """Write an effort as text: its name, or as `mappings=100000,steps=2000000`."""
    if isinstance(effort, str):
        return effort.replace(" ", "")
    name = next((name for name, other in EFFORTS.items() if other == effort), None)
    values = ((field.name, getattr(effort, field.name)) for field in fields(effort))
    return name or ",".join(f"{key}={value}" for key, value in values if value is not None and (key, value) != NO_GAP)


def read_effort(text: str) -> Effort:
    """Read a name of EFFORTS, or `mappings=100000,steps=2000000`; an empty text is no limit.

    Raises InputError with every fault.
    """
    if text in EFFORTS:
        return EFFORTS[text]
    values, faults = dict[str, int | float](), list[Fault]()
    for entry in filter(None, text.split(",")):
        name, equals, number = entry.partition("=")
        try:
            values[name] = _KINDS[name](number) if equals else _KINDS[""](number)
        except (KeyError, ValueError):
            rule = f"must be {', '.join(EFFORTS)}, or numbers as mappings=100000,steps=2000000"
            faults.append(option_fault("effort", f'{rule}; got "{text}"{near(text, EFFORTS)}'))
            break
    effort = Effort(**values) if not faults else Effort()  # type: ignore[arg-type]
    if faults := faults + effort.faults():
        raise InputError(faults)
    return effort
