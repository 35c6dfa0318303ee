"""Writes docs/files.md, a line per file from its docstring: `python -m tests.house_files`, from the root."""

import ast
import re
from pathlib import Path

from .house import MAY_IMPORT, MODULES, ROOMS, ROOT, defined, imported, module_name

PAGE = ROOT / "docs/files.md"
HEAD = """\
# Files

A line per file: the first sentence of its docstring. In a table a file stands after the files of its folder that it
imports. [architecture.md](architecture.md) says how data flows through them. This page is written by
`python -m tests.house_files`.
"""


def folders() -> dict[str, list[Path]]:
    """The files of each part, and of each room of mapper, from the lowest to the highest."""
    names = [name for name in MAY_IMPORT if name != "mapper"]
    names[3:3] = [f"mapper/{room}" for room in ROOMS]
    return {name: [p for p in MODULES if ROOT / name in p.parents and p.name != "__init__.py"] for name in names}


def from_the_lowest(files: list[Path]) -> list[Path]:
    """The same files, each after those that it imports, else by name."""
    below = {f: {defined(*line) for line in imported(f, f.read_text())} & set(files) - {f} for f in files}
    ordered: list[Path] = []
    while len(ordered) < len(files):
        ordered.append(next(f for f in files if f not in ordered and below[f] <= set(ordered)))
    return ordered


def first_sentence(docstring: str) -> str:
    """The first sentence of a docstring, without its full stop.

    >>> first_sentence("Reads a file: `a.yaml`. And more.\\n\\nRules.")
    'Reads a file: `a.yaml`'
    """
    paragraph = docstring.split("\n\n")[0].replace("\n", " ")
    return re.split(r"\.(?:\s|$)", paragraph, maxsplit=1)[0]


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, files in folders().items():
        rows = [f"| `{module_name(f)}` | {_contents(f)} |\n" for f in from_the_lowest(files)]
        parts.append(f"\n## {name}\n\n| file | contents |\n|---|---|\n{''.join(rows)}")
    return "".join(parts)


def _contents(path: Path) -> str:
    return first_sentence(ast.get_docstring(ast.parse(path.read_text())) or "").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
