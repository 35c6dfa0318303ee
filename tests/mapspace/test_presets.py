"""Which slots get remainders by default, the choice of `auto`, and padding."""

from dataclasses import replace
from itertools import product
from math import prod
from operator import le, mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.mapper.exploration.transforms.padding import padded
from ruby_map.mapper.mapspace import array_fill, perfect_rules, presets
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.mapspace.presets import remainders
from ruby_map.workloads import Tensor, Term, Workload


def nest(**sizes):
    """A workload of these dims, all of them in both tensors."""
    ranks = tuple((Term(dim),) for dim in sizes)
    tensors = (Tensor("A", ranks), Tensor("Z", ranks, output=True))
    return Workload("nest", tuple(sizes), tuple(sizes.values()), tensors)


def machine(*axes, capacity_bits=None, temporal=LoopConstraint()):  # noqa: B008
    levels = (
        Storage("DRAM", "DRAM"),
        Storage("glb", "SRAM", fanout=axes, capacity_bits=capacity_bits, temporal=temporal),
    )
    return Architecture("toy", levels, Compute("MAC", "intmac"))


@pytest.mark.parametrize(
    ("preset", "flags"),
    [
        ("pfm", (False, False, False)),
        ("ruby-s", (False, False, True)),
        ("ruby-t", (True, True, False)),
        ("ruby", (True, True, True)),
    ],
)
def test_presets_by_kind_of_slot(preset, flags):
    """Ruby-S has remainders at fanout axes, Ruby-T at temporal slots, Ruby everywhere, PFM nowhere."""
    assert remainders(machine(Axis("X", 4)), nest(M=7), preset)[0] == flags


def test_a_slot_that_says_so_overrides_the_preset():
    """The constraint of a slot decides over the preset, either way."""
    arch = machine(Axis("X", 4, constraint=LoopConstraint(remainders=False)), temporal=LoopConstraint(remainders=True))
    for preset in ("pfm", "ruby", "auto"):
        assert remainders(arch, nest(M=7), preset)[0][1:] == (True, False)


def test_unknown_preset():
    """A preset that does not exist is told with the choices."""
    with pytest.raises(ValueError, match='pfm, ruby, ruby-s, ruby-t, auto; got "rubi"'):
        remainders(machine(), nest(M=7), "rubi")


@pytest.mark.parametrize(
    ("arch", "work", "flags", "reason"),
    [
        (machine(Axis("X", 16)), nest(M=128), (False, False, False), "perfect factors fit"),
        (machine(Axis("X", 16)), nest(M=127), (False, False, True), "glb.X: divisors of M fill 1 of 16"),
        (machine(Axis("X", 12)), nest(M=64, R=3), (False, False, False), "perfect factors fit"),
        (machine(Axis("X", 16)), nest(M=13), (False, False, False), "perfect factors fit"),
        (machine(capacity_bits=512), nest(M=127), (False, True), "glb: perfect tiles fill 6% of its capacity"),
        (machine(capacity_bits=1 << 20), nest(M=127), (False, False), "perfect factors fit"),
        (machine(capacity_bits=512), nest(M=128), (False, False), "perfect factors fit"),
        # 13 x 2 fill 26 of 31 elements: what is left is less than half
        (machine(capacity_bits=1000), nest(M=13, K=64), (False, False), "perfect factors fit"),
        (machine(capacity_bits=1000), nest(M=127, K=131), (False, True), "glb: perfect tiles fill 3% of its capacity"),
        (machine(Axis("X", 14)), nest(M=13, Q=26), (False, False, False), "perfect factors fit"),  # 13 of 14 will do
        (machine(Axis("X", 4), Axis("Y", 4)), nest(M=4), (False, False, False, False), "perfect factors fit"),
        (
            machine(Axis("X", 4), Axis("Y", 6)),
            nest(M=36),
            (False, False, True, True),
            "glb.X: divisors fill 18 places of all axes at once, 24 axis by axis; glb.Y: divisors fill 18",
        ),
        (
            machine(Axis("X", 16), temporal=LoopConstraint(dims=())),
            nest(M=127),
            (False, False, True),
            "glb.X: divisors of M fill 1 of 16",
        ),
    ],
)
def test_auto(arch, work, flags, reason):
    """`auto` gives remainders to the slots whose size or capacity perfect factors miss, and says why."""
    space = Mapspace(arch, work, "auto")
    assert space.remainders == flags
    assert reason in space.reason


@pytest.mark.parametrize(
    ("size", "result"), [(113, 128), (127, 128), (128, 128), (129, 144), (120, 128), (5, 5), (16, 16), (17, 32)]
)
def test_padding_of_one_dim(size, result):
    """A dim at least as large as the axis becomes its next multiple; the zeros are counted."""
    work = padded(machine(Axis("X", 16)), nest(M=size))
    assert work.sizes == (result,)
    assert work.ineffectual_macs == result - size
    assert work.macs - work.ineffectual_macs == size


@pytest.mark.parametrize(
    ("axes", "sizes", "result"),
    [
        ((Axis("X", 14), Axis("Y", 12)), {"M": 31, "P": 29}, (36, 42)),  # 9 steps in place of 899
        ((Axis("X", 14), Axis("Y", 12)), {"M": 64, "P": 27}, (64, 27)),  # 28 fills 14, but leaves no 3 for the 12
        ((Axis("X", 12),), {"M": 64, "R": 3}, (64, 3)),  # 4 * 3 fills it
        ((Axis("X", 15), Axis("Y", 4)), {"M": 64}, (64,)),  # 120 on all places takes as many steps
        ((Axis("X", 16),), {"M": 31, "K": 1000}, (31, 1008)),  # the cheaper of the two
        ((Axis("X", 7), Axis("Y", 5)), {"M": 141, "K": 3}, (175, 3)),  # one dim for both: a multiple of 35
        ((Axis("X", 16, constraint=LoopConstraint(dims=("M",))),), {"M": 31, "K": 1000}, (32, 1000)),
    ],
)
def test_padding_of_several(axes, sizes, result):
    """The padding saves steps of perfect factors, and of paddings with as many steps has the fewest MACs."""
    work = padded(machine(*axes), nest(**sizes))
    assert work.sizes == result
    assert work.ineffectual_macs == np.prod(result) - np.prod(list(sizes.values()))


@given(
    st.lists(st.integers(2, 20), min_size=1, max_size=3),
    st.lists(st.sampled_from([1, 2, 7, 12, 24, 35, 36, 60]), min_size=1, max_size=3),
    st.data(),
)
def test_places_that_perfect_factors_fill(places, sizes, data):
    """As many as the best of all ways to spread divisors of each dim over the axes."""
    names = "MNK"[: len(sizes)]
    some = st.none() | st.lists(st.sampled_from(names), unique=True).map(tuple)
    rule = st.builds(FactorRule, st.sampled_from(names), st.just("<="), st.integers(1, 4))
    axes = [
        Axis(
            f"a{i}",
            size,
            constraint=LoopConstraint(dims=data.draw(some), factors=data.draw(st.just(()) | st.tuples(rule))),
        )
        for i, size in enumerate(places)
    ]
    rules = perfect_rules(machine(*axes), nest(**dict(zip(names, sizes, strict=True))))
    slots = [index for index, slot in enumerate(rules.slots) if slot.axis]
    ways = [
        [one for one in product(*(range(1, rules.bounds(slot, dim)[1] + 1) for slot in slots)) if size % prod(one) == 0]
        for dim, size in enumerate(sizes)
    ]
    filled = {(1,) * len(slots)}
    for own in ways:
        filled = {tuple(map(mul, a, b)) for a in filled for b in own}
        filled = {each for each in filled if all(map(le, each, places))}
    assert array_fill(rules) == max(map(prod, filled))


@pytest.mark.parametrize("most", [0, 30])
def test_so_many_combinations_of_divisors_that_they_are_not_tried(monkeypatch, most):
    """More than `most` on one axis, or on all in turn: they count as the places that the sizes could fill."""
    constraint = LoopConstraint(factors=(FactorRule("M", "<=", 4),))  # M and N do not count as one
    axes = [Axis(f"a{i}", size, constraint=constraint) for i, size in enumerate((7, 11))]
    rules = perfect_rules(machine(*axes), nest(M=36, N=60))
    assert array_fill(rules) == 60
    monkeypatch.setattr(presets, "MOST_TILES", most)
    assert array_fill(rules) == 77


def test_an_array_of_many_axes_is_padded_at_once():
    """Of very many choices the axes choose one after the other, and each is as good as it was before or better."""
    sizes = [4, 12, 100, 4096, 7, 14, 132, 12]
    arch = machine(*(Axis(f"a{i}", size) for i, size in enumerate(sizes)))
    work = nest(M=4100, N=4200, K=4097, P=5000, Q=4111)
    rules = perfect_rules(arch, work)
    wide = padded(arch, work)
    used = array_fill(replace(rules, sizes=wide.sizes))
    assert prod(wide.sizes) / used < prod(work.sizes) / array_fill(rules)
    assert all(new >= old for new, old in zip(wide.sizes, work.sizes, strict=True))


def test_padding_reaches_the_cycles_of_ruby_s():
    """On 16 places 113 steps take 113 with perfect factors, 8 when padded, and 8 in Ruby-S without the zeros."""
    arch, work = machine(Axis("X", 16)), nest(M=113)

    def fewest_steps(work, preset):
        space = Mapspace(arch, work, preset)
        factors = space.at(range(space.size.total)).factors
        return int((factors[:, 0, 0] * factors[:, 1, 0]).min())

    assert fewest_steps(work, "pfm") == 113
    assert fewest_steps(padded(arch, work), "pfm") == 8
    assert fewest_steps(work, "ruby-s") == 8
