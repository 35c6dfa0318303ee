"""Mapping files of memories with uneven placement, and what evaluates, explains and compares them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch, stacked, unstacked
from ruby_map.mapper import SearchOptions, evaluate, explore, result_json
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from ruby_map.mapper.mapping import mapping_yaml, read_mapping, write_mapping
from ruby_map.mapper.model import count
from ruby_map.workloads import Document, InputError, shaped
from typer.testing import CliRunner

from ..conftest import DEEP
from ..small_problems import uneven_spaces

MACHINE = """
name: small
levels:
  - {name: DRAM, class: DRAM, energy: {read_pj: 100, write_pj: 100}}
  - name: RF
    class: regfile
    placement: uneven
    capacity_words: 16
    bypass: [Outputs]
    energy: {read_pj: 2, write_pj: 2}
    fanout: [{name: X, size: 2}]
compute: {name: MAC, energy: {compute_pj: 1}}
"""
LAYER = "{name: small, shape: matmul, sizes: {M: 4, N: 3, K: 5}}"
MAPPING = """
mapping:
  - {target: RF, type: temporal, tensor: Inputs, factors: M=4 K=5, permutation: MKN}
  - {target: RF, type: temporal, tensor: Weights, factors: N=3}
  - {target: RF, type: bypass, keep: [Inputs, Weights], bypass: [Outputs]}
"""


@pytest.fixture
def files(tmp_path):
    """Paths of the machine, the layer and the mapping."""
    paths = []
    for name, text in (("machine.yaml", MACHINE), ("layer.yaml", LAYER), ("mapping.yaml", MAPPING)):
        (tmp_path / name).write_text(text)
        paths.append(str(tmp_path / name))
    return paths


@settings(max_examples=1_000 if DEEP else 8)
@given(uneven_spaces(), st.integers(0, 2**32))
def test_a_file_gives_the_same_mapping_again(space, seed):
    """Bounds, loop orders, and what each level of a stack keeps; of the machine as it is written."""
    for number in np.random.default_rng(seed).integers(0, space.size.total, 4).tolist():
        batch = space[number]
        document = Document("mapping", yaml.safe_load(mapping_yaml(batch)), {})
        again = read_mapping(document, unstacked(space.arch), space.workload)
        assert again.arch == space.arch
        for name in ("factors", "keep"):
            assert (getattr(again, name) == getattr(batch, name)).all(), name
        for level in range(len(space.arch.levels)):  # where loops stand; those of bound 1 say nothing
            stands = [[d for d in one.order[0, level] if one.factors[0, :, d].max() > 1] for one in (batch, again)]
            loops = space.orders.temporal[level]
            assert [d for d in stands[0] if batch.factors[0, loops, d] > 1] == [
                d for d in stands[1] if batch.factors[0, loops, d] > 1
            ]


@settings(max_examples=500 if DEEP else 6)
@given(uneven_spaces(), st.integers(0, 2**32))
def test_a_file_of_an_even_mapping_is_one_of_an_uneven_machine(space, seed):
    """Its loops stand below all tensors of the memory: the same counts by memory."""
    written = unstacked(space.arch)
    even = replace(written, levels=tuple(replace(level, placement="even") for level in written.levels))
    document = Document("mapping", write_mapping(space[seed % space.size.total]), {})
    data = [{key: each[key] for key in each if key != "tensor"} for each in document.data]
    tensors = [tensor.name for tensor in space.workload.tensors]
    for each in data:
        for key in {"keep", "bypass"} & each.keys():
            each[key] = [name for name in tensors if name in each[key]]
    temporal = [each for each in data if each["type"] == "temporal"]
    alone = [each for each in temporal if [other["target"] for other in temporal].count(each["target"]) == 1]
    data = [each for each in data if each["type"] != "temporal" or each in alone]
    try:
        plain = read_mapping(Document("mapping", data, {}), even, space.workload)
    except InputError:
        return  # the loops of a memory that were left out are missing
    uneven = read_mapping(Document("mapping", data, {}), written, space.workload)
    assert (plain.kept == uneven.kept).all()
    counts, others = count(plain), count(uneven)
    assert (counts.cycles == others.cycles).all()
    for name in ("reads", "fills", "updates"):
        sums = np.stack(
            [getattr(others, name)[:, stack.start : stack.stop].sum(axis=1) for stack in uneven.arch.stacks], axis=1
        )
        assert (getattr(counts, name) == sums).all(), name


def test_a_mapping_is_evaluated_by_memory(files):
    """Reads by hand: inputs stay in the registers, weights come once for each use."""
    result = evaluate(*files)
    assert not result.hint
    levels = result_json(result)["levels"]
    assert list(levels) == ["DRAM", "RF"]
    assert levels["RF"]["tensors"]["Inputs"]["tile_words"] == 5 * 3
    assert levels["RF"]["tensors"]["Weights"]["reads"] == 60
    assert levels["DRAM"]["tensors"]["Inputs"]["reads"] == 15
    assert result.area_um2 == evaluate(load_arch(files[0]), files[1], result).area_um2
    assert evaluate(files[0], files[1], result).energy_pj == result.energy_pj
    assert "RF [Inputs: 15 words]" in str(result)


def test_what_overflows_is_the_memory(files, tmp_path):
    """The tiles of all its tensors together."""
    text = MAPPING.replace("factors: M=4 K=5, permutation: MKN", "factors: M=4").replace("N=3", "N=3 K=5")
    (tmp_path / "mapping.yaml").write_text(text)
    assert "RF: Inputs 15 words + Weights 5 words overflow its 16 words by 4 words" in evaluate(*files).hint


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("tensor: Weights", "tensor: Wieghts", "[1].tensor: unknown tensor 'Wieghts'"),
        ("tensor: Weights", "tensor: Outputs", "[1].tensor: RF does not keep Outputs"),
        ("keep: [Inputs, Weights], bypass: [Outputs]", "keep: [Outputs]", "RF cannot keep Outputs: the architecture"),
        ("tensor: Weights", "tensor: Inputs", "[1]: a second temporal entry for RF"),
        (
            "type: bypass,",
            "type: bypass, tensor: Inputs,",
            "[2].tensor: only the loops of a level stand below",
        ),
        ("target: RF, type: temporal, tensor: Weights", "target: DRAM, type: temporal, tensor: Weights", "is even"),
    ],
)
def test_faults_of_files(files, tmp_path, before, after, fault):
    """In the user's words, with the place."""
    assert MAPPING.count(before) == 1
    (tmp_path / "mapping.yaml").write_text(MAPPING.replace(before, after))
    with pytest.raises(InputError) as error:
        evaluate(*files)
    assert fault in str(error.value)


def test_the_outermost_level_is_even(tmp_path):
    """A fault at its line; `--placement uneven` leaves it even."""
    path = tmp_path / "machine.yaml"
    path.write_text(MACHINE.replace("class: DRAM,", "class: DRAM, placement: uneven,"))
    with pytest.raises(InputError, match=r"levels\[0\].placement: the outermost level holds whole tensors"):
        load_arch(path)


def test_commands(files):
    """--placement is that of the file; the model explains and executes what the search found."""
    runner = CliRunner()
    found = runner.invoke(ruby_map, [*files[:2], "--json"])
    assert found.exit_code == 0
    result = json.loads(found.stdout)
    assert result["optimal"]
    even = runner.invoke(ruby_map, [*files[:2], "--json", "--placement", "even"])
    assert json.loads(even.stdout)["edp"] >= result["edp"]
    with open(files[2], "w") as file:
        yaml.safe_dump({"mapping": result["mapping"]}, file)
    shown = runner.invoke(ruby_model, [*files, "--simulate", "--explain"])
    assert shown.exit_code == 0
    assert "figures are equal" in shown.stdout
    wrong = runner.invoke(ruby_map, [*files[:2], "--placement", "odd"])
    assert (wrong.exit_code, wrong.stderr) == (2, 'placement: must be one of even, uneven; got "odd"\n')


def test_engines_agree(files):
    """The same answer of a random search, compiled or not."""
    pytest.importorskip("jax", reason="needs the extra jax")
    options = SearchOptions(strategy="random", samples=20_000, victory=10**9)
    layer = shaped("matmul", M=4, N=3, K=5)
    found = [explore(files[0], layer, "ruby", replace(options, engine=engine)) for engine in ("numpy", "jax")]
    assert found[0].edp == found[1].edp
    assert str(found[0].batch.keep) == str(found[1].batch.keep)
    assert stacked(load_arch(files[0]), layer).stacks == found[0].batch.arch.stacks


def test_a_network_is_chosen_by_memory(files, tmp_path):
    """Layers chosen together, with proofs of sums: the costs of each mapping are those of its file."""
    layers = "\n".join(f"  - {{name: l{m}, shape: matmul, sizes: {{M: {m}, N: 3, K: 4}}}}" for m in (2, 5))
    (tmp_path / "net.yaml").write_text(f"name: net\nlayers:\n{layers}\n")
    found = explore(files[0], str(tmp_path / "net.yaml"), "ruby-s")
    assert found.optimal
    for layer, _ in found.layers:
        again = evaluate(files[0], layer.workload, layer)
        assert (again.energy_pj, again.cycles) == (layer.energy_pj, layer.cycles)
        assert str(again).split("cycles ")[0] == str(layer).split("cycles ")[0]
        assert set(result_json(layer)["levels"]) == {"DRAM", "RF"}
