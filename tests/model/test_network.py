"""Network energy: off by default, Timeloop's on perfect nests, worked by hand on small arrays, and its laws."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as model
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.interconnect import hops, word_hops
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.model.simulate import simulate
from ruby_map.mapper.problem.charges import Charges
from ruby_map.workloads import Tensor, Term, Workload
from typer.testing import CliRunner

from ..strategies import mappings, plain
from .test_golden import GOLDEN, expected, mapped, table

HOPS = "B15_toy3_perf_hopenergy"
WIRES = st.floats(0.001, 10)


def figures(arch):
    levels = tuple(LevelEnergy(level.name, 1.0, 2.0, 3.0, 0.0, 1.0, "given") for level in arch.levels)
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", 0.5, 0.0, 1.0, "given"))


def array(x, y, word_bits=16):
    """DRAM, and a buffer with x columns by y rows of register files and MACs."""
    glb = Storage("GLB", "SRAM", word_bits=word_bits, fanout=(Axis("column", x, "X"), Axis("row", y, "Y")))
    return Architecture("array", (Storage("DRAM", "DRAM"), glb, Storage("RF", "regfile")), Compute("MAC", "intmac"))


def spread(arch, workload, **bounds):
    """All of the workload outermost but `bounds`, DIM_AXIS=P, on the axes below the buffer."""
    factors = np.ones((1, len(arch.slots), len(workload.dims)), np.int64)
    for name, bound in bounds.items():
        dim, axis = name.split("_")
        slot = next(s for s, slot in enumerate(arch.slots) if slot.axis and slot.axis.name == axis)
        factors[0, slot, workload.dims.index(dim)] = bound
    factors[0, 0] = -(-np.array(workload.sizes) // factors[0].prod(axis=0))
    order = np.tile(np.arange(len(workload.dims), dtype=np.int8), (1, len(arch.levels), 1))
    return MappingBatch.of(arch, workload, factors, order, np.ones((1, len(arch.levels), len(workload.tensors)), bool))


MATMUL = Workload(
    "matmul", ("M", "N", "K"), (4, 4, 4), (plain("A", "MK"), plain("B", "KN"), plain("Z", "MN", output=True))
)
WINDOW = Workload(
    "conv",
    ("P", "R"),
    (4, 3),
    (
        Tensor("I", ((Term("P"), Term("R")),)),
        plain("W", "R"),
        plain("O", "P", output=True),
    ),
)


def crossed(batch, counts=None):
    """Words that cross the arrays, times their hops."""
    return word_hops(batch, (counts or count(batch)).crossings().words)


def hop_list(batch, level=1):
    return [hops(batch, level, tensor)[0] for tensor in batch.workload.tensors]


@pytest.mark.parametrize("options", [Charges(hop_pj=0.05), Charges(wire_pj_per_bit_mm=0.05 / 16 / 0.5, tile_mm=0.5)])
def test_network_energy_is_timeloops(options):
    """0.05 pJ per hop: Timeloop's network energy and total, and ours to rounding; its default counts none."""
    theirs = expected(HOPS)["timeloop"]
    costs = evaluate(mapped(HOPS), table(HOPS), options)
    assert costs.interconnect_energy_pj.sum() == pytest.approx(theirs["network_energy_pj"], rel=1e-12)
    assert costs.energy_pj[0] == pytest.approx(theirs["energy_pj"], rel=1e-12)
    without = evaluate(mapped(HOPS), table(HOPS))
    assert without.energy_pj[0] == pytest.approx(theirs["energy_pj"] - theirs["network_energy_pj"], rel=1e-12)


def test_hops_of_timeloops_example():
    """A 2 x 2 mesh, M over the columns, K over the rows: 1 hop for A, 2 for B along a row, 1.5 for Z down a column."""
    assert hop_list(spread(array(2, 2), MATMUL, M_column=2, K_row=2)) == [1.0, 2.0, 1.5]


@pytest.mark.parametrize(
    ("bounds", "expected_hops"),
    [
        # a row of its own way up or down for each word, 1.5 and 0.5 from the middle; B climbs the one column
        ({"M_row": 4}, [1.0, 3.0, 1.0]),
        # along the columns half a hop from the middle to a row: 0 to 3 to the right, B to all four columns
        ({"M_column": 4}, [1.5 + 1.5, 3 + 4 * 1.5, 1.5 + 1.5]),
        # the first dim is innermost: M to columns 0 and 1 of a half, N to the halves; A goes to columns m and m + 2
        ({"M_column": 2, "N_column": 2}, [2.5 + 2 * 1.5, (1 + 3) / 2 + 2 * 1.5, 1.5 + 1.5]),
        ({}, [1.5, 1.5, 1.5]),
    ],
)
def test_hops_by_hand(bounds, expected_hops):
    """On a mesh of 4 by 4."""
    assert hop_list(spread(array(4, 4), MATMUL, **bounds)) == expected_hops


def test_places_on_a_diagonal_share_their_input():
    """P = 2 columns and R = 2 rows need inputs 0, 1, 1, 2: three groups, the middle one of two places."""
    batch = spread(array(2, 2), WINDOW, P_column=2, R_row=2)
    middle = 1 + 0.5 + 0.5  # to column 1; in each column half a hop up or down
    assert hop_list(batch)[0] == (0.5 + middle + 1.5) / 3


def test_a_stride_parts_the_diagonal():
    """With stride 2 the four places need four inputs."""
    tensors = (Tensor("I", ((Term("P", 2), Term("R")),)), *WINDOW.tensors[1:])
    batch = spread(array(2, 2), replace(WINDOW, tensors=tensors), P_column=2, R_row=2)
    assert hop_list(batch)[0] == (0.5 + 0.5 + 1.5 + 1.5) / 4


def test_words_pass_the_array_of_a_level_that_they_bypass():
    """B bypasses the buffer: its 16 words go from DRAM to all 4 columns, and still through the buffer's array."""
    batch = spread(array(4, 1), MATMUL, M_column=4)
    batch.keep[0, 1, 1] = False
    found = crossed(batch)[0]
    assert count(batch).reads[0, :, 1].tolist() == [16, 0, 64]
    assert found[:, 1].tolist() == [0, 16 * 3, 0]


def test_a_word_passes_the_arrays_of_all_levels_between():
    """Two buffers below DRAM, M over both and over the columns of each; B bypasses them: 16 words, then 2 times 16."""
    deep = array(2, 1)
    deep = replace(deep, levels=(replace(deep.levels[0], fanout=(Axis("buffer", 2, "X"),)), *deep.levels[1:]))
    batch = spread(deep, MATMUL, M_buffer=2, M_column=2)
    batch.keep[0, 1, 1] = False
    assert count(batch).reads[0, :, 1].tolist() == [16, 0, 64]
    assert crossed(batch)[0, :, 1].tolist() == [16 * 1, 32 * 1, 0]


def window_of_three():
    """A window A + B + 2 C of 3, 4 and 2: B over the arrays below the outer level, A and C over the array of a level
    that keeps nothing."""
    dims, sizes = ("A", "B", "C"), (3, 4, 2)
    weights = Tensor("Weights", ((Term("A"), Term("B"), Term("C", 2)),))
    workload = Workload("w", dims, sizes, (plain("Inputs", "AB"), weights, plain("Outputs", "C", True)))
    outer = Storage("L0", "DRAM", fanout=(Axis("a00", 4, "Y"),))
    inner = Storage("L1", "SRAM", fanout=(Axis("a10", 3, "X"), Axis("a11", 2, "Y")))
    factors = np.array([[[1, 1, 1], [1, 4, 1], [1, 1, 1], [3, 1, 1], [1, 1, 2]]])
    keep = np.array([[[True] * 3, [False] * 3]])
    arch = Architecture("machine", (outer, inner), Compute("MAC", "intmac"))
    return MappingBatch.of(arch, workload, factors, np.zeros((1, 2, 3), np.int8) + np.arange(3, dtype=np.int8), keep)


def test_a_word_crosses_an_array_that_it_passes_once_for_all_its_places():
    """A + 2 C takes 5 values at 6 places, so 4 times 5 words pass the inner arrays; the closed form counts 6."""
    batch = window_of_three()
    closed, exact, executed = count(batch).crossings(), recount(batch).crossings(), simulate(batch).crossings()
    assert (closed.words[0, 1, 1], closed.exact[0]) == (24, False)
    assert (exact.words[0, 1, 1], exact.exact[0]) == (20, True)
    assert executed.words[0].tolist() == exact.words[0].tolist() == [[12, 8, 2], [12, 20, 8]]
    wires, every = Charges(hop_pj=1.0), (recount(batch), simulate(batch))
    costs = [evaluate(batch, figures(batch.arch), wires, counts) for counts in every]
    assert costs[0].interconnect_energy_pj.tolist() == costs[1].interconnect_energy_pj.tolist()
    assert [each.exact[0] for each in costs] == [True, True]
    assert not evaluate(batch, figures(batch.arch), wires).exact[0]


def test_places_on_one_axis_share_their_input():
    """P and R along one axis need 0, 1, 1, 2: the middle two are one group."""
    batch = spread(array(4, 1), WINDOW, P_column=2, R_column=2)
    assert hop_list(batch)[0] == (0 + 2 + 3) / 3


def test_a_window_with_a_dim_on_two_axes():
    """P is 2 p + q, with p and R along the columns and q along the rows: five inputs for eight places."""
    batch = spread(array(4, 2), WINDOW, P_column=2, R_column=2, P_row=2)
    needs = {}
    for p, r, q in np.ndindex(2, 2, 2):
        needs.setdefault(2 * p + q + r, []).append((p + 2 * r, q))
    assert sorted(needs) == [0, 1, 2, 3, 4]
    assert hop_list(batch)[0] == np.mean([path_length(places, 2) for places in needs.values()])


@settings(max_examples=50)
@given(mappings())
def test_off_it_adds_nothing(batch):
    """Without figures, or with one of 0, energies are to the bit what they were."""
    plain_costs = evaluate(batch, figures(batch.arch))
    assert not plain_costs.interconnect_energy_pj.any()
    parts = plain_costs.level_energy_pj.sum(axis=(1, 2)) + plain_costs.compute_energy_pj
    assert (plain_costs.energy_pj == parts).all()
    zero = evaluate(batch, figures(batch.arch), Charges(wire_pj_per_bit_mm=1.0, tile_mm=0.0))
    assert (zero.energy_pj == plain_costs.energy_pj).all()


@settings(max_examples=30)
@given(mappings(), WIRES, WIRES, st.floats(1, 100))
def test_linear_in_each_factor(batch, wire, tile, times):
    """So many times the energy per bit and mm, or the length, or the energy per hop, is so many times the energy."""

    def network(**options):
        return evaluate(batch, figures(batch.arch), Charges(**options)).interconnect_energy_pj

    one = network(wire_pj_per_bit_mm=wire, tile_mm=tile)
    assert (one >= 0).all()
    np.testing.assert_allclose(network(wire_pj_per_bit_mm=wire * times, tile_mm=tile), one * times)
    np.testing.assert_allclose(network(wire_pj_per_bit_mm=wire, tile_mm=tile * times), one * times)
    np.testing.assert_allclose(network(hop_pj=16 * wire * tile), one)  # words of 16 bits


def test_twice_the_bits_are_twice_the_wires():
    """Wires are charged by the width of the words that the level hands out; a hop with an energy of its own is not."""
    wires, flat = Charges(wire_pj_per_bit_mm=0.1, tile_mm=1), Charges(hop_pj=1.6)
    narrow, wide = (spread(array(4, 2, bits), MATMUL, M_column=4, K_row=2) for bits in (16, 32))

    def network(batch, options):
        return evaluate(batch, figures(batch.arch), options).interconnect_energy_pj.sum()

    assert network(wide, wires) == pytest.approx(2 * network(narrow, wires))
    assert network(wide, flat) == pytest.approx(network(narrow, flat))


@settings(max_examples=30)
@given(mappings())
def test_an_array_of_one_place_has_no_hops(batch):
    """Words that go straight down are not charged."""
    single = tuple(
        replace(level, fanout=tuple(replace(axis, size=1) for axis in level.fanout)) for level in batch.arch.levels
    )
    batch = replace(batch, arch=replace(batch.arch, levels=single))
    assert not crossed(batch).any()


@settings(max_examples=30)
@given(mappings(n=3), st.integers(0, 2), st.integers(1, 1000))
def test_more_words_never_cost_less(batch, where, more):
    """The network energy of each mapping grows with the words that its levels hand out, and with theirs alone."""
    words = count(batch).crossings().words
    others = words.copy()
    others[where] += more * (words[where] > 0)
    before, after = word_hops(batch, words), word_hops(batch, others)
    assert (after[where] >= before[where]).all()
    others = [i for i in range(len(batch)) if i != where]
    assert (after[others] == before[others]).all()


@settings(max_examples=30)
@given(mappings(n=4))
def test_a_batch_gives_what_its_mappings_give_alone(batch):
    """Hops are shared by mappings of equal bounds, and by those alone."""
    together = crossed(batch)
    for i in range(len(batch)):
        alone = batch.take([i])
        np.testing.assert_array_equal(together[i], crossed(alone)[0])


def path_length(places, height):
    """The tree of one group, step by step: along the middle row, then up and down; half hops where it has none."""
    middle, walked = (height - 1) / 2, float(max(x for x, _ in places))
    for column in {x for x, _ in places}:
        rows = [y for x, y in places if x == column]
        walked += max(0, middle - min(rows)) + max(0, max(rows) - middle)
    return walked


def groups(batch, at, tensor):
    """The places (x, y) below level `at` by the first index of their tile of `tensor`, one by one."""
    slots = [s for s, slot in enumerate(batch.arch.slots) if slot.level == at and slot.spatial]
    bounds, dims = batch.factors[0, slots], batch.workload.dims
    found = {}
    for index in np.ndindex(*bounds.reshape(-1)):
        digits = np.array(index).reshape(bounds.shape)
        place = {"X": 0, "Y": 0}
        for i, axis in enumerate(batch.arch.levels[at].fanout):  # the outer axis first
            along = 0
            for d in reversed(range(len(dims))):  # the first dim innermost
                along = along * int(bounds[i, d]) + int(digits[i, d])
            place[axis.mesh] = place[axis.mesh] * axis.size + along
        first = {
            dim: sum(int(digit) * int(batch.tables[d].strides[batch.rows[0, d], s]) for digit, s in
                     zip(digits[:, d], slots, strict=True))
            for d, dim in enumerate(dims)
        }  # fmt: skip
        tile = tuple(sum(term.coef * first[term.dim] for term in rank) for rank in tensor.ranks)
        found.setdefault(tile, []).append((place["X"], place["Y"]))
    return list(found.values())


@st.composite
def fitted(draw):
    """A mapping, windows included, on arrays a little larger than its bounds, of columns and rows."""
    batch = draw(mappings())
    levels = []
    for i, level in enumerate(batch.arch.levels):
        slots = [s for s, slot in enumerate(batch.arch.slots) if slot.level == i and slot.spatial]
        sizes = [int(batch.factors[0, s].prod()) + draw(st.integers(0, 3)) for s in slots]
        axes = [replace(axis, size=n, mesh=draw(st.sampled_from("XY"))) for axis, n in
                zip(level.fanout, sizes, strict=True)]  # fmt: skip
        levels.append(replace(level, fanout=tuple(axes)))
    return replace(batch, arch=replace(batch.arch, levels=tuple(levels)))


@settings(max_examples=100)
@given(fitted())
def test_hops_are_those_of_trees_walked_place_by_place(batch):
    """Places with the same tile are a group, and the tree of each group is drawn on its own."""
    for at, level in enumerate(batch.arch.levels):
        if level.fanout:
            height = int(np.prod([axis.size for axis in level.fanout if axis.mesh == "Y"]))
            for tensor in batch.workload.tensors:
                walked = [path_length(places, height) for places in groups(batch, at, tensor)]
                assert hops(batch, at, tensor)[0] == pytest.approx(np.mean(walked))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"wire_pj_per_bit_mm": -1.0, "tile_mm": 1.0}, "wire-pj-per-bit-mm: must be a number from 0 to 1e+30, got -1"),
        ({"wire_pj_per_bit_mm": 1.0, "tile_mm": float("nan")}, "tile-mm: must be a number from 0 to 1e+30, got nan"),
        ({"wire_pj_per_bit_mm": 1.0}, "tile-mm: is missing: wire-pj-per-bit-mm"),
        ({"tile_mm": 1.0}, "wire-pj-per-bit-mm: is missing: tile-mm"),
        ({"wire_pj_per_bit_mm": 1.0, "tile_mm": 1.0, "hop_pj": 1.0}, "hop-pj: does not go with"),
        ({"hop_pj": float("inf")}, "hop-pj: must be a number"),
        ({"hop_pj": 1e308}, "hop-pj: must be a number from 0 to 1e+30, got 1e+308"),
    ],
)
def test_bad_figures_are_refused(options, told):
    """Negative or no numbers, half of a pair, and two prices of one hop."""
    assert any(told in str(fault) for fault in Charges(**options).faults())
    assert not Charges(wire_pj_per_bit_mm=0.1, tile_mm=1.0).faults() + Charges(hop_pj=1.0).faults()


def run(*more):
    case = GOLDEN / HOPS
    files = [str(case / f"{name}.yaml") for name in ("arch", "problem", "mapping")]
    return CliRunner().invoke(model, [*files, "--ert", str(case / "ert.yaml"), *more])


def test_every_report_says_whether_the_network_counts():
    """In text and JSON, on and off; the row is part of the total."""
    assert "network      energy not counted" in run().stdout
    on = run("--wire-pj-per-bit-mm", "0.1", "--tile-mm", "0.03125")
    assert "network      0.1 pJ per bit and mm, tiles of 0.03125 mm" in on.stdout
    assert re.search(r"^network +0\.3264 +0\.2%$", on.stdout, re.MULTILINE)
    off = json.loads(run("--json").stdout)
    assert (off["network"]["counted"], off["network"]["energy_pj"]) == (False, 0)
    told = json.loads(run("--json", "--hop-pj", "0.05").stdout)
    assert told["network"]["hop_pj"] == 0.05
    assert told["network"]["levels"]["GLB"] == told["network"]["energy_pj"] == pytest.approx(326.4)
    assert told["energy_pj"] == pytest.approx(off["energy_pj"] + 326.4)


def test_two_mappings_are_compared_with_their_networks():
    """ruby-model with two mappings: a line of what the hops come to."""
    mapping = str(GOLDEN / HOPS / "mapping.yaml")
    assert re.search(r"of network \[nJ\] +0\.3264 +0\.3264", run(mapping, "--hop-pj", "0.05").stdout)
    assert "of network" not in run(mapping).stdout


@pytest.mark.parametrize("command", [model, ruby_map])
def test_commands_refuse_bad_figures(command):
    """Status 2, and both faults at once."""
    mapping = [str(GOLDEN / HOPS / "mapping.yaml")] if command is model else []
    bad = ["--tile-mm", "-1", "--hop-pj", "-2"]
    told = CliRunner().invoke(command, ["toy_6pe_linear", "rank1_100", *mapping, *bad])
    assert told.exit_code == 2
    assert "tile-mm: must be a number from 0 to 1e+30, got -1" in told.stderr
    assert "hop-pj: must be a number from 0 to 1e+30, got -2" in told.stderr


def test_a_search_charges_what_it_reports(tmp_path):
    """ruby-map with wires: the best mapping, written and counted again by ruby-model, has the energy of the search."""
    charged = ["--wire-pj-per-bit-mm", "0.2", "--tile-mm", "0.5", "--leakage"]
    layer = ["eyeriss_like", "alexnet/conv5"]
    search = ["--search", "random", "--samples", "4096", "--out", str(tmp_path / "out"), "--json"]
    found = json.loads(CliRunner().invoke(ruby_map, [*layer, *search, *charged]).stdout)
    written = str(tmp_path / "out" / "mapping.yaml")
    again = json.loads(CliRunner().invoke(model, [*layer, written, "--json", *charged]).stdout)
    assert found["network"]["counted"]
    assert found["network"]["energy_pj"] > 0
    assert (found["energy_pj"], found["network"]) == (again["energy_pj"], again["network"])
    without = json.loads(CliRunner().invoke(model, [*layer, written, "--json"]).stdout)
    leaks = found["energy_pj"] - without["energy_pj"] - found["network"]["energy_pj"]
    assert leaks > 0
