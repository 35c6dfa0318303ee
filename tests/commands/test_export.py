"""`ruby-export` writes what Timeloop reads; read back, it is the same problem, and the mapping has the same counts."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage, load_arch
from ruby_map.arch.timeloop import (
    NodeDumper,
    dummy_name,
    read_timeloop_arch,
    write_timeloop_arch,
    write_timeloop_constraints,
    write_timeloop_nodes,
)
from ruby_map.mapper.commands import ruby_export as command_export
from ruby_map.mapper.commands import ruby_model as command_model
from ruby_map.mapper.mapping import mapping_yaml, read_mapping, write_mapping_of_axes
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import count
from ruby_map.workloads import Document, InputError, load_workload, parse_yaml, shaped
from ruby_map.workloads.timeloop import TIMELOOP_TAGS
from typer.testing import CliRunner

from ..conftest import DEEP
from ..small_problems import PRESETS, constrained_machines, small_machines


def run(command, *arguments):
    return CliRunner().invoke(command.main, list(map(str, arguments)), catch_exceptions=False)


MACHINES = ("eyeriss_like", "simba_like", "simba_like_9", "toy_6pe", "eyeriss_like_bandwidth", "eyeriss_like_free")
LAYERS = ("alexnet/conv2", "resnet50/conv3_x_3x3", "resnet50/conv1", "mobilenet_v2/bottleneck2_1_dw")


@pytest.mark.parametrize("form", ["timeloop", "timeloop-0.4"])
@pytest.mark.parametrize("number", range(20 if DEEP else 12))
def test_a_round_trip(tmp_path, form, number):
    """A dozen nests: the files that are written, read back by `ruby-model`, have the same cycles and counts."""
    name = MACHINES[number % len(MACHINES)]
    layer = (
        "rank1_100" if name == "toy_6pe" else ["alexnet/conv2", "resnet50/conv3_x_3x3", "resnet50/conv1"][number % 3]
    )
    space = Mapspace(load_arch(name), load_workload(layer), PRESETS[number % len(PRESETS)])
    batch = space.sample(np.random.default_rng(number), 1)
    (tmp_path / "given.yaml").write_text(mapping_yaml(batch))
    done = run(command_export, name, layer, tmp_path / "given.yaml", "--format", form, "--out", tmp_path / "o")
    assert done.exit_code == 0, done.stderr
    files = [tmp_path / "o" / f"{part}.yaml" for part in ("arch", "problem", "mapping")]
    more = ["--with", tmp_path / "o" / "constraints.yaml"] if form == "timeloop" else []
    before = json.loads(run(command_model, name, layer, tmp_path / "given.yaml", "--json").stdout)
    after = json.loads(run(command_model, *files, *more, "--json").stdout)
    assert after["cycles"] == before["cycles"]
    assert after["levels"] == before["levels"]


@settings(deadline=None, max_examples=500 if DEEP else 30, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_machine_read_back(data):
    """Levels, axes and constraints of any machine: the same mapspace, and a mapping of the same counts."""
    arch = data.draw(st.one_of(small_machines(), constrained_machines()))
    layer = shaped("matmul", M=data.draw(st.integers(1, 9)), N=data.draw(st.integers(1, 6)), K=4)
    try:
        tree, rules = write_timeloop_arch(arch, dummies=True), write_timeloop_constraints(arch, layer)
        nodes = write_timeloop_nodes(arch, layer)
        space = Mapspace(arch, layer, "ruby")
    except (ValueError, InputError):
        return
    batch = space.sample(np.random.default_rng(data.draw(st.integers(0, 99))), 1)
    if batch is None:
        return
    forms = (({**tree, **rules}, dummy_name, True), (nodes, lambda axis: axis.name, False))
    for document, target, dummies in forms:
        text = yaml.dump(document, Dumper=NodeDumper, sort_keys=False)
        again = read_timeloop_arch(parse_yaml(text, "a.yaml", TIMELOOP_TAGS), layer)
        assert Mapspace(again, layer, "ruby").size == space.size
        entries = write_mapping_of_axes(batch, target, dummies)
        read = read_mapping(Document("m", {"mapping": entries}, {}), again, layer)
        one, other = count(batch), count(read)
        assert other.cycles.tolist() == one.cycles.tolist()
        assert np.array_equal(other.reads, one.reads)
        assert np.array_equal(other.fills, one.fills)
        assert np.array_equal(other.updates, one.updates)


@pytest.mark.parametrize("form", ["timeloop", "timeloop-0.4", "zigzag"])
def test_uneven_placement_is_refused(tmp_path, form):
    """Its mappings have loops for each tensor of a memory, for which no other format has a place."""
    text = "base: toy_6pe\nname: odd\nlevels: [{name: GLB, placement: uneven}]\n"
    (tmp_path / "arch.yaml").write_text(text)
    done = run(command_export, tmp_path / "arch.yaml", "alexnet/conv2", "--format", form, "--out", tmp_path / "o")
    assert (done.exit_code, (tmp_path / "o").exists()) == (2, False), done.stderr
    assert "GLB: uneven placement" in done.stderr


def test_what_timeloop_cannot_say(tmp_path):
    """Refused by name, and nothing is written."""
    done = run(command_export, "eyeriss_like", "resnet18", "--out", tmp_path / "o")
    assert (done.exit_code, "files are of one layer" in done.stderr) == (2, True)
    done = run(command_export, "eyeriss_like", "alexnet/conv2", "--format", "zigzg", "--out", tmp_path / "o")
    assert (done.exit_code, "must be one of timeloop, timeloop-0.4" in done.stderr) == (2, True)
    rule = LoopConstraint(min_utilization=0.5)
    memory = Storage("DRAM", "DRAM", fanout=(Axis("X", 4, constraint=rule), Axis("X", 2, "Y")))
    arch = Architecture(
        "odd", (memory, Storage("B", "SRAM", temporal=LoopConstraint(max_loops=1))), Compute("M", "mac")
    )
    with pytest.raises(
        ValueError, match="X: an axis with the name of another axis or level; B: at most 1 loops; DRAM.X"
    ):
        write_timeloop_constraints(arch, shaped("matmul", M=2, N=2, K=2))
    assert not (tmp_path / "o").exists()


@st.composite
def _rules(draw, spatial):
    """A constraint of any kind, also one that no mapping meets."""
    factors = st.builds(
        FactorRule, st.sampled_from("MNK"), st.sampled_from(["=", "<=", ">="]), st.sampled_from([1, 2, 3, 9, None])
    )
    kinds = LoopConstraint(
        tuple(draw(st.lists(factors, max_size=3, unique_by=lambda rule: (rule.dim, rule.op)))),
        draw(st.sampled_from([None, None, ("M",), ("K", "N"), ()])),
        min_utilization=draw(st.sampled_from([0, 0.5])) if spatial else 0,
    )
    first, second = sorted(draw(st.tuples(st.integers(0, 3), st.integers(0, 3))))
    order = draw(st.permutations("MNK"))
    return kinds if spatial else replace(kinds, outermost=tuple(order[:first]), innermost=tuple(order[second:]))


@settings(deadline=None, max_examples=500 if DEEP else 30, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_constraints_are_what_timeloops_binaries_take(data):
    """Orders as text, limits over 0, utilization at the innermost storage; what they would forget is refused.

    Its parser (src/mapping/constraints.cpp) passes over an order that is a list and over factors beyond a dim, and ends
    at a limit of 0 and at a utilization of any other storage.
    """
    axis = Axis("PE", data.draw(st.integers(1, 4)), constraint=data.draw(_rules(True)))
    inside = data.draw(st.booleans())
    levels = (
        Storage("DRAM", "DRAM", temporal=data.draw(_rules(False)), fanout=() if inside else (axis,)),
        Storage("RF", "regfile", capacity_bits=512, fanout=(axis,) if inside else ()),
    )
    arch, layer = (
        Architecture("t", levels, Compute("MAC", "mac")),
        shaped("matmul", M=data.draw(st.integers(1, 5)), N=3, K=2),
    )
    try:
        rules = write_timeloop_constraints(arch, layer)
    except ValueError:
        return
    tree = write_timeloop_arch(arch, dummies=True)
    innermost = tree["architecture"]["subtree"][0]["local"][-2]["name"].split("[")[0]
    for entry in rules["architecture_constraints"]["targets"]:
        assert isinstance(entry.get("permutation", ""), str)
        assert all(re.fullmatch(r"[MNK](=\d+|[<>]=[1-9]\d*)", factor) for factor in entry.get("factors", "").split())
        assert entry["type"] != "utilization" or entry["target"] == innermost
    again = read_timeloop_arch(parse_yaml(yaml.safe_dump({**tree, **rules}), "a.yaml"), layer)
    sizes = []
    for each in (arch, again):
        try:
            sizes.append(Mapspace(each, layer, "ruby").size.total)
        except InputError:
            sizes.append(0)
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    ("layer", "part"),
    [
        (
            "shape: matmul\nsizes: {M: 4, N: 2, K: 8}\nword_bits: {Weights: 4}",
            "words of Weights have 4 bits, those of DRAM 16",
        ),
        (
            "dims: {M0: 4}\ntensors: {A: {projection: [M0]}, Z: {projection: [M0], output: true}}",
            "M0: the name of a dim",
        ),
        (
            "dims: {M: 3000000000}\ntensors: {A: {projection: [M]}, Z: {projection: [M], output: true}}",
            "M: 3000000000 is over",
        ),
    ],
)
@pytest.mark.parametrize("form", ["timeloop", "timeloop-0.4"])
def test_layers_that_timeloop_cannot_read(tmp_path, layer, part, form):
    """Words of an own width would be lost; names and sizes end its binaries (problem-shape.cpp)."""
    (tmp_path / "layer.yaml").write_text(layer)
    done = run(command_export, "toy_6pe", tmp_path / "layer.yaml", "--format", form, "--out", tmp_path / "o")
    assert (done.exit_code, part in done.stderr, (tmp_path / "o").exists()) == (2, True, False)
