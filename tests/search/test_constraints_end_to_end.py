"""Constraints written in YAML, read, counted and searched: every kind holds in the mappings that come out."""

import numpy as np
import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.workloads import InputError, load_workload

MACHINE = """
name: small
levels:
  - name: DRAM
    class: DRAM
    width_bits: 16
    word_bits: 16
    {dram}
    fanout:
      - {{name: X, size: 6{axis}}}
  - name: Buffer
    class: SRAM
    capacity_words: 65536
    width_bits: 16
    word_bits: 16
    {buffer}
compute: {{name: MAC, class: intmac, word_bits: 16}}
"""
M, N, K = range(3)  # dims of the matmul 12 x 6 x 7
WEIGHTS, INPUTS, OUTPUTS = "Weights", "Inputs", "Outputs"


@pytest.fixture
def space(tmp_path):
    """The mapspace of a matmul on MACHINE with these constraints."""

    def build(preset="ruby-s", dram="", axis="", buffer=""):
        arch, work = tmp_path / "arch.yaml", tmp_path / "work.yaml"
        arch.write_text(MACHINE.format(dram=dram, axis=axis, buffer=buffer))
        work.write_text("name: mm\nshape: matmul\nsizes: {M: 12, N: 6, K: 7}\n")
        return Mapspace(load_arch(str(arch)), load_workload(str(work)), preset)

    return build


def members(space):
    """Bounds # (mapping, slot, dim), orders and kept tensors: of all mappings, or of many samples."""
    if space.size.total <= 50_000:
        return space.at(range(space.size.total))
    return space.sample(np.random.default_rng(0), 20_000)


DRAM, X, BUFFER = range(3)


def names(batch, level):
    """The loop orders of `level`, each as text."""
    return {"".join(batch.workload.dims[d] for d in order) for order in batch.order[:, level]}


@pytest.mark.parametrize(
    ("where", "text", "slot", "holds"),
    [
        ("axis", ", factors: [M=4]", X, lambda p: p[:, M] == 4),
        ("axis", ", factors: [M<=2, K>=3]", X, lambda p: (p[:, M] <= 2) & (p[:, K] >= 3)),
        ("buffer", "temporal: {factors: [K=full]}", BUFFER, lambda p: p[:, K] == 7),
        ("dram", "temporal: {factors: [N=full, M>=2]}", DRAM, lambda p: (p[:, N] == 6) & (p[:, M] >= 2)),
        ("buffer", "temporal: {max_loops: 1}", BUFFER, lambda p: (p > 1).sum(axis=1) <= 1),
        ("axis", ", min_utilization: 0.8", X, lambda p: p.prod(axis=1) >= 5),
        ("axis", ", dims: [K]", X, lambda p: (p[:, [M, N]] == 1).all(axis=1)),
        ("dram", "temporal: {dims: [M, N]}", DRAM, lambda p: p[:, K] == 1),
    ],
)
def test_limits_on_bounds(space, where, text, slot, holds):
    """Fixed, at most, at least, full; few loops; utilization; dims allowed: what is left is what holds."""
    free, bound = space(), space(**{where: text})
    kept = holds(members(bound).factors[:, slot])
    assert kept.all()
    assert 0 < bound.size.factorization < free.size.factorization
    every = free.at(np.arange(0, free.size.total, free.size.permutation * free.size.bypass)).factors
    assert bound.size.factorization == holds(every[:, slot]).sum()


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("outermost: [K, M, N]", {"KMN"}),
        ("outermost: [K]", {"KMN", "KNM"}),
        ("innermost: [M, K]", {"NMK"}),
        ("innermost: [M]", {"NKM", "KNM"}),
        ("outermost: [K], innermost: [M]", {"KNM"}),
    ],
)
def test_loop_orders(space, text, orders):
    """A fixed order, a prefix, a suffix, both."""
    found = space(buffer=f"temporal: {{{text}}}")
    assert names(members(found), 1) == orders
    assert len(names(members(found), 0)) == 6
    assert found.size.permutation == 6 * len(orders)


def test_keep_bypass_either(space):
    """A tensor that must be kept is, one that must not is not, and the rest is open."""
    found = space(buffer=f"keep: [{WEIGHTS}]\n    bypass: [{INPUTS}]")
    keep = members(found).keep[:, 1]  # (mapping, tensor)
    column = [tensor.name for tensor in found.workload.tensors].index
    assert keep[:, column(WEIGHTS)].all()
    assert not keep[:, column(INPUTS)].any()
    assert set(keep[:, column(OUTPUTS)].tolist()) == {False, True}
    assert found.size.bypass == 2


@pytest.mark.parametrize("flag", [True, False])
def test_remainders_slot_by_slot(space, flag):
    """A switch per level and axis decides over the preset, so the presets are settings of one thing."""
    switch = f"remainders: {str(flag).lower()}"
    dram, axis, buffer = f"temporal: {{{switch}}}", f", {switch}", f"temporal: {{{switch}}}"
    all_switched = space("pfm" if flag else "ruby", dram, axis, buffer)
    assert all_switched.size == space("ruby" if flag else "pfm").size
    assert space("pfm" if flag else "ruby-s", axis=axis).size == space("ruby-s" if flag else "pfm").size
    both = {"dram": dram, "buffer": buffer}
    assert space("pfm" if flag else "ruby-t", **both).size == space("ruby-t" if flag else "pfm").size
    alone = space("pfm", buffer="temporal: {remainders: true}")
    assert alone.imperfect == ("Buffer",)
    # the outermost slot takes what is left, so its own switch changes nothing
    assert space("pfm").size.total < alone.size.total == space("ruby-t").size.total


@pytest.mark.parametrize(
    ("preset", "more", "words"),
    [
        (
            "pfm",
            {"axis": ", factors: [K=2]"},
            "K=7 cannot meet K=2 at DRAM.X; with remainders it could (mapspace ruby)",
        ),
        (
            "ruby",
            {"axis": ", factors: [N=full, M>=2]"},
            "no mapping meets M>=2 at DRAM.X and N=full at DRAM.X together, within the 6 places of DRAM.X",
        ),
        (
            "ruby-s",
            {"axis": ", factors: [M=3]", "buffer": "temporal: {factors: [M=full]}"},
            "M=12 cannot meet M=3 at DRAM.X and M=full at Buffer",
        ),
        (
            "pfm",
            {"axis": ", dims: [K], min_utilization: 0.5"},
            "no mapping meets the dims allowed at DRAM.X (K) and a utilization of at least 0.5 of DRAM.X together, "
            "within the 6 places of DRAM.X",
        ),
        (
            "pfm",
            {"buffer": "temporal: {factors: [M=full, N>=2], max_loops: 1}"},
            "no mapping meets M=full at Buffer and N>=2 at Buffer and at most 1 loops at Buffer together",
        ),
    ],
)
def test_contradictions_are_told_before_any_search(space, preset, more, words):
    """The constraints that exclude each other are named with their slots, and the dim with its size."""
    with pytest.raises(InputError) as caught:
        space(preset, **more)
    assert [fault.message for fault in caught.value.faults] == [words]
