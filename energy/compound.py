"""Compound components: the figures of a class as sums of its parts', and what may be wrong with its definition."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from ..arch import ComponentClass, ComponentPart, Written, component_classes
from ..workloads import Fault, InputError, near, parse_yaml
from ..workloads.expressions import arithmetic
from .primitives import PRIMITIVES, Estimate, Memory, Value, Values

Classes = Mapping[str, ComponentClass]
MAX_DEPTH = 20  # classes inside one another
# Of every class, without being declared: what belongs to the chip.
INHERITED = ("technology_nm", "clock_ns")
TEXTS = ("type",)  # attributes that are a text, or the name of such an attribute of the compound


@cache
def shipped() -> Classes:
    """The compound classes of energy/components.yaml, by name."""
    text = resources.files(__package__).joinpath("components.yaml").read_text(encoding="utf-8")
    return by_name(component_classes(parse_yaml(text, "components.yaml")))


def by_name(classes: Iterable[ComponentClass]) -> dict[str, ComponentClass]:
    """Classes by their names."""
    return {str(definition.name.value): definition for definition in classes}


def _choices(name: str, known: Iterable[str]) -> str:
    known = list(known)
    return f"; known: {', '.join(known)}{near(name, known)}"


def _attributes(classes: Classes, cls: str) -> dict[str, Value | None]:
    """The attributes that a class has, with their defaults; None: must be given."""
    if cls in PRIMITIVES:
        return dict(PRIMITIVES[cls].attributes)
    return {name: default.value for name, default in classes[cls].attributes}


def _actions(classes: Classes, cls: str) -> list[str]:
    return list(PRIMITIVES[cls].actions) if cls in PRIMITIVES else [name for name, _ in classes[cls].actions]


def class_faults(own: Classes, taken: Iterable[str]) -> list[Fault]:
    """All faults of the classes `own` of an architecture, used or not; `taken` are names of built-in classes.

    These are the faults that show without sizes: expressions are computed where a component uses the class.
    """
    classes = {**shipped(), **own}
    built_in = {name.lower() for name in (*taken, *PRIMITIVES)}
    faults = [
        definition.name.fault(f"{name} is a built-in class, a class of yours needs another name")
        for name, definition in own.items()
        if name.lower() in built_in
    ]
    for definition in own.values():
        for part in definition.parts:
            faults += _part_faults(classes, part)
        faults += _term_faults(classes, definition)
    return faults + list(_cycles(own))


def _part_faults(classes: Classes, part: ComponentPart) -> Iterator[Fault]:
    cls = str(part.cls.value)
    if cls not in PRIMITIVES and cls not in classes:
        yield part.cls.fault(f"unknown class {cls!r}{_choices(cls, [*PRIMITIVES, *classes])}")
        return
    known = _attributes(classes, cls)
    for name, value in part.attributes:
        if name not in known and name not in INHERITED:
            yield value.fault(f"{cls} has no attribute {name!r}{_choices(name, [*known, *INHERITED])}")
    given = dict(part.attributes)
    for name, default in known.items():
        if default is None and name not in given:
            yield part.cls.fault(f"{cls} must be given {name}")


def _term_faults(classes: Classes, definition: ComponentClass) -> Iterator[Fault]:
    """The faults of summands of actions that are no PART.ACTION."""
    parts = {part.name: str(part.cls.value) for part in definition.parts}
    for _, terms in definition.actions:
        for term, times in terms:
            name, dot, action = term.partition(".")
            if not dot or name not in parts:
                yield times.fault(f"must be PART.ACTION of a part, got {term!r}{_choices(name, parts)}")
            elif parts[name] in PRIMITIVES or parts[name] in classes:
                actions = _actions(classes, parts[name])
                if action not in actions:
                    yield times.fault(f"{parts[name]} has no action {action!r}{_choices(action, actions)}")


def _cycles(own: Classes) -> Iterator[Fault]:
    """The faults of classes that contain themselves, each cycle once, and of too many inside one another."""
    reported: set[frozenset[str]] = set()
    depth: dict[str, int] = {}  # of the classes walked through, how many are inside one another

    def walk(name: str, way: tuple[str, ...]) -> Iterator[Fault]:
        way, deepest = (*way, name), 0
        for part in own[name].parts:
            cls = str(part.cls.value)
            if cls in way:
                circle = way[way.index(cls) :]
                if frozenset(circle) not in reported:
                    reported.add(frozenset(circle))
                    yield part.cls.fault(f"a class cannot contain itself: {' > '.join((*circle, cls))}")
            elif cls in own:
                if cls not in depth and len(way) < MAX_DEPTH:
                    yield from walk(cls, way)
                deepest = max(deepest, depth.get(cls, MAX_DEPTH))
                if deepest == MAX_DEPTH:
                    yield part.cls.fault(f"at most {MAX_DEPTH} classes inside one another")
        depth[name] = min(deepest + 1, MAX_DEPTH)

    for name in own:
        if name not in depth:
            yield from walk(name, ())


@dataclass
class _Sums:
    """Estimates classes without `class_faults`, each once for the same attributes, and collects the faults of sizes."""

    classes: Classes
    memory: Memory
    faults: list[Fault] = field(default_factory=list)
    known: dict[tuple[str, frozenset[tuple[str, Value]]], Estimate | None] = field(default_factory=dict)

    def value(self, written: Written, names: Values, least: float | None = None) -> int | float:
        """The value of the expression `written`; 0 with a fault where it has none, or one below `least`."""
        numbers = {name: value for name, value in names.items() if not isinstance(value, str)}
        try:
            number = arithmetic(str(written.value), numbers)
            if least is not None and number < least:
                raise ValueError(f"must be at least {least:g}, got {written.value!r} = {number:g}")
        except ValueError as error:
            self.faults.append(written.fault(str(error)))
            return 0
        return number

    def estimate(self, cls: str, given: Values) -> Estimate | None:
        """The estimate of a component of class `cls`; None with its faults. Raises ValueError for sizes without one."""
        key = cls, frozenset(given.items())
        if key not in self.known:
            defaults = _attributes(self.classes, cls)
            if cls in PRIMITIVES:
                values = {name: value for name, value in defaults.items() if value is not None} | dict(given)
                self.known[key] = PRIMITIVES[cls].estimate(values, self.memory)
            else:
                self.known[key] = self.sum(self.classes[cls], given)
        return self.known[key]

    def names(self, definition: ComponentClass, given: Values) -> dict[str, Value]:
        """The attributes of `definition`: as given, else their defaults, which may use those before them."""
        names: dict[str, Value] = {name: given[name] for name in INHERITED if name in given}
        for name, default in definition.attributes:
            names[name] = given[name] if name in given else self.attribute(name, default, names)
        return names

    def sum(self, definition: ComponentClass, given: Values) -> Estimate | None:
        """The estimate of the class `definition` with the attributes `given`; None with its faults."""
        before = len(self.faults)
        names = self.names(definition, given)
        inherited = {name: names[name] for name in INHERITED if name in names}
        parts: dict[str, tuple[Estimate, float]] = {}
        for part in definition.parts:
            attributes = {name: self.attribute(name, value, names) for name, value in part.attributes}
            count = float(self.value(part.count, names, least=0))
            if len(self.faults) > before:
                continue
            try:
                estimate = self.estimate(str(part.cls.value), inherited | attributes)
            except ValueError as error:
                self.faults.append(part.cls.fault(f"{error}"))
                continue
            if estimate is not None:
                parts[part.name] = estimate, count
        times = {
            action: [(term, float(self.value(count, names, least=0))) for term, count in terms]
            for action, terms in definition.actions
        }
        if len(self.faults) > before or len(parts) < len(definition.parts):
            return None
        return _total(definition, parts, times)

    def attribute(self, name: str, written: Written, names: Values) -> Value:
        """The value of the attribute `name`; text is an expression except in TEXTS."""
        if name not in TEXTS or not isinstance(written.value, str):
            return self.value(written, names)
        return names.get(written.value, written.value)


def _total(
    definition: ComponentClass,
    parts: Mapping[str, tuple[Estimate, float]],
    times: Mapping[str, list[tuple[str, float]]],
) -> Estimate:
    """The estimate of a class from its parts, each with its count, and the terms of its actions."""

    def energy(terms: list[tuple[str, float]]) -> float:
        named = ((term.partition("."), count) for term, count in terms)
        return sum(count * parts[part][0].energies[action] for (part, _, action), count in named)

    listed = ", ".join(
        f"{'' if count == 1 else f'{count:g} x '}{name} ({estimate.origin})"
        for name, (estimate, count) in parts.items()
    )
    return Estimate(
        {action: energy(terms) for action, terms in times.items()},
        sum(estimate.leak_uw * count for estimate, count in parts.values()),
        sum(estimate.area_um2 * count for estimate, count in parts.values()),
        f"compound {definition.name.value}",
        listed,
    )


def compound_estimate(classes: Classes, cls: str, given: Values, memory: Memory) -> Estimate:
    """The sums of compound class `cls` for a component with the attributes `given`.

    Raises InputError with every fault of its expressions and sizes; ValueError for attributes that the class lacks or
    that `given` does. The classes have no `class_faults`.
    """
    sums = _Sums(classes, memory)
    estimate = sums.estimate(cls, given)
    if estimate is None or sums.faults:
        raise InputError(dict.fromkeys(sums.faults))
    return estimate
