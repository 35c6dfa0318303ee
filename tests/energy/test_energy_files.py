"""ERT and ART files: the three versions, look-up rules, bad input, and the way back."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, Storage, load_arch
from ruby_map.energy import (
    ComputeEnergy,
    EnergyTable,
    LevelEnergy,
    energy_table,
    read_art,
    read_ert,
    write_art,
    write_ert,
)
from ruby_map.energy.ert import component_name
from ruby_map.workloads import InputError

ARCH = Architecture("test", (Storage("DRAM", "DRAM"), Storage("buf", "odd")), Compute("mac", "odd"))

V03 = """
ERT:
  version: 0.3
  tables:
  - name: system.DRAM
    actions:
    - {name: read, arguments: null, energy: 512}
    - {name: write, arguments: null, energy: 500}
  - name: system.chip.PE[0..167].buf
    actions:
    - {name: read, arguments: {address_delta: 0, data_delta: 0}, energy: 0.055}
    - {name: read, arguments: {address_delta: 1, data_delta: 1}, energy: 0.237}
    - {name: read, arguments: {address_delta: 1, data_delta: 0}, energy: 0.1}
    - {name: write, arguments: {}, energy: 0.3}
    - {name: update, arguments: {}, energy: 0.4}
    - {name: leak, arguments: {}, energy: 1e-3}
  - name: system.chip.PE[0..167].mac
    actions:
    - {name: compute, arguments: null, energy: 2.2}
"""
V04 = """
ERT:
  version: '0.4'
  tables:
  - {name: system_top_level.DRAM, actions: [{name: read, arguments: {}, energy: 512}, {name: write, energy: 500}]}
  - name: system_top_level.buf[1..168]
    actions:
    - {name: read, arguments: {}, energy: 0.237}
    - {name: write, arguments: {}, energy: 0.3}
    - {name: update, arguments: {}, energy: 0.4}
    - {name: leak, arguments: {}, energy: 0.001}
  - {name: 'system_top_level.mac[1..168]', actions: [{name: compute, arguments: {}, energy: 2.2}]}
"""
V02 = """
ERT:
  version: 0.2
  tables:
    system.DRAM: {read: {energy: 512}, write: {energy: 500}}
    system.PE[0..167].buf:
      read:
      - {arguments: {data_delta: 0}, energy: 0.1}
      - {arguments: {data_delta: 1}, energy: 0.237}
      write: {energy: 0.3}
      update: {energy: 0.4}
      leak: {energy: 0.001}
    system.PE[0..167].mac: {compute: {energy: 2.2}}
"""
ART = """
ART:
  version: 0.3
  tables:
  - {name: system.DRAM, area: 0}
  - {name: 'system.chip.PE[0..167].buf', area: 12.5}
  - {name: 'system.chip.PE[0..167].mac', area: 1239.5}
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="ert.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("text", [V02, V03, V04], ids=["0.2", "0.3", "0.4"])
def test_three_versions_say_the_same(text, file):
    """An ERT of each version gives the same figures; of several argument rows the maximum."""
    table = energy_table(ARCH, ert=file(text))
    assert [(level.read_pj, level.write_pj, level.update_pj, level.leak_pj_per_cycle) for level in table.levels] == [
        (512, 500, 500, 0),
        (0.237, 0.3, 0.4, 0.001),
    ]
    assert table.compute.compute_pj == 2.2


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("system.eyeriss.PE[0..167].mac", "mac"),
        ("system_top_level.mac[1..168]", "mac"),
        ("System.ws.PE[0..15].PEWeightBuffer[0..3]", "PEWeightBuffer"),
        ("DRAM", "DRAM"),
    ],
)
def test_component_names(name, component):
    """The name is what follows the last dot once the brackets, whose ranges hold dots, are gone."""
    assert component_name(name) == component


@pytest.mark.parametrize(
    ("actions", "read", "write", "update"),
    [
        ("{read: 1, random_read: 2, write: 3}", 2, 3, 3),
        ("{read: 1, write: 3, fill: 4}", 1, 4, 3),
        ("{read: 1, write: 3, fill: 4, random_write: 5}", 1, 5, 5),
        ("{read: 1, write: 3, random_fill: 6, random_update: 7, random_write: 5}", 1, 6, 7),
        ("{read: 1, write: 3, update: 2}", 1, 3, 2),
        ("{read: 1, write: 3, update: 2, random_update: 7}", 1, 3, 7),
        ("{access: 9}", 9, 9, 9),
    ],
)
def test_action_look_up(actions, read, write, update, file):
    """The first present action of each list wins, whatever its energy."""
    text = f"ERT: {{version: 0.2, tables: {{buf: {actions}, mac: {{mac_random: 1, compute: 5}}}}}}"
    arch = Architecture("test", (Storage("buf", "odd"),), Compute("mac", "odd"))
    table = energy_table(arch, ert=file(text))
    level = table.levels[0]
    assert (level.read_pj, level.write_pj, level.update_pj) == (read, write, update)
    assert table.compute.compute_pj == 1


def test_art_gives_areas(file):
    """Areas come from the ART; energies then stay the ERT's; each source names its file."""
    ert, art = file(V03), file(ART, "art.yaml")
    table = energy_table(ARCH, ert=ert, art=art)
    assert [level.area_um2 for level in table.levels] == [0, 12.5]
    assert table.compute.area_um2 == 1239.5
    assert table.levels[1].read_pj == 0.237
    assert table.levels[1].source == f"ERT file {ert}; area: ART file {art}"


def test_the_names_of_files_say_nothing_about_sources(file):
    """An ERT whose name reads like two sources is one source."""
    ert, art = file(V03, "a; area: b.yaml"), file(ART, "art.yaml")
    assert energy_table(ARCH, ert=ert, art=art).compute.source == f"ERT file {ert}; area: ART file {art}"


def test_art_in_the_file_of_the_ert(file):
    """One file may hold both tables."""
    assert energy_table(ARCH, ert=file(V03 + ART)).compute.area_um2 == 1239.5


def test_art_alone_leaves_energies(file):
    """With an ART alone the energies are the built-in ones."""
    text = "ART: {version: 0.4, tables: [" + ", ".join(
        f"{{name: {name}, area: 7}}"
        for name in ("DRAM", "shared_glb", "ifmap_spad", "weights_spad", "psum_spad", "MAC")
    )
    art = file(text + "]}")
    arch = load_arch("eyeriss_like")
    told, default = energy_table(arch, art=art), energy_table(arch)
    assert {level.area_um2 for level in told.levels} == {7}
    assert [level.read_pj for level in told.levels] == [level.read_pj for level in default.levels]
    assert told.levels[1].source == f"CACTI grid, plus address generators; area: ART file {art}"


def test_ert_wins_over_estimates_and_given_energies(file):
    """An ERT is the last word; only areas are still estimated, and an unknown one says so."""
    level = Storage("buf", "odd", attributes=(("energy", (("area_um2", 3.0), ("read_pj", 9.0), ("write_pj", 9.0))),))
    arch = Architecture("test", (Storage("DRAM", "DRAM"), level), Compute("mac", "odd"))
    ert = file(V03)
    table = energy_table(arch, ert=ert)
    assert (table.levels[1].read_pj, table.levels[1].area_um2) == (0.237, 3.0)
    assert table.compute.source == f"ERT file {ert}; area: unknown, taken as 0"


MISSING = V03.replace("PE[0..167].mac", "PE[0..167].macs")
BAD = [
    ("ERT: {version: 0.5, tables: []}", "the version must be one of 0.2, 0.3, 0.4; got 0.5"),
    ("ERT: {tables: []}", "the version must be one of 0.2, 0.3, 0.4; got None"),
    ("ART: {version: 0.3, tables: []}", "a mapping with the key ERT is expected"),
    ("[1, 2]", "a mapping with the key ERT is expected"),
    ("ERT: {version: 0.3}", "tables must be a list, or a mapping by component"),
    ("ERT: {version: 0.3, tables: [5]}", "ERT.tables[0]: a mapping with a name is expected"),
    (V03.replace("energy: 0.3}", "energy: -0.3}"), "energy must be from 0 to 1e+30, got -0.3"),
    (V03.replace("energy: 0.3}", "energy: .nan}"), "energy must be from 0 to 1e+30, got nan"),
    (V03.replace("energy: 0.3}", "energy: .inf}"), "energy must be from 0 to 1e+30, got inf"),
    (V03.replace("energy: 0.3}", "energy: 1e308}"), "energy must be from 0 to 1e+30, got 1e+308"),
    (V03.replace("energy: 0.3}", "energy: much}"), "energy must be a number, got 'much'"),
    (V03.replace("energy: 0.3}", "energie: 0.3}"), "energy is missing"),
    (V03.replace("{name: write, arguments: {}", "{arguments: {}"), "actions with a name and an energy are expected"),
    (V03.replace("DRAM", "PE[0..3].buf"), "a second table for buf, first on line 5"),
    (MISSING, 'ERT.tables: no table for mac; did you mean "macs"?'),
    (V03.replace("system", "other.system").replace("buf", "glb").replace("mac", "alu"), "for another architecture"),
    (
        V03.replace("name: compute", "name: idle"),
        "mac needs one of the actions mac_random, mult_random, mac, mult, compute",
    ),
    ("", "the file is empty"),
    ("ERT: {version: 0.3, tables: [}", "not YAML"),
]


@pytest.mark.parametrize(("text", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_files(text, words, file):
    """What is wrong with an ERT is told in the user's words, with the file."""
    path = file(text)
    with pytest.raises(InputError) as error:
        energy_table(ARCH, ert=path)
    assert words in str(error.value)
    assert str(path) in str(error.value)


def test_a_bad_number_has_its_line(file):
    """The line of a bad energy is told."""
    with pytest.raises(InputError) as error:
        energy_table(ARCH, ert=file(V03.replace("energy: 0.3}", "energy: -0.3}")))
    assert error.value.faults[0].line == 14


def test_all_faults_of_both_files(file):
    """A bad ERT and a bad ART are told together."""
    with pytest.raises(InputError) as error:
        energy_table(ARCH, ert=file(MISSING), art=file(ART.replace("12.5", "-1"), "art.yaml"))
    assert [fault.source.rpartition("/")[2] for fault in error.value.faults] == ["ert.yaml", "art.yaml"]


def test_an_art_that_lacks_a_component(file):
    """A component without an area in a given ART is an error that names it."""
    with pytest.raises(InputError, match="no table for mac"):
        energy_table(ARCH, ert=file(V03), art=file(ART.replace("mac", "unit"), "art.yaml"))


def test_missing_file(tmp_path):
    """A file that is not there is bad input."""
    with pytest.raises(InputError, match="no such file"):
        energy_table(ARCH, ert=tmp_path / "none.yaml")


figures = st.floats(0, 1e9, allow_subnormal=False)


@given(st.lists(st.tuples(figures, figures, figures, figures, figures), min_size=1, max_size=4), figures, figures)
def test_round_trip(tmp_path_factory, rows, energy, area):
    """What is written is read back bit for bit."""
    levels = tuple(LevelEnergy(f"L{index}", *row, "x") for index, row in enumerate(rows))
    table = EnergyTable("test", levels, ComputeEnergy("mac", energy, 0.25, area, "x"))
    folder = tmp_path_factory.mktemp("ert")
    ert, art = folder / "ert.yaml", folder / "art.yaml"
    write_ert(table, ert)
    write_art(table, art)
    arch = Architecture("test", tuple(Storage(level.name, "odd") for level in levels), Compute("mac", "odd"))
    back = energy_table(arch, ert=ert, art=art)
    for one, other in zip(back.levels, levels, strict=True):
        assert (one.read_pj, one.write_pj, one.update_pj) == (other.read_pj, other.write_pj, other.update_pj)
        assert (one.leak_pj_per_cycle, one.area_um2) == (other.leak_pj_per_cycle, other.area_um2)
    assert (back.compute.compute_pj, back.compute.leak_pj_per_cycle, back.compute.area_um2) == (energy, 0.25, area)


def test_what_is_written_is_version_04(tmp_path):
    """Files are of version 0.4, as text, and leave nothing else in the folder."""
    table = energy_table(load_arch("simba_like"))
    write_ert(table, tmp_path / "e.yaml")
    write_art(table, tmp_path / "a.yaml")
    assert "version: '0.4'" in (tmp_path / "e.yaml").read_text()
    assert read_ert(tmp_path / "e.yaml")["LMAC"] == {"compute": table.compute.compute_pj, "leak": 0}
    assert read_art(tmp_path / "a.yaml")["GlobalBuffer"] == table.levels[1].area_um2
    assert sorted(os.listdir(tmp_path)) == ["a.yaml", "e.yaml"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """Writing is whole or not at all: where it fails the old file stays and no part is left."""
    path = tmp_path / "e.yaml"
    path.write_text("old")

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_ert(energy_table(load_arch("eyeriss_like")), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["e.yaml"]


def test_a_folder_that_is_not_there(tmp_path):
    """Writing where there is no folder is bad input."""
    with pytest.raises(InputError, match="cannot be written"):
        write_art(energy_table(load_arch("eyeriss_like")), tmp_path / "none" / "a.yaml")
