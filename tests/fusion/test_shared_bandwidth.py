"""Words that move beside layers, under bandwidths of every kind: cycles by an own sum, in model and checker."""

from fractions import Fraction
from math import ceil

from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.certificate.checker.groups.passes import PassOf, pass_figures
from ruby_map.mapper.certificate.checker.groups.transfers import transfer_cycles as checked_transfer_cycles
from ruby_map.mapper.fusion import Transfer, transfer_cycles
from ruby_map.mapper.fusion.passes import Pass
from ruby_map.mapper.networks import Flow, Movement
from ruby_map.mapper.problem import Charges
from ruby_map.workloads import Tensor, Term

RATES = st.sampled_from([None, None, "0.3", "0.7", "1", "2.5"])
KINDS = ("read", "write", "shared")
Z = Tensor("Z", ((Term("M"),),), output=True)
WORDS = st.integers(0, 50)


@st.composite
def machines(draw):
    """An outermost level and a keeper, and their rates as written: of reads, of writes, of both."""
    rates = [[draw(RATES) for _ in KINDS] for _ in range(2)]
    given = [
        {f"{kind}_bandwidth": rate and float(rate) for kind, rate in zip(KINDS, own, strict=True)} for own in rates
    ]
    levels = Storage("L0", "DRAM", **given[0]), Storage("L1", "SRAM", **given[1])
    return Architecture("m", levels, Compute("MAC", "intmac")), rates


def cycles(rates, read, written):
    """The most that one of a level's rates asks for."""
    asked = zip(rates, (read, written, read + written), strict=True)
    return max((ceil(words / Fraction(rate)) for rate, words in asked if rate is not None), default=0)


@given(machines(), st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=3), st.booleans())
def test_kept_tensors_move(machine, moved, drains):
    """Of several together, at both levels."""
    arch, rates = machine
    reads, updates, fills, drained = (sum(own) for own in zip(*moved, strict=True))
    expected = max(cycles(rates[0], reads, updates), cycles(rates[1], drained if drains else 0, fills))
    assert transfer_cycles([Transfer(Z, *own) for own in moved], *arch.levels, drain_reads=drains) == expected
    all_words = reads, updates, fills, drained
    assert checked_transfer_cycles(all_words, arch, 1, Charges(drain_reads=drains)) == expected


@given(machines(), WORDS, st.integers(0, 3), st.integers(0, 3), st.sampled_from([0, 1]))
def test_operators_pass(machine, words, reads, writes, level):
    """Over words where they stand."""
    arch, rates = machine
    expected = cycles(rates[level], reads * words, writes * words)
    assert Pass(level, Z, ("M",), reads, writes).cycles(arch, words) == expected
    free = tuple(LevelEnergy(own.name, 0.0, 0.0, 0.0, 0.0, 1.0, "given") for own in arch.levels)
    table = EnergyTable("m", free, ComputeEnergy("MAC", 0.0, 0.0, 1.0, "given"))
    listed = [PassOf(level == 1, Z, ("M",), reads, writes)]
    assert pass_figures(listed, {"M": words}, (arch, 1, table), Charges()) == (0.0, expected)


@given(machines(), st.lists(st.tuples(st.sampled_from([0, 1]), st.booleans(), WORDS), max_size=4))
def test_words_of_plans_move(machine, flows):
    """All at once."""
    arch, rates = machine
    moved = [[sum(words for level, written, words in flows if (level, written) == (own, way)) for way in (False, True)]
             for own in (0, 1)]  # fmt: skip
    expected = max(cycles(own, *words) for own, words in zip(rates, moved, strict=True))
    assert Movement("m", tuple(Flow(*flow, 16) for flow in flows)).cycles(arch) == expected
