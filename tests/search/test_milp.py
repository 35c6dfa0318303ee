"""One shot by mixed-integer programmes: tangents bound sums, solutions are mappings, and they are near the best."""

import itertools
import os
from math import exp, log, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, validity
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.searchers.milp import one_shot
from ruby_map.mapper.searchers.milp.candidates import Candidates
from ruby_map.mapper.searchers.milp.factors import primes
from ruby_map.mapper.searchers.milp.log_sums import LogSum, Product, Window
from ruby_map.mapper.searchers.milp.one_shot import fullest, kept_choices
from ruby_map.mapper.searchers.milp.programme import Form, Programme
from ruby_map.mapper.searchers.milp.roundings import raised, rounded_up
from ruby_map.mapper.searchers.milp.rounds import Rounds
from ruby_map.mapper.searchers.option_faults import option_faults
from ruby_map.mapper.searchers.start import search
from ruby_map.workloads import load_workload

from ..conftest import DEEP
from ..small_problems import best_of_all, constrained_machines, problems, values_of


def solved(space, table, costs=None, **options):
    """The outcome of a search by programmes."""
    return search(
        Task.of(space, table, SearchOptions(strategy="milp", **options), *([costs] if costs else [])), Observers()
    )


def layer(arch, name, mapspace="pfm"):
    machine = load_arch(arch)
    return Mapspace(machine, load_workload(name), mapspace), energy_table(machine)


def last_round(task, keep, most=8):
    """The programme of a choice after some rounds, its last solution # (slot, dim), and that as a point."""
    rounds, points = Rounds(task, keep, [[size] for size in task.space.workload.sizes]), []
    solve = rounds.programme.solve

    def kept(goal, seconds):
        points.append(solve(goal, seconds))
        return points[-1]

    rounds.programme.solve = kept
    for _ in range(most):
        bounds = rounds.solve(10.0)
        if rounds.over:
            break
    return rounds, bounds, points[-1].point


@given(st.integers(1, 10**6))
def test_primes_multiply_to_the_number(number):
    """And none of them can be divided."""
    found = primes(number)
    assert prod(prime**many for prime, many in found.items()) == number
    assert all(prime % factor for prime in found for factor in range(2, min(prime, 1001)))


@settings(max_examples=30)
@given(st.lists(st.integers(-5, 5), min_size=6, max_size=6), st.integers(1, 12), st.integers(-9, 0))
def test_a_programme_is_solved_to_the_least_of_all_points(factors, most, least):
    """Of whole numbers within the limits of variables and rows; None where no point is."""
    programme = Programme()
    x, y, z = (programme.variable(0, 3, whole=True) for _ in range(3))
    row, goal = x * factors[0] + y * factors[1] + z * factors[2], x * factors[3] + y * factors[4] + z * factors[5]
    programme.require(row + 1.0, least, most)
    points = [np.array(point, float) for point in itertools.product(range(4), repeat=3)]
    values = [goal.at(point) for point in points if least <= row.at(point) + 1 <= most]
    found = programme.solve(goal, 10.0).point
    if not values:
        assert found is None
    else:
        assert goal.at(found) == pytest.approx(min(values), abs=1e-3)


coordinates = st.lists(st.floats(0, 8), min_size=3, max_size=3).map(np.array)


@given(coordinates, coordinates, st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=4))
def test_tangents_and_floors_of_a_sum_are_bounds_below_it(at, point, powers):
    """A tangent touches where it was taken; all by the sum itself."""
    some = LogSum([Product(Form(dict(enumerate(map(float, own))), 0.5)) for own in powers])

    def value(x):
        return log(sum(exp(0.5 + sum(p * c for p, c in zip(own, x.tolist(), strict=True))) for own in powers))

    assert some.at(point) == pytest.approx(value(point))
    assert some.tangent(at).at(at) == pytest.approx(value(at))
    for form in (some.tangent(at), *some.floors()):
        assert form.at(point) <= value(point) + 1e-9


@given(coordinates, st.integers(1, 4), st.integers(1, 4))
def test_the_floors_of_a_window_are_below_it(point, stride, dilation):
    """Its tangent has its value."""
    window = Window(((stride, Form({0: 1.0})), (dilation, Form({1: 1.0}))))
    length = 1 + stride * (exp(point[0]) - 1) + dilation * (exp(point[1]) - 1)
    assert exp(window.tangent(point).at(point)) == pytest.approx(length)
    assert all(exp(form.at(point)) <= length * (1 + 1e-9) for form in Product(Form(), (window,)).floors())


@settings(max_examples=25 if DEEP else 12)
@given(problems(constrained_machines()))
def test_a_solution_is_a_perfect_mapping_within_all_limits(problem):
    """Of bounds and of what dims share; only a tile may not fit, before there are tangents."""
    space, table, objective, costs = problem
    assume(not space.keep_choices.stacks)
    keep = space.every_keep()[0]
    _, bounds, _ = last_round(Task.of(space, table, SearchOptions(objective=objective), costs), keep, 1)
    assume(bounds is not None)
    assert bounds.prod(axis=0).tolist() == list(space.workload.sizes)
    candidates = Candidates(Task.of(space, table, SearchOptions(), costs))
    batch = candidates._arranged(candidates._individuals(bounds[None], keep), keep)
    assert 0 <= space.index(batch)[0] < space.size.total
    assert validity(batch)[0] in (0, 1)  # valid, or a memory overflows


@pytest.mark.parametrize(("arch", "name"), [("simba_like", "conv4_x_1x1a"), ("eyeriss_like", "conv5_x_1x1b")])
def test_without_windows_the_figures_of_a_programme_are_nearly_those_of_the_model(arch, name):
    """Cycles exactly; energy within a tenth: whether a partial sum is read again is a matter of yes or no."""
    space, table = layer(arch, f"resnet50/{name}")
    task, keep = Task.of(space, table, SearchOptions()), space.every_keep()[0]
    rounds, bounds, point = last_round(task, keep)
    candidates = Candidates(task)
    costs = evaluate(candidates._arranged(candidates._individuals(bounds[None], keep), keep), table)
    (steps, _), (energy, _) = rounds.traffic.sums
    assert exp(steps.at(point)) == pytest.approx(costs.cycles[0])
    assert exp(energy.at(point)) == pytest.approx(costs.energy_pj[0], rel=0.1)


@settings(max_examples=25 if DEEP else 12)
@given(problems())
def test_a_perfect_mapping_is_found_where_there_is_one(problem):
    """Mostly the best, and not three times as bad: windows and orders are approximated."""
    space, table, objective, costs = problem
    space = Mapspace(space.arch, space.workload, "pfm", distinct=True)
    assume(not space.imperfect)
    least = best_of_all(space, table, objective, costs)
    found = solved(space, table, costs, objective=objective)
    assert (found.best is None) == np.isinf(least)
    if found.best is not None:
        assert least <= values_of(found.best, table, objective, costs)[0] * (1 + 1e-9) <= least * 3 + 1e-9


@pytest.mark.parametrize(("arch", "name", "mapspace", "best"), [
    ("eyeriss_like", "conv5_x_1x1b", "pfm", 2.1483e14), ("eyeriss_like", "conv4_x_3x3", "pfm", 4.7591e14),
    ("simba_like", "conv5_x_1x1b", "pfm", 1.3462e14),
])  # fmt: skip
def test_layers_of_resnet_50_are_mapped_as_well_as_proven_possible(arch, name, mapspace, best):
    """The optima are those of `--search optimal`."""
    found = solved(*layer(arch, f"resnet50/{name}", mapspace))
    assert found.statistics.ended == (Ended.SOLVED,)
    assert found.statistics.trace[-1][1] == pytest.approx(best, rel=1e-2)


def test_axes_are_filled_where_bounds_need_not_divide():
    """100 outputs on 6 elements: perfect factors use 5, rounded up and raised ones 6."""
    for mapspace, cycles in (("pfm", 20), ("ruby-s", 17), ("ruby", 17)):
        found = solved(*layer("toy_6pe_linear", "rank1_100", mapspace), objective="delay")
        assert found.statistics.trace[-1][1] == cycles


@given(st.integers(1, 5000))
def test_sizes_are_rounded_up_to_small_primes(size):
    """The first is the size itself."""
    first, *above = rounded_up(size)
    assert first == size
    assert above == sorted(set(above))
    assert all(size < n <= 1.25 * size and max(primes(n)) <= 7 for n in above)


@settings(max_examples=50)
@given(problems(), st.integers(0, 10**6))
def test_raised_bounds_fill_an_axis_and_no_more(problem, number):
    """The first is the mapping itself, and each other differs at axes with remainders alone."""
    space = problem[0]
    (bounds,) = space[number % space.size.total].factors
    assume(all(bounds[s].prod() <= slot.axis.size for s, slot in enumerate(space.arch.slots) if slot.axis))
    some = raised(space, bounds)
    np.testing.assert_array_equal(some[0], bounds)
    for s, slot in enumerate(space.arch.slots):
        if slot.axis is None or not space.remainders[s]:
            np.testing.assert_array_equal(some[:, s], np.repeat(bounds[None, s], len(some), axis=0))
        else:
            assert (some[:, s].prod(axis=1) <= slot.axis.size).all()
            assert ((some[:, s] > bounds[s]).sum(axis=1) <= 1).all()


@settings(max_examples=40)
@given(problems())
def test_the_fullest_choice_keeps_all_that_fits(problem):
    """It is a choice of the mapspace; with few choices each has a programme."""
    space = problem[0]
    keep = fullest(space)
    assert any((keep == one).all() for one in space.every_keep())
    assert len(kept_choices(space, space.keep_choices.number)) == space.keep_choices.number
    if space.keep_choices.number > 1:
        (one,) = kept_choices(space, 1)
        np.testing.assert_array_equal(one, keep)
    for level, v in space.keep_choices.free.tolist():
        storage = space.arch.levels[level]
        if storage.capacity_bits is None:
            assert keep[level, v]


def test_nothing_is_printed(capfd):
    """Though HiGHS has a print left in, which this layer meets."""
    solved(*layer("simba_like", "resnet50/conv5_x_1x1b"))
    os.write(1, b"after")
    assert capfd.readouterr() == ("after", "")


def test_a_time_limit_ends_it_between_solutions():
    """And Ctrl-C, both with the best so far."""
    space, table = layer("simba_like", "resnet50/conv5_x_1x1b")
    found = solved(space, table, time_limit=0.001)
    assert found.statistics.ended == (Ended.TIME_LIMIT,)

    def interrupt(recorder):
        raise KeyboardInterrupt

    options = SearchOptions(strategy="milp")
    found = search(Task.of(space, table, options), Observers(interrupt))
    assert found.statistics.ended == (Ended.INTERRUPTED,)
    assert found.best is not None


def test_a_solution_that_takes_too_long_is_told():
    """The answer may then depend on the machine."""
    space, table = layer("simba_like", "resnet50/conv4_x_3x3")
    found = solved(space, table, settings="seconds=0.01,rounds=3")
    assert found.statistics.ended == (Ended.CUT_OFF,)


def test_settings_are_checked_and_scipy_is_asked_for(monkeypatch):
    """Every fault at once."""
    monkeypatch.setattr(one_shot, "find_spec", lambda name: None)
    faults = option_faults(SearchOptions(strategy="milp", settings="rounds=0,seconds=x,chains=3"))
    assert [str(fault) for fault in faults] == [
        f"search: {one_shot.MISSING}",
        'settings: must be one of rounds, seconds, choices; got "chains"; did you mean "choices"?',
        "settings: rounds must be at least 1, got 0",
        'settings: seconds must be a number, got "x"',
    ]
