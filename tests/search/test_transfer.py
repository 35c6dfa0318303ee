"""Mappings of other layers, machines and mapspaces, adapted: valid, near, and the same where nothing differs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.mapper.mapping import read_outline, write_mapping
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import validity
from ruby_map.mapper.search.variation import MappingSampler, adapted, widened
from ruby_map.workloads import Document, InputError, load_workload

from ..conftest import DEEP
from ..small_problems import constrained_machines, problems, uneven_problems


def outlined(batch, arch, workload, renamed=None):
    """The outline of a batch of one, as its file is read."""
    return read_outline(Document("a mapping", write_mapping(batch), {}), arch, workload, renamed)


def told(batch):
    return [(batch.factors[i].tolist(), batch.order[i].tolist(), batch.keep[i].tolist()) for i in range(len(batch))]


@given(problems(), st.integers(0, 2**32))
def test_a_valid_mapping_of_the_same_mapspace_is_as_it_was(problem, seed):
    """Nothing that may stay is changed."""
    space = problem[0]
    batch = space.sample(np.random.default_rng(seed), 20)
    batch = batch.take(np.flatnonzero(validity(batch) == 0)[:3])
    arch = space.arch
    found = adapted(MappingSampler(space), [outlined(batch.take([i]), arch, space.workload) for i in range(len(batch))])
    assert all(mapping in told(found) for mapping in told(batch))


@settings(max_examples=40 if DEEP else 20)
@given(problems(), problems(), st.integers(0, 2**32))
def test_what_comes_of_any_mapping_is_valid_and_in_the_mapspace(problem, other, seed):
    """Of another layer and machine, valid or not, whatever the constraints here."""
    space, source = problem[0], other[0]
    batch = source.sample(np.random.default_rng(seed), 5)
    found = adapted(
        MappingSampler(space), [outlined(batch.take([i]), space.arch, space.workload) for i in range(5)], seed % 100
    )
    assert len(set(map(str, told(found)))) == len(found)
    assert (validity(found) == 0).all()
    if len(found):
        assert all(0 <= number < space.size.total for number in space.index(found))


@pytest.mark.parametrize("preset", ["pfm", "ruby-s", "ruby"])
def test_the_mappings_of_every_layer_suit_every_other(preset):
    """Of AlexNet and BERT: none is lost, as every size can be tiled somehow."""
    arch = load_arch("eyeriss_like")
    layers = [layer for name in ("alexnet", "bert_base_128") for layer, _ in load_workload(name).layers]
    spaces = [Mapspace(arch, layer, preset) for layer in layers]
    sources = []
    for space in spaces:
        batch = space.sample(np.random.default_rng(0), 2000)
        sources.append(batch.take(np.flatnonzero(validity(batch) == 0)[:1]))
    for space in spaces:
        sampler = MappingSampler(space)
        for source in sources:
            assert len(adapted(sampler, [outlined(source, arch, space.workload)])) == 1


def test_bounds_stay_where_they_fit():
    """A layer twice as large: what is inside stays, the outermost level takes the rest."""
    arch = load_arch("eyeriss_like")
    small, large = (load_workload(f"bert_base_{tokens}/scores") for tokens in (128, 256))
    source = Mapspace(arch, small, "pfm").sample(np.random.default_rng(1), 4000)
    source = source.take(np.flatnonzero(validity(source) == 0)[:1])
    found = adapted(MappingSampler(Mapspace(arch, large, "pfm")), [outlined(source, arch, large)])
    np.testing.assert_array_equal(found.factors[0, 1:], source.factors[0, 1:])
    np.testing.assert_array_equal(found.keep, source.keep)
    ratio = found.factors[0, 0] / source.factors[0, 0]
    assert ratio.tolist() == [b / a for a, b in zip(small.sizes, large.sizes, strict=True)]


ONE = """
levels:
  - {name: DRAM, class: DRAM, word_bits: 16}
  - {name: BUF, class: SRAM, capacity_words: 64, word_bits: 16, placement: PLACEMENT,
     fanout: [{name: X, size: 4, mesh: X}]}
  - {name: RF, class: regfile, capacity_words: 8, word_bits: 16}
compute: {name: MAC, class: intmac, word_bits: 16}
name: one
"""


def machine(tmp_path, placement, names=()):
    text = ONE.replace("PLACEMENT", placement)
    for old, new in names:
        text = text.replace(old, new)
    (tmp_path / "one.yaml").write_text(text)
    return load_arch(tmp_path / "one.yaml")


def test_between_even_and_uneven_placement(tmp_path):
    """An even mapping stays what it is in the larger mapspace; an uneven one becomes even with all its bounds."""
    layer = load_workload("matmul_100")
    even, uneven = (Mapspace(machine(tmp_path, each), layer, "ruby-s") for each in ("even", "uneven"))
    rng = np.random.default_rng(3)
    for source, target in ((even, uneven), (uneven, even)):
        batch = source.sample(rng, 20_000)
        batch = batch.take(np.flatnonzero(validity(batch) == 0)[:20])
        assert len(batch)
        for i in range(len(batch)):
            found = adapted(MappingSampler(target), [outlined(batch.take([i]), target.arch, layer)])
            assert len(found) == 1
            if source is even:
                assert write_mapping(found)[0] == write_mapping(batch.take([i]))[0]
                assert found.factors[0].prod(axis=0).tolist() == batch.factors[i].prod(axis=0).tolist()


def test_levels_may_have_other_names(tmp_path):
    layer = load_workload("matmul_100")
    old = machine(tmp_path, "even")
    new = machine(tmp_path, "even", [("BUF", "shared"), ("{name: X", "{name: columns")])
    batch = Mapspace(old, layer, "pfm").sample(np.random.default_rng(5), 4000)
    batch = batch.take(np.flatnonzero(validity(batch) == 0)[:1])
    space = Mapspace(new, layer, "pfm")
    renamed = {"BUF": "shared", "X": "columns"}
    (found,) = told(adapted(MappingSampler(space), [outlined(batch, new, layer, renamed)]))
    assert found == told(batch)[0]
    lost = read_outline(Document("a mapping", write_mapping(batch), {}), new, layer)
    assert (lost.bounds[1:3] == 1).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variables: {a: 1}", 'the key "mapping" with a list is expected'),
        ("mapping: 3", "must be a list, got 3"),
        ("mapping: [3]", "must be a mapping, got 3"),
        ("mapping: [{target: DRAM, type: temporal, factors: M!4}]", "a factor is written DIM=BOUND"),
        ("mapping: [{type: temporal, factors: M=4}]", "must be text, got nothing"),
    ],
)
def test_what_is_no_mapping_is_refused(tmp_path, text, message):
    path = tmp_path / "mapping.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_outline(path, load_arch("eyeriss_like"), load_workload("matmul_100"))


def test_what_is_unknown_here_is_left_out(tmp_path):
    """Levels, dims, tensors and keys of another machine; bounds larger than any size; 0, which is all of a dim."""
    layer = load_workload("matmul_100")
    arch = machine(tmp_path, "even")
    path = tmp_path / "mapping.yaml"
    path.write_text("""mapping:
  - {target: L9, type: temporal, factors: M=4}
  - {target: BUF, type: temporal, factors: M=0 Q=7 K=99999999999999999999, permutation: QKM}
  - {target: BUF, type: bypass, keep: [Nothing, Outputs], bypass: [Inputs]}
  - {target: RF, type: temporal, factors: M=3, permutation: [K, M], tensor: Inputs}
""")
    outline = read_outline(path, arch, layer)
    space = Mapspace(arch, layer, "ruby")
    found = adapted(MappingSampler(space), [outline])
    assert len(found) == 1
    assert outline.common == 3
    dims = [layer.dims[d] for d in outline.order[1]]
    assert dims.index("M") < dims.index("K")


def test_a_mapping_of_a_smaller_array_is_spread_over_a_larger_one():
    """Loops outside an axis fill it, and the tiles outside stay as they are."""
    small, large = load_arch("eyeriss_like"), load_arch("eyeriss_like", {"columns": 28, "rows": 24})
    layer = load_workload("resnet50/conv4_x_3x3")
    source = Mapspace(small, layer).sample(np.random.default_rng(1), 4000)
    source = source.take(np.flatnonzero(validity(source) == 0)[:40])
    sampler = MappingSampler(Mapspace(large, layer))
    near = adapted(sampler, [outlined(source.take([i]), large, layer) for i in range(len(source))])
    wide = widened(sampler, near)
    assert len(near) >= len(wide) > 20
    assert (validity(wide) == 0).all()
    assert all(0 <= number < sampler.space.size.total for number in sampler.space.index(wide))
    axes = [i for i, slot in enumerate(large.slots) if slot.spatial]
    used = [np.median(batch.factors[:, axes].prod(axis=(1, 2))) for batch in (near, wide)]
    assert used[1] > 1.9 * used[0]


@settings(max_examples=60 if DEEP else 25)
@given(st.one_of(problems(constrained_machines()), uneven_problems()), st.integers(0, 2**32))
def test_what_is_widened_is_valid_and_in_the_mapspace(problem, seed):
    """Whatever the constraints; it uses more of the array, and does not change what is kept or the orders."""
    space = problem[0]
    batch = space.sample(np.random.default_rng(seed), 20)
    batch = batch.take(np.flatnonzero(validity(batch) == 0))
    found = widened(MappingSampler(space), batch)
    assert (validity(found) == 0).all()
    assert len(found) <= len(batch)
    if len(found):
        assert all(0 <= number < space.size.total for number in space.index(found))
