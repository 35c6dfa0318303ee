"""The reference cases: executed element by element (`exact`), and reported by Timeloop (`timeloop`)."""

import json
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from ruby_map.arch.timeloop import read_timeloop_arch
from ruby_map.energy.table import energy_table
from ruby_map.mapper.mapping.timeloop_read import read_mapping
from ruby_map.mapper.model.cost import REASONS, evaluate, validity
from ruby_map.mapper.model.counts import count
from ruby_map.workloads import read_yaml
from ruby_map.workloads.timeloop import read_timeloop_problem

GOLDEN = Path(__file__).parents[1] / "golden"
# Perfect cases that Timeloop counts differently, and why.
TIMELOOP_DIFFERS = {
    "C03_conv_perf_dil2": "it drops the reuse of a window when its stride changes",
    "C14_conv_perf_linktransfer": "it passes whole tiles between neighbouring PEs",
}
WORDS = ("reads", "fills", "updates")


@cache
def expected(name):
    return json.loads((GOLDEN / name / "expected.json").read_text())


@cache
def mapped(name):
    """The case's mapping, a batch of one."""
    case = GOLDEN / name
    arch = read_timeloop_arch(read_yaml(case / "arch.yaml"))
    workload = read_timeloop_problem(read_yaml(case / "problem.yaml"))
    return read_mapping(case / "mapping.yaml", arch, workload)


@cache
def counted(name):
    return count(mapped(name))


@cache
def table(name):
    return energy_table(mapped(name).arch, ert=GOLDEN / name / "ert.yaml")


def level_index(batch, name):
    return [level.name for level in batch.arch.levels].index(name)


def tensor_index(batch, name):
    return [tensor.name for tensor in batch.workload.tensors].index(name)


CASES = sorted(path.name for path in GOLDEN.iterdir())
EXECUTED = [name for name in CASES if expected(name)["exact"]]
PERFECT = [name for name in CASES if expected(name)["perfect"]]
AGREED = [name for name in PERFECT if name not in TIMELOOP_DIFFERS]


def test_all_cases_are_there():
    """Sixty cases, 43 of them executed, 26 perfect."""
    assert (len(CASES), len(EXECUTED), len(PERFECT)) == (60, 43, 26)


@pytest.mark.parametrize("name", CASES)
def test_perfect_means_that_residuals_equal_bounds(name):
    """A case is called perfect when the derived residuals equal their bounds; every case fits its machine."""
    batch = mapped(name)
    assert (batch.factors == batch.residuals).all() == expected(name)["perfect"]
    assert REASONS[validity(batch)[0]] == "valid"


@pytest.mark.parametrize("name", EXECUTED)
def test_counts_are_those_of_execution(name):
    """Cycles, tiles, instances, reads, fills and updates equal the executed nest's to the last word."""
    batch, counts, exact = mapped(name), counted(name), expected(name)["exact"]
    assert batch.workload.macs == exact["macs"]
    assert counts.cycles[0] == exact["cycles"]
    assert {level.name for level in batch.arch.levels} == set(exact["levels"])
    for level, tensors in exact["levels"].items():
        at = level_index(batch, level)
        kept = {tensor.name for tensor, keep in zip(batch.workload.tensors, batch.keep[0, at], strict=True) if keep}
        assert kept == set(tensors)
        for tensor, words in tensors.items():
            v = tensor_index(batch, tensor)
            ours = {key: int(getattr(counts, key)[0, at, v]) for key in ("tile_words", *WORDS)}
            assert ours | {"instances": int(counts.instances[0, at])} == words, (level, tensor)


@pytest.mark.parametrize("name", EXECUTED)
def test_bypassed_tensors_count_nothing(name):
    """A level that bypasses a tensor neither holds nor moves a word of it."""
    batch, counts = mapped(name), counted(name)
    for key in ("tile_words", *WORDS):
        assert not getattr(counts, key)[~batch.keep].any()


def timeloop_words(name):
    """(level, tensor, per-instance figures) of each tensor that Timeloop reports at a storage level."""
    batch = mapped(name)
    for level, tensors in expected(name)["timeloop"]["levels_per_instance"].items():
        if level == batch.arch.compute.name:
            continue
        for tensor, figures in tensors.items():
            if tensor != "_":
                yield level_index(batch, level), tensor_index(batch, tensor), figures


def totals_equal_timeloop(name):
    counts = counted(name)
    for at, v, figures in timeloop_words(name):
        used = figures["utilized_instances"]
        theirs = [figures["utilized_capacity"], used, *(figures[key] * used for key in WORDS)]
        ours = [
            counts.tile_words[0, at, v],
            counts.instances[0, at],
            *(getattr(counts, key)[0, at, v] for key in WORDS),
        ]
        if theirs != [int(word) for word in ours]:
            return False
    return True


@pytest.mark.parametrize("name", AGREED)
def test_perfect_counts_are_timeloops(name):
    """On perfect nests, words are Timeloop's per-instance words times its instances, at every level and tensor."""
    assert len(list(timeloop_words(name))) == mapped(name).keep.sum()
    assert totals_equal_timeloop(name)


@pytest.mark.parametrize("name", TIMELOOP_DIFFERS)
def test_known_differences_are_real(name):
    """The two perfect cases set aside do differ from Timeloop, so the list cannot hide a case that agrees."""
    assert not totals_equal_timeloop(name)


@pytest.mark.parametrize("name", AGREED)
def test_perfect_cycles_and_utilization_are_timeloops(name):
    """On perfect nests, cycles (bandwidths included) and utilization are Timeloop's."""
    costs, theirs = evaluate(mapped(name), table(name)), expected(name)["timeloop"]
    assert costs.cycles[0] == theirs["cycles"]
    assert 100 * costs.utilization[0] == pytest.approx(theirs["utilization_percent"], abs=0.006)  # two decimals


def vectors(name, at, v):
    """(operation, words per vector, pJ per vector) of one level."""
    energy, level = table(name).levels[at], mapped(name).arch.levels[at]
    words = level.width_bits / level.bits(mapped(name).workload.tensors[v].name, None)
    return zip(WORDS, (words,) * 3, (energy.read_pj, energy.write_pj, energy.update_pj), strict=True)


@pytest.mark.parametrize("name", AGREED)
def test_perfect_energies_are_timeloops_once_rounded_as_it_rounds(name):
    """Timeloop charges whole vectors per instance: our counts, rounded up like that, give its energies to 1e-5."""
    counts = counted(name)
    for at, v, figures in timeloop_words(name):
        instances = counts.instances[0, at]
        rounded = sum(
            ceil(getattr(counts, key)[0, at, v] / instances / words) * instances * pj
            for key, words, pj in vectors(name, at, v)
        )
        # its statistics have two decimals
        assert rounded == pytest.approx(figures["energy_total"], rel=1e-5, abs=0.006)


@pytest.mark.parametrize("name", AGREED)
def test_perfect_energy_is_timeloops_within_its_rounding(name):
    """The total falls short of Timeloop's (without its networks) by less than one vector per instance and operation."""
    batch, costs, theirs = mapped(name), evaluate(mapped(name), table(name)), expected(name)["timeloop"]
    counts = counted(name)
    slack = sum(
        counts.instances[0, at] * pj
        for at, v, _ in timeloop_words(name)
        for key, words, pj in vectors(name, at, v)
        if getattr(counts, key)[0, at, v] / counts.instances[0, at] % words
    )
    total = theirs["energy_pj"] - theirs["network_energy_pj"]
    short = total - costs.energy_pj[0]
    assert -1e-5 * total <= short <= slack + 1e-5 * total
    assert costs.compute_energy_pj == pytest.approx(batch.workload.macs * table(name).compute.compute_pj)
    assert np.isclose(costs.level_energy_pj.sum() + costs.compute_energy_pj, costs.energy_pj[0])
