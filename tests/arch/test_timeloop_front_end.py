"""What Timeloop's front end writes and its users carry along is read, with a warning where it has no effect."""

import warnings

import pytest
from ruby_map.arch import FactorRule
from ruby_map.arch.timeloop import read_timeloop_arch
from ruby_map.energy import default_table
from ruby_map.workloads import InputError, parse_yaml, shaped
from ruby_map.workloads.timeloop import TIMELOOP_TAGS, InputWarning, dense_part, read_timeloop_problem

LAYER = shaped("matmul", M=8, N=6, K=4)


def read(text, workload=LAYER):
    """Read an architecture; return it and what was warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", InputWarning)
        arch = read_timeloop_arch(parse_yaml(text, "a.yaml", TIMELOOP_TAGS), workload)
    return arch, "\n".join(str(warning.message) for warning in told)


TREE = """
dumped_by_timeloop_front_end: true
globals: {environment_variables: {A: 1}}
compound_components: {version: 0.4, classes: [{name: x}]}
architecture:
  version: 0.4
  subtree:
  - name: system
    local:
    - {name: "DRAM[1..1]", class: DRAM, enabled: true, attributes: {word-bits: 16, datawidth: 8, width: 64}}
    - {name: "Dummy[0..3]", class: storage, attributes: {depth: 0, entries: 0, meshX: 4}}
    - {name: "mac[0..15]", class: intmac, enabled: true, attributes: {meshX: 4, meshY: 4}}
    - name: RF[0..15]
      class: regfile
      attributes: {meshX: 4, meshY: 4, depth: 4, word_bits: 8, width: 32, block_size: 1, metadata_storage_width: 0}
"""


def test_what_the_front_end_writes():
    """Marks, settings, classes; compute units before a storage; a dummy of depth 0; clusters deeper than 1."""
    arch, told = read(TREE)
    assert [level.name for level in arch.levels] == ["DRAM", "RF"]
    assert [(axis.name, axis.size) for axis in arch.levels[0].fanout] == [("Dummy_X", 4), ("Dummy", 4)]
    dram, registers = arch.levels
    assert (dram.word_bits, dram.width_bits) == (16, 64)
    assert (registers.capacity_bits, registers.width_bits, registers.attribute("cluster_size")) == (32, 32, 4)
    assert "without effect on counts: globals (the environment of Timeloop's front end), compound_components" in told
    assert "datawidth: has no effect: word_bits is 16, which holds, as in Timeloop" in told


def test_an_instance_of_a_cluster_has_its_share_of_the_memory():
    """Four instances share a memory of 4 x 32 bits: an access of it costs what one of that size does."""
    arch, _ = read(TREE)
    alone, _ = read(TREE.replace("depth: 4, word_bits: 8", "depth: 4, word_bits: 32"))
    shared, whole = default_table(arch).levels[1], default_table(alone).levels[1]
    assert (shared.read_pj, shared.area_um2) == (whole.read_pj, whole.area_um2 / 4)


def test_switched_off_is_refused():
    with pytest.raises(InputError, match="enabled must be true, got False"):
        read(TREE.replace("class: DRAM, enabled: true", "class: DRAM, enabled: false"))


def test_constraints_on_a_dummy_and_by_the_root_key_constraints():
    text = """
constraints:
  targets:
  - {target: Dummy, type: spatial, factors: M=4}
  - {target: Dummy, type: dataspace, bypass: [Weights, Inputs, Outputs]}
  - {target: Dummy, type: temporal, factors: M=1 N=1 K=1}
"""
    arch, _ = read(TREE + text)
    assert arch.levels[0].fanout[1].constraint.factors == (FactorRule("M", "=", 4),)


NODES = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM}
  - !Container {name: PE, spatial: {meshX: 4, meshY: 2}}
  - !Parallel
    nodes:
    - !Component {name: a, class: regfile, attributes: {depth: 8}}
    - !Hierarchical
      nodes:
      - !Component {name: b, class: SRAM, attributes: {depth: 8}, constraints: {dataspace: {keep: [Inputs]}}}
      - !Component {name: c, class: regfile, attributes: {depth: 4}, constraints: {dataspace: {keep: [Inputs]}}}
    - !Nothing
  - !Component {name: mac, class: intmac}
constraints:
  targets:
  - {target: a, type: dataspace, keep: [Weights]}
  - {target: PE, type: spatial, factors: RULES}
"""


def test_keep_lists_elsewhere_and_storages_inside_a_branch():
    """What branches of !Parallel keep stands in a constraint list; one branch has two storages."""
    arch, told = read(NODES.replace("RULES", "M=4 N=2"))
    kept = {level.name: (sorted(level.keep), sorted(level.bypass)) for level in arch.levels[1:]}
    assert kept == {
        "a": (["Weights"], ["Inputs"]),
        "b": (["Inputs"], ["Weights"]),
        "c": (["Inputs"], ["Weights"]),
    }
    y, x = arch.levels[0].fanout
    assert set(x.constraint.factors) == {FactorRule("M", "=", 4), FactorRule("N", "=", 1)}
    assert set(y.constraint.factors) == {FactorRule("M", "=", 1), FactorRule("N", "=", 2)}
    assert told == ""  # there is one way to split


def test_a_split_left_out():
    """Of several ways the first, X before Y, with a warning; where there is none, a fault."""
    arch, told = read(NODES.replace("RULES", "M=2"))
    assert arch.levels[0].fanout[1].constraint.factors == (FactorRule("M", "=", 2),)
    assert "has no split: M on X, of 2 ways; Timeloop tries all of them" in told
    with pytest.raises(InputError, match="a split must say on which of them each dim goes"):
        read(NODES.replace("RULES", "M=4 N=4"))


def test_a_factor_over_its_dim_is_forgotten():
    arch, told = read(NODES.replace("RULES", "M=4 K=9 N=1"))
    assert all(rule.dim != "K" or rule.value == 1 for axis in arch.levels[0].fanout for rule in axis.constraint.factors)
    assert "K=9 is over the size of K: no effect, as in Timeloop" in told


PROBLEM = """
problem:
  notes: any
  shape:
    name: null
    dimensions: [P, R, M]
    coefficients: [{name: Wdilation, default: 1}]
    data_spaces:
    - {name: W, projection: [[[R]], [[M]]]}
    - {name: I, projection: [[[P], [R, Wdilation]]]}
    - {name: O, projection: [[[P]], [[M]]], read_write: true}
  instance: {P: 8, R: 3, M: 2, SIZES}
"""


def problem(sizes):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", InputWarning)
        layer = read_timeloop_problem(parse_yaml(PROBLEM.replace("SIZES", sizes), "p.yaml"))
    return layer, "\n".join(str(warning.message) for warning in told)


def test_sizes_that_the_shape_does_not_use():
    layer, told = problem("H: 10, W: 10, Hpad: 1, Wpad: 1, G: 1")
    assert layer.sizes == (8, 3, 2)
    assert told == "p.yaml: without effect on counts: problem.instance.G, which the shape does not use"
    with pytest.raises(InputError, match="unknown dimension or coefficient 'Wdilaton'; did you mean \"Wdilation\""):
        problem("Wdilaton: 2")


def test_a_dilation_of_0_counts_as_in_timeloop():
    layer, told = problem("Wdilation: 0")
    assert layer.tensors[1].dims == {"P"}
    assert "R has the coefficient 0 and is left out; without dilation write 1" in told


def test_the_dense_part_of_a_sparse_design():
    """Refused by name, unless asked for; then what is left out is said."""
    sparse = NODES.replace("RULES", "M=4 N=2").replace(
        "name: DRAM, class: DRAM}", "name: DRAM, class: DRAM, sparse_optimizations: {representation_format: {}}}"
    )
    with pytest.raises(InputError, match="sparse_optimizations is not supported; --ignore-sparsity counts the dense"):
        read(sparse)
    with pytest.raises(InputError, match="densities below 1 are not supported"):
        problem("densities: {W: 0.5}")
    with dense_part():
        arch, told = read(sparse)
        layer, of_layer = problem("densities: {W: 0.5}")
    assert arch == read(NODES.replace("RULES", "M=4 N=2"))[0]
    assert "the dense part is counted, as if these were not there: architecture.nodes[0].sparse_optimizations" in told
    assert "as if these were not there: problem.instance.densities.W" in of_layer
    assert layer == problem("")[0]
