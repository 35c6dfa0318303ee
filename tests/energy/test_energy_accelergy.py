"""The engine `accelergy`, against a stand-in program on PATH that answers as Accelergy 0.3 and 0.4 do."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.energy import energy_table
from ruby_map.energy.accelergy import description, quoted
from ruby_map.energy.closed_form import ADDRESS_GENERATORS_PJ
from ruby_map.workloads import InputError

STAND_IN = """#!{python}
import json, os, sys
from pathlib import Path
import yaml
version, mode = {version!r}, {mode!r}
if "--help" in sys.argv:
    print("usage: accelergy [-h] [-o OUTDIR] [-p PRECISION]")
    if version != "0.2":
        print("  -f [OUTPUT_FILES ...], --output_files [OUTPUT_FILES ...]")
    if version == "0.4":
        print("  --suppress_version_errors")
    sys.exit(0)
assert Path("accelergy_config.yaml").is_file(), "no configuration of its own"
for number in range(300):
    print("INFO: line", number)
if mode == "crash":
    print("ERROR: class photonic is not found", file=sys.stderr)
    sys.exit(1)
arch = yaml.safe_load(Path(sys.argv[1]).read_text())["architecture"]
assert arch["version"] == float(version), "incompatible input version"
out = Path(sys.argv[sys.argv.index("-o") + 1])
out.mkdir(exist_ok=True)
wanted = sys.argv[sys.argv.index("-f") + 1:]
parts = arch["subtree"][0]["local"]
if mode == "missing":
    parts = parts[:-2] + parts[-1:]
number = 0.3 if version == "0.3" else version
tables = dict(ERT=[], ART=[], ERT_summary=[], ART_summary=[])
for index, part in enumerate(parts):
    name = "system." + part["name"]
    names = ["compute"] if "mac" in part["class"] else ["read", "write"]
    actions = [dict(name=action, arguments=dict(), energy=index + 1 + 0.5 * k) for k, action in enumerate(names)]
    tables["ERT"].append(dict(name=name, actions=actions))
    tables["ART"].append(dict(name=name, area=100.0 * (index + 1)))
    dummy = mode.startswith("dummy") and index == 1
    estimator = ("dummy_table" if mode == "dummy" else "Dummy") if dummy else "Aladdin_table"
    if mode == "dummy-text":
        estimation = {{"primitive_estimation(s)": estimator}}
    else:
        estimation = {{"primitive_estimation(s)": [dict(name=name, estimator=estimator)]}}
    tables["ERT_summary"].append(dict(name=name, actions=[], **estimation))
    tables["ART_summary"].append(dict(name=name, area=1, **estimation))
for root in wanted:
    if mode == "no-art" and root == "ART":
        continue
    key = "table_summary" if root.endswith("summary") else "tables"
    (out / (root + ".yaml")).write_text(json.dumps({{root: {{"version": number, key: tables[root]}}}}))
Path({seen!r}).write_text(json.dumps(dict(arch=arch, arguments=sys.argv[1:], folder=os.getcwd())))
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a stand-in on PATH, with a home and a temporary folder of the test's own; gives the file of what it saw."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RUBY_MAP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def put(version="0.3", mode="ok"):
        program, seen = tmp_path / "bin" / "accelergy", tmp_path / "seen.json"
        program.parent.mkdir()
        program.write_text(STAND_IN.format(python=sys.executable, version=version, mode=mode, seen=str(seen)))
        program.chmod(0o755)
        return seen

    return put


def refused(arch):
    with pytest.raises(InputError) as error:
        energy_table(arch, engine="accelergy")
    return str(error.value)


@pytest.mark.parametrize("version", ["0.3", "0.4"])
def test_figures_are_read_back(version, install, tmp_path):
    """Each component has the figures that the program told, and the folder of the run is gone."""
    seen = install(version)
    table = energy_table(load_arch("eyeriss_like"), engine="accelergy")
    assert [(level.read_pj, level.write_pj, level.update_pj, level.area_um2) for level in table.levels] == [
        (index, index + 0.5, index + 0.5, 100 * index) for index in range(1, 6)
    ]
    assert (table.compute.compute_pj, table.compute.area_um2) == (6, 600)
    assert {level.source for level in table.levels} == {f"Accelergy {version}"}
    told = json.loads(seen.read_text())
    assert told["arguments"][-5:] == ["-f", "ERT", "ART", "ERT_summary", "ART_summary"]
    assert not Path(told["folder"]).exists()
    assert os.listdir(tmp_path / "tmp") == []
    assert not (tmp_path / "home" / ".config").exists()


def test_the_description(install):
    """The architecture arrives in Accelergy's words: ranges of instances, sizes, quoted text."""
    seen = install("0.4")
    energy_table(load_arch("eyeriss_like"), engine="accelergy")
    told = json.loads(seen.read_text())["arch"]
    by_name = {part["name"]: part for part in told["subtree"][0]["local"]}
    buffer = by_name["shared_glb"]
    assert buffer["class"] == "SRAM"
    assert {key: buffer["attributes"][key] for key in ("width", "depth", "n_banks", "n_rw_ports", "technology")} == {
        "width": 64,
        "depth": 16384,
        "n_banks": 32,
        "n_rw_ports": 2,
        "technology": "45nm",
    }
    assert buffer["required_actions"] == ["read", "write", "leak"]
    assert by_name["MAC[1..168]"]["class"] == "intmac"
    assert by_name["DRAM"]["attributes"]["type"] == "LPDDR4"


def test_version_03_counts_from_zero():
    """In 0.3 ranges begin at 0, and no actions are asked for."""
    parts = description(load_arch("eyeriss_like"), "0.3")["architecture"]["subtree"][0]["local"]
    assert parts[-1]["name"] == "MAC[0..167]"
    assert "required_actions" not in parts[-1]


def test_text_stays_quoted():
    """What is written is YAML in which all text is quoted: Accelergy 0.4 evaluates bare words."""
    told = description(load_arch("simba_like"), "0.4")
    text = quoted(told)
    assert yaml.safe_load(text) == told
    assert '"technology": "45nm"' in text
    assert '"global_cycle_seconds": 5.0e-09' in text


@pytest.mark.parametrize("mode", ["dummy", "dummy-text", "dummy-capital"])
def test_dummy_estimators_are_refused(mode, install):
    """A figure from a dummy, which Accelergy tells with exit status 0, is refused with the component's name."""
    install(mode=mode)
    assert "no estimator for shared_glb, only" in refused(load_arch("eyeriss_like"))


def test_a_missing_component_is_named(install):
    """A component that Accelergy left out is named."""
    install(mode="missing")
    assert "no table for psum_spad" in refused(load_arch("eyeriss_like"))


def test_a_crash_tells_the_end_of_the_log(install):
    """The message of a failed run ends with the program's last words, and names the log, which holds all."""
    install(mode="crash")
    message = refused(load_arch("eyeriss_like"))
    assert "exit status 1" in message
    assert "ERROR: class photonic is not found" in message
    assert "INFO: line 1 " not in message
    log = Path(message.partition("its log: ")[2].partition(";")[0])
    assert "INFO: line 1\n" in log.read_text()


def test_a_table_that_was_not_written(install):
    """Exit status 0 without a table is a failure."""
    install(mode="no-art")
    assert "no ART written" in refused(load_arch("eyeriss_like"))


def test_another_version_is_refused(install):
    """A program that is neither 0.3 nor 0.4 is not run."""
    install(version="0.2")
    assert "is no Accelergy 0.3 or 0.4" in refused(load_arch("eyeriss_like"))


def test_no_program(install):
    """Without the program the message says what to do instead."""
    assert "no program accelergy on PATH; use the engine default" in refused(load_arch("eyeriss_like"))


def test_given_energies_win_and_are_not_asked_for(install):
    """A component with its own `energy` keeps it; the others come from the program."""
    seen = install()
    own = Storage("buf", "photonic", attributes=(("energy", (("read_pj", 7.0), ("write_pj", 8.0))),))
    dram = Storage("DRAM", "DRAM", width_bits=64, fanout=(Axis("X", 4),))
    table = energy_table(Architecture("test", (dram, own), Compute("mac", "intmac")), engine="accelergy")
    assert (table.levels[1].read_pj, table.levels[1].source) == (7.0, "given in the architecture")
    assert table.compute.source == "Accelergy 0.3"
    names = [part["name"] for part in json.loads(seen.read_text())["arch"]["subtree"][0]["local"]]
    assert names == ["DRAM", "mac[0..3]"]


def test_the_users_configuration_is_used(install, tmp_path, monkeypatch):
    """A configuration in the user's home is copied to the run, not changed."""
    home = tmp_path / "home" / ".config" / "accelergy"
    home.mkdir(parents=True)
    (home / "accelergy_config.yaml").write_text("version: 0.3\nmine: true\n")
    install(mode="crash")
    message = refused(load_arch("eyeriss_like"))
    folder = Path(message.partition("its log: ")[2].partition(";")[0]).parent
    assert "mine: true" in (folder / "accelergy_config.yaml").read_text()


def test_estimates_are_kept(install, tmp_path):
    """A second run asks Accelergy for nothing; another architecture only for the components that differ."""
    seen = install("0.4")
    arch = load_arch("eyeriss_like")
    first = energy_table(arch, engine="accelergy")
    seen.unlink()
    assert energy_table(arch, engine="accelergy") == first
    assert not seen.exists()
    other = energy_table(load_arch("eyeriss_like", {"columns": 7, "glb_kib": 64}), engine="accelergy")
    asked = json.loads(seen.read_text())["arch"]["subtree"][0]["local"]
    assert [part["name"] for part in asked] == ["shared_glb"]
    assert other.levels[1].read_pj == 1
    assert other.levels[2:] == first.levels[2:]
    assert os.listdir(tmp_path / "tmp") == []


def test_another_program_is_asked_anew(install, tmp_path):
    """What is kept belongs to the program, its configuration and its estimators as they were."""
    seen = install("0.4")
    arch = load_arch("eyeriss_like")
    energy_table(arch, engine="accelergy")
    seen.unlink()
    tables = tmp_path / "share" / "accelergy" / "estimation_plug_ins"
    tables.mkdir(parents=True)
    (tables / "table.csv").write_text("1")
    energy_table(arch, engine="accelergy")
    assert seen.exists()


def test_nothing_is_kept_of_a_dummy(install, tmp_path):
    """A refused estimate is not found later on."""
    install("0.4", "dummy")
    refused(load_arch("eyeriss_like"))
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(shutil.which("accelergy") is None, reason="needs the program accelergy on PATH (docs/energy.md)")
@pytest.mark.parametrize("name", ["eyeriss_like", "simba_like"])
def test_accelergy_itself(name, monkeypatch):
    """SRAM and MACs as ours but for the address generators; register files without the width of their register."""
    monkeypatch.setenv("RUBY_MAP_CACHE", "")
    arch = load_arch(name)
    theirs, ours = energy_table(arch, engine="accelergy"), energy_table(arch)
    assert theirs.compute.compute_pj == pytest.approx(ours.compute.compute_pj, rel=1e-4)
    for level, found, own in zip(arch.levels, theirs.levels, ours.levels, strict=True):
        added = own.read_pj - found.read_pj
        if level.cls == "SRAM":
            assert added == pytest.approx(ADDRESS_GENERATORS_PJ, rel=1e-2)
        elif level.cls == "regfile":
            bits = 0.009 * (level.width_bits - 1)  # which the plug-in of 0.3 has, and that of 0.4 has not
            known = [0.0, ADDRESS_GENERATORS_PJ, ADDRESS_GENERATORS_PJ + bits]  # the first: one register, no address
            assert min(abs(added - more) for more in known) < 1e-3
        else:
            assert added == pytest.approx(0, abs=1e-6)
