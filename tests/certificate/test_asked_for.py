"""What was asked for is part of a certificate, and compulsory cycles are a proof of one line."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, as_written
from ruby_map.mapper.bounds import ideal
from ruby_map.mapper.certificate import LayerProof
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.certificate.checker.compulsory import least_cycles
from ruby_map.mapper.commands import ruby_check, ruby_map
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import Tensor, Term, Workload
from typer.testing import CliRunner

from ..conftest import DEEP
from ..model.test_cost import matmul
from ..searches import optimal
from ..small_problems import best_of_all, constrained_problems
from .test_certificate import OPTIMAL

LAYER = "{name: mm, shape: matmul, sizes: {M: 8, N: 6, K: 10}}"


def machine(**bandwidths):
    figures = tuple(LevelEnergy(name, pj, pj, pj, 0.0, 1.0, "given") for name, pj in (("DRAM", 200.0), ("glb", 6.0)))
    buffer = Storage("glb", "SRAM", capacity_bits=16 * 60, fanout=(Axis("PE", 4),))
    arch = Architecture("small", (Storage("DRAM", "DRAM", **bandwidths), buffer), Compute("MAC", "intmac"))
    return arch, EnergyTable("small", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))


def said_of(objective, **bandwidths):
    """The certificate of a proof as JSON has it, and what checks another."""
    arch, space, table, found = proof_of(objective, **bandwidths)
    said = json.loads(found.certificate.model_dump_json())
    return said, lambda other: verify(LayerProof.model_validate(other), arch, space.workload, table)


@cache
def proof_of(objective, **bandwidths):
    """A proof that several tests read, done once."""
    arch, table = machine(**bandwidths)
    space = Mapspace(arch, matmul(8, 6, 10), "pfm")
    return arch, space, table, optimal(space, table, replace(OPTIMAL, objective=objective))


def test_a_stage_that_is_left_out_is_not_proven():
    """Without its second stage the certificate of delay,energy proves the delay, and is optimal no more."""
    said, check = said_of("delay,energy")
    assert said["objectives"] == ["delay", "energy"]
    whole = check(said)
    assert whole.optimal
    seen = check(said | {"stages": []})
    assert not seen.optimal
    assert [stage.optimal for stage in seen.stages] == [True, False]
    assert (seen.stages[1].objective, seen.stages[1].lower_bound) == ("energy", 0.0)
    assert check(said | {"stages": [], "objectives": ["delay"]}).optimal  # of the delay alone


@pytest.mark.parametrize(
    ("objectives", "why"),
    [
        (["energy", "delay"], "it is of delay, energy, and energy, delay were asked for"),
        (["delay"], "it is of delay, energy, and delay were asked for"),
        (["delay", "energy", "delay"], "it is of the objective delay twice"),
        (["delay", "energy", "area"], "it is of the objective area, which has no proofs"),
    ],
)
def test_other_objectives_than_those_of_its_stages_are_refused(objectives, why):
    """The stages are the first of what was asked for, and all of these are objectives."""
    said, check = said_of("delay,energy")
    with pytest.raises(Refused, match=why):
        check(said | {"objectives": objectives})


def test_a_certificate_without_objectives_is_of_an_older_format():
    """It is verified as ever, by the objectives that it has stages of."""
    said, check = said_of("delay,energy")
    assert [stage.objective for stage in check(said | {"objectives": []}).stages] == ["delay", "energy"]


def test_compulsory_cycles_are_a_proof():
    """A delay that meets them needs no sets of chains, and one cycle more, or another objective, is refused."""
    said, check = said_of("delay")
    assert (said["choices"], said["lower_bound"]) == ([], 120.0)
    seen = check(said)
    assert (seen.optimal, seen.sets) == (True, 0)
    slow, check_slow = said_of("delay", read_bandwidth=0.25)  # 140 words at least
    assert slow["lower_bound"] >= 560
    with pytest.raises(Refused, match="nothing is said of the choice to keep anything: 560 cycles are compulsory"):
        check_slow(slow | {"lower_bound": 561.0, "choices": []})
    with pytest.raises(Refused, match="nothing is said of the choice to keep anything, by energy"):
        check(said | {"objective": "energy", "objectives": ["energy"], "lower_bound": 1.0})


@settings(max_examples=2_000 if DEEP else 15)
@given(constrained_problems())
def test_compulsory_cycles_are_those_of_the_ideal(problem):
    """Two ways to count them agree, and no mapping is faster."""
    space, table, _, costs = problem
    arch, own = as_written(space.arch, table)
    least = least_cycles(arch, space.workload, costs.drain_reads)
    assert least == ideal(arch, space.workload, own, costs).cycles
    assert least <= best_of_all(space, table, "delay", costs)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 6)), min_size=1, max_size=3))
def test_words_that_are_used(terms):
    """Of a window with strides, each value of its index once."""
    dims = tuple("PRS"[: len(terms)])
    rank = tuple(Term(dim, coef) for dim, (coef, _) in zip(dims, terms, strict=True))
    window = Tensor("Inputs", (rank,))
    tensors = (window, Tensor("Outputs", tuple((Term(dim),) for dim in dims), output=True))
    work = Workload("w", dims, tuple(size for _, size in terms), tensors)
    level = Storage("DRAM", "DRAM", read_bandwidth=1e-3)
    arch = Architecture("one", (level,), Compute("MAC", "intmac"))
    grid = np.indices(work.sizes)
    words = len(np.unique(sum(coef * own for (coef, _), own in zip(terms, grid, strict=True))))
    assert least_cycles(arch, work, False) == max(1_000 * words, work.macs)


def test_by_commands(tmp_path):
    """`ruby-check` says by each objective what is proven, and `optimal` of all of them."""
    (tmp_path / "mm.yaml").write_text(LAYER)
    proof = tmp_path / "c.json"
    inputs = ["linear_8", str(tmp_path / "mm.yaml")]
    search = ["--search", "optimal", "--objective", "delay,energy", "--certificate", str(proof)]
    assert CliRunner().invoke(ruby_map.main, [*inputs, *search]).exit_code == 0
    proof.write_text(json.dumps(cut := json.loads(proof.read_text())))
    cut["layers"][0]["stages"] = []
    proof.write_text(json.dumps(cut))
    checked = CliRunner().invoke(ruby_check.main, [*inputs, str(proof)])
    assert (
        "no mapping has a lower number of cycles than 60, and nothing is proven of the lowest energy\n"
        in checked.stdout
    )
    (layer,) = json.loads(CliRunner().invoke(ruby_check.main, [*inputs, str(proof), "--json"]).stdout)["layers"]
    assert not layer["optimal"]
    assert [stage["optimal"] for stage in layer["stages"]] == [True, False]


def test_a_certificate_that_proves_less_than_the_report_says_so(tmp_path):
    """With hardly any effort the energy of the last stage is known to be least by the ideal, which no file proves."""
    few = ("--objective", "delay,energy", "--search", "optimal", "--effort", "mappings=8,steps=1")
    for effort, less in ((few, True), (few[:4], False)):
        path = tmp_path / f"{less}.json"
        done = CliRunner().invoke(ruby_map.main, ["toy_6pe", "rank1_100", *effort, "--certificate", str(path)])
        assert done.exit_code == 0
        assert "of these none a lower energy" in done.stdout
        assert ("proves less of rank1_100 than is said above" in done.stderr) == less
        checked = CliRunner().invoke(ruby_check.main, ["toy_6pe", "rank1_100", str(path)])
        assert ("nothing is proven of the lowest energy" in checked.stdout) == less, checked.output


def test_a_mapspace_without_chains_is_refused():
    """Where perfect factors cannot meet a rule of the machine there is no mapping to certify: a refusal, no crash."""
    arch, table = machine()
    rule = LoopConstraint(factors=(FactorRule("M", "=", 3),))
    axis = replace(arch.levels[1].fanout[0], constraint=rule)
    arch = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], fanout=(axis,))))
    space = Mapspace(arch, matmul(5, 2, 2), "ruby-s")
    said = json.loads(optimal(space, table, OPTIMAL).certificate.model_dump_json())
    assert verify(LayerProof.model_validate(said), arch, space.workload, table).optimal
    with pytest.raises(Refused, match="of M are not of the mapspace"):
        verify(LayerProof.model_validate(said | {"remainders": []}), arch, space.workload, table)
