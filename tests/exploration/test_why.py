"""`--why`: every change has the exact optimum of the changed machine, and none is worse than the machine as it is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table, stacked_table
from ruby_map.mapper import SearchOptions, evaluate, explore, result_json, why
from ruby_map.mapper.exploration.diagnose import FEW, idle_hint
from ruby_map.mapper.exploration.layer import explore_layer
from ruby_map.mapper.exploration.neighbours import moved
from ruby_map.mapper.exploration.relaxations import as_it_was, changes
from ruby_map.mapper.mapspace import Mapspace, can_hold
from ruby_map.mapper.model import validity
from ruby_map.mapper.search import Task
from ruby_map.workloads import InputError, Network, shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning
from ..small_problems import best_of_all, constrained_problems, values_of

MOST = 3_000  # mappings of a changed mapspace visited one by one
PROOF = SearchOptions(strategy="optimal", time_limit=60)

MACHINE = """
name: toy
levels:
  - name: DRAM
    class: DRAM
    word_bits: 16
    read_bandwidth: 2
    write_bandwidth: 1
    energy: {read_pj: 200, write_pj: 200, leak_pj_per_cycle: 1}
  - name: buffer
    class: SRAM
    word_bits: 16
    capacity_words: 128
    multiple_buffering: 2
    keep: [Inputs]
    bypass: [Weights]
    temporal: {factors: ["C<=4"], innermost: [M], max_loops: 3}
    energy: {read_pj: 6, write_pj: 6, leak_pj_per_cycle: 1}
    fanout:
      - {name: column, size: 4, dims: [M, C], min_utilization: 0.5}
      - {name: row, size: 3, factors: ["C=1"], remainders: false}
  - name: spad
    class: regfile
    word_bits: 16
    depth: 16
    keep: [Weights, Inputs, Outputs]
    temporal: {dims: [R, S]}
    energy: {read_pj: 1, write_pj: 1, leak_pj_per_cycle: 1}
compute: {name: MAC, word_bits: 16, energy: {compute_pj: 1, leak_pj_per_cycle: 1}}
"""
COLUMN = {"edp": "edp", "delay": "cycles"}
CONV = shaped("conv2d", M=6, C=2, P=2, Q=2, R=1, S=1)
SMALL = shaped("matmul", M=7, N=2, K=5)
DEPTHWISE = shaped("conv2d", G=12, M=1, C=1, P=6, Q=6, R=3, S=3)
EDITS = {  # the same change, by hand in the file: the text before and after
    "capacity of buffer x2": ("capacity_words: 128", "capacity_words: 256"),
    "capacity of spad x2": ("depth: 16", "depth: 32"),
    "no multiple buffering at buffer": ("multiple_buffering: 2", "multiple_buffering: 1"),
    "read bandwidth of DRAM x2": ("read_bandwidth: 2", "read_bandwidth: 4"),
    "write bandwidth of DRAM x2": ("write_bandwidth: 1", "write_bandwidth: 2"),
    "buffer.column has 5 places, not 4": ("size: 4, dims: [M, C], min_utilization: 0.5",
                                          "size: 5, dims: [M, C], min_utilization: 0.4"),
    "buffer.row has 4 places, not 3": ("row, size: 3", "row, size: 4"),
    "buffer.column may hold P": ("[M, C], min", "[M, C, P], min"),
    "buffer.column may hold Q": ("[M, C], min", "[M, C, Q], min"),
    "buffer.row may hold C": ('factors: ["C=1"], remainders', "remainders"),
    "buffer.column may be used less": (", min_utilization: 0.5", ""),
    "any dim may loop at spad": ("temporal: {dims: [R, S]}", "temporal: {}"),
    "without C<=4 at buffer": ('factors: ["C<=4"], ', ""),
    "any loop order at buffer": ("innermost: [M], ", ""),
    "any number of loops at buffer": (", max_loops: 3", ""),
    "remainders at buffer.row": ("remainders: false", "remainders: true"),
    "mapspace ruby": ("", ""),
    "buffer may bypass Inputs": ("keep: [Inputs]", "keep: []"),
    "buffer may keep Weights": ("bypass: [Weights]", "bypass: []"),
    "spad may bypass Weights": ("keep: [Weights, Inputs, Outputs]", "keep: [Inputs, Outputs]"),
    "spad may bypass Inputs": ("keep: [Weights, Inputs, Outputs]", "keep: [Weights, Outputs]"),
    "spad may bypass Outputs": ("keep: [Weights, Inputs, Outputs]", "keep: [Weights, Inputs]"),
    "uneven placement at buffer": ("multiple_buffering: 2", "multiple_buffering: 2\n    placement: uneven"),
    "uneven placement at spad": ("depth: 16", "depth: 16\n    placement: uneven"),
}  # fmt: skip


def machine(tmp_path, before="", after=""):
    """The machine of MACHINE, from a file in which one text is replaced."""
    assert not before or MACHINE.count(before) == 1
    path = tmp_path / "toy.yaml"
    path.write_text(MACHINE.replace(before, after) if before else MACHINE)
    return load_arch(path)


def answer_of(tmp_path, workload=CONV, mapspace="ruby-s", **options):
    """The result of a proof, and its neighbours by change."""
    with a_poor_beginning():
        result = explore(machine(tmp_path), workload, mapspace, replace(PROOF, **options))
        answer = why(result, PROOF)
    return result, answer, {each.change: each for each in answer.neighbours}


@pytest.mark.parametrize("objective", ["edp", "delay"])
def test_equals_the_search_of_a_file_edited_by_hand(tmp_path, objective):
    """Each change of the list, and no other, has the optimum that its own file has, and a mapping with that value."""
    result, answer, neighbours = answer_of(tmp_path, objective=objective)
    assert set(neighbours) == set(EDITS)
    for number, (change, (before, after)) in enumerate(EDITS.items()):
        mapspace = change.split()[1] if change.startswith("mapspace") else "ruby-s"
        neighbour = neighbours[change]
        assert neighbour.optimal, change
        if DEEP or number % 2 == (objective == "delay"):  # by default each file is searched by one of the objectives
            with a_poor_beginning():
                alone = explore(machine(tmp_path, before, after), CONV, mapspace, replace(PROOF, objective=objective))
            assert alone.optimal, change
            assert neighbour.value == pytest.approx(getattr(alone, COLUMN[objective]))
        assert neighbour.value <= answer.value * (1 + 1e-9)
        assert answer.ratio(neighbour) == neighbour.value / answer.value
        again = evaluate(neighbour.batch.arch, CONV, neighbour.batch, table=result.table)
        assert not again.hint
        assert getattr(again, COLUMN[objective]) == pytest.approx(neighbour.value)
    values = [each.value for each in answer.neighbours]
    assert values == sorted(values)
    assert values[0] < answer.value == getattr(result, COLUMN[objective])


def test_each_change_is_the_file_edited_by_hand(tmp_path):
    """Nothing else of the machine differs; remainders are those of the mapspace that the change names."""
    for change in changes(Mapspace(machine(tmp_path), CONV, "ruby-s")):
        edited = machine(tmp_path, *EDITS[change.text])
        assert change.arch == edited, change.text
        preset = change.text.split()[1] if change.text.startswith("mapspace") else "ruby-s"
        changed = Mapspace(change.arch, CONV, change.remainders)
        assert changed.remainders == Mapspace(edited, CONV, preset).remainders, change.text


@settings(max_examples=300 if DEEP else 3)
@given(constrained_problems())
def test_equals_the_best_of_every_mapping_of_the_changed_machine(problem):
    """On random small problems; no change makes the best mapping worse, but where a larger array has longer wires."""
    space, table, objective, costs = problem
    options = replace(PROOF, objective=objective)
    with a_poor_beginning():
        result = explore_layer(Task.of(space, table, options, costs))
        assume(result.found)
        preset = space.reason.split()[-1]
        result = replace(result, search=replace(result.search, mapspace=preset))
        answer = why(result, options)
    neighbours = {each.change: each for each in answer.neighbours}
    listed = changes(Mapspace(space.arch, space.workload, space.remainders))
    assert sorted(neighbours) == sorted(change.text for change in listed)
    for change in listed:
        changed = Mapspace(change.arch, space.workload, change.remainders, distinct=True)
        assert changed.size.total >= space.size.total
        if changed.size.total > MOST:
            continue
        found = neighbours[change.text]
        energies = stacked_table(as_it_was(table, space.arch, change.arch), changed.arch)
        assert found.optimal, change.text
        least = best_of_all(changed, energies, objective, costs)
        assert found.value == pytest.approx(least, rel=1e-8), change.text
        assert values_of(found.batch, energies, objective, costs)[0] == pytest.approx(least, rel=1e-8)
        if not (costs.has_interconnect and "places" in change.text):
            assert found.value <= answer.value * (1 + 1e-9), change.text


@settings(max_examples=300 if DEEP else 10)
@given(constrained_problems())
def test_every_mapping_stays(problem):
    """A changed mapspace has every mapping of the mapspace, and what was valid is valid."""
    space, *_ = problem
    sample = space.sample(np.random.default_rng(0), 50)
    valid = validity(sample) == 0
    for change in changes(space):
        every = Mapspace(change.arch, space.workload, change.remainders)
        if every.arch.stacks == space.arch.stacks:
            batch = replace(sample.own(), arch=every.arch)
            assert len(every.index(replace(batch, order=batch.order))) == len(batch)
            assert (validity(batch)[valid] == 0).all()
        else:
            for i in range(0, len(sample), 10):
                batch = moved(sample.take([i]), every)
                assert 0 <= every.index(batch)[0] < every.size.total
                assert (validity(batch) == 0) >= valid[i]


def test_leakage_and_energies_stay(tmp_path):
    """All instances together leak as much as those of the machine as it is; energies per access are its own."""
    arch = machine(tmp_path)
    table = energy_table(arch)
    for change in changes(Mapspace(arch, CONV, "ruby-s")):
        held = as_it_was(table, arch, change.arch)
        for i, (before, after) in enumerate(zip(table.levels, held.levels, strict=True)):
            assert (after.read_pj, after.write_pj, after.update_pj) == (
                before.read_pj,
                before.write_pj,
                before.update_pj,
            )
            leaks = before.leak_pj_per_cycle * arch.instances(i)
            assert after.leak_pj_per_cycle * change.arch.instances(i) == pytest.approx(leaks)
        leaks = table.compute.leak_pj_per_cycle * arch.instances(3)
        assert held.compute.leak_pj_per_cycle * change.arch.instances(3) == pytest.approx(leaks)


@pytest.mark.parametrize(
    ("mapspace", "more"),
    [("pfm", ["ruby", "ruby-s", "ruby-t"]), ("ruby-s", ["ruby"]), ("ruby-t", ["ruby"]), ("ruby", [])],
)
def test_mapspaces_are_those_with_more_remainders(mapspace, more):
    """What the present mapspace lacks, each once."""
    space = Mapspace(load_arch("toy_6pe"), SMALL, mapspace)
    assert sorted(each.text for each in changes(space) if each.text.startswith("mapspace")) == [
        f"mapspace {name}" for name in more
    ]


def test_the_same_answer_for_any_number_of_processes():
    """Changes searched side by side."""
    result = explore("toy_6pe", SMALL, "pfm", PROOF)
    one, two = (why(result, replace(PROOF, jobs=jobs)) for jobs in (1, 2))
    assert str(one) == str(two)
    assert [each.value for each in one.neighbours] == [each.value for each in two.neighbours]


def test_ctrl_c_leaves_what_is_known(tmp_path):
    """The changes that are done are there, the others are named."""
    result = explore(machine(tmp_path), CONV, "ruby-s", PROOF)

    def interrupt(done, number, text):
        if done == 3:
            raise KeyboardInterrupt

    answer = why(result, PROOF, interrupt)
    assert 3 <= len(answer.neighbours) < len(EDITS)
    assert {each.change for each in answer.neighbours} | set(answer.left) == set(EDITS)
    assert f"not tried: {answer.left[0]}" in str(answer)


def test_bad_input_is_refused(tmp_path):
    """Networks, mappings that were not searched for, layers without a mapping; with every fault of the options."""
    network = explore("toy_6pe", "alexnet", "pfm", SearchOptions(strategy="random", samples=1000))
    with pytest.raises(InputError, match="one layer") as error:
        why(network, SearchOptions(jobs=0))
    assert len(error.value.faults) == 2
    result = explore(machine(tmp_path), CONV, "ruby-s", SearchOptions(strategy="random", victory=10))
    with pytest.raises(InputError, match="evaluated"):
        why(evaluate(result.arch, CONV, result))


def test_a_result_without_a_proof_says_so():
    """A gain may then be one that the search missed."""
    result = explore("toy_6pe", SMALL, "ruby-s", SearchOptions(strategy="random", samples=200))
    assert "nothing is proven of it" in str(why(result, PROOF))


@pytest.mark.parametrize("steps", [1000, 3000, 10_000])
def test_proofs_that_end_before_all_choices_are_bounded(steps):
    """The progress of a proof has a line for that, too."""
    options = SearchOptions(effort=f"mappings=300,steps={steps}")
    found = explore("toy_6pe_linear", "rank1_100", "ruby-s", options)
    assert why(found, options).neighbours


# Hints


@settings(max_examples=300 if DEEP else 15)
@given(constrained_problems())
def test_what_an_axis_can_hold(problem):
    """An axis can hold a dim exactly if some mapping has it there."""
    space, *_ = problem
    bounds = np.max([batch.factors.max(axis=0) for batch in space.batches()], axis=0)  # (slot, dim)
    for slot in range(len(space.arch.slots)):
        for d in range(len(space.workload.dims)):
            assert can_hold(space, slot, d) == (bounds[slot, d] > 1)


def test_depthwise_layers_get_a_hint(tmp_path):
    """The groups are named where no axis can hold them, and the use of each axis."""
    path = tmp_path / "few.yaml"
    path.write_text(MACHINE.replace(", min_utilization: 0.5", "").replace('factors: ["C=1"]', "dims: [P, C]"))
    result = explore(path, DEPTHWISE, "ruby-s", PROOF)
    used = [int(np.prod(result.batch.factors[0, slot])) for slot in (2, 3)]
    share = f"{result.utilization:.1%} of the MAC units busy"
    assert result.hint == (
        f"{share}: no axis can hold G=12, Q=6, R=3, S=3; column uses {used[0]} of 4 (can hold no dim of this layer); "
        f"row uses {used[1]} of 3 (can hold P)"
    )
    assert f"hint         {share}" in str(result)
    assert result_json(result)["hint"] == result.hint
    network = explore(path, Network("net", ((DEPTHWISE, 2), (CONV, 1))), "ruby-s", PROOF)
    assert str(network).count(f"by {DEPTHWISE.name}\n") == 1


@pytest.mark.parametrize("workload", ["resnet50/conv3_x_3x3", "mobilenet_v2/block5_depthwise"])
def test_no_hint_where_the_array_is_in_use(workload):
    """Nor where an axis can hold the groups."""
    result = explore("eyeriss_like", workload, "ruby-s", SearchOptions(strategy="evolve", samples=20_000))
    assert result.utilization >= FEW
    assert not result.hint


def test_a_machine_without_axes_gets_no_hint():
    """There is nothing to say of them."""
    space = Mapspace(load_arch("linear_5", {"pes": 1}), DEPTHWISE, "ruby-s")
    result = explore(space.arch, DEPTHWISE, "ruby-s", SearchOptions(strategy="random", samples=200))
    assert idle_hint(space, result.mapped) == ""
