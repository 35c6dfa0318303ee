"""Objectives minimised in turn: the mapping found is the best of every mapping, and a wrong limit is noticed."""

import json
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import explore
from ruby_map.mapper.bounds import limits as limits_file
from ruby_map.mapper.certificate import LayerProof
from ruby_map.mapper.certificate.checker import Refused, claim, verify
from ruby_map.mapper.commands.ruby_check import main as check_main
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, recount
from ruby_map.mapper.problem import OBJECTIVES, Charges, at_most
from ruby_map.mapper.problem.effort import Effort
from ruby_map.mapper.proof import choice_bounds, incumbents, why_no_proof
from ruby_map.mapper.proof.certify import certified_mapping
from ruby_map.mapper.proof.optimal import Optimal
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import Network, load_workload
from typer.testing import CliRunner

from ..conftest import DEEP, interrupt_at
from ..searches import a_poor_beginning, lower_bound, optimal
from ..small_problems import FEW, constrained_problems, problems, slow, values_of
from .test_optimal_interrupted import KeepChoice as InMemory

LISTS = [",".join(names) for n in (2, 3) for names in permutations(sorted(OBJECTIVES), n)]
EQUAL = 1e-9  # relative: values that differ by less count as equal


def options(objectives, **more):
    return SearchOptions(strategy="optimal", objective=objectives, **more)


def values_of_all(space, table, costs, names):
    """Each objective of every valid mapping. # (mapping, objective)"""
    batches = list(space.batches())
    energy_pj, cycles = (
        np.concatenate([values_of(batch, table, name, costs) for batch in batches]) for name in ("energy", "delay")
    )
    values = np.stack([OBJECTIVES[name].value(energy_pj, cycles) for name in names], axis=1)
    return values[np.isfinite(cycles)]


def least_in_turn(values, equal):
    """The least value by each objective in turn, of the mappings that equal the least by those before."""
    least = []
    for i in range(values.shape[1]):
        least.append(values[:, i].min())
        values = values[values[:, i] <= least[-1] * (1 + equal)]
    return least


def check(found, space, table, costs, names):
    """An outcome is the best of every mapping by all objectives in turn, and says so; return whether there is one."""
    values = values_of_all(space, table, costs, names)
    if not len(values):
        assert found.best is None
        assert not found.optimal
        return False
    own = [values_of(found.best, table, name, costs)[0] for name in names]
    for each, strict, loose in zip(own, least_in_turn(values, 0.0), least_in_turn(values, 5 * EQUAL), strict=True):
        assert loose * (1 - 5 * EQUAL) <= each <= strict * (1 + 5 * EQUAL)
    assert found.optimal
    assert [stage.objective for stage in found.stages] == list(names)
    assert all(stage.optimal for stage in found.stages)
    for each, stage in zip(own, found.stages, strict=True):
        assert (stage.value, stage.lower_bound) == pytest.approx((each, each), rel=5 * EQUAL)
    return True


def verified(found, space, table):
    """The certificate of an outcome, through JSON and back, checked."""
    layer = LayerProof.model_validate_json(found.certificate.model_dump_json())
    return verify(layer, space.arch, space.workload, table)


@st.composite
def slow_problems(draw):
    """Problems with every kind of constraint, whose every level may be slow."""
    space, table, objective, costs = draw(constrained_problems())
    rate = st.sampled_from([None, None, 0.3, 0.7, 1.0, 2.5])
    levels = tuple(slow(draw, each, rate) for each in space.arch.levels)
    space = Mapspace(replace(space.arch, levels=levels), space.workload, space.remainders, distinct=True)
    return space, table, objective, costs


CHOICES = 1024 if DEEP else 4  # of what is kept: each is bounded by itself, in every stage
ANY = st.one_of(problems(most=FEW), constrained_problems(), slow_problems()).filter(
    lambda problem: problem[0].size.bypass <= CHOICES
)


@settings(max_examples=5_000 if DEEP else 12)
@given(ANY, st.sampled_from(LISTS), st.integers(0, 99))
def test_equals_the_best_of_every_mapping(problem, objectives, seed):
    """For every pair and triple of objectives, in all mapspaces, with constraints, bandwidths, leakage and wires; the
    certificate is verified."""
    space, table, _, costs = problem
    with a_poor_beginning():
        found = optimal(space, table, options(objectives, seed=seed, certify=True), costs)
    if check(found, space, table, costs, objectives.split(",")):
        seen = verified(found, space, table)
        assert seen.optimal
        assert [stage.objective for stage in seen.stages] == objectives.split(",")
        assert [stage.value for stage in seen.stages] == pytest.approx([stage.value for stage in found.stages])


@settings(max_examples=1_000 if DEEP else 4)
@given(ANY, st.sampled_from(LISTS))
def test_of_a_front(problem, objectives):
    """A front has the best by all objectives in turn, and proves it."""
    space, table, _, costs = problem
    found = optimal(space, table, options(objectives, front="energy,delay"), costs)
    check(found, space, table, costs, objectives.split(","))


@settings(max_examples=2_000 if DEEP else 5)
@given(ANY, st.sampled_from(LISTS), st.integers(1, 12), st.booleans())
def test_interrupted_and_resumed(problem, objectives, step, certify):
    """Ctrl-C at any step leaves bounds that hold, also in the certificate; the resumed proof finds the best."""
    space, table, _, costs = problem
    names, stop, kept = objectives.split(","), interrupt_at(step), InMemory()
    with a_poor_beginning():
        wanted = options(objectives, certify=certify)
        early = optimal(space, table, wanted, costs, lambda recorder: stop(None, recorder), part=kept)
        values = values_of_all(space, table, costs, names)
        if early.best is not None:
            tight = least_in_turn(values, 0.0)
            for least, stage in zip(tight, early.stages, strict=True):
                assert stage.lower_bound is None or stage.lower_bound <= least * (1 + 5 * EQUAL)
            assert early.optimal == all(stage.optimal for stage in early.stages)
            open_at = next((i for i, stage in enumerate(early.stages) if not stage.optimal), len(names))
            assert all(stage.value is None for stage in early.stages[open_at + 1 :])
            if early.certificate is not None:
                seen = verified(early, space, table)
                assert all(stage.lower_bound <= least * (1 + 5 * EQUAL)
                           for least, stage in zip(tight, seen.stages, strict=False))  # fmt: skip
        found = optimal(space, table, wanted, costs, part=kept)
        check(found, space, table, costs, names)
        again = optimal(space, table, wanted, costs, part=kept)
    assert (again.stages, again.optimal, again.lower_bound) == (found.stages, found.optimal, found.lower_bound)
    if certify and found.certificate is not None:
        assert verified(found, space, table).optimal


@settings(max_examples=1_000 if DEEP else 4)
@given(ANY, st.sampled_from(LISTS), st.integers(0, 2**32))
def test_from_any_mapping(problem, objectives, seed):
    """`--bound` goes from the mapping of any search to the best; with 0 seconds its bounds hold."""
    space, table, _, costs = problem
    names = objectives.split(",")
    batch = space.sample(np.random.default_rng(seed), 50)
    valid = np.flatnonzero(np.isfinite(values_of(batch, table, names[0], costs)))
    if not len(valid):
        return
    first = batch.take(valid[:1])
    check(lower_bound(space, table, options(objectives, bound=60.0), first, costs), space, table, costs, names)
    root = lower_bound(space, table, options(objectives, bound=0.0), first, costs)
    for least, stage in zip(least_in_turn(values_of_all(space, table, costs, names), 0.0), root.stages, strict=True):
        assert stage.lower_bound is None or stage.lower_bound <= least * (1 + 5 * EQUAL)


@pytest.fixture(scope="module")
def layer():
    """A layer of ResNet-50 whose fastest mappings differ in energy, and its proof."""
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv5_x_1x1b")
    space, table = Mapspace(arch, workload, "ruby-s"), energy_table(arch)
    return space, table, optimal(space, table, options("delay,energy", certify=True))


@pytest.fixture(scope="module")
def thrifty(layer):
    """The proof of the least energy of all."""
    return optimal(*layer[:2], options("energy"))


def test_of_the_fastest_the_one_of_least_energy(layer, thrifty):
    """It is as fast as the fastest, and needs less energy than that."""
    space, table, found = layer
    fastest = optimal(space, table, options("delay"))
    costs, of_fastest, of_thrifty = (evaluate(each.best, table) for each in (found, fastest, thrifty))
    assert costs.cycles[0] == of_fastest.cycles[0]
    assert of_thrifty.energy_pj[0] < costs.energy_pj[0] <= of_fastest.energy_pj[0]
    assert of_thrifty.cycles[0] > costs.cycles[0]
    assert verified(found, space, table).optimal


def test_the_same_for_any_seed(layer):
    """The values of a proof do not depend on the seed."""
    space, table, found = layer
    for seed in (1, 2, 3) if DEEP else (1,):
        other = optimal(space, table, options("delay,energy", seed=seed))
        assert [stage.value for stage in other.stages] == pytest.approx([stage.value for stage in found.stages])


def test_an_effort_is_shared(layer, monkeypatch):
    """Where the first stage ends without steps for the second, this says so."""
    space, table, found = layer
    monkeypatch.setattr(why_no_proof, "STEPS_A_ROW", 0)  # the proof begins all the same
    early = optimal(space, table, options("delay,energy", effort=Effort(2048, 1_000)))
    assert not early.optimal
    assert early.stages[0].lower_bound <= found.stages[0].value
    assert early.stages[1].lower_bound is None or early.stages[1].lower_bound <= found.stages[1].value
    assert early.statistics.stopped_by == "effort"


# What is wrong is noticed


def exceeds(factor, real=limits_file.exceeds):
    return lambda limits, *costs: real([replace(limit, most=limit.most * factor) for limit in limits], *costs)


@pytest.mark.parametrize("factor", [0.999, 2.0])
def test_a_wrong_limit_is_noticed(layer, monkeypatch, factor):
    """A limit that is too tight leaves no mapping, not even the best; with a loose one a slower mapping is refused."""
    space, table, _ = layer
    monkeypatch.setattr(incumbents, "exceeds", exceeds(factor))
    try:
        with a_poor_beginning():
            found = optimal(space, table, options("delay,energy", certify=True))
    except InternalError:
        return
    if found.best is None:
        return
    with pytest.raises(Refused):
        verified(found, space, table)


def test_weighted_products_with_a_wrong_limit_are_noticed(layer, monkeypatch):
    """They rule out the best: it is below their bound, or the certificate does not hold."""
    space, table, _ = layer

    def halved(relaxed, powers, within=(), real=choice_bounds.Geometric):
        return real(relaxed, powers, tuple(replace(limit, most=limit.most / 2) for limit in within))

    monkeypatch.setattr(choice_bounds, "Geometric", halved)
    try:
        with a_poor_beginning():
            found = optimal(space, table, options("delay,energy", certify=True))
    except InternalError:
        return
    with pytest.raises(Refused):
        verified(found, space, table)


def said(layer):
    return json.loads(layer[2].certificate.model_dump_json())


def refused(layer, content, reason):
    space, table, _ = layer
    with pytest.raises(Refused, match=reason):
        verify(LayerProof.model_validate(content), space.arch, space.workload, table)


def test_stages_in_another_order_are_refused(layer):
    """The proof of the energy of the fastest says nothing about all mappings."""
    content = said(layer)
    (second,) = content["stages"]
    first = {"objective": content["objective"], "best": content["best"][0]}
    first |= {name: content[name] for name in ("lower_bound", "choices")}
    content |= {"objective": second["objective"], "best": [second["best"]], "stages": [first]}
    refused(layer, content, "delay, energy were asked for")
    content["objectives"] = ["energy", "delay"]
    content |= {name: second[name] for name in ("lower_bound", "choices")}
    refused(layer, content, "leave room|left out|rules out")


def test_a_stage_whose_mapping_is_slower_is_refused(layer, thrifty):
    """The mapping of least energy is not the best of the fastest."""
    space, table, _ = layer
    thrifty = thrifty.best
    content = said(layer)
    content["stages"][0]["best"] = json.loads(certified_mapping(thrifty, table, Charges()).model_dump_json())
    content["stages"][0]["lower_bound"] = float(evaluate(thrifty, table, counts=recount(thrifty)).energy_pj[0])
    refused(layer, content, "not best by number of cycles")


@pytest.mark.parametrize("power", [0.0, 1e300])
def test_other_powers_of_the_limit_prove_nothing(layer, power):
    """Weighted products need the limit; no power is too large to be checked."""
    content = said(layer)
    changed = 0
    for choice in content["stages"][0]["choices"]:
        for weights in choice["weights"]:
            changed += "limit:delay" in weights
            weights["limit:delay"] = power
    assert changed
    refused(layer, content, "leave room|left out|rules out|beyond")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("lower_bound", 1.001, "above|not between"),
        ("objective", "delay", "twice"),
        ("objective", "speed", "no proofs"),
        ("choices", [], "nothing is said"),
    ],
)
def test_a_forged_stage_is_refused(layer, name, value, reason):
    """Whatever is changed in the second stage."""
    content = said(layer)
    stage = content["stages"][0]
    stage[name] = value * stage[name] if name == "lower_bound" else value
    refused(layer, content, reason)


def test_a_checker_without_limits_refuses(layer, monkeypatch):
    """The second stage holds for mappings within the limit alone."""
    monkeypatch.setattr(
        claim.ObjectiveLimit, "exceeded", lambda self, energy_pj, cycles: np.zeros(np.shape(cycles), bool)
    )
    refused(layer, said(layer), "leave room")


def test_a_stage_after_a_front_is_refused(layer):
    """A front has no objectives after it."""
    space, table, _ = layer
    front = optimal(space, table, options("edp", front="energy,delay", certify=True))
    content = json.loads(front.certificate.model_dump_json()) | {"stages": said(layer)["stages"]}
    refused(layer, content, "front")


def test_a_file_without_stages_is_read(layer):
    """Certificates of the first format have none, and no objectives that were asked for."""
    content = said(layer)
    del content["stages"], content["objectives"]
    space, table, _ = layer
    seen = verify(LayerProof.model_validate(content), space.arch, space.workload, table)
    assert [stage.objective for stage in seen.stages] == ["delay"]


# What a user sees

TOY = ("linear_16", "matmul_100", "--objective", "delay,energy")


def run(*arguments, command=main):
    """Run a command in this process."""
    found = CliRunner().invoke(command, list(map(str, arguments)))
    assert found.exit_code == 0, found.output
    return found.stdout


def test_the_default_search_proves_it(tmp_path):
    """The last line, `--json`, and the certificate of the command."""
    text = run(*TOY, "--certificate", tmp_path / "proof.json")
    (proof,) = (line.split("proof")[1].strip() for line in text.splitlines() if line.startswith("proof"))
    assert proof == ("optimal: no mapping of ruby-s has a lower number of cycles, and of these none a lower energy")
    found = json.loads(run(*TOY, "--json"))
    assert (found["optimal"], found["gap"], found["lower_bound"]) == (True, 0.0, found["cycles"])
    first, second = found["stages"]
    assert (first["objective"], first["lower_bound"], first["gap"]) == ("delay", found["cycles"], 0.0)
    assert first["combinations"] == found["combinations"]
    assert (second["objective"], second["optimal"], second["gap"]) == ("energy", True, 0.0)
    assert second["lower_bound"] == pytest.approx(found["energy_pj"])
    assert second["combinations"]["all"] == first["combinations"]["all"]
    checked = run("linear_16", "matmul_100", tmp_path / "proof.json", command=check_main)
    assert f"no mapping has a lower number of cycles than {found['cycles']}, and of these none has a" in checked


def test_an_open_stage_is_told(monkeypatch):
    """Which objective is proven, how far the next may be, and that those after it have not begun."""
    monkeypatch.setattr(Optimal, "_branch", lambda self: self.statistics.stop(Ended.TIME_LIMIT))
    names = ("linear_16", "matmul_100", "--search", "optimal", "--objective")
    found = json.loads(run(*names, "delay,energy,edp", "--json"))
    assert not found["optimal"]
    assert [stage["optimal"] for stage in found["stages"]] == [True, False, False]
    second, third = found["stages"][1:]
    assert 0 < second["gap"] < 1
    assert (third["lower_bound"], third["gap"], third["combinations"]) == (None, None, None)
    text = run(*names, "delay,energy,edp")
    assert (
        f"lower number of cycles, and of these the lowest energy is at most {at_most(second['gap'])} below this" in text
    )
    assert "the EDP comes after that" in text
    early = run(*names, "energy,delay")
    assert "the lowest energy of ruby-s is at most" in early
    assert "the number of cycles comes after that" in early


def test_a_better_mapping_of_a_bound_is_told():
    """Of a random search as fast as the fastest, the proof tells by which objective it found a better mapping."""
    search = (*TOY, "--search", "random", "--samples", 30_000)
    alone, found = (json.loads(run(*search, *more, "--json")) for more in ((), ("--bound",)))
    assert alone["cycles"] == found["cycles"]
    assert alone["energy_pj"] > found["energy_pj"]
    assert "searched" not in found
    assert found["stages"][1]["searched"] == alone["energy_pj"]
    assert f"it found this mapping: the search had an energy of {alone['energy_pj']:.5g}" in run(*search, "--bound")


@pytest.mark.parametrize(("objectives", "proven"), [("delay,energy", True), ("edp,energy", False)])
def test_a_network_of_proven_layers(objectives, proven):
    """Layers that are fastest in turn with least energy make such a network; of the EDP nothing like it follows."""
    found = explore("linear_16", network(), "ruby-s", options(objectives))
    assert all(layer.optimal for layer, _ in found.layers)
    assert found.optimal == proven
    line = str(found).splitlines()[-1]
    assert ("the network a lower number of cycles, and of these none a lower energy" in line) == proven


def test_a_network_with_an_open_stage(monkeypatch):
    """Its line names the layer with the objective that is open, and claims the first."""
    real = Optimal._branch

    def branch(self):
        self.statistics.stop(Ended.TIME_LIMIT) if self.start.stages else real(self)

    monkeypatch.setattr(Optimal, "_branch", branch)
    found = explore("linear_16", network(), "ruby-s", options("delay,energy"))
    assert not found.optimal
    line = str(found).splitlines()[-1]
    (opened, _), *_ = ((layer, count) for layer, count in found.layers if not layer.optimal)
    gap = 1 - opened.stages[1].lower_bound / opened.stages[1].value
    assert f"{opened.workload.name} (energy) within {at_most(gap)}" in line
    assert line.startswith("proof        optimal: no choice of mappings gives the network a lower number of cycles;")


def network():
    """Two small matrix products of their own names."""
    workload = load_workload("matmul_100")
    layers = [(replace(workload, name=f"matmul_{size}", sizes=(size,) * 3), 2) for size in (8, 13)]
    return Network("two", tuple(layers))
