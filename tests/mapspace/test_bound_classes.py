"""Bounds of large axes counted in classes: the same mappings, uniform samples, sizes within limits that hold."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, LoopConstraint, Storage, load_arch
from ruby_map.mapper.mapspace import construction, draws
from ruby_map.mapper.mapspace import coupled_counts as ways
from ruby_map.mapper.mapspace.bound_classes import ALONE, STEPS, WIDTHS, Width, class_of, class_starts, largest_of
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.workloads import InputError, load_workload

from ..conftest import DEEP
from ..small_spaces import MAC, machine, matmul
from .test_mapspace_sampling import is_uniform

CLASSES = [width for width in WIDTHS if width != ALONE]
EVEN = [width for width in CLASSES if width.used == width.other]


def in_classes(monkeypatch, width, *args, **options):
    """The mapspace with bounds in classes of `width`, and the one with each bound alone."""
    alone = Mapspace(*args, **options)
    monkeypatch.setattr(construction, "WIDTHS", (width,))
    monkeypatch.setattr(construction, "MOST_IN_CLASSES", 10**9)
    return Mapspace(*args, **options), alone


def bounds_of(batch):
    return [
        (one.tobytes(), order.tobytes(), keep.tobytes())
        for one, order, keep in zip(batch.factors, batch.order, batch.keep, strict=True)
    ]


@given(st.integers(1, 10**5), st.sampled_from(STEPS[1:]), st.data())
def test_classes_are_intervals_of_all_bounds(most, step, data):
    """Each bound is between the smallest and the largest of its class, and these are of that class too."""
    starts = class_starts(most, step)
    bounds = np.array(data.draw(st.lists(st.integers(1, most), min_size=1)))
    low = class_of(bounds, starts)
    high = largest_of(low, starts, most)
    assert ((low <= bounds) & (bounds <= high)).all()
    assert (class_of(high, starts) == low).all()
    assert (high <= most).all()


@st.composite
def problems(draw):
    """Small matmuls on machines whose axes several dims compete for."""
    axes = tuple(
        Axis(
            f"a{i}",
            draw(st.integers(3, 12)),
            constraint=LoopConstraint(min_utilization=draw(st.sampled_from([0, 0, 0.5]))),
        )
        for i in range(draw(st.integers(1, 2)))
    )
    inner = LoopConstraint(max_loops=draw(st.sampled_from([None, 1])))
    sizes = [draw(st.integers(2, 7)) for _ in range(3)]
    return machine(*axes, inner=inner), matmul(*sizes), draw(st.sampled_from(["pfm", "ruby-s", "ruby"]))


@settings(max_examples=60 if DEEP else 30, deadline=None)
@given(problems(), st.sampled_from(CLASSES), st.booleans())
def test_classes_change_no_mapping(problem, width, distinct):
    """In classes a mapspace has the same mappings, its numbers lead back, and its limits hold the true size."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        try:
            wide, alone = in_classes(monkeypatch, width, *problem, distinct=distinct)
        except InputError:
            assume(False)
        monkeypatch.setattr(construction, "MOST_COUNTS", 0)
        size = wide.size
    assert size.least <= alone.size.total <= size.total == wide.numbers
    if alone.size.factorization > 3000:
        sample = alone.sample(np.random.default_rng(0), 50)
    else:
        every = [one for batch in wide.batches() for one in bounds_of(batch)]
        assert len(every) == len(set(every)) == alone.size.total
        sample = next(alone.batches())
    again = wide.at(wide.index(sample))
    assert bounds_of(again) == bounds_of(sample)


@pytest.mark.parametrize("width", [*EVEN, Width("alone", 4), Width("halves", 2**62)])
@pytest.mark.parametrize("least", [0.0, 0.7])
def test_samples_are_uniform(width, least, monkeypatch):
    """Every mapping within the axes is equally likely, and no other is drawn."""
    axes = (Axis("X", 5, constraint=LoopConstraint(min_utilization=least)), Axis("Y", 3, "Y"))
    wide, alone = in_classes(monkeypatch, width, machine(*axes), matmul(5, 1, 6), "ruby-s")
    assert not wide.gapless or width not in EVEN
    batch = wide.sample(np.random.default_rng(7), 20 * alone.size.total)
    assert is_uniform(alone.index(batch), alone.size.total)


@pytest.mark.parametrize("alike", [False, True])
def test_samples_of_uneven_placement_are_uniform(alike, monkeypatch):
    """Over all parts of an uneven mapspace; of draws that are all alike, the first mappings are."""
    axis = Axis("X", 5)
    pad = Storage("pad", "SRAM", placement="uneven")
    arch = Architecture("uneven", (Storage("DRAM", "DRAM", fanout=(axis,)), pad), MAC)
    wide, alone = in_classes(monkeypatch, Width(4, 4), arch, matmul(4, 1, 3), "ruby-s")
    rng, total = np.random.default_rng(3), alone.size.total
    if alike:
        drawn = [wide.sample_lazily(rng, 2, same_keep=True).arranged().take([0]) for _ in range(1000)]
        numbers = [alone.index(one)[0] * 20 // total for one in drawn]
        assert is_uniform(numbers, 20)
    else:
        numbers = alone.index(wide.sample(rng, 8000))
        assert is_uniform([number * 400 // total for number in numbers], 400)


def test_numbers_without_a_mapping_are_refused(monkeypatch):
    """`at` names a number that is beyond an axis; `sample_distinct_indices` gives none of these."""
    wide, alone = in_classes(monkeypatch, Width(4, 4), machine(Axis("X", 5)), matmul(6, 1, 7), "ruby-s")
    numbers = {number for batch in wide.batches() for number in wide.index(batch)}
    gap = next(iter(set(range(wide.numbers)) - numbers))
    with pytest.raises(IndexError, match=f"no mapping has the number {gap}: it is beyond an axis"):
        wide.at([gap])
    found = wide.sample_distinct_indices(np.random.default_rng(0), alone.size.total)
    assert set(found) == numbers


@pytest.mark.parametrize("most", [0, 100, 1000])
def test_an_axis_too_large_for_tables_of_its_quotients_is_counted_in_classes(most, monkeypatch):
    """Samples are mappings of the mapspace, and its size is known within limits; or it is said what is too large."""
    problem = (machine(Axis("X", 100)), matmul(40, 1, 50), "ruby-s")
    alone = Mapspace(*problem)
    monkeypatch.setattr(ways, "MOST_FITS", most)
    if not most:
        with pytest.raises(InputError, match="quotients of an axis, more than 0; constrain the loops"):
            Mapspace(*problem)
        return
    wide = Mapspace(*problem)
    assert wide.size.exact == (most == 1000)
    assert wide.size.least <= alone.size.total <= wide.size.total
    batch = wide.sample(np.random.default_rng(0), 300)
    assert bounds_of(alone.at(alone.index(batch))) == bounds_of(batch)


WIDE = {
    "three axes of 65,536": ((65536,), (65536, 65536)),
    "one axis of 65,536": ((), (65536,)),
    "one axis of 1,000,000": ((), (1_000_000,)),
}


@pytest.mark.parametrize("name", WIDE)
def test_large_axes_and_large_dims_can_be_drawn_from(name):
    """A vocabulary of 152,064 words (with a prime beside it): drawn, numbered, within every axis."""
    outer, inner = (tuple(Axis(f"X{i}{k}", size) for k, size in enumerate(axes)) for i, axes in enumerate(WIDE[name]))
    levels = (Storage("L0", "DRAM", fanout=outer), Storage("L1", "SRAM", fanout=inner), Storage("L2", "SRAM"))
    space = Mapspace(Architecture("wide", levels, MAC), matmul(152064, 4099, 8192), "ruby-s")
    batch = space.sample(np.random.default_rng(0), 500)
    assert space.index(space.at(space.index(batch))) == space.index(batch)
    for slot, each in enumerate(space.arch.slots):
        if each.axis is not None:
            assert (np.prod(batch.factors[:, slot].astype(float), axis=1) <= each.axis.size).all()


def test_distinct_orders_that_could_only_be_counted_are_drawn():
    """A convolution on eyeriss_like_free: its number is exact, and distinct orders can be drawn."""
    space = Mapspace(load_arch("eyeriss_like_free"), load_workload("resnet50/conv3_x_3x3"), "ruby-s", distinct=True)
    batch = space.sample(np.random.default_rng(0), 50)
    assert bounds_of(space.at(space.index(batch))) == bounds_of(batch)


def test_axes_that_must_be_used_are_drawn_from_without_many_draws_in_vain():
    """Two axes of 256 of which a quarter must be used, beside three others: half of a batch at least is different."""
    used = LoopConstraint(min_utilization=0.25)
    outer = (Axis("X", 256, constraint=used), Axis("Y", 256, "Y", constraint=used))
    levels = (
        Storage("DRAM", "DRAM", fanout=outer),
        Storage("L1", "SRAM", fanout=(Axis("Z", 1000),)),
        Storage("L2", "SRAM", fanout=(Axis("V", 1000), Axis("W", 100))),
        Storage("L3", "SRAM"),
    )
    space = Mapspace(Architecture("used", levels, MAC), matmul(64, 2, 224), "pfm")
    batch = space.sample(np.random.default_rng(0), 1000)
    places = batch.factors[:, 1:3].prod(axis=2)
    assert ((places >= 64) & (places <= 256)).all()
    assert len(set(bounds_of(batch))) > 500


def test_where_few_are_within_the_axes_those_found_are_drawn_again(monkeypatch):
    """A batch has all that it is asked for when its draws are used up, each of them within the axes."""
    wide, _ = in_classes(monkeypatch, Width(4, 4), machine(Axis("X", 5)), matmul(6, 1, 7), "ruby-s")
    monkeypatch.setattr(draws, "MOST_DRAWN", 1)
    monkeypatch.setattr(draws, "MOST_AT_ONCE", 1)
    batch = wide.sample(np.random.default_rng(0), 100)
    assert len(batch) == 100
    assert (batch.factors[:, 1].prod(axis=1) <= 5).all()
