"""What a property of tensor operators is.

A property says that two terms are equal for all tensors and parameters. Its guard says which of the two terms have to
be computable for that: of an unguarded one either both are or none is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...terms import Term, unknowns
from ...text import term_of

# guards: which of both terms can be computed; ALIKE: both, and their types are equal
NO, LEFT, RIGHT, BOTH, ALIKE = "", "left", "right", "both", "alike"


@dataclass(frozen=True)
class Property:
    """Two equal terms. `inputs` has the sizes of inputs as letters, one size each in all of them: `y:nchw/e` has
    another size along the axis e, `b:x@e` is a vector of as many words as x has along it."""

    name: str
    left_text: str
    right_text: str
    inputs: str
    guard: str = NO
    distinct: tuple[str, ...] = ()  # unknown parameters that differ from each other

    @cached_property
    def left(self) -> Term:
        return term_of(self.left_text)

    @cached_property
    def right(self) -> Term:
        return term_of(self.right_text)

    @property
    def params(self) -> tuple[str, ...]:
        """Return the names of its unknown parameters, in their order."""
        return tuple(dict.fromkeys(own.name for own in unknowns((self.left, self.right))))

    def letters(self, params: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """Return the letters of the sizes of each input, for values of parameters that say which axes are meant."""
        made: dict[str, tuple[str, ...]] = {}
        for one in self.inputs.split():
            name, _, letters = one.partition(":")
            if "@" in letters:
                other, _, axis = letters.partition("@")
                made[name] = made[other][params[axis] : params[axis] + 1]
                continue
            letters, _, axes = letters.partition("/")
            places = {params[axis] for axis in axes}
            made[name] = tuple(letter + "'" * (at in places) for at, letter in enumerate(letters))
        return made


ANY, MAPS = "x:nchw y:nchw", "x:nchw"
