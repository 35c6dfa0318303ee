"""Searches on systolic machines: the loop order decides cycles, so nothing is proven, and what is found is counted."""

from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper import evaluate, explore
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.exploration import why
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import CostOptions
from ruby_map.mapper.report import result_json
from ruby_map.mapper.search import STRATEGIES, SearchOptions
from ruby_map.workloads import InputError, Network, shaped

from ..model.test_systolic import plain, weight_stationary
from ..small_problems import best_of_all

LAYER = shaped("matmul", M=4, N=5, K=3)
AXES = (Axis("row", 2, "Y", systolic=True), Axis("column", 2, "X", systolic=True))
INNER = Storage("Register", "regfile", capacity_bits=48)
ARCH = Architecture("array", (Storage("DRAM", "DRAM"), Storage("B", "SRAM", fanout=AXES), INNER), Compute("MAC", "x"))
PJ = tuple(LevelEnergy(level.name, 1.0, 1.0, 1.0, 0.0, 1.0, "given") for level in ARCH.levels)
TABLE = EnergyTable("array", PJ, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
FINDS = [name for name, row in STRATEGIES.items() if name not in ("optimal", "exhaustive") and not row.missing()]


def found(strategy, objective="delay", **options):
    chosen = SearchOptions(strategy=strategy, objective=objective, time_limit=0.5, **options)
    return explore(ARCH, LAYER, "ruby", chosen, table=TABLE)


@pytest.mark.parametrize("objective", ["delay", "edp"])
def test_the_best_of_all_is_found_by_visiting_all(objective):
    space = Mapspace(ARCH, LAYER, "ruby", distinct=True)
    least = best_of_all(space, TABLE, objective, CostOptions())
    options = SearchOptions(strategy="exhaustive", objective=objective)
    value = attrgetter({"delay": "cycles", "edp": "edp"}[objective])
    assert value(explore(ARCH, LAYER, "ruby", options, table=TABLE, distinct=True)) == least
    assert least <= value(found("evolve", objective)) <= 1.05 * least


@pytest.mark.parametrize("strategy", FINDS)
def test_no_search_claims_a_proof(strategy):
    """But what it reports is what the mapping takes, with filling."""
    result = found(strategy)
    assert result.lower_bound is None
    assert result.gap is None
    assert not result.optimal
    assert "fill and drain the array" in str(result)
    again = evaluate(ARCH, LAYER, result, table=TABLE)
    assert again.cycles == result.cycles
    filled = result_json(result)["systolic"]
    dry = evaluate(plain(ARCH), LAYER, result, table=TABLE)
    assert result.cycles == dry.cycles + filled["cycles"]
    assert filled["cycles"] == 4 * filled["folds"]
    assert "systolic" not in result_json(dry)
    assert "fill and drain" not in str(dry)


def test_proofs_are_refused():
    with pytest.raises(InputError, match="do not know the systolic axes of array"):
        found("optimal")
    with pytest.raises(InputError, match="do not know the systolic axes of array"):
        found("random", bound=1.0)
    with pytest.raises(InputError, match="do not know the systolic axes of array"):
        why(found("auto"), SearchOptions())
    two = Network("two", ((LAYER, 2), (replace(LAYER, name="b", sizes=(4, 4, 4)), 1)))
    network = explore(ARCH, two, "ruby", SearchOptions(time_limit=1.0), table=TABLE)
    assert network.lower_bound is None


def test_a_certificate_of_the_machine_without_systolic_axes_is_refused():
    proven = explore(plain(ARCH), LAYER, "pfm", SearchOptions(certify=True), table=TABLE)
    certificate = proven.certificate
    assert verify(certificate, plain(ARCH), LAYER, TABLE).optimal
    with pytest.raises(Refused, match="systolic"):
        verify(certificate, ARCH, LAYER, TABLE)


def test_the_engine_of_jax_counts_filling():
    pytest.importorskip("jax")
    options = SearchOptions(strategy="random", objective="delay", samples=4000, seed=1)
    arch = weight_stationary(2, 2)
    buffer = replace(arch.levels[1], keep=frozenset({"Inputs", "Outputs", "Weights"}))
    arch = replace(arch, levels=(arch.levels[0], buffer, arch.levels[2]))
    table = EnergyTable("array", tuple(replace(PJ[0], name=level.name) for level in arch.levels), TABLE.compute)
    one = explore(arch, LAYER, "ruby", options, table=table)
    other = explore(arch, LAYER, "ruby", replace(options, engine="jax"), table=table)
    assert one.cycles == other.cycles
    assert np.array_equal(one.batch.factors, other.batch.factors)
