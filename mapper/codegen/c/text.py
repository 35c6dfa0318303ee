"""Lines of C with indentation, and names that C allows."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import override

# Names that no array may have: keywords of C, and what the programs call their own things.
_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof bool
    true false nullptr alignas alignof constexpr thread_local static_assert typeof_unqual int8_t int32_t size_t malloc
    free aligned_alloc memset main kernel plainly memory file now argc argv expected wrong total run seconds began
    result first thread MIN SECONDS stdin stdout stderr"""
C_WORDS = frozenset(_WORDS.split())
_TAKEN = re.compile(
    rf"{'|'.join(sorted(C_WORDS))}|[zpxrit]\d*|(in|out)\d+u?|words\d+|.*Tile\d+(All)?|omp_.*|_.*|.*_\d*|.*_end"
)
_FREE = re.compile(r"[A-Z]\d?|[A-Z]\w*[a-z]\w*")


def dim_name(dim: str) -> str:
    """The beginning of the names of a dim's variables; those that begin with `_` are C's own."""
    return f"d{dim}" if dim.startswith("_") else dim


class Lines:
    """Lines of C, one after the other."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def add(self, *lines: str) -> None:
        """Add lines at the present depth."""
        self._lines += ["    " * self._depth + line if line else "" for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add a line with an opening brace; what is added meanwhile is inside."""
        self.add(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add("}")

    @contextmanager
    def blocks(self, number: int) -> Iterator[None]:
        """Close `number` braces, opened by `open`, at the end."""
        yield
        for _ in range(number):
            self._depth -= 1
            self.add("}")

    def open(self, head: str) -> None:
        """Open a block that `blocks` closes."""
        self.add(f"{head} {{")
        self._depth += 1

    @override
    def __str__(self) -> str:
        return "\n".join([*self._lines, ""])


def array_names(names: Iterable[str]) -> list[str]:
    """Names of arrays in C: as given, with `Array` behind where C, a header or the program may have the name already.

    No header has a name of one capital, or of a capital and small letters.

    >>> array_names(["Weights", "A", "double", "M_1", "EOF", "doubleArray", "_A"])
    ['Weights', 'A', 'doubleArray', 'M_1Array', 'EOFArray', 'doubleArrayArray', 'a_AArray']
    """
    free_names = list[str]()
    for name in names:
        name = f"a{name}" if name.startswith(("_", "omp_")) else name  # no ending makes such a name free
        while name in free_names or _TAKEN.fullmatch(name) or not (name.endswith("Array") or _FREE.fullmatch(name)):
            name += "Array"
        free_names.append(name)
    return free_names


def linear(terms: Iterable[tuple[int, str]]) -> str:
    """A sum of (coefficient, variable); terms of one variable are put together.

    >>> linear([(3, "m"), (1, "n"), (-3, "m"), (2, "k")])
    'n + 2 * k'
    """
    sums: dict[str, int] = {}
    for coef, variable in terms:
        sums[variable] = sums.get(variable, 0) + coef
    text = ""
    for variable, coef in sums.items():
        if not coef or variable == "0":
            continue
        size = variable if abs(coef) == 1 else f"{abs(coef)} * {variable}"
        text += f" {'-' if coef < 0 else '+'} {size}"
    text = text.strip()
    return f"-{text[2:]}" if text.startswith("- ") else text.removeprefix("+ ") or "0"
