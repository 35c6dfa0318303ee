"""SRAM beyond the CACTI grid, and nodes below it: no jump at the edge, errors as recorded."""

import csv
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.energy.cacti import of_macros, sram
from ruby_map.energy.closed_form import Figures
from ruby_map.energy.grid import FIGURES, EnergyWarning, Sram, grid
from ruby_map.energy.nodes import scaled

ROOT = Path(__file__).parents[2]
MOST, WIDEST = 2**26, 1024  # bytes, bits
planes = st.sampled_from([(node, ports) for node in (32, 45, 65) for ports in (1, 2)])
banks = st.sampled_from([1, 4, 32])


def told(wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)
        return sram(wanted)


def near(one, other, factor):
    return all(1 / factor <= getattr(one, name) / getattr(other, name) <= factor for name in FIGURES)


@given(planes, banks, st.sampled_from([16, 64, 256, 1024]))
def test_no_jump_at_the_edge(plane, banks, width):
    """A little over 64 MiB costs a little more than 64 MiB, and so does a word of a little over 1024 bits."""
    edge = Sram(plane[0], MOST, width, plane[1], banks)
    assert near(told(replace(edge, capacity_bytes=MOST * 1.001)), told(edge), 1.01)
    wide = Sram(plane[0], 2**22, WIDEST, plane[1], banks)
    assert near(told(replace(wide, width_bits=WIDEST * 1.001)), told(wide), 1.01)


@given(planes, banks, st.floats(0, 6), st.floats(0, 6), st.sampled_from([16, 100, 1024, 4096]))
def test_larger_costs_more(plane, banks, one, other, width):
    """Above the grid every figure grows with the capacity."""
    small, large = (told(Sram(plane[0], MOST * 2**power, width, plane[1], banks)) for power in sorted((one, other)))
    for name in FIGURES:
        assert getattr(small, name) <= getattr(large, name) * (1 + 1e-9)


def test_the_closed_form_by_hand():
    """Four macros of 1 mm2: an H-tree of 1 mm, 64 + 46 bits, 0.431 pJ each a port; two parts double the energy."""
    macro = Figures(100.0, 90.0, 5.0, 1e6, "macro")
    made = of_macros(macro, 45.0, 1, 64, 4)
    assert (made.read_pj, made.write_pj) == pytest.approx((100 + 0.431 * 110, 90 + 0.431 * 110))
    assert (made.leak_uw, made.area_um2) == (20, 4e6)
    assert of_macros(macro, 45.0, 2, 64, 4).read_pj == pytest.approx(100 + 2 * 0.431 * 110)
    assert of_macros(macro, 45.0, 1, 64, 1, parts=4).read_pj == pytest.approx(4 * (100 + 0.431 * 110))
    assert of_macros(macro, 45.0, 1, 64, 1) == macro


def test_recorded_errors_are_those_of_the_grid():
    """The recorded errors of macros, which docs/energy.md shows, are those of today's closed form and grid."""
    recorded = list(csv.DictReader((ROOT / "experiments/results/cacti_macros.csv").open()))
    text = (ROOT / "docs/energy.md").read_text()
    assert len(recorded) == 20
    for row in recorded:
        larger, wider, name = int(row["larger"]), int(row["wider"]), row["figure"]
        off = []
        for point, known in grid().items():
            size = {"capacity_bytes": point.capacity_bytes * larger * wider, "width_bits": point.width_bits * wider}
            other = replace(point, **size)
            enough = point.capacity_bytes >= 2**20 if wider == 1 else other.capacity_bytes >= 2**20
            if enough and (wider == 1 or other.width_bits >= 512) and other in grid():
                made = of_macros(known, point.tech_nm, point.ports, point.width_bits, larger, wider)
                off.append(abs(getattr(made, name) / getattr(grid()[other], name) - 1))
        off.sort()
        ranks = (off[len(off) // 2], off[int(0.9 * len(off))], off[-1])
        assert [float(row[rank]) for rank in ("median", "90 %", "worst")] == pytest.approx(ranks, abs=0.002)
        assert ", ".join(f"{100 * float(row[rank]):.0f}" for rank in ("median", "90 %", "worst")) in text


@given(st.floats(7, 16), st.floats(7, 16))
def test_smaller_nodes_cost_less(one, other):
    """Below 16 nm energy and area fall with the node, without a jump at 16, and a warning names the source."""
    known = grid()[Sram(32, 131072, 64, 2, 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnergyWarning)
        small, large = (scaled(known, 32, nm) for nm in sorted((one, other)))
        edge, beside = scaled(known, 32, 16), scaled(known, 32, 15.999)
    assert small.read_pj <= large.read_pj * (1 + 1e-12)
    assert small.area_um2 <= large.area_um2 * (1 + 1e-12)
    assert near(edge, beside, 1.001)
    with pytest.warns(EnergyWarning, match="Stillmaker and Baas"):
        scaled(known, 32, 7)


def test_smaller_nodes_by_hand():
    """From 16 to 7 nm at 0.8 V: (0.1776 V2 - 0.09097 V + 0.02447) / (0.2958 V2 - 0.1241 V + 0.03024)."""
    known = grid()[Sram(32, 131072, 64, 2, 1)]
    with pytest.warns(EnergyWarning):
        ratio = scaled(known, 32, 7).read_pj / scaled(known, 32, 16).read_pj
    assert ratio == pytest.approx(0.065358 / 0.120272, rel=1e-3)


@given(planes, banks, st.floats(5, 30), st.floats(0, 13))
def test_every_size_has_figures(plane, number, power, wide):
    """From a word of 32 B to 1 GiB, from 1 to 8192 bits: each figure is a positive number, with its source."""
    width = 2**wide
    wanted = Sram(plane[0], max(2**power, width / 8), width, plane[1], number)
    found = told(wanted)
    assert all(getattr(found, name) > 0 for name in FIGURES)
    assert found.source
