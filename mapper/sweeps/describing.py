"""Describes designs before anything is searched: the figures of their machines, their kinds, their areas.

The plain way reads the whole architecture of a design, prices it and takes its kind, which costs milliseconds. So the
parts of machines that were described are kept by the values that they depend on, and a design all of whose parts are
known is put together from them, with the same figures to the last bit. What has a fault is described the plain way.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log, prod
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ...energy import BY_COMPONENT, area_um2
from ...workloads import InputError, Keys
from ..designs import ExpressionError, figures, kind_of
from ..designs.parts import Dependences, Groups, Parts
from ..exploration import load
from ..exploration.transforms import transformed
from ..mapping import Floats, Ints
from ..problem import digest
from .inputs import machine_of
from .plan import Plan, design_values

LEFT_OUT = "left out"  # in place of the part of a level that a design does not have
WORTH = 2  # designs for each that is described the plain way, at least, where parts are to be kept


class Described(NamedTuple):
    """A design, or why it cannot be made."""

    kinds: tuple[str, ...] = ()  # by mapspace
    figures: Sequence[float] = ()
    area_um2: float = 0.0
    clock_ns: float | None = None
    message: str = ""


class Block(NamedTuple):
    """Several designs as arrays."""

    names: tuple[str, ...]  # of kinds
    kinds: Ints  # the number of its kind; -1: it cannot be made # (design, mapspace)
    figures: Floats  # padded with nan # (design, figure)
    area_um2: Floats  # (design,)
    clock_ns: Floats  # nan: it has none # (design,)
    places: Floats  # along each group of parameters # (design, group)
    messages: dict[int, str]  # why a design cannot be made, by its place

    @classmethod
    def of(cls, blocks: Iterable["Block"], count: int) -> "Block":
        """Put blocks of so many designs together, in order, each as it comes: no more than one is kept beside them."""
        numbers, messages = dict[str, int](), dict[int, str]()
        kinds, values = list[Ints](), np.full((count, 0), np.nan)
        alone = list[tuple[Floats, ...]]()
        first = 0
        for own in blocks:
            known = [numbers.setdefault(name, len(numbers)) for name in own.names]
            kinds.append(np.array([*known, -1])[own.kinds])
            if (wider := own.figures.shape[1] - values.shape[1]) > 0:
                values = np.pad(values, ((0, 0), (0, wider)), constant_values=np.nan)
            values[first : first + len(own.figures), : own.figures.shape[1]] = own.figures
            first += len(own.figures)
            alone.append((own.area_um2, own.clock_ns, own.places))
            messages |= own.messages
        area, clock, places = (np.concatenate(every) for every in zip(*alone, strict=True))
        return cls(tuple(numbers), np.concatenate(kinds), values, area, clock, places, messages)


def described(plan: Plan, block: range) -> Block:
    """Describe the designs of a plan with these places."""
    describer, designs = _describer(plan), plan.designs[block.start : block.stop]
    with warnings.catch_warnings(action="ignore"):  # points say what is to be known of figures
        every = [describer.described(design) for design in designs]
    names = {name: number for number, name in enumerate(dict.fromkeys(kind for own in every for kind in own.kinds))}
    kinds = np.full((len(every), len(plan.mapspaces)), -1)
    values = np.full((len(every), max(len(own.figures) for own in every)), np.nan)
    for place, own in enumerate(every):
        if own.kinds:
            kinds[place] = [names[kind] for kind in own.kinds]
            values[place, : len(own.figures)] = own.figures
    area = np.array([own.area_um2 for own in every])
    clock = np.array([own.clock_ns for own in every], np.float64)
    places = np.array([_places(plan, design) for design in designs], np.float64).reshape(len(every), len(plan.groups))
    messages = {block.start + place: own.message for place, own in enumerate(every) if own.message}
    return Block(tuple(names), kinds, values, area, clock, places, messages)


def _places(plan: Plan, design: int) -> list[float]:
    """Where the values of a design lie along each parameter: numbers above 0 by their logarithms, others in turn."""
    pairs = zip(plan.groups, plan.indices(design), strict=True)
    return [log(group.columns[0][index]) if group.by_size else float(index) for group, index in pairs]


def described_plainly(plan: Plan, design: int) -> Described:
    """Describe a design: read its architecture, price it, take its kind."""
    try:
        machine, table, _ = machine_of(plan, design)
        kind = kind_of(machine, table, plan.energies.costs)
        kinds = tuple(_with_work(plan, kind, design, mapspace) for mapspace in plan.mapspaces)
    except InputError as error:
        return Described(message="; ".join(dict.fromkeys(map(str, error.faults))))
    except ExpressionError as error:
        return Described(message=str(error))
    values = [figure.value for figure in figures(machine, table)]
    return Described(kinds, values, area_um2(machine, table), machine.clock_ns)


def _with_work(plan: Plan, kind: str, design: int, mapspace: str) -> str:
    """The kind of a design in a mapspace: transformations make other layers of it, perhaps by the design."""
    transformation = mapspace.partition("+")[2]
    if not transformation:
        return kind
    made = []
    for workload in plan.workloads.values():
        machine, work = load(machine_of(plan, design)[0], workload)
        made.append(repr(transformed(machine, work, [transformation])))
    return digest([kind, transformation, *made])


class _Place:
    """A place in an architecture file: what was read there, by the values that it depends on."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._key = itemgetter(*groups) if groups else lambda _: ()
        self._parts: dict[Any, Any] = {}

    def get(self, indices: Sequence[int]) -> Any:
        """What was read there with these values of the parameters; None: nothing yet."""
        return self._parts.get(self._key(indices))

    def put(self, indices: Sequence[int], part: Any) -> None:
        """Keep what was read there."""
        self._parts[self._key(indices)] = part


class _Levels(NamedTuple):
    """A level of the file: where it stands, and each of its axes, or all of them where another level may replace it."""

    level: _Place
    axes: tuple[_Place, ...]
    together: bool


class Describer:
    """Describes the designs of a plan one by one, and keeps the parts of their machines."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.kinds = plan, dict[tuple[Any, ...], str]()
        self.levels: list[_Levels] = []
        self.whole = self.compute = _Place(())
        self.variables: list[_Place] = []  # variables: whether they can be computed
        self.dependences = Dependences(plan.document, plan.keys, plan.groups)
        self.by_parts = _priced_by_part(plan) and self._worth()

    def described(self, design: int) -> Described:
        """Describe a design."""
        if not self.by_parts:
            return described_plainly(self.plan, design)
        indices = self.plan.indices(design)
        known = self._put_together(indices)
        if known is None:
            known = described_plainly(self.plan, design)
            if not known.message:
                self._keep(design, indices, known)
        return known

    def _worth(self) -> bool:
        """Find the places of the file; whether enough designs share what is read there."""
        plan, dependences = self.plan, self.dependences
        for number, level in enumerate(plan.document.data["levels"]):
            at: Keys = ("levels", number)
            if number in dependences.replaced.values():
                self.levels.append(_Levels(_Place(dependences.of(at)), (_Place(dependences.of(at)),), together=True))
                continue
            axes = level.get("fanout") if isinstance(level, dict) else None
            numbers = range(len(axes) if isinstance(axes, list) else 0)
            places = tuple(_Place(dependences.of((*at, "fanout", axis))) for axis in numbers)
            self.levels.append(_Levels(_Place(dependences.of(at, without="fanout")), places, together=False))
        self.whole = _Place(dependences.shared)
        self.compute = _Place(dependences.of(("compute",)))
        written = plan.document.data.get("variables")
        self.variables = [_Place(dependences.of(("variables", name))) for name in written or ()]
        every = [self.compute, *self.variables, *(place for own in self.levels for place in (own.level, *own.axes))]
        most = max(prod(plan.groups[number].size for number in place.groups) for place in every)
        return most * WORTH <= len(plan.designs)

    def _put_together(self, indices: Sequence[int]) -> Described | None:
        """Describe a design by parts that are known; None: one of them is not."""
        whole, compute, levels = self.whole.get(indices), self.compute.get(indices), []
        for own in self.levels:
            level, axes = own.level.get(indices), [place.get(indices) for place in own.axes]
            if level is None or None in axes:
                return None
            if level is not LEFT_OUT:
                levels.append((level, [axis for several in axes for axis in several]))
        if whole is None or compute is None or any(place.get(indices) is None for place in self.variables):
            return None
        parts, (clock_ns, max_loops) = Parts(levels, compute), whole
        kind = self.kinds.get((max_loops, *parts.kinds))
        if kind is None:
            return None
        return Described((kind,) * len(self.plan.mapspaces), parts.figures(), parts.area_um2(), clock_ns)

    def _keep(self, design: int, indices: Sequence[int], known: Described) -> None:
        """Keep the parts of a design that was described the plain way."""
        machine, table, _ = machine_of(self.plan, design)
        parts, values = Parts.of(machine, table, self.plan.energies.costs), design_values(self.plan, design)
        without = {level for name, level in self.dependences.replaced.items() if values[name] is None}
        made = iter(parts.levels)
        for number, own in enumerate(self.levels):
            level, axes = (LEFT_OUT, ()) if number in without else next(made)
            own.level.put(indices, level)
            several = [axes] if own.together else [(axis,) for axis in axes]
            for place, part in zip(own.axes, several, strict=True):
                place.put(indices, part)
        self.whole.put(indices, (machine.clock_ns, machine.max_loops))
        self.compute.put(indices, parts.compute)
        for place in self.variables:
            place.put(indices, True)
        self.kinds[(machine.max_loops, *parts.kinds)] = known.kinds[0]


@lru_cache(maxsize=2)
def _describer(plan: Plan) -> Describer:
    """The describer of a plan in this process."""
    return Describer(plan)


def _priced_by_part(plan: Plan) -> bool:
    """Whether what is known of a design is that of its parts: no program prices it as a whole, no transformation looks
    at all of it."""
    data: Mapping[str, Any] | Any = plan.document.data
    levels = data.get("levels") if isinstance(data, dict) else None
    alone = not any("+" in mapspace for mapspace in plan.mapspaces)
    return isinstance(levels, list) and alone and plan.energies.engine in BY_COMPONENT
