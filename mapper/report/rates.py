"""Time, power and throughput of results, wherever the machine has a clock (docs/glossary.md)."""

from abc import ABC, abstractmethod
from typing import Protocol

from ..model.figures import RATES, plain, short

OPERATIONS = 2  # of a MAC: a product and a sum


class Rated(ABC):
    """The rates of a result with a mapping; each is None where the machine has no clock, or energies are not known."""

    @property
    @abstractmethod
    def clock_ns(self) -> float | None:
        """Nanoseconds of a cycle, `clock_ns` of the architecture."""

    @property
    @abstractmethod
    def tokens(self) -> int | None:
        """The tokens of a run, of the network of a language model whose file names them."""

    @property
    @abstractmethod
    def cycles(self) -> int:
        """Cycles of a run."""

    @property
    @abstractmethod
    def known_energy_pj(self) -> float | None:
        """Energy of a run, pJ; None where it is not known."""

    @property
    @abstractmethod
    def macs(self) -> int:
        """MACs of a run, those on zeros of padding included."""

    @property
    @abstractmethod
    def ineffectual_macs(self) -> int:
        """MACs on zeros of padding."""

    @property
    def milliseconds(self) -> float | None:
        """Latency of a run, in ms: cycles * clock_ns / 10^6."""
        return None if self.clock_ns is None else self.cycles * self.clock_ns * 1e-6

    @property
    def watts(self) -> float | None:
        """Mean power over a run, in W: energy / time. 1 pJ per ns is 1 mW."""
        if self.clock_ns is None or self.known_energy_pj is None:
            return None
        return self.known_energy_pj / (self.cycles * self.clock_ns) * 1e-3

    @property
    def tops(self) -> float | None:
        """Operations per second, in 10^12: 2 for each MAC that is not on zeros of padding."""
        if self.clock_ns is None:
            return None
        return OPERATIONS * (self.macs - self.ineffectual_macs) / (self.cycles * self.clock_ns) * 1e-3

    @property
    def tops_per_watt(self) -> float | None:
        """Operations per energy, in TOPS/W, which is operations per pJ."""
        if self.clock_ns is None or not self.known_energy_pj:
            return None
        return OPERATIONS * (self.macs - self.ineffectual_macs) / self.known_energy_pj

    @property
    def tokens_per_second(self) -> float | None:
        """The tokens of a run (`tokens` of a network's file) over its time; None for a network that names none."""
        if self.clock_ns is None or self.tokens is None:
            return None
        return self.tokens / (self.cycles * self.clock_ns * 1e-9)

    @property
    def joules_per_token(self) -> float | None:
        """Energy of a run over its tokens, in J; None without a clock, as the other rates are."""
        if self.clock_ns is None or self.tokens is None or self.known_energy_pj is None:
            return None
        return self.known_energy_pj / self.tokens * 1e-12


class Rates(Protocol):
    """What has rates."""

    @property
    def clock_ns(self) -> float | None: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def milliseconds(self) -> float | None: ...
    @property
    def watts(self) -> float | None: ...
    @property
    def tops(self) -> float | None: ...
    @property
    def tops_per_watt(self) -> float | None: ...
    @property
    def tokens_per_second(self) -> float | None: ...
    @property
    def joules_per_token(self) -> float | None: ...


def rates_json(result: Rates) -> dict[str, object]:
    """Write the clock and the rates as values of JSON; nothing without a clock, no tokens where none are named."""
    if result.clock_ns is None:
        return {}
    names = RATES if result.tokens is not None else RATES[:-2]
    every = {name: getattr(result, name) for name in names}
    return {"clock_ns": plain(result.clock_ns)} | {
        name: None if value is None else plain(value) for name, value in every.items()
    }


def rate_lines(result: Rates) -> list[tuple[str, str, str]]:
    """Name and text of the lines of a report: latency, throughput, power; none without a clock."""
    if result.clock_ns is None:
        return []
    assert result.milliseconds is not None
    assert result.tops is not None
    speed = f"{short(result.tops)} TOPS"
    if result.tokens_per_second is not None:
        speed += f"; {short(result.tokens_per_second)} tokens/s ({result.tokens:,} a run)"
    clock = f"clock {result.clock_ns:g} ns"
    lines = [("latency", f"{short(result.milliseconds)} ms ({clock})", ""), ("throughput", speed, "")]
    if result.watts is not None:
        per_watt = "" if result.tops_per_watt is None else f" ({short(result.tops_per_watt)} TOPS/W)"
        per_token = "" if result.joules_per_token is None else f"; {short(result.joules_per_token)} J/token"
        lines.append(("power", f"{short(result.watts)} W{per_watt}{per_token}", ""))
    return lines
