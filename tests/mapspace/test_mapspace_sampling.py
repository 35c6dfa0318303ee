"""Samples are uniform over the whole mapspace, and a biased sampler is caught."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from ruby_map.arch import Axis, LoopConstraint, load_arch
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.mapspace import chain_tables, orders
from ruby_map.mapper.mapspace import coupling as joint
from ruby_map.mapper.mapspace.lazy_batch import LazyBatch
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.workloads import load_workload

from ..small_spaces import CASES, TWO_AXES, convolution, deep_machine, machine, matmul


def chi_square(numbers, total):
    """The statistic of uniformity over 0..total-1 in standard deviations from its mean."""
    seen = np.bincount(numbers, minlength=total)
    expected = len(numbers) / total
    return ((seen - expected) ** 2 / expected).sum() / (total - 1) - 1, np.sqrt(2 / (total - 1))


def is_uniform(numbers, total):
    excess, deviation = chi_square(np.asarray(numbers, np.int64), total)
    return abs(excess) < 5 * deviation


SMALL = {
    "bypass": (machine(Axis("X", 2), keep=(), bypass="B"), matmul(2, 3, 1), "ruby"),
    "coupled": (machine(*TWO_AXES, inner=LoopConstraint(max_loops=1)), matmul(5, 1, 6), "ruby-s"),
    "use": (CASES["dims and use"][0], matmul(3, 1, 5), "ruby-t"),
}


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("distinct", [False, True], ids=["all orders", "distinct"])
@pytest.mark.parametrize("way", ["listed", "unlisted", "few bits"])
def test_samples_are_uniform(case, distinct, way, monkeypatch):
    """Over the whole of a small space every mapping is equally likely, whichever way chains are drawn."""
    if way == "unlisted":
        monkeypatch.setattr(chain_tables, "LISTED", 0)
    if way == "few bits":
        monkeypatch.setattr(joint, "BITS", 8)
    arch, work, preset = SMALL[case]
    space = Mapspace(arch, work, preset, distinct=distinct)
    assert space.size.total < 5000
    batch = space.sample(np.random.default_rng(7), 3000 if way == "few bits" else 20 * space.size.total)
    numbers = space.index(batch)
    assert is_uniform(numbers, space.size.total)


def test_a_biased_sampler_is_caught():
    """The same check fails for chains drawn slot by slot with equal chances, and for orders that lean one way."""
    arch, work, preset = SMALL["coupled"]
    space = Mapspace(arch, work, preset)
    rng = np.random.default_rng(7)
    fair = np.array(space.index(space.sample(rng, 20 * space.size.total)))
    assert is_uniform(fair, space.size.total)
    leaning = np.where((fair % 2 == 1) & (rng.random(len(fair)) < 0.3), fair - 1, fair)
    assert not is_uniform(leaning, space.size.total)
    assert not is_uniform(slot_by_slot(space, rng, len(fair)), space.size.total)


def slot_by_slot(space, rng, n):
    """Numbers of mappings whose chains are uniform within a uniform group: what ignoring the weights would give."""
    sizes = [len(chains.counts) for chains in space.chains]
    numbers = []
    while len(numbers) < n:
        groups = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
        ranks = [rng.integers(0, chains.counts[groups[:, d]]) for d, chains in enumerate(space.chains)]
        order = rng.integers(0, space.orders.count, n)
        for i in range(n):
            try:
                one = space._parts.joints[0].rank(
                    groups[i : i + 1], [rank[i : i + 1] for rank in ranks], order[i : i + 1]
                )
            except ValueError:
                continue
            numbers.append(int(one[0]) * space.size.bypass)
    return numbers[:n]


def test_large_coupled_spaces_are_uniform_in_what_they_share():
    """Where weights pass 2**63, the number of each sample, cut into 64 equal parts, is uniform over the parts."""
    space = Mapspace(deep_machine(), convolution(), "ruby")
    numbers = space.index(space.sample(np.random.default_rng(3), 6400))
    assert is_uniform([number * 64 // space.size.total for number in numbers], 64)


@pytest.mark.parametrize("most", [orders.MOST_FREE, 2])
@pytest.mark.parametrize(
    ("case", "distinct"), [*product(CASES, (False, True)), ("seven dims", False), ("library", False)]
)
def test_positions_from_digits_are_those_in_the_order(case, distinct, most, monkeypatch):
    """Where a loop stands, whether a table says it or the order is searched; also of the mappings taken from a draw."""
    monkeypatch.setattr(orders, "MOST_FREE", most)
    large = {"seven dims": (deep_machine(), convolution())}
    if case == "library":
        large[case] = load_arch("simba_like"), load_workload("resnet50/conv3_x_3x3")
    space = Mapspace(*(CASES | large)[case], "ruby", distinct=distinct)
    drawn = space.sample_lazily(np.random.default_rng(1), 50)
    batch = drawn.arranged()
    for level, d in product(range(len(space.arch.levels)), range(len(space.workload.dims))):
        there = (batch.order[:, level] == d).argmax(axis=1)
        assert (drawn.position(level, d) == there).all()
        assert (batch.position(level, d) == there).all()
        assert (drawn.take([7, 3]).position(level, d) == there[[7, 3]]).all()


def test_loop_orders_are_drawn_when_and_where_they_are_asked_for(monkeypatch):
    """Of joined draws, in any order of mappings, the same orders as all at once; none for a draw nobody asks for."""
    space, asked = Mapspace(machine(*TWO_AXES), matmul(5, 4, 6), "ruby"), []
    whole = np.concatenate([space.sample(np.random.default_rng(seed), 9).order for seed in range(3)])
    draw = orders.Orders.draw
    monkeypatch.setattr(orders.Orders, "draw", lambda *given: asked.append(given[2]) or draw(*given))
    joined = LazyBatch.joined([space.sample_lazily(np.random.default_rng(seed), 9) for seed in range(3)])
    some = [26, 3, 20, 0, 3]
    picked = joined.take(range(27)).take(some)
    assert not asked
    assert (picked.order == whole[some]).all()
    assert asked == [9, 9]
    assert (joined.order == whole).all()
    assert asked == [9, 9, 9]


def test_same_seed_same_samples_and_shared_tables():
    """A seed decides the batch; listed chains are one table for all batches."""
    space = Mapspace(*CASES["two axes"])
    one, other = (space.sample(np.random.default_rng(5), 64) for _ in range(2))
    assert isinstance(one, MappingBatch)
    assert (one.rows == other.rows).all()
    assert (one.order == other.order).all()
    assert all(a is b for a, b in zip(one.tables, other.tables, strict=True))
    assert one.order.dtype == np.int8
    assert one.keep.dtype == bool


def test_a_dim_of_6144_in_little_memory():
    """Full Ruby of 6144 channels on simba_like is counted and sampled within 1 GiB (by 5 s, which is not asserted)."""
    code = """
import numpy as np
from dataclasses import replace
from ruby_map.arch import load_arch
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.workloads import load_workload
layer = load_workload("resnet50/conv4_x_3x3")
sizes = tuple(6144 if dim == "M" else size for dim, size in zip(layer.dims, layer.sizes))
space = Mapspace(load_arch("simba_like"), replace(layer, sizes=sizes), "ruby")
drawn = len(space.sample(np.random.default_rng(0), 16384))
status = open("/proc/self/status").read()  # ru_maxrss may be that of the process which started this one
print(drawn, status.split("VmHWM:")[1].split()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    mappings, kib = map(int, done.stdout.split())
    assert mappings == 16384
    assert kib < 2**20
