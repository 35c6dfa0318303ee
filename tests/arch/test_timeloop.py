"""Timeloop architectures in all their dialects."""

from dataclasses import replace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage, load_arch
from ruby_map.arch.timeloop import read_timeloop_arch, write_timeloop_arch
from ruby_map.workloads import InputError, parse_yaml
from ruby_map.workloads.timeloop import TIMELOOP_TAGS, read_timeloop_problem

from ..strategies import paths

TREE = """
architecture:
  version: 0.3
  subtree:
  - name: system
    local:
    - {name: DRAM, class: DRAM, attributes: {type: LPDDR4, width: 64, block-size: 4, word-bits: 16}}
    subtree:
    - name: eyeriss
      attributes: {technology: 45nm}
      local:
      - name: shared_glb
        class: smartbuffer_SRAM
        attributes: {memory_depth: 16384, memory_width: 64, n_banks: 32, block-size: 4, word-bits: 16,
                     read_bandwidth: 16, write_bandwidth: 16}
      - name: DummyBuffer[0..13]
        class: regfile
        attributes: {depth: 16, width: 16, word-bits: 16, block-size: 1, meshX: 14}
      subtree:
      - name: PE[0..167]
        local:
        - name: weights_spad
          class: smartbuffer_RF
          attributes: {memory_depth: 192, memory_width: 16, word-bits: 16, meshX: 14, update_fifo_depth: 2}
        - {name: mac, class: intmac, attributes: {datawidth: 16, meshX: 14}}
"""

NODES = """
architecture:
  version: 0.4
  nodes:
  - !Container {name: system}
  - !Component {name: DRAM, class: DRAM, attributes: {type: LPDDR4, width: 64, block_size: 8, datawidth: 8}}
  - !Container {name: eyeriss, attributes: {technology: 32nm}}
  - !Component
    name: shared_glb
    class: smartbuffer_SRAM
    attributes: {depth: rows, width: 64, n_banks: 32, datawidth: 8, read_bandwidth: 16, write_bandwidth: 16}
    constraints: {dataspace: {keep: [Inputs, Outputs], bypass: [Weights]},
                  temporal: {permutation: [Q, R, _, N, M], factors: [Q=1, P=0, C<=4]}}
  - !Container
    name: PE_column
    spatial: {meshX: 14}
    constraints:
      spatial: {permutation: [N, C, P, R, S, Q, M], factors: [N=1, C=1, P=1, R=1, S=1], split: 7}
  - !Container
    name: PE
    spatial: {meshY: 12}
    constraints: {spatial: {split: 4, permutation: [N, P, Q, R, S, C, M], factors: [N=1, P=1, Q=1, R=1]}}
  - !Parallel
    nodes:
    - !Component
      name: ifmap_spad
      class: smartbuffer_RF
      attributes: {depth: 12, width: 16, datawidth: 8}
      constraints: {dataspace: {keep: [Inputs]}}
    - !Component
      name: psum_spad
      class: storage
      subclass: smartbuffer_RF
      attributes: {depth: 16, width: 16, datawidth: 16}
      constraints: {dataspace: {keep: [Outputs]}}
  - !Component {name: mac, class: intmac, spatial: {meshX: 2}, attributes: {multiplier_width: 8}}
variables: {rows: 2 * 1024}
"""

CONV = read_timeloop_problem(parse_yaml("problem: {instance: {R: 3, S: 3, P: 8, Q: 8, C: 4, K: 4, N: 1}}", "conv.yaml"))


def read(text, workload=None):
    return read_timeloop_arch(parse_yaml(text, "arch.yaml", tags=TIMELOOP_TAGS), workload)


def faults(text, workload=None):
    """The faults of an architecture as (line, message)."""
    with pytest.raises(InputError) as caught:
        read(text, workload)
    return [(fault.line, fault.message) for fault in caught.value.faults]


def nodes(*lines):
    """A 0.4 file: DRAM, the given lines, a register file, MACs."""
    return "\n".join(
        [
            "architecture:",
            "  nodes:",
            "  - !Component {name: DRAM, class: DRAM}",
            *lines,
            "  - !Component {name: RF, class: regfile, attributes: {depth: 8}}",
            "  - !Component {name: mac, class: mac}",
        ]
    )


def flat(attributes="", cls="SRAM", rest=""):
    """A tree with DRAM and one buffer, its attributes on line 9."""
    return f"""architecture:
  version: 0.3
  {rest}
  subtree:
  - name: system
    local:
    - {{name: DRAM, class: DRAM}}
    - name: GLB
      attributes: {{{attributes}}}
      class: {cls}
    - {{name: mac, class: mac}}
"""


def test_tree_levels_and_fanouts():
    """Instances come from the ranges, fan-outs from ratios of meshes: 14 columns, then 12 rows."""
    arch = read(TREE)
    assert arch.name == "system"
    assert [level.name for level in arch.levels] == ["DRAM", "shared_glb", "DummyBuffer", "weights_spad"]
    assert [level.fanout for level in arch.levels] == [
        (),
        (Axis("DummyBuffer_X", 14, "X"),),
        (Axis("weights_spad_Y", 12, "Y"),),
        (),
    ]
    assert [arch.instances(level) for level in range(5)] == [1, 1, 14, 168, 168]


def test_tree_attributes():
    """Aliases, hyphens and inherited attributes arrive in their fields, the rest under attributes."""
    dram, glb, _, spad = read(TREE).levels
    assert (dram.capacity_bits, dram.width_bits, dram.attribute("type")) == (None, 64, "LPDDR4")
    assert (glb.capacity_bits, glb.width_bits, glb.word_bits, glb.banks) == (16384 * 64, 64, 16, 32)
    assert (glb.read_bandwidth, glb.write_bandwidth) == (16.0, 16.0)
    assert spad.capacity_bits == 192 * 16
    assert spad.attributes == (("technology_nm", 45), ("update_fifo_depth", 2))
    assert read(TREE).compute == Compute("mac", "intmac", attributes=(("technology_nm", 45),), word_bits=16)


def test_two_meshes_make_two_axes_y_outside():
    """A fan-out of meshX and meshY becomes Y outside X, the order of Timeloop's nests."""
    text = TREE.replace("DummyBuffer[0..13]", "DummyBuffer").replace("block-size: 1, meshX: 14", "block-size: 1")
    assert [(axis.mesh, axis.size) for axis in read(text).levels[2].fanout] == [("Y", 12), ("X", 14)]


def test_dummy_storages_become_axes():
    """A dummy_storage level that only carries spatial loops is an axis of the level outside it."""
    text = TREE.replace("DummyBuffer[0..13]", "inter_PE_spatial[0..13]").replace(
        "class: regfile", "class: dummy_storage"
    )
    arch = read(text)
    assert [level.name for level in arch.levels] == ["DRAM", "shared_glb", "weights_spad"]
    assert arch.levels[1].fanout == (Axis("inter_PE_spatial_X", 14, "X"), Axis("PE", 12, "Y"))


@pytest.mark.parametrize(
    ("attributes", "capacity", "width"),
    [
        ("depth: 1024, block_size: 4", 4096 * 16, 64),
        ("depth: 1024, width: 64", 4096 * 16, 64),
        ("entries: 100, datawidth: 8", 800, 8),
        ("sizeKB: 2, word_bits: 8", 16384, 8),
        ("sizeKB: 2, n_words: 2", 16384, 32),
        ("depth: 2 * 32, memory_width: 24, datawidth: 24", 64 * 24, 24),
    ],
)
def test_sizes(attributes, capacity, width):
    """Entries count words, depth counts vectors, sizeKB counts bytes."""
    level = read(flat(attributes)).levels[1]
    assert (level.capacity_bits, level.width_bits) == (capacity, width)


def test_bandwidth_is_split_in_halves():
    """The older `bandwidth` gives a half to each direction."""
    level = read(flat("depth: 4, bandwidth: 3")).levels[1]
    assert (level.read_bandwidth, level.write_bandwidth) == (1.5, 1.5)


@pytest.mark.parametrize("written", ["width: 512", "block-size: 1", "width: 512, block-size: 1", ""])
def test_a_cluster_shares_one_access(written):
    """64 registers of a word each in one memory: each holds its word and pays a 64th of an access."""
    text = flat(f"memory_depth: 1, cluster-size: 64, word-bits: 8{written and ', '}{written}", cls="reg_storage")
    level = read(text).levels[1]
    assert (level.capacity_bits, level.word_bits, level.width_bits) == (8, 8, 512)


@pytest.mark.parametrize(
    ("attributes", "part"),
    [
        ("depth: 4, shared_bandwidth: 0", "must be over 0"),
        ("depth: 4, min_utilization: 0.5", "min_utilization is not supported"),
        ("depth: 4, network_read: noc", "network_read is not supported"),
        ("depth: 4, network_type: 'M:N'", "network_type is not supported"),
        ("depth: 4, vector_access_energy: 3", "vector_access_energy is not supported"),
        ("depth: 4, allow_overbooking: true", "allow_overbooking is not supported"),
        ("depth: 4, multiple_buffering: 1.5", "must be an integer"),
        ("depth: 4, width: 24", "must be a multiple of word_bits * block_size * cluster_size = 16, got 24"),
        ("depth: 4, width: 30, block_size: 1", "word_bits * block_size * cluster_size = 16 * 1 = 16, got 30"),
        ("depth: 1, width: 96, block_size: 1, cluster_size: 4", "= 16 * 1 * 4 = 64, got 96"),
        ("depth: 4, entries: 5", "sizes must agree"),
        ("depth: 4, memory_depth: 5", "mean the same"),
        ("depth: -1", "must be at least 0, got -1"),
        ("depth: x", "must be a number"),
        ("depth: 4, read_bandwidth: 0", "must be over 0"),
        ("depth: 4, read_bandwidth: 1e-308", "must be at least 1e-30"),
        ("depth: 4, bandwidth: 1e-31", "must be at least 1e-30"),
        ("depth: 4, instances: 3", "the names make 1 instances, got 3"),
        ("depth: 4, meshX: 2", "does not make 1 instances"),
    ],
)
def test_refused_attributes(attributes, part):
    """What would change the counts unsaid is refused by name, with its line."""
    ((line, message),) = faults(flat(attributes))
    assert part in message
    assert line == 9


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (flat("depth: 4", cls="XY_NoC"), "explicit networks"),
        (flat("depth: 4", cls="SARM"), "unknown class 'SARM'"),
        (flat(""), "one of depth, entries, sizeKB is missing"),
        (flat("depth: 4", rest="sparse_optimizations: {targets: [{name: GLB}]}"), "sparse_optimizations"),
        (flat("depth: 4", rest="nodez: []"), "unknown key"),
        (flat("depth: 4").replace("0.3", "0.9"), "must be one of 0.2, 0.3, 0.4"),
        (flat("depth: 4").replace("GLB", "GLB[3..1]"), "upwards"),
        (flat("depth: 4").replace("GLB", "G LB"), "a name has letters"),
        (flat("depth: 4").replace("GLB", "DRAM"), "two components are called 'DRAM'"),
        (flat("depth: 4").replace("class: mac", "class: SRAM, attributes: {depth: 2}"), "innermost component"),
        (flat("depth: 4").replace("name: DRAM", "name: 'DRAM[0..1]'").replace("[3", "["), "1 instance"),
        ("arch: {}\narchitecture: {}", "one of the keys"),
        ("problem: {}", "one of the keys"),
    ],
)
def test_refused_trees(text, part):
    """Structural faults are named."""
    assert any(part in message for _, message in faults(text)), faults(text)


def test_every_fault_at_once():
    """Three faults in three places give three messages in one go."""
    text = flat("depth: x, vector_access_energy: 1", cls="regfiel")
    assert len(faults(text.replace("class: regfiel", "class: SRAM").replace("class: mac", "class: nic"))) == 3


def test_meshes_must_divide():
    """A mesh that is no multiple of the one outside it cannot be a fan-out."""
    text = flat("depth: 4, meshX: 4").replace("name: GLB", "name: 'GLB[0..3]'")
    text = text.replace("{name: mac, class: mac}", "{name: 'mac[0..5]', class: mac, attributes: {meshX: 6}}")
    assert faults(text)[0][1] == "meshX of mac (6) must be a multiple of GLB's (4)"


def test_flat_list():
    """The form without a version lists storages from the inside."""
    arch = read(
        """
        arch:
          arithmetic: {name: MACs, instances: 16, meshX: 4, word-bits: 8}
          storage:
          - {name: RF, entries: 16, instances: 16, meshX: 4, word-bits: 8}
          - {name: GLB, sizeKB: 1, instances: 1, word-bits: 8}
          - {name: DRAM, technology: DRAM, instances: 1}
        """
    )
    assert [(level.name, level.cls) for level in arch.levels] == [("DRAM", "DRAM"), ("GLB", "SRAM"), ("RF", "SRAM")]
    assert [(axis.mesh, axis.size) for axis in arch.levels[1].fanout] == [("Y", 4), ("X", 4)]
    assert (arch.levels[1].capacity_bits, arch.compute.word_bits) == (8192, 8)


def test_nodes_levels_and_axes():
    """Each container with a fan-out is an axis of the level outside it, outer first; so is a component's own."""
    arch = read(NODES)
    assert arch.name == "system"
    assert [level.name for level in arch.levels] == ["DRAM", "shared_glb", "ifmap_spad", "psum_spad"]
    assert [(axis.name, axis.size, axis.mesh) for axis in arch.levels[1].fanout] == [
        ("PE_column", 14, "X"),
        ("PE", 12, "Y"),
    ]
    assert [(axis.name, axis.size) for axis in arch.levels[3].fanout] == [("mac_X", 2)]
    assert arch.levels[1].capacity_bits == 2048 * 64
    assert (arch.levels[3].cls, arch.levels[3].attribute("technology_nm")) == ("smartbuffer_RF", 32)
    assert arch.compute.word_bits == 8


def test_nodes_constraints():
    """Permutations turn round, `_` divides inner from outer; a split forbids the dims of the other mesh."""
    _, glb, ifmap, psum = read(NODES).levels
    assert glb.temporal == LoopConstraint(
        factors=(FactorRule("Q", "=", 1), FactorRule("P", "=", None), FactorRule("C", "<=", 4)),
        innermost=("R", "Q"),
        outermost=("M", "N"),
    )
    column, pe = (axis.constraint for axis in glb.fanout)
    assert column.dims == ("N", "C", "P", "R", "S", "Q", "M")
    assert {rule.dim for rule in pe.factors} == {"N", "P", "Q", "R"}
    assert all(rule.value == 1 for rule in pe.factors)
    assert (glb.keep, glb.bypass) == ({"Inputs", "Outputs"}, {"Weights"})
    assert (ifmap.keep, ifmap.bypass) == ({"Inputs"}, {"Outputs"})
    assert (psum.keep, psum.bypass) == ({"Outputs"}, {"Inputs"})


def test_nodes_with_workload():
    """With the workload known, a split places every dim and the shorthands name tensors."""
    arch = read(
        nodes(
            "  - !Component",
            "    name: GLB",
            "    class: SRAM",
            "    attributes: {depth: 8}",
            "    constraints:",
            "      dataspace: {keep_only: [Inputs]}",
            "      temporal: {no_iteration_over_dataspaces: [Weights], default_max_factor: 2}",
            "  - !Container",
            "    name: PE",
            "    spatial: {meshX: 4, meshY: 2}",
            "    constraints: {spatial: {permutation: [C, K], split: 1, factors: [C=4, K=2]}}",
        ),
        CONV,
    )
    glb = arch.levels[1]
    assert (glb.keep, glb.bypass) == ({"Inputs"}, {"Weights", "Outputs"})
    rules = {(rule.dim, rule.op): rule.value for rule in glb.temporal.factors}
    assert rules == {**{(d, "="): 1 for d in "CKRS"}, **{(d, "<="): 2 for d in "PQN"}}
    y, x = glb.fanout
    assert (y.name, y.constraint.dims, y.constraint.factors) == (
        "PE_Y",
        ("K", "R", "S", "P", "Q", "N"),
        (FactorRule("K", "=", 2),),
    )
    assert (x.name, x.constraint.dims, x.constraint.factors) == ("PE_X", ("C",), (FactorRule("C", "=", 4),))


MESH = "  - !Container {name: x, spatial: {%s}, constraints: {spatial: {%s}}}"
BUFFER = "  - !Component {name: G, class: SRAM, attributes: {depth: 2}, %s}"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("  - !Pipelined {nodes: []}", "!Pipelined is not supported"),
        ("  - {name: x}", "a node without a tag"),
        ("  - !Component {name: x, class: mac}", "must come last"),
        ("  - !Container {name: x, spatial: {meshZ: 2}}", 'unknown key "meshZ"'),
        ("  - !Container {name: x, constraints: {temporal: {factors: [C=1]}}}", "a container has no temporal"),
        ("  - !Container {name: x, constraints: {spatial: {factors: [C=2]}}}", "there is no fan-out here"),
        (MESH % ("meshX: 2", "maximize_dims: [[C]]"), "maximize_dims can only be read together with the workload"),
        (MESH % ("meshX: 2", "no_reuse: [A]"), "no_reuse is not supported"),
        (MESH % ("meshX: 2, meshY: 2", "factors: C=3"), "a split must say"),
        (MESH % ("meshY: 2", "factors: C=2, split: 1, permutation: C"), "puts C on mesh X"),
        (MESH % ("meshX: 2", "factors: C=2 C=3"), "two rules for one dim"),
        (BUFFER % "sparse_optimizations: {a: 1}", "sparse_optimizations is not supported"),
        (BUFFER % "constraints: {dataspace: {keep: A, bypass: A}}", "A is both kept and bypassed"),
        (BUFFER % "constraints: {dataspace: {keep_only: A}}", "only be read together with the workload"),
        (BUFFER % "constraints: {temporal: {permutation: CC}}", "names a dim once"),
        (BUFFER % "constraints: {temporal: {factors: [C:2]}}", "a factor is written DIM=BOUND"),
        (BUFFER % "enabled: false", "enabled must be true"),
        ("  - !Parallel {nodes: [!Hierarchical {nodes: [!Container {name: x}]}]}", "a branch of !Parallel"),
        ("  - !Parallel {nodes: [!Component {name: S, class: SRAM, attributes: {depth: 2}}]}", "keep list"),
    ],
)
def test_refused_nodes(line, part):
    """What the 0.4 dialect can say and this model cannot honour is refused by name."""
    assert any(part in message for _, message in faults(nodes(line))), faults(nodes(line))


def test_files_of_any_dialect_load(tmp_path):
    """`load_arch` takes Timeloop files as it takes ours."""
    for text in (TREE, NODES):
        (tmp_path / "arch.yaml").write_text(text)
        assert load_arch(str(tmp_path / "arch.yaml")) == read(text)


def test_two_branches_may_not_keep_the_same():
    """A tensor kept in two branches of !Parallel has no single home."""
    text = NODES.replace("keep: [Outputs]}", "keep: [Inputs]}")
    assert any("two branches" in message for _, message in faults(text))


@st.composite
def machines(draw):
    """Machines with one or no axis per mesh and level, or several axes that share one."""
    levels = []
    for number in range(draw(st.integers(1, 4))):
        meshes = draw(st.sampled_from(["", "X", "Y", "YX", "XX", "XYX"]))
        word, block = draw(st.sampled_from([8, 16, 24])), draw(st.integers(1, 4))
        levels.append(
            Storage(
                f"L{number}",
                draw(st.sampled_from(["SRAM", "DRAM", "register_bank"])),
                attributes=(("technology_nm", 45), ("type", "LPDDR4")),
                capacity_bits=draw(st.none() | st.integers(1, 100).map(lambda words, word=word: words * word)),
                word_bits=word,
                width_bits=word * block,
                banks=draw(st.integers(1, 4)),
                read_bandwidth=draw(st.sampled_from([None, 2.0])),
                shared_bandwidth=draw(st.sampled_from([None, 2.5])),
                multiple_buffering=draw(st.integers(1, 2)),
                fanout=tuple(Axis(f"a{number}{at}", draw(st.integers(2, 5)), mesh) for at, mesh in enumerate(meshes)),
            )
        )
    return Architecture("random", tuple(levels), Compute("MAC", draw(st.sampled_from(["intmac", "alu"])), word_bits=8))


@given(machines())
def test_written_architectures_read_back(arch):
    """A written tree reads back as the same machine; plain fan-outs lose only the names of their axes."""
    again = read(yaml.safe_dump(write_timeloop_arch(arch)))
    assert again.name == arch.name
    assert again.compute == arch.compute
    for ours, theirs in zip(arch.levels, again.levels, strict=True):
        assert replace(theirs, fanout=ours.fanout) == ours
        if len({axis.mesh for axis in ours.fanout}) < len(ours.fanout):
            assert theirs.fanout == ours.fanout
        else:
            assert [(axis.mesh, axis.size) for axis in theirs.fanout] == [
                (axis.mesh, axis.size) for axis in ours.fanout
            ]


def test_what_a_tree_cannot_say_is_refused():
    """Word widths by tensor and odd widths have no words in the dialect; all are named."""
    level = Storage("L", "SRAM", capacity_bits=33, width_bits=20, tensor_bits=(("Z", 24),))
    with pytest.raises(ValueError, match="word widths by tensor; L: a width of 20 bits .*; L: a capacity of 33 bits"):
        write_timeloop_arch(Architecture("odd", (level,), Compute("MAC", "mac")))


VALUES = st.sampled_from(
    [None, "", "x", "M=2", "[", "A[0..1]", 0, -1, 1, 3, 2.5, 1e300, True, [], {}, [[]], [None], {"a": 1}]
)


@given(st.sampled_from([TREE, NODES]), st.data())
def test_nothing_but_input_errors(text, data):
    """Whatever value stands wherever, the answer is an architecture or a list of faults, never a traceback."""
    document = parse_yaml(text, "arch.yaml", tags=TIMELOOP_TAGS)
    path = data.draw(st.sampled_from(list(paths(document.data))))
    document.get(path[:-1])[path[-1]] = data.draw(VALUES)
    try:
        told = read_timeloop_arch(document, data.draw(st.sampled_from([None, CONV]))).levels
    except InputError as error:
        told = error.faults
    assert told
