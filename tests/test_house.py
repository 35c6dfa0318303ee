"""The house rules for modules: who imports whom, what a face offers, and that docstrings tell the truth."""

import ast
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruby_map.mapper.exploration.transforms import TRANSFORMATIONS
from ruby_map.mapper.mapspace import PRESETS
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.search import ENGINES
from ruby_map.mapper.searchers import STRATEGIES

from . import house
from .house import (
    MAY_IMPORT,
    MODULES,
    PROJECT,
    ROOMS,
    ROOT,
    defined,
    each_module,
    imported,
    imports,
    module_name,
    part_and_room,
)

# Modules that other rooms import by path, as their packages take long to import (sympy, jax, matplotlib) or others do.
BY_PATH = {"mapper/model/explain.py", "mapper/search/engines/jax_engine.py", "mapper/report/pictures/style.py"}
BY_PATH |= {"mapper/commands/entry.py"}
FACE = 30  # names that a folder may offer
# What a dependency lets us import, where that is not its own name alone.
IMPORT_NAMES = {
    "pyyaml": {"yaml"},
    "pydantic": {"pydantic", "pydantic_core"},
    "dask": {"distributed"},
    "scikit-learn": {"sklearn", "scipy"},
    "z3-solver": {"z3"},
    "xgboost-cpu": {"xgboost"},
}


def wrong_imports(path: Path, source: str) -> list[str]:
    """The files that a module imports and may not: of a later part or room, or past the face of a folder."""
    part, room = part_and_room(path)
    wrong = []
    for target, _ in imported(path, source):
        other, its_room = part_and_room(target)
        inside = part == other and (room not in ROOMS or its_room == room or its_room in ROOMS[room])
        behind = target.parent not in path.parents and target.name != "__init__.py"
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
        ("mapper/bounds/ideal.py", "def late():\n    from ..search.score import score"),
        ("mapper/mapspace/chains.py", "from ..model import contexts"),
        ("mapper/model/cost.py", "from ..mapspace import Mapspace"),
        ("mapper/report/tables.py", "from ..commands.shared import command"),
        ("mapper/search/score.py", "from ..model.cost import evaluate"),
        ("mapper/search/run.py", "from ..proof import Proof"),
        ("mapper/search/run.py", "from .options.settings import setting"),
        ("mapper/proof/prove.py", "from ..searchers import STRATEGIES"),
        ("arch/model.py", "from ..mapper import explore"),
        ("arch/load.py", "from ..workloads.reading import near"),
        ("energy/ert.py", "from ..workloads.timeloop.values import Reader"),
        ("workloads/load.py", "from .timeloop.problem import read_timeloop_problem"),
        ("mapper/sweeps/file.py", "def late():\n    from ...arch.base import with_base"),
    ],
)
def test_a_wrong_import_is_noticed(module: str, line: str) -> None:
    """The rule goes red."""
    assert wrong_imports(ROOT / module, line)


def test_every_room_has_its_line_and_every_line_its_room() -> None:
    """The folders of mapper/ are the rooms; besides them there is the package itself."""
    assert {path.parent.name for path in (ROOT / "mapper").glob("*/__init__.py")} == set(ROOMS)
    assert [path.name for path in (ROOT / "mapper").glob("*.py")] == ["__init__.py"]


@pytest.mark.parametrize(
    ("kind", "late"),
    [
        ("run", {"matplotlib", "sympy", "jax", "pandas", "onnx", "scipy", "sklearn", "xgboost", "moocore", "optuna"}),
        ("ruby", {"numpy", "yaml", "ruby_map.workloads"}),
    ],
)
def test_what_takes_long_to_import_waits(kind: str, late: set[str]) -> None:
    """No command imports these before it needs them, and `--help` needs the fewest."""
    modules = [f"ruby_map.mapper.commands.{path.stem}" for path in (ROOT / "mapper/commands").glob(f"{kind}_*.py")]
    script = f"import sys, {', '.join(modules)}; print(sorted({late} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


FACES = [path for path in MODULES if path.name == "__init__.py" and path.parent.name not in ("mapper", "ruby_map")]


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
                if closed := walk(other, [*way, name]):
                    return closed
            finished.add(name)
        return []

    return next((closed for name in sorted(arrows) if (closed := walk(name, []))), [])


def test_no_file_imports_one_that_imports_it() -> None:
    """Directly or through others, faces looked through, imports inside functions counted."""
    arrows = {
        module_name(path): {module_name(defined(*target)) for target in imported(path, path.read_text())}
        for path in MODULES
        if path.name != "__init__.py"
    }
    assert circle(arrows) == []


def compared(source: str) -> set[str]:
    """The texts that something is compared with.

    >>> compared("if name == 'optimal' or other in ('a', 'b'): pass")
    {'optimal'}
    """
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)]
    texts = [part for node in nodes for part in (node.left, *node.comparators) if isinstance(part, ast.Constant)]
    return {part.value for part in texts if isinstance(part.value, str)}


@pytest.mark.parametrize("path", [path for path in MODULES if "mapper" in path.parts], ids=module_name)
def test_nobody_asks_for_a_row_of_a_table_by_its_name(path: Path) -> None:
    """A strategy, an engine, an objective says itself what others want to know of it; a mapspace is named auto too."""
    names = {*STRATEGIES, *ENGINES, *OBJECTIVES, *TRANSFORMATIONS} - {*PRESETS}
    assert not compared(path.read_text()) & names


def test_the_examples_of_the_import_rule_give_what_they_show() -> None:
    """The rule reads imports, and finds circles, as the docstrings say."""
    for module in (house, sys.modules[__name__]):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0


@each_module
def test_every_package_a_module_imports_is_a_declared_dependency(path: Path) -> None:
    """A package that only the development tools bring in would be missing for a user."""
    extras = [line for name, lines in PROJECT["optional-dependencies"].items() if name != "dev" for line in lines]
    declared = [re.split(r"[^\w-]", line)[0].lower() for line in PROJECT["dependencies"] + extras]
    known = sys.stdlib_module_names.union(*(IMPORT_NAMES.get(name, {name}) for name in declared))
    assert {name.split(".")[0] for level, name in imports(path.read_text()) if level == 0} <= known


@each_module
def test_every_module_says_what_it_is_for(path: Path) -> None:
    """A module has a docstring."""
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", [path for path in MODULES if ">>>" in path.read_text()], ids=module_name)
def test_the_examples_in_docstrings_give_what_they_show(path: Path) -> None:
    """Every docstring example is run."""
    dotted = ".".join(["ruby_map", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(dotted))
    assert result.attempted > 0
    assert result.failed == 0
