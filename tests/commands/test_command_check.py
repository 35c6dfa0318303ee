"""`ruby-map --certificate` and `ruby-check`: what a user sees, and the exit statuses."""

import gzip
import json
import os

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.commands import ruby_check as command_check
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.proof.certify import certified_mapping
from ruby_map.mapper.report import folder as output
from ruby_map.workloads import Fault, InputError, shaped
from typer.testing import CliRunner

LAYER = "name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n"


def run(main, *arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def check(*arguments):
    return run(command_check.main, *arguments)


@pytest.fixture
def layer(tmp_path):
    path = tmp_path / "mm.yaml"
    path.write_text(LAYER)
    return path


def certify(layer, path, *more, arch="linear_8", search=("--search", "optimal")):
    """Prove a layer, and write the certificate."""
    found = run(command_map.main, arch, layer, *search, "--certificate", path, *more)
    assert found.exit_code == 0, found.stderr
    assert path.is_file(), found.stderr
    return found


@pytest.mark.parametrize("name", ["c.json", "c.json.gz"])
def test_a_proof_is_verified(layer, tmp_path, name):
    """Status 0, as text and as JSON, with the value that the search reported."""
    best = json.loads(certify(layer, tmp_path / name, "--json").stdout)
    checked = check("linear_8", layer, tmp_path / name)
    assert checked.exit_code == 0
    assert f"no mapping has a lower EDP than {best['edp']:.6g}" in checked.stdout
    said = json.loads(check("linear_8", layer, tmp_path / name, "--json").stdout)
    assert said["verified"]
    assert said["layers"][0]["value"] == pytest.approx(best["edp"])
    assert said["layers"][0]["combinations"] == best["combinations"]["all"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "mm.yaml"]


def test_a_bound_is_verified(layer, tmp_path):
    """--bound with another search: the bound of the best mapping that it found."""
    certify(layer, tmp_path / "c.json", "--bound", search=("--search", "random", "--samples", 50))
    assert check("linear_8", layer, tmp_path / "c.json").exit_code == 0


def test_a_network_is_verified_layer_by_layer(tmp_path, layer):
    """Every layer has its line; one that the certificate does not speak of is refused."""
    (tmp_path / "n.yaml").write_text(
        "name: n\nlayers:\n  - {layer: ./mm.yaml, count: 2}\n"
        "  - {name: other, shape: matmul, sizes: {M: 5, N: 3, K: 4}}\n"
    )
    certify(tmp_path / "n.yaml", tmp_path / "c.json")
    checked = check("linear_8", tmp_path / "n.yaml", tmp_path / "c.json")
    assert checked.exit_code == 0
    assert checked.stdout.count("verified: ") == 2
    said = json.loads((tmp_path / "c.json").read_text())
    said["layers"].pop()
    (tmp_path / "c.json").write_text(json.dumps(said))
    checked = check("linear_8", tmp_path / "n.yaml", tmp_path / "c.json")
    assert (checked.exit_code, checked.stdout) == (1, "refused: other: nothing is said of it\n")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--pad",), "the padded layer M=16 "),
        (("--leakage",), "with leakage"),
        (("--drain-reads",), "with reads of drained words"),
        (("--hop-pj", "2"), "with 2 pJ a hop"),
        (("--wire-pj-per-bit-mm", "0.5", "--tile-mm", "2"), "with 1 pJ a bit and hop"),
    ],
)
def test_what_is_verified_is_said(layer, tmp_path, options, told):
    """A certificate of a padded layer, or with more costs, is of another problem, and says so."""
    if "--pad" in options:
        layer.write_text(LAYER.replace("M: 7, N: 6, K: 10", "M: 13, N: 3, K: 11"))
    certify(layer, tmp_path / "c.json", *options, "--mapspace", "pfm")
    again = ("linear_8", layer, tmp_path / "c.json", *(["--pad"] if "--pad" in options else []))
    checked = check(*again)
    assert checked.exit_code == 0
    assert told in checked.stdout
    (said,) = json.loads(check(*again, "--json").stdout)["layers"]
    assert said["pad"] == ("--pad" in options)
    assert any(said["costs"].values()) == ("--pad" not in options)


def test_where_nothing_costs_anything(tmp_path, layer):
    """With no energy but that of wires no weights are written: what is left open is below nothing, and verified."""
    levels = ["{name: DRAM, class: DRAM, energy: FREE}"]
    levels += ["{name: glb, class: SRAM, capacity_words: 40, fanout: [{name: PE, size: 3}], energy: FREE}"]
    free = "{read_pj: 0, write_pj: 0, update_pj: 0, leak_pj_per_cycle: 0}"
    text = f"name: free\nlevels: [{', '.join(levels)}]\ncompute: {{name: MAC, class: intmac, energy: COMPUTE}}\n"
    text = text.replace("FREE", free).replace("COMPUTE", "{compute_pj: 0, leak_pj_per_cycle: 0}")
    (tmp_path / "a.yaml").write_text(text)
    limit = ("--mapspace", "ruby", "--hop-pj", 2, "--search", "optimal", "--time-limit", 1)
    certify(layer, tmp_path / "c.json", arch=tmp_path / "a.yaml", search=limit)
    checked = check(tmp_path / "a.yaml", layer, tmp_path / "c.json")
    assert checked.exit_code == 0, checked.stdout


def test_a_machine_with_uneven_placement(layer, tmp_path):
    """It is verified for the machine as its file has it, and refused for the same with even placement."""
    keep = "keep: [Weights, Inputs, Outputs]"
    levels = ["{name: DRAM, class: DRAM}", f"{{name: glb, class: SRAM, capacity_words: 512, {keep}}}"]
    levels += [f"{{name: pad, class: regfile, capacity_words: 9, {keep}, placement: uneven}}"]
    text = f"name: uneven\nlevels: [{', '.join(levels)}]\ncompute: {{name: MAC, class: intmac}}\n"
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "even.yaml").write_text(text.replace(", placement: uneven", ""))
    certify(layer, tmp_path / "c.json", "--mapspace", "pfm", arch=tmp_path / "a.yaml")
    checked = check(tmp_path / "a.yaml", layer, tmp_path / "c.json")
    assert checked.exit_code == 0, checked.stdout
    assert "mm on uneven, remainders at no slot: no mapping has a lower EDP than" in checked.stdout
    checked = check(tmp_path / "even.yaml", layer, tmp_path / "c.json")
    assert checked.exit_code == 1
    assert checked.stdout.startswith("refused: mm: ")


def test_what_is_refused(layer, tmp_path):
    """Status 1 with the layer and the reason, as text and as JSON."""
    certify(layer, tmp_path / "c.json")
    said = json.loads((tmp_path / "c.json").read_text())
    assert check("linear_16", layer, tmp_path / "c.json").exit_code == 1
    said["layers"][0]["lower_bound"] *= 1.1
    (tmp_path / "c.json").write_text(json.dumps(said))
    checked = check("linear_8", layer, tmp_path / "c.json")
    assert checked.exit_code == 1
    assert checked.stdout.startswith("refused: mm: the lower bound")
    checked = check("linear_8", layer, tmp_path / "c.json", "--json")
    assert checked.exit_code == 1
    told = json.loads(checked.stdout)
    assert (told["verified"], told["layer"]) == (False, "mm")
    assert told["reason"].startswith("the lower bound")
    said["layers"] *= 2
    (tmp_path / "c.json").write_text(json.dumps(said))
    checked = check("linear_8", layer, tmp_path / "c.json")
    assert (checked.exit_code, checked.stdout) == (1, "refused: mm: it is spoken of more than once\n")


def test_a_front_says_how_many_points_it_has(layer, tmp_path):
    """A point that is there twice is one; one that another beats, or a bound of a front, is refused."""
    path = tmp_path / "c.json"
    front = json.loads(certify(layer, path, "--front", "energy,delay", "--json").stdout)["front"]
    said = json.loads(path.read_text())
    best = said["layers"][0]["best"]

    def changed(**change):
        path.write_text(json.dumps(said | {"layers": [said["layers"][0] | change]}))
        return check("linear_8", layer, path)

    assert f"the front of energy and cycles, {len(front)} mappings" in changed().stdout
    assert f"the front of energy and cycles, {len(front)} mappings" in changed(best=[*best, *best]).stdout
    assert changed(lower_bound=1e300).exit_code == 1
    assert changed(best=[]).exit_code == 1
    worse = beaten(best[0])
    refused = changed(best=[*best, worse])
    assert refused.exit_code == 1
    assert "is beaten by another" in refused.stdout


def beaten(said):
    """A mapping that is slower than one of a front, and takes half as much energy again."""
    space = Mapspace(load_arch("linear_8"), shaped("matmul", "mm", M=7, N=6, K=10), "pfm")
    table = energy_table(space.arch)
    each = [certified_mapping(space[i], table, Charges()) for i in range(0, 200, 7)]
    clearly = [one for one in each if one.energy_pj > 1.5 * said["energy_pj"] and one.cycles >= said["cycles"]]
    return json.loads(clearly[0].model_dump_json())


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"format": 1, "program": "", "arch": "", "layers": []}'],
    ids=["empty", "an object", "bytes", "deep", "no layers"],
)
def test_what_is_no_certificate(layer, tmp_path, content):
    """Status 2, with the file."""
    (tmp_path / "c.json").write_bytes(content)
    checked = check("linear_8", layer, tmp_path / "c.json")
    assert checked.exit_code == 2
    assert "c.json" in checked.stderr
    assert "is no certificate" in checked.stderr
    assert not checked.stdout


def test_what_is_no_file(layer, tmp_path):
    """Missing, a folder, a pipe that nobody writes, a device, damaged or too large once unpacked: status 2."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"{}" * 1000)[:20])
    (tmp_path / "flipped.gz").write_bytes(b"\x1f\x8b\x08" + bytes(20))
    (tmp_path / "plain.gz").write_bytes(b"{}")
    places = {"none": "no such file", ".": "a directory", "pipe": "a named pipe", "/dev/zero": "a device"}
    places |= dict.fromkeys(("cut.gz", "flipped.gz", "plain.gz"), "cannot be unpacked")
    for place, told in places.items():
        checked = check("linear_8", layer, tmp_path / place)
        assert checked.exit_code == 2
        assert told in checked.stderr


def test_every_fault_of_where_a_certificate_goes(layer, tmp_path):
    """Known before the search begins: nothing proves, or nothing can be written there."""
    found = run(command_map.main, "linear_8", layer, "--search", "random", "--certificate", tmp_path)
    assert found.exit_code == 2
    assert "needs a proof: give --search optimal, or --bound" in found.stderr
    assert f"certificate: {tmp_path}: cannot be written: it is a directory" in found.stderr


def test_what_cannot_be_written_is_a_fault_beside_the_result(layer, tmp_path, monkeypatch):
    """The result is printed all the same."""

    def full(*_):
        raise InputError(Fault("c.json", None, "", "cannot be written: No space left on device"))

    monkeypatch.setattr(output, "write_certificate", full)
    path = tmp_path / "c.json"
    found = run(command_map.main, "linear_8", layer, "--search", "optimal", "--certificate", path, "--json")
    assert found.exit_code == 2
    assert json.loads(found.stdout)["optimal"]
    assert "No space left on device" in found.stderr


def test_a_proof_is_done_again_for_its_certificate(layer, tmp_path):
    """A run that was killed between its proof and the file goes on to the certificate of an unbroken run."""
    whole, path, keep = tmp_path / "whole.json", tmp_path / "c.json", ("--search", "optimal", "--certificate")
    assert run(command_map.main, "linear_8", layer, *keep, whole).exit_code == 0
    assert run(command_map.main, "linear_8", layer, *keep, path, "--out", tmp_path / "out").exit_code == 0
    path.unlink()
    again = run(command_map.main, "linear_8", layer, *keep, path, "--out", tmp_path / "out", "--resume")
    assert (again.exit_code, again.stderr) == (0, "")
    assert path.read_text() == whole.read_text()
