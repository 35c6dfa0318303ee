"""The plan of a sweep: designs (values of the parameters) x workloads x mapspaces x seeds, by number, not as a list."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from math import prod
from random import Random
from typing import Any

from ...arch import Architecture, parse_arch
from ...workloads import Document, Keys, Network, Workload
from ..designs import (
    DESIGNERS,
    GRID,
    ExpressionError,
    Known,
    LinkedParameters,
    Question,
    Values,
    computed,
    numbers,
    with_values,
)
from ..exploration.sets import NONE
from ..search.options import SearchOptions
from .energy import Energies

MAX_POINTS = 10_000  # more than these need a limit,
MAX_DESCRIBED = 1_000_000  # or so many where a designer chooses which are searched
MAX_LIMIT = 100_000  # points
FILES = 200  # of mapping pages, at most

SEARCH = ("strategy", "objective", "victory", "samples", "time_limit")  # options that a store depends on,
STOPS = ("budget", "patience", "target", "effort")  # and those that came later
UNSET = "none"  # an option that is not given, as messages name it
DIGEST = "sha256:"  # begins the digest that stands for a long text


@dataclass(frozen=True)
class Point:
    """A search of the sweep."""

    design: int  # the number of the parameters' combination
    workload: str
    mapspace: str  # a preset, or PRESET+NAME of a transformation
    seed: int


@dataclass(frozen=True, eq=False)
class Plan:
    """A checked sweep; each worker receives it once."""

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
    limit: int | None  # points at most: whole designs, drawn at random
    energies: Energies = Energies()  # noqa: RUF009  # frozen
    transfer: bool = True  # a point takes the mapping of another point where that is better
    question: Question = Question()  # noqa: RUF009  # frozen
    designer: str = GRID
    mapping_pages: int = FILES
    fuse: str = NONE  # which plans of networks are searched, as of `explore`

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters."""
        return tuple(name for group in self.groups for name in group.names)

    @property
    def grid(self) -> bool:
        """Whether every point is searched."""
        return DESIGNERS[self.designer].make is None

    @property
    def per_design(self) -> int:
        """Points of one design."""
        return len(self.workloads) * len(self.mapspaces) * len(self.seeds)

    @property
    def size(self) -> int:
        """Points without a limit."""
        return prod(group.size for group in self.groups) * self.per_design

    @property
    def all_designs(self) -> int:
        """Designs without a limit."""
        return self.size // self.per_design

    @property
    def size_text(self) -> str:
        """The size as a product of what is varied."""
        counts = {"workloads": self.workloads, "mapspaces": self.mapspaces, "seeds": self.seeds}
        factors = [f"{name} {len(values)}" for name, values in counts.items() if len(values) != 1]
        return " x ".join([*self._varied, *factors]) or "1"

    @property
    def designs_text(self) -> str:
        """The designs, each with each mapspace, as a product of what is varied."""
        spaces = [f"mapspaces {len(self.mapspaces)}"] if len(self.mapspaces) > 1 else []
        return " x ".join([*self._varied, *spaces]) or "1"

    @property
    def _varied(self) -> list[str]:
        return [f"{' and '.join(group.names)} {group.size:,}" for group in self.groups if group.size != 1]

    @cached_property
    def designs(self) -> Sequence[int]:
        """The numbers of the designs to run: all, or as many as the limit admits; a larger limit adds designs."""
        total = self.all_designs
        wanted = total if self.limit is None else min(total, self.limit // self.per_design)
        if wanted == total:
            return range(total)
        draw, drawn = Random(0), set[int]()
        while len(drawn) < wanted:
            drawn.add(draw.randrange(total))
        return tuple(sorted(drawn))

    @property
    def points(self) -> int:
        """How many points are run."""
        return len(self.designs) * self.per_design

    def point(self, number: int) -> Point:
        """Make point `number`: seeds change fastest, then mapspaces, workloads, designs."""
        rest, seed = divmod(number, len(self.seeds))
        rest, space = divmod(rest, len(self.mapspaces))
        design, workload = divmod(rest, len(self.workloads))
        return Point(self.designs[design], list(self.workloads)[workload], self.mapspaces[space], self.seeds[seed])

    def number(self, point: Point) -> int:
        """The number of a point."""
        place = self.places[point.design] * len(self.workloads) + list(self.workloads).index(point.workload)
        place = place * len(self.mapspaces) + self.mapspaces.index(point.mapspace)
        return place * len(self.seeds) + self.seeds.index(point.seed)

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each design among those that are run, by its number."""
        return {design: place for place, design in enumerate(self.designs)}

    def known(self, workload: str, values: Values, area_um2: float, clock_ns: float | None) -> Known:
        """What is known of a design on a workload before any mapping is."""
        work = self.workloads[workload]
        tokens = work.tokens if isinstance(work, Network) else None
        return Known(area_um2, clock_ns, tokens, work.macs, numbers(values))

    def values(self, design: int) -> Values:
        """Compute the parameters' values in a design. Raises ExpressionError."""
        written: Values = {}
        for group, index in zip(self.groups, self.indices(design), strict=True):
            written |= group.values(index)
        return computed(written)

    def indices(self, design: int) -> tuple[int, ...]:
        """Which of its values each group of parameters has in a design. # (group,)"""
        indices = []
        for group in reversed(self.groups):
            design, index = divmod(design, group.size)
            indices.append(index)
        return tuple(indices[::-1])

    def design_with(self, design: int, group: int, index: int) -> int:
        """The number of the design that differs by a value of one group of parameters alone."""
        return design + (index - self.indices(design)[group]) * prod(own.size for own in self.groups[group + 1 :])

    def arch(self, design: int) -> Architecture:
        """Make the architecture of a design. Raises InputError with its faults, or ExpressionError."""
        values = self.values(design)
        return parse_arch(with_values(self.document, {self.keys[name]: value for name, value in values.items()}))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what every point depends on; a store with another fingerprint belongs to another sweep."""
        search, stops = ([getattr(self.options, name) for name in names] for names in (SEARCH, STOPS))
        energies, stops = dict(self.energies.identity), stops if self.options.effort else stops[:-1]
        if not energies["drain_reads"]:  # as in stores of before there was such a choice, nor an effort
            del energies["drain_reads"]
        fuse = [] if self.fuse == NONE else [self.fuse]
        parts = [self.name, self.document.data, search, stops, energies, self.distinct, version("ruby-map"), *fuse]
        return _digest(parts)

    @cached_property
    def identity(self) -> dict[str, str]:
        """The parts of the fingerprint as a user names them, to say which part differs; long texts by a digest."""
        energies, search = dict(self.energies.identity), {name: getattr(self.options, name) for name in SEARCH + STOPS}
        texts = {"architecture": self.document.data} | {f"energy.{name}": energies.pop(name) for name in ("ert", "art")}
        plain = {"name": self.name, "objective": search.pop("objective"), "version of ruby-map": version("ruby-map")}
        plain |= {f"search.{name}": value for name, value in (search | self._choices).items()}
        plain |= {f"energy.{name}": value for name, value in energies.items()}
        digests = {name: f"{DIGEST}{_digest(text)}" for name, text in texts.items()}
        return digests | {name: _shown(value) for name, value in plain.items()}

    @property
    def _choices(self) -> dict[str, object]:
        """What is chosen of searches beside their options."""
        return {"distinct": self.distinct, "fuse": self.fuse}

    def key(self, point: Point) -> str:
        """The key of a point in a store: made of its values, not its number, so that a sweep may be extended."""
        values = design_values(self, point.design) or {"design": point.design}  # without values the point will fail
        workload = self._contents[point.workload]
        # limits of mappings decide which is the best: what was found without them is another point
        limits = [[limit.text for limit in self.question.other_limits]] if self.question.other_limits else []
        text = [values, point.workload, workload, point.mapspace, point.seed, *limits, *self._gap]
        return json.dumps(text, sort_keys=True)

    def set_key(self, workload: str, key: str) -> str:
        """The key in a store of what is proven of a workload on the machine of a set of designs."""
        return json.dumps([key, self._contents[workload], *self._gap])

    @property
    def _gap(self) -> list[float]:
        """The gap with which proofs may end, where there is one."""
        return [self.question.gap] if self.question.gap and not self.grid else []

    @cached_property
    def _contents(self) -> dict[str, str]:
        """A digest of each workload."""
        return {name: _digest(repr(workload))[:16] for name, workload in self.workloads.items()}


def design_values(plan: Plan, design: int) -> Values:
    """The parameters' values in a design; none where an expression cannot be computed, as its points then say."""
    try:
        return plan.values(design)
    except ExpressionError:
        return {}


def _shown(value: Any) -> str:
    """Write the value of an option as messages do."""
    return UNSET if value in (None, "") else str(value).lower() if isinstance(value, bool) else str(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
