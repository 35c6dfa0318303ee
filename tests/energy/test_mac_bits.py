"""MACs by the bits of a layer's tensors, and partial sums that lose bits."""

import json
from dataclasses import replace
from math import isclose

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import closed_form, energy_table
from ruby_map.mapper.commands.ruby_check import main as check
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as model
from ruby_map.mapper.exploration import evaluate
from ruby_map.workloads import shaped
from typer.testing import CliRunner

BITS = st.integers(1, 64)
LAYER = {"shape": "matmul", "sizes": {"M": 8, "N": 4, "K": 6}}


def layer(**word_bits):
    names = {"A": "Weights", "B": "Inputs", "Z": "Outputs"}
    return shaped("matmul", word_bits={names[key]: bits for key, bits in word_bits.items()}, **LAYER["sizes"])


def mac_pj(workload, bits=8, cls="intmac", **attributes):
    arch = load_arch("toy_6pe")
    compute = replace(arch.compute, cls=cls, word_bits=bits, attributes=tuple(attributes.items()))
    return energy_table(replace(arch, compute=compute)).compute.mac_pj(workload)


@given(BITS, st.sampled_from(["intmac", "fpmac"]))
def test_equal_bits_cost_what_the_unit_of_these_bits_does(bits, cls):
    """A layer whose tensors all have the unit's bits costs the closed form's figure, and so does one without widths."""
    whole = (closed_form.float_mac if cls == "fpmac" else closed_form.integer_mac)(bits).read_pj
    assert isclose(mac_pj(layer(A=bits, B=bits, Z=bits), bits, cls), whole)
    assert mac_pj(layer(), bits, cls) == whole


@given(BITS, BITS, BITS, BITS)
def test_bits_cost_by_factor_and_sum(a, b, total, unit):
    """The product of the factors' bits, and the bits of the sum, in Aladdin's figures; the order of factors is none."""
    expected = 8.63 * a * b / 32**2 + 0.0857 * total / 32
    assert isclose(mac_pj(layer(A=a, B=b, Z=total), unit), expected)
    assert isclose(mac_pj(layer(A=b, B=a, Z=total), unit), expected)
    assert isclose(mac_pj(layer(A=a), unit), 8.63 * a * unit / 32**2 + 0.0857 * unit / 32)


def test_figures_of_the_machines_stay():
    """Without widths in the layer a MAC costs what Accelergy says: 0.5608 pJ of 8 bits, 2.20035 of 16."""
    plain = layer()
    assert energy_table(load_arch("simba_like")).compute.mac_pj(plain) == pytest.approx(0.5608, abs=5e-5)
    assert energy_table(load_arch("eyeriss_like")).compute.mac_pj(plain) == pytest.approx(2.20035, abs=5e-6)


def test_nodes_scale_all_bits_alike():
    """A narrow MAC at 32 nm is as much less than at 45 nm as a wide one."""
    narrow, wide = layer(A=4, B=4, Z=8), layer()
    small, large = ([mac_pj(work, technology_nm=nm) for nm in (32, 45)] for work in (narrow, wide))
    assert isclose(small[0] / small[1], large[0] / large[1])


def test_given_figures_are_for_all_bits(tmp_path):
    """An ERT and an architecture's own figure say what a MAC costs, whatever the bits."""
    narrow = layer(A=4, B=4, Z=8)
    assert mac_pj(narrow, energy=(("compute_pj", 3.0),)) == 3.0
    arch, path = load_arch("toy_6pe"), tmp_path / "ert.yaml"
    actions = [{"name": each, "energy": 5.0} for each in ("read", "write", "update", "compute")]
    rows = [{"name": each.name, "actions": actions} for each in (*arch.levels, arch.compute)]
    path.write_text(yaml.safe_dump({"ERT": {"version": 0.4, "tables": rows}}))
    assert energy_table(arch, ert=path).compute.mac_pj(narrow) == 5.0


@pytest.fixture
def mixed(tmp_path):
    """A network whose first layer has narrow words, and whose second has none of its own."""
    path = tmp_path / "net.yaml"
    layers = [
        LAYER | {"name": "narrow", "word_bits": {"Weights": 4, "Inputs": 8, "Outputs": 16}},
        LAYER | {"name": "plain"},
    ]
    path.write_text(yaml.safe_dump({"name": "net", "layers": layers}))
    return path


def run(app, *args):
    return CliRunner().invoke(app, list(map(str, args)))


def test_each_layer_of_a_network_has_its_bits(mixed):
    """The MACs of each layer cost by its own widths, and the report of a layer says so."""
    whole = json.loads(run(ruby_map, "toy_6pe", mixed, "--json").stdout)
    narrow, plain = ([each["compute"]["energy_pj"] for each in whole["layers"] if each["workload"] == name][0]
                     for name in ("narrow", "plain"))  # fmt: skip
    arch = load_arch("toy_6pe")
    form = energy_table(arch).compute
    assert plain == pytest.approx(192 * form.compute_pj)
    assert narrow == pytest.approx(192 * (8.63 * 32 / 32**2 + 0.0857 * 16 / 32))
    assert "MAC          4 x 8 bits, sums of 16: 0.3125 pJ" in run(ruby_map, "toy_6pe", f"{mixed}/narrow").stdout


def test_proofs_count_the_bits(mixed, tmp_path):
    """A certificate of a layer with narrow words is verified with the same MACs."""
    out = tmp_path / "proof.json"
    assert run(ruby_map, "toy_6pe", f"{mixed}/narrow", "--certificate", out).exit_code == 0
    verified = run(check, "toy_6pe", f"{mixed}/narrow", out)
    assert verified.exit_code == 0, verified.output
    refused = run(check, "toy_6pe", f"{mixed}/plain", out)
    assert refused.exit_code != 0


def test_partial_sums_that_come_back_wider(tmp_path):
    """A buffer that hands 8-bit sums back to accumulators of 24 bits is named, one that gets finished sums is not."""
    arch, work = load_arch("simba_like"), shaped("matmul", M=16, N=16, K=64)
    spill = "mapping: [{target: GlobalBuffer, type: temporal, factors: K=64 M=16 N=16, permutation: MNK}]"
    stay = spill.replace("MNK", "KMN")
    texts = []
    for name, text in (("spill", spill), ("stay", stay)):
        (tmp_path / f"{name}.yaml").write_text(text)
        texts.append(evaluate(arch, work, str(tmp_path / f"{name}.yaml")).warnings)
    assert texts == [["GlobalBuffer stores partial sums of Outputs in 8 bits, PEAccuBuffer accumulates them in 24"], []]


def test_partial_sums_that_need_more(mixed, tmp_path):
    """With widths given, a memory of fewer bits than an exact sum needs is named, in the text and the JSON."""
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text("mapping: [{target: GLB, type: temporal, factors: M=8 N=4 K=6, permutation: KMN}]")
    narrow = yaml.safe_load(mixed.read_text())
    narrow["layers"][0]["word_bits"]["Outputs"] = 12
    mixed.write_text(yaml.safe_dump(narrow))
    args = ("toy_6pe", f"{mixed}/narrow", mapping)
    rule = "stores partial sums of Outputs in 12 bits, exact ones need 15 (4 + 8 + 3)"
    assert f"warning      GLB {rule}" in run(model, *args).stdout
    assert json.loads(run(model, *args, "--json").stdout)["warnings"] == [f"GLB {rule}"]
    narrow["layers"][0]["word_bits"]["Outputs"] = 15
    mixed.write_text(yaml.safe_dump(narrow))
    assert "warning" not in run(model, *args).stdout
