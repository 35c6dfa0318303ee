"""What every row of the tables of strategies, engines and objectives must do: a new row needs no new test."""

import importlib.util
import itertools
import pickle
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib.externals.loky import get_reusable_executor
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, validity
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.runtime import Part
from ruby_map.mapper.search import ENGINES, Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.options.settings import Configurable
from ruby_map.mapper.search.proposer import CHUNK
from ruby_map.mapper.search.run import Chunked
from ruby_map.mapper.searchers import STRATEGIES
from ruby_map.mapper.searchers import table as registry
from ruby_map.mapper.searchers.option_faults import option_faults
from ruby_map.mapper.searchers.start import search
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..small_problems import best_of_all, problems, values_of


@dataclass(frozen=True)
class Neighbours(Configurable):
    """A proposer that learns: mappings numbered near the best of the generations before, and some anywhere."""

    finite: bool = False
    lazy: bool = False
    generation: int = 3

    def chunks(self, space, options):
        return itertools.count()

    def numbers(self, space, chunk):
        return None

    def begin(self, space, seed):
        return {"best": 0, "value": None, "generation": 0}

    def propose(self, space, seed, memory, chunk):
        rng = np.random.default_rng([seed, chunk])
        total = space.size.total
        near = [(memory["best"] + int(step)) % total for step in rng.integers(-50, 50, 100)]
        return space.at([*near, *(int(number) % total for number in rng.integers(0, 2**62, 100))])

    def learn(self, space, memory, scored):
        assert len(scored) == self.generation
        assert [one.chunk // self.generation for one in scored] == [memory["generation"]] * self.generation
        best, value = memory["best"], memory["value"]
        for one in scored:
            index = int(one.values[:, 0].argmin())
            if value is None or one.values[index, 0] < value:
                best, value = int(space.index(one.batch.take([index]))[0]), float(one.values[index, 0])
        return {"best": best, "value": value, "generation": memory["generation"] + 1}


ROWS = {**STRATEGIES, "neighbours": Chunked(Neighbours())}
ENDS = {  # of those that learn, with settings that keep them short
    "neighbours": {"samples": 2_000},
    "gbt": {"samples": 90, "settings": "batch=30,steps=5,trees=10"},
    "surrogate": {"samples": 90, "settings": "batch=30,pretrain=100,epochs=5,refine=2,starts=10,steps=5"},
    "bayes": {"samples": 90, "settings": "batch=30,candidates=60"},
}
each_strategy = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skipif(bool(row.missing()), reason=" ".join(row.missing())))
        for name, row in ROWS.items()
    ],
)


@pytest.fixture(autouse=True, scope="module")
def with_one_that_learns():
    """The table with a row of this file, which worker processes can import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.STRATEGIES, "neighbours", ROWS["neighbours"])
        patch.syspath_prepend(Path(__file__).parents[2])
        get_reusable_executor().shutdown(wait=True)  # workers from before do not have it
        yield


class Kept(Part):
    """A state in hand, saved after each step."""

    def __init__(self):
        self.state = None

    def load(self):
        return self.state

    def save(self, state):
        self.state = pickle.loads(pickle.dumps(state))

    def offer(self, state):
        self.save(state())


def options_of(name, **more):
    """Options with which a strategy ends by itself."""
    row = ROWS[name]
    stop = {} if row.proves or not row.shares and not isinstance(row, Chunked) else {"samples": 3 * CHUNK}
    if isinstance(row, Chunked) and row.proposer.generation is not None:  # a chunk may be a few hundred mappings
        stop = {"samples": 6_000}
    return SearchOptions(strategy=name, **ENDS.get(name, stop) | more)


def told(outcome):
    """All that a search says but its time."""
    batches = [(b.factors.tolist(), b.order.tolist(), b.keep.tolist()) for b in (outcome.best, *outcome.front) if b]
    return batches, replace(outcome.statistics, seconds=0.0), outcome.lower_bound, outcome.optimal


def layer(mapspace="ruby-s"):
    """A problem that is more than one chunk."""
    arch = load_arch("linear_5")
    return Mapspace(arch, load_workload("matmul_100"), mapspace), energy_table(arch)


@each_strategy
@settings(max_examples=12 if DEEP else 3)
@given(problems(), st.integers(0, 99))
def test_a_strategy_finds_a_mapping_of_the_mapspace_and_none_better_than_the_best(name, problem, seed):
    """What proves, or visits every mapping, finds the best of all; whatever is found is valid and has its value. `milp`
    may find nothing where no mapping is perfect."""
    space, table, objective, costs = problem
    options = options_of(name, objective=objective, seed=seed)
    found = search(Task.of(space, table, options, costs), Observers())
    least = best_of_all(space, table, objective, costs)
    if found.best is None:
        assert np.isinf(least) or name == "milp" or not (ROWS[name].proves or options.samples is None)
        return
    assert validity(found.best)[0] == 0
    assert 0 <= space.index(found.best)[0] < space.size.total
    (value,) = values_of(found.best, table, objective, costs)
    assert value >= least * (1 - 1e-9)
    if ROWS[name].proves:
        assert found.optimal
        assert value == pytest.approx(least, rel=1e-8)
        assert found.lower_bound <= least * (1 + 1e-9)
    else:
        assert found.lower_bound is None


@each_strategy
def test_a_strategy_says_the_same_for_any_number_of_processes(name):
    """Same seed, same answer."""
    space, table = layer("pfm")
    answers = [
        told(search(Task.of(space, table, options_of(name, jobs=jobs, seed=3, front="energy,delay")), Observers()))
        for jobs in (1, 2, *([1] if DEEP else []))
    ]
    assert all(answer == answers[0] for answer in answers)


@pytest.fixture(scope="module")
def undisturbed():
    """What each strategy says where nothing interrupts it, and of what task."""

    @cache
    def of(name):
        task = Task.of(*layer("pfm"), options_of(name, seed=5))
        return task, search(task, Observers())

    return of


@each_strategy
@pytest.mark.parametrize("steps", [1, 2, 4, 7] if DEEP else [1, 4])
def test_a_strategy_goes_on_from_its_state(name, steps, undisturbed):
    """Interrupted after some steps and resumed it says what it says when it is not; what proves, the same best."""
    (task, whole), part, calls = undisturbed(name), Kept(), itertools.count(1)

    def interrupt(recorder):
        if next(calls) == steps:
            raise KeyboardInterrupt

    search(task, Observers(interrupt, part))
    resumed = search(task, Observers(part=part))
    if ROWS[name].proves:
        assert resumed.optimal
        assert resumed.lower_bound == pytest.approx(whole.lower_bound, rel=1e-9)
    else:
        assert told(resumed) == told(whole)


@each_strategy
def test_a_strategy_has_no_fault_by_default_and_ignores_no_default(name):
    """Its row can be sent to another process."""
    assert option_faults(SearchOptions(strategy=name)) == []
    assert ROWS[name].ignored(()) == []
    assert pickle.loads(pickle.dumps(ROWS[name])) == ROWS[name]
    assert len(ROWS[name].first_batch(Task.of(*layer("pfm"), SearchOptions(strategy=name))))


def test_a_proposer_learns():
    """Its memory grows by a generation at a time, and leads to better mappings than none."""
    space, table = layer("ruby")
    part = Kept()
    options = SearchOptions(strategy="neighbours", samples=4_000, victory=10**9, prune=True)
    search(Task.of(space, table, options), Observers(part=part))
    memories = dict(part.state["memories"])
    assert max(memories) == 4_000 // (200 * 3)
    assert memories[max(memories)]["generation"] == max(memories)
    assert memories[max(memories)]["value"] == pytest.approx(part.state["best"], rel=0.2)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("objective", ["edp", "delay,energy"])
def test_an_engine_finds_what_numpy_finds(name, objective):
    """To the last bit, with a front."""
    if ENGINES[name].missing():
        pytest.skip(ENGINES[name].missing()[0])
    space, table = layer()
    options = SearchOptions(
        strategy="random", samples=3 * CHUNK, victory=10**9, objective=objective, front="energy,delay"
    )
    expected = told(search(Task.of(space, table, options), Observers()))
    assert told(search(Task.of(space, table, replace(options, engine=name)), Observers())) == expected


def test_engines_that_are_not_exact_need_a_package():
    """At least one engine is always there."""
    assert any(engine.exact and not engine.missing() for engine in ENGINES.values())
    assert bool(ENGINES["jax"].missing()) == (importlib.util.find_spec("jax") is None)


@pytest.mark.parametrize("name", OBJECTIVES)
@given(st.lists(st.tuples(st.floats(0, 1e9), st.integers(1, 10**9)), min_size=2, max_size=20))
def test_an_objective_grows_with_energy_and_cycles(name, points):
    """As bounds and proofs need; of what is as good on both axes, none is worse."""
    energy_pj, cycles = (np.array(column, float) for column in zip(*points, strict=True))
    values = OBJECTIVES[name].value(energy_pj, cycles)
    for i, j in itertools.permutations(range(len(points)), 2):
        if energy_pj[i] <= energy_pj[j] and cycles[i] <= cycles[j]:
            assert values[i] <= values[j]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_is_read_from_costs_as_it_is_computed(name):
    """`of` and `value` agree; its column is in what results say."""
    space, table = layer()
    batch = space.sample(np.random.default_rng(0), 500)
    batch = batch.take(np.flatnonzero(validity(batch) == 0))
    costs = evaluate(batch, table, Charges(leakage=True))
    objective = OBJECTIVES[name]
    np.testing.assert_array_equal(objective.of(costs), objective.value(costs.energy_pj, costs.cycles))
    assert objective.name == name
    assert len({one.column for one in OBJECTIVES.values()}) == len(OBJECTIVES)
