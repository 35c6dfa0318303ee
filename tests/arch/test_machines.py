"""The library's machines: published peaks and sizes, and that layers of every kind have mappings on them."""

import json
from pathlib import Path

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import SearchOptions, explore
from ruby_map.workloads import shaped

from ..conftest import DEEP

ROOT = Path(__file__).parents[2]
KIB, MIB = 1024 * 8, 1024 * 1024 * 8  # bits
# machine: MACs a cycle, 10^9 operations a second that are published, memories and their bits
PUBLISHED = {
    "tpu_v1_like": (65536, 92_000, {"UnifiedBuffer": 24 * MIB, "Accumulators": 4 * MIB}),
    "tpu_edge_like": (1024, None, {"ActivationBuffer": 2 * MIB, "WeightBuffer": 32 * KIB}),
    "gemmini_like": (256, None, {"Scratchpad": 256 * KIB, "Accumulator": 64 * KIB}),
    "nvdla_full_like": (2048, None, {"ConvolutionBuffer": 512 * KIB}),
    "nvdla_small_like": (64, None, {"ConvolutionBuffer": 128 * KIB}),
    "eyeriss_v2_like": (384, 153.6, {"GlobalBuffer": 192 * KIB}),
    "shidiannao_like": (64, None, {"InputBuffer": 64 * KIB, "OutputBuffer": 64 * KIB, "WeightBuffer": 128 * KIB}),
    "diannao_like": (256, None, {"NBin": 2 * KIB, "NBout": 2 * KIB, "SB": 32 * KIB}),
    "tensor_core_like": (40960, 125_000, {"L2": 6 * MIB}),
}
LAYERS = {
    "convolution": shaped("conv2d", M=24, C=12, P=14, Q=14, R=3, S=3),
    "depthwise": shaped("conv2d", G=24, M=1, C=1, P=14, Q=14, R=3, S=3),
    "product": shaped("matmul", M=48, N=20, K=64),
    "attention": shaped("attention_scores", B=2, H=3, M=24, N=24, K=16),
}
pytestmark = pytest.mark.filterwarnings("ignore::ruby_map.energy.EnergyWarning")


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_figures(name):
    """MACs in a cycle, the peak rate where one is published, and the sizes of memories."""
    arch, (macs, giga, sizes) = load_arch(name), PUBLISHED[name]
    assert arch.instances(len(arch.levels)) == macs
    if giga is not None:
        clock_ns = float(arch.compute.attribute("clock_ns"))
        assert 2 * macs / clock_ns == pytest.approx(giga, rel=0.01)
    assert {level.name: level.capacity_bits for level in arch.levels if level.name in sizes} == sizes


def test_diannao_does_what_its_abstract_says():
    """452 GOP/s are 461 operations a cycle: fewer than 256 products and as many sums, more than nine tenths of them."""
    arch = load_arch("diannao_like")
    operations = 452 * float(arch.compute.attribute("clock_ns"))
    assert 0.9 * 512 < operations < 512


@pytest.mark.parametrize("name", PUBLISHED)
def test_bandwidths_and_energies_are_there(name):
    """Memories before the MACs have bandwidths, every component has energies."""
    arch = load_arch(name)
    assert arch.levels[1].bandwidths
    table = energy_table(arch)
    assert all(level.read_pj > 0 for level in table.levels[1:])
    assert table.compute.compute_pj > 0


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("name", PUBLISHED)
def test_layers_of_every_kind_have_mappings(name, kind):
    """No constraint rules a kind of layer out."""
    found = explore(name, LAYERS[kind], "ruby-s", SearchOptions("evolve", samples=1500 if DEEP else 500))
    assert found.found
    assert 0 < found.utilization <= 1


def test_what_a_matrix_unit_makes_of_depthwise_layers():
    """A channel of its own takes the nine positions of its filter, of 65,536 MACs."""
    found = explore("tpu_v1_like", LAYERS["depthwise"], "ruby-s", SearchOptions("evolve", samples=3000))
    assert found.utilization <= 9 / 65536


def test_the_validation_page_shows_the_recorded_figures():
    """docs/validation.md has the recorded row of each machine and network, and of each layer of the chip."""
    text = (ROOT / "docs/validation.md").read_text()
    recorded = json.loads((ROOT / "experiments/results/machines.json").read_text())
    assert len(recorded["rows"]) == 3 * len(PUBLISHED)
    for row in recorded["rows"]:
        cells = (f"{row['certified']} of {row['layers']}", f"{row['utilization']:.1%}", f"{row['cycles']:,}")
        assert f"| {row['machine']} | {row['model']} | {' | '.join(cells)} |" in text
    for name, layer in recorded["chip"].items():
        assert f"| {name} | {layer['elements']} | {layer['our_elements']} |" in text
