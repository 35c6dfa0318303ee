"""What a user sees of proofs: text, JSON, bounds of other searches, networks, interrupted and resumed runs."""

import json
import shutil
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import SearchOptions, explore, result_json
from ruby_map.mapper.commands import progress as command_progress
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration import layers
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.problem import at_most, first_objective
from ruby_map.mapper.proof import keep_choice
from ruby_map.mapper.proof import optimal as optimal_file
from ruby_map.mapper.proof.effort_used import EffortUsed
from ruby_map.mapper.report.proof_text import network_bound
from ruby_map.mapper.runtime import InternalError, checkpoint
from ruby_map.mapper.runtime.checkpoint import Checkpoint
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import Network, load_workload
from typer.testing import CliRunner

from ..searches import begin_poorly, optimal

TOY = ("linear_16", "matmul_100", "--mapspace", "ruby")
FRONT = (*TOY, "--search", "optimal", "--front", "energy,delay")
OPTIMAL = SearchOptions(strategy="optimal")


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def the_json(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


def layer(size):
    """A small matrix product of its own name."""
    workload = load_workload("matmul_100")
    return replace(workload, name=f"matmul_{size}", sizes=(size,) * 3)


NETWORK = Network("three", ((layer(8), 2), (layer(13), 1), (layer(16), 3)))


@pytest.fixture(scope="module")
def proven_front():
    """The JSON of the toy problem's front."""
    return the_json(*FRONT)


def test_a_proven_front_says_so(proven_front):
    """JSON: optimum and front certified, each mapping with its bound; text: that nothing beats it."""
    found = proven_front
    assert (found["optimal"], found["gap"], found["lower_bound"]) == (True, 0.0, found["edp"])
    assert (found["front_optimal"], found["front_gap"]) == (True, 0.0)
    seen = found["search"]
    assert seen["evaluated"] == seen["valid"] + sum(seen["invalid"].values())
    assert len(found["front_proof"]) == len(found["front"]) > 2
    assert all(one["optimal"] for one in found["front_proof"])
    text = run(*FRONT).stdout
    assert "optimal: no mapping of ruby has a lower EDP" in text
    assert "no mapping of ruby has fewer cycles or less energy without losing on the other" in text


def test_a_front_that_is_not_proven_says_what_is_known(proven_front):
    """Out of effort: the gap, and for each mapping an energy that none with as few cycles is below."""
    arguments = (*FRONT, "--effort", f"mappings=2048,steps={proven_front['search']['steps'] * 2 // 3}")
    found = the_json(*arguments)
    assert found["search"]["ended_by"] == "effort"
    assert not found["front_optimal"]
    assert 0 < found["front_gap"] < 1
    for one, known in zip(found["front"], found["front_proof"], strict=True):
        assert known["energy_lower_bound_pj"] <= one["energy_pj"]
        assert known["optimal"] == (known["energy_lower_bound_pj"] == one["energy_pj"])
    text = run(*arguments).stdout
    assert f"within {at_most(found['front_gap'])} of the front possible" in text
    assert "energy at least [pJ]" in text


@pytest.mark.parametrize("objective", ["edp", "energy", "delay", "delay,energy"])
@pytest.mark.parametrize("strategy", ["random", "exhaustive"])
def test_bounds_of_other_searches_are_below_the_optimum(strategy, objective):
    """--bound, for as long as it takes: the optimum itself; of the mapspace as a whole: not above it."""
    toy = ("linear_5", "matmul_100", "--mapspace", "pfm", "--search", strategy, "--objective", objective)
    toy += ("--samples", 3000)
    plain, proven, whole = the_json(*toy), the_json(*toy, "--bound"), the_json(*toy, "--bound-seconds", 0)
    first = objective.split(",")[0]
    best = the_json("linear_5", "matmul_100", "--mapspace", "pfm", "--search", "optimal", "--objective", first)
    column = {"edp": "edp", "energy": "energy_pj", "delay": "cycles"}[first]
    assert "lower_bound" not in plain
    assert plain["mapping"] == whole["mapping"]
    assert whole["ideal"][column] <= whole["lower_bound"] * (1 + 1e-9) <= best[column] * (1 + 2e-9)
    assert proven["lower_bound"] == pytest.approx(best[column])
    assert proven["attained"]
    assert proven["optimal"]
    assert proven[column] == pytest.approx(best[column], rel=1e-9)  # a better mapping that the proof met is the answer
    assert proven.get("searched", plain[column]) == plain[column]
    assert ("searched" in proven) == (plain[column] > best[column] * (1 + 1e-9))


def test_a_better_mapping_of_a_bound_is_told_and_joins_the_front():
    """With what the search itself had found."""
    toy = ("linear_5", "matmul_100", "--mapspace", "pfm", "--search", "random", "--samples", 50, "--seed", 1)
    found = run(*toy, "--bound", "--front", "energy,delay")
    assert "proof        it found this mapping: the search had an EDP of " in found.stdout
    assert "reported" in found.stdout
    alone = the_json(*toy)
    assert the_json(*toy, "--bound")["searched"] == alone["edp"]
    options = SearchOptions(strategy="random", samples=50, seed=1, bound=10.0)
    result = explore("linear_5", "matmul_100", "pfm", options)
    assert (result.searched_by, result.searched) == ("edp", alone["edp"])


def test_without_a_mapping_there_is_no_front(tmp_path):
    """The search names the axes that it was asked for all the same."""
    (tmp_path / "none.yaml").write_text(
        "base: linear_5\nname: none\nlevels:\n- {name: scratchpad, capacity_words: 1}\n"
    )
    options = SearchOptions(strategy="random", samples=20, front="energy,delay")
    found = explore(tmp_path / "none.yaml", "matmul_100", "pfm", options)
    assert not found.found
    assert "front" not in result_json(found)


def test_a_bound_above_a_mapping_is_an_internal_error(monkeypatch):
    """A bound that is too high is noticed by the mappings found, and no result is shown."""
    real = keep_choice.KeepChoice.least.fget
    monkeypatch.setattr(keep_choice.KeepChoice, "least", property(lambda self: 1e4 * real(self)))
    with pytest.raises(InternalError, match="below the bound of its mapspace"):
        explore("linear_16", "matmul_100", "ruby", SearchOptions(strategy="random", bound=0.0))


def test_a_network_is_bounded_once_whatever_its_search(monkeypatch):
    """With a budget, and with several processes, each layer is bounded once, at the end; Ctrl-C leaves the rest."""
    calls, real = [], layers.bounded
    monkeypatch.setattr(layers, "bounded", lambda *given: calls.append(given[1].space.workload.name) or real(*given))
    for options in (
        SearchOptions(strategy="random", samples=20_000, jobs=2, bound=0.0),
        SearchOptions(strategy="random", budget="60000", bound=0.0),
    ):
        found = explore("linear_16", NETWORK, "ruby-s", options)
        assert calls == ["matmul_8", "matmul_13", "matmul_16"]
        assert 0 < found.lower_bound <= found.edp
        calls.clear()

    def interrupt(workload, recorder):
        if workload.name == "matmul_13" and recorder.proven:
            raise KeyboardInterrupt

    found = explore(
        "linear_16", NETWORK, "ruby-s", SearchOptions(strategy="random", samples=20_000, bound=60.0), progress=interrupt
    )
    assert found.statistics.interrupted
    assert found.found
    assert [one.lower_bound is None for one, _ in found.layers] == [False, False, True]
    assert found.gap is None


def test_a_mapspace_without_a_valid_mapping_is_proven_so():
    """Where every mapping is ruled out the report says that none is valid, not that none was found."""
    arch = load_arch("linear_16")
    small = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], capacity_bits=32)))  # two words for three
    found = explore(small, layer(4), "ruby", OPTIMAL, table=energy_table(arch))
    assert not found.found
    assert "no mapping of this mapspace is valid" in found.hint


def test_the_options_of_the_bound_are_checked():
    """Status 2, in the user's words."""
    found = run(*TOY, "--bound-seconds", -1)
    assert found.exit_code == 2
    assert "bound-seconds: must be 0 or more, got -1" in found.stderr


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)), min_size=1))
def test_the_edp_of_a_network_is_not_below_the_bound_of_its_layers(layers):
    """(sum of energies) x (sum of cycles) is at least what the EDPs of the layers say."""
    energy = sum(count * energy for energy, _, count in layers)
    cycles = sum(count * cycles for _, cycles, count in layers)
    bound = network_bound("edp", [(energy * cycles, count) for energy, cycles, count in layers])
    assert bound <= energy * cycles * (1 + 1e-12)


def test_a_network_is_proven_layer_by_layer():
    """Delay and energy of a network of optima are optimal; of EDP there is a bound for the whole."""
    delay = explore("linear_16", NETWORK, "ruby-s", replace(OPTIMAL, objective="delay"))
    assert delay.optimal
    assert result_json(delay)["lower_bound"] == delay.cycles
    edp = explore("linear_16", NETWORK, "ruby-s", OPTIMAL)
    assert all(one.optimal for one, _ in edp.layers)
    assert 0 < edp.lower_bound <= edp.edp
    assert "every layer's mapping is the best of its mapspace" in str(edp)


def _searched(monkeypatch):
    """The names of the layers that a proof is begun for, as they come."""
    names, real = [], optimal_file.Optimal.run
    monkeypatch.setattr(
        optimal_file.Optimal, "run", lambda self: names.append(self.task.space.workload.name) or real(self)
    )
    return names


def test_finished_layers_are_not_searched_again(tmp_path, monkeypatch):
    """Interrupted in its second layer a network goes on there, with the best so far, and ends as if undisturbed."""
    alone = explore("linear_16", NETWORK, "ruby-s", replace(OPTIMAL, front="energy,delay"))
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    options, searched = replace(OPTIMAL, front="energy,delay"), _searched(monkeypatch)

    def interrupt(workload, recorder):
        if workload.name == "matmul_13" and recorder.proven:
            raise KeyboardInterrupt

    with Checkpoint(tmp_path, {}) as file:
        first = explore("linear_16", NETWORK, "ruby-s", options, progress=interrupt, checkpoint=file)
    assert first.statistics.interrupted
    assert searched == ["matmul_8", "matmul_13"]
    searched.clear()
    with Checkpoint(tmp_path, {}, resume=True) as file:
        resumed = explore("linear_16", NETWORK, "ruby-s", options, checkpoint=file)
    assert searched == ["matmul_13", "matmul_16"]
    for (one, _), (other, _) in zip(resumed.layers, alone.layers, strict=True):
        assert one.optimal
        assert one.edp == other.edp
        assert [each.value("delay") for each in one.front] == [each.value("delay") for each in other.front]
        assert result_json(one)["front_optimal"]
    searched.clear()
    with Checkpoint(tmp_path, {}, resume=True) as file:
        again = explore("linear_16", NETWORK, "ruby-s", options, checkpoint=file)
    assert searched == []
    assert result_json(again) == result_json(resumed)


def test_progress_says_how_far_the_proof_is(monkeypatch):
    """The log tells the gap so far and how many sets are open."""
    monkeypatch.setattr(command_progress, "EVERY", 0.0)
    told = run(*TOY, "--search", "optimal", "--log")
    assert "the best possible at most" in told.stderr
    assert "sets open" in told.stderr


def test_progress_where_nothing_costs_anything():
    """With no energy at all there is nothing to be below: the proof ends as any other."""
    arch = load_arch("linear_16")
    free = [replace(level, read_pj=0.0, write_pj=0.0, update_pj=0.0) for level in energy_table(arch).levels]
    table = energy_table(arch)
    table = replace(table, levels=tuple(free), compute=replace(table.compute, compute_pj=0.0))
    told = []
    options = replace(OPTIMAL, objective="energy")
    found = explore(
        arch, layer(6), "pfm", options, table=table, progress=lambda _, recorder: told.append(recorder.proven)
    )
    assert found.optimal
    assert found.energy_pj == 0
    assert told


@pytest.mark.parametrize("name", ["energy", "delay"])
def test_blanks_around_an_objective(name):
    """What is proven is the objective named, also with blanks around it."""
    space = Mapspace(load_arch("linear_16"), load_workload("matmul_100"), "ruby-s")
    table = energy_table(space.arch)
    plain = optimal(space, table, SearchOptions(strategy="optimal", objective=name))
    spaced = optimal(space, table, SearchOptions(strategy="optimal", objective=f" {name} "))
    assert plain.optimal
    assert spaced.optimal
    assert spaced.lower_bound == plain.lower_bound
    assert space.index(spaced.best) == space.index(plain.best)


def test_an_unknown_objective_has_no_value():
    """No name is taken for another, and no name at all is a fault."""
    with pytest.raises(KeyError):
        first_objective(" power")
    found = run(*TOY, "--search", "optimal", "--objective", "")
    assert found.exit_code == 2
    assert "objective must be one of" in " ".join(found.stderr.replace(":", " ").split())


def ending(folder, *options):
    """The JSON of a proof of the toy problem kept in `folder`."""
    return the_json(*TOY, "--search", "optimal", "--out", folder, *options)


@pytest.mark.parametrize("front", [(), ("--front", "energy,delay")])
def test_a_longer_time_limit_goes_on(tmp_path, monkeypatch, front):
    """Ended by the time limit, a proof goes on with a longer one or none, from its best, and what was proven stays."""
    with monkeypatch.context() as patch:
        patch.setattr(optimal_file.Optimal, "_branch", lambda self: self.statistics.stop(Ended.TIME_LIMIT))
        begin_poorly(patch)
        first = ending(tmp_path / "a", "--time-limit", 0.5, *front)
    assert first["search"]["ended_by"] == "time limit"
    assert not first["optimal"]
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    shutil.copytree(tmp_path / "a", tmp_path / "c")
    searched = _searched(monkeypatch)
    assert ending(tmp_path / "a", "--resume", "--time-limit", 1e-3, *front) == first
    assert searched == []
    with monkeypatch.context() as patch:  # a little longer: no less is proven, though nothing more is looked at
        begin_poorly(patch)
        patch.setattr(optimal_file.Optimal, "_branch", lambda self: self.effort.late())
        patch.setattr(EffortUsed, "late", lambda self: self.recorder.statistics.stop(Ended.TIME_LIMIT))
        second = ending(tmp_path / "b", "--resume", "--time-limit", 50, *front)
    assert searched == ["matmul_100"]
    for key in ("edp", "lower_bound", "gap", "front", "front_gap"):
        assert second.get(key) == first.get(key)
    limits = {"b": ["--time-limit", 100], "c": []}
    for folder, more in limits.items():
        last = ending(tmp_path / folder, "--resume", *more, *front)
        assert last["optimal"]
        assert last["edp"] <= first["edp"]
        assert last["lower_bound"] >= first["lower_bound"]
    searched.clear()
    assert ending(tmp_path / "c", "--resume", "--time-limit", 500, *front) == last  # a proof that is complete
    assert searched == []


def test_other_searches_keep_their_time_limit(tmp_path):
    """With another time limit a random search is another one."""
    assert run(*TOY, "--search", "random", "--samples", 50, "--time-limit", 5, "--out", tmp_path / "a").exit_code == 0
    found = run(*TOY, "--search", "random", "--samples", 50, "--time-limit", 6, "--out", tmp_path / "a", "--resume")
    assert found.exit_code == 2
    assert "time_limit (there 5.0, here 6.0)" in " ".join(found.stderr.split())


def test_a_budget_is_told_again(tmp_path, monkeypatch):
    """Seconds shared over layers: a layer whose share ended its proof is not taken up again."""
    monkeypatch.setattr(optimal_file.Optimal, "_branch", lambda self: self.statistics.stop(Ended.TIME_LIMIT))
    options = replace(OPTIMAL, budget="60s")
    with Checkpoint(tmp_path, {}) as file:
        first = explore("linear_16", NETWORK, "ruby-s", options, checkpoint=file)
    searched = _searched(monkeypatch)
    with Checkpoint(tmp_path, {}, resume=True) as file:
        again = explore("linear_16", NETWORK, "ruby-s", options, checkpoint=file)
    assert searched == []
    assert result_json(again) == result_json(first)
