"""The names that expressions in Timeloop's files may use: variables, attributes beside them, sizes of the problem."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, override

from ..expressions import arithmetic, is_expression

Names = Mapping[str, int | float]
MAX_OPEN = 30  # attributes that use each other in turn


def computed(value: Any, names: Names) -> int | float | str:
    """`value` as a number, or a text that says what is wrong with it."""
    if isinstance(value, str):
        try:
            value = arithmetic(value, names)
        except ValueError as error:
            return str(error)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return f"{value!r} is none"
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def names_of_file(data: Any) -> Names:
    """The numbers under `variables`, each of which may use those above it, and how many keys a problem has.

    Those are `len(spec.problem.instance)` and `len(spec.problem.shape.dimensions)`, as Timeloop's front end calls them.
    """
    names: dict[str, int | float] = {}
    root = data if isinstance(data, dict) else {}
    variables = root.get("variables")
    for name, written in variables.items() if isinstance(variables, dict) else ():
        if isinstance(written, int | float | str) and name != "version":
            value = computed(written, names)
            names |= {} if isinstance(value, str) else {name: value}
    for path in (("problem", "instance"), ("problem", "shape", "dimensions")):
        at: Any = root
        for key in path:
            at = at.get(key) if isinstance(at, dict) else None
        if isinstance(at, list | dict):
            names[f"len(spec.{'.'.join(path)})"] = len(at)
    return names


class Siblings(Names):
    """The attributes of a component as numbers, each computed when it is asked for, around them the names outside.

    An attribute may use those beside it, whatever their order; its own name is that outside.
    """

    def __init__(self, attributes: Mapping[str, Any], outside: Names):
        self.attributes, self.outside = attributes, outside
        self.known: dict[str, int | float | str] = {}  # computed, or what is wrong
        self.open: list[str] = []  # the attributes that are being computed, each for the one before it

    def beside(self, name: str) -> "Siblings":
        """The names that the attribute `name` itself may use."""
        siblings = Siblings(self.attributes, self.outside)
        siblings.known, siblings.open = self.known, [name]
        return siblings

    def _is_sibling(self, name: object) -> bool:
        return isinstance(self.attributes.get(str(name)), int | float | str) and self.open[-1:] != [name]

    @override
    def __getitem__(self, name: str) -> int | float:
        if not self._is_sibling(name):
            return self.outside[name]
        if name not in self.known:
            if name in self.open or len(self.open) > MAX_OPEN:
                raise ValueError(f"{name} uses itself" if name in self.open else f"over {MAX_OPEN} attributes in turn")
            self.open.append(name)
            value = computed(self.attributes[name], self)
            self.open.pop()
            self.known[name] = value
        known_value = self.known[name]
        if isinstance(known_value, str):
            raise ValueError(f"{name} is no number: {known_value}")
        return known_value

    @override
    def __contains__(self, name: object) -> bool:
        return self._is_sibling(name) or name in self.outside

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*filter(self._is_sibling, self.attributes), *self.outside)))

    @override
    def __len__(self) -> int:
        return len(list(iter(self)))

    def plain(self, name: str) -> Any:
        """The value of the attribute `name`, a number where it is a text that computes one: `DATAWIDTH * 2`."""
        value, names = self.attributes[name], self.beside(name)
        if not isinstance(value, str) or not (is_expression(value) or value in names):
            return value
        number = computed(value, names)
        return value if isinstance(number, str) else number
