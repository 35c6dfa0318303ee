"""The documents tell the truth: files, links, commands and options exist, and examples print what is shown."""

import ast
import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from . import house_files
from .house import MAY_IMPORT, MODULES, PARTS, PROJECT, ROOMS, ROOT, defined, imported, module_name

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
ARCHITECTURE = ROOT / "docs/architecture.md"
DECISIONS = ROOT / "docs/decisions"
HISTORY = {ROOT / "CHANGELOG.md", *ROOT.glob("docs/decisions/*.md")}  # may name files that are gone
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=module_name)


def test_the_page_of_files_is_what_their_docstrings_say() -> None:
    """After a change of a file's first sentence, or a new file: python -m tests.house_files."""
    assert house_files.PAGE.read_text(encoding="utf-8") == house_files.page(), "write it: python -m tests.house_files"


def test_a_file_stands_below_the_files_of_its_folder_that_it_imports() -> None:
    """Every file once, and never above what it imports."""
    files = [path for path in MODULES if path.parts[len(ROOT.parts)] == "mapper" and path.name != "__init__.py"][:60]
    ordered = house_files.from_the_lowest(files[::-1])
    assert sorted(ordered) == files
    for number, path in enumerate(ordered):
        assert not {defined(*line) for line in imported(path, path.read_text())} & set(ordered[number + 1 :])


def test_the_architecture_is_one_page() -> None:
    """At most 150 lines."""
    assert len(ARCHITECTURE.read_text().splitlines()) <= 150


def test_the_one_page_on_the_architecture_has_the_rooms_with_their_promises_and_what_they_may_import() -> None:
    """The table of rooms is the import rule; a promise is the docstring of the room's face."""
    rows = re.findall(r"^\| `(\w+)/` \| (.*) \| (.*) \|$", ARCHITECTURE.read_text(), re.MULTILINE)
    rooms = list(ROOMS)
    assert [room for room, _, _ in rows] == rooms
    for number, (room, promise, names) in enumerate(rows):
        face = ast.get_docstring(ast.parse((ROOT / "mapper" / room / "__init__.py").read_text()))
        assert face is not None
        assert f"{promise}." == face.split("\n\n")[0].replace("\n", " ")
        allowed = {"all above": set(rooms[:number]), "-": set()}.get(names, set(names.split(", ")))
        assert allowed == ROOMS[room]


def decisions() -> list[tuple[str, str, str, str, str]]:
    """The rows of the index of decisions: heading, number, title, file, and status without its link."""
    rows, heading = [], ""
    for line in (DECISIONS / "README.md").read_text().splitlines():
        heading = line.removeprefix("## ").strip("`/") if line.startswith("## ") else heading
        if row := re.fullmatch(r"\| (\d{3}) \| \[(.*)\]\(([\w-]+\.md)\) \| .+\. \| (.+) \|", line):
            rows.append((heading, row[1], row[2], row[3], re.sub(r"\[(\d{3})\]\([^)]*\)", r"\1", row[4])))
    return rows


def test_the_index_of_decisions_has_every_record_once_with_its_title() -> None:
    """Below the part or the room of the code that does what was decided."""
    records = sorted(DECISIONS.glob("[0-9]*.md"))
    titles = [(path.name, path.read_text().splitlines()[0]) for path in records]
    assert sorted((file, f"# {number} {title}") for _, number, title, file, _ in decisions()) == titles
    assert all(file.startswith(f"{number}-") for _, number, _, file, _ in decisions())
    assert {heading for heading, *_ in decisions()} <= {"The project", *PARTS, *ROOMS}


@pytest.mark.parametrize("row", decisions(), ids=lambda row: row[1])
def test_a_decision_stands_or_a_later_one_changes_it_as_its_record_says(row: tuple[str, str, str, str, str]) -> None:
    """The status of the index is that of the record; without one, it stands."""
    _, number, _, file, status = row
    found = re.search(r"^Status: (.+?) \[(\d{3})\]\((.+?)\)", (DECISIONS / file).read_text(), re.MULTILINE)
    assert status == (f"{found[1]} {found[2]}" if found else "stands")
    if found:
        assert found[1] in ("changed by", "superseded by")
        assert found[2] > number
        assert found[3].startswith(f"{found[2]}-")  # another test follows the link


def test_the_glossary_has_each_term_once_and_its_tables_are_whole() -> None:
    """A term is the first cell of a row, with its synonyms; every row has as many cells as the head of its table."""
    rows = re.findall(r"^\| (.+) \|$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    terms, head = list[str](), 0
    for cells in (row.split(" | ") for row in rows):
        head = len(cells) if cells[0] == "we say" else head
        assert len(cells) == head, cells[0]
        terms += cells[0].split(", ") if cells[0] != "we say" else []
    assert len(set(terms)) == len(terms)


@each_document
def test_every_link_between_documents_leads_somewhere(document: Path) -> None:
    """Links are relative and the files exist."""
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    missing = [target for target in targets if "://" not in target and not (document.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if path not in HISTORY], ids=module_name)
def test_every_file_of_ours_that_a_document_names_exists(document: Path) -> None:
    """A path from the root in a text, `mapper/model/counts.py`, or a folder, `tests/golden/`."""
    tops = "|".join([*MAY_IMPORT, "tests", "experiments", "benchmarks", "docs"])
    named = re.findall(rf"(?<![\w/.*])(?:{tops})/[\w./-]*\w/?", document.read_text())
    written = ("experiments/results/quick", "experiments/results/searches")
    assert not [name for name in named if not (ROOT / name).exists() and not name.startswith(written)]


def examples() -> Iterator[tuple[str, str]]:
    """Every command with its output in the console blocks of the README and of the questions."""
    for name in ("README.md", "docs/questions.md"):
        yield from re.findall(r"```console\n\$ (.*?)\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), list(examples()), ids=lambda text: text.split("\n")[0])
def test_the_output_shown_in_a_console_block_is_what_the_command_prints(command: str, shown: str) -> None:
    """Run again, from the root of the repository: only how long a search took, and by what, may differ."""
    script, *arguments = command.split()
    duration = re.compile(r"[\d.]+ s(?:, [\d,]+ mappings/s| from start to end, bounds [\w ]+)")
    printed = run_script(PROJECT["scripts"][script], *arguments, statuses=(0, 1))
    assert duration.sub("TIME", printed) == duration.sub("TIME", shown)


def commands(document: Path) -> list[list[str]]:
    """The lines of a document's code blocks that call make or one of our commands, in words, without comments."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if re.match(r"(make|ruby-\w+)\b", line)]


@each_document
def test_every_make_target_in_the_documents_exists(document: Path) -> None:
    """`make run` in a document is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {words[1] for words in commands(document) if words[0] == "make" and len(words) > 1}
    named |= set(re.findall(r"`make ([a-z-]+)", document.read_text()))
    assert named <= targets


@each_document
def test_every_command_in_the_documents_exists_with_the_options_shown(document: Path) -> None:
    """A `ruby-...` line names a script of pyproject.toml, and each --option is one that it knows."""
    for script, *words in commands(document):
        if script != "make":
            assert script in PROJECT["scripts"], f"no command {script}"
            known = options(PROJECT["scripts"][script])
            assert {word.split("=")[0] for word in words if word.startswith("-")} <= known


@cache
def options(entry_point: str) -> set[str]:
    """The options in the --help of the command behind an entry point."""
    return set(re.findall(r"--[a-z][a-z0-9-]*", run_script(entry_point, "--help")))


def run_script(entry_point: str, *arguments: str, statuses: tuple[int, ...] = (0,)) -> str:
    """What the command behind an entry point prints, run in the root of the repository."""
    module, function = entry_point.split(":")
    program = [sys.executable, "-c", f"from {module} import {function}; {function}()", *arguments]
    plain = os.environ | {"COLUMNS": "200", "NO_COLOR": "1"}
    done = subprocess.run(program, env=plain, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in statuses, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", sorted(PROJECT["scripts"]))
def test_every_script_of_the_project_leads_to_a_function(script: str) -> None:
    """pyproject.toml promises no command that is not there."""
    module, function = PROJECT["scripts"][script].split(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if ">>> " in path.read_text()], ids=module_name)
def test_the_python_examples_of_a_document_give_what_they_show(document: Path) -> None:
    """Its >>> examples are run."""
    result = doctest.testfile(str(document), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
