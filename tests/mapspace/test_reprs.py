"""Layers, mapspaces and batches name themselves in a line."""

import numpy as np
from ruby_map.arch import load_arch
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import load_workload, shaped


def test_each_is_a_line():
    """What an interpreter echoes: names, sizes and numbers, no arrays."""
    layer = shaped("matmul", "small", M=7, N=2, K=5)
    assert repr(layer) == "<Workload small: matmul M=7 N=2 K=5, 70 MACs>"
    space = Mapspace(load_arch("toy_6pe"), layer, "ruby-s")
    slots = ", ".join(space.imperfect)
    assert repr(space) == f"<Mapspace of small on toy_6pe: {space.size} mappings, remainders at {slots}>"
    plain = Mapspace(load_arch("toy_6pe"), layer, "pfm")
    assert repr(plain) == f"<Mapspace of small on toy_6pe: {plain.size} mappings, no remainders>"
    assert repr(space[7]) == "<MappingBatch of 1 mapping of small on toy_6pe>"
    drawn = space.sample(np.random.default_rng(0), 1200)
    assert repr(drawn).endswith("Batch of 1,200 mappings of small on toy_6pe>")
    assert "\n" not in repr(load_workload("resnet50/conv1"))
