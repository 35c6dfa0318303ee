"""Sizes: how long files, classes and functions may be, how many parameters and branches a function may have."""

import ast
from collections.abc import Iterator

import pytest

from .house import MODULES, module_name

# kind -> file, or file:Class.function -> lines; of "parameters" their number, of "complexity" the cyclomatic one
Sizes = dict[str, dict[str, int]]
LIMITS = {"file": 300, "class": 250, "function": 50, "parameters": 6, "complexity": 15}
# What is larger today, and how large. Entries shrink and go; nothing is added. An option of a command is a parameter.
LARGER: Sizes = {
    "file": {},
    "class": {},
    "function": {},
    "parameters": {},
    "complexity": {},
}
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# What may go one of two ways, or any number of times. Comprehensions, their ifs and operands of and, or: see `ways`.
Branch = ast.If | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.Assert | ast.IfExp | ast.match_case


def definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    """Every class and function below a node with its name, nested ones too: `mapper/model/cost.py:Costs.edp`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield prefix + child.name, child
            yield from definitions(child, f"{prefix}{child.name}.")
        else:
            yield from definitions(child, prefix)


def measured(module: str, source: str) -> Sizes:
    """The sizes of a module's file, classes and functions, without decorators; of overloads the largest."""
    sizes: Sizes = {kind: {} for kind in LIMITS} | {"file": {module: len(source.splitlines())}}
    for name, node in definitions(ast.parse(source), f"{module}:"):
        assert node.end_lineno is not None
        kind = "class" if isinstance(node, ast.ClassDef) else "function"
        sizes[kind][name] = max(node.end_lineno - node.lineno + 1, sizes[kind].get(name, 0))
        if not isinstance(node, ast.ClassDef):
            sizes["parameters"][name] = max(parameters(node.args), sizes["parameters"].get(name, 0))
            sizes["complexity"][name] = max(complexity(node), sizes["complexity"].get(name, 0))
    return sizes


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The cyclomatic complexity: one, and one for each further way through a function."""
    return 1 + sum(map(ways, own_nodes(function)))


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, but for those of functions, classes and lambdas, which count for themselves."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Definition | ast.Lambda):
            yield child
            yield from own_nodes(child)


def ways(node: ast.AST) -> int:
    """How many ways a node adds: each operand of and, or after the first; a comprehension, and each of its ifs."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, Branch))


def parameters(arguments: ast.arguments) -> int:
    """How many parameters a function has, without `self` and `cls`; `*args` and `**options` count as one each."""
    named = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return len(named[named[:1] in (["self"], ["cls"]) :]) + len(starred)


def size_faults(sizes: Sizes, larger: Sizes) -> list[str]:
    """What is over its limit and not listed, or over its entry; and entries that nothing needs any more."""
    faults = []
    for kind, limit in LIMITS.items():
        for name, size in sizes[kind].items():
            most = larger[kind].get(name, limit)
            if size > most:
                faults.append(f"{kind} {name}: {size}, at most {most}")
        for name in larger[kind]:
            if sizes[kind].get(name, 0) <= limit:
                faults.append(f"{kind} {name}: no longer over {limit}, delete its entry in LARGER")
    return faults


def test_files_classes_functions_and_parameter_lists_are_within_their_limits() -> None:
    """Over all four parts, but for what LARGER lists; that list only shrinks."""
    sizes: Sizes = {kind: {} for kind in LIMITS}
    for path in MODULES:
        for kind, of_module in measured(module_name(path), path.read_text()).items():
            sizes[kind] |= of_module
    assert size_faults(sizes, LARGER) == []


NONE: Sizes = {kind: {} for kind in LIMITS}
LONG = "x = 1\n" * 301
CLASS = "class Long:\n" + "    x = 1\n" * 250
FUNCTION = "class Short:\n    def long(self):\n" + "        x = 1\n" * 50
SEVEN = "class Short:\n    def many(self, a, b, /, c, *rest, d, e, **options): pass\n"
BRANCHES = (
    "def many(a):\n"
    "    assert a or a and a\n"  # 3
    "    for b in a if a else [c for c in a if c if a]:\n"  # 5
    "        while a: b\n"  # 1
    "    try: a\n"
    "    except ValueError: a\n"  # 1
    "    match a:\n"
    "        case 1: a\n"  # 1
    "        case 2: a\n"  # 1
    "    if a: b\n"  # 1
    "    elif b: a\n"  # 1
    "    def inner(a): return a and a\n"
    "    return lambda: a or b\n"
)
SIXTEEN = BRANCHES + "    return a and b\n"
OVERLOADS = "def many(a, b, c, d, e, f, g): pass\ndef many(a): pass\n"


@pytest.mark.parametrize(
    ("source", "larger", "fault"),
    [
        (LONG, NONE, "file a.py: 301, at most 300"),
        (CLASS, NONE, "class a.py:Long: 251, at most 250"),
        (FUNCTION, NONE, "function a.py:Short.long: 51, at most 50"),
        (SEVEN, NONE, "parameters a.py:Short.many: 7, at most 6"),
        (OVERLOADS, NONE, "parameters a.py:many: 7, at most 6"),
        (SIXTEEN, NONE, "complexity a.py:many: 16, at most 15"),
        (SIXTEEN + "    if a: b\n", NONE | {"complexity": {"a.py:many": 16}}, "complexity a.py:many: 17, at most 16"),
        (
            BRANCHES,
            NONE | {"complexity": {"a.py:many": 16}},
            "complexity a.py:many: no longer over 15, delete its entry in LARGER",
        ),
        (LONG + "x = 1\n", NONE | {"file": {"a.py": 301}}, "file a.py: 302, at most 301"),
        ("", NONE | {"file": {"a.py": 301}}, "file a.py: no longer over 300, delete its entry in LARGER"),
        ("", NONE | {"class": {"b.py:Gone": 260}}, "class b.py:Gone: no longer over 250, delete its entry in LARGER"),
    ],
    ids=lambda value: value if isinstance(value, str) and ": " in value else "",
)
def test_what_is_too_large_is_noticed(source: str, larger: Sizes, fault: str) -> None:
    """A new one, one larger than its entry, and an entry that is no longer needed: the rule goes red."""
    assert size_faults(measured("a.py", source), larger) == [fault]


@pytest.mark.parametrize(
    ("source", "larger"),
    [
        (LONG.removesuffix("x = 1\n"), NONE),
        (FUNCTION.replace("        x = 1\n", "", 1), NONE),
        (SEVEN.replace(" a,", ""), NONE),
        (BRANCHES, NONE),
        (LONG, NONE | {"file": {"a.py": 310}}),
    ],
    ids=["file", "function", "parameters", "complexity", "shrunk but listed"],
)
def test_what_is_within_its_limit_or_its_entry_passes(source: str, larger: Sizes) -> None:
    """A limit is the largest size allowed."""
    assert size_faults(measured("a.py", source), larger) == []
