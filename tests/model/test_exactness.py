"""Figures of any size: reported ones are exact integers, no figure passes its bound, searches say where they round."""

import json
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper import SearchOptions, evaluate, explore, result_json
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.model.cost import evaluate as evaluate_batch
from ruby_map.mapper.model.counts import Counts, count
from ruby_map.mapper.model.exactness import HELD, RoundingWarning, exactly, figures_exact, largest
from ruby_map.mapper.model.explain import explain
from ruby_map.mapper.model.nests import ranks
from ruby_map.mapper.model.nests.context_combinations import context_combinations
from ruby_map.mapper.model.nests.contexts import Prefixes
from ruby_map.mapper.model.new_words import total
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.model.simulate import simulate
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.report.difference import difference_json, difference_text
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import InputError, Network, Tensor, Term, Workload, shaped
from typer.testing import CliRunner

from ..conftest import DEEP
from ..strategies import convolutions, machines, mappings, matmuls, plain

STARTING = ("cycles", "starts")  # figures with the cycles in which tiles begin
NO_FIGURES = ("inexact", "tiles", "crossings")
FIGURES = (*(one.name for one in fields(Counts) if one.name not in NO_FIGURES), "tile_words")
RATES = (None, 0.25, 0.7, 1 / 3, 1.0, 2.5, 3.0)
ODD = 262_145  # its cube is 1.8e16 and odd: no float64


def table(arch):
    levels = [LevelEnergy(one.name, 3.1 + i, 4.7 + i, 5.3 + i, 0.1, 1.0, "given") for i, one in enumerate(arch.levels)]
    return EnergyTable(arch.name, tuple(levels), ComputeEnergy("MAC", 0.5, 0.1, 1.0, "given"))


def machine(*fanout, **buffer):
    """Two levels, the inner one with so many instances along one axis."""
    axes = tuple(Axis("X", size) for size in fanout)
    levels = (Storage("DRAM", "DRAM", fanout=axes), Storage("GLB", "SRAM", **buffer))
    return Architecture("two", levels, Compute("MAC", "intmac"))


def mapping(arch, workload, factors):
    """One mapping that keeps everything, its loops in the order of the dims. factors: (slot, dim)"""
    dims, shape = len(workload.dims), (1, len(arch.levels))
    order = np.broadcast_to(np.arange(dims, dtype=np.int8), (*shape, dims))
    keep = np.ones((*shape, len(workload.tensors)), bool)
    return MappingBatch.of(arch, workload, np.array([factors]), order, keep)


def matmul(m, n, k):
    return Workload("matmul", tuple("MNK"), (m, n, k), (plain("A", "MK"), plain("B", "KN"), plain("Z", "MN", True)))


def window(p, r, a, b, m=1):
    """A window P*a + R*b, which M repeats."""
    inputs = Tensor("I", ((Term("P", a), Term("R", b)),))
    return Workload("window", tuple("MPR"), (m, p, r), (inputs, plain("W", "MR"), plain("O", "MP", True)))


def all_integers(figures):
    return figures.dtype == object and {type(figure) for figure in figures.ravel().tolist()} <= {int}


# The same formulas in integers and in floats


@st.composite
def costed(draw):
    """A nest of any kind on a machine with any bandwidths."""
    arch = draw(machines())
    limits = [
        {name: draw(st.sampled_from(RATES)) for name in ("read_bandwidth", "write_bandwidth", "shared_bandwidth")}
        for _ in arch.levels
    ]
    levels = tuple(replace(level, **each) for level, each in zip(arch.levels, limits, strict=True))
    return draw(mappings(arch=st.just(replace(arch, levels=levels))))


@given(costed())
def test_integers_and_floats_give_the_same_on_small_nests(batch):
    """Every count, cycles with any bandwidth, energies to the last bit; and the counts are the executor's."""
    whole = batch.own(object)
    floats, integers = count(batch), count(whole)
    truth, exact = simulate(batch), recount(whole)
    for name in FIGURES:
        assert all_integers(getattr(integers, name)), name
        assert all_integers(getattr(exact, name)), name
        np.testing.assert_array_equal(getattr(integers, name), getattr(floats, name), err_msg=name)
        if not name.startswith("origin"):  # the executor counts them at every level
            np.testing.assert_array_equal(getattr(exact, name), getattr(truth, name), err_msg=name)
    np.testing.assert_array_equal(integers.exact, floats.exact)
    options = Charges(leakage=True, hop_pj=0.3)
    one, other = (evaluate_batch(each, table(batch.arch), options) for each in (batch, whole))
    assert all_integers(other.cycles)
    assert all_integers(other.level_cycles)
    for field in (
        "cycles",
        "level_cycles",
        "energy_pj",
        "level_energy_pj",
        "interconnect_energy_pj",
        "utilization",
        "edp",
    ):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)
        assert "cycles" in field or getattr(other, field).dtype == np.float64


@given(mappings(arch=machines(bandwidths=True)))
def test_what_is_recounted_is_whole_numbers(batch):
    """Also where floats hold all figures and the integers are theirs."""
    assert figures_exact(batch.arch, batch.workload)
    assert exactly(batch) is batch
    found, truth = recount(batch), simulate(batch)
    for name in FIGURES:
        assert all_integers(getattr(found, name))
        np.testing.assert_array_equal(getattr(found, name), getattr(truth, name), err_msg=name)


# Figures beyond 2^53, worked out apart


def test_a_product_of_more_than_2_53_macs():
    """262145^3 MACs, one word at a time: each MAC reads a word of A and of B, and partial sums stay while K runs."""
    macs, batch = ODD**3, mapping(machine(), matmul(ODD, ODD, ODD), [[ODD] * 3, [1] * 3])
    assert float(macs) != macs
    found = recount(batch)
    assert found.cycles.tolist() == [macs]
    assert found.reads[0].tolist() == [[macs, macs, 0], [macs, macs, macs - ODD**2]]
    assert found.fills[0].tolist() == [[0, 0, 0], [macs, macs, 0]]
    assert found.updates[0].tolist() == [[0, 0, ODD**2], [0, 0, macs]]
    floats = count(batch)  # this is what was reported
    assert (floats.cycles[0], floats.reads[0, 0, 2]) == (macs - 1, -1)


def test_a_figure_below_2_53_with_sums_above():
    """P = R = 10^5, stride 10^9 + 1, tiles of 100 x 10, walked step by step: 72 words more were reported as exact."""
    size, stride = 10**5, 10**9 + 1
    starts = (100 * stride * np.arange(1000)[:, None] + 10 * np.arange(10**4)).ravel()
    ends = starts + 99 * stride + 10
    overlap = np.maximum(0, np.minimum(ends[1:], ends[:-1]) - np.maximum(starts[1:], starts[:-1]))
    words = int((ends - starts).sum()) - int(overlap.sum())
    assert words < HELD < int((ends - starts).sum())
    batch = mapping(machine(), window(size, size, stride, 1), [[1, 1000, 10**4], [1, 100, 10]])
    found = recount(batch)
    assert (found.exact[0], found.fills[0, 1, 0], found.reads[0, 0, 0]) == (True, words, words)
    assert count(batch).fills[0, 1, 0] == words + 72


@pytest.mark.parametrize(
    "sizes",
    [(2**17 + 1, 2**18 - 1, 2**18 + 1), (2**21 - 1, 2**21 - 1, 2**20 - 1), (2**21 - 1, 2**21 + 1, 2**21 + 1),
     (2**23 + 1, 2**23 - 1, 2**24 + 1)],
    ids=["2^53", "2^62", "2^63", "2^70"],
)  # fmt: skip
def test_products_of_any_size(sizes):
    """Spread over 6 places below DRAM with a remainder: closed forms in Python integers."""
    m, n, k = sizes
    rounds = -(-m // 6)
    batch = mapping(machine(6), matmul(m, n, k), [[rounds, n, k], [6, 1, 1], [1, 1, 1]])
    found = recount(batch)
    assert found.cycles.tolist() == [rounds * n * k]
    assert found.instances[0].tolist() == [1, 6, 6]
    assert found.reads[0].tolist() == [[m * n * k, rounds * n * k, 0], [m * n * k] * 2 + [m * n * (k - 1)]]
    assert found.updates[0].tolist() == [[0, 0, m * n], [0, 0, m * n * k]]


def words_of(m, p, r, tile_p, tile_r, a, b):
    """What a buffer with one tile of a window receives, by hand: M outside P outside R, bounds that divide."""
    length, inner, outer = a * (tile_p - 1) + b * (tile_r - 1) + 1, r // tile_r, p // tile_p

    def new(move):
        return length - max(0, length - abs(move))

    back = (inner - 1) * b * tile_r
    once = outer * (inner - 1) * new(b * tile_r) + (outer - 1) * new(a * tile_p - back)
    return length + m * once + (m - 1) * new((outer - 1) * a * tile_p + back)


@given(
    st.lists(st.integers(1, 2**20), min_size=5, max_size=5),
    st.integers(1, 2**40),
    st.integers(1, 2**40),
)
def test_windows_of_any_size(bounds, a, b):
    """Tiles and strides up to a rank of 2^62 indices, words up to 2^80, beside the sum worked by hand."""
    m, p, tile_p, r, tile_r = bounds
    workload = window(p * tile_p, r * tile_r, a, b, m)
    assume(workload.tensor_words(workload.tensors[0]) < 2**62)
    batch = mapping(machine(), workload, [[m, p, r], [1, tile_p, tile_r]])
    assert recount(batch.own(object)).fills[0, 1, 0] == words_of(*workload.sizes, tile_p, tile_r, a, b)


def test_cycles_of_a_bandwidth_are_rounded_up_exactly():
    """So many words, no float, at 0.7 words per cycle."""
    arch = machine(read_bandwidth=0.7)
    batch = mapping(arch, matmul(ODD, ODD, ODD), [[ODD] * 3, [1] * 3])
    found = evaluate_batch(exactly(batch), table(arch), None, recount(batch))
    words = 3 * ODD**3 - ODD**2
    assert found.cycles.tolist() == [-(-words * 10 // 7)]


def test_sums_of_listed_words_beyond_int64():
    """Flagged reads are sums over listed children."""
    assert total(np.full(5, 2**62 - 1)) == 5 * (2**62 - 1)
    assert total(np.arange(0)) == 0


# How large figures can get


class Seen(int):
    """An integer that takes note of the largest it ever becomes."""

    most = 0

    def _of(self, value):
        Seen.most = max(Seen.most, abs(value))
        return Seen(value)

    def __add__(self, other):
        return self._of(int(self) + int(other))

    def __sub__(self, other):
        return self._of(int(self) - int(other))

    def __rsub__(self, other):
        return self._of(int(other) - int(self))

    def __mul__(self, other):
        return self._of(int(self) * int(other))

    __radd__, __rmul__ = __add__, __mul__


def seen(numbers):
    return np.frompyfunc(Seen, 1, 1)(numbers)


@settings(max_examples=5000 if DEEP else 120)
@given(mappings(workloads=st.one_of(matmuls(), convolutions(most=9)), arch=machines(3, bandwidths=True)))
def test_no_sum_on_the_way_to_a_count_passes_the_largest(batch):
    """Every product and sum of the closed form, followed as it is computed."""
    Seen.most = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prefixes, "times", property(lambda self: seen(self.number)))
        patch.setattr(
            ranks,
            "context_combinations",
            lambda *given: (replace(met, times=seen(met.times)) for met in context_combinations(*given)),
        )
        counts = count(batch.own(object))
    assert Seen.most or sum(size > 1 for size in batch.workload.sizes) < 2
    outer, most = batch.arch.levels[0], largest(batch.workload)
    if outer.dram is not None:  # a word moves a burst at most
        most *= max(outer.blocks(batch.workload, tensor).words for tensor in batch.workload.tensors)
    assert max(Seen.most, *(getattr(counts, name).max() for name in FIGURES if name not in STARTING)) <= most
    assert counts.cycles.max() <= most * (1 + sum(cycles for _, cycles in batch.arch.starts))


def test_the_largest_is_not_far_off():
    """A word per MAC for each tensor, of the output two; a window for each MAC, three times over."""
    assert largest(matmul(3, 4, 5)) == (1 + 1 + 2) * 60
    assert largest(window(5, 3, 7, 2)) == 15 * (3 * (7 + 2) + 1 + 2)


@st.composite
def large(draw):
    """A window with figures of up to 2^52, most of them near that: a level may read and write twice as many."""
    p, r, b, m = (draw(st.integers(2, 1000)) for _ in "PRBM")
    most = (HELD // 2 // (m * p * r) - 3) // 3 - b
    return window(p, r, draw(st.integers(most - most // 8, most)), b, m)


@given(mappings(workloads=st.one_of(matmuls(6000), large()), arch=machines(most_levels=3, bandwidths=True)))
def test_where_figures_are_exact_floats_are_the_integers(batch):
    """Nests of many words; where tiles take cycles to begin, these may be too many."""
    if batch.arch.starts and not figures_exact(batch.arch, batch.workload):
        return
    assert figures_exact(batch.arch, batch.workload)
    floats, integers = count(batch), count(batch.own(object))
    for name in FIGURES:
        np.testing.assert_array_equal(getattr(integers, name), getattr(floats, name), err_msg=name)


def test_where_figures_are_exact():
    """Up to 2^53 of anything: words, cycles of a slow level, bits of a level that could hold so many."""
    fits, more = matmul(2**17, 2**17, 2**17), matmul(2**17, 2**17, 2**17 + 1)
    assert largest(fits) <= HELD < largest(more)
    assert [figures_exact(machine(), one) for one in (fits, more)] == [True, False]
    assert not figures_exact(machine(read_bandwidth=0.1), fits)
    assert figures_exact(machine(read_bandwidth=100.0), fits)
    assert not figures_exact(machine(shared_bandwidth=100.0), fits)
    assert figures_exact(machine(shared_bandwidth=100.0), matmul(2**17, 2**17, 2**16))
    assert figures_exact(machine(capacity_bits=HELD - 1), fits)
    assert not figures_exact(machine(start_cycles=1), fits)
    assert figures_exact(machine(start_cycles=3), matmul(2**17, 2**17, 2**15))
    assert not figures_exact(machine(capacity_bits=HELD), fits)
    assert figures_exact(machine(capacity_bits=HELD), matmul(64, 64, 64))


# What users see


def assert_explained(batch, counts):
    """Every figure that is explained is the one reported."""
    tensors = [tensor.name for tensor in batch.workload.tensors]
    levels = [level.name for level in batch.arch.levels]
    for part in explain(batch):
        reported = getattr(counts, part.name)[0, levels.index(part.level), tensors.index(part.tensor)]
        assert part.value == reported, part.name


@pytest.fixture(scope="module")
def product_mapping():
    return mapping(machine(), matmul(ODD, ODD, ODD), [[ODD] * 3, [1] * 3])


def test_a_reported_mapping_shows_every_digit(product_mapping):
    """As text, as JSON, explained, and beside another mapping."""
    found = evaluate(product_mapping.arch, product_mapping.workload, product_mapping, table=table(product_mapping.arch))
    macs = ODD**3
    assert found.cycles == macs
    assert f"cycles       {macs:,}" in str(found)
    assert str(found).count(f"{macs:,}") == 9  # of A and B two reads and fills, updates of Z; cycles, MACs
    shown = json.loads(json.dumps(result_json(found)))
    assert shown["cycles"] == macs
    assert shown["levels"]["GLB"]["tensors"]["Z"]["reads"] == macs - ODD**2
    assert_explained(found.batch, found.costs.counts)
    other = mapping(product_mapping.arch, product_mapping.workload, [[ODD, ODD, 1], [1, 1, ODD]])
    other = evaluate(product_mapping.arch, product_mapping.workload, other, table=found.table)
    assert difference_text(found, other, ("a", "b")).count(f"{macs:,}") == 4  # cycles of both, reads and fills
    rows = difference_json(found, other)["difference"]["rows"]
    assert {row["reads"]["difference"] for row in rows if "reads" in row} >= {ODD**2 - macs}


def test_a_dim_of_any_size_is_read_and_shown():
    """2^60 + 7 steps, from a mapping as files have it: bounds beyond 2^53 were cut there."""
    size, arch = 2**60 + 7, machine()
    workload = Workload("sum", ("K",), (size,), (plain("A", "K"), plain("Z", "K", True)))
    found = evaluate(arch, workload, mapping(arch, workload, [[size], [1]]), table=table(arch))
    assert (found.cycles, found.costs.counts.reads[0, 0, 0]) == (size, size)
    assert f"for K in 0:{size}" in str(found)
    assert explain(found.batch)[0].value == size


def test_what_does_not_fit_is_told_to_the_word():
    """Bits needed, less what there is."""
    arch = machine(capacity_bits=16)
    batch = mapping(arch, matmul(ODD, ODD, 1), [[1] * 3, [ODD, ODD, 1]])
    found = evaluate(arch, batch.workload, batch, table=table(arch))
    assert f"overflow its 1 words by {ODD**2 + 2 * ODD - 1:,} words" in found.hint


def test_sums_over_a_network_are_exact():
    """Cycles of layers, each so many times."""
    layer = shaped("matmul", M=ODD, N=ODD, K=ODD)
    options = SearchOptions(strategy="random", samples=50, victory=10**6)
    with pytest.warns(RoundingWarning, match="matmul: figures may pass 2"):
        found = explore("toy_6pe_linear", Network("net", ((layer, 3),)), "pfm", options)
    layer, _ = found.layers[0]
    assert_explained(layer.batch, layer.costs.counts)
    assert layer.cycles * 3 == found.cycles
    assert found.macs == 3 * ODD**3
    assert isinstance(found.cycles, int)


def test_points_of_a_front_are_exact():
    """Their cycles are integers, in order, and each is what its own mapping takes."""
    layer = shaped("matmul", M=ODD, N=ODD, K=ODD)
    options = SearchOptions(strategy="random", samples=3000, victory=10**6, front="energy,delay")
    with pytest.warns(RoundingWarning):
        found = explore("toy_6pe_linear", layer, "pfm", options)
    assert len(found.front) > 1
    for shown, one in zip(result_json(found)["front"], found.front, strict=True):
        assert_explained(one.batch, one.costs.counts)
        assert isinstance(shown["cycles"], int)
        assert shown["cycles"] == one.costs.cycles[0]


def test_nothing_is_proven_by_rounded_figures():
    """Beyond 2^53 a proof ends with the ideal bound and its reason, and a certificate of such a layer is refused."""
    arch = machine()
    options = SearchOptions(strategy="optimal", certify=True, time_limit=1.0)
    small, large = matmul(7, 3, 5), matmul(2**20, 2**20, 2**12)
    proven = explore(arch, small, "pfm", options, table=table(arch))
    assert proven.optimal
    with pytest.warns(RoundingWarning):
        found = explore(arch, large, "pfm", options, table=table(arch))
    assert found.found
    assert found.statistics.stopped_by == Ended.INEXACT
    assert found.certificate is None
    assert found.lower_bound == found.ideal.energy_pj * found.ideal.cycles
    forged = proven.certificate.model_copy(update={"sizes": dict(zip("MNK", large.sizes, strict=True))})
    with pytest.raises(Refused, match="may pass 2"):
        verify(forged, arch, large, table(arch))


def test_the_command_tells_once_and_its_json_stays_pure(tmp_path):
    """One line on standard error, one object on standard output; nothing where floats hold all figures."""
    (tmp_path / "large.yaml").write_text(f"shape: matmul\nsizes: {{M: {ODD}, N: {ODD}, K: {ODD}}}")
    run = partial(CliRunner().invoke, main)
    found = run(["toy_6pe_linear", str(tmp_path / "large.yaml"), "--search", "random", "--samples", "500", "--json"])
    assert found.exit_code == 0
    told = "warning: large: figures may pass 2^53, which the search rounds to compare mappings"
    assert found.stderr.splitlines() == [f"{told}; reported counts are exact"]
    assert json.loads(found.stdout)["macs"] == ODD**3
    assert run(["toy_6pe_linear", "rank1_100", "--json"]).stderr == ""


def test_a_workload_made_in_python_is_checked_as_a_file_is():
    """Indices are int64: what could pass them is refused, and not counted wrongly."""
    wide = window(2**10, 2**10, 2**53, 1)
    with pytest.raises(InputError, match=r"window: fewer than 2\*\*62 words of I are expected"):
        explore("toy_6pe_linear", wide, "pfm")
