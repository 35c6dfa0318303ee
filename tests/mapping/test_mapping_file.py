"""Timeloop mapping files: read, checked, written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.mapping.timeloop_read import read_mapping
from ruby_map.mapper.mapping.timeloop_write import mapping_yaml, write_mapping
from ruby_map.workloads import InputError, Tensor, Term, Workload, parse_yaml

from ..strategies import machines, mappings, paths

MATMUL = Workload(
    "matmul",
    ("M", "N", "K"),
    (10, 7, 6),
    (
        Tensor("A", ((Term("M"),), (Term("K"),))),
        Tensor("B", ((Term("K"),), (Term("N"),))),
        Tensor("Z", ((Term("M"),), (Term("N"),)), output=True),
    ),
)


def machine(*axes):
    glb = Storage("GLB", "SRAM", capacity_bits=1 << 20, fanout=axes)
    return Architecture("toy", (Storage("DRAM", "DRAM"), glb, Storage("RF", "regfile")), Compute("MAC", "mac"))


MESH = machine(Axis("RF_Y", 4, "Y"), Axis("RF_X", 4, "X"))  # slots: DRAM, GLB, Y, X, RF
LINE = machine(Axis("PE", 4, "Y"))
SAME = machine(Axis("PE_column", 4, "X"), Axis("PE", 4, "X"))

TEXT = """
mapping:
- {target: DRAM, type: temporal, factors: M=1 N=1 K=1, permutation: MNK}
- {target: GLB, type: temporal, factors: M=3 N=2, permutation: NM}
- {target: GLB, type: spatial, factors: "M=4,2 N=4,3 K=1", permutation: MNK, split: 1}
- {target: RF, type: temporal, factors: K=0, permutation: KMN}
- {target: RF, type: bypass, keep: [A, Z], bypass: [B]}
"""


def read(text, arch=MESH, workload=MATMUL):
    return read_mapping(parse_yaml(text, "mapping.yaml"), arch, workload)


def messages(text, arch=MESH, workload=MATMUL):
    with pytest.raises(InputError) as caught:
        read(text, arch, workload)
    assert all(fault.line for fault in caught.value.faults)
    return [fault.message for fault in caught.value.faults]


def entries(*lines):
    return "mapping:\n" + "\n".join(f"- {{{line}}}" for line in lines)


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("factors", "order", "keep"))


def test_reads_loops_orders_and_keepers():
    """Bounds go to their slots (X and Y by the split), permutations turn round, what is missing is 1 and kept."""
    batch = read(TEXT)
    assert batch.factors[0].tolist() == [[1, 1, 1], [3, 2, 1], [1, 4, 1], [4, 1, 1], [1, 1, 6]]
    assert batch.residuals[0].tolist() == [[1, 1, 1], [3, 2, 1], [1, 3, 1], [2, 1, 1], [1, 1, 6]]
    assert batch.order[0].tolist() == [[2, 1, 0], [2, 0, 1], [1, 0, 2]]
    assert batch.keep[0].tolist() == [[True] * 3, [True] * 3, [True, False, True]]


def test_reads_a_bare_list_and_a_path(tmp_path):
    """The list may stand alone, and in a file."""
    (tmp_path / "map.yaml").write_text(TEXT)
    bare = "\n".join(TEXT.splitlines()[2:])
    assert same(read(bare), read_mapping(tmp_path / "map.yaml", MESH, MATMUL))


def test_residuals_are_derived_when_left_out():
    """Bounds alone are tiled upwards from the innermost loop, as a Timeloop map.yaml leaves them."""
    assert same(read(TEXT.replace("4,2", "4").replace("4,3", "4")), read(TEXT))


def test_factors_in_other_spellings():
    """Lists, commas, spaces around =, and M4 for M=4 say the same."""
    text = TEXT.replace('"M=4,2 N=4,3 K=1"', "[M = 4, 'N=4,3', K1]").replace("4,2", "4")
    text = text.replace("[M = 4,", "['M = 4,2',")
    assert same(read(text), read(TEXT))
    assert same(read(TEXT.replace("M=3 N=2", "'M=3, N=2'")), read(TEXT))


def test_a_bound_over_the_tiles_left_is_brought_to_canonical_form():
    """With one tile outside only the residual ever runs: M=4,2 there is M=2."""
    text = entries("target: DRAM, type: temporal, factors: 'M=4,2'", "target: RF, type: temporal, factors: M=5 N=7 K=6")
    assert read(text).factors[0, :, 0].tolist() == [2, 1, 1, 1, 5]


def test_single_axis_takes_all_spatial_loops():
    """With one axis the split does not matter."""
    rest = "target: RF, type: temporal, factors: M=5 N=7 K=3"
    for split in ("", ", split: 0", ", split: 3"):
        batch = read(entries(f"target: GLB, type: spatial, factors: M=2 K=2{split}", rest), LINE)
        assert batch.factors[0].tolist() == [[1, 1, 1], [1, 1, 1], [2, 1, 2], [5, 7, 3]]


@pytest.mark.parametrize("target", ["PE", "GLB.PE", "inter_PE_spatial"])
def test_axes_are_targets(target):
    """An axis can be named alone, with its level, or as the 0.4 front end's dummy storage."""
    batch = read(
        entries(
            "target: PE_column, type: spatial, factors: M=2",
            f"target: {target}, type: spatial, factors: 'M=4,1 N=1'",
            "target: RF, type: temporal, factors: N=7 K=6",
        ),
        SAME,
        Workload("w", MATMUL.dims, (5, 7, 6), MATMUL.tensors),
    )
    assert batch.factors[0, :, 0].tolist() == [1, 1, 2, 4, 1]


def test_an_entry_of_a_level_leaves_out_the_axes_that_have_their_own():
    """GLB's spatial entry means the axis above a dummy storage, that of the dummy the axis below it, in any order."""
    own = ["target: GLB, type: spatial, factors: M=2 N=1, permutation: MNK, split: 3"]
    dummy = ["target: PE, type: spatial, factors: M=5 K=2, permutation: NMK, split: 1", "target: PE, type: temporal"]
    rest = ["target: RF, type: temporal, factors: N=7 K=3"]
    arch = machine(Axis("PE_column", 4, "X"), Axis("PE", 10, "Y"))
    for lines in (own + dummy + rest, rest + dummy + own):
        assert read(entries(*lines), arch).factors[0].tolist() == [
            [1, 1, 1],
            [1, 1, 1],
            [2, 1, 1],
            [5, 1, 2],
            [1, 7, 3],
        ]
    assert messages(entries(*own, *own, *dummy, *rest), arch)[0].startswith("a second spatial entry for GLB.PE_column")


def test_factors_of_1_may_stand_for_axes_that_share_a_mesh():
    """They say nothing, and leave the loops of other entries alone."""
    lines = ["target: DRAM, type: temporal, factors: M=10 N=7 K=6"]
    text = entries(*lines, "target: GLB, type: spatial, factors: M=1 N=1 K=1, permutation: MNK, split: 0")
    assert read(text, SAME).factors[0].tolist() == [[10, 7, 6]] + [[1, 1, 1]] * 4


def test_architecture_bypass_is_the_default():
    """A tensor that a level must bypass is bypassed there without a word in the file."""
    levels = (MESH.levels[0], MESH.levels[1], Storage("RF", "regfile", bypass=frozenset({"B"})))
    text = "\n".join(TEXT.splitlines()[:-1])
    assert same(read(text, Architecture("toy", levels, MESH.compute)), read(TEXT))


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("M=3 N=2", "M=2 N=2", "the factors of M must make its size 10, but 2 * 4,2 makes 6"),
        ("4,2", "4,3", "must make its size 10, but 3 * 4,3 makes 11"),
        ("4,2", "4,5", "at most its bound, got M=4,5"),
        ("4,2", "4,0", "a residual must be at least 1"),
        ("target: RF, type: temporal", "target: RFs, type: temporal", 'did you mean "RF"?'),
        ("type: bypass", "type: bypas", 'did you mean "bypass"?'),
        ("type: bypass", "type: skew", "skew is not supported"),
        ("permutation: KMN", "permutation: KMK", "'K' occurs 2 times"),
        ("permutation: KMN", "permutation: KMX", "unknown dimension 'X'"),
        ("K=0", "K=0 X=2", "unknown dimension 'X'"),
        ("K=0", "K=0 K=2", "two factors of K"),
        ("K=0", "K<=6", "a mapping has = only"),
        ("K=0", "K:6", "a factor is written DIM=BOUND"),
        ("split: 1", "split: -4", "must be at least 0, got -4"),
        ("split: 1", "split: 2", "GLB.RF_X has 4 instances on mesh X, the loops need 16"),
        ("bypass: [B]", "bypass: [A]", "A is both kept and bypassed"),
        ("bypass: [B]", "bypass: [C]", "unknown tensor 'C'"),
        ("{target: RF, type: bypass", "{target: DRAM, type: bypass", "the outermost level DRAM keeps every tensor"),
        ("target: GLB, type: temporal", "target: RF, type: temporal", "a second temporal entry for RF"),
        ("permutation: KMN", "permute: KMN", 'unknown key "permute"'),
        ("permutation: KMN", "permutation: KMN, no_reuse: [A]", "no_reuse is not supported"),
        ("permutation: KMN", "permutation: KMN, split: 1", "only spatial entries have a split"),
        ("mapping:", "maping:", 'the key "mapping" with a list is expected'),
    ],
)
def test_refused(old, new, part):
    """Each fault is told with its line."""
    assert old in TEXT
    found = messages(TEXT.replace(old, new, 1))
    assert any(part in message for message in found), found


def test_bounds_alone_beyond_the_size_are_refused():
    """Without residuals a bound over the tiles left is a mistake, not a residual unsaid."""
    text = entries("target: DRAM, type: temporal, factors: M=4", "target: RF, type: temporal, factors: M=5 N=7 K=6")
    assert messages(text) == [
        "the factors of M must make its size 10, but 4 * 5 is more: at DRAM only 2 tiles are left for a bound of 4"
    ]


def test_every_fault_at_once():
    """Faults in several entries, and of several dims, come together."""
    assert len(messages(TEXT.replace("M=3 N=2", "M=2 N=1"))) == 2
    assert len(messages(TEXT.replace("KMN", "KMX").replace("[B]", "[C]").replace("DRAM", "DRM"))) == 3


def test_missing_levels():
    """A level without an entry has bounds of 1, so the file is refused only if the sizes do not come out."""
    assert messages(entries("target: RF, type: temporal, factors: M=10 N=7")) == [
        "the factors of K must make its size 6, but 1 makes 1"
    ]
    assert read(entries("target: RF, type: temporal, factors: M=10 N=7 K=6")).factors.prod(axis=1).tolist() == [
        [10, 7, 6]
    ]


def test_no_fanout_and_shared_meshes():
    """Spatial loops need a fan-out, and one axis each where two share a mesh."""
    rest = "target: RF, type: temporal, factors: M=5 N=7 K=6"
    assert (
        messages(entries("target: RF, type: spatial, factors: M=2", rest))[0] == "RF has no fan-out below it, got M=2"
    )
    assert "name one of PE_column, PE" in messages(entries("target: GLB, type: spatial, factors: M=2", rest), SAME)[0]


def test_writes_timeloops_entries():
    """The example, written: full factors and permutations, X loops first, bypass lists below the outermost level."""
    assert write_mapping(read(TEXT)) == [
        {"target": "DRAM", "type": "temporal", "factors": "M=1 N=1 K=1", "permutation": "MNK"},
        {"target": "GLB", "type": "temporal", "factors": "M=3 N=2 K=1", "permutation": "NMK"},
        {"target": "GLB", "type": "spatial", "factors": "M=4,2 N=4,3 K=1", "permutation": "MNK", "split": 1},
        {"target": "RF", "type": "temporal", "factors": "M=1 N=1 K=6", "permutation": "KMN"},
        {"target": "GLB", "type": "bypass", "keep": ["A", "B", "Z"], "bypass": []},
        {"target": "RF", "type": "bypass", "keep": ["A", "Z"], "bypass": ["B"]},
    ]


def test_one_dim_on_two_axes_is_written_axis_by_axis():
    """A dim on X and on Y fits no single spatial entry: each axis gets its own."""
    factors = np.ones((1, 5, 3), np.int64)
    factors[0, :, 0] = [1, 1, 3, 4, 1]
    factors[0, 4, 1:] = [7, 6]
    order = np.tile(np.arange(3, dtype=np.int8), (1, 3, 1))
    batch = MappingBatch.of(MESH, MATMUL, factors, order, np.ones((1, 3, 3), bool))
    spatial = [(entry["target"], entry["factors"]) for entry in write_mapping(batch) if entry["type"] == "spatial"]
    assert spatial == [("RF_Y", "M=3 N=1 K=1"), ("RF_X", "M=4,2 N=1 K=1")]
    assert same(read(mapping_yaml(batch)), batch)


def test_only_single_mappings_are_written():
    """A batch of two has no one text."""
    batch = read(TEXT)
    with pytest.raises(ValueError, match="a batch of 2"):
        write_mapping(batch.take([0, 0]))


@st.composite
def meshed(draw):
    """Machines whose axes lie on either mesh, sometimes several on one."""
    arch = draw(machines(most_axes=3))
    levels = tuple(
        Storage(
            level.name,
            level.cls,
            fanout=tuple(Axis(axis.name, axis.size, draw(st.sampled_from("XY"))) for axis in level.fanout),
        )
        for level in arch.levels
    )
    return Architecture("random", levels, arch.compute)


@given(mappings(arch=meshed()))
def test_written_mappings_read_back(batch):
    """Whatever is written reads back as the same mapping."""
    assert same(read(mapping_yaml(batch), batch.arch, batch.workload), batch)


@given(st.data())
def test_nothing_but_input_errors(data):
    """Whatever value stands wherever, the answer is a mapping or a list of faults, never a traceback."""
    document = parse_yaml(TEXT, "mapping.yaml")
    path = data.draw(st.sampled_from(list(paths(document.data))))
    values = [
        None,
        "",
        "x",
        "M=999999999999999999999",
        "MNK",
        "glb",
        0,
        -1,
        3,
        2.5,
        True,
        [],
        {},
        [[]],
        [None],
        {"a": 1},
    ]
    document.get(path[:-1])[path[-1]] = data.draw(st.sampled_from(values))
    try:
        told = read_mapping(document, MESH, MATMUL).rows
    except InputError as error:
        told = error.faults
    assert len(told)


def test_a_level_speaks_of_the_axes_that_have_no_entry_of_their_own():
    """A dummy storage named as a target takes its axis; the spatial entry of the level is about the other one."""
    rest = ("target: DRAM, type: temporal, factors: M=1 N=4 K=6", "target: RF, type: temporal, factors: M=5 N=1 K=1")
    batch = read(
        entries("target: GLB, type: spatial, factors: M=2", "target: PE, type: spatial, factors: N=2", *rest), SAME
    )
    spread = {SAME.slots[s].axis.name: batch.factors[0, s].tolist() for s, slot in enumerate(SAME.slots) if slot.axis}
    assert spread == {"PE_column": [2, 1, 1], "PE": [1, 2, 1]}
