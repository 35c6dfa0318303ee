"""What a sweep runs: designs (values of the parameters) x workloads x mapspaces x seeds, by number, never as a list."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import prod
from random import Random
from typing import Any

from ...arch import Architecture, parse_arch
from ...workloads import Document, Keys, Network, Workload, near
from ...workloads.expressions import arithmetic, is_expression, names_in
from ..search import SearchOptions
from .energy import Energies
from .parameters import with_values

MAX_POINTS = 10_000  # more than these need a limit
MAX_LIMIT = 100_000  # points, and values of one parameter that are not in equal steps

SEARCH = ("strategy", "objective", "victory", "samples", "time_limit")  # options that a store depends on,
STOPS = ("budget", "patience", "target")  # and those that came later
DIGEST = "sha256:"  # begins what stands for a text too long to tell

Values = dict[str, Any]  # parameter -> its value in one design


@dataclass(frozen=True)
class SteppedRange:
    """A range as a sequence that is never written out: it may be astronomically long."""

    first: int | float
    step: int | float
    count: int

    def __getitem__(self, index: int) -> int | float:
        return self.first + index * self.step


@dataclass(frozen=True)
class LinkedParameters:
    """Parameters that vary together: value number i of each belongs to value number i of the others."""

    names: tuple[str, ...]
    columns: tuple[SteppedRange | Sequence[Any], ...]  # (name,) as many values each

    @property
    def size(self) -> int:
        column = self.columns[0]
        return column.count if isinstance(column, SteppedRange) else len(column)

    def values(self, index: int) -> Values:
        return {name: column[index] for name, column in zip(self.names, self.columns, strict=True)}


@dataclass(frozen=True)
class Point:
    """One search of the sweep."""

    design: int  # the number of the parameters' combination
    workload: str
    mapspace: str  # a preset, or PRESET+pad
    seed: int


@dataclass(frozen=True, eq=False)
class Plan:
    """A checked sweep. Sent to each worker once."""

    name: str
    document: Document  # the architecture, its base put in
    keys: Mapping[str, Keys]  # parameter -> its place in the document
    groups: tuple[LinkedParameters, ...]
    workloads: Mapping[str, Workload | Network]  # as the user named them
    mapspaces: tuple[str, ...]
    seeds: tuple[int, ...]
    options: SearchOptions
    distinct: bool
    axes: tuple[str, ...]  # of the frontier: columns of MEASURES in fronts.py
    limit: int | None  # points at most: whole designs, drawn
    energies: Energies = Energies()  # noqa: RUF009  # frozen

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in group.names)

    @property
    def per_design(self) -> int:
        """Points of one design."""
        return len(self.workloads) * len(self.mapspaces) * len(self.seeds)

    @property
    def size(self) -> int:
        """Points without a limit."""
        return prod(group.size for group in self.groups) * self.per_design

    @property
    def size_text(self) -> str:
        """The size as a product of what is varied."""
        factors = [f"{' and '.join(group.names)} {group.size:,}" for group in self.groups if group.size != 1]
        counts = {"workloads": self.workloads, "mapspaces": self.mapspaces, "seeds": self.seeds}
        factors += [f"{name} {len(values)}" for name, values in counts.items() if len(values) != 1]
        return " x ".join(factors) or "1"

    @cached_property
    def designs(self) -> tuple[int, ...]:
        """The numbers of the designs to run, all or as many as the limit admits; a larger limit adds to them."""
        total = self.size // self.per_design
        wanted = total if self.limit is None else min(total, self.limit // self.per_design)
        if wanted == total:
            return tuple(range(total))
        draw, drawn = Random(0), set[int]()
        while len(drawn) < wanted:
            drawn.add(draw.randrange(total))
        return tuple(sorted(drawn))

    @property
    def points(self) -> int:
        """How many points are run."""
        return len(self.designs) * self.per_design

    def point(self, number: int) -> Point:
        """Point `number`: seeds change fastest, then mapspaces, workloads, designs."""
        rest, seed = divmod(number, len(self.seeds))
        rest, space = divmod(rest, len(self.mapspaces))
        design, workload = divmod(rest, len(self.workloads))
        return Point(self.designs[design], list(self.workloads)[workload], self.mapspaces[space], self.seeds[seed])

    def values(self, design: int) -> Values:
        """The parameters' values in a design, expressions computed. Raises ExpressionError."""
        found: Values = {}
        for group in reversed(self.groups):
            design, index = divmod(design, group.size)
            found |= group.values(index)
        return computed({name: found[name] for name in self.parameters})

    def arch(self, design: int) -> Architecture:
        """The architecture of a design. Raises InputError with its faults, or ExpressionError."""
        values = self.values(design)
        return parse_arch(with_values(self.document, {self.keys[name]: value for name, value in values.items()}))

    @cached_property
    def fingerprint(self) -> str:
        """What every point of the sweep depends on; a store with another belongs to another sweep."""
        search, stops = ([getattr(self.options, name) for name in names] for names in (SEARCH, STOPS))
        energies = self.energies.identity
        return _digest([self.name, self.document.data, search, stops, energies, self.distinct, version("ruby-map")])

    @cached_property
    def identity(self) -> dict[str, str]:
        """The parts of that, as a user names them, to say which one differs; long texts by a digest."""
        energies, search = dict(self.energies.identity), {name: getattr(self.options, name) for name in SEARCH + STOPS}
        texts = {"architecture": self.document.data} | {f"energy.{name}": energies.pop(name) for name in ("ert", "art")}
        plain = {"name": self.name, "objective": search.pop("objective"), "version of ruby-map": version("ruby-map")}
        plain |= {f"search.{name}": value for name, value in (search | {"distinct": self.distinct}).items()}
        plain |= {f"energy.{name}": value for name, value in energies.items()}
        digests = {name: f"{DIGEST}{_digest(text)}" for name, text in texts.items()}
        return digests | {name: _told(value) for name, value in plain.items()}

    def key(self, point: Point) -> str:
        """A point as a store knows it: by its values, so that a sweep may be extended."""
        values = design_values(self, point.design) or {"design": point.design}  # without values the point will fail
        workload = self._contents[point.workload]
        return json.dumps([values, point.workload, workload, point.mapspace, point.seed], sort_keys=True)

    @cached_property
    def _contents(self) -> dict[str, str]:
        """What stands for the contents of each workload."""
        return {name: _digest(repr(workload))[:16] for name, workload in self.workloads.items()}


def design_values(plan: Plan, design: int) -> Values:
    """The parameters' values; nothing where an expression of them cannot be computed, as its points say."""
    try:
        return plan.values(design)
    except ExpressionError:
        return {}


class ExpressionError(ValueError):
    """What is wrong with the expression of one parameter."""

    def __init__(self, name: str, message: str) -> None:
        self.name, self.message = name, message
        super().__init__(f"{name}: {message}")


def computed(written: Values) -> Values:
    """`written` with expressions computed: each may use the other parameters that are plain names.

    Raises ExpressionError for the first that cannot be computed.
    """
    values, wrong = solved(written)
    for name, message in wrong.items():
        raise ExpressionError(name, message)
    return values


def solved(written: Values) -> tuple[Values, dict[str, str]]:
    """`written` with expressions computed, and why some cannot be, by parameter.

    One that only waits for another of them is left as it is, without a reason of its own.
    """
    names = {name: value for name, value in written.items() if _is_number(value)}
    waiting = {name: value for name, value in written.items() if _is_computed(value, written)}
    results = dict(_tried(waiting, names))
    while done := {name: result for name, result in results.items() if not isinstance(result, ValueError)}:
        names |= done
        waiting = {name: value for name, value in waiting.items() if name not in done}
        results = dict(_tried(waiting, names))
    needs = {name: _needs(text) - names.keys() for name, text in waiting.items()}
    reasons = {name: _reason(name, str(error), needs, {*names, *waiting}) for name, error in results.items()}
    values = {name: names.get(name, value) for name, value in written.items()}
    return values, {name: reason for name, reason in reasons.items() if reason}


def _needs(text: str) -> set[str]:
    """The names in an expression; none where it is not one, which `arithmetic` tells."""
    try:
        return names_in(text)
    except ValueError:
        return set()


def _reason(name: str, error: str, needs: Mapping[str, set[str]], known: set[str]) -> str:
    """Why an expression that needs `needs[name]` beside what is computed cannot be; "" where another is to blame."""
    unknown = sorted(needs[name] - known)
    if unknown:
        choices = sorted(other for other in known - {name} if "." not in other)
        rule = "an expression may use the other parameters that are bare names"
        which = f"{', '.join(choices) or 'here none'}, and no other variable of the architecture"
        return f"unknown name {unknown[0]!r}: {rule}, {which}{near(unknown[0], choices)}"
    if not needs[name]:
        return error
    together = [other for other in needs if other in _reached(name, needs) and name in _reached(other, needs)]
    if name not in together:
        return ""
    return "is computed from itself" if len(together) == 1 else f"{', '.join(together)} are computed from each other"


def _reached(name: str, needs: Mapping[str, set[str]]) -> set[str]:
    """What `name` waits for, directly and through others."""
    found, more = set[str](), set(needs[name])
    while more:
        found |= more
        more = {other for one in more for other in needs.get(one, ())} - found
    return found


def _tried(waiting: Values, names: Values) -> Iterator[tuple[str, Any]]:
    """The value of each expression, or its ValueError."""
    for name, text in waiting.items():
        try:
            yield name, arithmetic(text, names)
        except ValueError as error:
            yield name, error


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_computed(value: Any, names: Mapping[str, Any]) -> bool:
    """Whether it is an expression, or the name of another parameter; other text (`type: LPDDR4`) stays text."""
    return isinstance(value, str) and (is_expression(value) or value in names)


def _told(value: Any) -> str:
    """An option's value in a message."""
    return "none" if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
