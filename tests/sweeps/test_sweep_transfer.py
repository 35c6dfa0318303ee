"""Points of a sweep that take the mappings of other points, where those are better there."""

import csv
import json
from dataclasses import replace

import pytest
from ruby_map.mapper import evaluate, sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.mapping import read_mapping
from ruby_map.mapper.mapspace import Mapspace, inside
from ruby_map.mapper.model import validity
from ruby_map.mapper.sweeps.inputs import inputs_of
from ruby_map.mapper.sweeps.store import taken
from ruby_map.mapper.sweeps.transfer import mappings_of
from ruby_map.workloads import Document, InputError
from typer.testing import CliRunner

ARCH = """
name: line
variables: {pes: 4, words: 64}
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16}
  - name: GLB
    class: regfile
    capacity_words: words
    width_bits: 16
    fanout: [{name: PE, size: pes}]
compute: {name: MAC, class: intmac, word_bits: 16}
"""
SWEEP = """
architecture: ./line.yaml
parameters: {pes: [%s], words: [40, 200]}
workloads: [./mm.yaml, ./net.yaml]
mapspaces: [pfm, ruby-s]
search: {strategy: random, samples: 30}
"""


def write(path, text):
    path.write_text(text)
    return path


def filled(folder):
    """A folder with the files of the sweep."""
    (folder / "line.yaml").write_text(ARCH)
    (folder / "mm.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n")
    (folder / "mm2.yaml").write_text("name: mm2\nshape: matmul\nsizes: {M: 12, N: 3, K: 8}\n")
    (folder / "net.yaml").write_text("layers: [{layer: mm.yaml, count: 2}, {layer: mm2.yaml}]\n")
    (folder / "sweep.yaml").write_text(SWEEP % "2, 6")
    return folder


@pytest.fixture
def folder(tmp_path):
    return filled(tmp_path)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep, its results written, and the same with each point for itself."""
    folder = filled(tmp_path_factory.mktemp("swept"))
    alone = write(folder / "alone.yaml", (SWEEP % "2, 6") + "name: sweep\ntransfer: false\n")
    return sweep(folder / "sweep.yaml", folder / "out"), sweep(alone), folder


def costs_of(plan, point, mappings):
    """(cycles, energy) of another point's mappings on a point's machine; None where one is not valid there."""
    inputs, energy, cycles = inputs_of(plan, point), 0.0, 0
    work = inputs.work
    for layer, count in getattr(work, "layers", None) or [(work, 1)]:
        try:
            batch = read_mapping(Document("m", mappings[layer.name], {}), inputs.machine, layer)
        except InputError:  # it needs more instances than there are
            return None
        space = Mapspace(inputs.machine, layer, inputs.preset)
        if validity(batch)[0] or not len(inside(space, batch)):
            return None
        result = evaluate(inputs.machine, layer, batch, table=inputs.table, costs=plan.energies.costs)
        energy, cycles = energy + count * result.energy_pj, cycles + count * result.cycles
    return cycles, energy


def test_no_answer_is_above_what_the_mapping_of_another_point_costs_there(swept):
    """Of the same layers, whatever its mapspace: a layer and a network, counted by `evaluate`."""
    found, alone, _ = swept
    tried, better = 0, 0
    for number, outcome in found.outcomes.items():
        point = found.plan.point(number)
        assert outcome.result["edp"] <= alone.outcomes[number].result["edp"]
        better += outcome.result["edp"] < alone.outcomes[number].result["edp"]
        for other, there in found.outcomes.items():
            if found.plan.point(other).workload == point.workload and other != number:
                costs = costs_of(found.plan, point, mappings_of(there.result))
                tried += costs is not None
                assert costs is None or outcome.result["edp"] <= costs[0] * costs[1] * (1 + 1e-9)
    assert tried > 20
    assert better == sum(taken(outcome) for outcome in found.outcomes.values()) > 3
    assert f"{better} with a mapping of another design" in found.title


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(each) for key, each in value.items() if key != "seconds"}
    return [without_seconds(each) for each in value] if isinstance(value, list) else value


def test_the_answer_is_the_same_for_any_number_of_processes_and_resumed(swept):
    """Two processes, after a sweep that was shorter before: all as in one run."""
    whole, _, folder = swept
    path = write(folder / "part.yaml", (SWEEP % "6") + "name: sweep\n")
    sweep(path, folder / "b")
    path.write_text((SWEEP % "2, 6") + "name: sweep\n")
    again = sweep(path, folder / "b", jobs=2)
    assert [without_seconds(each.result) for each in again.outcomes.values()] == [
        without_seconds(each.result) for each in whole.outcomes.values()
    ]


def test_figures_are_those_of_the_mapping_and_the_search_stays(swept):
    """Of a layer and a network: cycles and energies as evaluated, the statistics of the search, an origin."""
    found, alone, folder = swept
    for number, outcome in found.outcomes.items():
        before = alone.outcomes[number].result
        cycles, energy = costs_of(found.plan, found.plan.point(number), mappings_of(outcome.result))
        assert (outcome.result["cycles"], outcome.result["energy_pj"]) == (cycles, pytest.approx(energy))
        assert outcome.power_pj_per_cycle == pytest.approx(energy / cycles)
        for key in ("search", "mapspace", "seed", "objective"):
            assert without_seconds(outcome.result[key]) == without_seconds(before[key])
        if not taken(outcome):
            assert without_seconds(outcome.result) == without_seconds(before)
    rows = list(csv.DictReader((folder / "out" / "results.csv").open()))
    assert [row["origin"] == "another design" for row in rows] == [taken(each) for each in found.outcomes.values()]


def test_lower_bounds_stay_and_gaps_are_of_the_new_value(folder, monkeypatch):
    """A proven point takes nothing; one that was cut short takes its mapping, and has its own bound."""
    from ruby_map.mapper.sweeps import run

    text = (SWEEP % "6").replace("[40, 200]", "[64, 65]").replace(", ./net.yaml", "").replace("pfm, ", "")
    poor = sweep(write(folder / "poor.yaml", text + "transfer: false\n")).outcomes[1]
    write(folder / "sweep.yaml", text.replace("random, samples: 30", "optimal"))
    real, bound = run.run_point, 0.3 * poor.result["edp"]
    proof = {"lower_bound": bound, "gap": 0.7, "optimal": False, "attained": False}
    cut_short = replace(poor, result=poor.result | proof)
    monkeypatch.setattr(run, "run_point", lambda plan, number: cut_short if number else real(plan, number))
    found = sweep(folder / "sweep.yaml")
    best, other = found.outcomes.values()
    assert best.result["optimal"]
    assert [taken(best), taken(other)] == [False, True]
    cycles, energy = costs_of(found.plan, found.plan.point(1), mappings_of(best.result))
    assert other.result["edp"] <= cycles * energy * (1 + 1e-9)
    assert other.result["lower_bound"] == bound
    assert other.result["gap"] == pytest.approx(1 - bound / other.result["edp"])
    assert not other.result["optimal"]


def test_a_point_whose_search_found_nothing_takes_a_mapping(folder, monkeypatch):
    """It has one then, and the sweep says so."""
    from ruby_map.mapper.sweeps import run
    from ruby_map.mapper.sweeps.store import NOTHING_VALID

    (folder / "sweep.yaml").write_text((SWEEP % "6").replace(", ./net.yaml", ""))
    real = run.run_point

    def nothing(plan, number):
        outcome = real(plan, number)
        keys = ("cycles", "energy_pj", "edp", "utilization", "mapping", "levels", "compute", "network")
        if plan.point(number).design:
            return outcome
        return replace(outcome, status=NOTHING_VALID, message="none", result=outcome.result | dict.fromkeys(keys))

    monkeypatch.setattr(run, "run_point", nothing)
    done = CliRunner().invoke(main, [str(folder / "sweep.yaml"), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["found"] == 4


def test_a_design_on_which_a_layer_has_no_mapspace_stops_no_transfer(folder):
    """It stays without an answer, and the others take each other's mappings."""
    busy = ARCH.replace("words: 64", "words: 64, busy: 0.5").replace(
        "size: pes", "size: pes, dims: [M], min_utilization: busy"
    )
    (folder / "line.yaml").write_text(busy)
    (folder / "mm2.yaml").write_text("name: mm2\nshape: matmul\nsizes: {M: 1, N: 3, K: 8}\n")
    found = []
    for number, busy in enumerate(("0.1, 0.9", "0.1")):
        designs = (
            (SWEEP % "4").replace("words: [40, 200]", f"words: [40, 200], busy: [{busy}]").replace("./mm.yaml, ", "")
        )
        out = folder / f"out{number}"
        done = CliRunner().invoke(main, [str(write(folder / "sweep.yaml", designs)), "--out", str(out)])
        assert "were not tried" not in done.stderr
        assert ("mm2 on line: no mapping meets" in done.stderr) == ("0.9" in busy)
        rows = [row for row in csv.DictReader((out / "results.csv").open()) if row["edp"]]
        assert {row["busy"] for row in rows} == {"0.1"}
        found.append({(row["words"], row["mapspace"]): (row["edp"], row["origin"]) for row in rows})
    assert found[0] == found[1]
    assert any("design" in origin for _, origin in found[0].values())


def test_a_fault_leaves_the_point_as_it_was_and_says_so(folder, monkeypatch):
    from ruby_map.mapper.sweeps import transfer

    monkeypatch.setattr(transfer, "Transfer", None)
    (folder / "sweep.yaml").write_text((SWEEP % "6").replace(", ./net.yaml", ""))
    found = sweep(folder / "sweep.yaml")
    said = "mappings of other designs were not tried: TypeError"
    assert all(said in str(outcome.warnings) and not taken(outcome) for outcome in found.outcomes.values())
