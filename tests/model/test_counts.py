"""The vectorised model against the executor, and the laws its counts obey."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapping.batch import ChainTable, MappingBatch
from ruby_map.mapper.model.counts import Counts, count
from ruby_map.mapper.model.simulate import TooLarge, simulate
from ruby_map.workloads import Tensor, Term, Workload

from ..strategies import convolutions, machines, mappings, matmuls, plain

NO_FIGURES = ("inexact", "tiles", "crossings")
FIELDS = (*(field.name for field in dataclasses.fields(Counts) if field.name not in NO_FIGURES), "tile_words")
READS = ("reads", "origin_reads", "origin_inexact")  # what may be too high where a mapping is not flagged exact


def assert_equals_executor(batch):
    got, want = count(batch), simulate(batch)
    for name in FIELDS:
        mine, truth = getattr(got, name), getattr(want, name)
        if got.exact[0] or name not in READS:
            np.testing.assert_array_equal(mine, truth, err_msg=name)
        else:
            assert (mine >= truth).all(), f"{name}: the model counts fewer words than the executor"
    mine, truth = got.crossings(), want.crossings()
    assert (mine.words >= truth.words).all(), "fewer words cross an array than the executor's"
    assert not mine.exact[0] or np.array_equal(mine.words, truth.words), "crossings"


RUN_CLASSES = {
    "matmul": matmuls(),
    "one window": convolutions(two_windows=False, most=8),
    "two windows": convolutions(two_windows=True),
    "grouped": convolutions(grouped=True),
}


@pytest.mark.parametrize("perfect", [False, True], ids=["imperfect", "perfect"])
@pytest.mark.parametrize("run_class", RUN_CLASSES)
def test_every_count_equals_the_executor(run_class, perfect):
    """Any order, levels, axes, bypass, strides and dilations: equal where flagged exact, never below elsewhere."""

    @given(mappings(workloads=RUN_CLASSES[run_class], arch=machines(bandwidths=True), perfect=perfect))
    def holds(batch):
        assert_equals_executor(batch)
        assert run_class != "matmul" or count(batch).exact.all()

    holds()


@given(mappings(n=4))
def test_a_batch_of_one_equals_a_row(batch):
    """What a mapping counts does not depend on its neighbours in the batch."""
    together = count(batch)
    for i in range(len(batch)):
        alone = count(batch.take([i]))
        for name in (*FIELDS, "exact"):
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(together, name)[i], err_msg=name)


@given(mappings(n=3))
def test_tables_with_other_chains_change_nothing(batch):
    """Counts read a table's rows: more rows, in another order, give the same."""
    tables = tuple(ChainTable(t.size, np.concatenate([t.bounds[::-1], t.bounds])) for t in batch.tables)
    rows = np.stack([len(t.bounds) - 1 - batch.rows[:, d] for d, t in enumerate(batch.tables)], axis=1)
    other = dataclasses.replace(batch, tables=tables, rows=rows)
    np.testing.assert_array_equal(other.factors, batch.factors)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(count(other), name), getattr(count(batch), name), err_msg=name)


@given(mappings(workloads=matmuls()))
def test_macs_are_exact(batch):
    """The level next to the MACs is updated once per MAC, less what spatial reduction merges: never lost."""
    counts, arch = count(batch), batch.arch
    alone = dataclasses.replace(batch, keep=np.ones_like(batch.keep))
    innermost = count(alone).updates[0, -1, -1]
    if not arch.levels[-1].fanout:
        assert innermost == batch.workload.macs
    assert innermost <= batch.workload.macs
    assert counts.cycles[0] * counts.instances[0, -1] >= batch.workload.macs


@given(mappings(), st.randoms(use_true_random=False))
def test_permuting_tensors_changes_nothing(batch, random):
    """The order in which tensors are listed does not matter."""
    perm = list(range(len(batch.workload.tensors)))
    random.shuffle(perm)
    workload = dataclasses.replace(batch.workload, tensors=tuple(batch.workload.tensors[v] for v in perm))
    other = dataclasses.replace(batch, workload=workload, keep=batch.keep[:, :, perm])
    for name in ("reads", "fills", "updates", "tile_words"):
        np.testing.assert_array_equal(getattr(count(other), name), getattr(count(batch), name)[:, :, perm])


@given(mappings(arch=machines(most_levels=4)), st.data())
def test_bypassing_a_level_changes_only_its_neighbours(batch, data):
    """Levels outside the two keepers around a bypassed level count what they counted before."""
    assume(len(batch.arch.levels) > 2)
    v = data.draw(st.integers(0, len(batch.workload.tensors) - 1))
    level = data.draw(st.integers(1, len(batch.arch.levels) - 1))
    keepers = np.flatnonzero(batch.keep[0, :, v])
    around = {int(max(keepers[keepers < level])), level}
    inner = keepers[keepers > level]
    around |= {int(inner.min())} if len(inner) else set()
    keep, bypass = batch.keep.copy(), batch.keep.copy()
    keep[0, level, v], bypass[0, level, v] = True, False
    kept, bypassed = count(dataclasses.replace(batch, keep=keep)), count(dataclasses.replace(batch, keep=bypass))
    others = [i for i in range(len(batch.arch.levels)) if i not in around]
    for name in ("reads", "fills", "updates"):
        np.testing.assert_array_equal(getattr(kept, name)[0, others, v], getattr(bypassed, name)[0, others, v])


@given(mappings(workloads=matmuls(most=8), arch=machines(most_levels=3)), st.data())
def test_splitting_a_loop_at_its_level_changes_nothing(batch, data):
    """One temporal loop written as two at neighbouring levels, the inner one bypassed by all, counts the same."""
    level = data.draw(st.integers(0, len(batch.arch.levels) - 1))
    levels = list(batch.arch.levels)
    first = next(s for s, slot in enumerate(batch.arch.slots) if slot.level == level)
    outer, inner = (
        dataclasses.replace(levels[level], fanout=()),
        dataclasses.replace(levels[level], name="split", start_cycles=0),
    )
    arch = Architecture("split", (*levels[:level], outer, inner, *levels[level + 1 :]), batch.arch.compute)
    d = int(batch.order[0, level, 0])  # its outermost loop: split so that the order stays the nest's
    bound = int(batch.factors[0, first, d])
    divisor = data.draw(st.sampled_from([p for p in range(1, bound + 1) if bound % p == 0]))
    factors = np.insert(batch.factors, first + 1, 1, axis=1)
    factors[0, first + 1] = factors[0, first]
    factors[0, first] = 1
    factors[0, first, d], factors[0, first + 1, d] = divisor, bound // divisor
    order = np.insert(batch.order, level, batch.order[:, level], axis=1)
    keep = np.insert(batch.keep, level + 1, False, axis=1)
    after, before = count(MappingBatch.of(arch, batch.workload, factors, order, keep)), count(batch)
    rows = [i for i in range(len(arch.levels)) if i != level + 1]
    np.testing.assert_array_equal(after.cycles, before.cycles)
    for name in ("reads", "fills", "updates", "tile_words"):
        np.testing.assert_array_equal(getattr(after, name)[:, rows], getattr(before, name), err_msg=name)


def test_the_toy_of_the_ruby_paper():
    """D = 100 on 6 PEs: PFM's best takes 20 steps, Ruby's chain 17 with 4 PEs busy in the last (Fig. 4 and 5)."""
    dram, buffer = Storage("DRAM", "DRAM"), Storage("GLB", "SRAM", fanout=(Axis("PE", 6),))
    arch = Architecture("toy", (dram, buffer), Compute("MAC", "intmac"))
    workload = Workload("rank1", ("D",), (100,), (plain("Inputs", "D"), plain("Outputs", "D", output=True)))
    factors = np.array([[[1], [20], [5]], [[1], [17], [6]]])
    batch = MappingBatch.of(arch, workload, factors, np.zeros((2, 2, 1), np.int8), np.ones((2, 2, 2), bool))
    counts = count(batch)
    assert counts.cycles.tolist() == [20, 17]
    assert batch.residuals[1, :, 0].tolist() == [1, 17, 4]
    assert counts.reads[:, 1, 0].tolist() == [100, 100]


def test_partly_overlapping_halos_are_separate_reads():
    """Neighbours that share a halo fetch it apart: only identical sets are one read (rule 3)."""
    glb, rf = Storage("GLB", "SRAM", fanout=(Axis("PE", 4),)), Storage("RF", "regfile")
    arch = Architecture("halo", (glb, rf), Compute("MAC", "intmac"))
    inputs = Tensor("Inputs", ((Term("P"), Term("R")),))
    workload = Workload("conv", ("P", "R"), (8, 3), (inputs, plain("Weights", "R"), plain("Outputs", "P", output=True)))
    factors = np.array([[[1, 1], [4, 1], [2, 3]]])  # 4 PEs, each 2 outputs and all 3 taps: tiles of 4 words
    batch = MappingBatch.of(arch, workload, factors, np.zeros((1, 2, 2), np.int8) + [0, 1], np.ones((1, 2, 3), bool))
    assert count(batch).reads[0, 0].tolist() == [16, 3, 0]


def test_diagonals_of_a_row_stationary_array_share_one_read():
    """P on one axis and R on the other: the PEs of a diagonal need the same input word (Eyeriss)."""
    glb = Storage("GLB", "SRAM", fanout=(Axis("columns", 4, "X"), Axis("rows", 3, "Y")))
    arch = Architecture("diagonal", (glb, Storage("RF", "regfile")), Compute("MAC", "intmac"))
    inputs = Tensor("Inputs", ((Term("P"), Term("R")),))
    workload = Workload("conv", ("P", "R"), (4, 3), (inputs, plain("Weights", "R"), plain("Outputs", "P", output=True)))
    factors = np.array([[[1, 1], [4, 1], [1, 3], [1, 1]]])
    batch = MappingBatch.of(arch, workload, factors, np.zeros((1, 2, 2), np.int8) + [0, 1], np.ones((1, 2, 3), bool))
    counts = count(batch)
    assert counts.reads[0, 0].tolist() == [6, 3, 0]
    assert counts.updates[0, 0, 2] == 4  # three partial sums of a column merge on their way up
    assert counts.fills[0, 1, 0] == 12


def test_a_chain_that_does_not_cover_its_dim_is_refused():
    """A table of chains knows its dim's size and refuses a chain that falls short."""
    with pytest.raises(ValueError, match="does not cover a dim of size 7"):
        _ = ChainTable(7, np.array([[1, 3, 2]])).digits


def test_the_executor_refuses_a_nest_that_is_too_large():
    """simulate says how large the nest is instead of running for hours."""
    arch = Architecture("one", (Storage("DRAM", "DRAM"),), Compute("MAC", "intmac"))
    workload = Workload("rank1", ("D",), (1000,), (plain("Inputs", "D"), plain("Outputs", "D", output=True)))
    batch = MappingBatch.of(
        arch, workload, np.array([[[1000]]]), np.zeros((1, 1, 1), np.int8), np.ones((1, 1, 2), bool)
    )
    with pytest.raises(TooLarge, match="1,000 .* at most 10"):
        simulate(batch, limit=10)
