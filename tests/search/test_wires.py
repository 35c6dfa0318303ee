"""Energy of wires in bounds and proofs: hops bounded from below, proofs of the best of every mapping, certificates."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import charge_bounds, wires
from ruby_map.mapper.bounds.dim_groups import DimGroup, grouped
from ruby_map.mapper.bounds.products import Products
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.certificate.checker import wires as checked_wires
from ruby_map.mapper.certificate.checker.problem import Problem
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.model.cost import validity
from ruby_map.mapper.model.interconnect import hops
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError, Tensor, Term, Workload, shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import check_best_of_all, constrained_machines, problems, slow
from ..strategies import convolutions, matmuls, plain


@st.composite
def arrays(draw):
    """One or two levels with arrays of up to four axes in both directions."""
    levels = []
    for i in range(draw(st.integers(1, 2))):
        axes = tuple(
            Axis(f"a{i}{j}", draw(st.integers(1, 7)), draw(st.sampled_from("XYY")))
            for j in range(draw(st.integers(1, 4 if i == 0 else 2)))
        )
        levels.append(Storage(f"L{i}", "SRAM", fanout=axes))
    return Architecture("arrays", tuple(levels), Compute("MAC", "intmac"))


@st.composite
def spread_chains(draw):
    """An array, chains of all dims, and rows of some combinations that fit: (mapspace, groups, batch)."""
    workload = draw(st.one_of(matmuls(9), convolutions(9)))
    try:
        space = Mapspace(draw(arrays()), workload, draw(st.sampled_from(["pfm", "ruby", "ruby-s"])))
    except InputError:
        assume(False)
    assume(all(chains.total < 3_000 for chains in space.chains))
    batch = space.sample(np.random.default_rng(draw(st.integers(0, 2**32))), 60)
    return space, batch.take(np.flatnonzero(validity(batch) == 0))


def columns_of(space):
    tables = tuple(every_chain(chains) for chains in space.chains)
    dims = grouped(space.workload) or [(0,)]
    assume(all(np.prod([len(tables[d].bounds) for d in each]) < 30_000 for each in dims))
    return Products([DimGroup(space.arch, space.workload, tables, each) for each in dims])


def rows_of(products, batch):
    """The combination of chains of each mapping, per group. # (mapping, group)"""
    found = np.empty((len(batch), len(products.groups)), np.int64)
    for g, group in enumerate(products.groups):
        shape = [len(group.tables[d].bounds) for d in group.dims]
        each = []
        for d in group.dims:
            key = {tuple(row): i for i, row in enumerate(group.tables[d].bounds.tolist())}
            each.append([key[tuple(row)] for row in batch.factors[:, :, d].tolist()])
        found[:, g] = np.ravel_multi_index(each, shape)
    return found


def least_of(products, some):
    """The least of a product over sets of combinations; `some`: per group, per set its rows."""

    def value(ids):
        columns = zip(products.columns, ids, some, strict=True)
        return np.prod([[column[c][rows].min() for rows in sets] for column, c, sets in columns], axis=0)

    return value


def check_hops(space, batch, seed):
    """No word of a mapping makes fewer hops than the bound of its chains, or of a set that they are in."""
    products, rng = columns_of(space), np.random.default_rng(seed)
    rows = rows_of(products, batch)
    alone = [[mine[g : g + 1] for mine in rows] for g in range(len(products.groups))]
    wider = [
        [np.append(mine[g], rng.integers(0, len(group), rng.integers(0, 4))) for mine in rows]
        for g, group in enumerate(products.groups)
    ]
    for level, storage in enumerate(space.arch.levels):
        if storage.instances_below == 1:
            continue
        for tensor in space.workload.tensors:
            exact = hops(batch, level, tensor)
            bound = wires.hops_bound(products, tensor, level)
            shares = list(wires.shares(products, tensor, level))
            for sets in (alone, wider):
                value = least_of(products, sets)
                assert (bound.least(value, len(batch)) <= exact * (1 + 1e-12)).all()
                for _, figure, product in shares:
                    assert (figure * value(product) <= exact * (1 + 1e-12)).all()


@settings(max_examples=3_000 if DEEP else 30)
@given(spread_chains(), st.integers(0, 2**32))
def test_no_word_makes_fewer_hops_than_the_bound(problem, seed):
    """In arrays of several axes, with windows spread along either direction, alone and in sets of chains."""
    space, batch = problem
    assume(len(batch))
    check_hops(space, batch, seed)


@settings(max_examples=1_000 if DEEP else 13)
@given(spread_chains(), st.integers(0, 2**32))
def test_nor_than_that_of_the_checker(problem, seed):
    """The checker's own bound, for the chains of single mappings."""
    space, batch = problem
    products = columns_of(space)
    nothing = EnergyTable("none", (), ComputeEnergy("MAC", 0.0, 0.0, 1.0, "given"))
    listed = Problem(space.arch, space.workload, nothing, space.remainders, Charges())
    table: list[list[np.ndarray]] = [[] for _ in listed.groups]

    def make(column, *what):
        for columns, group in zip(table, listed.groups, strict=True):
            columns.append(column(group))
        return (len(table[0]) - 1,) * len(table)

    rows = np.array([rows_listed(listed, one) for one in batch.factors])
    for level, storage in enumerate(space.arch.levels):
        for tensor in space.workload.tensors if storage.instances_below > 1 and len(batch) else ():
            array = checked_wires.Array(space.arch, space.workload, tensor, level, make)

            def value(ids):
                return np.prod([table[g][c][rows[:, g]] for g, c in enumerate(ids)], axis=0)

            exact, least = hops(batch, level, tensor), array.hops().least(value, len(batch))
            assert (least <= exact * (1 + 1e-12)).all()
            own = wires.hops_bound(products, tensor, level)
            alone = [[mine[g : g + 1] for mine in rows_of(products, batch)] for g in range(len(products.groups))]
            assert least == pytest.approx(own.least(least_of(products, alone), len(batch)))
            for figure, product in array.shares().values():
                assert (figure * value(product) <= exact * (1 + 1e-12)).all()


def rows_listed(problem, factors):
    """The row of each group of the checker that the chains of a mapping are. # (slot, dim) -> (group,)"""
    found = []
    for group in problem.groups:
        places = [int((problem.chains[d].bounds == factors[:, d]).all(axis=1).argmax()) for d in group.dims]
        found.append(int(np.ravel_multi_index(places, [len(problem.chains[d]) for d in group.dims])))
    return found


@st.composite
def wired_problems(draw, machines=None):
    """Problems whose arrays have rows and columns, with wires of any price; now and then nothing else costs energy."""
    space, table, objective, costs = draw(problems(machines, 400))
    rate = st.sampled_from([None, None, None, 0.3, 1.0, 2.5])
    levels = tuple(
        replace(
            slow(draw, level, rate),
            fanout=tuple(replace(axis, mesh=draw(st.sampled_from("XYY"))) for axis in level.fanout),
        )
        for level in space.arch.levels
    )
    space = Mapspace(replace(space.arch, levels=levels), space.workload, space.remainders, distinct=True)
    if draw(st.integers(0, 3)) == 0:
        table = free_but_for_wires(space.arch)
    priced = draw(st.sampled_from([{"hop_pj": 2.0}, {"hop_pj": 50.0}, {"wire_pj_per_bit_mm": 0.1, "tile_mm": 0.25}]))
    return space, table, objective, Charges(leakage=costs.leakage, drain_reads=costs.drain_reads, **priced)


def free_but_for_wires(arch):
    """Energies of nothing."""
    levels = tuple(LevelEnergy(level.name, 0.0, 0.0, 0.0, 0.0, 1.0, "given") for level in arch.levels)
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", 0.0, 0.0, 1.0, "given"))


def check_proof(space, table, objective, costs, front=""):
    """A proof that begins poorly finds the least value of all mappings; its certificate is verified."""
    options = SearchOptions(strategy="optimal", objective=objective, certify=True, front=front)
    with a_poor_beginning():
        found = optimal(space, table, options, costs)
    check_best_of_all(found, space, table, objective, costs, certified=True)


@settings(max_examples=3_000 if DEEP else 10)
@given(wired_problems())
def test_equals_the_best_of_every_mapping(problem):
    """With wires and bandwidths together, in every mapspace."""
    check_proof(*problem)


@settings(max_examples=3_000 if DEEP else 6)
@given(wired_problems(constrained_machines()), st.sampled_from(["", "energy,delay"]))
def test_equals_the_best_of_every_mapping_under_constraints(problem, front):
    """The same with every kind of constraint, and fronts."""
    check_proof(*problem, front)


def square(side=4):
    """A square array below a buffer, and a workload whose best mapping spreads over both of its directions."""
    axes = (Axis("column", side, "X"), Axis("row", side, "Y"))
    levels = (Storage("DRAM", "DRAM"), Storage("pad", "SRAM", fanout=axes, capacity_bits=16 * 600))
    return Architecture("square", levels, Compute("MAC", "intmac")), shaped("matmul", M=24, N=20, K=18)


def figures_of(arch, pj):
    """Energies of accesses."""
    levels = tuple(LevelEnergy(level.name, pj, pj, pj, 0.0, 1.0, "given") for level in arch.levels)
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", pj, 0.0, 1.0, "given"))


@pytest.mark.parametrize("pj", [0.0, 1.0])
def test_a_certificate_of_wires_holds_for_no_other_wires(pj):
    """Verified as it is; refused if it is said to be about cheaper wires, or if a weight of wires is changed."""
    arch, workload = square()
    space, table, costs = Mapspace(arch, workload, "pfm"), figures_of(arch, pj), Charges(hop_pj=3.0)
    found = optimal(space, table, SearchOptions(strategy="optimal", certify=True, time_limit=60), costs)
    assert found.optimal
    layer = found.certificate
    assert verify(layer, arch, workload, table).optimal
    with pytest.raises(Refused):
        verify(layer.model_copy(update={"hop_pj": 1.0}), arch, workload, table)
    with pytest.raises(Refused):
        verify(layer.model_copy(update={"hop_pj": 0.0}), arch, workload, table)
    with pytest.raises(Refused):
        verify(layer.model_copy(update={"lower_bound": layer.lower_bound * 1.01}), arch, workload, table)


def passing_window():
    """A window A + B + 2 C whose words pass the array of A and C below a level that may keep nothing."""
    dims = ("A", "B", "C")
    weights = Tensor("Weights", ((Term("A"), Term("B"), Term("C", 2)),))
    workload = Workload("w", dims, (3, 4, 2), (plain("Inputs", "AB"), weights, plain("Outputs", "C", True)))
    outer = Storage("L0", "DRAM", word_bits=8, width_bits=16, fanout=(Axis("a00", 4, "Y"),))
    fanout = (Axis("a10", 3, "X"), Axis("a11", 2, "Y"))
    inner = Storage("L1", "SRAM", word_bits=8, width_bits=8, capacity_bits=24, write_bandwidth=0.5, fanout=fanout)
    return Architecture("machine", (outer, inner), Compute("MAC", "intmac")), workload


# the law above has EDP with remainders, too
@pytest.mark.parametrize(
    ("remainders", "objective"),
    [("pfm", "energy"), ("pfm", "edp"), ("ruby-s", "energy"), *([("ruby-s", "edp")] if DEEP else [])],
)
def test_words_that_pass_an_array_are_counted_exactly(objective, remainders):
    """The closed form counts too many words that cross an array below a level that they pass: it decides nothing."""
    arch, workload = passing_window()
    outer = LevelEnergy("L0", 0.0, 13.0, 2.0, 0.0, 1.0, "given")
    inner = LevelEnergy("L1", 200.0, 0.5, 13.0, 1.0, 1.0, "given")
    table = EnergyTable("machine", (outer, inner), ComputeEnergy("MAC", 0.0, 0.0, 1.0, "given"))
    space = Mapspace(arch, workload, remainders, distinct=True)
    check_proof(space, table, objective, Charges(hop_pj=0.7))


WRONG = {
    "the way to the right": ("right", lambda hops: tuple((3 * step, *rest) for step, *rest in hops)),
    "the climbs": ("middle", lambda middle: 4 * middle),
    "the climb of the rows in use": ("by_rows", lambda means: 4 * means),
    "the reach in a column": ("reach", lambda hops: tuple((9 * step, *rest) for step, *rest in hops)),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_bound_is_noticed(monkeypatch, wrong):
    """Hops that are too high rule the optimum out, or a mapping is below the bound of its chains."""
    name, change = WRONG[wrong]
    kind = wires.Hops if name == "right" else wires.Climbs

    def made(self, *values, real=kind.__init__, **named):
        real(self, *values, **named)
        object.__setattr__(self, name, change(getattr(self, name)))

    assert is_noticed(monkeypatch, kind, "__init__", made)


@pytest.mark.parametrize("share", ["columns", "middle", "rows"])
def test_a_wrong_weighted_product_is_noticed(monkeypatch, share):
    """A share of the hops that is too high."""

    def shares(*what, real=wires.shares):
        for name, figure, product in real(*what):
            yield name, figure * (40 if name == share else 1), product

    assert is_noticed(monkeypatch, charge_bounds, "shares", shares)


def is_noticed(monkeypatch, place, name, wrong):
    """Whether a fault ends the proof, gives a bound above the optimum, or a certificate that is refused."""
    arch, workload = square()
    space, table, costs = Mapspace(arch, workload, "ruby-s"), figures_of(arch, 0.1), Charges(hop_pj=3.0)
    options = SearchOptions(strategy="optimal", objective="energy", certify=True)
    right = optimal(space, table, options, costs)
    monkeypatch.setattr(place, name, wrong)
    try:
        with a_poor_beginning():
            found = optimal(space, table, options, costs)
    except InternalError:
        return True
    if found.lower_bound > right.lower_bound * (1 + 1e-9) or found.best is None:
        return True
    try:
        verify(found.certificate, arch, workload, table)
    except Refused:
        return True
    return False
