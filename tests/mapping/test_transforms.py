"""Transforms: every mapping is a list of them, in any order; each is replaced alone; conflicts are told all at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.mapper import evaluate, explore
from ruby_map.mapper.mapping.transforms import (
    Keep,
    Pad,
    Reorder,
    Spread,
    Tile,
    Transforms,
    applied,
    read_transforms,
    transforms_of,
)
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError, load_workload, parse_yaml, shaped

from ..conftest import DEEP
from ..small_problems import constrained_machines, problems, uneven_problems


def same(a, b):
    """Whether two mappings are one."""
    return all((x == y).all() for x, y in ((a.factors, b.factors), (a.order, b.order), (a.keep, b.keep)))


@settings(max_examples=40 if DEEP else 20)
@given(st.one_of(problems(), problems(constrained_machines()), uneven_problems()), st.data())
def test_every_mapping_is_its_transforms_in_any_order(problem, data):
    """Through YAML and JSON, too."""
    space = problem[0]
    batch = space[data.draw(st.integers(0, space.size.total - 1))]
    found = transforms_of(batch)
    mixed = Transforms(transforms=tuple(data.draw(st.permutations(found.transforms))))
    again = [read_transforms(parse_yaml(text, "file")) for text in (found.yaml(), json.dumps(found.model_dump()))]
    assert again == [found, found]
    for each in (found, mixed):
        assert same(applied(each, space.arch, space.workload), batch)


MACHINE = load_arch("eyeriss_like")
LAYER = shaped("conv2d", M=8, C=16, P=10, Q=10, R=3, S=3)
SOME = Transforms(
    transforms=(
        Tile(level="weights_spad", dim="R", bound=3),
        Tile(level="psum_spad", dim="M", bound=4),
        Spread(level="shared_glb", axis="PE", dim="S", bound=3),
        Spread(level="shared_glb", axis="PE_column", dim="Q", bound=6),
        Reorder(level="DRAM", dims=("M", "C")),
    )
)


def test_the_outermost_level_takes_the_rest():
    """Also of bounds that do not divide."""
    batch = applied(SOME, MACHINE, LAYER)
    assert dict(zip(LAYER.dims, batch.factors[0, 0].tolist(), strict=True)) == {
        "N": 1, "M": 2, "C": 16, "P": 10, "Q": 2, "R": 1, "S": 1,
    }  # fmt: skip
    assert batch.order[0, 0].tolist()[-2:] == [LAYER.dims.index("M"), LAYER.dims.index("C")]


def test_one_decision_is_replaced_and_evaluated_alone():
    """All others are as they were."""
    before = evaluate(MACHINE, LAYER, SOME)
    changed = SOME.replaced(Tile(level="psum_spad", dim="M", bound=8))
    assert len(changed.transforms) == len(SOME.transforms)
    after = evaluate(MACHINE, LAYER, changed)
    assert after.energy_pj != before.energy_pj
    differs = np.argwhere(before.batch.factors[0] != after.batch.factors[0])
    assert {LAYER.dims[d] for _, d in differs.tolist()} == {"M"}
    assert len(differs) == 2  # and the outermost
    added = changed.replaced(Tile(level="shared_glb", dim="C", bound=4))
    assert added.transforms[-1] == Tile(level="shared_glb", dim="C", bound=4)


def test_a_dim_is_padded():
    """Its zeros count as MACs, and the padded mapping is told with its padding."""
    padded = SOME.replaced(Pad(dim="Q", size=12))
    result = evaluate(MACHINE, LAYER, padded)
    assert result.workload.sizes[LAYER.dims.index("Q")] == 12
    assert result.workload.ineffectual_macs == LAYER.macs // 10 * 2
    found = transforms_of(result.batch, LAYER)
    assert Pad(dim="Q", size=12) in found.transforms
    assert same(applied(found, MACHINE, LAYER), result.batch)
    assert transforms_of(result.batch) == replace_without(found, "pad")


def replace_without(found, kind):
    return Transforms(transforms=tuple(each for each in found.transforms if each.transform != kind))


CONFLICTS = """transforms:
- {transform: tile, level: psum_spad, dim: M, bound: 4}
- {transform: tile, level: psum_spad, dim: M, bound: 2}
- {transform: tile, level: shared_glb, dim: C, bound: 17}
- {transform: spread, level: shared_glb, axis: PE_column, dim: Q, bound: 8}
- {transform: spread, level: shared_glb, axis: PE_column, dim: M, bound: 2}
- {transform: tile, level: shared_gbl, dim: C, bound: 2}
- {transform: tile, level: weights_spad, dim: Z, bound: 2}
- {transform: spread, level: shared_glb, axis: PE_colum, dim: P, bound: 2}
- {transform: spread, level: psum_spad, axis: X, dim: P, bound: 2}
- {transform: keep, level: weights_spad, tensors: [Weigths]}
- {transform: reorder, level: shared_glb, dims: [P, P]}
- {transform: tile, level: DRAM, dim: P, bound: 2}
- {transform: pad, dim: P, size: 9}
- {transform: keep, level: DRAM, tensors: [Inputs]}
"""


def test_every_conflict_is_told_at_once():
    """With its line, and names that are near."""
    document = parse_yaml(CONFLICTS, "file")
    with pytest.raises(InputError) as raised:
        applied(read_transforms(document), MACHINE, LAYER, document)
    told = sorted((fault.line, fault.message) for fault in raised.value.faults)
    expected = [
        (3, "a second transform of the same decision, the first is on line 2"),
        (4, "the bounds of C from shared_glb inwards are 17, more than its size 16"),
        (6, "shared_glb.PE_column has 14 instances, the loops spread over it need 16"),
        (7, "unknown level 'shared_gbl'; did you mean \"shared_glb\"?"),
        (8, "unknown dimension 'Z'"),
        (9, "unknown axis of shared_glb 'PE_colum'"),
        (10, "psum_spad has no axes below it"),
        (11, "unknown tensor 'Weigths'; did you mean \"Weights\"?"),
        (12, "names P twice"),
        (13, "DRAM is outermost and takes what the others leave of each dim"),
        (14, "P has size 10, which padding cannot lower to 9"),
        (15, "the outermost level DRAM keeps every tensor"),
    ]
    assert [line for line, _ in told] == [line for line, _ in expected]
    for (_, message), (_, words) in zip(told, expected, strict=True):
        assert message.startswith(words)


def test_the_form_of_a_file_is_checked():
    """Unknown kinds, keys and wrong types, each with its line."""
    text = "transforms:\n- {transform: tille, level: a, dim: b, bound: 1}\n"
    text += "- {transform: tile, level: a, dim: b, bound: 0}\n"
    with pytest.raises(InputError) as raised:
        read_transforms(parse_yaml(text + "- {transform: keep, level: a, tensors: [b], bound: 1}\n", "file"))
    told = [str(fault) for fault in raised.value.faults]
    assert [fault.line for fault in raised.value.faults] == [2, 3, 4]
    assert "tille" in told[0]
    assert "at least 1" in told[1]
    assert "bound" in told[2]


def test_a_file_of_transforms_is_a_mapping(tmp_path):
    """Wherever a mapping file is read: it costs what the mapping costs."""
    result = explore(MACHINE, LAYER, "ruby-s", SearchOptions(strategy="random", samples=2000))
    path = tmp_path / "mapping.yaml"
    path.write_text(transforms_of(result.batch).yaml())
    assert evaluate(MACHINE, LAYER, path).edp == result.edp


def test_keep_bypasses_the_others():
    """And an unused level may keep nothing."""
    toy = load_arch("toy_6pe_linear")
    layer = load_workload("rank1_100")
    for level in toy.levels[1:]:
        batch = applied(Transforms(transforms=(Keep(level=level.name, tensors=()),)), toy, layer)
        assert not batch.keep[0, toy.levels.index(level)].any()


def test_several_mappings_are_refused():
    """Transforms are of one."""
    batch = applied(SOME, MACHINE, LAYER)
    with pytest.raises(ValueError, match="one mapping is expected"):
        transforms_of(batch.take([0, 0]))
