"""The substitutions that are shipped, `rules.yaml`: read, and written by `make rewrites`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from .apply import Rule
from .equation import Equation
from .production import Produced, Proven
from .terms import SPLIT, Term, operators_in
from .text import term_of

FILE = Path(__file__).with_name("rules.yaml")
HEAD = "# written by make rewrites; docs/rewrites.md says what the counts are\n"


def written(made: Produced) -> str:
    """Return the text of the file of substitutions."""
    names = _names([own.equation for own in made.proven])
    rows = [_row(name, own) for name, own in zip(names, made.proven, strict=True)]
    head = yaml.safe_dump({"counts": made.counts}, sort_keys=False)
    return HEAD + head + yaml.safe_dump({"equations": rows}, sort_keys=False, width=10**6)


def _row(name: str, own: Proven) -> dict[str, Any]:
    left, right = own.equation.texts()
    inputs = {key: list(map(_plain, made)) for key, made in own.equation.inputs.items()}
    return {"name": name, "left": left, "right": right, "inputs": inputs, "by": list(own.by)}


def _plain(extent: Any) -> Any:
    return extent if isinstance(extent, int) else list(map(_plain, extent))


def _extent(plain: Any) -> Any:
    return plain if isinstance(plain, int) else tuple(map(_extent, plain))


def _names(equations: Iterable[Equation]) -> list[str]:
    """Return names of equations: the operators of both sides, and a number where several have the same."""
    known: Counter[str] = Counter()
    names = []
    for own in equations:
        name = " = ".join(_operators(side) for side in own.sides)
        known[name] += 1
        names.append(name if known[name] == 1 else f"{name} #{known[name]}")
    return names


def _operators(side: Iterable[Term]) -> str:
    """Return the operators of a side in words, each with how often it is there."""
    of = Counter(sorted(operators_in(side).values(), key=SPLIT.__eq__))  # splits last
    return " ".join(op if number == 1 else f"{number} {op}" for op, number in of.items()) or "input"


@cache
def shipped() -> tuple[Mapping[str, int], tuple[tuple[str, Proven], ...]]:
    """Return the counts of the stages, and the shipped equations with their names."""
    data = yaml.load(FILE.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # of 11,000 lines
    return data["counts"], tuple((row["name"], _of_row(row)) for row in data["equations"])


def _of_row(row: Mapping[str, Any]) -> Proven:
    left, right = (tuple(map(term_of, row[side])) for side in ("left", "right"))
    inputs = {name: tuple(map(_extent, made)) for name, made in row["inputs"].items()}
    return Proven(Equation(left, right, inputs), tuple(row["by"]))


def rules() -> list[Rule]:
    """Return the rules that the shipped equations are: each side for the other, where it has all inputs of it."""
    made, known = [], Counter[str]()
    for _, own in shipped()[1]:
        for source, target in (own.equation.sides, own.equation.sides[::-1]):
            said = f"{_operators(source)} -> {_operators(target)}"
            rule = Rule(said if not known[said] else f"{said} #{known[said] + 1}", source, target, own.by)
            if rule.usable:
                known[said] += 1
                made.append(rule)
    return made
