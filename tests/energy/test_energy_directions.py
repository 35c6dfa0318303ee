"""What is changed in an architecture's YAML changes energy and area in the expected direction; tables survive files."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import parse_arch
from ruby_map.arch.timeloop import read_timeloop_arch
from ruby_map.energy import default_table, energy_table, write_art, write_ert
from ruby_map.energy.grid import grid
from ruby_map.mapper.mapping.timeloop_read import read_mapping
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.problem.charges import Charges
from ruby_map.workloads import parse_yaml, read_yaml
from ruby_map.workloads.timeloop import read_timeloop_problem

GOLDEN = Path(__file__).parents[1] / "golden"
EVERYTHING = ("read_pj", "write_pj", "update_pj", "leak_pj_per_cycle", "area_um2")


@cache
def table(cls="SRAM", capacity=65536, width=64, banks=1, ports=2, technology="45nm", bits=16):
    """The figures of a machine as YAML says it: one memory, one MAC unit."""
    level = f"name: M, class: {cls}, capacity_bytes: {capacity}, width_bits: {width}, word_bits: 8"
    text = f"""
name: one
technology: {technology}
levels:
  - {{name: DRAM, class: DRAM, width_bits: {width}, word_bits: 8}}
  - {{{level}, banks: {banks}, ports: {ports}}}
compute: {{name: MAC, class: intmac, word_bits: {bits}}}
"""
    return default_table(parse_arch(parse_yaml(text, "one.yaml")))


def never_less(one, other, names=EVERYTHING):
    """Whether no figure of `other` is below that of `one`, but for rounding."""
    return all(getattr(one, name) <= getattr(other, name) * (1 + 1e-12) for name in names)


capacities = st.integers(11, 21).flatmap(lambda power: st.sampled_from([2**power, 3 * 2 ** (power - 1)]))
memories = st.sampled_from(["SRAM", "smart_buffer", "regfile", "smart_regfile"])


@given(memories, capacities, capacities, st.sampled_from([16, 64, 256]), st.sampled_from([1, 2]))
def test_capacity(cls, one, other, width, ports):
    """A memory of more bytes costs no less in any figure, and more in area."""
    small, large = (table(cls, size, width, ports=ports).levels[1] for size in sorted((one, other)))
    assert never_less(small, large)
    assert (small.area_um2 < large.area_um2) == (one != other)


@given(memories, capacities, st.floats(16, 130), st.floats(16, 130))
def test_technology(cls, capacity, one, other):
    """A finer node costs less in energy and area, memory and MAC alike; DRAM stays (leakage has no rule)"""
    fine, coarse = (table(cls, capacity, technology=f"{round(node, 3)}nm") for node in sorted((one, other)))
    figures = ("read_pj", "write_pj", "update_pj", "area_um2")
    assert never_less(fine.levels[1], coarse.levels[1], figures)
    assert fine.compute.compute_pj <= coarse.compute.compute_pj
    assert fine.compute.area_um2 <= coarse.compute.area_um2
    assert fine.levels[0] == coarse.levels[0]
    if round(one, 3) != round(other, 3):
        assert fine.levels[1].read_pj < coarse.levels[1].read_pj


@given(st.integers(1, 64), st.integers(1, 64))
def test_bits_of_a_mac(one, other):
    """A MAC of more bits costs more."""
    few, many = (table(bits=bits).compute for bits in sorted((one, other)))
    assert (few.compute_pj < many.compute_pj) == (few.area_um2 < many.area_um2) == (one != other)


@pytest.mark.parametrize("cls", ["regfile", "smart_regfile"])
@given(words=st.integers(1, 8), depth=st.integers(2, 512))
def test_width_of_a_register_file(cls, words, depth):
    """At one depth, a wider register file costs more, and so does a wider DRAM."""
    narrow, wide = (table(cls, depth * width // 8, width).levels for width in (8 * words, 8 * words + 8))
    assert narrow[1].read_pj < wide[1].read_pj
    assert narrow[1].area_um2 < wide[1].area_um2
    assert narrow[0].read_pj < wide[0].read_pj


def test_width_of_an_sram():
    """At one capacity reading 256 bits costs more than reading 16, though a doubling alone may cost less; at less per
    bit."""
    pairs = [
        (found, grid().get(replace(point, width_bits=256))) for point, found in grid().items() if point.width_bits == 16
    ]
    pairs = [(narrow, wide) for narrow, wide in pairs if wide]
    assert len(pairs) > 60
    assert all(narrow.read_pj < wide.read_pj < 16 * narrow.read_pj for narrow, wide in pairs)
    assert all(narrow.write_pj < wide.write_pj < 16 * narrow.write_pj for narrow, wide in pairs)


@given(
    st.sampled_from(["SRAM", "smart_buffer"]),
    st.integers(16, 21),
    st.sampled_from([32, 64, 256]),
    st.sampled_from([45, 65]),
)
def test_banks_and_ports(cls, power, width, node):
    """More banks leak more (their energy and area may fall or rise); a second port costs energy and area."""
    few, some, many = (table(cls, 2**power, width, banks, technology=node).levels[1] for banks in (1, 4, 32))
    assert few.leak_pj_per_cycle < some.leak_pj_per_cycle < many.leak_pj_per_cycle
    assert len({few.read_pj, some.read_pj, many.read_pj}) == len({few.area_um2, some.area_um2, many.area_um2}) == 3
    single, double = (table(cls, 2**power, width, 1, ports, node).levels[1] for ports in (1, 2))
    assert single.read_pj < double.read_pj
    assert single.area_um2 < double.area_um2


@pytest.mark.parametrize(
    "case", ["D01_eyeriss_perf_r50_3x3_64", "D10_eyeriss_imp_everything", "E07_simba_imp_C3_conv1"]
)
def test_a_table_through_files_costs_the_same(case, tmp_path):
    """Table -> ERT and ART -> read back: every figure, and every cost of a mapping, is the same to the last bit."""
    arch = read_timeloop_arch(read_yaml(GOLDEN / case / "arch.yaml"))
    workload = read_timeloop_problem(read_yaml(GOLDEN / case / "problem.yaml"))
    batch = read_mapping(GOLDEN / case / "mapping.yaml", arch, workload)
    told = default_table(arch)
    write_ert(told, tmp_path / "ert.yaml")
    write_art(told, tmp_path / "art.yaml")
    back = energy_table(arch, tmp_path / "ert.yaml", tmp_path / "art.yaml")
    mac = replace(told.compute, by_bits=None)  # an ERT has one figure for all widths
    for one, other in zip((*told.levels, mac), (*back.levels, back.compute), strict=True):
        assert replace(other, source=one.source) == one
    leaking = Charges(leakage=True)
    one, other = evaluate(batch, told, leaking), evaluate(batch, back, leaking)
    assert one.energy_pj[0] == other.energy_pj[0]
    assert one.edp[0] == other.edp[0]
    assert (one.level_energy_pj == other.level_energy_pj).all()
    assert (one.compute_energy_pj, one.leak_energy_pj[0]) == (other.compute_energy_pj, other.leak_energy_pj[0])
    assert one.leak_energy_pj[0] > 0
    assert math.isfinite(one.energy_pj[0])
