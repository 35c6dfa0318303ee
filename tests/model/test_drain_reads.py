"""Reads of drained words: by hand, as a part of the updates of the parents, in every command, off by default."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, stacked_table
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import count, evaluate, recount, simulate
from ruby_map.mapper.model.sanity import check_physical
from ruby_map.mapper.problem import Charges, fingerprint
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from typer.testing import CliRunner

from ..searches import optimal
from ..strategies import mappings
from .test_cost import machine, mapping, matmul, table

GOLDEN = Path(__file__).parents[1] / "golden"
DRAINS = Charges(drain_reads=True)


def spilling(**buffer):
    """A product of M = 2 and K = 3, one word of each tensor at a time: K outside M, so that Z goes up each time."""
    arch = machine(fanout=(), **buffer)
    batch = mapping(arch, matmul(2, 1, 3), [[2, 1, 3], [1, 1, 1]])
    return replace(batch, order=np.array([[[2, 0, 1], [0, 1, 2]]], np.int8))


def test_each_word_that_moves_up_is_read_once():
    """6 steps, each with another word of Z: 6 go up, of which the 4 that are no first ones come back in."""
    batch = spilling()
    off, on = (evaluate(batch, table(batch.arch), options) for options in (None, DRAINS))
    z = 2
    assert (off.counts.fills[0, 1, z], off.counts.updates[0, 0, z], off.counts.reads[0, 1, z]) == (4, 6, 4)
    assert on.counts.reads[0, 1, z] == 4 + 6
    assert (on.counts.reads[0, 0] == off.counts.reads[0, 0]).all()  # nothing is outside of DRAM
    assert on.energy_pj[0] - off.energy_pj[0] == pytest.approx(6 * 20)  # the buffer's read_pj
    assert on.level_energy_pj[0, 1, z] - off.level_energy_pj[0, 1, z] == pytest.approx(6 * 20)


def test_the_bandwidth_of_the_level_that_drains():
    """16 words read without them, 6 of A, 6 of B, 4 of Z; 19 written, 6 of A, 3 of B, 10 of Z."""
    for side, words in (("read_bandwidth", (16, 22)), ("write_bandwidth", (19, 19))):
        batch = spilling(**{side: 1.0})
        found = [evaluate(batch, table(batch.arch), options).cycles[0] for options in (None, DRAINS)]
        assert tuple(found) == words


def test_what_a_spatial_reduction_adds_up_is_read_at_each_instance():
    """K over 4 registers: each passes up its own 3 words, which the buffer takes as 3."""
    levels = (Storage("GLB", "SRAM", fanout=(Axis("PE", 4),)), Storage("RF", "regfile"))
    arch = Architecture("sum", levels, Compute("MAC", "intmac"))
    batch = mapping(arch, matmul(3, 1, 4), [[3, 1, 1], [1, 1, 4], [1, 1, 1]])
    counts = evaluate(batch, table(arch), DRAINS).counts
    assert counts.updates[0, 0, 2] == 3
    assert counts.reads[0, 1, 2] == 12


@given(mappings(n=2))
def test_reads_of_outputs_at_inner_keepers_alone(batch):
    """What comes in or begins leaves; MACs and the outermost level pass nothing up; hops are as they were."""
    off, on = (evaluate(batch, table(batch.arch), options) for options in (None, DRAINS))
    more = on.counts.reads - off.counts.reads
    for v, tensor in enumerate(batch.workload.tensors):
        inner = batch.keep[:, :, v] & (np.arange(len(batch.arch.levels)) > 0) & tensor.output
        assert (more[:, :, v][~inner] == 0).all()
        assert (more[:, :, v][inner] >= (off.counts.fills + 1)[:, :, v][inner]).all()
    assert (on.cycles >= off.cycles).all()
    assert (on.counts.crossings().words == off.counts.crossings().words).all()
    check_physical(batch, on)


@given(mappings())
def test_counting_them_twice_changes_nothing(batch):
    """Counts that have them as reads stay as they are, those of the model, the exact ones and the executor's."""
    for counts in (count(batch), recount(batch), simulate(batch)):
        once = counts.with_drains()
        twice = once.with_drains()
        for name in ("reads", "origin_reads", "tile_words"):
            np.testing.assert_array_equal(getattr(once, name), getattr(twice, name))
        np.testing.assert_array_equal(once.tile_words, counts.tile_words)


# The same energies by update figures that contain the read


def symmetric(buffer, registers, sizes):
    """A machine of two placements with plain figures: a read costs what a write costs. N and M over a grid."""
    axes = tuple(Axis(name, 4, name, LoopConstraint(dims=(dim,))) for name, dim in (("X", "N"), ("Y", "M")))
    tensors = frozenset("ABZ")
    levels = (
        Storage("DRAM", "DRAM"),
        Storage("GLB", "SRAM", capacity_bits=16 * 400, keep=tensors, fanout=axes, placement=buffer),
        Storage("RF", "regfile", capacity_bits=16 * 12, keep=tensors, placement=registers),
    )
    return Mapspace(Architecture("grid", levels, Compute("MAC", "intmac")), matmul(*sizes), "ruby")


def energies(space, updates):
    read = (64.0, 2.02, 0.96)
    levels = zip(("DRAM", "GLB", "RF"), read, updates, strict=True)
    rows = tuple(LevelEnergy(name, pj, pj, update, 0.0, 1.0, "given") for name, pj, update in levels)
    return stacked_table(EnergyTable("grid", rows, ComputeEnergy("MAC", 0.21, 0.0, 1.0, "given")), space.arch)


@pytest.mark.parametrize("placement", ["even", "uneven"])
def test_updates_that_contain_the_read_below_cost_the_same(placement):
    """DRAM 64 + GLB 2.02 = 66.02, GLB 2.02 + RF 0.96 = 2.98: no reduction, so each word read below is one update."""
    space = symmetric(placement, placement, (19, 17, 11))
    plain, together = energies(space, (64.0, 2.02, 0.96)), energies(space, (66.02, 2.98, 0.96))
    for seed in range(3):
        batch = space.sample(np.random.default_rng(seed), 2_000)
        on, off = evaluate(batch, plain, DRAINS), evaluate(batch, together)
        np.testing.assert_allclose(on.energy_pj, off.energy_pj, rtol=1e-12)
        assert (evaluate(batch, plain).energy_pj < off.energy_pj).all()


@pytest.mark.parametrize("placements", [("even", "even"), ("even", "uneven"), ("uneven", "even")], ids="-".join)
def test_their_proofs_find_the_same_least(placements):
    """With the figures of either kind."""
    space = symmetric(*placements, (4, 3, 2))
    figures = {DRAINS: energies(space, (64.0, 2.02, 0.96)), Charges(): energies(space, (66.02, 2.98, 0.96))}
    found = [optimal(space, table, SearchOptions(strategy="optimal"), costs) for costs, table in figures.items()]
    assert all(each.optimal for each in found)
    assert found[0].lower_bound == pytest.approx(found[1].lower_bound, rel=1e-9)


def test_too_few_reads_are_an_internal_error():
    """An inner keeper has read every word of the output at least once."""
    batch = spilling()
    costs = evaluate(batch, table(batch.arch), DRAINS)
    costs.counts.reads[0, 1, 2] = 1
    with pytest.raises(InternalError, match="GLB moves 1 words of Z, which has 2"):
        check_physical(batch, costs)


# Commands


def model(*more):
    """What ruby-model says of a golden case with partial sums that spill."""
    case = GOLDEN / "B09_toy3_imp_psum_spill"
    files = [str(case / f"{name}.yaml") for name in ("arch", "problem", "mapping")]
    found = CliRunner().invoke(ruby_model, [*files, "--ert", str(case / "ert.yaml"), *more])
    assert found.exit_code == 0, found.stderr
    return found.stdout


def test_reports_show_the_reads():
    """In text and JSON, beside the executor's and explained; without the option nothing speaks of them."""
    off, on = json.loads(model("--json")), json.loads(model("--json", "--drain-reads", "--simulate", "--explain"))
    assert on["drain_reads"] is True
    assert "drain_reads" not in off
    assert "drain" not in model()
    assert re.search(r"^drain reads  counted$", model("--drain-reads"), re.MULTILINE)
    before, after = (each["levels"]["RF"]["tensors"]["Z"] for each in (off, on))
    reads = after["reads"] - before["reads"]
    assert reads > before["fills"]
    assert on["energy_pj"] > off["energy_pj"]
    assert on["simulated"]["equal"] is True
    assert f"Z: reads of RF = {after['reads']:,}" in on["explanation"]
    assert any("(moved up: sizes of all tiles moved in)" in line for line in on["explanation"])


def test_two_mappings_are_compared_with_their_reads():
    """A comparison with itself has no differences; its totals are those of the report."""
    mapping = str(GOLDEN / "B09_toy3_imp_psum_spill/mapping.yaml")
    found = json.loads(model(mapping, "--json", "--drain-reads"))
    assert found["a"]["energy_pj"] == json.loads(model("--json", "--drain-reads"))["energy_pj"]


def test_a_search_charges_what_it_reports(tmp_path):
    """ruby-map with drained words: the best mapping, counted again by ruby-model, has the energy of the search."""
    layer = ["eyeriss_like", "alexnet/conv5"]
    search = ["--search", "random", "--samples", "4096", "--out", str(tmp_path / "out"), "--json", "--drain-reads"]
    found = json.loads(CliRunner().invoke(ruby_map, [*layer, *search]).stdout)
    written = str(tmp_path / "out" / "mapping.yaml")
    again = json.loads(CliRunner().invoke(ruby_model, [*layer, written, "--json", "--drain-reads"]).stdout)
    assert (found["energy_pj"], found["ideal"]) == (again["energy_pj"], again["ideal"])
    without = json.loads(CliRunner().invoke(ruby_model, [*layer, written, "--json"]).stdout)
    assert found["energy_pj"] > without["energy_pj"]
    assert found["ideal"]["energy_pj"] >= without["ideal"]["energy_pj"]


@given(st.booleans(), st.sampled_from([0.0, 2.0]))
def test_state_on_disk_from_before_is_of_the_same_costs(leakage, hop_pj):
    """The hash of a checkpoint speaks of drained words only where they count."""
    costs = Charges(leakage, hop_pj=hop_pj)
    assert fingerprint(Charges()) == "d2371b11dacf34e2"  # of tests/runtime/state/checkpoint.sqlite
    assert fingerprint(costs) != fingerprint(replace(costs, drain_reads=True))
