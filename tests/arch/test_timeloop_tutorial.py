"""Files in the manner of Timeloop's tutorial of 2024 are read: expressions of attributes, `maximize_dims`, no name."""

import json

import pytest
from ruby_map.arch import FactorRule
from ruby_map.arch.timeloop import read_timeloop_arch
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.workloads import InputError, parse_yaml, shaped
from ruby_map.workloads.timeloop import TIMELOOP_TAGS
from typer.testing import CliRunner

LAYER = shaped("matmul", M=128, N=6, K=128)
NODES = """
variables: {version: 0.4, WORD: 8, technology: "45nm"}
architecture:
  version: 0.4
  nodes:
  - !Container {name: system, attributes: {rows: 4 * 2, width: 64}}
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: WORD}}
  - !Component {name: buffer, class: SRAM, attributes: {depth: rows * 64, width: width * 2, datawidth: WORD}}
  - !Container
    name: PE
    attributes: {columns: rows}
    spatial: {meshX: columns}
    constraints: {spatial: {permutation: [N, K, M], factors: [N=1], SPATIAL}}
  - !Component
    name: reg
    class: SRAM
    subclass: register
    attributes: {datawidth: WORD, depth: 1, width: datawidth * lanes, lanes: abs(0 - 3), leak: WORD * 2, why: WORD - x}
    constraints: {temporal: {factors_only: []}}
  - !Component {name: mac, class: intmac, attributes: {multiplier_width: WORD, adder_width: WORD * 2}}
"""
PROBLEM = """
problem:
  instance: {M: 128, N: 6, K: 128, H: 3, W: 3, Hpad: 0, Wpad: 0}
  shape:
    name: ''
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [M, K]}
    - {name: B, projection: [K, N]}
    - {name: Z, projection: [M, N], read_write: true}
"""


def read(spatial="split: 3", workload=LAYER, text=NODES):
    """The architecture with keys of its spatial constraint."""
    return read_timeloop_arch(parse_yaml(text.replace("SPATIAL", spatial), "a.yaml", TIMELOOP_TAGS), workload)


def test_attributes_use_those_beside_them():
    """In any order, and those of containers around them; a name of its own means the one outside."""
    _, buffer, registers = read().levels
    assert (buffer.capacity_bits, buffer.width_bits, buffer.word_bits) == (512 * 128, 128, 8)
    assert (registers.capacity_bits, registers.width_bits) == (24, 24)
    assert (registers.attribute("leak"), registers.attribute("why")) == (16, "WORD - x")
    assert (read().compute.word_bits, read().compute.attribute("adder_width")) == (8, 16)
    assert [axis.size for axis in buffer.fanout] == [8]


@pytest.mark.parametrize(
    ("lanes", "fault"),
    [
        (
            "datawidth * two",
            r"width: must be a number, got 'datawidth \* lanes': lanes is no number: unknown name 'two'",
        ),
        ("lanes2, lanes2: lanes", "lanes is no number: lanes2 is no number: lanes uses itself"),
        ("WORD.x", "lanes is no number: only numbers, names"),
        ("len(width)", r"lanes is no number: unknown name 'len\(width\)'"),
    ],
)
def test_attributes_that_are_no_numbers(lanes, fault):
    with pytest.raises(InputError, match=fault):
        read(text=NODES.replace("lanes: abs(0 - 3)", f"lanes: {lanes}"))


def test_attributes_that_use_each_other_for_ever():
    """A long chain, each of which doubles the one before, takes no time and no stack."""
    chain = ", ".join(f"a{n}: a{n + 1} + a{n + 1}" for n in range(400))  # of several frames each: deeper than a stack
    with pytest.raises(InputError, match="over 30 attributes in turn"):
        read(text=NODES.replace("lanes: abs(0 - 3)", f"lanes: a0, {chain}"))


@pytest.mark.parametrize("split", ["len(spec.problem.instance)", "len(spec.problem.shape.dimensions) - 0"])
def test_a_split_of_all_dims(split):
    """As a number of keys: of the problem in the file, or of the workload's dims."""
    assert read(f"split: {split}").levels[1].fanout == read("split: 3").levels[1].fanout
    assert read(f"split: {split}", text=PROBLEM + NODES).levels[1].fanout == read("split: 3").levels[1].fanout


def factors(spatial, workload=LAYER, text=NODES):
    return read(f"{spatial}, split: 3", workload, text).levels[1].fanout[0].constraint.factors


def test_maximize_dims():
    """What Timeloop's front end makes of it: the utilization is highest, earlier dims come first, groups in turn."""
    first = FactorRule("N", "=", 1)
    assert factors("maximize_dims: [[M, K]]") == (first, FactorRule("M", "=", 8), FactorRule("K", "=", 1))
    assert factors("maximize_dims: [K, M]") == (first, FactorRule("K", "=", 8), FactorRule("M", "=", 1))
    small = shaped("matmul", M=2, N=6, K=100)
    assert factors("maximize_dims: [[M], [K]]", small)[1:] == (FactorRule("M", "=", 2), FactorRule("K", "=", 4))
    odd = shaped("matmul", M=1, N=6, K=13)  # no factor of 13 is below 8: two rounds of 7, the last of them with 6
    assert factors("maximize_dims: [[M, K]]", odd)[1:] == (FactorRule("M", "=", 1), FactorRule("K", "=", 7))


def test_maximize_dims_share_what_factors_elsewhere_leave():
    """Inner nodes before outer ones, spatial before temporal, and what factors fix anywhere is not there to share."""
    fixed = NODES.replace("{temporal: {factors_only: []}}", "{temporal: {factors: K=64}}")
    assert factors("maximize_dims: [[K, M]]", text=fixed)[1:] == (FactorRule("K", "=", 2), FactorRule("M", "=", 4))
    text = NODES.replace(
        "{temporal: {factors_only: []}}", "{temporal: {maximize_dims: [[M]], maximize_dims_capacity: 32}}"
    )
    arch = read("maximize_dims: [[M]], split: 3", text=text)
    assert arch.levels[2].temporal.factors == (FactorRule("M", "=", 16),)
    listed = "constraints: [{target: DRAM, type: temporal, factors: K=64}]"
    assert factors("maximize_dims: [[K, M]]", text=NODES + listed)[1] == FactorRule("K", "=", 2)


@pytest.mark.parametrize(
    ("spatial", "fault"),
    [
        ("maximize_dims: [[M, X]]", "X is no dim of the workload: M, N, K"),
        ("maximize_dims: [[M, N]]", "N has a factor already"),
        ("maximize_dims: [[M], [M]]", "M has a factor already"),
        ("maximize_dims: 3", "must be a list, got 3"),
    ],
)
def test_maximize_dims_at_fault(spatial, fault):
    with pytest.raises(InputError, match=fault) as raised:
        read(spatial)
    assert len(raised.value.faults) == 1


def test_maximize_dims_needs_sizes():
    """Of a workload, and of one: a network of several sizes is refused with where to turn."""
    with pytest.raises(InputError, match="maximize_dims can only be read together with the workload"):
        read("maximize_dims: [[M]]", None)
    with pytest.raises(InputError, match="maximize_dims of temporal loops needs maximize_dims_capacity"):
        read(text=NODES.replace("{temporal: {factors_only: []}}", "{temporal: {maximize_dims: [[M]]}}"))
    listed = "constraints: [{target: PE, type: spatial, maximize_dims: [[M]]}]"
    with pytest.raises(InputError, match="maximize_dims stands at a node of version 0.4"):
        read(text=NODES + listed)


def run(*arguments):
    return CliRunner().invoke(command_map.main, [*map(str, arguments), "--jobs", "1"], catch_exceptions=False)


def test_a_network_of_several_sizes(tmp_path):
    layers = "{layers: [{name: a, shape: matmul, sizes: {M: 64, N: 6, K: 32}}, {name: b, shape: matmul, sizes: %s}]}"
    arch, alike, other = (tmp_path / name for name in ("a.yaml", "alike.yaml", "other.yaml"))
    arch.write_text(NODES.replace("SPATIAL", "maximize_dims: [[K, M]], split: 3"))
    alike.write_text(layers % "{M: 32, N: 6, K: 64}")
    other.write_text(layers % "{M: 32, N: 6, K: 4}")
    assert run(arch, alike, "--size").exit_code == 0
    done = run(arch, other, "--size")
    assert done.exit_code == 2
    rule = "a.yaml:13: architecture.nodes[3].constraints.spatial.maximize_dims: has other factors for b than for a"
    assert rule in done.stderr
    assert "search the layers one by one, as NETWORK/LAYER" in done.stderr
    assert run(arch, f"{other}/b", "--size").exit_code == 0


def test_a_problem_without_a_name(tmp_path):
    """As the front end writes it, with sizes of the input that the shape does not have: no fault and no warning."""
    whole = tmp_path / "whole.yaml"
    whole.write_text(PROBLEM + NODES.replace("SPATIAL", "maximize_dims: [[M, K]], split: len(spec.problem.instance)"))
    done = run(whole, whole, "--time-limit", "1", "--json")
    assert done.exit_code == 0, done.stderr
    assert "Hpad" not in done.stderr
    assert json.loads(done.stdout)["workload"] == "whole"
    whole.write_text(whole.read_text().replace("K: 128", "K: 0"))
    done = run(whole, whole)
    assert done.stderr.count("problem.instance.K: must be at least 1, got 0") == 1
