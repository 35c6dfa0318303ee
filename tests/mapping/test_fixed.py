"""Decisions as constraints: the mapspace that they leave is all mappings that agree with them, and no other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.mapper import explore
from ruby_map.mapper.mapping.transforms import Keep, Pad, Reorder, Spread, Tile, Transforms, fixed
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError, load_workload, parse_yaml, shaped

from ..conftest import DEEP
from ..small_problems import constrained_machines, problems


def keys_of(space, batch):
    """Per mapping its bounds, its orders without unit loops, and what is kept."""
    dims = range(len(space.workload.dims))
    for factors, order, keep in zip(batch.factors, batch.order, batch.keep, strict=True):
        slots = zip(space.orders.temporal, order.tolist(), strict=True)
        loops = tuple(tuple(d for d in row if factors[slot, d] > 1) for slot, row in slots)
        bounds = tuple(tuple(int(factors[slot, d]) for d in dims) for slot in range(len(factors)))
        yield bounds, loops, tuple(map(tuple, keep.tolist()))


def agrees(key, chosen):
    """Whether a mapping is as the decisions say."""
    bounds, loops, keep = key
    for kind, place, value in chosen:
        if kind == "bound" and bounds[place[0]][place[1]] != value:
            return False
        if kind == "keep" and keep[place] != value:
            return False
        if kind == "order":
            last = [d for d in value if d in loops[place]]
            if last and list(loops[place][-len(last) :]) != last:
                return False
    return True


@st.composite
def decisions(draw, space):
    """Some decisions of a mapping of the mapspace, in two forms."""
    arch, dims = space.arch, space.workload.dims
    batch = space[draw(st.integers(0, space.size.total - 1))]
    factors, order, keep = batch.factors[0], batch.order[0], batch.keep[0]
    tensors, found, chosen = [tensor.name for tensor in space.workload.tensors], [], []
    places = [(slot, d) for slot in range(1, len(arch.slots)) for d in range(len(dims))]
    for slot, d in draw(st.lists(st.sampled_from(places), max_size=4, unique=True)) if places else []:
        level, axis, bound = arch.levels[arch.slots[slot].level].name, arch.slots[slot].axis, int(factors[slot, d])
        tile = Tile(level=level, dim=dims[d], bound=bound)
        found.append(tile if axis is None else Spread(level=level, axis=axis.name, dim=dims[d], bound=bound))
        chosen.append(("bound", (slot, d), bound))
    levels = st.lists(st.integers(0, len(arch.levels) - 1), max_size=2, unique=True)
    for level in draw(levels):
        last = order[level].tolist()[draw(st.integers(0, len(dims))) :]
        if not set(last) & {dims.index(name) for name in arch.levels[level].temporal.outermost if name in dims}:
            found.append(Reorder(level=arch.levels[level].name, dims=tuple(dims[d] for d in last)))
            chosen.append(("order", level, last))
    for level in draw(levels):
        kept = tuple(name for name, own in zip(tensors, keep[level], strict=True) if own)
        found.append(Keep(level=arch.levels[level].name, tensors=kept))
        chosen.append(("keep", level, tuple(keep[level].tolist())))
    return Transforms(transforms=tuple(draw(st.permutations(found)))), chosen


@settings(max_examples=2_000 if DEEP else 15)
@given(st.one_of(problems(most=400), problems(constrained_machines(), 400)), st.data())
def test_what_is_left_is_all_that_agrees(problem, data):
    """Under the architecture's own constraints, too."""
    space = problem[0]
    transforms, chosen = data.draw(decisions(space))
    arch = fixed(space.arch, [space.workload], transforms)
    left = Mapspace(arch, space.workload, space.remainders, distinct=True)
    every = {key for batch in space.batches() for key in keys_of(space, batch)}
    found = [key for batch in left.batches() for key in keys_of(left, batch)]
    assert len(set(found)) == len(found)
    assert set(found) == {key for key in every if agrees(key, chosen)}


MACHINE = load_arch("eyeriss_like")
LAYER = shaped("conv2d", M=8, C=16, P=10, Q=10, R=3, S=3)


def test_the_answer_of_a_search_agrees():
    """The best of what is left; proven, too."""
    some = Transforms(
        transforms=(
            Tile(level="psum_spad", dim="M", bound=4),
            Spread(level="shared_glb", axis="PE", dim="S", bound=3),
            Reorder(level="shared_glb", dims=("C", "P")),
        )
    )
    arch = fixed(MACHINE, [LAYER], some)
    found = explore(arch, LAYER, "ruby-s", SearchOptions(strategy="optimal", time_limit=20))
    free = explore(MACHINE, LAYER, "ruby-s", SearchOptions(strategy="optimal", time_limit=20))
    assert found.optimal
    assert free.edp <= found.edp
    factors, dims = found.batch.factors[0], LAYER.dims
    names = [slot.name for slot in arch.slots]
    assert factors[names.index("psum_spad"), dims.index("M")] == 4
    assert factors[names.index("shared_glb.PE"), dims.index("S")] == 3
    assert [dims[d] for d in found.batch.order[0, 1, -2:]] == ["C", "P"]


def test_a_network_has_all_its_layers_constrained():
    """Names of dims and tensors are those of any layer."""
    layers = [load_workload("resnet50/conv4_x_1x1a"), load_workload("resnet50/fc")]
    arch = fixed(MACHINE, layers, Transforms(transforms=(Tile(level="psum_spad", dim="M", bound=4),)))
    for layer in layers:
        Mapspace(arch, layer, "ruby-s")


FAULTS = {
    Tile(level="glb", dim="M", bound=2): "unknown level 'glb'",
    Tile(level="DRAM", dim="M", bound=2): "DRAM is outermost and takes what the others leave",
    Tile(level="psum_spad", dim="X", bound=2): "unknown dimension 'X'",
    Tile(level="psum_spad", dim="M", bound=9): "M is 8 in conv2d, got 9",
    Tile(level="ifmap_spad", dim="P", bound=2): "lets only",
    Spread(level="shared_glb", axis="PEs", dim="S", bound=3): "unknown axis of shared_glb 'PEs'",
    Spread(level="psum_spad", axis="PE", dim="S", bound=3): "psum_spad has no axes below it",
    Spread(level="shared_glb", axis="PE", dim="C", bound=16): "has 12 instances, the loops spread over it need 16",
    Reorder(level="shared_glb", dims=("M", "M")): "names M twice",
    Keep(level="weights_spad", tensors=("Outputs",)): "weights_spad must keep Weights",
    Keep(level="DRAM", tensors=("Outputs",)): "the outermost level DRAM keeps every tensor",
    Pad(dim="M", size=9): "padding makes another layer",
}


@pytest.mark.parametrize(("wrong", "why"), FAULTS.items(), ids=map(str, FAULTS.values()))
def test_faults_name_the_line(wrong, why):
    """Of each decision, in the file that it is from; all at once."""
    text = Transforms(transforms=(Tile(level="nothing", dim="M", bound=2), wrong)).yaml()
    document = parse_yaml(text, "file.yaml")
    with pytest.raises(InputError) as error:
        fixed(MACHINE, [LAYER], Transforms.model_validate(document.data), document)
    assert "file.yaml:2" in str(error.value.faults[0])
    assert any(why in fault.message and fault.line >= 3 for fault in error.value.faults)


def test_the_constraints_of_the_architecture_stay():
    """A decision that they exclude is a fault that names them."""
    text = "transforms:\n- {transform: tile, level: weights_spad, dim: M, bound: 2}\n"
    with pytest.raises(InputError) as error:
        fixed(MACHINE, [LAYER], Transforms.model_validate(parse_yaml(text, "file").data))
    assert "the architecture's constraint on weights_spad lets only" in str(error.value)
