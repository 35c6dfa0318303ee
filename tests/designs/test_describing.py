"""Designs are described by the parts of their machines: as if each were read and priced as a whole."""

import json
import signal
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.energy import area_um2
from ruby_map.mapper import sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.commands.run_sweep import _Pace
from ruby_map.mapper.designs import figures
from ruby_map.mapper.sweeps import candidates as describing_all
from ruby_map.mapper.sweeps import describing
from ruby_map.mapper.sweeps.candidates import Candidates
from ruby_map.mapper.sweeps.describing import Describer, described_plainly
from ruby_map.mapper.sweeps.file import read_sweep
from ruby_map.mapper.sweeps.inputs import machine_of
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..conftest import DEEP
from .conftest import in_folder

ARCH = """
name: several
technology: 45nm
clock_ns: 2 * pace
max_loops: 30 + 0 * pace
variables: {pace: 1, rows: 4, columns: rows * 2, words: 24, inner: 6, rate: 4 / pace, bits: 16, unused: 8 / (9 - words)}
components:
  bank:
    attributes: {words: 8, width_bits: 16, capacity_bits: 64}
    parts: {cells: {class: smart_regfile, attributes: {capacity_bits: words * 16, width_bits: 16}}}
    actions: {read: {cells.read: 2}, write: {cells.write: 1}}
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16, read_bandwidth: rate}
  - name: GLB
    class: regfile
    capacity_words: words
    width_bits: bits
    attributes: {cluster_size: 1, note: 2 * inner}
    keep: [Inputs, Weights, Outputs]
    fanout: [{name: column, size: columns, min_utilization: 0.3}, {name: row, size: rows, mesh: Y, factors: [M=2]}]
  - {name: spad, class: regfile, capacity_words: inner, width_bits: 16, keep: [Outputs], bypass: [Weights],
     fanout: [{name: lane, size: 2}]}
compute: {name: MAC, class: intmac, word_bits: 16}
"""
LISTS = {
    "rows": [1, 2, 3, 4, 6, "columns + 1", "words // 5", "1 / (columns - 2)"],
    "columns": [1, 2, 5, "2 * rows", "rows - 1"],
    "words": [8, 9, 24, 48.0, 96, "inner * rows", "rows ** columns"],
    "inner": [1, 6, 12, 0.5, "words", "words / rate", "nothing + 1"],
    "rate": [0.5, 1, 4],
    "bits": [16, 32, 24, "inner * 8"],
    "pace": [1, 2, 0.5],
    "clock_ns": [1, 5, "rows"],
    "technology": [45, 32, "22nm", "new", "pace * 45"],
    "levels.DRAM.type": ["LPDDR4", "DDR3", "none"],
    "levels.DRAM.dram.burst_bits": [16, 64, 8],
    "levels.GLB.keep": [["Inputs", "Weights", "Outputs"], ["Inputs", "Outputs"]],
    "levels.GLB.start_cycles": [0, 3],
    "levels.GLB.class": ["regfile", "SRAM", "reg", "bank", "unknown"],
    "levels.GLB.banks": [1, 2, 32],
    "levels.GLB.placement": ["even", "uneven"],
    "levels.GLB.multiple_buffering": [1, 2, 30],
    "levels.GLB.capacity_bytes": [64, 4096],
    "levels.GLB.energy.read_pj": [0, 2, "rows"],
    "levels.GLB.fanout.column.systolic": [False, True],
    "levels.GLB.fanout.row.min_utilization": [0, 0.5, 1, 2],
    "levels.GLB.fanout.row.size": [1, 2, 8],
    "levels.spad.depth": [2, 40, "rows * 4", "words + bits"],
    "levels.spad.fanout.lane.systolic": [False, True],
    "levels.spad.fanout.lane.size": [1, 3, "rows"],
    "levels.spad": [None, {"class": "regfile", "depth": "rows * 4", "keep": ["Outputs"]},
                    {"class": "SRAM", "capacity_bytes": 4096, "fanout": [{"name": "lane", "size": "columns"}]},
                    {"class": "regfile", "name": "GLB", "depth": 8}],
    "levels.GLB": [None, {"class": "regfile", "depth": "words", "fanout": [{"name": "one", "size": 2}]}],
    "compute.word_bits": [8, 16, 0],
    "compute.class": ["intmac", "fpmac"],
}  # fmt: skip
ERT = """
ERT:
  version: 0.4
  tables:
  - {name: s.DRAM, actions: [{name: read, energy: 200}, {name: write, energy: 210}]}
  - {name: s.GLB, actions: [{name: read, energy: 7}, {name: write, energy: 8}, {name: leak, energy: 0.25}]}
  - {name: s.spad, actions: [{name: read, energy: 1}, {name: write, energy: 1.5}]}
  - {name: s.MAC, actions: [{name: compute, energy: 2}]}
"""


def _numeric(name):
    return all(isinstance(value, int | float) or " " in str(value) for value in LISTS[name])


@st.composite
def spaces(draw):
    """Sweeps of up to four parameters, most of them numbers; perhaps two of them vary together."""
    any_name, numeric = (sorted(name for name in LISTS if by(name)) for by in (bool, _numeric))
    names = draw(st.lists(st.sampled_from(numeric), min_size=2, max_size=4, unique=True))
    names += [name for name in draw(st.lists(st.sampled_from(any_name), max_size=2, unique=True)) if name not in names]
    parameters = {
        name: draw(st.lists(st.sampled_from(LISTS[name]), min_size=2, max_size=3, unique_by=str)) for name in names[:4]
    }
    whole = {"parameters": parameters, "workloads": ["mm"], "minimize": "edp"}
    if len(names) > 2 and draw(st.booleans()):
        linked = {name: parameters.pop(name)[:2] for name in names[:2]}
        whole["linked"] = [linked]
    if draw(st.booleans()):
        parameters.setdefault("levels.GLB.ports", {"from": 1, "to": 3, "step": 1})
    whole["energy"] = draw(st.sampled_from([{}, {}, {"leakage": True}, {"hop_pj": 0.7}, {"ert": True}]))
    whole["mapspaces"] = draw(st.sampled_from([["ruby-s"], ["ruby-s"], ["pfm", "ruby-s"], ["pfm", "pfm+pad"]]))
    return whole


@pytest.fixture(scope="module")
def several(folder):
    (folder / "several.yaml").write_text(ARCH)
    (folder / "ert.yaml").write_text(ERT)
    return folder


def plan_of(folder, whole):
    """The plan of a sweep; None where none of its first designs can be made."""
    whole = in_folder(folder, whole) | {"architecture": str(folder / whole.get("architecture", "several.yaml"))}
    if "ert" in whole["energy"]:
        whole["energy"] = {"ert": str(folder / "ert.yaml")}
    try:
        return read_sweep(whole)
    except InputError:
        return None


def as_said(own):
    """A description as values that compare to the last bit."""
    return [own.kinds, [float(value).hex() for value in own.figures], own.area_um2, own.clock_ns, own.message]


def check_all(folder, whole):
    """Every design of a sweep, by parts wherever they are known."""
    plan = plan_of(folder, whole)
    if plan is None:
        return 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(describing, "WORTH", 0)
        describer = Describer(plan)
    for design in Random(0).sample(plan.designs, len(plan.designs)):
        own = describer.described(design)
        assert as_said(own) == as_said(described_plainly(plan, design))
    return len(plan.designs)


@settings(max_examples=2_000 if DEEP else 60, deadline=None)
@given(whole=spaces())
def test_designs_by_parts_are_those_read_as_a_whole(several, whole):
    """Kinds, figures, areas, clocks and messages of faults, whatever the parameters are."""
    check_all(several, whole)


BESIDE = {"inner": [6, 12, 1], "rate": [1, 2, 4]}
NEAR = {
    "a technology": {"technology": [45, 32, "22nm"], "rows": [2, 4]},
    "a clock by a variable": {"pace": [1, 2, 0.5], "rows": [2, 4]},
    "expressions of parameters": {"rows": [2, 4, 3], "columns": ["rows - 2", "2 * rows", 5, "1 / (rows - 3)"]},
    "parameters by one another": {"rows": [4, "columns + 1", 2], "columns": [2, "bits / 8"], "bits": [16, "8 * rows"]},
    "faults across levels": {
        "levels.GLB.fanout.column.systolic": [False, True],
        "levels.spad.fanout.lane.systolic": [False, True],
    },
    "a variable that nothing uses": {"words": [8, 9, 12], "rows": [2, 4]},
    "levels as alternatives": {"levels.spad": LISTS["levels.spad"], "rows": [2, 4], "columns": [1, 3]},
    "axes of a level that is another": {
        "levels.spad": LISTS["levels.spad"][:3],
        "levels.spad.fanout.lane.size": [1, 3],
    },
    "an outermost level that is left out": {
        "levels.DRAM": [{"class": "DRAM", "width_bits": 16}, None],
        "levels.GLB": [{"class": "DRAM", "width_bits": 16}, {"class": "regfile", "capacity_words": 24}],
        "rows": [2, 4],
    },
    "minimum utilization": {"levels.GLB.fanout.row.min_utilization": [0, 0.5, 1], "rows": [2, 7]},
}


def test_what_a_file_does_not_say_of_the_whole_machine(several):
    """A parameter may be about it all the same."""
    whole = {"parameters": {"technology": [45, 32]} | BESIDE, "workloads": ["mm"], "minimize": "edp", "energy": {}}
    assert check_all(several, whole | {"architecture": "small.yaml"}) == 18


# letters that Python takes in names: with marks of their own, between, above ASCII, of two forms, behind a number
@pytest.mark.parametrize(
    "name",
    [
        "x\N{COMBINING MACRON}",
        "a\N{MIDDLE DOT}b",
        "\N{SCRIPT CAPITAL P}",
        "\N{LATIN SMALL LETTER E WITH ACUTE}",
        "क्षेत्र",
        "if_",
        "max",
    ],
)
def test_whatever_name_a_variable_has(several, name):
    """An expression names it, also behind a number without a blank."""
    text = ARCH.replace("variables: {", f"variables: {{{name}: 6, ").replace(
        "capacity_words: inner", f"capacity_words: 4*{name}"
    )
    (several / "named.yaml").write_text(text)
    parameters = {"rate": [1, 2, 4], name: [6, 12, 1]}
    whole = {
        "parameters": parameters,
        "workloads": ["mm"],
        "minimize": "edp",
        "energy": {},
        "architecture": "named.yaml",
    }
    assert check_all(several, whole) == 9


def test_a_parameter_below_an_alternative_level_changes_no_values(several):
    """The next design has the level as the file says it, and so have the keys of its points."""
    lane = {"name": "lane", "size": 2}
    levels = [{"class": "regfile", "depth": depth, "fanout": [dict(lane)]} for depth in (12, 6)]
    parameters = {"levels.spad": levels, "levels.spad.fanout.lane.size": [1, 3]}
    plan = plan_of(several, {"parameters": parameters, "workloads": ["mm"], "minimize": "edp", "energy": {}})
    for design in plan.designs:
        plan.arch(design)
    assert [plan.values(design)["levels.spad"]["fanout"] for design in plan.designs] == [[lane]] * 4


@pytest.mark.parametrize("energy", [{}, {"hop_pj": 0.7}, {"ert": True}])
@pytest.mark.parametrize("what", NEAR)
def test_what_parts_depend_on(several, what, energy):
    """Spaces in which a part of a machine depends on more than the parameters below its key."""
    whole = {"parameters": NEAR[what] | BESIDE, "workloads": ["mm"], "minimize": "edp", "energy": energy}
    assert check_all(several, whole) >= 36


MANY = {"rows": [1, 2, 3, 4, 6], "columns": [1, 2, 5, "2 * rows"], "words": [8, 24, 48], "levels.spad.depth": [4, 8, 0]}


def test_few_of_many_designs_are_read_as_a_whole(several, monkeypatch):
    """Those with parts that no design had before, and those with faults."""
    plan = plan_of(several, {"parameters": MANY, "workloads": ["mm"], "minimize": "edp", "energy": {}})
    read = []
    monkeypatch.setattr(describing, "described_plainly", lambda *own: read.append(own) or described_plainly(*own))
    describer = Describer(plan)
    every = [describer.described(design) for design in plan.designs]
    faults = sum(bool(own.message) for own in every)
    assert (len(every), faults) == (180, 84)
    assert len(read) - faults < 20


def test_the_arrays_of_a_plan_are_its_designs_one_by_one(several, monkeypatch):
    """Several blocks put together, by one process and two; kinds in the order in which they come."""
    monkeypatch.setattr(describing_all, "BLOCK", 7)
    parameters = MANY | {"levels.spad": [{"class": "regfile", "depth": 4}, None]}
    del parameters["levels.spad.depth"]
    whole = {"parameters": parameters, "workloads": ["mm"], "minimize": "edp", "energy": {}}
    plan = plan_of(several, whole | {"mapspaces": ["pfm", "ruby-s"]})
    steps = []
    one, two = Candidates.of(plan, 1, steps.append), Candidates.of(plan, 2)
    assert [step.done for step in steps] == [*range(7, len(plan.designs), 7), len(plan.designs)]
    for name in one.block._fields:
        np.testing.assert_array_equal(getattr(one.block, name), getattr(two.block, name))
    plain = [described_plainly(plan, design) for design in plan.designs]
    assert list(one.block.names) == list(dict.fromkeys(kind for own in plain for kind in own.kinds))
    for row in range(len(one)):
        design, own = one.place(row)[0], plain[row // 2]
        assert one.described(row).values == plan.values(design)
        assert one.described(row).area_um2 == own.area_um2
        assert one.why_not(row) == own.message
        kind = one.space.kinds[one.space.kind[row]] if not own.message else None
        assert kind is None or kind.figures[one.space.row[row]].tolist() == own.figures
        assert (one.known[row] is None) == (not one.made[row])
    first = int(np.flatnonzero(one.made)[0])
    machine, table, _ = machine_of(plan, one.place(first)[0])
    assert one.described(first).area_um2 == area_um2(machine, table)
    assert [figure.value for figure in figures(machine, table)] == plain[first // 2].figures


def test_ctrl_c_while_designs_are_described_ends_the_sweep(several, tmp_path, monkeypatch):
    """Status 130 and no traceback; the folder can be gone on with."""
    whole = in_folder(several, {"parameters": MANY, "workloads": ["mm"], "minimize": "edp", "proofs": 1})
    (tmp_path / "sweep.yaml").write_text(json.dumps(whole | {"architecture": str(several / "several.yaml")}))
    command = [str(tmp_path / "sweep.yaml"), "--out", str(tmp_path / "out")]
    with monkeypatch.context() as patch:
        patch.setattr(describing.Describer, "described", lambda *_: signal.raise_signal(signal.SIGINT))
        ended = CliRunner().invoke(main, command)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (130, "", "interrupted\n")
    assert CliRunner().invoke(main, command).exit_code == 3  # designs with faults


def test_progress_says_how_many_designs_are_described(several, monkeypatch):
    """Of many; of few there is nothing to wait for."""
    whole = in_folder(several, {"parameters": MANY, "workloads": ["mm"], "minimize": "edp", "proofs": 1})
    whole |= {"architecture": str(several / "several.yaml")}
    lines = []
    sweep(whole, progress=lambda step: lines.append(_Pace().line(step)))
    assert not any("described" in line for line in lines)
    monkeypatch.setattr(describing_all, "BLOCK", 100)
    sweep(whole, progress=lambda step: lines.append(_Pace().line(step)))
    described = [line for line in lines if "described" in line]
    assert described == ["100 of 180 designs described", "180 of 180 designs described"]


def test_a_designer_takes_more_designs_than_a_grid_has_points(several):
    """It searches few of them; the cap is one of memory."""
    sizes = {name: {"from": 2, "to": 26, "step": 1} for name in ("rows", "columns", "rate")}
    whole = {"parameters": sizes, "workloads": ["mm"], "energy": {}}
    asked = in_folder(several, whole) | {"architecture": str(several / "several.yaml")}
    with pytest.raises(InputError, match="at most 10,000 points run without a limit, this sweep has 15,625"):
        read_sweep(asked)
    assert len(read_sweep(asked | {"minimize": "edp"}).designs) == 15_625
    sizes["inner"] = {"from": 6, "to": 100, "step": 1}
    with pytest.raises(InputError, match="at most 1,000,000 points run without a limit, this sweep has 1,484,375"):
        read_sweep(asked | {"minimize": "edp"})
    assert len(read_sweep(asked | {"minimize": "edp"}, 7).designs) == 7
