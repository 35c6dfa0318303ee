"""Searches on systolic arrays: cycles depend on loop orders there, and no proof is claimed that would not hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, recount, simulate
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.proof import optimal as proofs
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, lower_bound, optimal, search
from ..small_problems import MOST, best_of_all, problems, small_machines, values_of
from .test_engine import agree

FEW = settings(max_examples=500 if DEEP else 8)
PROOFS = SearchOptions(strategy="optimal", time_limit=0.05)


@st.composite
def arrays(draw):
    """Small machines with a systolic array below one of their levels, now and then a bandwidth."""
    arch = draw(small_machines())
    at = draw(st.integers(0, len(arch.levels) - 1))
    twice = draw(st.booleans())
    axes = [
        Axis(f"s{mesh}", draw(st.integers(1, 4)), mesh, systolic=True, double_buffered=twice)
        for mesh in draw(st.sampled_from(["X", "Y", "XY", "YX"]))
    ]
    levels = [replace(level, fanout=tuple(axes) if i == at else level.fanout) for i, level in enumerate(arch.levels)]
    return replace(arch, levels=tuple(levels))


def values(batch, table, objective, costs):
    """The objective of a single mapping, as the executor counts it."""
    return OBJECTIVES[objective].of(evaluate(batch, table, costs, simulate(batch)))[0]


@FEW
@given(problems(arrays()))
def test_each_search_against_every_mapping(problem):
    """An exhaustive search finds the least value; a proof is only claimed, and bounds only given, where they hold."""
    space, table, objective, costs = problem
    least = best_of_all(space, table, objective, costs)
    assume(np.isfinite(least))
    options = SearchOptions(strategy="exhaustive", objective=objective)
    found = search(space, table, options, costs)
    assert values(found.best, table, objective, costs) == pytest.approx(least, rel=1e-9)
    for outcome in (
        optimal(space, table, replace(PROOFS, objective=objective), costs),
        lower_bound(space, table, replace(PROOFS, objective=objective, bound=0.0), space[0], costs),
        lower_bound(space, table, replace(PROOFS, objective=objective, bound=0.05), found.best, costs),
    ):
        assert outcome.lower_bound is None or outcome.lower_bound <= least * (1 + 1e-9)
        if outcome.optimal:
            assert values(outcome.best, table, objective, costs) == pytest.approx(least, rel=1e-9)
        assert Ended.SEEN_ALL not in outcome.statistics.ended


@FEW
@given(problems(arrays(), most=MOST // 4))
def test_fronts_against_every_mapping(problem):
    """No mapping lies below the corners of what is proven of a front; an exhaustive search has the whole front."""
    space, table, _, costs = problem
    every = [values_of_both(batch, table, costs) for batch in space.batches()]
    energy_pj, cycles = np.concatenate([pair[0] for pair in every]), np.concatenate([pair[1] for pair in every])
    assume(np.isfinite(energy_pj).any())
    outcome = optimal(space, table, replace(PROOFS, front="energy,delay"), costs)
    own = {(pj, n) for pj, n in zip(energy_pj, cycles, strict=True)}
    assert outcome.proof is not None
    seen = [(float(each.energy_pj[0]), float(each.cycles[0])) for each in map(one(table, costs), outcome.front)]
    for pj, n in own:
        above = any(pj >= least * (1 - 1e-9) and n >= fewest * (1 - 1e-9) for fewest, least in outcome.proof.corners)
        assert above or any(pj >= mine * (1 - 1e-9) and n >= taken for mine, taken in seen)


def values_of_both(batch, table, costs):
    return [values_of(batch, table, name, costs) for name in ("energy", "delay")]


def one(table, costs):
    return lambda batch: evaluate(batch, table, costs, recount(batch))


def ordered():
    """A machine and a layer where the order of the least energy is not that of the fewest cycles: sums are dear to move
    up, so K stands innermost, and then the weights change at each step."""
    axes = (Axis("column", 2, "X", systolic=True), Axis("row", 2, "Y", systolic=True))
    names = frozenset({"Weights", "Inputs", "Outputs"})
    levels = (Storage("DRAM", "DRAM"), Storage("buffer", "SRAM", capacity_bits=16 * 8, keep=names, fanout=axes))
    pj = [LevelEnergy("DRAM", 100.0, 100.0, 1000.0, 0.0, 1.0, "given"), LevelEnergy("buffer", *[1.0] * 5, "given")]
    table = EnergyTable("array", tuple(pj), ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    arch = Architecture("array", levels, Compute("MAC", "intmac"))
    return Mapspace(arch, shaped("matmul", M=4, N=3, K=4), "pfm", distinct=True), table


def test_a_proof_would_be_false():
    """Branch and bound, let loose on such a machine, claims an optimum that is none: so it does not begin."""
    space, table = ordered()
    least = best_of_all(space, table, "delay", Charges())
    options = SearchOptions(strategy="random", objective="delay", bound=20.0)
    refused = optimal(space, table, replace(PROOFS, objective="delay"))
    assert refused.statistics.ended == (Ended.SYSTOLIC,)
    assert not refused.optimal
    with a_poor_beginning() as patch:
        patch.setattr(proofs, "why_no_proof", lambda task, chains: None)
        wrong = lower_bound(space, table, options, space[0])
    assert wrong.optimal
    assert (values(wrong.best, table, "delay", Charges()), least) == (48, 28)


def test_no_certificate():
    """A certificate of the same machine without systolic axes is refused for the one with them, and none is made."""
    space, table = ordered()
    options = replace(PROOFS, objective="delay", certify=True, time_limit=20.0)
    assert optimal(space, table, replace(options, time_limit=0.05)).certificate is None
    plain = replace(
        space.arch,
        levels=tuple(
            replace(level, fanout=tuple(replace(axis, systolic=False) for axis in level.fanout))
            for level in space.arch.levels
        ),
    )
    certificate = optimal(Mapspace(plain, space.workload, "pfm", distinct=True), table, options).certificate
    assert verify(certificate, plain, space.workload, table).optimal
    with pytest.raises(Refused, match="the cycles of array depend on loop orders"):
        verify(certificate, space.arch, space.workload, table)


def test_the_model_compiled_is_the_model():
    """JAX computes the same cycles, also where what is kept and the orders differ."""
    pytest.importorskip("jax", reason="needs the extra jax")
    space, table = ordered()
    dram, buffer = space.arch.levels
    free = replace(space.arch, levels=(dram, replace(buffer, keep=buffer.keep - {"Weights"}, capacity_bits=400)))
    for workload in (shaped("matmul", M=5, N=7, K=3), shaped("conv2d", M=3, C=3, P=4, Q=1, R=2, S=1)):
        reasons = agree(Mapspace(free, workload, "ruby"), table, Charges(leakage=True))
        assert (reasons == 0).any()
