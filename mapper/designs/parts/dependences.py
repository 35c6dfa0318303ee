"""On which parameters each part of a machine depends: those below its keys, and those that its text names.

A part is a variable, a level without its axes, an axis, or the MAC units. What a file says of the whole machine (its
technology, its clock), and which levels there are, decides about all of them.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ....workloads import Document, Keys
from ..linked import LinkedParameters, SteppedRange
from ..parameters import is_level

PARTS = ("levels", "compute", "variables")  # keys of a file; the other keys are about the whole machine
NO_TEXT = "components"  # the key whose expressions are of attributes of a component, not of variables

Groups = tuple[int, ...]  # numbers of groups of parameters that vary together


@dataclass(frozen=True)
class Dependences:
    """The parameters of an architecture file, and on which of them depends what is read there."""

    document: Document
    keys: Mapping[str, Keys]
    groups: Sequence[LinkedParameters]

    def of(self, at: Keys, without: str = "") -> Groups:
        """The groups on which what stands at a place depends; `without` a key below it."""
        return tuple(sorted({*self.shared, *self._of(at, without, set())}))

    @cached_property
    def replaced(self) -> dict[str, int]:
        """The levels in whose place another may stand, by the names of the parameters."""
        return {name: int(keys[1]) for name, keys in self.keys.items() if is_level(keys)}

    @cached_property
    def shared(self) -> Groups:
        """The groups on which everything depends."""
        about = {*self.document.data, *(keys[0] for keys in self.keys.values())} - {*PARTS, NO_TEXT}
        levels = {self._numbers[name] for name in self.replaced}  # which level is the outermost, for one
        return tuple(sorted(levels.union(*(self._of((key,), "", set()) for key in about))))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of the group of each parameter."""
        return {name: number for number, group in enumerate(self.groups) for name in group.names}

    @cached_property
    def _variables(self) -> dict[str, str]:
        """The variables as they are written, by their names as expressions have them."""
        written = self.document.data.get("variables")
        return {_normal(str(name)): name for name in written} if isinstance(written, dict) else {}

    def _of(self, at: Keys, without: str, seen: set[Keys]) -> set[int]:
        """What a place depends on: the parameters below it, and the variables that its text or their values name."""
        if at in seen:
            return set()
        seen.add(at)
        reached, texts = set[int](), [_at(self.document.data, at, without)]
        for name, keys in self.keys.items():
            if keys[: len(at)] == at and not (without and keys[len(at) : len(at) + 1] == (without,)):
                group = self.groups[self._numbers[name]]
                reached.add(self._numbers[name])
                texts += [column for column in group.columns if not isinstance(column, SteppedRange)]
        for word in self._variables.keys() & set(_words(texts)):
            reached |= self._of(("variables", self._variables[word]), "", seen)
        return reached


def _at(data: Any, at: Keys, without: str) -> object:
    """What stands at a place, without one of its keys; None where nothing does."""
    for key in at:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return None
    return {key: own for key, own in data.items() if key != without} if isinstance(data, dict) else data


def _normal(text: str) -> str:
    """A text with its names as Python normalises them."""
    return unicodedata.normalize("NFKC", text)


def _names(text: str) -> Iterator[str]:
    """Everything in a text that may be a name, as Python reads it: also letters behind a number."""
    word = ""
    for sign in f"{text} ":
        if f"_{sign}".isidentifier():
            word += sign
        elif word:
            yield word
            yield word.lstrip("0123456789")
            word = ""


def _words(value: object) -> Iterator[str]:
    """Everything in a value that may be a name in an expression, as Python reads names."""
    if isinstance(value, str):
        yield from _names(_normal(value))
    elif isinstance(value, Mapping):
        yield from _words(list(value.values()))
    elif isinstance(value, Iterable):
        for own in value:
            yield from _words(own)
