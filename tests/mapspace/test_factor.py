"""Chains of bounds of one dim: the listing against the definition, the counts, and the numbering."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.mapspace.chain_steps import SlotRule
from ruby_map.mapper.mapspace.chains import ChainSpace
from ruby_map.mapper.mapspace.quotients import TooLargeError, ceil_values, divisors

# remainders per slot, outermost first: temporal and spatial slots in turn
PRESETS = {
    "pfm": (False, False, False, False),
    "ruby-s": (False, True, False, True),
    "ruby-t": (True, False, True, False),
    "ruby": (True, True, True, True),
}
# card C-TableI: PFM free and within 9, Ruby-S, Ruby-T free, Ruby free, Ruby-T within 9, Ruby within 9
TABLE = {
    3: (3, 3, 4, 5, 6, 5, 6),
    9: (6, 6, 13, 18, 29, 18, 29),
    16: (15, 14, 24, 40, 61, 39, 54),
    64: (28, 22, 42, 157, 337, 146, 232),
    100: (36, 24, 57, 247, 573, 228, 366),
    127: (3, 2, 10, 305, 762, 286, 468),
    128: (36, 26, 51, 313, 765, 291, 470),
    256: (45, 30, 60, 634, 1713, 589, 946),
    512: (55, 34, 69, 1251, 3782, 1167, 1898),
    1000: (100, 52, 119, 2492, 8053, 2297, 3711),
    1024: (66, 38, 78, 2519, 8275, 2344, 3801),
    2048: (78, 42, 87, 5038, 17973, 4681, 7608),
    4096: (91, 46, 96, 10131, 38803, 9387, 15223),
}


def by_definition(size, rules):
    """All chains, slot by slot from the innermost, with nothing but the definition."""
    chains = [((), size)]
    for slot in range(len(rules) - 1, -1, -1):
        rule, longer = rules[slot], []
        for chain, n in chains:
            for bound in range(1, n + 1):
                divides = n % bound == 0
                takes_rest = slot > 0 or bound == n
                if rule.lo <= bound <= rule.hi and (rule.remainders or divides) and takes_rest:
                    longer.append(((bound, *chain), -(-n // bound)))
        chains = longer
    return {chain for chain, n in chains if n == 1}


def listing(space):
    """Every chain of a ChainSpace, in its order. # (chain, slot)"""
    groups = np.repeat(np.arange(len(space.counts)), space.counts.astype(np.int64))
    ranks = np.concatenate([np.arange(count) for count in space.counts] or [np.zeros(0, np.int64)])
    return space.unrank(groups, ranks)


def rules_of(remainders, size, cap=None, tell="nothing"):
    caps = [size if cap is None or slot % 2 == 0 else min(cap, size) for slot in range(len(remainders))]
    return tuple(
        SlotRule(1, hi, flag, tell if slot % 2 else "nothing")
        for slot, (hi, flag) in enumerate(zip(caps, remainders, strict=True))
    )


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("slots", [1, 2, 3, 4])
def test_listing_is_the_definition(preset, slots):
    """For every size to 60 the chains listed are those of the definition, each once, free and within an axis of 7."""
    for size, cap in product(range(1, 61), (None, 7)):
        rules = rules_of(PRESETS[preset][:slots], size, cap, "bound")
        found = [tuple(chain) for chain in listing(ChainSpace(size, rules)).tolist()]
        assert len(found) == len(set(found))
        assert set(found) == by_definition(size, rules)


@pytest.mark.parametrize("size", [1, 2, 5, 7, 9])
def test_ruby_is_every_nest_of_bounds_and_residuals(size):
    """The Ruby chains are the (P, R) nests with 1 + sum (R-1) * inner P = size, where R = P if nothing is outside."""
    nests = set()
    for bounds in product(range(1, size + 1), repeat=3):
        for residuals in product(*(range(1, bound + 1) for bound in bounds)):
            strides = (bounds[1] * bounds[2], bounds[2], 1)
            covered = 1 + sum((r - 1) * stride for r, stride in zip(residuals, strides, strict=True))
            # a slot outside of which there is one tile runs its residual only: its bound is that residual
            alone = [all(r == 1 for r in residuals[:slot]) for slot in range(3)]
            canonical = all(p == r for p, r, one in zip(bounds, residuals, alone, strict=True) if one)
            if covered == size and canonical:
                nests.add(bounds)
    space = ChainSpace(size, rules_of((True, True, True), size))
    assert {tuple(chain) for chain in listing(space).tolist()} == nests


def test_pfm_is_inside_ruby_s_and_ruby_t_and_these_inside_ruby():
    """Each preset's chains contain those of the presets it generalises, strictly for a prime size."""
    for size in (24, 31, 36):
        chains = {
            name: {tuple(chain) for chain in listing(ChainSpace(size, rules_of(flags, size, 7))).tolist()}
            for name, flags in PRESETS.items()
        }
        assert chains["pfm"] < chains["ruby-s"] < chains["ruby"]
        assert chains["pfm"] < chains["ruby-t"] < chains["ruby"]


@pytest.mark.parametrize("size", TABLE)
def test_table_of_sizes(size):
    """Two levels with a fanout of 9 between them: DRAM temporal, spatial, temporal."""

    def count(preset, cap):
        return ChainSpace(size, rules_of(PRESETS[preset][:3], size, cap)).total

    found = (count("pfm", None), count("pfm", 9), count("ruby-s", 9), count("ruby-t", None), count("ruby", None))
    assert (*found, count("ruby-t", 9), count("ruby", 9)) == TABLE[size]


@st.composite
def constrained(draw):
    size = draw(st.integers(1, 30))
    rules = []
    for _ in range(draw(st.integers(1, 4))):
        lo = draw(st.sampled_from([1, 1, 1, 2, 3]))
        hi = draw(st.sampled_from([size, size, 1, 4, 9]))
        rules.append(SlotRule(lo, hi, draw(st.booleans()), draw(st.sampled_from(["nothing", "loop", "bound"]))))
    return size, tuple(rules)


@given(constrained())
def test_constrained_chains(case):
    """With any limits and signature the listing is the definition, and the groups tell the truth."""
    size, rules = case
    space = ChainSpace(size, rules)
    bounds = listing(space)
    assert {tuple(chain) for chain in bounds.tolist()} == by_definition(size, rules)
    assert len(bounds) == space.total == len(by_definition(size, rules))
    told = space.signature[np.repeat(np.arange(len(space.counts)), space.counts.astype(np.int64))]
    for slot, rule in enumerate(rules):
        truth = {"nothing": 0 * bounds[:, slot], "loop": bounds[:, slot] > 1, "bound": bounds[:, slot]}[rule.tell]
        assert (told[:, slot] == truth).all()


@given(constrained())
def test_numbering_is_a_bijection(case):
    """`rank` gives back the group and the number of every chain."""
    space = ChainSpace(*case)
    groups = np.repeat(np.arange(len(space.counts)), space.counts.astype(np.int64))
    found, ranks = space.rank(listing(space))
    assert (found == groups).all()
    assert [r for g, count in enumerate(space.counts) for r in range(count)] == ranks.tolist()


@pytest.mark.parametrize("chain", [(1, 9, 3), (10, 1, 1), (2, 3, 2), (0, 5, 4), (20, 1, 20)])
def test_rank_refuses_other_chains(chain):
    """A chain that breaks a limit, does not divide, does not cover or is no chain at all has no number."""
    rules = (SlotRule(1, 20, False), SlotRule(1, 5, True, "bound"), SlotRule(1, 20, False))
    space = ChainSpace(20, rules)
    with pytest.raises(ValueError, match="not in the mapspace"):
        space.rank(np.array([chain]))


def test_counts_beyond_64_bits_are_exact():
    """Free chains of 2**40 over 30 slots: divisor chains are the ways to spread 40 twos, a binomial coefficient."""
    from math import comb

    size, slots = 2**40, 30
    space = ChainSpace(size, tuple(SlotRule(1, size, False) for _ in range(slots)))
    assert space.total == comb(40 + slots - 1, slots - 1) > 2**63
    ranks = np.array([0, 1, space.total // 3, space.total - 1], dtype=object)
    bounds = space.unrank(np.zeros(4, np.int64), ranks)
    assert (np.prod(bounds, axis=1) == size).all()
    assert space.rank(bounds)[1].tolist() == ranks.tolist()


@given(st.integers(1, 5000))
def test_divisors_and_ceil_values(n):
    """`divisors` and `ceil_values` list what their names say."""
    every = np.arange(1, n + 1)
    assert divisors(n).tolist() == every[n % every == 0].tolist()
    assert ceil_values(n).tolist() == np.unique(-(-n // every)).tolist()


@pytest.mark.parametrize(
    ("size", "rules", "words"),
    [
        (10**12, ["nothing"] * 4, "262,144 numbers of tiles"),
        (10**10, ["nothing"] * 4, "4,194,304 steps"),
        (10**18, ["nothing"] * 2, "4,194,304 bounds"),
        (10**8, ["nothing", "bound", "nothing"], "4,194,304 bounds"),
        (10**6, ["nothing", "loop", "bound", "bound", "nothing"], "33,554,432 counts"),
    ],
)
def test_chains_too_many_to_count_are_told_at_once(size, rules, words):
    """Tables of gigabytes are refused before they are made, with what is too many."""
    hi = 300 if len(rules) == 5 else size
    with pytest.raises(TooLargeError, match=words):
        ChainSpace(size, tuple(SlotRule(1, size if tell == "nothing" else hi, True, tell) for tell in rules))


def test_divisors_of_a_huge_number_up_to_a_small_one():
    """An axis asks for few of them: the rest is not looked for."""
    assert divisors(2**61, 20).tolist() == [1, 2, 4, 8, 16]
    with pytest.raises(TooLargeError, match="divisors to look for"):
        divisors(2**61)
