"""`ruby-map`: statuses, messages, JSON and nothing else, folders, and the same answer for any number of processes."""

import dataclasses
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper import SearchOptions, evaluate, explore, load, result_json
from ruby_map.mapper.commands import run_map
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.mapping.timeloop_write import mapping_yaml
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate as evaluate_batch
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.report.tables import search_line
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.search.outcome.statistics import Statistics
from ruby_map.mapper.searchers import option_faults
from ruby_map.workloads import InputError, load_workload
from typer.testing import CliRunner

from ..conftest import interrupt_at

TOY = ("toy_6pe", "rank1_100")
LAYER = ("eyeriss_like", "resnet50/conv4_x_3x3")

TIGHT = """
name: tight
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16}
  - name: Buffer
    class: regfile
    depth: 4
    width_bits: 16
    word_bits: 16
    keep: [Weights, Inputs, Outputs]
    temporal: {factors: [M=7]}
compute: {name: MAC, class: intmac, word_bits: 16}
"""


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def the_json(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_found_is_status_0_with_nest_table_and_search():
    """The toy's best Ruby-S mapping: 17 rounds, printed with its costs."""
    found = run(*TOY)
    assert found.exit_code == 0
    assert "for D in 0:17" in found.stdout
    assert "cycles       17, 1.00 x the ideal" in found.stdout
    assert "ended by: every mapping ruled out or seen" in found.stdout
    *_, proof, _, time = found.stdout.splitlines()
    assert proof == "proof        optimal: no mapping of ruby-s has a lower EDP"
    assert re.fullmatch(r"time         \d+\.\d\d s from start to end, bounds (compiled|computed by NumPy)", time)
    assert found.stderr == ""


def test_a_list_of_objectives_is_proven():
    """The last line says so of each objective in turn."""
    found = run(*TOY, "--objective", "delay,energy")
    assert found.exit_code == 0
    proven = "no mapping of ruby-s has a lower number of cycles, and of these none a lower energy"
    assert found.stdout.splitlines()[-3] == f"proof        optimal: {proven}"


def test_quick_is_the_quick_effort():
    """One meaning: the search is that of `--effort quick`."""
    quick, named = (the_json(*LAYER, *words) for words in (("--quick",), ("--effort", "quick")))
    del quick["search"]["seconds"], named["search"]["seconds"]
    assert quick == named
    refused = run(*LAYER, "--quick", "--effort", "normal")
    assert refused.exit_code == 2
    assert "quick: is --effort quick: leave one out" in refused.stderr


def test_a_gap_names_the_effort_that_may_close_it():
    """And its line says what ended the search."""
    words = ("--mapspace", "ruby", "--effort", "mappings=4096,steps=100000")
    found = run("simba_like", "resnet50/conv5_x_3x3", *words)
    assert found.exit_code == 0
    line = found.stdout.splitlines()[-3]
    proof = r"proof +the lowest EDP of ruby is at most [\d.]+% below .*; --effort thorough may close it"
    assert re.fullmatch(proof, line)


def test_a_search_that_time_ended_says_so():
    """An answer that may depend on the machine is marked, and more time is named."""
    statistics = Statistics(100, 100, seconds=2.0, ended=(Ended.TIME_LIMIT,))
    assert search_line(statistics).endswith("ended by: time limit; the answer may depend on the machine")
    assert search_line(dataclasses.replace(statistics, ended=(Ended.EFFORT,))).endswith("ended by: effort")


def test_an_effort_that_is_none_is_refused():
    """With the choices."""
    refused = run(*LAYER, "--effort", "norml")
    assert refused.exit_code == 2
    assert "effort: must be quick, normal, thorough, or numbers" in refused.stderr
    assert "did you mean" in refused.stderr


@pytest.mark.parametrize(("mapspace", "cycles"), [("pfm", 20), ("ruby-s", 17), ("ruby", 17)])
def test_worked_example(mapspace, cycles):
    """100 points on 6 elements: 20 cycles with perfect factors, 17 without (Ruby, ISPASS 2022, figures 4 and 5)."""
    assert the_json("toy_6pe_linear", "rank1_100", "--mapspace", mapspace)["cycles"] == cycles


@pytest.mark.parametrize("objective", ["edp", "energy", "delay"])
@pytest.mark.parametrize("mapspace", ["pfm", "ruby", "ruby-s", "ruby-t"])
def test_long_random_search_finds_what_exhaustive_search_finds(mapspace, objective):
    """On a small mapspace both strategies agree on the best objective."""
    key = {"edp": "edp", "energy": "energy_pj", "delay": "cycles"}[objective]
    both = [
        the_json("toy_6pe", "rank1_100", "--mapspace", mapspace, "--objective", objective, "--search", name)
        for name in ("random", "exhaustive")
    ]
    assert both[0][key] == both[1][key]
    assert both[1]["search"]["evaluated"] == the_json(*TOY, "--mapspace", mapspace, "--size")["size"]["total"]


def test_same_seed_same_answer_for_any_number_of_processes():
    """Everything but the seconds is equal for 1, 2 and 3 processes; another seed draws others."""
    answers = []
    for jobs, seed in ((1, 0), (2, 0), (3, 0), (1, 1)):
        found = the_json(
            *LAYER, "--mapspace", "ruby", "--jobs", jobs, "--seed", seed, "--search", "random", "--victory", 1500
        )
        del found["search"]["seconds"]
        answers.append(found)
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["mapping"] != answers[3]["mapping"]


def test_fewer_samples_are_the_beginning_of_more():
    """A search of n samples sees the first n of a longer one, so more samples are never worse."""
    few, more = (the_json(*LAYER, "--search", "random", "--samples", n, "--victory", 10**6) for n in (100, 10_000))
    assert (few["search"]["evaluated"], more["search"]["evaluated"]) == (100, 10_000)
    assert more["edp"] <= few["edp"]


def test_a_layer_of_a_network_is_the_layer_alone():
    """A network searches each layer as it would be searched by itself, and multiplies by the counts."""
    network = the_json("eyeriss_like", "alexnet", "--search", "random", "--samples", 100)
    alone = the_json("eyeriss_like", "alexnet/conv3", "--search", "random", "--samples", 100)
    layer = next(layer for layer in network["layers"] if layer["workload"] == "conv3")
    for found in (layer, alone):
        del found["search"]["seconds"]
    count = layer.pop("count")
    assert (layer, count) == (alone, 1)
    total = sum(layer["energy_pj"] * layer.get("count", 1) for layer in network["layers"])
    assert network["energy_pj"] == pytest.approx(total)
    assert network["edp"] == network["energy_pj"] * network["cycles"]


def test_padding_fills_the_array_and_pays():
    """Perfect factors of 102 take 17 cycles too, but compute 2 MACs on zeros."""
    found = run(*TOY, "--mapspace", "pfm", "--pad")
    assert "cycles       17" in found.stdout
    assert "MACs         102, 2 of them on the zeros of padding" in found.stdout


@pytest.mark.parametrize(
    ("size", "mapspace", "pad", "cycles", "zeros"),
    [
        (127, "pfm", False, 127, 0),  # prime: one element works
        (127, "pfm", True, 8, 1),
        (113, "pfm", True, 8, 15),
        (113, "ruby-s", False, 8, 0),
    ],
)
def test_padding_of_a_prime_on_16_elements(size, mapspace, pad, cycles, zeros, tmp_path):
    """127 and 113 elements on 16 PEs: 8 cycles when padded to 128, and the zeros are charged and told."""
    work = tmp_path / "work.yaml"
    work.write_text(f"name: vector\nshape: rank1\nsizes: {{D: {size}}}\n")
    options = ["linear_16", work, "--mapspace", mapspace, "--search", "exhaustive", *(["--pad"] if pad else [])]
    found = the_json(*options)
    assert (found["cycles"], found["ineffectual_macs"], found["macs"]) == (cycles, zeros, size + zeros)
    words = f"128, {zeros} of them on the zeros of padding ({zeros / 128:.1%})"
    assert (words in run(*options).stdout) == pad
    if pad:
        exact = the_json("linear_16", work, "--mapspace", "ruby-s", "--search", "exhaustive")
        assert found["edp"] == pytest.approx(exact["edp"] * 128 / size, rel=1e-3)


def test_auto_says_what_it_chose_and_why():
    """--mapspace auto names the slots with remainders and the reason: in the report, the JSON and the size."""
    layer, short = (
        ("eyeriss_like", "resnet50/conv4_x_1x1b"),
        ("--mapspace", "auto", "--search", "random", "--victory", "100"),
    )
    why = "shared_glb.PE: divisors of M, C fill 8 of 12"
    assert f"remainders at {why}\n" in run(*layer, *short).stdout
    found = the_json(*layer, *short)
    assert (found["mapspace"], found["remainders"], found["reason"]) == ("auto", ["shared_glb.PE"], why)
    size = the_json(*layer, *short, "--size")
    assert (size["remainders"], size["reason"]) == (["shared_glb.PE"], why)
    assert f"  remainders at {why}\n" in run(*layer, *short, "--size").stdout
    assert "no remainders: perfect factors fit" in run("linear_5", "rank1_100", "--mapspace", "auto", "--size").stdout


def test_distinct_counts_orders_of_unit_loops_once():
    """--distinct makes the mapspace smaller and leaves its best alone."""
    sizes = [the_json(*LAYER, "--size", *more)["size"]["total"] for more in ((), ("--distinct",))]
    assert sizes[1] < sizes[0]
    best = [the_json(*TOY, "--search", "exhaustive", *more)["edp"] for more in ((), ("--distinct",))]
    assert best[0] == best[1]


def test_size_prints_and_stops():
    """Sizes by part, whose product is the total; of a network a size per layer."""
    size = the_json(*TOY, "--size")["size"]
    assert list(size) == ["factorization", "permutation", "axes", "bypass", "total", "least"]
    assert size["least"] == size["total"]
    assert size["total"] == size["factorization"] * size["permutation"] * size["axes"] * size["bypass"]
    layers = the_json("eyeriss_like", "alexnet", "--size")["layers"]
    assert [layer["workload"] for layer in layers][:2] == ["conv1", "conv2"]
    whole = the_json(*LAYER, "--size")
    assert 10 ** whole["log10"] == pytest.approx(whole["size"]["total"])
    text = run(*LAYER, "--size").stdout
    for part in (f"total          {whole['size']['total']:,}", f"log10          {whole['log10']:.2f}", whole["human"]):
        assert part in text


def test_list_needs_no_arguments():
    """The library's architectures, networks and layers."""
    lines = [line.strip() for line in run("--list").stdout.split("\n")]
    assert {"toy_6pe", "eyeriss_like", "rank1_100", "resnet50/conv1"} <= set(lines)
    assert "resnet50" in the_json("--list")["workloads"]


@pytest.fixture
def tight(tmp_path):
    """A machine whose buffer holds 4 words but must hold 7 rows."""
    path = tmp_path / "tight.yaml"
    path.write_text(TIGHT)
    (tmp_path / "mm.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n")
    return path, tmp_path / "mm.yaml"


def test_nothing_valid_is_status_1_with_counts_and_a_hint(tight):
    """The counts by reason, and the level and tiles that came nearest to fitting."""
    found = run(*tight, "--search", "random", "--samples", 2000)
    assert found.exit_code == 1
    assert "no valid mapping found" in found.stdout
    assert "2,000 mappings, 0 valid (not: capacity 2,000)" in found.stdout
    assert "Buffer overflows in 100.0% of these; it holds 64 bits, and the nearest needs 240" in found.stdout
    found = run(*tight, "--search", "random", "--samples", 2000, "--json")
    assert found.exit_code == 1
    told = json.loads(found.stdout)
    assert (told["cycles"], told["search"]["invalid"]["capacity"]) == (None, 2000)
    assert "Buffer" in told["hint"]


def test_an_endless_search_gives_up_where_nothing_is_valid(tight, monkeypatch):
    """Without --samples a search ends after so many invalid mappings in a row."""
    defaults = list(SearchOptions.__init__.__defaults__)
    defaults[list(SearchOptions.__dataclass_fields__).index("give_up")] = 5000
    monkeypatch.setattr(SearchOptions.__init__, "__defaults__", tuple(defaults))
    found = run(*tight, "--search", "random")
    assert found.exit_code == 1
    assert "5,000 mappings, 0 valid" in found.stdout
    assert "ended by: nothing valid in a row" in found.stdout


def test_every_fault_at_once_is_status_2():
    """Options, architecture and workload are told together, with near names, to standard error alone."""
    found = run("eyeriss_likee", "resnet50/conv1x", "--objective", "edpp", "--mapspace", "rubys", "--jobs", 0)
    assert found.exit_code == 2
    assert found.stdout == ""
    for words in ('got "edpp"', 'did you mean "ruby-s"', "jobs: must be at least 1, got 0", "eyeriss_like", "conv1"):
        assert words in found.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "ARCH: is missing"),
        (("toy_6pe",), "WORKLOAD: is missing"),
        ((*TOY, "--time-limit", -1), "time-limit: must be more than 0 seconds, got -1"),
        ((*TOY, "--victory", "many"), "--victory"),
        ((*LAYER, "--search", "exhaustive"), "give samples or time-limit"),
        ((*TOY, "--search", "exhaustive", "--victory", 3), "victory: an exhaustive search visits every mapping"),
        ((*TOY, "--search", "optimal", "--victory", 3), "victory: an optimal search ends with a proof"),
        ((*TOY, "--search", "optimal", "--samples", 100), "samples: an optimal search ends with a proof"),
        ((*TOY, "--ert", "none.yaml"), "none.yaml"),
        (("import", "model.onnx"), "import: is a command of its own: ruby-import model.onnx"),
        (("sweep",), "sweep: is a command of its own: ruby-sweep SWEEP.yaml"),
        (
            ("toy_6pe", "some/Model.onnx"),
            "some/Model.onnx: is an ONNX model: ruby-import some/Model.onnx --out net.yaml",
        ),
    ],
)
def test_bad_input_is_status_2(arguments, words):
    """A message in the user's words and no traceback."""
    found = run(*arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert words in found.stderr
    assert "Traceback" not in found.stderr


def test_an_impossible_result_is_never_printed(monkeypatch):
    """Should the model break a bound that no execution can break, the command says so, with a status of its own."""

    def too_fast(*arguments):
        costs = evaluate_batch(*arguments)
        costs.cycles[:] = 1
        return costs

    monkeypatch.setattr("ruby_map.mapper.model.figures.mapped.evaluate", too_fast)
    found = run(*TOY)
    assert (found.exit_code, found.stdout) == (70, "")
    assert "1 cycles for 100 MACs on 6 units" in found.stderr


def test_out_makes_a_folder_and_never_mixes_results(tmp_path):
    """The folder holds what --json says; a second search does not touch it."""
    folder = tmp_path / "results"
    found = the_json(*TOY, "--out", folder)
    assert json.loads((folder / "stats.json").read_text()) == found
    again = run(*TOY, "--out", folder)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "holds a run of this problem: give --resume" in again.stderr
    assert json.loads((folder / "stats.json").read_text()) == found


def test_the_written_mapping_costs_what_the_search_said(tmp_path):
    """mapping.yaml, read back and evaluated, gives every count and cost of the search again."""
    found = the_json(
        *LAYER, "--mapspace", "ruby", "--search", "random", "--samples", 4000, "--out", tmp_path / "results"
    )
    again = result_json(evaluate(*LAYER, tmp_path / "results" / "mapping.yaml"))
    for key in ("cycles", "energy_pj", "edp", "utilization", "levels", "mapping"):
        assert again[key] == found[key]


def test_python_takes_objects_and_gives_what_the_command_gives():
    """explore with loaded objects and options equals the command with names."""
    arch, workload = load_arch(TOY[0]), load_workload(TOY[1])
    result = explore(arch, workload, "ruby", SearchOptions(strategy="random", objective="delay", seed=5))
    found = the_json(*TOY, "--search", "random", "--mapspace", "ruby", "--objective", "delay", "--seed", 5)
    same = result_json(result)
    del same["search"]["seconds"], found["search"]["seconds"]
    assert same == found
    with pytest.raises(InputError, match="objective: must be one of"):
        explore(arch, "nonsense", "ruby", SearchOptions(strategy="random", objective="speed"))


def test_reported_counts_are_exact_even_where_the_search_had_a_bound(tmp_path):
    """A mapping whose reads the vectorised count only bounds is counted anew before it is reported."""
    arch, layer = load_arch(LAYER[0]), load_workload(LAYER[1])
    sample = Mapspace(arch, layer, "ruby").sample(np.random.default_rng(0), 500)
    bounded = next(sample.take([int(i)]) for i in np.flatnonzero(~count(sample).exact))
    (tmp_path / "mapping.yaml").write_text(mapping_yaml(bounded))
    result = evaluate(arch, layer, tmp_path / "mapping.yaml")
    assert result.costs.counts.exact.all()


def test_a_mapping_at_hand_is_evaluated_as_its_file_is(tmp_path):
    """evaluate takes a result, its batch or a file alike, on this machine and on another with the same levels."""
    machine, layer = load(*LAYER)
    found = explore(machine, layer, "ruby", SearchOptions(strategy="random", samples=3000))
    (tmp_path / "mapping.yaml").write_text(mapping_yaml(found.batch))
    several = [evaluate(machine, layer, one) for one in (found, found.batch, tmp_path / "mapping.yaml")]
    assert [one.energy_pj for one in several] == [found.energy_pj] * 3
    wider = dataclasses.replace(
        machine, levels=(dataclasses.replace(machine.levels[0], word_bits=32), *machine.levels[1:])
    )
    assert evaluate(wider, layer, found).cycles == found.cycles
    assert evaluate(wider, layer, found).energy_pj > found.energy_pj


def test_paths_may_be_path_objects_and_other_things_are_refused(tmp_path):
    """load, explore and evaluate take pathlib.Path as they take text; what is neither is named, all at once."""
    (tmp_path / "arch.yaml").write_text(TIGHT.replace("depth: 4", "depth: 400"))
    (tmp_path / "layer.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 7, N: 5, K: 6}\n")
    paths = tmp_path / "arch.yaml", tmp_path / "layer.yaml"
    assert load(*paths) == load(*map(str, paths))
    found = explore(*paths, options=SearchOptions(strategy="random", samples=500))
    (tmp_path / "mapping.yaml").write_text(mapping_yaml(found.batch))
    assert evaluate(*paths, tmp_path / "mapping.yaml").energy_pj == found.energy_pj
    with pytest.raises(InputError) as error:
        load(7, None)
    assert [fault.source for fault in error.value.faults] == ["arch", "workload"]
    assert "must be a library name, a path or an architecture; got int 7" in str(error.value)
    with pytest.raises(InputError, match="mapping: must be a file, a mapping or a result; got int 3"):
        evaluate(*paths, 3)


def test_options_in_python_have_one_form():
    """Lists, blanks and kinds of numbers make the same options, so that a checkpoint is the same too."""
    plain = SearchOptions(
        strategy="random", objective="edp,energy", front="energy,delay", budget="5000", seed=3, patience=(0.1, 5)
    )
    for objective, front, budget in (
        (["edp", "energy"], ("energy", "delay"), 5000),
        ("edp, energy ", " energy,delay", 5e3),
    ):
        assert SearchOptions(strategy="random",
            objective=objective, front=front, budget=budget, seed=np.int64(3), patience=[0.1, 5]
        ) == plain  # fmt: skip
    assert (option_faults(plain), plain.objectives, plain.axes) == ([], ("edp", "energy"), ("energy", "delay"))
    assert run(*TOY, "--objective", " energy", "--search", "random", "--samples", 50).exit_code == 0


def test_options_of_a_wrong_type_are_faults_all_at_once():
    """No traceback: each says what it must be and what it is, beside the other faults."""
    wrong = SearchOptions(objective=7, seed="a", jobs="2", victory=1.5, budget=None, bound=True, samples=0,
                          front=["energy", 3], patience=0.1, prune="no", target="low", strategy=None,
                          cluster=4)  # fmt: skip
    told = {fault.source: fault.message for fault in option_faults(wrong)}
    assert set(told) == {"objective", "seed", "jobs", "victory", "budget", "bound-seconds", "samples", "front",
                         "patience", "prune", "target", "search", "cluster"}  # fmt: skip
    assert told["seed"] == "must be a whole number; got str 'a'"
    with pytest.raises(InputError, match="options: must be SearchOptions, as SearchOptions"):
        explore(*TOY, options={"seed": 1})
    with pytest.raises(InputError, match="mapspace: must be one of"):
        explore(*TOY, 7)
    assert [fault.source for fault in option_faults(SearchOptions(strategy="random", objective=()))] == ["objective"]


def test_a_mapping_of_another_machine_or_none_is_refused():
    """Every level that this machine does not have is named; two mappings, or none, are no mapping."""
    found = explore(*LAYER, "ruby", SearchOptions(strategy="random", samples=3000))
    with pytest.raises(InputError, match="mapping of conv4_x_3x3 on eyeriss_like.*unknown target 'shared_glb'"):
        evaluate("simba_like", LAYER[1], found)
    with pytest.raises(InputError, match="mapping: must be one mapping, got 2"):
        evaluate(*LAYER, found.batch.take([0, 0]))
    with pytest.raises(InputError, match="mapping: must be one mapping, got 0"):
        evaluate(*LAYER, dataclasses.replace(found, mapped=None))


def test_an_interrupted_layer_keeps_its_best():
    """Ctrl-C after a chunk gives the best of what was recorded until then."""
    result = explore(*LAYER, "ruby-s", SearchOptions(strategy="random", victory=10**9), progress=interrupt_at(2))
    assert result.statistics.stopped_by == "interrupted"
    whole = explore(
        *LAYER, "ruby-s", SearchOptions(strategy="random", victory=10**9, samples=result.statistics.evaluated)
    )
    assert result.edp == whole.edp


def test_an_interrupted_network_has_no_totals(monkeypatch):
    """The layers searched so far are shown, what is missing is said, and nothing is summed."""
    result = explore(
        "eyeriss_like", "alexnet", "ruby-s", SearchOptions(strategy="random", samples=4096), progress=interrupt_at(2)
    )
    assert (len(result.layers), result.missing, result.found) == (2, 6, False)
    text = str(result)
    assert "conv1" in text
    assert "interrupted: 6 layers were not searched" in text
    assert "lower bound" not in text
    told = result_json(result)
    assert told["edp"] is None
    assert told["layers"][0]["edp"] > 0
    monkeypatch.setattr("ruby_map.mapper.commands.run_map.explored", lambda *_: result)
    assert run("eyeriss_like", "alexnet").exit_code == 130


def test_an_interrupted_network_writes_the_layers_it_has(monkeypatch, tmp_path):
    """Ctrl-C keeps the finished layers, marked as interrupted, and says how to go on; resuming replaces them."""
    real, folder = run_map.explored, tmp_path / "out"
    command = ("eyeriss_like", "alexnet", "--search", "random", "--samples", 4096, "--out", folder)
    stop = interrupt_at(2)
    monkeypatch.setattr(run_map, "explored", lambda study, request: real(study, request | {"progress": stop}))
    found = run(*command)
    assert found.exit_code == 130
    assert "interrupted: the best so far of 2 of 8 layers; the same command with --resume goes on" in found.stderr
    told = json.loads((folder / "stats.json").read_text())
    assert (told["search"]["ended_by"], told["missing"], told["edp"]) == ("samples; interrupted", 6, None)
    written = ["01_conv1", "02_conv2", "checkpoint.sqlite", "convergence.png", "index.html", "layers.csv", "stats.json"]
    assert sorted(path.name for path in folder.iterdir()) == written
    monkeypatch.undo()
    assert run(*command, "--resume").exit_code == 0
    assert len(list(folder.glob("0*"))) == 8
    assert json.loads((folder / "stats.json").read_text())["search"]["ended_by"] == "samples"


def test_the_hint_says_where_a_longer_search_would_have_found_some(tmp_path):
    """The search ended before the first valid mapping: its number is told, and so many samples do find it."""
    three = TIGHT.replace("depth: 4", "depth: 3").replace("    temporal: {factors: [M=7]}\n", "")
    (tmp_path / "tight.yaml").write_text(three)
    sizes = "{M: 4, C: 4, P: 4, Q: 4, R: 3, S: 3}"
    (tmp_path / "b.yaml").write_text(f"name: b\nshape: conv2d\nsizes: {sizes}\n")
    files = tmp_path / "tight.yaml", tmp_path / "b.yaml"
    told = run(*files, "--search", "random", "--samples", 1)
    assert told.exit_code == 1
    says = re.search(
        r"found\n(\d+) of 8,192 mappings looked at are valid, the first of them number ([\d,]+): search longer",
        told.stdout,
    )
    first = int(says[2].replace(",", ""))
    assert run(*files, "--search", "random", "--samples", first - 1).exit_code == 1
    assert run(*files, "--search", "random", "--samples", first).exit_code == 0


def test_nothing_is_written_where_nothing_was_found(tight, tmp_path):
    """Status 1 leaves no folder."""
    assert run(*tight, "--search", "random", "--samples", 500, "--out", tmp_path / "none").exit_code == 1
    assert not (tmp_path / "none").exists()


def script(*arguments):
    code = "from ruby_map.mapper.commands.ruby_map import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


def test_json_in_a_pipe_is_one_object_and_nothing_else():
    """No progress, no warnings, no colours: neither on standard output nor on standard error."""
    found = subprocess.run(script(*LAYER, "--jobs", 2, "--json"), capture_output=True, timeout=60, check=True)
    json.loads(found.stdout)
    assert found.stderr == b""


@pytest.mark.parametrize(("jobs", "number"), [(1, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGTERM)])
def test_ctrl_c_reports_the_best_so_far(jobs, number):
    """A search interrupted in a terminal, or by a batch system, tells what it has and ends well."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        script(*LAYER, "--search", "random", "--victory", 10**9, "--jobs", jobs, "--json"),
        stdout=subprocess.PIPE,
        stderr=follower,
        start_new_session=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(follower)
    shown = b""
    ends = time.monotonic() + 30
    while b"valid, best" not in shown and time.monotonic() < ends:
        shown += os.read(leader, 4096)
    os.killpg(process.pid, number)
    try:
        out, _ = process.communicate(timeout=30)
    finally:
        if process.poll() is None:  # where signals are ignored it would search for ever
            os.killpg(process.pid, signal.SIGKILL)
    shown += os.read(leader, 65536)
    os.close(leader)
    assert process.returncode == 0
    assert b"interrupted: the best so far" in shown
    assert json.loads(out)["search"]["valid"] > 0
    assert json.loads(out)["search"]["ended_by"] == "interrupted"


SCRIPTS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
STOPPED = """
import os, signal, sys
class Stop:
    def find_spec(self, name, path, target=None):
        if name == "{package}":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Stop())
from {module} import {function}
{function}()
"""


@pytest.mark.parametrize(
    ("script_name", "package", "arguments"),
    [*((name, "typer", ["--help"]) for name in sorted(SCRIPTS)), ("ruby-map", "numpy", ["eyeriss_like", "rank1_100"])],
)
def test_ctrl_c_while_a_command_imports_is_no_traceback(script_name, package, arguments):
    """Every script of the project, interrupted while it imports, says so and ends with 130."""
    module, function = SCRIPTS[script_name].split(":")
    code = STOPPED.format(package=package, module=module, function=function)
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_level_whose_bandwidth_binds_is_named(tmp_path):
    """Where a bandwidth and not compute sets the cycles, the report says which level's."""
    level = "class: regfile, width_bits: 16, word_bits: 16, capacity_words: 200, read_bandwidth: 0.5"
    arch = tmp_path / "arch.yaml"
    arch.write_text(
        "name: slow\ntechnology: 45nm\nlevels:\n"
        "  - {name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64, word_bits: 16}\n"
        f"  - {{name: buf, {level}, keep: [Inputs, Outputs]}}\n"
        "compute: {name: MAC, class: intmac, word_bits: 16}\n"
    )
    result = run(arch, "rank1_100", "--search", "random", "--samples", 200)
    assert result.exit_code == 0, result.output
    assert "bound by     the read bandwidth of buf, at its roofline; compute needs 100 cycles" in result.stdout


def test_an_unknown_keyword_of_explore_is_named_with_a_near_one():
    """As Python does for functions that name their keywords."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'padd'; did you mean \"pad\""):
        explore(*TOY, padd=True)
    with pytest.raises(TypeError) as error:
        explore(*TOY, padd=True, time_limt=5)
    assert str(error.value) == (
        "explore() got unexpected keyword arguments 'padd'; did you mean \"pad\"?, "
        "'time_limt'; did you mean \"time_limit\"?"
    )


def test_options_of_the_search_are_keywords_of_explore():
    """Beside options, over them, or alone; all faults at once."""
    given = SearchOptions(strategy="random", samples=100, seed=3)
    whole = explore(*TOY, options=given)
    assert (explore(*TOY, strategy="random", samples=100, seed=3).edp, whole.seed) == (whole.edp, 3)
    assert explore(*TOY, options=given, samples=50).statistics.evaluated == 50
    with pytest.raises(InputError) as error:
        explore(*TOY, mapspace="rubys", strategy="randon", seed=-1)
    assert {fault.source for fault in error.value.faults} == {"mapspace", "search", "seed"}
