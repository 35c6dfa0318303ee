"""The example designs of the field in the dialects of Timeloop: row stationary, weight stationary."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.arch.timeloop import read_timeloop_arch, write_timeloop_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.mapspace.violations import violations
from ruby_map.mapper.model.counts import count
from ruby_map.workloads import load_workload, parse_yaml, shaped
from ruby_map.workloads.timeloop import TIMELOOP_TAGS

ROW_STATIONARY = """
architecture:
  version: 0.4
  nodes:
  - !Container {name: chip}
  - !Component {name: DRAM, class: DRAM, attributes: {type: LPDDR4, width: 64, datawidth: 8}}
  - !Container {name: array, attributes: {technology: 32nm}}
  - !Component
    name: glb
    class: smartbuffer_SRAM
    attributes: {depth: 16384, width: 64, n_banks: 32, datawidth: 8, read_bandwidth: 16, write_bandwidth: 16}
    constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}
  - !Container
    name: column
    spatial: {meshX: 14}
    constraints: {spatial: {split: 7, permutation: [N, C, P, R, S, Q, M], factors: [N=1, C=1, P=1, R=1, S=1]}}
  - !Container
    name: element
    spatial: {meshY: 12}
    constraints: {spatial: {split: 4, permutation: [N, P, Q, R, S, C, M], factors: [N=1, P=1, Q=1, R=1]}}
  - !Parallel
    nodes:
    - !Component
      name: inputs
      class: smartbuffer_RF
      attributes: {depth: 12, width: 16, datawidth: 8}
      constraints: {dataspace: {keep: [Inputs]}, temporal: {factors: [N=1, M=1, C=1, P=1, Q=1, R=1, S=1]}}
    - !Component
      name: weights
      class: smartbuffer_RF
      attributes: {depth: 192, width: 16, datawidth: 8}
      constraints:
        dataspace: {keep: [Weights]}
        temporal: {permutation: [N, M, P, Q, S, C, R], factors: [N=1, M=1, P=1, Q=1, S=1]}
    - !Component
      name: sums
      class: smartbuffer_RF
      attributes: {depth: 16, width: 16, datawidth: 16, update_fifo_depth: 2}
      constraints: {dataspace: {keep: [Outputs]}, temporal: {factors: [N=1, C=1, R=1, S=1, P=1, Q=1]}}
  - !Component {name: mac, class: intmac, attributes: {multiplier_width: 8, adder_width: 16}}
"""

WEIGHT_STATIONARY = """
architecture:
  version: 0.3
  subtree:
  - name: package
    attributes: {datawidth: 8, word-bits: 8, technology: 45nm}
    local:
    - {name: DRAM, class: DRAM, attributes: {type: LPDDR4, width: 64, block-size: 8}}
    subtree:
    - name: chip
      local:
      - name: shared
        class: storage
        subclass: smartbuffer_SRAM
        attributes: {memory_depth: 2048, memory_width: 256, block-size: 32, n_banks: 4, nports: 1, meshX: 1}
      subtree:
      - name: PE[0..15]
        local:
        - name: input_buffer
          class: storage
          subclass: smartbuffer_RF
          attributes: {memory_depth: 8192, memory_width: 64, block-size: 8, meshX: 16}
        - name: weight_buffer[0..3]
          class: storage
          subclass: smartbuffer_RF
          attributes: {memory_depth: 4096, block-size: 8, meshX: 16}
        - name: weight_register[0..15]
          class: storage
          subclass: reg_storage
          attributes: {memory_depth: 1, cluster-size: 64, num-ports: 2, meshX: 16}
        - {name: 'LMAC[0..15]', class: compute, subclass: lmac, attributes: {meshX: 16}}
"""
LAYER = "resnet50/conv2_x_3x3"


def read(text):
    return read_timeloop_arch(parse_yaml(text, "arch.yaml", tags=TIMELOOP_TAGS))


def test_row_stationary_nodes():
    """Capacities, words, axes and constraints of a row-stationary 0.4 design come out as written."""
    arch = read(ROW_STATIONARY)
    assert [(level.name, level.capacity_bits, level.width_bits, level.word_bits) for level in arch.levels] == [
        ("DRAM", None, 64, 8),
        ("glb", 1048576, 64, 8),
        ("inputs", 192, 16, 8),
        ("weights", 3072, 16, 8),
        ("sums", 256, 16, 16),
    ]
    column, element = arch.levels[1].fanout
    assert (column.name, column.size, column.mesh) == ("column", 14, "X")
    assert (element.name, element.size, element.mesh) == ("element", 12, "Y")
    assert {str(rule) for rule in column.constraint.factors} == {"N=1", "C=1", "P=1", "R=1", "S=1"}
    assert arch.levels[1].bypass == {"Weights"}
    assert arch.levels[2].bypass == {"Weights", "Outputs"}
    assert (arch.compute.word_bits, arch.instances(5)) == (8, 168)


def test_weight_stationary_tree():
    """A tree of vector MACs: ranges and meshes give the fan-outs, a cluster the share of a register's access."""
    arch = read(WEIGHT_STATIONARY)
    assert [(level.name, level.capacity_bits, level.width_bits) for level in arch.levels] == [
        ("DRAM", None, 64),
        ("shared", 2048 * 256, 256),
        ("input_buffer", 8192 * 64, 64),
        ("weight_buffer", 4096 * 64, 64),
        ("weight_register", 8, 512),
    ]
    assert [arch.instances(level) for level in range(6)] == [1, 1, 16, 64, 256, 256]
    assert arch.levels[1].ports == 1
    table = energy_table(arch)
    assert table.levels[4].read_pj == pytest.approx(0.009)
    assert table.compute.compute_pj == pytest.approx(0.5608, rel=1e-4)


@pytest.mark.parametrize("text", [ROW_STATIONARY, WEIGHT_STATIONARY])
def test_designs_map_a_layer(text):
    """A search over each design finds valid mappings, and none breaks a constraint."""
    arch = read(text)
    result = explore(
        arch, shaped("conv2d", M=8, C=8, P=4, Q=7, R=1, S=1), "ruby-s", SearchOptions(strategy="random", samples=2000)
    )
    assert result.found
    assert violations(result.batch) == []


@given(seed=st.integers(0, 2**32))
def test_samples_keep_every_constraint(seed):
    """Whatever a mapspace proposes honours the factors, orders and bypass lists of its architecture."""
    batch = Mapspace(read(ROW_STATIONARY), load_workload(LAYER), "ruby").sample(np.random.default_rng(seed), 3)
    assert [violations(batch.take([index])) for index in range(len(batch))] == [[]] * len(batch)


@pytest.mark.parametrize("name", ["eyeriss_like", "simba_like"])
def test_library_constraints_bind_their_samples(name):
    """The same of the shipped designs."""
    batch = Mapspace(load_arch(name), load_workload(LAYER), "ruby-s").sample(np.random.default_rng(1), 50)
    assert [violations(batch.take([index])) for index in range(50)] == [[]] * 50


@pytest.mark.parametrize("name", ["eyeriss_like", "simba_like"])
def test_written_designs_count_the_same(name):
    """A shipped design, written for Timeloop and read back, gives 50 random mappings the same counts."""
    arch, layer = load_arch(name), load_workload(LAYER)
    again = read(yaml.safe_dump(write_timeloop_arch(arch), sort_keys=False))
    batch = Mapspace(arch, layer, "ruby-s").sample(np.random.default_rng(2), 50)
    one, other = count(batch), count(replace(batch, arch=again))
    for field in ("reads", "fills", "updates", "cycles"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
