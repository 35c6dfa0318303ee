"""ZigZag's files: written and read back with the same counts, read with every fault, by both commands."""

import copy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.arch.zigzag.write import write_zigzag_accelerator
from ruby_map.mapper.commands.ruby_export import main as export
from ruby_map.mapper.commands.ruby_import import main as ruby_import
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.exploration import evaluate
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import load_workload, shaped
from typer.testing import CliRunner

from ..conftest import DEEP

LAYERS = {
    "conv2d": {"M": 8, "C": 6, "P": 5, "Q": 4, "R": 3, "S": 2, "N": 2},
    "conv1d": {"M": 4, "C": 2, "P": 6, "R": 3},
    "conv3d": {"M": 2, "C": 2, "O": 3, "P": 4, "Q": 2, "T": 2, "R": 1, "S": 3},
    "matmul": {"M": 8, "N": 6, "K": 10},
    "batched_matmul": {"B": 3, "M": 8, "N": 6, "K": 10},
}
MACHINES = ("toy_6pe", "eyeriss_like_free", "linear_8", "gemmini_8", "eyeriss_like")
PORT = {"name": "rw_port_1", "type": "read_write", "bandwidth_min": 8, "bandwidth_max": 64, "allocation": ["O, tl"]}


def memory(operands, served, **more):
    return {"size": 4096, "r_cost": 1.5, "w_cost": 2.5, "area": 0, "latency": 1, "operands": operands,
            "ports": [PORT], "served_dimensions": served} | more  # fmt: skip


ACCELERATOR = {
    "name": "mine",
    "memories": {
        "reg_W": memory(["I2"], ["D2"]),
        "reg_O": memory(["O"], ["D1"], force_double_buffering=True),
        "sram": memory(["I1", "I2", "O"], ["D1", "D2"]),
        "dram": memory(["I1", "I2", "O"], ["D1", "D2"], size=10**10),
    },
    "operational_array": {"unit_energy": 0.5, "unit_area": 1, "dimensions": ["D1", "D2"], "sizes": [4, 8]},
}
SPREAD = [{"name": "default", "spatial_mapping": {"D1": ["C, 4"], "D2": ["OX, 8"]}}]


def run(app, *args):
    return CliRunner().invoke(app, list(map(str, args)))


def put(path, data):
    path.write_text(yaml.safe_dump(data, sort_keys=False))
    return path


@pytest.fixture
def machine(tmp_path):
    """A machine of the library by name, or gemmini_like with words of 8 bits everywhere."""

    def make(name):
        if name != "gemmini_8":
            return name
        accumulator = {"name": "Accumulator", "word_bits": 8, "width_bits": 128}
        return put(tmp_path / "gemmini_8.yaml", {"base": "gemmini_like", "name": "gemmini_8", "levels": [accumulator]})

    return make


@pytest.mark.parametrize("shape", LAYERS)
@pytest.mark.parametrize("name", MACHINES)
def test_written_and_read_back_counts_are_the_same(name, shape, machine, tmp_path):
    """Of some random mappings cycles, words and energies are the same on the machine and the layer that come back."""
    arch, layer = load_arch(str(machine(name))), shaped(shape, **LAYERS[shape])
    file = put(tmp_path / "layer.yaml", {"shape": shape, "sizes": LAYERS[shape]})
    assert run(export, machine(name), file, "--format", "zigzag", "--out", tmp_path / "zz").exit_code == 0
    for written, back in (("accelerator", "arch"), ("workload", "net")):
        done = run(ruby_import, tmp_path / "zz" / f"{written}.yaml", "--out", tmp_path / f"{back}.yaml")
        assert done.exit_code == 0, done.output
    again = load_arch(str(tmp_path / "arch.yaml"))
    assert [level.name for level in again.levels] == [level.name for level in arch.levels]
    ((same, count),) = load_workload(tmp_path / "net.yaml").layers
    assert (same.dims, same.sizes, count) == (layer.dims, layer.sizes, 1)
    space = Mapspace(arch, layer, "pfm")
    for number in range(10 if DEEP else 3):
        batch = space.sample(np.random.default_rng(number), 1)
        other = MappingBatch.of(again, same, batch.factors, batch.order, batch.keep)
        one, two = evaluate(arch, layer, batch), evaluate(again, same, other)
        assert one.valid_costs.counts.cycles[0] == two.valid_costs.counts.cycles[0]
        for words in ("reads", "fills", "updates"):
            ours, theirs = (getattr(each.valid_costs.counts, words) for each in (one, two))
            assert (ours == theirs).all()
        assert two.energy_pj == pytest.approx(one.energy_pj, rel=1e-12)


def test_what_zigzag_cannot_say_is_told(tmp_path):
    """Words of two widths, more than four axes, and systolic arrays are refused by name, and nothing is written."""
    wide = run(export, "simba_like", "matmul_100", "--format", "zigzag", "--out", tmp_path / "a")
    assert (wide.exit_code, "words of Outputs have one width in ZigZag" in wide.stderr) == (2, True)
    many = run(export, "tensor_core_like", "matmul_100", "--format", "zigzag", "--out", tmp_path / "b")
    assert (many.exit_code, "6 axes, its mapping files know 4" in many.stderr) == (2, True)
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()


def test_a_mapping_is_written_as_its_spatial_loops(tmp_path):
    """The spatial bounds of a mapping stand in the mapping file, by array dimension and in ZigZag's names."""
    path = tmp_path / "m.yaml"
    path.write_text("mapping: [{target: GLB, type: spatial, factors: M=3 C=2, permutation: MC, split: 1},"
                    "{target: GLB, type: temporal, factors: N=1 M=1 C=1 P=4 Q=4 R=1 S=1}]")  # fmt: skip
    layer = put(tmp_path / "layer.yaml", {"shape": "conv2d", "sizes": {"M": 3, "C": 2, "P": 4, "Q": 4, "R": 1, "S": 1}})
    assert run(export, "toy_6pe", layer, path, "--format", "zigzag", "--out", tmp_path / "zz").exit_code == 0
    (entry,) = yaml.safe_load((tmp_path / "zz/mapping.yaml").read_text())
    assert entry["spatial_mapping"] == {"D1": ["K, 3"], "D2": ["C, 2"]}


def test_an_accelerator_becomes_an_architecture(tmp_path):
    """Memories, costs, bandwidths, double buffering; and copies of a memory that stands beside another."""
    arch, out = put(tmp_path / "a.yaml", ACCELERATOR), tmp_path / "arch.yaml"
    done = run(ruby_import, arch, "--mapping", put(tmp_path / "m.yaml", SPREAD), "--out", out)
    assert done.exit_code == 0, done.output
    machine = load_arch(str(out))
    assert [(level.name, machine.instances(i)) for i, level in enumerate(machine.levels)] == [
        ("dram", 1), ("sram", 1), ("reg_W", 4), ("reg_O", 32)
    ]  # fmt: skip
    register = machine.levels[3]
    energies = dict(register.attribute("energy"))
    assert energies["read_pj"] == 1.5 / 4  # of four copies, each with a share
    assert (register.multiple_buffering, register.capacity_bits, register.width_bits) == (2, 4096, 64)
    assert [(limit.kind, limit.rate) for limit in machine.levels[1].bandwidths] == [("shared", 8)]
    assert run(ruby_map, out, "alexnet/conv3", "--quick").exit_code == 0


@pytest.mark.parametrize(
    ("ports", "limits"),
    [
        ({"read": 64, "write": 32}, {"read": 8, "write": 4}),
        ({"read": 64, "read_write": 16}, {"read": 10, "write": 2, "shared": 10}),
        ({"read": 64, "write": 32, "read_write": 16}, {"read": 10, "write": 6, "shared": 14}),
    ],
)
def test_a_port_for_both_is_shared(tmp_path, ports, limits):
    """ZigZag lets what passes a port take turns: reads and writes wait for each other there alone."""
    of_kinds = [PORT | {"name": f"{kind}_1", "type": kind, "bandwidth_max": bits} for kind, bits in ports.items()]
    path = put(tmp_path / "a.yaml", changed(("memories", "sram", "ports"), of_kinds))
    done = run(ruby_import, path, "--mapping", put(tmp_path / "m.yaml", SPREAD), "--out", tmp_path / "arch.yaml")
    assert done.exit_code == 0, done.output
    sram = load_arch(str(tmp_path / "arch.yaml")).levels[1]
    assert {limit.kind: limit.rate for limit in sram.bandwidths} == limits


@pytest.mark.parametrize(
    ("limits", "ports"),
    [
        ({"shared": 4}, {"read_write": 32}),
        ({"shared": 4, "read": 6}, {"read_write": 32}),
        ({"shared": 4, "read": 2, "write": 1}, {"read": 16, "write": 8}),
        ({"read": 4, "write": 4}, {"read": 32, "write": 32}),
    ],
)
def test_bandwidths_become_ports(tmp_path, limits, ports):
    """One port where reads and writes take turns; limits that others imply are left out."""
    arch = load_arch("toy_6pe")
    rates = {f"{kind}_bandwidth": rate for kind, rate in limits.items()}
    level = replace(arch.levels[0], word_bits=8, **rates)
    arch = replace(arch, levels=(level, *arch.levels[1:]), compute=replace(arch.compute, word_bits=8))
    kept = {own.name: {"Inputs", "Weights", "Outputs"} for own in arch.levels}
    written = write_zigzag_accelerator(arch, {own.name: (1.0, 1.0, 1.0) for own in arch.levels}, 1.0, kept)
    assert {port["type"]: port["bandwidth_max"] for port in written["memories"][level.name]["ports"]} == ports
    smaller = replace(
        arch, levels=(replace(level, shared_bandwidth=4.0, read_bandwidth=2.0, write_bandwidth=None), *arch.levels[1:])
    )
    with pytest.raises(ValueError, match="each word passes one port"):
        write_zigzag_accelerator(smaller, {own.name: (1.0, 1.0, 1.0) for own in arch.levels}, 1.0, kept)


def changed(path, value):
    """The accelerator with another value at a path."""
    data = copy.deepcopy(ACCELERATOR)
    *way, last = path
    at = data
    for key in way:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(("operational_array", "is_imc"), True), "computing in memory has no counterpart here"),
        (changed(("operational_array", "sizes"), [4]), "a size for each of the dimensions is expected"),
        (changed(("memories", "sram", "served_dimensions"), ["D1", "D7"]), "unknown dimension 'D7'"),
        (changed(("memories", "sram", "size"), None), 'memories.sram: the key "size" is missing'),
        (changed(("memories", "sram", "operands"), ["I3"]), "memories.sram.operands"),
        (changed(("memories", "dram", "served_dimensions"), ["D1"]), "must serve the whole array"),
        (changed(("memories", "dram", "operands"), ["O"]), "dram lacks I1, I2"),
        (changed(("memories", "sram", "ports"), []), "a port is expected"),
        (changed(("memories", "sram", "cost"), 1), "memories.sram.cost"),
        (ACCELERATOR, "give a mapping file that says so"),
    ],
)
def test_accelerators_that_are_refused(data, message, tmp_path):
    """Each fault has the file, its line and its path; nothing is written."""
    path, out = put(tmp_path / "a.yaml", data), tmp_path / "out.yaml"
    refused = run(ruby_import, path, "--out", out)
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert f"{path}:" in refused.stderr
    assert not out.exists()


def test_copies_that_would_differ_are_refused(tmp_path):
    """A register of outputs whose copies would hold different outputs is no copy: the fault names the dims."""
    spread = [{"name": "default", "spatial_mapping": {"D1": ["K, 4"], "D2": ["OX, 8"]}}]
    refused = run(ruby_import, put(tmp_path / "a.yaml", ACCELERATOR), "--mapping", put(tmp_path / "m.yaml", spread))
    assert refused.exit_code == 2
    assert "reg_O" in refused.stderr
    assert "it is spread over M" in refused.stderr


def test_a_dimension_that_the_array_does_not_have_is_told(tmp_path):
    """A slip in the mapping file would take a constraint away."""
    spread = [SPREAD[0] | {"spatial_mapping": SPREAD[0]["spatial_mapping"] | {"D9": ["K, 4"]}}]
    done = run(ruby_import, put(tmp_path / "a.yaml", ACCELERATOR), "--mapping", put(tmp_path / "m.yaml", spread))
    assert done.exit_code == 0
    assert "D9 of the mapping file has no effect: the array has D1, D2" in done.stderr


LAYER = {
    "id": 3, "operator_type": "Conv", "equation": "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]",
    "dimension_relations": ["ix=2*ox+1*fx", "iy=2*oy+3*fy"], "loop_dims": ["B", "K", "C", "OY", "OX", "FY", "FX"],
    "loop_sizes": [1, 8, 4, 7, 5, 3, 2], "operand_precision": {"W": 4, "I": 8, "O": 16, "O_final": 8},
    "operand_source": {"I": 0, "W": 3},
}  # fmt: skip


def test_layers_get_the_dims_of_our_shapes(tmp_path):
    """By their part in the equation: strides, dilations and widths come along, equal layers are counted."""
    pool = {"id": 4, "operator_type": "Pooling", "equation": "O[b]+=W[b]*I[b]"}
    path = put(tmp_path / "w.yaml", [LAYER, LAYER | {"id": 5}, pool])
    done = run(ruby_import, path)
    assert "Pooling 1" in done.stdout
    (layer,) = yaml.safe_load(done.stdout)["layers"]
    assert layer == {
        "name": "layer_3", "count": 2, "shape": "conv2d", "stride": [2, 2], "dilation": [3, 1],
        "sizes": {"N": 1, "M": 8, "C": 4, "P": 7, "Q": 5, "R": 3, "S": 2},
        "word_bits": {"Weights": 4, "Inputs": 8, "Outputs": 16},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"equation": "O[b][k]=W[k][c]-I[b][c]"}, "an equation O[..] += W[..] * I[..] is expected"),
        ({"loop_sizes": [1, 8]}, "a size for each of the loop_dims"),
        ({"dimension_relations": ["ix=ox"]}, "ix=2*ox+1*fx is expected, got 'ix=ox'"),
        ({"equation": "O[b][k][oy][ox]+=W[k][c][z][fx]*I[b][c][iy][ix]"}, "Z has no size"),
        ({"equation": "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][fy][ix]"}, "has no size|no convolution"),
        ({"loop_sizes": [1, 8, 4, 7, 5, 3, 0]}, "loop_sizes"),
        ({"operand_precision": None}, "operand_precision"),
    ],
)
def test_layers_that_are_refused(change, message, tmp_path):
    """Equations that are no product of ours, sizes that are missing: file, line and path, status 2."""
    path = put(tmp_path / "w.yaml", [LAYER | change])
    refused = run(ruby_import, path)
    assert refused.exit_code == 2, refused.output
    assert any(part in refused.stderr for part in message.split("|")), refused.stderr
    assert f"{path}:" in refused.stderr


def test_other_files_are_named(tmp_path):
    """A YAML file of neither kind, and a mapping file beside a workload."""
    other = run(ruby_import, put(tmp_path / "x.yaml", {"layers": []}))
    assert (other.exit_code, "is neither an accelerator" in other.stderr) == (2, True)
    beside = run(ruby_import, put(tmp_path / "w.yaml", [LAYER]), "--mapping", tmp_path / "x.yaml")
    assert (beside.exit_code, "goes with an accelerator" in beside.stderr) == (2, True)


def places(data, at=()):
    """The paths of all values below `data`."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


@given(st.data())
def test_a_damaged_file_is_read_or_refused(data):
    """Whatever value stands in any place, the answer is an architecture, a network, or faults with status 2."""
    whole = copy.deepcopy(data.draw(st.sampled_from([ACCELERATOR, [LAYER]])))
    *way, last = data.draw(st.sampled_from(list(places(whole))))
    at = whole
    for key in way:
        at = at[key]
    odd = [None, "", "x", -1, 0, 2.5, [], {}, [[]], {"D1": 1}, True, 10**30, ["D1", "D1"], "D1, 4"]
    at[last] = data.draw(st.sampled_from(odd))
    with TemporaryDirectory() as folder:
        done = run(ruby_import, put(Path(folder, "file.yaml"), whole))
    assert done.exit_code in (0, 2), (done.output, done.exception)
