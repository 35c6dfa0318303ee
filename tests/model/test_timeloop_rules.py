"""Timeloop's rules: its figures on the reference cases, and the executed counts without what is known to differ."""

import pytest
from hypothesis import given
from ruby_map.arch import Architecture, Compute, Storage
from ruby_map.mapper.mapping import read_mapping
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.timeloop_rules import Rules, TimeloopNest, timeloop_counts
from ruby_map.workloads import Tensor, Term, Workload, parse_yaml

from ..strategies import convolutions, mappings, matmuls
from .test_golden import CASES, WORDS, expected, mapped, timeloop_words

EXACT = Rules(links=False, jumps=False, samples=False, truncated=False)


def differences(batch, rules):
    """(level, tensor, figure, by the rules, executed) where the two differ, over all instances."""
    ours, theirs = count(batch), timeloop_counts(TimeloopNest(batch, "one"), rules)
    for (level, v), tile in theirs.tiles.items():
        for name in WORDS:
            total, executed = getattr(tile, name) * tile.instances, int(getattr(ours, name)[0, level, v])
            if total != pytest.approx(executed, rel=1e-9):
                yield level, v, name, total, executed


@pytest.mark.parametrize("name", CASES)
def test_the_rules_are_timeloops(name):
    """Every count, tile, instance, MAC and cycle of all sixty cases is what Timeloop reported, imperfect or not."""
    theirs, counts = expected(name)["timeloop"], timeloop_counts(TimeloopNest(mapped(name)), Rules())
    assert (counts.cycles, counts.computes) == (theirs["cycles"], theirs["computes"])
    for level, v, figures in timeloop_words(name):
        tile = counts.tiles[level, v]
        assert {key: getattr(tile, key) for key in WORDS} == {key: figures[key] for key in WORDS}, (level, v)
        assert (tile.size, tile.instances) == (figures["utilized_capacity"], figures["utilized_instances"])


@given(mappings(workloads=matmuls(), perfect=True))
def test_perfect_products_are_counted_alike(batch):
    """Without neighbours that pass words on, Timeloop counts a perfect matrix product as it is executed."""
    assert not list(differences(batch, Rules(links=False)))


@given(mappings(workloads=convolutions(), perfect=True))
def test_perfect_windows_are_counted_alike_where_each_step_is_taken(batch):
    """And a perfect convolution where each step is taken, windows whose step changes and nested arrays aside."""
    assert not list(differences(batch, EXACT))


@given(mappings(workloads=matmuls() | convolutions(), most_spatial=1))
def test_imperfect_loops_in_time_are_counted_alike_where_each_step_is_taken(batch):
    """Imperfect loops in time alone are executed counts, if all their steps are taken and no average is cut."""
    assert not list(differences(batch, EXACT))


def test_versions_before_2025_read_windows_whole_that_stop():
    """The words of a window as a published run has them: simple_output_stationary of Timeloop's exercises, of 2024.

    Its figure is DRAM's reads of Inputs in ref_outputs/default_problem/timeloop-mapper.stats.txt.
    """
    window = ((Term("C"),), (Term("P", 2), Term("R")), (Term("Q", 2), Term("S")))
    plain = {name: tuple((Term(dim),) for dim in dims) for name, dims in (("Weights", "CMRS"), ("Outputs", "MPQ"))}
    tensors = (
        Tensor("Weights", plain["Weights"]),
        Tensor("Inputs", window),
        Tensor("Outputs", plain["Outputs"], output=True),
    )
    workload = Workload("conv", tuple("CMRSPQ"), (3, 32, 3, 3, 112, 112), tensors)
    arch = Architecture("two", (Storage("DRAM", "DRAM"), Storage("GLB", "SRAM")), Compute("mac", "mac"))
    loops = """
    - {target: DRAM, type: temporal, factors: P=2 Q=8 M=2, permutation: MQPCRS}
    - {target: GLB, type: temporal, factors: P=56 Q=14 M=16 R=3 S=3 C=3, permutation: SRCPQM}
    """
    batch = read_mapping(parse_yaml(loops, "loops"), arch, workload)
    reads = [timeloop_counts(TimeloopNest(batch), rules).tiles[0, 1].reads for rules in (Rules(), Rules(stops=True))]
    assert int(count(batch).reads[0, 0, 1]) == 152_550
    assert reads == [152_550, 157_296]


@given(mappings(workloads=matmuls(), perfect=True))
def test_versions_before_may_2023_fill_each_partial_sum_once_more(batch):
    """Where they are filled at all, the outermost memory of the output aside."""
    today, before = (timeloop_counts(TimeloopNest(batch), rules).tiles for rules in (Rules(), Rules(first=True)))
    for (level, v), tile in before.items():
        output = batch.workload.tensors[v].output
        outermost = not batch.keep[0, :level, v].any()
        more = tile.partition if output and not outermost else 0
        assert tile.fills == today[level, v].fills + more
        assert (tile.reads, tile.updates) == (today[level, v].reads, today[level, v].updates)
