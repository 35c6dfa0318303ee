"""Built-in estimates: the closed forms, the CACTI grid, and what wins over them."""

import math
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.energy import EnergyWarning, closed_form, default_table, energy_table
from ruby_map.energy.cacti import _blend, _with, sram
from ruby_map.energy.grid import FIGURES, OutsideGrid, Sram, grid
from ruby_map.energy.nodes import exponents, scaled
from ruby_map.workloads import InputError

NM45 = (("technology_nm", 45),)


def regfile(name, depth, width):
    return Storage(name, "regfile", attributes=NM45, capacity_bits=depth * width, width_bits=width)


def glb(capacity_bytes, width, banks, ports=2, node=45, **more):
    attributes = (("technology_nm", node), *more.items())
    bits = 8 * capacity_bytes
    return Storage("GLB", "SRAM", attributes=attributes, capacity_bits=bits, width_bits=width, banks=banks, ports=ports)


def machine(*levels, bits=16, **compute):
    mac = Compute("MAC", "intmac", attributes=(("technology_nm", 45), *compute.items()), word_bits=bits)
    return Architecture("test", levels, mac)


DRAM = Storage("DRAM", "DRAM", attributes=(("type", "LPDDR4"),), width_bits=64)

# Eyeriss-like and Simba-like at 45 nm as Accelergy 0.3 prints them: read, write, area
EYERISS = [
    (DRAM, 512, 512, 0),
    (glb(128 * 1024, 64, 32), 74.14, 75.21, 1_162_549),
    (regfile("ifmap_spad", 12, 16), 0.2363, 0.2363, 379.7),
    (regfile("weights_spad", 192, 16), 1.5855, 1.5855, 3634.7),
    (regfile("weights_spad_224", 224, 16), 1.8176, 1.8176, 4194.7),
    (regfile("psum_spad", 16, 16), 0.2508, 0.2508, 414.7),
]
SIMBA = [
    (DRAM, 512, 512, 0),
    (glb(2048 * 32, 256, 4), 167.1, 182.8, 822_637),
    (regfile("PEInputBuffer", 8192, 64), 97.19, 97.19, 233_522),
    (regfile("PEWeightBuffer", 4096, 16), 44.76, 44.76, 107_795),
    (regfile("PEAccuBuffer", 128, 16), 1.005, 1.005, 2235),
    (regfile("PEWeightRegs", 1, 8), 0.009, 0.009, 5.98),
]


def printed_as(figure, text_value):
    """Whether `figure` has the digits of the printed `text_value`: within half a unit of its last one."""
    digits = f"{text_value}".partition(".")[2]
    return abs(figure - text_value) <= 0.5000001 * 10 ** -len(digits)


@pytest.mark.parametrize(
    ("level", "read", "write", "area"), EYERISS + SIMBA, ids=lambda value: getattr(value, "name", "")
)
def test_published_figures_to_the_printed_digit(level, read, write, area):
    """Every component of the Eyeriss-like and Simba-like machines costs what Accelergy 0.3 prints."""
    (told,) = default_table(machine(level)).levels
    assert printed_as(told.read_pj, read)
    assert printed_as(told.write_pj, write)
    assert told.update_pj == told.write_pj
    assert printed_as(told.area_um2, area)


@pytest.mark.parametrize(("bits", "energy", "area"), [(16, 2.20035, 1239.5), (8, 0.5608, 332.3)])
def test_published_macs(bits, energy, area):
    """MACs of 16 and 8 bits cost what Accelergy prints."""
    told = default_table(machine(DRAM, bits=bits)).compute
    assert told.compute_pj == pytest.approx(energy, abs=1e-9)
    assert printed_as(told.area_um2, area)


@pytest.mark.parametrize(("depth", "energy"), [(12, 0.23632), (16, 0.2508), (192, 1.58552), (224, 1.81764)])
def test_register_file_form(depth, energy):
    """The closed form of register files of 16 bits gives the reference digits."""
    assert closed_form.register_file(depth, 16).read_pj == pytest.approx(energy, abs=5e-5)


@pytest.mark.parametrize(
    ("kind", "per_bit"), [("LPDDR4", 8), ("LPDDR", 40), ("DDR3", 70), ("GDDR5", 14), ("HBM2", 3.9)]
)
def test_dram_by_type(kind, per_bit):
    """A DRAM access costs its type's pJ per bit times the width, at any technology of the chip."""
    level = replace(DRAM, attributes=(("technology_nm", 7), ("type", kind)), width_bits=32)
    told = default_table(machine(level)).levels[0]
    assert told.read_pj == told.write_pj == pytest.approx(32 * per_bit)
    assert kind in told.source


@pytest.mark.parametrize(("node", "read", "write"), [(65, 59.34, 49.60), (45, 32.29, 26.07), (32, 18.16, 14.11)])
def test_other_nodes(node, read, write):
    """CACTI's 128 KiB of 64 b with one port and one bank, at each node of the grid."""
    found = sram(Sram(node, 131072, 64, ports=1, banks=1))
    assert printed_as(found.read_pj, read)
    assert printed_as(round(found.write_pj, 2), write)
    assert found.source == "CACTI grid"


@pytest.mark.parametrize(
    ("node", "banks", "ports", "read", "write"),
    [(65, 32, 2, 141.44, 143.65), (32, 32, 2, 41.23, 41.74), (32, 32, 1, 15.42, 15.80), (32, 1, 1, 18.18, 14.14)],
)
def test_what_separates_ours_from_the_exercises_table(node, banks, ports, read, write):
    """18.18 and 14.14 pJ of a buffer of 65 nm with 32 banks there: CACTI was asked for the last of these."""
    own = energy_table(machine(DRAM, glb(128 * 1024, 64, banks, ports, node))).levels[1]
    assert printed_as(own.read_pj, read)
    assert printed_as(own.write_pj, write)


def test_library_machines_have_a_figure_for_everything():
    """Eyeriss-like and Simba-like of the library give the reference figures where their sizes are the reference's."""
    eyeriss = {level.name: level for level in default_table(load_arch("eyeriss_like")).levels}
    simba = {level.name: level for level in default_table(load_arch("simba_like")).levels}
    assert printed_as(eyeriss["shared_glb"].read_pj, 74.14)
    assert printed_as(eyeriss["weights_spad"].read_pj, 1.8176)
    assert printed_as(simba["GlobalBuffer"].write_pj, 182.8)
    assert printed_as(simba["PEInputBuffer"].read_pj, 97.19)
    assert printed_as(simba["PEWeightRegs"].read_pj, 0.009)


def test_every_point_of_the_grid_is_told_as_it_is():
    """A size of the grid is never interpolated."""
    assert len(grid()) == 1560
    assert all(sram(point) == found for point, found in grid().items())


def leave_one_out(figure, along):
    """Relative errors of points interpolated from their two neighbours in `along` (capacity_bytes or width_bits) alone.

    The neighbours are a factor 4 apart, twice the grid's own spacing: the true error is smaller.
    """
    for point, known in grid().items():
        size = getattr(point, along)
        low, high = (grid().get(_with(point, along, other)) for other in (size / 2, size * 2))
        if low is not None and high is not None:
            estimate = getattr(_blend(low, high, 0.5), figure)
            exact = getattr(known, figure)
            yield estimate / exact - 1


PLANES = [("read_pj", "capacity_bytes"), ("write_pj", "capacity_bytes"), ("area_um2", "capacity_bytes")]


@pytest.mark.parametrize(("figure", "along"), PLANES)
def test_leave_one_out_error_is_as_documented(figure, along):
    """Told from points a factor 4 apart, half of the grid is within 5 % of CACTI and all of it within 45 %."""
    errors = sorted(abs(error) for error in leave_one_out(figure, along))
    assert len(errors) == 1332
    assert errors[666] < 0.05
    assert errors[-1] < 0.45
    assert errors[-1] > 0.15  # CACTI steps from one organisation to another: no rule gets rid of that


def test_leave_one_out_over_widths_is_worse():
    """Over widths half of the grid is within 6 %, the worst point off by 67 %."""
    errors = sorted(abs(error) for error in leave_one_out("read_pj", "width_bits"))
    assert errors[len(errors) // 2] < 0.06
    assert errors[-1] == pytest.approx(0.67, abs=0.01)


def test_the_documented_errors_are_the_measured_ones():
    """docs/energy.md tells what `leave_one_out` measures and what `exponents` are."""
    text = (Path(__file__).parents[2] / "docs" / "energy.md").read_text()
    names = {"read_pj": "read energy", "write_pj": "write energy", "leak_uw": "leakage", "area_um2": "area"}
    for figure, name in names.items():
        cells = []
        for along in ("capacity_bytes", "width_bits"):
            errors = sorted(abs(error) for error in leave_one_out(figure, along))
            ranks = (len(errors) // 2, int(0.9 * len(errors)), -1)
            cells.append(", ".join(f"{100 * errors[rank]:.1f}" for rank in ranks))
        assert f"| {name} | {cells[0]} | {cells[1]} |" in text
    for figure, name in (("read_pj", "read energy"), ("write_pj", "write energy"), ("area_um2", "area")):
        assert f"{name} as node^{exponents()[figure]:.2f}" in " ".join(text.split())


sizes = st.floats(11, 22).map(lambda power: 2**power)
planes = st.sampled_from([(node, ports) for node in (32, 45, 65) for ports in (1, 2)])


@given(sizes, sizes, planes, st.sampled_from([16, 64, 100, 256]))
def test_a_larger_memory_never_costs_less(one, other, plane, width):
    """At one width, energy and area grow with capacity (with width they do not: CACTI itself is not monotone there)."""
    node, ports = plane
    small, large = (sram(Sram(node, size, width, ports, 1)) for size in sorted((one, other)))
    for name in FIGURES:
        assert getattr(small, name) <= getattr(large, name) * (1 + 1e-12)


def test_cacti_is_not_monotone_in_width():
    """A wider memory may cost less: 61 of 1,296 neighbours in the grid."""
    falls = [
        point
        for point, found in grid().items()
        if (wider := grid().get(replace(point, width_bits=2 * point.width_bits))) and wider.read_pj < found.read_pj
    ]
    assert len(falls) == 61


@given(sizes, st.floats(4, 8).map(lambda power: 2**power), planes)
def test_interpolation_stays_between_its_corners(capacity, width, plane):
    """An interpolated figure lies between the least and the greatest of the points around it."""
    node, ports = plane
    found = sram(Sram(node, capacity, width, ports, 1))
    near_by = [
        other.read_pj
        for point, other in grid().items()
        if (point.tech_nm, point.ports, point.banks) == (node, ports, 1)
        and abs(math.log2(point.capacity_bytes / capacity)) <= 1
        and abs(math.log2(point.width_bits / width)) <= 1
    ]
    assert min(near_by) * (1 - 1e-9) <= found.read_pj <= max(near_by) * (1 + 1e-9)


@given(st.floats(32, 65), st.floats(32, 65))
def test_a_finer_node_costs_less(one, other):
    """Between the nodes of the grid energy falls with the node."""
    fine, coarse = (sram(Sram(node, 131072, 64, 2, 32)) for node in sorted((one, other)))
    assert fine.read_pj <= coarse.read_pj * (1 + 1e-12)


def test_tags():
    """Each way to a figure has its own words."""
    assert sram(Sram(45, 100_000, 64, 2, 32)).source == "interpolated in the CACTI grid"
    assert sram(Sram(45, 131072, 64, 2, 8)).source == "interpolated in the CACTI grid"
    assert sram(Sram(40, 131072, 64, 2, 32)).source == "interpolated in the CACTI grid, between 32 and 45 nm"
    assert sram(Sram(28, 131072, 64, 2, 32)).source == "CACTI grid, scaled from 32 to 28 nm"


def test_banks_between_two_of_the_grid():
    """Eight banks lie between four and 32."""
    four, eight, many = (sram(Sram(45, 131072, 64, 2, banks)).read_pj for banks in (4, 8, 32))
    assert eight == pytest.approx(four ** (2 / 3) * many ** (1 / 3))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Sram(45, 2048, 64, 2, 8), "for 1 bank"),
        (Sram(45, 131072, 64, 2, 64), "for 32 bank"),
        (Sram(45, 131072, 64, 2, 256), "for 32 bank"),
        (Sram(45, 256, 64, 2, 1), "nearest point: 512 B x 64 b"),
        (Sram(45, 16384, 512, 2, 1), "above the CACTI grid: 2 parts side by side of 8192 B x 256 b"),
        (Sram(45, 2**27, 64, 2, 1), "above the CACTI grid: 2 macros of 67108864 B x 64 b"),
        (Sram(45, 2**22, 2048, 2, 1), "above the CACTI grid: 2 parts side by side of 2097152 B x 1024 b"),
        (Sram(55, 2048, 64, 2, 8), "instead of 8, between 45 and 65 nm"),
    ],
)
def test_slightly_outside_is_a_warning(wanted, words):
    """A size a factor 2 outside the grid, or banks that it lacks, take the nearest point, and say so."""
    with pytest.warns(EnergyWarning, match=words):
        found = sram(wanted)
    assert words in found.source


@pytest.mark.parametrize(
    "wanted",
    [
        Sram(6.9, 131072, 64, 2, 1),
        Sram(180, 131072, 64, 2, 1),
        Sram(45, 131072, 64, 3, 1),
    ],
    ids=str,
)
def test_far_outside_is_an_error(wanted):
    """No figure is made up for a memory far outside the grid."""
    with pytest.raises(OutsideGrid):
        sram(wanted)


def test_below_the_grid_figures_fall_with_the_size():
    """Of memories that are over a factor 2 below it, small or narrow."""
    with pytest.warns(EnergyWarning, match="below the CACTI grid, scaled down from 512 B x 16 b"):
        eighth = sram(Sram(45, 64, 16))
    edge = sram(Sram(45, 512, 16))
    assert eighth.read_pj == pytest.approx(edge.read_pj * 0.125**0.78)
    assert (eighth.leak_uw, eighth.area_um2) == pytest.approx((edge.leak_uw / 8, edge.area_um2 / 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        narrow = sram(Sram(45, 4096, 4))  # as deep as one of 16 KiB and 16 bits
        assert narrow.read_pj == pytest.approx(sram(Sram(45, 16384, 16)).read_pj * (0.7 / 4 + 0.3))
        sizes = [sram(Sram(45, size, 16)).write_pj for size in (2, 8, 60, 100, 250, 512)]
    assert sizes == sorted(sizes)


def test_closed_forms_scale_as_the_grid_does():
    """At 65 nm a register file costs the grid's own ratio more, and says that it was scaled."""
    at45 = default_table(machine(regfile("RF", 64, 16))).levels[0]
    level = replace(regfile("RF", 64, 16), attributes=(("technology_nm", 65),))
    at65 = default_table(machine(level)).levels[0]
    assert at65.read_pj / at45.read_pj == pytest.approx((65 / 45) ** exponents()["read_pj"])
    assert at65.area_um2 / at45.area_um2 == pytest.approx((65 / 45) ** 2, rel=1e-3)
    assert "scaled from 45 to 65 nm" in at65.source
    assert scaled(closed_form.register(), 45, 45) == closed_form.register()


def test_leakage_is_power_times_the_clock():
    """uW times ns are fJ: CACTI's 7.62339 uW at 5 ns, and at the component's own clock."""
    assert default_table(machine(glb(131072, 64, 32))).levels[0].leak_pj_per_cycle == pytest.approx(0.03811695)
    own = default_table(machine(glb(131072, 64, 32, clock_ns=1.0))).levels[0]
    assert own.leak_pj_per_cycle == pytest.approx(0.00762339)


def test_energy_of_the_architecture_wins():
    """A component's own `energy` is told as it is, of any class."""
    figures = (("read_pj", 1.5), ("write_pj", 2.5), ("leak_pj_per_cycle", 0.1))
    level = Storage("odd", "photonic", attributes=(("energy", figures),))
    arch = machine(level, energy=(("compute_pj", 0.25), ("area_um2", 10)))
    table = default_table(arch)
    told = table.levels[0]
    assert (told.read_pj, told.write_pj, told.update_pj, told.leak_pj_per_cycle) == (1.5, 2.5, 2.5, 0.1)
    assert (table.compute.compute_pj, table.compute.area_um2) == (0.25, 10)
    assert told.source == table.compute.source == "given in the architecture"


BAD = [
    (Storage("A", "SRMA", capacity_bits=1024), "DRAM, SRAM, regfile, reg, dummy; got 'SRMA'; did you mean \"sram\"?"),
    (Storage("A", "SRAM"), "A: a SRAM must have a capacity"),
    (replace(DRAM, attributes=(("type", "LPDDR5"),)), "LPDDR4, LPDDR, DDR3, GDDR5, HBM2; got 'LPDDR5'"),
    (glb(131072, 64, 1, node=3), "technology_nm must be 7 to 130"),
    (glb(131072, 64, 1, node="new"), "technology_nm must be a number greater than 0, got 'new'"),
    (replace(glb(1024, 64, 1), attributes=(("technology", "FinFET"),)), "must be a size such as 45nm, got 'FinFET'"),
    (glb(131072, 64, 1, ports=4), "ports must be one of 1, 2; got 4"),
    (glb(131072, 64, 1, clock_ns=-1), "clock_ns must be a number greater than 0, got -1"),
    (Storage("A", "reg", capacity_bits=64, width_bits=16), "use regfile"),
    (glb(1024, 64, 1, energy=(("read_pj", 1.0),)), "energy must have write_pj"),
    (glb(1024, 64, 1, energy={"read_pj": 1, "write_pj": -2}), "energy.write_pj must be a number from 0 to 1e+30"),
    (glb(1024, 64, 1, energy={"read_pj": 1, "write_pj": 1, "raed": 2}), 'unknown key "raed"'),
    (glb(1024, 64, 1, energy="cheap"), "energy must be a mapping"),
]


@pytest.mark.parametrize(("level", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input(level, words):
    """What has no estimate is a fault that names the component, the rule and the choices."""
    with pytest.raises(InputError) as error:
        default_table(machine(level))
    assert words in str(error.value)
    assert f": {level.name}: " in str(error.value)


def test_every_fault_at_once():
    """All bad components are told together, the compute units too."""
    arch = Architecture("test", (Storage("A", "SRAM"), Storage("B", "odd")), Compute("C", "divider"))
    with pytest.raises(InputError) as error:
        default_table(arch)
    assert [fault.path for fault in error.value.faults] == ["A", "B", "C"]


def test_unknown_engine():
    """The engine is one of those known."""
    with pytest.raises(
        InputError, match="must be one of default, accelergy, hwcomponents; got 'acelergy'; did you mean \"accelergy\""
    ):
        energy_table(machine(DRAM), engine="acelergy")


def test_fanout_changes_no_figure():
    """Figures are per instance."""
    wide = replace(DRAM, fanout=(Axis("X", 16),))
    assert default_table(machine(wide)).levels == default_table(machine(DRAM)).levels


def test_no_warning_on_the_grid():
    """Figures of the library's machines need no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", EnergyWarning)
        default_table(load_arch("eyeriss_like"))
        default_table(load_arch("simba_like"))
