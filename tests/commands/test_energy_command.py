"""The command `ruby-energy`."""

import json

import pytest
from ruby_map.energy import read_art, read_ert
from ruby_map.mapper.commands import ruby_energy as command_energy
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.mapper.commands import ruby_model as command_model


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command in this process; gives exit status, standard output and standard error."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["ruby-energy", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            command_energy.main()
        return stop.value.code, *capsys.readouterr()

    return call


def test_json(run):
    """`--json` prints one object: figures and source of each level, and of the compute units."""
    status, out, err = run("eyeriss_like", "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told["levels"]) == ["DRAM", "shared_glb", "ifmap_spad", "weights_spad", "psum_spad"]
    keys = {"read_pj", "write_pj", "update_pj", "leak_pj_per_cycle", "area_um2", "source"}
    assert all(set(level) == keys for level in told["levels"].values())
    assert told["levels"]["DRAM"]["read_pj"] == 512
    assert told["compute"]["compute_pj"] == pytest.approx(2.20035)
    assert "closed form" in told["compute"]["source"]


def test_text(run):
    """The table for a person has every component, its figures and the source."""
    status, out, _ = run("simba_like")
    assert status == 0
    for words in ("GlobalBuffer", "167.0908", "182.7858", "97.18672", "LMAC (per MAC)", "CACTI grid, plus address gen"):
        assert words in out


def test_written_files_are_read_back(run, tmp_path):
    """What `--write-ert` and `--write-art` save gives the same table through `--ert` and `--art`."""
    ert, art = tmp_path / "e.yaml", tmp_path / "a.yaml"
    _, first, _ = run("eyeriss_like", "--json", "--write-ert", ert, "--write-art", art)
    status, second, _ = run("eyeriss_like", "--json", "--ert", ert, "--art", art)
    assert status == 0
    one, other = json.loads(first), json.loads(second)
    for name, level in one["levels"].items():
        assert other["levels"][name] == level | {"source": f"ERT file {ert}; area: ART file {art}"}
    assert read_ert(ert)["shared_glb"]["read"] == one["levels"]["shared_glb"]["read_pj"]
    assert read_art(art)["MAC"] == one["compute"]["area_um2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no_such_machine"], "no_such_machine"),
        (["eyeriss_like", "--ert", "none.yaml"], "none.yaml: no such file"),
        (
            ["eyeriss_like", "--energy", "magic"],
            "--energy: must be one of default, accelergy, hwcomponents; got 'magic'",
        ),
        (["eyeriss_like", "--write-ert", "none/e.yaml"], "none/e.yaml: cannot be written"),
    ],
)
def test_bad_input(arguments, words, run, tmp_path, monkeypatch):
    """Bad input ends with exit status 2, its message on standard error, nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*arguments, "--json")
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_warnings_go_to_standard_error(run, tmp_path):
    """A figure that is only near what was asked for is told on standard error; the object stays alone."""
    path = tmp_path / "small.yaml"
    path.write_text(
        """
name: small
technology: 45nm
levels:
  - {name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64, word_bits: 16}
  - {name: GLB, class: SRAM, capacity_bytes: 256, width_bits: 64, word_bits: 16}
compute: {name: MAC, class: intmac, word_bits: 16}
"""
    )
    status, out, err = run(path, "--json")
    assert status == 0
    assert "nearest point" in json.loads(out)["levels"]["GLB"]["source"]
    assert err.startswith("warning: SRAM of 256 B x 64 b")


SMALL = """
name: small
technology: 45nm
levels:
  - {name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64, word_bits: 16}
  - {name: GLB, class: SRAM, capacity_bytes: 256, width_bits: 64, word_bits: 16}
compute: {name: MAC, class: intmac, word_bits: 16}
"""


def test_the_other_commands_tell_them_too(tmp_path, monkeypatch, capsys):
    """ruby-map and ruby-model warn in the same words, and their object stays alone on standard output."""
    (tmp_path / "small.yaml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    calls = [
        (
            command_map.main,
            ["small.yaml", "rank1_100", "--search", "random", "--samples", "20", "--out", "found", "--json"],
        ),
        (command_model.main, ["small.yaml", "rank1_100", "found/mapping.yaml", "--json"]),
    ]
    for main, arguments in calls:
        monkeypatch.setattr("sys.argv", ["ruby", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert stop.value.code == 0
        assert json.loads(out)["energy_pj"] > 0
        assert err.count("warning: SRAM of 256 B x 64 b") == 1
