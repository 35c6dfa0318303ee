"""Names say what a thing is: words that fit anything, and words of our own, are no names of anything in the product."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from .house import MODULES, ROOT

# what fits anything: `each` of what?
VAGUE = "alike each found here mine others some there these told"
# private words, for which the field has its own
PRIVATE = "begun ground grounds hopeless light merit misfits news sketched trail"
WORDS = frozenset((*VAGUE.split(), *PRIVATE.split()))
# what programs and files have read by these names for long: whether a mapping was found, layers like another
OFFERED = {
    "mapper/comparison/cases.py": {"found"},
    "mapper/comparison/stored.py": {"alike", "found"},
    "mapper/report/described.py": {"found"},
    "mapper/report/network_result.py": {"alike", "found"},
    "mapper/schemas/comparisons.py": {"found"},
    "mapper/schemas/results.py": {"alike"},
    "mapper/schemas/sweeps.py": {"found"},
}


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each function, class, parameter, variable and attribute that `tree` defines."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr


def wrong_names(source: str) -> list[tuple[int, str]]:
    return [(line, name) for line, name in names(ast.parse(source)) if name.strip("_") in WORDS]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_name_says_what_it_is(path: Path) -> None:
    offered = OFFERED.get(str(path.relative_to(ROOT)), set())
    assert {name for _, name in wrong_names(path.read_text())} == offered


@pytest.mark.parametrize(
    "source",
    [
        "def told(): ...",
        "class C:\n    found: int",
        "for each in x: ...",
        "f = lambda mine: 1",
        "self._there = 1",
        "[_ for some in x]",
    ],
)
def test_a_wrong_name_is_noticed(source: str) -> None:
    assert wrong_names(source)
