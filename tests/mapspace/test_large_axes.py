"""Mapspaces of machines with large axes: counted from what the dims leave of an axis, not from how much they take."""

from itertools import product
from math import prod

import numpy as np
import pytest
from ruby_map.arch import Architecture, Axis, LoopConstraint, Storage
from ruby_map.mapper.mapspace.mapspace import Mapspace

from ..small_spaces import MAC, matmul


def machine(*axes):
    return Architecture("wide", (Storage("L0", "DRAM", fanout=axes), Storage("L1", "SRAM")), MAC)


def chains(size, slots, preset):
    """Every chain of a dim by trial, innermost slot last; slot 0 takes what is left."""
    spatial = range(1, slots - 1)
    for inner in product(range(1, size + 1), repeat=slots - 1):
        left = size
        for slot, bound in reversed(list(enumerate(inner, 1))):
            perfect = preset == "pfm" or (preset == "ruby-s" and slot not in spatial)
            if bound > left or (perfect and left % bound):
                break
            left = -(-left // bound)
        else:
            yield (left, *inner)


@pytest.mark.parametrize("preset", ["pfm", "ruby-s", "ruby"])
@pytest.mark.parametrize("axes", [(5,), (17,), (40,), (6, 9), (13, 4)], ids=lambda axes: "x".join(map(str, axes)))
@pytest.mark.parametrize("least", [0.0, 0.6])
def test_what_is_left_of_an_axis_decides(axes, preset, least):
    """Of dims that compete for axes, with and without a least use: as many combinations as an enumeration has."""
    rule = LoopConstraint(min_utilization=least)
    arch = machine(*(Axis(f"X{i}", size, constraint=rule) for i, size in enumerate(axes)))
    sizes = (7, 6, 5)
    listed = [list(chains(size, 2 + len(axes), preset)) for size in sizes]
    expected = 0
    used = [np.unique([chain[1:-1] for chain in each], axis=0, return_counts=True) for each in listed]
    for bounds in product(*(zip(*each, strict=True) for each in used)):
        places = np.prod([bound for bound, _ in bounds], axis=0)
        within = all(least * size <= place <= size for place, size in zip(places, axes, strict=True))
        expected += within * prod(int(number) for _, number in bounds)
    if expected:
        space = Mapspace(arch, matmul(*sizes), preset)
        assert space.size.factorization == expected
