"""Uneven placement beside other tools: their recorded mappings, written as ours, cost here what the documents say.

The mappings and their energies are what AccelForge 1.0.467 and ZigZag 3.9.1 found and counted; neither is needed.
"""

import importlib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ruby_map.arch import load_arch, stacked
from ruby_map.energy import energy_table, stacked_table
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.workloads import shaped

FOLDER = Path(__file__).parents[2] / "benchmarks"
ALL = ["Weights", "Inputs", "Outputs"]


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)


def module(name):
    """A script of the benchmarks, as its neighbours import it."""
    return importlib.import_module(name)


def uneven(name):
    """A machine of the benchmarks, all memories but the outermost uneven."""
    arch = load_arch(FOLDER / f"{name}.yaml")
    inner = (replace(level, placement="uneven") for level in arch.levels[1:])
    return replace(arch, levels=(arch.levels[0], *inner))


def costs(nodes, arch, workload):
    """The costs of a valid mapping, and the mapping."""
    levels = stacked(arch, workload)
    batch = module("mapping_nodes").as_batch(nodes, levels, workload)
    assert not validity(batch).any()
    return evaluate(batch, stacked_table(energy_table(arch), levels)), batch


def at(memory, *tensors):
    return {"memory": memory, "tensors": list(tensors)}


def loop(dim, tile, axis=None):
    return {"dim": dim, "tile": tile} | ({"axis": axis} if axis else {})


CUBE = [at("DRAM", *ALL), at("GLB", *ALL), loop("N", 1), at("RF", "Inputs"), loop("M", 1), at("RF", "Outputs")]
CUBE += [loop("K", 1), at("RF", "Weights")]
SPREAD = [at("DRAM", *ALL), at("GLB", *ALL), loop("M", 16, "Y"), loop("N", 15, "X"), at("RF", "Outputs"), loop("K", 1)]
SPREAD += [at("RF", "Inputs"), loop("M", 1), at("RF", "Weights"), loop("N", 1)]


def test_a_perfect_mapping_of_accelforge_costs_the_same_here():
    """61.6275 uJ in float32 there; their drain reads are in our updates."""
    found, _ = costs(CUBE, uneven("uneven_256"), shaped("matmul", M=197, N=197, K=197))
    assert found.energy_pj[0] == pytest.approx(61627526.7296875, rel=1e-7)
    assert found.cycles[0] == 197**3


def test_the_last_tiles_of_an_imperfect_mapping_are_clipped_here():
    """AccelForge reads Inputs 16 times for each fill, and Weights 15 times, also where the last tiles are smaller."""
    found, _ = costs(SPREAD, uneven("uneven_256"), shaped("matmul", M=197, N=197, K=197))
    padding = 0.96 * (197 * 197 * (13 * 16 + 14 * 15) - 2 * 197**3)
    assert found.energy_pj[0] + padding == pytest.approx(40785542.37875, rel=1e-7)
    assert found.cycles[0] == 47280


@pytest.mark.parametrize("nodes", [CUBE, SPREAD])
def test_mappings_go_to_nodes_and_back(nodes):
    """The nodes of a mapping are the same mapping again."""
    arch, workload = uneven("uneven_256"), shaped("matmul", M=197, N=197, K=197)
    first, batch = costs(nodes, arch, workload)
    again, same = costs(module("mapping_nodes").as_nodes(batch), arch, workload)
    assert again.energy_pj[0] == pytest.approx(first.energy_pj[0], rel=1e-12)
    assert (same.factors == batch.factors).all()


def test_mappings_that_are_none_of_ours_are_refused():
    """Tiles that end early inside tiles, and loops between the array and the memory inside."""
    arch, workload = uneven("uneven_256"), shaped("matmul", M=197, N=197, K=197)
    levels = stacked(arch, workload)
    twice = [at("DRAM", *ALL), at("GLB", *ALL), loop("M", 16), at("RF", *ALL), loop("M", 6), loop("K", 1)]
    with pytest.raises(ValueError, match="ends early"):
        module("mapping_nodes").as_batch(twice, levels, workload)
    between = [at("DRAM", *ALL), at("GLB", *ALL), loop("M", 16, "Y"), loop("K", 1), at("RF", *ALL)]
    with pytest.raises(ValueError, match="no place"):
        module("mapping_nodes").as_batch(between, levels, workload)


def test_a_node_goes_out_over_loops_that_leave_its_tile_in_place():
    """Not over loops of its own dims, other memories or the array."""
    arch, workload = uneven("uneven_256"), shaped("matmul", M=32, N=32, K=32)
    nodes = [at("DRAM", *ALL), loop("K", 8), at("GLB", *ALL), loop("K", 4), loop("M", 2, "Y"), loop("N", 2, "X")]
    nodes += [at("RF", *ALL), loop("N", 1), loop("M", 1), loop("K", 1)]
    _, batch = costs(nodes, arch, workload)
    again = module("mapping_nodes").as_nodes(batch)
    places = [(node["memory"], *node["tensors"]) if "memory" in node else node["dim"] for node in again]
    assert places.index(("GLB", "Outputs")) < places.index("K") < places.index(("GLB", "Inputs"))
    assert places.index("M") < places.index(("RF", "Outputs"))


ZIGZAG = [at("l3", *ALL), loop("N", 128), loop("M", 128), at("l1", "Outputs"), loop("K", 192)]
ZIGZAG += [at("l1", "Weights", "Inputs"), loop("M", 8), loop("N", 8), loop("N", 1, "D1"), loop("M", 1, "D3")]
ZIGZAG += [at("reg_O", "Outputs"), loop("K", 8), loop("K", 1, "D2"), at("latch", "Weights", "Inputs")]


def test_a_mapping_of_zigzag_costs_the_same_here_but_for_first_reads():
    """ZigZag reads an output before its first update, and fills the register with it: at l1 and in each register."""
    arch, workload = load_arch(FOLDER / "zigzag_gemm.yaml"), shaped("matmul", N=512, M=768, K=3072)
    found, _ = costs(ZIGZAG, arch, workload)
    first = 512 * 768 * (3 + 4 + 118 * 32 / 512)
    assert found.energy_pj[0] + first == pytest.approx(7161271418.88, rel=1e-9)


class Tagged(yaml.SafeLoader):
    """Reads tagged mappings as mappings with their tag."""


Tagged.add_multi_constructor("!", lambda loader, tag, node: {"tag": tag} | loader.construct_mapping(node, deep=True))


def test_a_specification_for_accelforge_has_the_machine_and_the_layer():
    """Energies per access, bits, axes with their dims, windows; no dims of size 1, and the mapping last."""
    arch, workload = uneven("uneven_256"), shaped("conv2d", N=4, M=8, C=2, P=5, Q=1, R=3, S=1, stride=2)
    nodes = [at("DRAM", *ALL), loop("M", 2, "Y")]
    text = module("accelforge_forms").specification(arch, energy_table(arch), workload, nodes)
    found = yaml.load(text, Tagged)
    dram, glb, array, rf, mac = found["arch"]["nodes"]
    assert [part["tag"] for part in (dram, glb, array, rf, mac)] == [
        "Memory",
        "Memory",
        "Container",
        "Memory",
        "Compute",
    ]
    assert [part["size"] for part in (dram, glb, rf)] == ["inf", 131072 * 16, 256 * 16]
    energies = [action["energy"] for part in (dram, glb, rf, mac) for action in part["actions"]]
    assert energies == pytest.approx([64, 64, 2.02, 2.02, 0.96, 0.96, 0.21])
    assert [axis["loop_bounds"][0]["expression"] for axis in array["spatial"]] == ["~(n)", "~(m)"]
    assert found["workload"]["iteration_space_shape"].keys() == {"n", "m", "c", "p", "r"}
    projections = {each["name"]: each["projection"] for each in found["workload"]["einsums"][0]["tensor_accesses"]}
    assert projections["Inputs"] == {"N": "n", "C": "c", "PR": "2*p + r"}
    assert [node["tag"] for node in found["mapping"]["nodes"]] == ["Storage", "Spatial", "Compute"]
    assert found["mapping"]["nodes"][1]["component"] == array["name"]


def test_an_axis_that_no_dim_is_spread_over_is_a_single_place():
    """AccelForge knows no dims of size 1, and takes a rule about them alone for none."""
    arch = uneven("uneven_256")
    text = module("accelforge_forms").specification(arch, energy_table(arch), shaped("matmul", M=1000, N=1, K=2048))
    array = yaml.load(text, Tagged)["arch"]["nodes"][2]
    assert [axis["fanout"] for axis in array["spatial"]] == [1, 16]
    assert "loop_bounds" not in array["spatial"][0]


def test_updates_without_the_drain_are_refused():
    """AccelForge would charge a read that the machine here does not."""
    arch = load_arch("toy_6pe_linear")
    with pytest.raises(ValueError, match="update_pj"):
        module("accelforge_forms").specification(arch, energy_table(arch), shaped("matmul", M=2, N=2, K=2))
