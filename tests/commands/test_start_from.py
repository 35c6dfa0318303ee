"""`--start-from`: mappings of stores, files and results begin a search of another layer, or are all its answer."""

import json

import numpy as np
import pytest
from ruby_map.energy import energy_table
from ruby_map.mapper import SearchOptions, evaluate, explore, load
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration import StartMappings, level_names
from ruby_map.mapper.exploration import start_mappings as beginnings
from ruby_map.mapper.mapping import write_mapping
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.search import Task
from ruby_map.workloads import Document, InputError, load_workload
from typer.testing import CliRunner


def call(*words):
    """Status, standard output and error of `ruby-map`."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A store, a folder of results with a front, and a mapping file: of two layers that are not searched below."""
    folder = tmp_path_factory.mktemp("sources")
    options = ["--search", "evolve", "--samples", "3000"]
    assert call("eyeriss_like", "resnet50/conv3_x_3x3", "--store", folder / "s.db", *options)[0] == 0
    more = [*options, "--front", "energy,delay", "--out", folder / "out"]
    assert call("eyeriss_like", "resnet50/conv4_x_3x3", *more)[0] == 0
    return {"store": folder / "s.db", "results": folder / "out", "file": folder / "out" / "mapping.yaml"}


def found(*words):
    """The answer of a search, but for its time."""
    status, out, _ = call("eyeriss_like", "resnet50/conv5_x_3x3", "--json", *words)
    assert status == 0
    answer = json.loads(out)
    for name in ("seconds", "mappings_per_second"):
        answer["search"].pop(name, None)
    return answer


@pytest.mark.parametrize("kind", ["store", "results", "file"])
def test_the_best_adapted_mapping_is_the_answer_of_transfer_only(sources, kind):
    answer = found("--start-from", sources[kind], "--transfer-only")
    assert answer["search"]["ended_by"] == "given mappings alone"
    assert answer["search"]["valid"] == answer["search"]["evaluated"] >= 1
    assert answer["edp"] < 3 * 6.35e14
    assert answer == found("--start-from", sources[kind], "--transfer-only")


def test_a_search_is_never_worse_than_what_it_begins_with(sources):
    every = [word for path in sources.values() for word in ("--start-from", path)]
    least = found(*every, "--transfer-only")["edp"]
    for name in ("evolve", "random", "genetic"):
        options = ("--search", name, "--samples", 600)
        begun = found(*every, *options)["edp"]
        assert begun <= least
        assert begun < found(*options)["edp"]


def test_a_network_begins_with_the_same_mappings(sources):
    start = StartMappings.read([sources["store"]])
    result = explore("eyeriss_like", "alexnet", "ruby-s", SearchOptions(), start_from=start, transfer_only=True)
    assert len(result.layers) == 8
    assert all(layer.found for layer, _ in result.layers)


def test_every_fault_of_the_sources_is_told(sources, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.yaml").write_text("problem: 3")
    words = [tmp_path / "empty", tmp_path / "absent", tmp_path / "no.yaml"]
    options = [word for path in words for word in ("--start-from", path)]
    status, _, said = call("eyeriss_like", "alexnet/conv2", *options, "--level-names", "a", "--size")
    assert status == 2
    for text in ("empty has no mapping", "absent", "level-names: must be THERE=HERE", "leave out --size"):
        assert text in said
    status, _, said = call("eyeriss_like", "alexnet/conv2", "--start-from", tmp_path / "no.yaml")
    assert status == 2
    assert "no.yaml" in said
    status, _, said = call("eyeriss_like", "alexnet/conv2", "--transfer-only", "--level-names", "a=b")
    assert status == 2
    assert said.count("goes with --start-from") == 2


def test_names_of_levels_are_read():
    assert level_names(" GLB = shared_glb,PE=PE_column,") == {"GLB": "shared_glb", "PE": "PE_column"}
    with pytest.raises(InputError) as raised:
        level_names("a,b=,c=d,c=e")
    assert len(raised.value.faults) == 3


def test_options_of_a_search_do_not_go_with_transfer_only(sources):
    """Nor a cost model, which would not be asked; and levels must have the names they are called by."""
    words = ("eyeriss_like", "alexnet/conv2", "--start-from", sources["file"])
    status, _, said = call(*words, "--transfer-only", "--cost-model", "cat", "--samples", 5, "--search", "milp")
    assert status == 2
    assert said.count("leave out --transfer-only") == 3
    status, _, said = call(*words, "--level-names", "psum_spad=psum_spat")
    assert status == 2
    assert 'got "psum_spat"; did you mean "psum_spad"?' in said


def test_where_nothing_suits_it_is_said(sources, tmp_path):
    (tmp_path / "other.yaml").write_text("mapping: [{target: L9, type: temporal, factors: M=4}]")
    status, out, _ = call("eyeriss_like", "alexnet/conv2", "--start-from", tmp_path / "other.yaml", "--transfer-only")
    assert status == 1
    assert "none of the given mappings could be made one of this layer and machine" in out


def test_a_run_goes_on_though_its_own_results_are_a_source(sources, tmp_path):
    """Its results stand below the folder that it begins with."""
    words = ("eyeriss_like", "alexnet/conv2", "--start-from", tmp_path, "--out", tmp_path / "out", "--quick")
    (tmp_path / "mapping.yaml").write_text(sources["file"].read_text())
    assert call(*words)[0] == 0
    assert call(*words, "--resume")[0] == 0


def test_a_slow_cost_model_is_asked_about_few_of_them(monkeypatch):
    """The best by our model, in turn; without one all of them begin."""
    monkeypatch.setattr(beginnings, "MOST_ASKED", 2)
    arch, layer = load("eyeriss_like", "resnet50/conv5_x_3x3")
    space, table = Mapspace(arch, layer), energy_table(arch)
    drawn = Mapspace(arch, load_workload("resnet50/conv3_x_3x3")).sample(np.random.default_rng(0), 5)
    start = StartMappings(tuple(Document("drawn", write_mapping(drawn.take([i])), {}) for i in range(5)))
    every = start.start(Task.of(space, table, SearchOptions()))
    few = start.start(Task.of(space, table, SearchOptions(cost_model="cat")))
    assert len(every) >= 5  # with wider ones
    assert len(few) == 2
    np.testing.assert_array_equal(few.factors, every.factors[:2])
    edps = [evaluate(arch, layer, every.take([i])).edp for i in range(len(every))]
    assert edps == sorted(edps)


def test_what_a_run_began_with_is_part_of_it(sources, tmp_path):
    """A run that goes on without the mappings that it began with would replace its answer by a worse one."""
    base = ("eyeriss_like", "resnet50/conv5_x_3x3", "--search", "random", "--samples", 100, "--out", tmp_path / "out")
    begun = (*base, "--start-from", sources["file"])
    assert call(*begun)[0] == 0
    best = (tmp_path / "out/stats.json").read_bytes()
    for words, what in ((base, "start_from"), ((*base, "--start-from", sources["results"]), "start_from")):
        status, _, told = call(*words, "--resume")
        assert status == 2
        assert f"is of another problem, and results are never mixed: {what}" in told
    assert (tmp_path / "out/stats.json").read_bytes() == best
    assert call(*begun, "--resume")[0] == 0
    assert call(*begun, "--resume", "--store", tmp_path / "store")[0] == 0  # more to begin with is no other problem
    assert "never mixed: store" in call(*begun, "--resume")[2]


@pytest.mark.parametrize("then", ["another", "pruned"])
def test_a_run_keeps_the_mappings_of_a_store_that_loses_them(sources, tmp_path, then):
    """Its answer is never worse than what it began with, whatever became of the store."""
    store, name = tmp_path / "s.db", "resnet50/conv5_x_3x3"
    assert call("eyeriss_like", name, "--store", store, "--search", "evolve", "--samples", 3000)[0] == 0
    words = ("eyeriss_like", name, "--search", "random", "--samples", 100, "--out", tmp_path / "out", "--json")
    status, first, _ = call(*words, "--store", store)
    assert status == 0
    if then == "pruned":
        store.unlink()
    other = sources["store"] if then == "another" else store
    status, again, _ = call(*words, "--store", other, "--resume")
    assert status == 0
    assert json.loads(again)["edp"] == json.loads(first)["edp"] < found("--search", "random", "--samples", 100)["edp"]
