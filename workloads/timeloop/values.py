"""Reads Timeloop's files, which are loosely shaped YAML, value by value and collects every fault."""

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

from ..faults import Fault, InputError, InputWarning
from ..reading import Document, Keys, near, path_text
from ..shapes import MAX_WORDS
from .names import Names, computed, names_of_file

# The local tags of the 0.4 dialect, for `read_yaml(..., tags=TIMELOOP_TAGS)`.
TIMELOOP_TAGS = ("Component", "Container", "Element", "Hierarchical", "Nothing", "Parallel", "Pipelined")

_SEPARATOR = re.compile(r"[\s,;]+(?=[A-Za-z_])")
_FACTOR = re.compile(r"([A-Za-z_]\w*?)(<=|>=|=)?(\d+)(?:,(\d+))?")


_DENSE: ContextVar[bool] = ContextVar("_DENSE", default=False)


@contextmanager
def dense_part(*, only: bool = True) -> Iterator[None]:
    """Read the dense part of sparse designs meanwhile: what sparsity would save is left out, with a warning."""
    token = _DENSE.set(only)
    try:
        yield
    finally:
        _DENSE.reset(token)


class Factor(NamedTuple):
    """An entry of a `factors` text: `M=4`, `M<=4`, `M4`, and in mappings `M=4,2` (bound, residual)."""

    dim: str
    op: str  # =, <=, >=
    bound: int
    residual: int | None


def underscored(document: Document) -> Document:
    """The document with the older spelling of keys (`block-size`) written as the newer one (`block_size`)."""

    def key(part: str | int) -> str | int:
        return part.replace("-", "_") if isinstance(part, str) else part

    def rewrite(value: Any, path: Keys) -> Any:
        if isinstance(value, list):
            return [rewrite(item, (*path, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        values: dict[str, Any] = {}
        for name, item in value.items():
            if key(name) in values:
                faults.append(document.fault((*path, name), f'duplicate key "{name}": the same as "{key(name)}"'))
            values[str(key(name))] = rewrite(item, (*path, name))
        return values

    faults: list[Fault] = []
    data = rewrite(document.data, ())
    if faults:
        raise InputError(faults)
    return replace(document, data=data, places={tuple(map(key, path)): at for path, at in document.places.items()})


class Reader:
    """Takes values from a document and collects their faults; `finish` raises them all."""

    def __init__(self, document: Document):
        self.document = underscored(document)
        self.faults: list[Fault] = []
        self.wrong_keys: set[str | int] = set()  # the last key of each path that has a fault
        self.sparse_keys: list[str] = []  # that are left out
        self.names: Names = names_of_file(self.document.data)

    def fault(self, path: Keys, message: str) -> None:
        """Adds a fault of the value at `path`."""
        self.faults.append(self.document.fault(path, message))
        self.wrong_keys.update(path[-1:])

    def warn(self, path: Keys, message: str) -> None:
        """Warns of what the value at `path` does, where that is not what it may seem."""
        source, line, text = self.document.location(path)
        place = source if line is None else f"{source}:{line}"
        warnings.warn(": ".join(part for part in (place, text, message) if part), InputWarning, stacklevel=2)

    def sparse(self, path: Keys, message: str) -> None:
        """Adds the fault of something that sparse designs say, or notes it where the dense part is asked for."""
        if _DENSE.get():
            self.sparse_keys.append(path_text(path))
        else:
            self.fault(path, f"{message}; --ignore-sparsity counts the dense part")

    def finish(self) -> None:
        """Raises InputError where there are faults; warns of what is left out."""
        if self.sparse_keys:
            keys = ", ".join(dict.fromkeys(self.sparse_keys))
            message = f"{self.document.source}: the dense part is counted, as if these were not there: {keys}"
            warnings.warn(message, InputWarning, stacklevel=2)
            self.sparse_keys.clear()
        if self.faults:
            raise InputError(dict.fromkeys(self.faults))

    def value(self, path: Keys) -> Any:
        """The value at `path`; None where there is none."""
        try:
            return self.document.get(path)
        except (KeyError, IndexError, TypeError):
            return None

    def mapping(self, path: Keys, known: Collection[str] | None = None) -> dict[str, Any]:
        """The mapping at `path`, empty where nothing stands; keys outside `known` are faults."""
        value = self.value(path)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fault(path, f"must be a mapping, got {value!r}")
            return {}
        for key in value:
            if known is not None and key not in known and key != "!tag":
                hint = near(key, known) or f"; known: {', '.join(known)}"
                self.fault((*path, key), f'unknown key "{key}"{hint}')
        return value

    def items(self, path: Keys) -> list[Keys]:
        """The paths of the items of the list at `path`; none where nothing stands."""
        value = self.value(path)
        if value is not None and not isinstance(value, list):
            self.fault(path, f"must be a list, got {value!r}")
        return [(*path, index) for index in range(len(value))] if isinstance(value, list) else []

    def number(self, path: Keys, least: float = 0.0, names: Names | None = None) -> float | None:
        """The number, or expression of `names` (the file's), at `path`; None: absent or at fault."""
        value = self.value(path)
        if value is None:
            return None
        number = computed(value, self.names if names is None else names)
        if isinstance(number, str):
            self.fault(path, f"must be a number, got {value!r}: {number}")
            return None
        if number < least:
            self.fault(path, f"must be at least {least:g}, got {value!r}")
            return None
        if number >= MAX_WORDS:
            self.fault(path, f"must be below 2**62, got {number:.3g}")
            return None
        return number

    def integer(self, path: Keys, least: int = 1, names: Names | None = None) -> int | None:
        """The integer at `path`, an expression of `names` or not; None: absent or at fault."""
        number = self.number(path, least, names)
        if number is not None and not isinstance(number, int):
            self.fault(path, f"must be an integer, got {self.value(path)!r}")
            return None
        return number

    def text(self, path: Keys, required: bool = False) -> str | None:
        """The text at `path`; a missing one is a fault where it is `required`."""
        value = self.value(path)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)  # a name such as 1
        if isinstance(value, str) and value:
            return value
        if required or value not in (None, ""):  # Timeloop's front end writes '' where there is no name
            self.fault(path, "must be text, got nothing" if value in (None, "") else f"must be text, got {value!r}")
        return None

    def words(self, path: Keys) -> tuple[str, ...]:
        """Names at `path`: a list of text, or one text with spaces or commas between them."""
        value = self.value(path)
        if isinstance(value, str):
            return tuple(re.findall(r"[^\s,]+", value))
        return tuple(word for item in self.items(path) if (word := self.text(item, required=True)))

    def factors(self, path: Keys) -> list[Factor]:
        """The factors at `path`: one text (`M=4,2 N=1`) or a list of them."""
        value = self.value(path)
        texts = (
            [value] if isinstance(value, str) else [self.text(item, required=True) or "" for item in self.items(path)]
        )
        factors = []
        for text in texts:
            tight = re.sub(r"\s*(<=|>=|=|,(?=\s*\d))\s*", r"\1", text.strip(" \t\r\n,;"))
            for token in filter(None, _SEPARATOR.split(tight)):
                match = _FACTOR.fullmatch(token)
                if match and len(token) < 60:
                    name, op, bound, residual = match.groups()
                    factors.append(Factor(name, op or "=", int(bound), None if residual is None else int(residual)))
                else:
                    self.fault(path, f"a factor is written DIM=BOUND, such as M=4; got {token[:60]!r}")
        return factors

    def permutation(self, path: Keys, dims: Iterable[str] = ()) -> tuple[str, ...]:
        """Dims as written (innermost first, `_` for the free ones): a list, or text of one-letter dims.

        Text whose words are all among `dims`, or that has commas, is taken word by word.
        """
        value = self.value(path)
        if not isinstance(value, str):
            return self.words(path)
        words = re.findall(r"[^\s,]+", value)
        whole = "," in value or (words and set(words) <= {*dims, "_"})
        letters = tuple(words) if whole else tuple("".join(words))
        for dim in dict.fromkeys(dim for dim in letters if letters.count(dim) > 1):
            self.fault(path, f"{dim!r} occurs {letters.count(dim)} times; a permutation names a dim once")
        return tuple(dict.fromkeys(letters))


def choices(name: str, known: Mapping[str, object] | Collection[str]) -> str:
    """The end of a message about an unknown `name`: a near name, or all `known`."""
    return near(name, known) or f"; known: {', '.join(known)}"
