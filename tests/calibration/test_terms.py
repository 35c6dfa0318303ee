"""Terms of mappings: tiles are those that an enumeration of a dim's elements passes, words those of the counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.arch.calibration import cycle_terms, energy_terms
from ruby_map.energy import energy_table
from ruby_map.mapper.calibration import cycle_terms_of, energy_terms_of
from ruby_map.mapper.calibration.terms import tiles_in_turn
from ruby_map.mapper.exploration import draw_valid, evaluate
from ruby_map.mapper.problem import Charges
from ruby_map.workloads import shaped

NAMES = ("eyeriss_like", "simba_like")
ARCHS = {name: load_arch(name) for name in NAMES}


@st.composite
def mappings(draw, spaces=("pfm", "ruby")):
    """A machine, a layer and one of its valid mappings."""
    sizes = {dim: draw(st.integers(1, 9)) for dim in "CMPQ"} | {"R": draw(st.integers(1, 3))}
    layer = shaped("conv2d", **sizes, S=1, N=draw(st.integers(1, 2)))
    arch = ARCHS[draw(st.sampled_from(NAMES))]
    batch = draw_valid(arch, layer, draw(st.sampled_from(spaces)), 1, draw(st.integers(0, 99)))
    return arch, layer, batch


def tiles_of_a_dim(size, bounds, spatial):
    """Pass the elements of a dim, as digits of the bounds: the outer temporal ones that the spatial origin ever has."""
    seen = set()
    for element in range(size):
        digits = []
        for bound in reversed(bounds):
            element, digit = divmod(element, bound)
            digits.append(digit)
        digits.reverse()
        if not any(digit for digit, spread in zip(digits, spatial, strict=True) if spread):
            seen.add(tuple(digit for digit, spread in zip(digits, spatial, strict=True) if not spread))
    return seen


@given(mappings())
def test_tiles_are_those_of_an_enumeration(case):
    """A tile of a memory is named by the digits of the loops outside of it; dims are independent of each other."""
    arch, layer, batch = case
    if not len(batch):
        return
    for memory, tiles in enumerate(tiles_in_turn(batch)):
        outside = [s for s, slot in enumerate(arch.slots) if slot.level < memory]
        expected = 1
        for table, row, size in zip(batch.tables, batch.rows[0], layer.sizes, strict=True):
            bounds, spatial = table.bounds[row].tolist(), [slot.spatial for slot in arch.slots]
            passed = tiles_of_a_dim(size, bounds, [spread and s in outside for s, spread in enumerate(spatial)])
            temporal = [s for s in range(len(bounds)) if not (spatial[s] and s in outside)]
            expected *= len({tuple(d for d, s in zip(own, temporal, strict=True) if s in outside) for own in passed})
        assert tiles == expected


@given(mappings())
def test_the_other_terms_are_the_counts_and_costs(case):
    arch, layer, batch = case
    if not len(batch):
        return
    result = evaluate(arch, layer, batch, costs=Charges(hop_pj=0.5))
    costs, levels = result.costs, [level.name for level in arch.levels]
    terms = cycle_terms_of(result.mapped, arch)
    assert tuple(terms) == cycle_terms(levels)
    steps = costs.counts.cycles[0] - costs.counts.starts[0] - costs.counts.fill_drain[0]
    assert (terms["layer"], terms["steps"], terms["cycles"]) == (1.0, steps, costs.cycles[0])
    words = costs.counts.reads + costs.counts.fills + costs.counts.updates
    for memory, name in enumerate(levels):
        instances = max(1, int(costs.counts.instances[0, memory]))
        assert terms[f"{name} words"] == pytest.approx(int(words[0, memory].sum()) / instances)
    energies = energy_terms_of(result.mapped, arch)
    assert tuple(energies) == energy_terms(levels, arch.compute.name)
    parts = sum(energies.values()) - energies["cycles"]
    assert parts == pytest.approx(result.energy_pj)
    assert energies["wires"] > 0 or not np.any(costs.counts.instances > 1)


def test_terms_of_uneven_placement_are_by_memory(tmp_path):
    """A memory that is a stack of levels has one set of terms."""
    from dataclasses import replace

    arch = load_arch("eyeriss_like")
    arch = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], placement="uneven"), *arch.levels[2:]))
    layer = shaped("conv2d", M=4, C=3, P=5, Q=1, R=3, S=1)
    batch = draw_valid(arch, layer, "pfm", 1)
    result = evaluate(arch, layer, batch, table=energy_table(arch))
    assert len(batch.arch.levels) > len(arch.levels)
    terms = cycle_terms_of(result.mapped, arch)
    assert tuple(terms) == cycle_terms([level.name for level in arch.levels])
    assert all(value >= 0 for value in terms.values())
    assert terms[f"{arch.levels[2].name} tiles"] >= terms[f"{arch.levels[1].name} tiles"] >= 1
