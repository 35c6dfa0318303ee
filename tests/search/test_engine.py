"""--engine jax: the same functions compiled, the same answers to the last bit; what it cannot do is said before."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, energy_table
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.mapspace import every_chain
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import count, least_counts
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.nests.nest_analysis import NestAnalysis
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.search import RandomDraws, Task
from ruby_map.mapper.search.engines import ENGINES
from ruby_map.mapper.search.engines import jax_line as engine
from ruby_map.mapper.search.engines import prefilter as screen
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.proposer import random_batch
from ruby_map.mapper.search.recorder import RecordThreshold, Scores
from ruby_map.mapper.search.score import ScoringTask
from ruby_map.mapper.searchers.option_faults import option_faults
from ruby_map.workloads import InputError, Tensor, Term, Workload, load_workload
from typer.testing import CliRunner

from ..conftest import DEEP
from ..searches import search

NAMES = ("edp", "energy", "delay")
SOME = np.array([0, 1, 5000, 8191])


@pytest.fixture
def jax():
    """JAX, where it is installed."""
    return pytest.importorskip("jax", reason="needs the extra jax")


def window(stride=2):
    """A convolution with one window rank, small."""
    inputs = ((Term("C"),), (Term("P", stride), Term("R")))
    tensors = (
        Tensor("Weights", ((Term("M"),), (Term("C"),), (Term("R"),))),
        Tensor("Inputs", inputs),
        Tensor("Outputs", ((Term("M"),), (Term("P"),)), output=True),
    )
    return Workload("conv", ("M", "C", "P", "R"), (14, 9, 11, 3), tensors)


def machine(**pad):
    """Three levels with what the model knows: fanout, capacity, least use, bandwidths that divide nothing evenly."""
    axis = Axis("X", 7, constraint=LoopConstraint(min_utilization=0.4))
    kept = frozenset({"Weights", "Inputs", "Outputs"})
    levels = (
        Storage("DRAM", "DRAM", width_bits=64, read_bandwidth=3.0, write_bandwidth=0.7),
        Storage(
            "GLB",
            "SRAM",
            capacity_bits=900,
            fanout=(axis, Axis("Y", 3, "Y")),
            read_bandwidth=7.0,
            keep=kept,
            shared_bandwidth=9.1,
        ),
        Storage("pad", "regfile", capacity_bits=192, **{"keep": kept} | pad),
    )
    return Architecture("three", levels, Compute("MAC", "intmac"))


def figures(arch):
    """Energies without a common divisor."""
    levels = tuple(
        LevelEnergy(level.name, 200.3 / 7**i, 211.7 / 7**i, 190.1 / 7**i, 0.013, 1.0, "given")
        for i, level in enumerate(arch.levels)
    )
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", 0.56, 0.001, 1.0, "given"))


def told(outcome):
    """All that a search says but its time."""
    batches = [(b.rows.tolist(), b.order.tolist(), b.keep.tolist()) for b in (outcome.best, *outcome.front) if b]
    return batches, replace(outcome.statistics, seconds=0.0)


def both(space, table, costs=None, **options):
    """What both engines find."""
    options = {"samples": 60_000 if DEEP else 25_000, "victory": 10**6} | options
    return [
        told(search(space, table, SearchOptions(strategy="random", engine=name, **options), costs)) for name in ENGINES
    ]


def agree(space, table, costs):
    """Validity, cycles and objectives of one chunk by either engine."""
    options = SearchOptions(objective=NAMES, engine="jax")
    task = ScoringTask(Task.of(space, table, options, costs), RandomDraws())
    compiled = engine.prefilter(task).engine
    draw = random_batch(space, 1, 0)
    batch, sight = draw.arranged(), compiled.look(draw)
    reasons = validity(batch)
    np.testing.assert_array_equal(sight.reasons(), reasons)
    np.testing.assert_array_equal(sight.cycles(), NestAnalysis(batch).cycles())
    counts = count(batch)
    for each, values in zip((least_counts(batch, counts), counts), compiled.values(draw), strict=True):
        found = evaluate(batch, table, costs, each)
        expected = np.stack([OBJECTIVES[name].of(found) for name in NAMES], axis=1)
        np.testing.assert_allclose(values, expected, rtol=screen.SLACK / 1e4)
        np.testing.assert_array_equal(values[:, 2], expected[:, 2])
    return reasons


# the same answers


@pytest.mark.parametrize("drain_reads", [False, True])
def test_the_model_compiled_is_the_model(jax, drain_reads):
    """Reason codes and cycles to the last bit, energies up to rounding: bandwidths, leakage, a window, least use."""
    arch, costs = machine(), Charges(leakage=True, drain_reads=drain_reads)
    reasons = agree(Mapspace(arch, window(), "ruby"), figures(arch), costs)
    assert set(reasons.tolist()) == {0, 1}


def test_every_reason_compiled(jax):
    """The same of mappings that no mapspace holds: more than the axes have places for, or too few."""
    arch = machine()
    batch = Mapspace(arch, window(), "ruby").sample(np.random.default_rng(1), 2000)
    axes = (Axis("X", 6, constraint=LoopConstraint(min_utilization=0.8)), Axis("Y", 2, "Y"))
    batch.arch = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], fanout=axes), arch.levels[2]))

    def compiled(rows, keep):
        return validity(MappingBatch(batch.arch, batch.workload, batch.tables, rows, batch.order, keep))

    jax.config.update("jax_enable_x64", True)
    found = jax.jit(compiled)(batch.rows, batch.keep)
    np.testing.assert_array_equal(found, validity(batch))
    assert set(found.tolist()) == {0, 1, 2, 3}


@pytest.mark.deep
@pytest.mark.parametrize("preset", ["pfm", "ruby-s", "ruby-t", "ruby"])
@pytest.mark.parametrize("arch", ["eyeriss_like", "eyeriss_like_free", "simba_like", "toy_6pe"])
def test_the_model_compiled_is_the_model_of_library_machines(jax, arch, preset):
    """The same of machines and layers of the library."""
    found = load_arch(arch)
    for layer in ("resnet50/conv1", "resnet50/conv3_x_3x3"):
        agree(Mapspace(found, load_workload(layer), preset), energy_table(found), None)


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("ruby-s", {"seed": 1}),
        ("ruby", {"seed": 2, "objective": "delay,energy", "front": "energy,delay"}),
        ("pfm", {"seed": 3, "prune": False, "front": "energy,delay", "victory": 9_000}),
    ],
)
def test_either_engine_gives_the_same_answer(jax, preset, options):
    """Best, front, trace and statistics are the same, and so is where a rule ends the search."""
    arch = machine()
    found = both(Mapspace(arch, window(), preset), figures(arch), **options)
    assert found[0] == found[1]
    assert found[0][1].trace


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("preset", ["pfm", "ruby-s", "ruby-t", "ruby"])
@pytest.mark.parametrize("arch", ["eyeriss_like", "simba_like"])
def test_either_engine_gives_the_same_answer_on_library_machines(jax, arch, preset, seed):
    """The same of larger mapspaces, by every objective."""
    found = load_arch(arch)
    space = Mapspace(found, load_workload("resnet50/conv2_x_3x3"), preset)
    for options in ({}, {"objective": "energy"}, {"objective": "delay,energy"}, {"front": "energy,delay"}):
        one, other = both(space, energy_table(found), samples=10**6, seed=seed, **options)
        assert one == other


def test_mappings_that_differ_in_what_they_keep(jax):
    """Each choice of what is kept is compiled apart, and the answer is the same."""
    arch = machine(bypass=frozenset({"Outputs"}), keep=frozenset({"Weights"}))
    space = Mapspace(arch, window(), "pfm")
    assert space.size.bypass == 2
    one, other = both(space, figures(arch), seed=4)
    assert one == other


def test_workers_compile_for_themselves(jax):
    """Two processes give the answer of one, with either engine."""
    arch = machine()
    space = Mapspace(arch, window(), "ruby-s")
    options = SearchOptions(strategy="random", samples=40_000, victory=10**6, jobs=2, engine="jax")
    assert told(search(space, figures(arch), options)) == told(
        search(space, figures(arch), replace(options, jobs=1, engine="numpy"))
    )


# screening


@st.composite
def columns(draw):
    """Values with ties, in half the cases close to each other, and the same but for rounding."""
    several, axes = draw(st.integers(1, 2)), draw(st.sampled_from([0, 2]))
    names = draw(st.permutations(NAMES))[:several] + draw(st.permutations(NAMES))[:axes]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))  # lists of Hypothesis are mostly too short for a tie
    whole = rng.integers(1, 5, (rng.integers(1, 20), len(names))).astype(float)
    exact = np.array([name == "delay" for name in names])
    close = ~exact & draw(st.booleans())
    values = np.where(close, 1 + whole * screen.SLACK / 5, whole)
    noisy = values * (1 + np.where(exact, 0.0, rng.uniform(-0.4, 0.4, values.shape) * screen.SLACK))
    rows = [tuple(row) for row in values.tolist()]
    best = rng.choice(len(rows)) if draw(st.booleans()) else None
    front = tuple(rows[i][several:] for i in rng.choice(len(rows), draw(st.integers(0, 2)))) if axes else ()
    return names, several, values, noisy, RecordThreshold((np.inf,) if best is None else rows[best][:several], front)


@given(columns())
def test_screening_leaves_nothing_out(case):
    """Whatever could be recorded of the true values is among what the rounded ones point at."""
    names, several, values, noisy, known = case
    near = set(screen.may_improve(noisy, noisy, [OBJECTIVES[name] for name in names], several, known).tolist())
    points = values[:, several:] if len(names) > several else None
    scores = Scores.of(0, np.zeros(len(values), np.int8), values[:, :several], points)
    better = {
        int(i) for i, row in zip(scores.records, scores.values.tolist(), strict=True) if tuple(row) < known.values
    }
    front = {
        int(i)
        for i, point in zip(scores.candidates, scores.points.tolist(), strict=True)
        if not any(all(a <= b for a, b in zip(one, point, strict=True)) for one in known.front)
    }
    assert better | front <= near


def test_screening_leaves_little():
    """Values far apart point at the records alone."""
    values = np.array([[5.0], [7.0], [3.0], [3.5], [2.0], [2.1]])
    assert screen.may_improve(values, values, [OBJECTIVES["edp"]], 1, RecordThreshold((4.0,))).tolist() == [2, 4]


# draws


@pytest.mark.parametrize("bypass", [frozenset(), frozenset({"Outputs"})])
@pytest.mark.parametrize("distinct", [False, True])
def test_orders_that_wait_are_those_drawn_at_once(bypass, distinct):
    """Taking, joining and arranging a draw gives the mappings of `sample`."""
    kept = frozenset({"Weights", "Inputs", "Outputs"}) - bypass
    space = Mapspace(machine(bypass=bypass, keep=kept), window(), "ruby-s", distinct=distinct)
    whole, other = (space.sample(np.random.default_rng(seed), 8192) for seed in (5, 6))
    draws = [space.sample_lazily(np.random.default_rng(seed), 8192) for seed in (5, 6)]
    parts = [draw.take(SOME) for draw in draws]
    joined = type(draws[0]).joined(parts)
    for name in ("rows", "order", "keep"):
        expected = np.concatenate([getattr(batch, name)[SOME] for batch in (whole, other)])
        np.testing.assert_array_equal(getattr(joined, name), expected)
    assert draws[0].take(np.empty(0, np.int64)).order.shape == (0, *whole.order.shape[1:])


# what it cannot do


def faults(space, costs=None):
    return ENGINES["jax"].space_faults(space, costs or Charges())


def test_an_engine_that_is_none_or_not_installed(monkeypatch):
    """The message says what there is, and what brings it."""
    (fault,) = option_faults(SearchOptions(strategy="random", engine="jacks"))
    assert str(fault) == 'engine: must be one of numpy, jax; got "jacks"'
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    (fault,) = option_faults(SearchOptions(strategy="random", engine="jax"))
    assert "pip install 'ruby-map[jax]'" in str(fault)
    assert not option_faults(SearchOptions(strategy="random", engine="numpy"))


def test_the_command_says_it_with_status_2(monkeypatch):
    """Beside the other faults, and before anything is searched."""
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    found = CliRunner().invoke(
        main, ["eyeriss_like", "resnet50/conv1", "--search", "random", "--engine", "jax", "--victory", "0"]
    )
    assert found.exit_code == 2
    assert "jax is not installed" in found.stderr
    assert "victory" in found.stderr


def test_searches_that_other_engines_do():
    """Exhaustive and optimal search count by themselves."""
    for strategy in ("exhaustive", "optimal"):
        (fault,) = option_faults(SearchOptions(strategy=strategy, engine="jax"))
        assert f"goes with --search random, got {strategy}" in str(fault)


def test_mapspaces_that_it_cannot_do(monkeypatch):
    """Every reason at once, with the figure and the limit; NumPy has none of them."""
    arch = machine(bypass=frozenset({"Outputs"}), keep=frozenset({"Weights"}))
    space = Mapspace(arch, window(), "ruby", distinct=True)
    monkeypatch.setattr(engine, "MOST_CHOICES", 1)
    monkeypatch.setattr(engine, "MOST_PAIRS", 10)
    found = faults(space, Charges(hop_pj=1.0))
    for text, part in zip(("network", "loop orders", "at most 1: conv on three has 2", "window"), found, strict=True):
        assert text in part
    monkeypatch.setattr(engine, "LISTED", 20)
    assert any("at most 20 a dim: M of conv on three has" in part for part in faults(space))
    assert ENGINES["numpy"].space_faults(space, Charges(hop_pj=1.0)) == []
    with pytest.raises(InputError, match="loop orders"):
        search(space, figures(arch), SearchOptions(strategy="random", engine="jax"))


def test_pairs_are_counted_as_they_are_tabulated(monkeypatch):
    """The figure of the message is the most rows of any table that is compiled in."""
    space = Mapspace(machine(), window(), "ruby")
    monkeypatch.setattr(engine, "MOST_PAIRS", 0)
    p, r = (space.workload.dims.index(dim) for dim in "PR")
    sizes = [
        len({tuple(row) for row in _seen(space, p, c)}) * len({tuple(row) for row in _seen(space, r, c)})
        for c in range(4)
    ]
    assert f"has {max(sizes):,};" in faults(space)[0]


def _seen(space, d, c):
    """The chains of a dim as boundary c sees them: the bounds outside it."""
    outside = [s for s, slot in enumerate(space.arch.slots) if slot.level < c]
    return every_chain(space.chains[d]).bounds[:, outside].tolist()
