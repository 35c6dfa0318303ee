"""The house rules: who imports whom, what is documented, and that the documents tell the truth."""

import ast
import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAY_IMPORT = {
    "workloads": set(),
    "arch": {"workloads"},
    "energy": {"workloads", "arch"},
    "mapper": {"workloads", "arch", "energy"},
}
# The rooms of mapper/, from the lowest to the highest: each may import those named.
ROOMS = {
    "runtime": set(),
    "mapping": set(),
    "mapspace": {"mapping"},
    "model": {"runtime", "mapping"},
    "certificate": {"mapping", "mapspace", "model"},
    "search": {"runtime", "mapping", "mapspace", "model", "certificate"},
    "report": {"runtime", "mapping", "model", "certificate", "search"},
    "exploration": {"runtime", "mapping", "mapspace", "model", "certificate", "search", "report"},
    "sweeps": {"runtime", "mapping", "mapspace", "model", "certificate", "search", "report", "exploration"},
    "commands": {
        *("runtime", "mapping", "mapspace", "model", "certificate", "search", "report", "exploration", "sweeps"),
    },
}
# Modules that other rooms import by path, as their packages take long to import: sympy, jax, matplotlib.
BY_PATH = {"mapper/model/explain.py", "mapper/search/engines/jax_engine.py", "mapper/report/pictures/style.py"}
FACE = 30  # names that a folder may offer
MODULES = [path for part in MAY_IMPORT for path in sorted((ROOT / part).rglob("*.py"))]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# What a dependency lets us import, where that is not its own name alone.
IMPORT_NAMES = {"pyyaml": {"yaml"}, "pydantic": {"pydantic", "pydantic_core"}, "dask": {"distributed"}}


def module_name(path: Path) -> str:
    """A file as documents and test names give it: mapper/model/cost.py."""
    return str(path.relative_to(ROOT))


each_module = pytest.mark.parametrize("path", MODULES, ids=module_name)
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=module_name)


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Level (dots) and dotted name of everything a module imports, anywhere in it.

    >>> list(imports("import numpy as np\\nfrom ..arch import Axis"))
    [(0, 'numpy'), (2, 'arch')]
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.level, node.module or alias.name) for alias in node.names)


def imported(path: Path, source: str) -> Iterator[tuple[Path, str]]:
    """The files of ours that a module imports, and the name; imports inside functions counted.

    >>> line = "from ..mapping import batch"
    >>> [(module_name(file), name) for file, name in imported(ROOT / "mapper/model/cost.py", line)]
    [('mapper/mapping/batch.py', 'batch')]
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                places = [base] if alias.name in offered(base / "__init__.py") else [base / alias.name, base]
                files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
                yield next(file for file in files if file.exists()), alias.name


@cache
def offered(face: Path) -> set[str]:
    """The names that a face imports: they hide modules of the same name."""
    body = ast.parse(face.read_text()).body if face.exists() else []
    return {alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}


def part_and_room(path: Path) -> tuple[str, str]:
    """Where a file stands: mapper/model/bounds/ideal.py in the part mapper, there in the room model."""
    part, *folders = path.relative_to(ROOT).parts[:-1]
    return part, (folders[0] if folders else "")


def wrong_imports(path: Path, source: str) -> list[str]:
    """The files that a module imports and may not: of a later part or room, or past the face of a folder."""
    part, room = part_and_room(path)
    wrong = []
    for target, _ in imported(path, source):
        other, its_room = part_and_room(target)
        inside = part == other and (not room or its_room == room or its_room in ROOMS.get(room, set()))
        behind = target.parent not in path.parents and target.name != "__init__.py" and other == "mapper"
        if (not inside and other not in MAY_IMPORT[part]) or (behind and module_name(target) not in BY_PATH):
            wrong.append(module_name(target))
    return wrong


@each_module
def test_a_module_imports_only_what_its_part_and_its_room_may(path: Path) -> None:
    """workloads <- arch <- energy <- mapper, there the arrows of ROOMS and the faces; by relative imports only."""
    source = path.read_text()
    assert not wrong_imports(path, source)
    absolute = {name.split(".")[0] for level, name in imports(source) if not level}
    assert not absolute & {"ruby_map", *MAY_IMPORT}, "ours are imported by relative imports"


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("mapper/model/cost.py", "from ..report import tables"),
        ("mapper/model/bounds/ideal.py", "def late():\n    from ...search.score import score"),
        ("mapper/mapspace/chains.py", "from ..model import contexts"),
        ("mapper/model/cost.py", "from ..mapspace import Mapspace"),
        ("mapper/report/tables.py", "from ..commands.shared import command"),
        ("mapper/search/score.py", "from ..model.cost import evaluate"),
        ("mapper/search/run.py", "from .optimal.prove import optimal"),
        ("arch/model.py", "from ..mapper import explore"),
    ],
)
def test_a_wrong_import_is_noticed(module: str, line: str) -> None:
    """The rule goes red."""
    assert wrong_imports(ROOT / module, line)


def test_every_room_has_its_line_and_every_line_its_room() -> None:
    """The folders of mapper/ are the rooms; besides them there is the package itself."""
    assert {path.parent.name for path in (ROOT / "mapper").glob("*/__init__.py")} == set(ROOMS)
    assert [path.name for path in (ROOT / "mapper").glob("*.py")] == ["__init__.py"]


def test_what_takes_long_to_import_waits() -> None:
    """No command imports these before it needs them."""
    modules = [f"ruby_map.mapper.commands.{path.stem}" for path in (ROOT / "mapper/commands").glob("ruby_*.py")]
    late = {"matplotlib", "sympy", "jax", "pandas", "onnx", "scipy"}
    script = f"import sys, {', '.join(modules)}; print(sorted({late} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


FACES = [path for path in MODULES if path.name == "__init__.py" and path.parent.parent != ROOT]


@pytest.mark.parametrize("path", FACES, ids=module_name)
def test_a_face_is_a_list_of_names(path: Path) -> None:
    """`__init__.py` of a room has a docstring, imports, `__all__`, and says what results look like; nothing else."""
    docstring, *body = ast.parse(path.read_text()).body
    assert isinstance(docstring, ast.Expr)
    for statement in body:
        called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and statement.value.func
        registers = isinstance(called, ast.Name) and called.id == "register"
        assert isinstance(statement, ast.ImportFrom | ast.Assign) or registers
    (names,) = [statement.value for statement in body if isinstance(statement, ast.Assign)] or [ast.List([])]
    assert isinstance(names, ast.List)
    assert len(names.elts) <= FACE


def defined(path: Path, name: str) -> Path:
    """Where a name that a face offers is defined."""
    if path.name != "__init__.py":
        return path
    for target, one in imported(path, path.read_text()):
        if one == name:
            return defined(target, name)
    return path


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Names that lead from one to the next and back to the first; none where there is no circle.

    >>> circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})
    ['b', 'c', 'b']
    >>> circle({"a": {"b", "c"}, "b": {"c"}})
    []
    """
    finished: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name not in finished:
            for other in sorted(arrows.get(name, ())):
                if found := walk(other, [*way, name]):
                    return found
            finished.add(name)
        return []

    return next((found for name in sorted(arrows) if (found := walk(name, []))), [])


def test_no_file_imports_one_that_imports_it() -> None:
    """Directly or through others, faces looked through, imports inside functions counted."""
    arrows = {
        module_name(path): {module_name(defined(*found)) for found in imported(path, path.read_text())}
        for path in MODULES
        if path.name != "__init__.py"
    }
    assert circle(arrows) == []


@each_module
def test_every_package_a_module_imports_is_a_declared_dependency(path: Path) -> None:
    """A package that only the development tools bring in would be missing for a user."""
    extras = [line for name, lines in PROJECT["optional-dependencies"].items() if name != "dev" for line in lines]
    declared = [re.split(r"[^\w-]", line)[0].lower() for line in PROJECT["dependencies"] + extras]
    known = sys.stdlib_module_names.union(*(IMPORT_NAMES.get(name, {name}) for name in declared))
    assert {name.split(".")[0] for level, name in imports(path.read_text()) if level == 0} <= known


@each_module
def test_every_module_says_what_it_is_for(path: Path) -> None:
    """A module without a docstring leaves the reader to guess."""
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", [path for path in MODULES if ">>>" in path.read_text()], ids=module_name)
def test_the_examples_in_docstrings_give_what_they_show(path: Path) -> None:
    """Every docstring example is run."""
    dotted = ".".join(["ruby_map", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(dotted))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_one_page_on_the_architecture_names_every_module_and_no_other() -> None:
    """docs/architecture.md has a line per file; a file that is gone has none."""
    text = (ROOT / "docs/architecture.md").read_text()
    named = set(re.findall(rf"`((?:{'|'.join(MAY_IMPORT)})/[\w/]+\.py)`", text))
    assert named == {module_name(path) for path in MODULES if path.stem != "__init__"}


@each_document
def test_every_link_between_documents_leads_somewhere(document: Path) -> None:
    """Links are relative and the files exist."""
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    missing = [target for target in targets if "://" not in target and not (document.parent / target).exists()]
    assert not missing


def examples() -> Iterator[tuple[str, str]]:
    """Every command with its output in the console blocks of the README and of the questions."""
    for name in ("README.md", "docs/questions.md"):
        yield from re.findall(r"```console\n\$ (.*?)\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), list(examples()), ids=lambda text: text.split("\n")[0])
def test_the_output_shown_in_a_console_block_is_what_the_command_prints(command: str, shown: str) -> None:
    """Run again, from the root of the repository: only how long a search took may differ."""
    script, *arguments = command.split()
    duration = re.compile(r"[\d.]+ s, [\d,]+ mappings/s")
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
    return set(re.findall(r"--[a-z][a-z-]*", run_script(entry_point, "--help")))


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
