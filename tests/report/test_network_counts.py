"""How often a layer occurs counts in the bound of its network, whatever is minimised."""

from math import sqrt

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.bounds.sums import edp_bound
from ruby_map.workloads import Network, shaped

COLUMNS = {"delay": "cycles", "energy": "energy_pj", "edp": "edp"}
LAYERS = shaped("matmul", M=4, N=3, K=4), shaped("matmul", M=3, N=5, K=2)


def proven(objective, *counts):
    network = Network("n", tuple(zip(LAYERS, counts, strict=False)))
    return explore("linear_8", network, "pfm", SearchOptions(strategy="optimal", objective=objective))


@pytest.mark.parametrize(("objective", "times"), [("delay", 3), ("energy", 3), ("edp", 9)])
def test_of_one_layer(objective, times):
    """Three occurrences take three times the energy and the cycles, so nine times the EDP; the proof is closed."""
    once, thrice = proven(objective, 1), proven(objective, 3)
    assert thrice.lower_bound == pytest.approx(times * once.lower_bound, rel=1e-9)
    assert thrice.lower_bound == pytest.approx(getattr(thrice, COLUMNS[objective]))
    assert thrice.optimal


@pytest.mark.parametrize("objective", ["delay", "energy"])
def test_of_two_layers(objective):
    """A sum, each with its count."""
    found = proven(objective, 2, 5)
    (first, _), (second, _) = found.layers
    assert found.lower_bound == pytest.approx(2 * first.lower_bound + 5 * second.lower_bound, rel=1e-12)


def test_of_the_edp_of_two_layers():
    """At least the square of the sum of count x root of each layer's EDP, and no more than what was found."""
    found = proven("edp", 2, 5)
    roots = sum(count * sqrt(layer.lower_bound) for layer, count in found.layers)
    assert roots**2 * (1 - 1e-9) <= found.lower_bound <= found.edp * (1 + 1e-9)
    needs = [layer.needs(count) for layer, count in found.layers]
    assert [each.count for each in needs] == [2, 5]
    assert edp_bound(needs).edp == pytest.approx(found.lower_bound)
    assert found.ideal.cycles == sum(count * layer.ideal.cycles for layer, count in found.layers)
