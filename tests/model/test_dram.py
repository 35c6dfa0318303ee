"""Bursts and rows of a DRAM: by the executor and by hand, in bounds, proofs, reports, and where they are refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.arch.dram import Blocks, Dram
from ruby_map.arch.timeloop.write import checked
from ruby_map.mapper.exploration import explore
from ruby_map.mapper.exploration.relaxations import changes
from ruby_map.mapper.exploration.uncounted import machine_faults
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import count, evaluate, least_counts, recount, simulate
from ruby_map.mapper.model.timeloop_rules import TimeloopNest
from ruby_map.mapper.report import result_json
from ruby_map.mapper.report.compare import comparison, comparison_json
from ruby_map.mapper.report.difference import difference_text, rows
from ruby_map.mapper.report.roofline import roofline_point
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError, shaped

from ..conftest import DEEP
from ..searches import optimal
from ..small_problems import FEW, check_best_of_all, problems, slowed
from ..strategies import convolutions, drams, machines, mappings, matmuls
from .test_cost import mapping, matmul, table

FIGURES = ("burst_reads", "burst_updates", "activations", "origin_reads", "origin_writes", "origin_rows")


def machine_with(dram, **own):
    """A DRAM, and a buffer with room for all below it."""
    return Architecture(
        "two",
        (Storage("DRAM", "DRAM", dram=dram, **own), Storage("buffer", "SRAM", capacity_bits=1 << 40)),
        Compute("MAC", "intmac"),
    )


def check_the_executor(batch):
    """Bursts and rows are the executor's where they are flagged exact, and after a recount; never fewer elsewhere."""
    counts, truth, again = count(batch), simulate(batch), recount(batch)
    least = least_counts(batch, counts)
    for name in FIGURES:
        mine, true = getattr(counts, name), getattr(truth, name)
        np.testing.assert_array_equal(getattr(again, name).astype(float), true, err_msg=name)
        assert (getattr(least, name) <= true).all(), name
        assert (mine >= true).all(), name
        assert not counts.exact[0] or (mine == true).all(), name


@settings(max_examples=1000 if DEEP else 60)
@given(mappings(workloads=matmuls(12), arch=machines(bandwidths=True)), drams())
def test_along_plain_ranks_they_are_the_executors(batch, dram):
    assume(dram is not None)
    check_the_executor(replace(batch, arch=with_dram(batch.arch, dram)))
    assert count(replace(batch, arch=with_dram(batch.arch, dram))).exact.all()


@settings(max_examples=1000 if DEEP else 60)
@given(mappings(workloads=convolutions(two_windows=False, most=9), arch=machines(bandwidths=True)), drams())
def test_along_a_window_they_are_the_executors(batch, dram):
    assume(dram is not None)
    check_the_executor(replace(batch, arch=with_dram(batch.arch, dram)))


@settings(max_examples=1000 if DEEP else 40)
@given(mappings(workloads=convolutions(), arch=machines(bandwidths=True)), drams())
def test_along_two_windows_they_are_the_executors(batch, dram):
    assume(dram is not None)
    check_the_executor(replace(batch, arch=with_dram(batch.arch, dram)))


def test_bursts_that_the_closed_form_counts_twice_are_counted_again():
    """Both dims of a window spread below the DRAM: children on a diagonal need the same tile."""
    dram = Dram(48, 96, layout=(("Inputs", ("P", "C")),))
    axes = Axis("X", 3), Axis("Y", 3)
    arch = Architecture(
        "spread",
        (
            Storage("DRAM", "DRAM", dram=dram, shared_bandwidth=1.0, fanout=axes),
            Storage("buffer", "SRAM", shared_bandwidth=1.0),
        ),
        Compute("MAC", "intmac"),
    )
    batch = Mapspace(arch, shaped("conv2d", M=1, C=2, P=7, Q=1, R=3, S=1), "ruby").sample(np.random.default_rng(2), 200)
    counts, twice = count(batch), 0
    for i in np.flatnonzero(~counts.exact).tolist():
        one = batch.take([i])
        check_the_executor(one)
        twice += int((counts.burst_reads[i] != recount(one).burst_reads[0]).any())
    assert twice > 10


def with_dram(arch, dram):
    return replace(arch, levels=(replace(arch.levels[0], dram=dram), *arch.levels[1:]))


@settings(max_examples=500 if DEEP else 12)
@given(problems(), drams(), st.data())
def test_proofs_find_the_best_of_every_mapping(problem, dram, data):
    """Whatever rows cost in energy and in time, with a certificate that the checker accepts."""
    space, energies, objective, costs = problem
    assume(dram is not None)
    if dram.row_bits is not None:
        dram = replace(dram, activate_pj=data.draw(st.sampled_from([0.0, 1.0, 100.0])))
    arch = with_dram(space.arch, dram)
    if data.draw(st.booleans()):
        arch = slowed(data.draw, arch)
    space = Mapspace(arch, space.workload, data.draw(st.sampled_from(["ruby", "ruby-s"])), distinct=True)
    assume(space.size.total <= FEW)
    found = optimal(space, energies, SearchOptions(strategy="optimal", objective=objective, certify=True), costs)
    check_best_of_all(found, space, energies, objective, costs, certified=True)


DDR = """
name: ddr
clock_ns: 1
compute: {name: MAC, class: intmac}
levels:
  - name: DRAM
    class: DRAM
    shared_bandwidth: 4
    row_bandwidth: 1/8
    dram: {burst_bits: 128, row_bits: 1024, activate_pj: 1000, refresh_pj_per_cycle: 2,
           layout: {Inputs: [C, K], Weights: [K]}}
  - {name: GLB, class: SRAM, capacity_bits: 16 * 1024, fanout: [{name: PE, size: 4}]}
"""


@pytest.fixture(scope="module")
def ddr(tmp_path_factory):
    path = tmp_path_factory.mktemp("dram") / "machine.yaml"
    path.write_text(DDR)
    return str(path)


def test_bursts_lie_along_the_innermost_rank_and_rows_are_filled_with_them():
    """Of 3 channels a burst of 16 words has all, for 5 columns; a row of 8 bursts has all 4 of a line and 2 lines."""
    layer = shaped("conv2d", M=40, C=3, P=12, Q=17, R=3, S=3)
    weights, inputs, outputs = (
        next(tensor for tensor in layer.tensors if tensor.name == name) for name in ("Weights", "Inputs", "Outputs")
    )
    dram = Dram(256, 2048, layout=(("Inputs", ("C",)), ("Outputs", ("M", "Q"))))
    assert dram.blocks(layer, inputs, 16) == Blocks(16, (1, 3, 1, 5), (1, 3, 2, 20))
    assert dram.blocks(layer, outputs, 16) == Blocks(16, (1, 16, 1, 1), (1, 48, 1, 2))
    assert dram.blocks(layer, weights, 16) == Blocks(16, (1, 1, 3, 3), (2, 3, 3, 3))  # as written: S innermost
    assert dram.blocks(layer, outputs, 8).burst == (1, 32, 1, 1)
    assert dram.blocks(layer, outputs, 512).words == 1
    assert replace(dram, row_bits=None).blocks(layer, inputs, 16).row is None


def test_a_burst_is_moved_for_each_tile_that_touches_it():
    """M = 12 in tiles of 3, in bursts of 4 words: tiles touch 1, 2, 2 and 1 of them; rows of 8 words 1, 1, 2 and 1."""
    dram = Dram(64, 128, activate_pj=50.0, layout=(("A", ("M",)),))
    arch = machine_with(dram, shared_bandwidth=2.0, row_bandwidth=0.25)
    batch = mapping(arch, matmul(12, 1, 1), [[4, 1, 1], [3, 1, 1]])
    costs = evaluate(batch, table(arch))
    counts = costs.counts
    assert counts.reads[0, 0].tolist() == [12, 1, 0]
    assert counts.burst_reads[0].tolist() == [6, 1, 0]
    assert counts.burst_updates[0].tolist() == [0, 0, 6]  # Z as it is written: N innermost, of which there is one
    assert counts.activations[0].tolist() == [5, 1, 5]
    words = 4 * (6 + 1 + 6)
    assert words / 2 < 11 * 4 == costs.level_cycles[0, 0]
    figures = table(arch).levels[0]
    assert costs.level_energy_pj[0, 0, 0] == pytest.approx(24 * figures.read_pj + 5 * 50)


def test_partial_sums_are_read_and_written_in_bursts():
    """K outside M: each tile of Z is written twice and read once, tiles of 3 words in bursts of 4."""
    arch = machine_with(Dram(64, None, layout=(("Z", ("M",)),)))
    batch = mapping(arch, matmul(6, 1, 2), [[2, 1, 2], [3, 1, 1]])
    counts = count(replace(batch, order=np.array([[[2, 0, 1]] * 2], np.int8)))  # K, M, N
    assert counts.burst_updates[0, 2] == 2 * (1 + 2)
    assert counts.burst_reads[0, 2] == 1 + 2
    assert not counts.activations.any()


def test_with_bursts_of_a_word_a_dram_is_as_without():
    """Figures do not change where a burst is a word, and rows cost nothing."""
    layer = shaped("conv2d", M=6, C=4, P=5, Q=3, R=3, S=1)
    for dram in (Dram(16), Dram(16, 16)):
        batch = Mapspace(machine_with(None, shared_bandwidth=3.0), layer, "ruby").sample(np.random.default_rng(1), 50)
        plain = evaluate(batch, table(batch.arch))
        arch = machine_with(dram, shared_bandwidth=3.0)
        bursts = evaluate(replace(batch, arch=arch), table(arch))
        np.testing.assert_allclose(bursts.energy_pj, plain.energy_pj, rtol=1e-12)
        np.testing.assert_array_equal(bursts.cycles, plain.cycles)
        reads, updates = plain.counts.reads[:, 0], plain.counts.updates[:, 0]
        np.testing.assert_array_equal(bursts.counts.burst_reads, reads)
        np.testing.assert_array_equal(bursts.counts.activations, reads + updates if dram.row_bits else 0 * reads)


def test_a_layout_along_the_tiles_is_better(ddr):
    """The proof takes other tiles where a burst lies along another dim, and none is better by its own figures."""
    arch, layer = load_arch(ddr), shaped("matmul", M=24, N=20, K=18)
    other = with_dram(
        arch, replace(arch.levels[0].dram, layout=(("Weights", ("M",)), ("Inputs", ("N",)), ("Outputs", ("N",))))
    )
    best = [explore(one, layer, "pfm", SearchOptions(strategy="optimal")) for one in (arch, other)]
    assert all(result.optimal for result in best)
    for own, another in ((0, 1), (1, 0)):
        moved = evaluate(replace(best[another].batch, arch=best[own].arch), best[own].table)
        assert moved.edp[0] >= best[own].edp


def test_refresh_is_paid_in_every_cycle(ddr):
    arch, layer = load_arch(ddr), matmul(4, 6, 5)
    costs = evaluate(Mapspace(arch, layer, "pfm").sample(np.random.default_rng(0), 20), table(arch))
    np.testing.assert_allclose(costs.leak_energy_pj, 2 * costs.cycles)


def test_a_report_says_how_many_and_where_they_lie(ddr):
    result = explore(ddr, "matmul_100", "pfm", SearchOptions(strategy="random", samples=500, seed=1))
    use, shown = result.dram, result_json(result)["dram"]
    share = use.words / use.burst_words
    laid = "Weights 8 of K, Inputs 8 of K, Outputs 8 of M"
    line = f"bursts       {use.bursts:,} of 128 bits, {share:.1%} of their words of use ({laid})"
    assert f"\n{line}\n" in str(result)
    assert f"\nrows         {use.rows:,} opened, " in str(result)
    assert (shown["bursts"], shown["rows"], shown["words_of_use"]) == (use.bursts, use.rows, share)
    assert shown["tensors"]["Weights"]["burst"] == {"K": 8}
    texts = [own.text for own in changes(Mapspace(result.arch, result.workload, "pfm"))]
    assert "row bandwidth of DRAM x2" in texts
    assert [text for text in texts if "innermost in" in text] == [
        "Weights with M innermost in DRAM",
        "Inputs with N innermost in DRAM",
        "Outputs with N innermost in DRAM",
    ]


def test_another_rank_innermost_leaves_the_others_as_they_are():
    layer = shaped("conv2d", M=40, C=8, P=12, Q=17, R=3, S=3)
    dram = Dram(256, 2048, layout=(("Inputs", ("C", "Q")),))
    space = Mapspace(machine_with(dram), layer, "pfm")
    laid = {own.text: own.arch.levels[0].dram for own in changes(space) if own.text.startswith("Inputs with")}
    inputs = next(tensor for tensor in layer.tensors if tensor.name == "Inputs")
    orders = {text: other.order(inputs) for text, other in laid.items()}
    assert dram.order(inputs) == [1, 3, 2, 0]
    assert orders == {
        "Inputs with Q + S innermost in DRAM": [3, 1, 2, 0],
        "Inputs with P + R innermost in DRAM": [2, 1, 3, 0],
    }


def test_a_network_adds_them_up(ddr):
    result = explore(ddr, "alexnet", "pfm", SearchOptions(strategy="random", samples=1000, seed=1))
    assert result.dram.bursts == sum(count * own.dram.bursts for own, count in result.layers)
    assert result.dram.rows == sum(count * own.dram.rows for own, count in result.layers)
    assert result_json(result)["dram"]["bursts"] == result.dram.bursts


def test_what_does_not_count_them_refuses_the_machine(ddr):
    arch = load_arch(ddr)
    (fault,) = machine_faults(arch)
    assert fault.message == "has a section dram (DRAM): bursts are counted of layers one by one, not of groups"
    with pytest.raises(ValueError, match="DRAM: bursts and rows of a dram"):
        checked(arch)
    batch = Mapspace(arch, matmul(4, 2, 3), "pfm").sample(np.random.default_rng(0), 1)
    with pytest.raises(ValueError, match="bursts and rows of a dram have no counterpart in Timeloop"):
        TimeloopNest(batch)


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ("burst_bits: 128", "burst_bits: 0", r"levels\[0\].dram.burst_bits"),
        ("row_bits: 1024", "row_bits: 1000", "must be a multiple of burst_bits, 128; got 1000"),
        ("row_bits: 1024, ", "", r"levels\[0\].dram.activate_pj.*goes with row_bits"),
        ("row_bits: 1024, activate_pj: 1000, ", "", r"levels\[0\].row_bandwidth.*goes with row_bits"),
        ("Weights: [K]", "Weights: [K, K]", "each name once; twice: K"),
        ("burst_bits: 128", "burst_bits: 8", "a burst of 8 bits has no room for a word of 16"),
        ("name: GLB,", "name: GLB, dram: {burst_bits: 128},", r"levels\[1\].dram.*of the outermost level alone"),
    ],
)
def test_faults_stand_at_their_keys(tmp_path, written, instead, message):
    assert written in DDR
    path = tmp_path / "machine.yaml"
    path.write_text(DDR.replace(written, instead))
    with pytest.raises(InputError, match=message):
        load_arch(str(path))


@pytest.mark.parametrize(
    ("instead", "message"),
    [
        ("B: [K]", 'unknown tensor "B"'),
        ("Weights: [L]", 'unknown dim "L"'),
        ("Weights: [N]", "Weights has no N; it has M, K"),
    ],
)
def test_a_layout_names_what_the_layer_has(tmp_path, instead, message):
    path = tmp_path / "machine.yaml"
    path.write_text(DDR.replace("Weights: [K]", instead))
    with pytest.raises(InputError, match=message):
        explore(str(path), "matmul_100", "pfm")


def test_a_layout_may_name_blocks_of_scales_that_a_layer_lacks(tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text(DDR.replace("Weights: [K]", "Weights: [K, K_blocks]"))
    assert explore(str(path), "matmul_100", "pfm", SearchOptions(strategy="random", samples=20)).found


def test_windows_are_looked_at_in_lots(monkeypatch):
    """However few tiles are looked at together, they are the same."""
    layer = shaped("conv2d", M=2, C=3, P=23, Q=5, R=4, S=2)
    dram = Dram(64, 256, layout=(("Inputs", ("P", "C")),))

    def counted():
        batch = Mapspace(machine_with(dram), layer, "ruby").sample(np.random.default_rng(4), 40)
        counts = count(batch)
        return np.stack([counts.burst_reads, counts.activations])

    whole = counted()
    monkeypatch.setattr("ruby_map.mapper.model.nests.blocked_ranks.LISTED", 5)
    np.testing.assert_array_equal(counted(), whole)


def test_the_executors_bursts_stand_beside_the_models(ddr):
    """A count that differs is told, though no words differ."""
    batch = Mapspace(load_arch(ddr), matmul(4, 6, 5), "pfm").sample(np.random.default_rng(0), 1)
    counts = recount(batch)
    assert comparison_json(batch, counts, simulate(batch))["equal"]
    for name in ("burst_reads", "burst_updates", "activations"):
        wrong = replace(counts, **{name: getattr(counts, name) + 1})
        assert not comparison_json(batch, wrong, simulate(batch))["equal"]
        assert f"DRAM    A        {name}" in " ".join(comparison(batch, wrong, simulate(batch)).split("\n"))


def test_a_layer_that_waits_for_bursts_stands_on_the_roof(tmp_path):
    """Its MACs per word are those per word of its bursts."""
    path = tmp_path / "machine.yaml"
    path.write_text(DDR.replace("shared_bandwidth: 4", "shared_bandwidth: 0.25"))
    result = explore(str(path), "matmul_100", "pfm", SearchOptions(strategy="random", samples=300, seed=1))
    point = roofline_point(result)
    assert point.binds == "DRAM"
    assert point.macs_per_cycle == pytest.approx(0.25 * point.intensity, rel=1e-4)


def test_differences_have_the_words_and_the_bursts(ddr):
    """M = 12 in tiles of 2 or 4: other words of A, and other bursts of them."""
    result = explore(ddr, "matmul_100", "pfm", SearchOptions(strategy="random", samples=50, seed=1))
    other = explore(ddr, "matmul_100", "pfm", SearchOptions(strategy="random", samples=50, seed=2))
    text = difference_text(result, other, ("x", "y"))
    assert text.rstrip().endswith("have equal reads, fills and updates, and of a DRAM equal bursts and rows")
    row = next(row for row in rows(result, other) if (row.level, row.tensor) == ("DRAM", "Inputs"))
    assert {change.figure for change in row.changes} >= {"reads", "burst_reads"}
    assert sum(change.energy_pj for change in row.changes) == pytest.approx(row.energy_pj)
