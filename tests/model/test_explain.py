"""The symbolic explanation of a count is that count."""

from pathlib import Path

import numpy as np
from hypothesis import given
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.mapping.timeloop_read import read_mapping
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.explain import explain, explanation_text
from ruby_map.workloads import Workload, load_workload, shaped

from ..strategies import mappings, plain

DOCS = Path(__file__).parents[2] / "docs"


@given(mappings())
def test_every_explained_count_is_the_models(batch):
    """Evaluating the symbols gives the model's figure, for every tensor, level and action."""
    agree(batch)


def test_a_mapping_of_a_search_is_explained_like_one_of_a_file():
    """Its tables hold the chains of a whole mapspace, not its own alone."""
    layer = shaped("conv2d", M=8, C=4, P=6, Q=6, R=3, S=3)
    batch = Mapspace(load_arch("linear_5"), layer, "ruby").sample(np.random.default_rng(0), 20)
    for index in range(20):
        agree(batch.take([index]))


def agree(batch):
    counts = count(batch)
    levels = [level.name for level in batch.arch.levels]
    tensors = [tensor.name for tensor in batch.workload.tensors]
    for drain_reads, expected in ((False, counts), (True, counts.with_drains())):
        for part in explain(batch, drain_reads=drain_reads):
            where = 0, levels.index(part.level), tensors.index(part.tensor)
            assert part.value == getattr(expected, part.name)[where], str(part)


def test_the_toy_explained():
    """The 17 rounds of the toy: 16 full ones and one of 4, in the mapping's own symbols."""
    buffer = Storage("GLB", "SRAM", fanout=(Axis("PE", 6),))
    arch = Architecture("toy", (Storage("DRAM", "DRAM"), buffer), Compute("MAC", "intmac"))
    workload = Workload("toy", ("D", "M"), (100, 3), (plain("I", "D"), plain("Z", "M", output=True)))
    factors = np.array([[[1, 3], [17, 1], [6, 1]]])
    order = np.zeros((1, 2, 2), np.int8) + np.array([0, 1], np.int8)
    text = explanation_text(MappingBatch.of(arch, workload, factors, order, np.ones((1, 2, 2), bool)))
    assert "I: reads of GLB = 300\n    D*M@DRAM = 300   (sizes of all tiles moved in)" in text
    assert "- D*(M@DRAM - 1) = 200   (in place when M steps at DRAM)" in text
    assert "Z: updates of GLB = 51\n    D@GLB*M = 51   (sizes of all tiles moved in)" in text
    assert "D@GLB.PE = 6, D'@GLB.PE = 4" in text


def test_the_page_on_explanations_is_current():
    """docs/explain.md shows what the command prints for the mapping beside it."""
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv2_x_3x3")
    mapping = read_mapping(DOCS / "examples/conv2_x_3x3.mapping.yaml", arch, workload)
    assert explanation_text(mapping) in (DOCS / "explain.md").read_text()
