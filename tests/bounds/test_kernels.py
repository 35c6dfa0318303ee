"""Compiled bounds beside NumPy, which defines them: equal to the last bit, and so are the proofs made with them."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper.bounds import InnermostLoops, Relaxation
from ruby_map.mapper.bounds.kernels import Program, engine, program, take
from ruby_map.mapper.bounds.kernels.program import SWITCH
from ruby_map.mapper.bounds.kernels.symbols import OPERATIONS, UnknownOperationError
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.proof.incumbents import BestIncumbent, FrontIncumbents
from ruby_map.mapper.search.options import SearchOptions

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import problems, slow_layers

compiled = pytest.mark.skipif(engine() != "compiled", reason="no compiler where it was installed")
LOOKUP = np.array([7.0, np.inf, 0.5])
COMPUTED = {
    "take": lambda a: take(LOOKUP, np.clip(np.rint(a), 0, 2).astype(np.int64)),
    "select": lambda a, b, c: np.where(a > b, b, c),
    "and": lambda a, b: np.where((a > b) & (b <= 1), a, b),
    "or": lambda a, b: np.where((a > b) | (b <= 1), a, b),
    "isinf": lambda a: np.where(np.isinf(a), 1.0, a),
    "where": lambda a, b: np.multiply(a, b, out=np.zeros(np.shape(b)), where=b > 0),
    **{
        name: lambda a, b, name=name: np.where(getattr(np, name)(a, b), 1.0, 0.0)
        for name in ("greater", "greater_equal", "less", "less_equal", "equal")
    },
    **{name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum")},
    **{name: getattr(np, name) for name in ("ceil", "rint")},
}

OPERANDS = {"take": 1, "isinf": 1, "ceil": 1, "rint": 1, "select": 3}


def test_where_there_is_a_compiler_bounds_are_compiled():
    """An extension that failed to build would go unnoticed otherwise."""
    assert engine() == "compiled" or not shutil.which(os.environ.get("CC", "cc")) or os.environ.get(SWITCH)


@compiled
@settings(max_examples=300 if DEEP else 30)
@given(st.data())
def test_each_operation_is_that_of_numpy(data):
    """Of any numbers, infinite and none included, and of blocks that are not full."""
    number = st.one_of(st.sampled_from([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]), st.floats(-1e6, 1e6))
    rows = data.draw(st.sampled_from([1, 127, 128, 129, 400]))
    some = np.array(data.draw(st.lists(number, min_size=5, max_size=5)))
    tables = [np.resize(some, (7, 2)), np.resize(some[::-1], (9, 1))]
    chosen = np.random.default_rng(0).integers(0, 7, (rows, 2))
    entries = tables[0][chosen[:, 0], 0], tables[0][chosen[:, 0], 1], tables[1][chosen[:, 1], 0]
    for name, function in COMPUTED.items():
        operands = OPERANDS.get(name, 2)
        finite = [np.nan_to_num(entry) for entry in entries] if name == "take" else entries
        own = [np.nan_to_num(table) for table in tables] if name == "take" else tables
        made = Program.of(lambda load, f=function, n=operands: [f(*[load(0, 0), load(0, 1), load(1, 0)][:n])], 2)
        packed = [made.packed(g, table.T) for g, table in enumerate(own)]
        with np.errstate(all="ignore"):
            expected = function(*finite[:operands])
        assert np.array_equal(made.run(packed, chosen)[:, 0], expected, equal_nan=True), name


def test_every_operation_is_tried():
    """Those of programs are the functions above, besides what every program has."""
    assert set(OPERATIONS) == set(COMPUTED) - {"where"} | {"load", "output"}


@compiled
@settings(max_examples=500 if DEEP else 15)
@given(st.data())
def test_compiled_bounds_are_those_of_numpy(data):
    """Of random sets of chains on machines with slow levels, wires and all kinds of energies."""
    space, table, costs, groups = data.draw(slow_layers((0.0, 1.0)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    keep = space.sample(rng, 1).keep[0]
    relaxed = Relaxation(groups, table, keep, costs)
    incumbent = BestIncumbent((OBJECTIVES[data.draw(st.sampled_from(["edp", "energy", "delay"]))],))
    bounding = relaxed.program(incumbent.bound_value, incumbent.valued_by)
    assert bounding is not None
    assert relaxed.program(incumbent.bound_value, incumbent.valued_by) is bounding
    # of each column the least of each pair of rows, as sets have
    lows = [[np.minimum(column, rng.permutation(column)) for column in columns] for columns in relaxed.columns]
    rows = np.stack([rng.integers(0, len(group), 200) for group in groups], axis=1)
    bound = relaxed.bound(lambda g, column: lows[g][column][rows[:, g]], len(rows))
    expected = bound.value(incumbent.bound_value(bound.energy_pj, bound.cycles), incumbent.bound_value)
    packed = [bounding.packed(g, columns) for g, columns in enumerate(lows)]
    assert np.array_equal(bounding.run(packed, rows)[:, 0], expected)
    # with some innermost loops, whether the chains have them or not
    loops = InnermostLoops(relaxed)
    every = [[InnermostLoops.ANY, *loops.choices(level)] for level in range(loops.levels)]
    lows.append(loops.entries(np.array([[rng.choice(own) for own in every] for _ in range(50)])))
    rows, found = np.column_stack([rows, rng.integers(0, 50, len(rows))]), []
    for switch in ("", "plain"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv(SWITCH, switch)
            own = Relaxation(groups, table, keep, costs).bounding_by_loops(incumbent.bound_value, incumbent.valued_by)
            found.append(own.run([own.packed(g, columns) for g, columns in enumerate(lows)], rows)[:, 0])
    assert np.array_equal(*found)


@compiled
@settings(max_examples=100 if DEEP else 5)
@given(problems(), st.booleans())
def test_a_proof_is_the_same_by_numpy(problem, certify):
    """Its mapping, bound, counts, steps and certificate."""
    space, table, objective, costs = problem
    outcomes = []
    for switch in ("", "plain"):
        with pytest.MonkeyPatch.context() as patched, a_poor_beginning():
            patched.setenv(SWITCH, switch)
            options = SearchOptions(strategy="optimal", objective=objective, certify=certify)
            outcomes.append(optimal(space, table, options, costs))
    one, other = outcomes
    assert one.certificate == other.certificate
    assert (one.lower_bound, one.coverage) == (other.lower_bound, other.coverage)
    assert one.statistics.steps == other.statistics.steps
    assert one.statistics.trace == other.statistics.trace


def test_without_a_compiler_numpy_computes(monkeypatch):
    """There is no program then; nor for a front, whose bound values change."""
    monkeypatch.setattr(program, "_machine", None)
    assert engine() == "plain"
    assert program.compiled(lambda load: [load(0, 0)], 1) is None
    assert FrontIncumbents((OBJECTIVES["edp"],)).valued_by is None


def test_what_is_not_recorded_is_left_to_numpy():
    """An operation that programs have not, and an array of several numbers."""
    for expression in (lambda load: [np.sin(load(0, 0))], lambda load: [load(0, 0) + np.arange(2.0)]):
        with pytest.raises(UnknownOperationError):
            Program.of(expression, 1)
        assert program.compiled(expression, 1) is None


@compiled
def test_a_program_stays_inside_its_tables():
    """A row that is not there is an error, and no other memory."""
    made = Program.of(lambda load: [load(0, 0) * load(1, 0)], 2)
    tables = [np.ones((3, 1)), np.ones((2, 1))]
    assert made.run(tables, np.array([[2, 1]]))[0, 0] == 1
    for rows in ([[3, 0]], [[0, 2]], [[-1, 0]]):
        with pytest.raises(IndexError):
            made.run(tables, np.array(rows))
    wrong = Program(made.code + np.array([0, 50, 0, 0], np.int32), made.registers, made.constants, (), made.columns, 1)
    with pytest.raises(ValueError, match="outside"):
        wrong.run(tables, np.array([[0, 0]]))
