"""Mapspaces small enough to visit every mapping, with every kind of constraint, and the best of all their mappings."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from ruby_map.arch import FREE, Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage, unstacked
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, as_written, stacked_table
from ruby_map.mapper.bounds import DimGroup, grouped
from ruby_map.mapper.certificate.checker import verify
from ruby_map.mapper.mapspace import every_chain
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.problem.charges import Charges
from ruby_map.workloads import InputError, shaped

from .conftest import DEEP
from .strategies import convolutions, drams, matmuls

MOST = 2_000  # mappings of a mapspace visited one by one
FEW = MOST if DEEP else 200  # the same where proofs under bandwidths look at nearly all of them
CHOICES = 1024 if DEEP else 32  # of what is kept: each is bounded by itself
TENSORS = frozenset("ABZ") | {"Inputs", "Outputs", "Weights"}
DIMS = ("M", "K", "P", "C", "N", "R")
STARTS = st.sampled_from([0, 0, 0, 0, 1, 3, 20])  # cycles in which a tile begins
PRESETS = ("pfm", "ruby-s", "ruby-t", "ruby")


@st.composite
def small_machines(draw, bandwidths=True):
    """Two or three levels with little room, an axis or two, constraints and free choices of what is kept."""
    n = draw(st.integers(2, 3))
    levels = []
    for i in range(n):
        axes = tuple(Axis(f"a{i}{j}", draw(st.integers(2, 5))) for j in range(draw(st.integers(0, 2 if i == 0 else 1))))
        keep = draw(st.sampled_from([(), (), ("A", "Inputs"), ("Z", "Outputs", "B", "Weights")])) if i else ()
        loops = LoopConstraint(
            outermost=draw(st.sampled_from([(), (), ("M",), ("R", "N")])),
            innermost=draw(st.sampled_from([(), (), ("K",), ("P", "C")])),
            dims=draw(st.sampled_from([None, None, ("M", "K", "P", "C")])) if i else None,
            max_loops=draw(st.sampled_from([None, None, 2])) if i else None,
        )
        levels.append(Storage(
            f"L{i}", "SRAM", fanout=axes, keep=frozenset(keep), temporal=loops,
            capacity_bits=16 * draw(st.integers(3, 40)) if i else None,
            read_bandwidth=draw(st.sampled_from([None, None, None, 1.0])) if bandwidths else None,
            shared_bandwidth=draw(st.sampled_from([None, None, None, 1.5])) if bandwidths else None,
            start_cycles=draw(STARTS),
            dram=draw(costly_drams()) if not i else None,
        ))  # fmt: skip
        if draw(st.booleans()) and i:
            levels[i] = replace(levels[i], keep=TENSORS)
    return Architecture("small", tuple(levels), Compute("MAC", "intmac"))


def slowed(draw, arch):
    """A machine whose every level may be slow."""
    rate = st.sampled_from([None, 0.3, 0.7, 1.0, 2.5])
    return replace(arch, levels=tuple(slow(draw, each, rate) for each in arch.levels))


def slow(draw, level, rate):
    """A level with bandwidths drawn by `rate`: of reads, of writes, of both together."""
    rates = {f"{kind}_bandwidth": draw(rate) for kind in ("read", "write", "shared")}
    if level.dram is not None and level.dram.row_bits is not None:
        rates["row_bandwidth"] = draw(rate)
    return replace(level, **rates)


@st.composite
def costly_drams(draw):
    """Bursts and rows where opening a row may cost something; none, three times out of four."""
    dram = draw(drams()) if draw(st.booleans()) else None
    if dram is None or dram.row_bits is None:
        return dram
    return replace(dram, activate_pj=draw(st.sampled_from([0.0, 3.0, 40.0])))


@st.composite
def slow_layers(draw, hop_pj):
    """A mapspace where any level may be slow, energies, what is charged, and the groups of dims with all chains."""
    arch = slowed(draw, draw(small_machines()))
    space = Mapspace(arch, draw(st.one_of(matmuls(12), convolutions(7))), draw(st.sampled_from(["ruby", "pfm"])))
    tables = tuple(every_chain(chains) for chains in space.chains)
    groups = [DimGroup(arch, space.workload, tables, dims) for dims in grouped(space.workload) or [(0,)]]
    return space, draw(figures(arch)), draw(cost_options(hop_pj)), groups


@st.composite
def _loops(draw, spatial, pinned):
    """A constraint of one slot, of any kind; `pinned`: nothing, or all of some dims, is here."""
    if pinned:
        full = draw(st.lists(st.sampled_from(DIMS), unique=True, max_size=3))
        return LoopConstraint(tuple(FactorRule(dim, "=", None) for dim in full), dims=tuple(full))
    rules = [
        FactorRule(dim, draw(st.sampled_from(["=", "<=", ">="])), draw(st.sampled_from([1, 1, 2, 3, 4])))
        for dim in draw(st.lists(st.sampled_from(DIMS), unique=True, max_size=1 if draw(st.booleans()) else 2))
    ]
    some = LoopConstraint(
        tuple(rules) if draw(st.integers(0, 2)) == 0 else (),
        draw(st.sampled_from([None, None, None, (), ("M", "K", "P", "C"), ("N", "R", "C")])),
        draw(st.sampled_from([None, None, None, True, False])),
    )
    if spatial:  # 0.5 of 4 and 1/3 of 3 are met exactly by bounds of 2 and 1
        return replace(some, min_utilization=draw(st.sampled_from([0.0, 0.0, 0.0, 1 / 3, 0.5, 0.75, 1.0])))
    outermost = draw(st.sampled_from([(), (), ("M",), ("C", "R")]))
    innermost = draw(st.sampled_from([(), (), ("K",), ("P", "N")]))
    return replace(some, outermost=outermost, innermost=innermost, max_loops=draw(st.sampled_from([None, None, 1, 2])))


@st.composite
def constrained_machines(draw):
    """One to four levels with everything that an architecture file may say of them.

    Now and then chains are pinned at most slots, so that a group of dims has a single combination, and what is kept is
    free: then the choice of what is kept is all there is to search.
    """
    pinned = draw(st.integers(0, 3)) == 0
    levels = []
    for i in range(draw(st.integers(1, 4 if pinned else 3))):
        axes = tuple(
            Axis(f"a{i}{j}", draw(st.integers(1, 5)), constraint=draw(_loops(True, pinned)))
            for j in range(draw(st.sampled_from([0, 0, 1, 1, 2])))
        )
        chosen = draw(st.sampled_from([frozenset(), frozenset(), TENSORS, {"A", "Inputs"}, {"Z", "Outputs"}]))
        bypassed = draw(st.sampled_from([frozenset(), frozenset(), {"B", "Weights"}])) if i else frozenset()
        bandwidth = st.sampled_from([None, None, None, None, 0.5, 1.0, 3.0])
        levels.append(Storage(
            f"L{i}", "SRAM", fanout=axes, keep=frozenset(chosen) - bypassed, bypass=frozenset(bypassed),
            temporal=draw(_loops(False, pinned and i > 0)),
            capacity_bits=8 * draw(st.integers(2, 80)) if i and draw(st.booleans()) else None,
            word_bits=draw(st.sampled_from([8, 16])), width_bits=draw(st.sampled_from([16, 64])),
            tensor_bits=draw(st.sampled_from([(), (), (("Z", 24), ("Outputs", 32)), (("A", 4),)])),
            multiple_buffering=draw(st.sampled_from([1, 1, 2])),
            read_bandwidth=draw(bandwidth), write_bandwidth=draw(bandwidth), shared_bandwidth=draw(bandwidth),
            start_cycles=draw(STARTS),
            dram=draw(costly_drams()) if not i else None,
        ))  # fmt: skip
    return Architecture("small", tuple(levels), Compute("MAC", "intmac"))


@st.composite
def uneven_machines(draw):
    """Such machines, some of whose memories place tensors unevenly."""
    arch = draw(st.one_of(small_machines(), constrained_machines()))
    places = [level.placement for level in arch.levels]
    places[1:] = [draw(st.sampled_from(["even", "uneven", "uneven"])) for _ in places[1:]]
    assume("uneven" in places)
    levels = (replace(level, placement=place) for level, place in zip(arch.levels, places, strict=True))
    return replace(arch, levels=tuple(levels))


SIZES = ((2, 2, 1), (1, 3, 1), (2, 1, 3), (4, 1, 1), (3, 2, 1))


@st.composite
def _some_loops(draw, dims, *, spatial=False):
    """A constraint of one memory or axis; mostly none."""
    kind = draw(st.sampled_from(["", "", "", "factors", "dims", "remainders", "orders", "loops"]))
    dim, other = draw(st.permutations(dims))[:2]
    if kind == "factors":
        rule = FactorRule(dim, draw(st.sampled_from(["=", "<=", ">="])), draw(st.sampled_from([1, 2, 3, None])))
        return LoopConstraint((rule,))
    if kind == "dims":
        return LoopConstraint(dims=(dim, other))
    if kind == "remainders":
        return LoopConstraint(remainders=draw(st.booleans()))
    if kind == "orders" and not spatial:
        return LoopConstraint(outermost=(dim,), innermost=(other,))
    if kind == "loops" and not spatial:
        return LoopConstraint(max_loops=draw(st.integers(0, 2)))
    return FREE


@st.composite
def uneven_spaces(draw, most=400):
    """A mapspace of distinct loop orders, with one or two uneven memories of two or three levels."""
    if draw(st.booleans()):
        workload = shaped("matmul", **dict(zip("MNK", draw(st.sampled_from(SIZES)), strict=True)))
    else:
        workload = shaped("conv2d", M=draw(st.integers(1, 2)), C=1, P=draw(st.integers(1, 3)), Q=1, R=2, S=1)
    dims, names = [d for d in "MNKCPR" if d in workload.dims], [tensor.name for tensor in workload.tensors]
    some = st.sets(st.sampled_from(names), max_size=2)
    levels = [Storage("L0", "SRAM", temporal=draw(_some_loops(dims)))]
    for i in range(1, draw(st.sampled_from([2, 2, 3]))):
        keep = draw(st.sampled_from([set(names), set(names), draw(some)]))
        axes = [Axis(f"a{i}", draw(st.integers(1, 3)), constraint=draw(_some_loops(dims, spatial=True)))]
        levels.append(Storage(
            f"L{i}", "SRAM", keep=frozenset(keep), bypass=frozenset(draw(some) - keep),
            temporal=draw(_some_loops(dims)),
            fanout=tuple(axes[: draw(st.integers(0, 1))]),
            word_bits=draw(st.sampled_from([8, 16])), tensor_bits=draw(st.sampled_from([(), (), ((names[-1], 24),)])),
            capacity_bits=draw(st.sampled_from([None, 48, 96, 160])),
            multiple_buffering=draw(st.sampled_from([1, 1, 2])),
            read_bandwidth=draw(st.sampled_from([None, None, None, 1.0])),
            write_bandwidth=draw(st.sampled_from([None, None, None, 0.5])),
            shared_bandwidth=draw(st.sampled_from([None, None, None, 0.7])),
            placement="even" if i == 2 and draw(st.booleans()) else "uneven",
        ))  # fmt: skip
    arch = Architecture("small", tuple(levels), Compute("MAC", "intmac"))
    try:
        space = Mapspace(arch, workload, draw(st.sampled_from(PRESETS)), distinct=True)
    except InputError:
        assume(False)
    assume(space.size.total <= most)
    return space


@st.composite
def figures(draw, arch):
    """Energies of any proportions, zero now and then."""
    pj = st.sampled_from([0.0, 0.5, 1.0, 3.0, 10.0, 200.0])
    levels = tuple(
        LevelEnergy(level.name, draw(pj), draw(pj), draw(pj), draw(st.sampled_from([0.0, 0.1])), 1.0, "given")
        for level in arch.levels
    )
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", draw(pj), 0.0, 1.0, "given"))


@st.composite
def cost_options(draw, hop_pj=(0.0, 0.0, 0.0, 2.0)):
    """What is charged beside accesses and MACs."""
    some = {"leakage": st.booleans(), "hop_pj": st.sampled_from(hop_pj), "drain_reads": st.booleans()}
    return Charges(**{name: draw(each) for name, each in some.items()})


@st.composite
def problems(draw, machines=None, most=MOST):
    """A mapspace small enough to visit, energies, an objective, and whether leakage, wires and drained words count."""
    workload = draw(st.one_of(matmuls(5), convolutions(4, two_windows=False)))
    arch = draw(small_machines() if machines is None else machines)
    try:
        space = Mapspace(arch, workload, draw(st.sampled_from(PRESETS)), distinct=True)
    except InputError:
        assume(False)
    assume(space.size.total <= most and space.size.bypass <= CHOICES)
    costs = draw(cost_options())
    return space, stacked_table(draw(figures(arch)), space.arch), draw(st.sampled_from(sorted(OBJECTIVES))), costs


@st.composite
def uneven_problems(draw):
    """The same with memories of uneven placement."""
    space = draw(uneven_spaces())
    assume(space.keep_choices.stacks and space.keep_choices.number <= CHOICES)
    table = stacked_table(draw(figures(unstacked(space.arch))), space.arch)
    costs = draw(cost_options())
    return space, table, draw(st.sampled_from(sorted(OBJECTIVES))), costs


def constrained_problems():
    """The same with every kind of constraint."""
    return problems(constrained_machines(), FEW)


def values_of(batch, table, objective, costs):
    """The objective of each mapping, counted exactly; inf where invalid."""
    values = np.full(len(batch), np.inf)
    valid = np.flatnonzero(validity(batch) == 0)
    if len(valid):
        found = evaluate(batch.take(valid), table, costs)
        values[valid] = OBJECTIVES[objective].of(found)
        for i in valid[~found.exact]:
            one = batch.take([i])
            values[i] = OBJECTIVES[objective].of(evaluate(one, table, costs, recount(one)))[0]
    return values


def best_of_all(space, table, objective, costs):
    """The least objective of all mappings; inf where none is valid."""
    values = np.concatenate([values_of(batch, table, objective, costs) for batch in space.batches()])
    return values.min()


def combinations_of(space):
    """How many combinations of chains and of what is kept there are, whatever the dims share."""
    return prod(chains.total for chains in space.chains) * space.size.bypass


def check_best_of_all(found, space, table, objective, costs, *, certified=False):
    """A proof found the least value of all mappings, which it returns, and accounts for each; or there is none.

    `certified`: so its certificate says.
    """
    least = best_of_all(space, table, objective, costs)
    assert found.coverage.total == combinations_of(space)
    if np.isinf(least):
        assert found.best is None
        assert not found.optimal
        return least
    assert found.optimal
    assert not found.coverage.open
    assert found.lower_bound == pytest.approx(least, rel=1e-8)
    assert values_of(found.best, table, objective, costs)[0] == pytest.approx(least, rel=1e-8)
    assert 0 <= space.index(found.best)[0] < space.size.total
    if certified:
        arch, own = as_written(space.arch, table)
        assert verify(found.certificate, arch, space.workload, own).optimal
    return least
