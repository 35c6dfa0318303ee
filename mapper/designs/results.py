"""What a design is judged by: the table of named results, and expressions of them in files.

A result of a design on a workload is `factor * energy_pj ** a * cycles ** b`, whose factor is known before any mapping.
So is an expression that multiplies and divides results, and what depends on the design alone may be anything.
"""

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite
from typing import NamedTuple

from ...workloads import near
from ...workloads.expressions import names_in, parse, value_of
from ..problem import OBJECTIVES, Objective

OPERATIONS = 2  # of a MAC: a product and a sum
SLACK = 1e-12  # relative; of limits, which are computed


class Powers(NamedTuple):
    """Powers of energy and of cycles."""

    energy: Fraction = Fraction(0)
    cycles: Fraction = Fraction(0)

    def times(self, factor: Fraction) -> "Powers":
        return Powers(self.energy * factor, self.cycles * factor)

    def plus(self, other: "Powers") -> "Powers":
        return Powers(self.energy + other.energy, self.cycles + other.cycles)

    def of(self, objective: Objective) -> Fraction | None:
        """Return the power of an objective that these are; None: they are none above 0."""
        return objective.power_of(*self)


ALONE = Powers()  # of what the design alone decides


@dataclass(frozen=True)
class Known:
    """What is known of a design and a workload before any mapping is."""

    area_um2: float
    clock_ns: float | None
    tokens: int | None
    macs: int  # of a run, those on zeros of padding not among them
    parameters: Mapping[str, float]  # numbers with bare names


@dataclass(frozen=True)
class NamedResult:
    """A result that expressions may name."""

    unit: str
    powers: Powers
    factor: Callable[[Known], float | None] = lambda _: 1.0  # None: something is not known
    needs: str = ""  # what has to be known, where it may not be


CLOCK, TOKENS = "clock_ns in the architecture", "tokens in the workload's file"


def _timed(factor: Callable[[Known, float], float]) -> Callable[[Known], float | None]:
    """Return a factor that needs a clock: of what is known and clock_ns."""
    return lambda known: None if known.clock_ns is None else factor(known, known.clock_ns)


def _by_token(factor: Callable[[int, float], float]) -> Callable[[Known], float | None]:
    """Return a factor that needs a clock and tokens: of the tokens and clock_ns."""
    return lambda known: None if known.clock_ns is None or not known.tokens else factor(known.tokens, known.clock_ns)


ENERGY, CYCLES = Powers(energy=Fraction(1)), Powers(cycles=Fraction(1))
POWER, PER_CYCLE, PER_PJ = (
    ENERGY.plus(CYCLES.times(Fraction(-1))),
    CYCLES.times(Fraction(-1)),
    ENERGY.times(Fraction(-1)),
)
_TABLE: dict[tuple[str, ...], NamedResult] = {
    ("edp",): NamedResult("pJ cycles", ENERGY.plus(CYCLES)),
    ("energy", "energy_pj"): NamedResult("pJ", ENERGY),
    ("joules",): NamedResult("J", ENERGY, lambda _: 1e-12),
    ("delay", "cycles"): NamedResult("cycles", CYCLES),
    ("power", "power_pj_per_cycle"): NamedResult("pJ/cycle", POWER),
    ("area", "area_um2"): NamedResult("um2", ALONE, lambda known: known.area_um2),
    ("area_mm2",): NamedResult("mm2", ALONE, lambda known: known.area_um2 * 1e-6),
    ("seconds",): NamedResult("s", CYCLES, _timed(lambda _, ns: ns * 1e-9), CLOCK),
    ("milliseconds",): NamedResult("ms", CYCLES, _timed(lambda _, ns: ns * 1e-6), CLOCK),
    ("watts", "power_w"): NamedResult("W", POWER, _timed(lambda _, ns: 1e-3 / ns), CLOCK),
    ("tops",): NamedResult("TOPS", PER_CYCLE, _timed(lambda known, ns: OPERATIONS * known.macs / ns * 1e-3), CLOCK),
    ("tops_per_watt",): NamedResult("TOPS/W", PER_PJ, lambda known: float(OPERATIONS * known.macs)),
    ("tokens_per_second", "tokens_per_s"): NamedResult(
        "tokens/s", PER_CYCLE, _by_token(lambda tokens, ns: tokens / (ns * 1e-9)), f"{CLOCK}, and {TOKENS}"
    ),
    ("joules_per_token",): NamedResult(
        "J/token", ENERGY, _by_token(lambda tokens, _: 1e-12 / tokens), f"{CLOCK}, and {TOKENS}"
    ),
}
RESULTS: Mapping[str, NamedResult] = {name: result for names, result in _TABLE.items() for name in names}


@dataclass(frozen=True)
class Expression:
    """An expression of results: `factor * energy_pj ** a * cycles ** b`."""

    text: str
    tree: ast.expr
    powers: Powers

    @classmethod
    def read(cls, text: str, parameters: Collection[str]) -> "Expression":
        """Read an expression of RESULTS and of parameters with bare names. Raises ValueError: what is wrong."""
        tree = parse(text)
        made = cls(text, tree, powers_of(tree, parameters))
        if not made.names:
            raise ValueError(f"names no result and no parameter, so all designs have the same: {text!r}")
        return made

    @property
    def unit(self) -> str:
        """The unit of a result alone; empty for more than a name."""
        return RESULTS[self.text].unit if self.text in RESULTS else ""

    @cached_property
    def names(self) -> set[str]:
        """The names that it uses."""
        return names_in(self.text)

    def factor(self, known: Known) -> float:
        """Compute the factor: the value with an energy of 1 pJ and 1 cycle. Raises ValueError where it has none."""
        numbers = dict(known.parameters)
        for name in self.names:
            if name in RESULTS:
                own = RESULTS[name].factor(known)
                if own is None:
                    raise ValueError(f"{name} is not known without {RESULTS[name].needs}")
                numbers[name] = own
            elif name not in numbers:
                raise ValueError(f"{name} is no number in this design")
        try:
            value = float(value_of(self.tree, numbers))
        except ZeroDivisionError:
            raise ValueError(f"division by zero: {self.text!r}") from None
        except OverflowError:
            raise ValueError(f"too large: {self.text!r}") from None
        if not isfinite(value):
            raise ValueError(f"too large: {self.text!r}")
        return value

    def at(self, known: Known, energy_pj: float = 1.0, cycles: float = 1.0) -> float:
        """Compute the value of a mapping with such costs. Raises ValueError where it has none."""
        energy, cycle = map(float, self.powers)
        try:
            return self.factor(known) * float(energy_pj**energy * cycles**cycle)
        except OverflowError:
            return inf

    def with_value(self, value: float, digits: int) -> str:
        """Write its value behind its text, or as a number alone where it is one."""
        return f"{self.text} {value:.{digits}g}" if self.names else f"{value:.{digits}g}"


def powers_of(node: ast.AST, parameters: Collection[str]) -> Powers:
    """Return the powers of energy and cycles in an expression. Raises ValueError for a sum of different ones."""
    match node:
        case ast.Constant():
            return ALONE
        case ast.Name(id=name):
            return _named(name, parameters)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return powers_of(left, parameters).plus(powers_of(right, parameters))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return powers_of(left, parameters).plus(powers_of(right, parameters).times(Fraction(-1)))
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int() | float() as exponent)):
            return powers_of(base, parameters).times(Fraction(str(exponent)))
        case ast.Call(func=ast.Name(id="sqrt"), args=[base]):
            return powers_of(base, parameters).times(Fraction(1, 2))
    inner = {powers_of(child, parameters) for child in ast.iter_child_nodes(node) if _is_operand(child, node)}
    if inner <= {ALONE}:
        return ALONE
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and len(inner) == 1:
        return inner.pop()
    rule = "results of mappings may be multiplied, divided and raised to a power, not added or compared"
    raise ValueError(f"{rule}: {ast.unparse(node)!r}")


def _is_operand(child: ast.AST, node: ast.AST) -> bool:
    return isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func)


def _named(name: str, parameters: Collection[str]) -> Powers:
    if name in RESULTS:  # also where a parameter has its name
        return RESULTS[name].powers
    if name in parameters:
        return ALONE
    known = [*RESULTS, *parameters]
    raise ValueError(f"unknown name {name!r}{near(name, known)}; known: {', '.join(known)}")


def objective_of(powers: Powers) -> tuple[str, Fraction] | None:
    """Return the objective of mappings whose power these are, and that power; None where they are no such power."""
    for name, objective in OBJECTIVES.items():
        if (power := powers.of(objective)) is not None:
            return name, power
    return None


@dataclass(frozen=True)
class Constraint:
    """A limit that a design has to keep: of what it is alone, or of its results on every workload."""

    text: str
    left: Expression
    right: Expression
    strict: bool  # less, not at most
    equal: bool = False

    @property
    def alone(self) -> bool:
        """Whether the design alone decides it."""
        return self.left.powers == self.right.powers == ALONE

    @property
    def powers(self) -> Powers:
        """The powers of what is to be at most 1: left / right."""
        return self.left.powers.plus(self.right.powers.times(Fraction(-1)))

    def holds(self, known: Known) -> bool:
        """Test a limit that the design alone decides. Raises ValueError where something is not known."""
        left, right = self.left.factor(known), self.right.factor(known)
        return left == right if self.equal else left < right if self.strict else left <= right

    def factor(self, known: Known) -> float:
        """Compute the factor of left / right, which is to be at most 1; inf: nothing keeps it. Raises ValueError."""
        left, right = self.left.factor(known), self.right.factor(known)
        if left <= 0 < right:  # whatever energy and cycles are
            return 0.0
        if right <= 0 < left:
            return inf
        if not (left > 0 and right > 0):
            raise ValueError(f"one side at least must be above 0: {self.text}")
        return left / right

    def broken(self, known: Known, energy_pj: float = 1.0, cycles: float = 1.0) -> str:
        """Say how a mapping with such costs breaks it, as `area_mm2 4.2 > 4`; empty where it keeps it.

        Raises ValueError where something is not known.
        """
        left, right = self.left.at(known, energy_pj, cycles), self.right.at(known, energy_pj, cycles)
        kept = self.holds(known) if self.alone else left <= right + SLACK * abs(right)
        if kept:
            return ""
        sign, turned = ("is not", "is not") if self.equal else (">=", "<=") if self.strict else (">", "<")
        digits = 5 if f"{left:.5g}" != f"{right:.5g}" else 12
        sides = self.left.with_value(left, digits), self.right.with_value(right, digits)
        return f"{sides[0]} {sign} {sides[1]}" if self.left.names else f"{sides[1]} {turned} {sides[0]}"

    @classmethod
    def read(cls, text: str, parameters: Collection[str]) -> "Constraint":
        """Read `area_mm2 <= 4`. Raises ValueError that says what is wrong."""
        tree = parse(text)
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in _SIDES):
            raise ValueError(f"a limit is expected, as area_mm2 <= 4; got {text!r}")
        strict, turned, equal = _SIDES[type(tree.ops[0])]
        sides = [tree.left, tree.comparators[0]][:: -1 if turned else 1]
        left, right = (Expression(ast.unparse(side), side, powers_of(side, parameters)) for side in sides)
        made = cls(text, left, right, strict, equal)
        if not left.names | right.names:
            raise ValueError(f"names no result and no parameter, so it says nothing of designs: {text!r}")
        if not made.alone and (equal or strict):
            raise ValueError(f"of results of mappings a limit is <= or >=: {text!r}")
        return made


_SIDES: dict[type[ast.cmpop], tuple[bool, bool, bool]] = {  # strict, sides changed, equal
    ast.LtE: (False, False, False),
    ast.Lt: (True, False, False),
    ast.GtE: (False, True, False),
    ast.Gt: (True, True, False),
    ast.Eq: (False, False, True),
}
