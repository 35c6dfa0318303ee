"""Timeloop's statistics beside ours: every difference of the reference cases has a rule, and energies add up."""

import json
from dataclasses import replace
from functools import cache

import pytest
from ruby_map.energy.table import energy_table
from ruby_map.mapper.exploration import evaluate
from ruby_map.mapper.model.timeloop_rules import Rules, TimeloopNest, timeloop_counts
from ruby_map.mapper.report.beside import beside, beside_json, beside_text
from ruby_map.mapper.report.beside.explanation import KNOWN
from ruby_map.workloads import InputError

from ..model.test_golden import CASES, GOLDEN, TIMELOOP_DIFFERS, expected, mapped

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
        return beside(replace(evaluate(batch.arch, batch.workload, batch, table=table), **changes), path)

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


def test_fills_of_older_versions(compared):
    """Statistics in which first visits of partial sums are fills, as older versions have them, are explained."""
    name = "B09_toy3_imp_psum_spill"
    levels = json.loads(json.dumps(expected(name)["timeloop"]["levels_per_instance"]))
    tiles = timeloop_counts(TimeloopNest(mapped(name)), Rules(first_fills=True)).tiles
    output = mapped(name).workload.output.name
    for at, level in enumerate(mapped(name).arch.levels[1:], 1):
        v = [tensor.name for tensor in mapped(name).workload.tensors].index(output)
        levels[level.name][output]["fills"] = tiles[at, v].fills
    rules = {rule for each in compared(name, statistics(name, levels)).figures for rule in each.rules}
    assert "first_fills" in rules
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
    found = compared(name, table=twice, costs=result.costs)
    assert "give them with --ert" in beside_text(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "mapping: []", 'the section "Buffer and Arithmetic Levels" is missing'),
        (lambda text: text[: text.index("Summary Stats")], 'the section "Summary Stats" is missing'),
        (lambda text: text[: text.index("Cycles:")], "tells no Cycles and Energy and Computes"),
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


def test_a_nest_of_many_loops_is_compared_and_not_explained(compared, monkeypatch):
    """A nest that takes too long to walk is compared all the same, and the text says why nothing is explained."""
    monkeypatch.setattr(TimeloopNest, "MOST_VISITS", 0)
    name = "C14_conv_perf_linktransfer"
    found = compared(name, statistics(name))
    assert sum(not each.equal for each in found.figures) == 2
    assert "not explained: the nest has too many loops" in beside_text(found)
