"""The store of mappings: what identifies a problem, mappings that read back, the best, and searches that use it."""

import json
import warnings
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, ComponentClass, Written, library_archs, load_arch, placed
from ruby_map.energy import as_written, energy_table
from ruby_map.mapper import SearchOptions, explore, result_json
from ruby_map.mapper.mapspace import Mapspace, inside
from ruby_map.mapper.model import validity
from ruby_map.mapper.problem import Charges, Goal, Problem
from ruby_map.mapper.runtime import StoreWarning
from ruby_map.mapper.search import Task
from ruby_map.mapper.store import MappingSource, Store, StoredProof, plain_mappings, prune, read_mappings
from ruby_map.workloads import InputError, Network, load_workload, shaped

from ..conftest import DEEP
from ..small_problems import problems, uneven_problems, values_of

EVERY = st.one_of(problems(), uneven_problems())
LAYER = ("linear_5", "matmul_100")


def problem_of(space, table, objective, costs):
    return Task.of(space, table, SearchOptions(objective=objective), costs).problem


def toy(**more):
    """A problem of the library."""
    arch = load_arch(LAYER[0])
    return Problem(arch, load_workload(LAYER[1]), energy_table(arch), **more)


@cache
def pool():
    """Valid mappings of it, which differ."""
    space = Mapspace(load_arch(LAYER[0]), load_workload(LAYER[1]), "ruby", distinct=True)
    batch = space.sample(np.random.default_rng(0), 20_000)
    batch = batch.take(np.flatnonzero(validity(batch) == 0)[:200])
    different = {repr(mapping): i for i, mapping in enumerate(plain_mappings(batch))}
    return batch.take(sorted(different.values()))


def drawn(n):
    """The first of them."""
    assert len(pool()) >= n
    return pool().take(range(n))


@settings(max_examples=25 if DEEP else 10)
@given(EVERY)
def test_a_mapping_reads_back_as_one_that_does_the_same(problem):
    """Through JSON; two mappings of a mapspace have the same values where they do the same, and nowhere else."""
    space = problem[0]
    batch = space.at(range(min(100, space.size.total)))
    written = json.loads(json.dumps(plain_mappings(batch)))
    arch, _ = as_written(space.arch, problem[1])
    read, faults = read_mappings(arch, space.workload, written)
    assert not faults
    np.testing.assert_array_equal(read.factors, batch.factors)
    np.testing.assert_array_equal(read.keep, batch.keep)
    np.testing.assert_array_equal(inside(space, read).order, batch.order)
    assert len({repr(each) for each in written}) == len(batch)  # the mapspace has distinct orders


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"bounds": {"DRAM": {"M": 7}}, "orders": {"DRAM": ["M"]}, "keep": {}}, "none of the sizes"),
        ({"bounds": {"nowhere": {"M": 7}}, "orders": {}, "keep": {}}, "unknown name 'nowhere'"),
        ({"bounds": {}, "orders": {}, "keep": {"DRAM": ["Q"]}}, "unknown name 'Q'"),
        ({"bounds": {}, "orders": {"DRAM": ["M"]}, "keep": {}}, "other loops than its bounds"),
        ({"bounds": {}, "orders": {"nowhere": []}, "keep": {}}, "unknown name 'nowhere'"),
        ({"bounds": {"DRAM": {"M": "x"}}, "orders": {"DRAM": ["M"]}, "keep": {}}, "'x'"),
        ({"bounds": 3}, "items"),
        ({}, "bounds"),
        (None, "subscriptable"),
    ],
)
def test_values_that_are_no_mapping_are_told_and_the_others_read(change, fault):
    """By their places."""
    problem, good = toy(), plain_mappings(drawn(2))
    batch, faults = read_mappings(problem.arch, problem.workload, [good[0], change, good[1]])
    assert list(faults) == [1]
    assert fault in faults[1]
    assert plain_mappings(batch) == good


@settings(max_examples=40)
@given(EVERY)
def test_a_problem_reads_back_with_its_identity(problem):
    """Through JSON, whatever machine, layer, energies and costs."""
    own = problem_of(*problem)
    again = Problem.of_plain(json.loads(json.dumps(own.plain())))
    assert again == own
    assert again.digest == own.digest


@pytest.mark.parametrize("name", sorted(library_archs()))
def test_a_machine_of_the_library_reads_back(name):
    """With its components."""
    arch = load_arch(name)
    own = Problem(arch, load_workload("resnet50/conv1"), energy_table(arch))
    assert Problem.of_plain(json.loads(json.dumps(own.plain()))) == own


def test_names_and_places_are_no_part_of_what_identifies_a_problem():
    """Nor areas, sources of figures, leakage that is not charged, the zeros of padding, whole numbers as floats."""
    own = toy()
    table = replace(
        own.energies,
        arch="x",
        levels=tuple(replace(each, source="x", area_um2=7.0, leak_pj_per_cycle=8.0) for each in own.energies.levels),
    )
    leaks = replace(table, compute=replace(table.compute, leak_pj_per_cycle=9.0))
    work = replace(own.workload, name="x", shape="y", ineffectual_macs=3)
    levels = tuple(replace(each, cls="other", attributes=(("a", 1),)) for each in own.arch.levels)
    wide = tuple(replace(each, read_bandwidth=4.0) for each in levels)
    whole = tuple(replace(each, read_bandwidth=4) for each in levels)
    assert (
        replace(own, energies=leaks, workload=work, arch=replace(own.arch, name="x", levels=levels)).digest
        == own.digest
    )
    assert len({replace(own, arch=replace(own.arch, levels=each)).digest for each in (wide, whole)}) == 1
    kind = ComponentClass(Written("k", "/a/b/c.yaml", 1, ""), (("x", Written(2, "/a/b/c.yaml", 2, "")),), (), ())
    made = replace(own, arch=replace(own.arch, components=(kind,)))
    assert made.digest == own.digest
    assert "/a/b" not in json.dumps(made.plain())


def test_what_changes_a_value_or_what_is_valid_is_part_of_it():
    """Each of these makes another problem."""
    own = toy()
    first, *rest = own.energies.levels
    level = own.arch.levels[1]

    def machine(**more):
        return replace(own, arch=replace(own.arch, levels=(own.arch.levels[0], replace(level, **more))))

    others = [
        replace(own, goal=Goal(("delay", "edp"))),
        replace(own, goal=Goal(model="other")),
        replace(own, charges=Charges(drain_reads=True)),
        replace(own, charges=Charges(leakage=True)),
        replace(own, energies=replace(own.energies, levels=(replace(first, read_pj=first.read_pj + 1), *rest))),
        replace(own, workload=replace(own.workload, sizes=(99, *own.workload.sizes[1:]))),
        replace(own, arch=placed(own.arch, "uneven")),
        replace(
            own, arch=replace(own.arch, compute=replace(own.arch.compute, word_bits=own.arch.compute.word_bits + 1))
        ),
        machine(name="other"),
        machine(capacity_bits=77),
        machine(temporal=replace(level.temporal, max_loops=2)),
        replace(own, arch=replace(own.arch, max_loops=2)),
    ]
    assert len({each.digest for each in [own, *others]}) == len(others) + 1


def test_every_field_of_a_machine_is_in_the_identity_or_known_not_to_matter():
    """Whoever adds a field decides: max_loops was forgotten, and another machine's best was said to be proven."""
    identifies, does_not = {"levels", "compute", "max_loops"}, {"name", "components", "calibration", "clock_ns"}
    assert {field.name for field in fields(Architecture)} == identifies | does_not


@settings(max_examples=15)
@given(EVERY, st.integers(1, 20), st.integers(0, 9))
def test_the_best_of_a_store_is_the_best_of_what_was_added(tmp_path_factory, problem, n, seed):
    """With exact costs, the best first, in whatever order it came."""
    space, table, objective, costs = problem
    numbers = np.random.default_rng(seed).integers(0, space.size.total, n)
    batch = space.at(numbers.tolist())
    values = values_of(batch, table, objective, costs)
    batch, values = batch.take(np.flatnonzero(np.isfinite(values))), values[np.isfinite(values)]
    assume(len(batch))
    own = problem_of(*problem)
    with Store(tmp_path_factory.mktemp("store") / "s") as store:
        for i in range(len(batch)):
            store.add(own, batch.take([i]), MappingSource("hand"))
        rows = store.rows(own)
        assert len(rows) == len({repr(each) for each in plain_mappings(batch)})
        assert [held.values[0] for held in rows] == sorted(held.values[0] for held in rows)
        assert rows[0] == store.best(own)
        assert rows[0].values[0] == pytest.approx(values.min(), rel=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            checked = store.checked(own, -1)
        assert [held for held, _ in checked] == sorted(rows, key=lambda held: (held.values, held.key))
        assert [plain_mappings(one)[0] for _, one in checked] == [held.mapping for held, _ in checked]


def test_the_same_mapping_is_one_row_with_all_its_origins(tmp_path):
    """Since the earliest, with the better proof."""
    batch, own = drawn(1), toy()
    slots = ("a", "b")
    with Store(tmp_path / "s") as store:
        store.add(own, batch, MappingSource("evolve", "ruby", slots, 5.0, date="2030-01-02T00:00:00Z"))
        store.add(own, batch, MappingSource("hand", date="2030-01-01T00:00:00Z"))
        store.add(own, batch, MappingSource("auto", "ruby", slots, 4.0, date="2030-01-03T00:00:00Z"))
        store.add(own, batch, MappingSource("optimal", "ruby", slots, 4.5, True, date="2030-01-04T00:00:00Z"))
        store.add(own, batch, MappingSource("later", "ruby", slots, 4.5, True, date="2030-01-05T00:00:00Z"))
        (row,) = store.rows(own)
        assert [str(each) for each in row.origins[:3]] == ["hand", "evolve in ruby", "auto in ruby"]
        assert row.date == "2030-01-01T00:00:00Z"
        assert store.proofs(own) == (StoredProof("ruby", slots, 4.5, True, "optimal", "2030-01-04T00:00:00Z"),)
        assert [entry.number for entry in store.problems()] == [1]


def test_an_invalid_mapping_is_not_added(tmp_path):
    """Nor one that violates a constraint; and nothing of its batch."""
    tight = load_arch("eyeriss_like")
    own = Problem(tight, load_workload("resnet50/conv2_x_3x3"), energy_table(tight))
    batch = Mapspace(tight, own.workload, "ruby").sample(np.random.default_rng(0), 50)
    with Store(tmp_path / "s") as store, pytest.raises(InputError, match="valid mappings alone"):
        store.add(own, batch, MappingSource("hand"))
    with Store(tmp_path / "s") as store:
        assert store.problems() == []


def test_a_stored_value_that_differs_is_told_and_not_trusted(tmp_path):
    """The search goes by the value that is counted again."""
    own, batch = toy(), drawn(2)
    with Store(tmp_path / "s") as store:
        store.add(own, batch, MappingSource("hand"))
        true = store.rows(own)
        lie = {"energy_pj": true[1].energy_pj / 10, "cycles": true[1].cycles}
        with store.writing() as database:
            database.execute(
                "UPDATE mapping SET costs = ?, value = value / 10 WHERE key = ?", (json.dumps(lie), true[1].key)
            )
        assert store.best(own).key == true[1].key
        with pytest.warns(StoreWarning, match=f"{true[1].key} .* counted again"):
            assert [held for held, _ in store.checked(own)] == true
        store.add(own, batch.take([0, 1]), MappingSource("hand"))  # counted now, so the store is right again
        assert store.rows(own) == true


def test_pruning_keeps_the_best(tmp_path):
    """Of each problem so many, and the best however old."""
    own, other = toy(), toy(goal=Goal(("delay",)))
    with Store(tmp_path / "s") as store:
        store.add(own, drawn(30), MappingSource("hand", date="2030-01-01T00:00:00Z"))
        store.add(other, drawn(20), MappingSource("hand", date="2030-02-01T00:00:00Z"))
        before = store.rows(own), store.rows(other)
        assert prune(store, keep=12) == len(before[0]) + len(before[1]) - 24
        assert (store.rows(own), store.rows(other)) == (before[0][:12], before[1][:12])
        assert prune(store, before="2030-01-15T00:00:00Z") == 11
        assert (store.rows(own), store.rows(other)) == (before[0][:1], before[1][:12])
        assert prune(store, keep=50) == 0


def test_every_problem_with_its_mappings_is_there_for_other_machines(tmp_path):
    """What holds by names is read for a machine with the same names."""
    own, other = toy(), toy(goal=Goal(("delay",)))
    with Store(tmp_path / "s") as store:
        store.add(own, drawn(5), MappingSource("hand"))
        store.add(other, drawn(3), MappingSource("hand"))
        found = {problem.goal.text: (problem, rows) for problem, rows in store.every(4)}
        assert {name: len(rows) for name, (_, rows) in found.items()} == {"edp": 4, "delay": 3}
        assert found["edp"][0] == own
        there = load_arch("linear_8")
        batch, faults = read_mappings(there, own.workload, [held.mapping for held in found["edp"][1]])
    assert len(batch) == 4
    assert not faults
    _, faults = read_mappings(there, load_workload("rank1_100"), [held.mapping for held in found["edp"][1]])
    assert len(faults) == 4


def test_a_search_begins_with_what_is_held_and_adds_what_it_finds(tmp_path):
    """The answer is the best of both, with its origin; the same store gives the same answer."""
    quick, long = (SearchOptions("random", samples=n, seed=n) for n in (50, 20_000))
    with Store(tmp_path / "s") as store:
        first = explore(*LAYER, "ruby-s", long, store=store)
        assert (first.known.origin, first.known.since, first.known.number) == ("random", "", 0)
        alone = explore(*LAYER, "ruby-s", quick)
        assert alone.edp > first.edp
        again = [explore(*LAYER, "ruby", quick, store=store) for _ in range(2)]
        assert [each.edp for each in again] == [first.edp, first.edp]
        assert again[0].known == again[1].known
        assert again[0].known.since
        assert [str(each) for each in store.best(toy()).origins] == ["random in ruby-s"]  # nobody found it again
        assert result_json(again[0])["origin"] == "random"
        assert "held since" in str(again[0])
        proven = explore(*LAYER, "ruby-s", SearchOptions("optimal"), store=store)
        assert proven.known.proof is None
        told = explore(*LAYER, "ruby-s", quick, store=store)
        assert told.known.proof.optimal
        assert told.edp == proven.edp
        assert told.known.origin == proven.known.origin
        assert explore(*LAYER, "pfm", quick, store=store).known.proof is None
        assert result_json(told)["store"]["proof"]["lower_bound"] == pytest.approx(proven.edp)


def test_a_mapping_outside_the_mapspace_is_no_answer(tmp_path):
    """What ruby has and pfm has not; it is known all the same."""
    with Store(tmp_path / "s") as store:
        ruby = explore(*LAYER, "ruby", SearchOptions("evolve", samples=20_000), store=store)
        pfm = explore(*LAYER, "pfm", SearchOptions("optimal"), store=store)
        assert pfm.edp == explore(*LAYER, "pfm", SearchOptions("optimal")).edp > ruby.edp


def test_each_layer_of_a_network_is_looked_up_and_added(tmp_path):
    """By what it is, not by its name; several at once find the same."""
    small = Network("small", tuple((replace(shaped("matmul", M=m, N=7, K=5), name=f"l{m}"), 1) for m in (6, 9)))
    options = SearchOptions("evolve", samples=3_000, jobs=2)
    with Store(tmp_path / "s") as store:
        explore("linear_5", small, "ruby-s", options, store=store)
        assert [entry.number for entry in store.problems()] == [1, 1]
        renamed = replace(small, layers=tuple((replace(layer, name=f"x{layer.name}"), n) for layer, n in small.layers))
        again = explore("linear_5", renamed, "ruby-s", replace(options, seed=3), store=store)
        assert all(layer.known.since for layer, _ in again.layers)
        assert "held mappings are the answer for xl6 (evolve), xl9 (evolve)" in str(again)


def test_what_cannot_be_added_is_told_and_the_result_is_not_lost(tmp_path):
    """A disk that is full at the end of a search."""
    with Store(tmp_path / "s") as store:
        store.add(toy(goal=Goal(("delay",))), drawn(1), MappingSource("hand"))
        ((pages,),) = store.file.database.execute("PRAGMA page_count").fetchall()
        store.file.database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match="is full.*intact"):
            filled(store)
        before = store.problems()
        with pytest.warns(StoreWarning, match="not added: .*is full.*intact"):
            result = explore(*LAYER, "ruby-s", SearchOptions("evolve", samples=2_000), store=store)
        assert result.found
        assert not store.complete
        assert store.problems() == before


def filled(store):
    """Add mappings until that fails."""
    for i in range(len(pool())):
        store.add(toy(goal=Goal(("delay",))), pool().take([i]), MappingSource("hand"))
