"""Timeloop's statistics beside ours: every difference of the reference cases has a rule, and energies add up."""

import json
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy.table import energy_table
from ruby_map.mapper.exploration import evaluate
from ruby_map.mapper.mapping import read_mapping
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.timeloop_rules import Rules, TimeloopNest, timeloop_counts
from ruby_map.mapper.report.timeloop import beside_json, beside_text, compare_with_timeloop
from ruby_map.mapper.report.timeloop.explanation import KNOWN, Explanation
from ruby_map.workloads import InputError, Tensor, Term, Workload, parse_yaml

from ..conftest import DEEP
from ..model.test_golden import CASES, GOLDEN, TIMELOOP_DIFFERS, expected, mapped
from ..strategies import mappings, matmuls

WORDS = ("reads", "fills", "updates")
RULES = {  # of cases whose differences have one cause
    "A04_toy2_imp_M7": {"bounds"},
    "B04_toy3_imp_spX": {"elements"},
    "C03_conv_perf_dil2": {"jumps"},
    "C14_conv_perf_linktransfer": {"links"},
    "B06_toy3_imp_spReduceK": {"truncated", "elements"},
    "A06_toy2_imp_3dims_KMN": {"bounds", "samples"},
}


def statistics(name, levels=None, **figures):
    """What Timeloop reports of a case, laid out as its statistics are."""
    theirs = expected(name)["timeloop"] | figures
    compute = mapped(name).arch.compute.name
    lines = ["Buffer and Arithmetic Levels", "----------------------------"]
    for number, (level, tensors) in enumerate((levels or theirs["levels_per_instance"]).items()):
        lines += [
            f"Level {number}",
            "-------",
            f"=== {level} ===",
            "",
            "    SPECS",
            "    -----",
            "",
            "    STATS",
            "    -----",
        ]
        if level == compute:
            lines.append(f"    Energy (total)       : {tensors['_']['Energy (total)']:.2f} pJ")
        for tensor, words in tensors.items():
            if tensor != "_":
                lines.append(f"    {tensor}:")
                lines.append(f"        Utilized instances (max)         : {words['utilized_instances']}")
                lines += [f"        Scalar {key} (per-instance)      : {words[key]}" for key in WORDS]
                lines.append(f"        Energy (total)                   : {words['energy_total']:.2f} pJ")
        lines.append("")
    lines += ["Networks", "--------", "DRAM <==> GLB", "    STATS", "    -----", "    A:"]
    lines.append(f"        Energy (total)                          : {theirs['network_energy_pj']:.2f} pJ")
    lines += ["", "Operational Intensity Stats", "---------------------------", "", "Summary Stats", "-------------"]
    lines += [f"Cycles: {theirs['cycles']}", f"Energy: {theirs['energy_pj'] / 1e6:.8f} uJ", ""]
    return "\n".join([*lines, f"Computes = {theirs['computes']}", "fJ/Compute", ""])


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Compares a case with statistics, by default its own."""
    path = tmp_path_factory.mktemp("beside") / "timeloop-model.stats.txt"

    def run(name, text, **changes):
        path.write_text(text)
        batch = mapped(name)
        table = energy_table(batch.arch, ert=GOLDEN / name / "ert.yaml")
        return compare_with_timeloop(replace(evaluate(batch.arch, batch.workload, batch, table=table), **changes), path)

    own = cache(lambda name: run(name, statistics(name)))
    return lambda name, text=None, **changes: (
        run(name, text or statistics(name), **changes) if text or changes else own(name)
    )


@pytest.mark.parametrize("name", CASES)
def test_every_difference_has_a_rule(name, compared):
    """No count of the sixty cases differs without a rule of Timeloop's that makes it; perfect ones are equal.

    With Timeloop's ERT nothing is left over of the energies but what two decimals round, at any component.
    """
    figures = compared(name).figures
    assert len(figures) == 2 + 3 * mapped(name).keep.sum()
    for each in figures:
        assert each.equal == (not each.rules), each
        assert "unknown" not in each.rules, each
        assert set(each.rules) <= set(KNOWN)
    if expected(name)["perfect"] and name not in TIMELOOP_DIFFERS:
        assert all(each.equal for each in figures)
    *parts, total = compared(name).energies
    for each in parts:
        if each.component != "networks":
            assert each.other == pytest.approx(0, abs=0.02 + 1e-6 * each.timeloop), each
    assert total.timeloop == pytest.approx(sum(each.timeloop for each in parts), rel=1e-4, abs=0.1)


@pytest.mark.parametrize(("name", "rules"), RULES.items())
def test_rules_of_cases_with_a_known_cause(name, rules, compared):
    """The rules are those that the notes on the reference cases name."""
    assert {rule for each in compared(name).figures for rule in each.rules} == rules


def test_statistics_of_other_files_are_not_explained(compared):
    """A count that no rule of Timeloop's gives is called unknown, not explained away."""
    name = "A01_toy2_perf_MNK"
    levels = json.loads(json.dumps(expected(name)["timeloop"]["levels_per_instance"]))
    place = next(level for level in levels if level != mapped(name).arch.compute.name)
    tensor = next(each for each in levels[place] if each != "_")
    levels[place][tensor]["reads"] += 1
    found = compared(name, statistics(name, levels))
    assert [each.rules for each in found.figures if each.rules] == [("unknown",)]
    assert "not by Timeloop's rules" in beside_text(found)


def test_statistics_of_another_machine_are_none_of_this_one(compared):
    """Instances come first: where a level or the MAC units have more or fewer of them, no rule is looked for."""
    name = "B03_toy3_perf_16pe"
    machine, lines = mapped(name).arch, statistics(name).splitlines()
    of = {level.name: machine.instances(i) for i, level in enumerate((*machine.levels, machine.compute))}

    def told(**changed):
        number = {**of, **changed}
        titles = [(at, line.strip("= ")) for at, line in enumerate(lines) if line.startswith("=== ")]
        text = lines.copy()
        for at, title in reversed(titles):
            text.insert(at + 1, f"        Instances                       : {number[title]} ({number[title]}*1)")
        return "\n".join([*text, ""])

    assert all(each.equal for each in compared(name, told()).figures)
    with pytest.raises(InputError) as raised:
        compared(name, told(**{machine.levels[0].name: 16, machine.compute.name: 5}))
    assert [fault.path for fault in raised.value.faults] == [machine.compute.name, machine.levels[0].name]
    assert f"are of a machine with 16 of it, {machine.name} has 1" in str(raised.value)


def test_fills_of_older_versions(compared):
    """Statistics in which first visits of partial sums are fills, as older versions have them, are explained."""
    name = "B09_toy3_imp_psum_spill"
    levels = json.loads(json.dumps(expected(name)["timeloop"]["levels_per_instance"]))
    tiles = timeloop_counts(TimeloopNest(mapped(name)), Rules(first=True)).tiles
    output = mapped(name).workload.output.name
    for at, level in enumerate(mapped(name).arch.levels[1:], 1):
        v = [tensor.name for tensor in mapped(name).workload.tensors].index(output)
        levels[level.name][output]["fills"] = tiles[at, v].fills
    rules = {rule for each in compared(name, statistics(name, levels)).figures for rule in each.rules}
    assert "first" in rules
    assert "unknown" not in rules


def test_text_and_values_say_the_same(compared):
    """The text has a letter for each rule, the values its name."""
    found = compared("C14_conv_perf_linktransfer")
    text, values = beside_text(found), beside_json(found)
    assert f"2 of {len(found.figures)} figures differ" in text
    assert "  a  neighbours of an array pass whole tiles on" in text
    assert [each["rules"] for each in values["figures"] if each["rules"]] == [["links"], ["links"]]
    assert values["energies"][-1]["component"] == "total"


def test_other_energies_are_told(compared):
    """Figures per access that are not those of Timeloop's run are called so."""
    name = "A01_toy2_perf_MNK"
    batch = mapped(name)
    table = energy_table(batch.arch, ert=GOLDEN / name / "ert.yaml")
    twice = replace(table, compute=replace(table.compute, compute_pj=2 * table.compute.compute_pj + 1))
    result = evaluate(batch.arch, batch.workload, batch, table=twice)
    found = compared(name, problem=result.problem, mapped=result.mapped)
    assert "give them with --ert" in beside_text(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "mapping: []", 'the section "Buffer and Arithmetic Levels" is missing'),
        (lambda text: text[: text.index("Summary Stats")], 'the section "Summary Stats" is missing'),
        (lambda text: text[: text.index("Cycles:")], "tells no Cycles and Energy and Computes"),
        (lambda text: text[: text.index("Computes = ") + 12], "tells no Computes"),
        (lambda text: text.replace("Cycles: ", "Cycles: 1.2."), "Cycles: must be a number, got '1.2."),
        (lambda text: text.replace("Energy: ", "Energy: nan "), "Energy: must be a number, got 'nan "),
        (
            lambda text: text.replace("fills (per-instance)      : ", "fills (per-instance)      : x"),
            "must be a number",
        ),
        (lambda text: text.replace("=== GLB ===", "=== Cache ==="), "has no such level"),
        (lambda text: text.replace("    A:", "    Alpha:"), "has no such tensor"),
    ],
)
def test_files_that_are_not_of_this_mapping(change, message, compared):
    """Other files, cut files, and statistics of another machine or layer are faults with the file's name."""
    name = "B01_toy3_perf_multicast"
    with pytest.raises(InputError, match=message) as raised:
        compared(name, change(statistics(name)))
    assert all("stats.txt" in str(fault) for fault in raised.value.faults)


def test_a_sum_that_two_decimals_round_away_is_that_of_its_parts(compared):
    """Timeloop tells the sum to 0.01 uJ, 0 of a small layer; it is more exact at the components."""
    name = "A01_toy2_perf_MNK"
    exact = expected(name)["timeloop"]["energy_pj"]
    text = statistics(name)
    rounded = text.replace(f"Energy: {exact / 1e6:.8f} uJ", f"Energy: {exact / 1e6:.2f} uJ")
    assert rounded != text
    *parts, total = compared(name, rounded).energies
    assert total.timeloop == sum(each.timeloop for each in parts) == pytest.approx(exact, abs=0.1)
    other = compared(name, text.replace(f"Energy: {exact / 1e6:.8f} uJ", "Energy: 7.00 uJ")).energies[-1]
    assert other.timeloop == 7e6


def test_large_counts_are_compared_and_shown_to_the_last_digit(compared):
    """Also beyond what a float holds."""
    name = "A01_toy2_perf_MNK"
    found = compared(name, statistics(name, cycles=2**53 + 1))
    (cycles,) = (each for each in found.figures if each.name == "cycles")
    assert cycles.timeloop == 2**53 + 1
    assert "9,007,199,254,740,993" in beside_text(found)
    assert not replace(cycles, ours=2**53).equal


def test_sparse_runs_are_told(compared):
    """Cycles below the dense ones, and other energies, are of a sparse design where the file is of one."""
    name = "A01_toy2_perf_MNK"
    table = energy_table(mapped(name).arch, ert=GOLDEN / name / "ert.yaml")
    twice = replace(table, compute=replace(table.compute, compute_pj=2 * table.compute.compute_pj + 1))
    result = evaluate(mapped(name).arch, mapped(name).workload, mapped(name), table=twice)
    text = statistics(name, cycles=1)
    sparse = text.replace("Computes = ", "Algorithmic Computes = ") + "Actual Computes = 1\n"
    for each, rules in ((text, {"unknown"}), (sparse, {"sparse"})):
        found = compared(name, each, problem=result.problem, mapped=result.mapped)
        assert {rule for figure in found.figures for rule in figure.rules} == rules
        assert ("of a sparse design: accesses" in beside_text(found)) == (each is sparse)


def test_statistics_of_older_versions_are_explained(compared):
    """Partial sums that Timeloop fills also the first time, as before May 2023, are not unknown."""
    name = "B03_toy3_perf_16pe"
    levels = json.loads(json.dumps(expected(name)["timeloop"]["levels_per_instance"]))
    output = next(tensor.name for tensor in mapped(name).workload.tensors if tensor.output)
    inner = [level for level in levels if output in levels[level] and level != "DRAM"]
    tiles = timeloop_counts(TimeloopNest(mapped(name)), Rules()).tiles
    v = [tensor.name for tensor in mapped(name).workload.tensors].index(output)
    names = [level.name for level in mapped(name).arch.levels]
    for level in inner:
        levels[level][output]["fills"] += int(tiles[names.index(level), v].partition)
    found = compared(name, statistics(name, levels))
    assert [(each.name, each.rules) for each in found.figures if not each.equal] == [("fills", ("first",))] * len(inner)
    assert inner


@settings(max_examples=40 if DEEP else 20)
@given(mappings(workloads=matmuls(most=5)))
def test_words_served_twice_are_more_words(batch):
    """Of what Timeloop's rules state nothing is unknown, and `nested` is said of more reads only, never of MACs."""
    try:
        why = Explanation(batch)
    except ValueError:  # Timeloop ends with an error
        return
    stated, ours = timeloop_counts(why.nest, Rules()), count(batch)
    if stated.computes != batch.workload.macs:
        assert {*why.computes(stated.computes, batch.workload.macs)} <= {"truncated", "samples", "elements"}
    for place, tile in stated.tiles.items():
        for name in WORDS:
            words, executed = getattr(tile, name), int(getattr(ours, name)[0][place])
            if words * tile.instances != executed:
                rules = why.words(place, name, words, executed, tile.instances)
                assert "unknown" not in rules
                assert "nested" not in rules or words * tile.instances > executed


def test_an_array_of_any_size_takes_memory_for_its_elements_in_use():
    """Neighbours are looked up among these."""
    axes = Axis("Y", 1 << 20, "Y"), Axis("X", 1 << 20, "X")
    arch = Architecture("wide", (Storage("L0", "SRAM", fanout=axes), Storage("L1", "SRAM")), Compute("MAC", "mac"))
    tensors = (
        Tensor("I", ((Term("P"), Term("R")),)),
        Tensor("W", ((Term("R"),),)),
        Tensor("O", ((Term("P"),),), output=True),
    )
    text = """
    - {target: L0, type: temporal, factors: P=4, permutation: PR}
    - {target: L0, type: spatial, factors: P=2 R=2, permutation: PR, split: 1}
    """
    batch = read_mapping(parse_yaml(text, "wide"), arch, Workload("conv", ("P", "R"), (8, 2), tensors))
    assert timeloop_counts(TimeloopNest(batch), Rules()).tiles[1, 0].fills > 0


def test_a_nest_of_many_loops_is_compared_and_not_explained(compared, monkeypatch):
    """A nest that takes too long to walk is compared all the same, and the text says why nothing is explained."""
    monkeypatch.setattr(TimeloopNest, "MOST_VISITS", 0)
    name = "C14_conv_perf_linktransfer"
    found = compared(name, statistics(name))
    assert sum(not each.equal for each in found.figures) == 2
    assert "not explained: the nest has too many loops" in beside_text(found)
