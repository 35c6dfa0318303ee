"""Fitted weights are those that were planted, and errors held out are those of fits that did not see them."""

import numpy as np
import pytest
from ruby_map.mapper.calibration import Sample, entered, fitted, held_out, weighted

TRUTH = {"statement": 2e-10, "L1 line": 3e-9}


def samples(noise, number=80, groups=1):
    """Programs whose time is a sum of two terms; two more have nothing to do with it."""
    random = np.random.default_rng(4)
    made = []
    for i in range(number):
        terms = {name: float(10 ** random.uniform(3, 7)) for name in (*TRUTH, "load", "iteration")}
        made.append(Sample(terms, weighted(TRUTH, terms) * float(np.exp(random.normal(0, noise))), str(i % groups)))
    return made


@pytest.mark.parametrize("robust", [False, True])
def test_planted_weights_are_found_and_no_others(robust):
    assert fitted(samples(0.0), robust=robust) == pytest.approx(TRUTH, rel=1e-3)
    noisy = fitted(samples(0.1), robust=robust)
    assert {name: noisy[name] for name in TRUTH} == pytest.approx(TRUTH, rel=0.1)
    assert fitted(samples(0.1), 3, robust) == fitted(samples(0.1), 3, robust)


def test_a_few_that_are_far_off_do_not_decide_a_robust_fit():
    """A tenth of the samples takes 0.3 of the time."""
    every = [
        Sample(own.terms, own.measured * (0.3 if i % 10 == 0 else 1.0)) for i, own in enumerate(samples(0.02, 200))
    ]
    robust = fitted(every, robust=True)
    assert {name: robust.get(name, 0.0) for name in TRUTH} == pytest.approx(TRUTH, rel=0.07)
    squares = fitted(every)
    assert all(abs(squares[name] / weight - 1) > 0.3 for name, weight in TRUTH.items())


def test_terms_are_listed_as_they_came_in_with_errors_that_fall():
    first, second, *_ = entered(samples(0.0))
    assert {first.term, second.term} == set(TRUTH)
    assert first.error > 0.05 > 1e-3 > second.error


def test_errors_held_out_are_of_groups_that_the_fit_did_not_see():
    """Each of two groups has a factor of its own, which no fit to the other knows: it is off by 2, or by 2 / 3."""
    every = [Sample(own.terms, own.measured * (1 + 2 * int(own.group)), own.group) for own in samples(0.0, 80, 2)]
    assert sorted(set(held_out(every, 5).round(3).tolist())) in ([0.667], [2.0], [0.667, 2.0])
    assert np.median(held_out(samples(0.0), 5)) < 1e-3
    assert len(held_out(samples(0.0), 5)) == 5 * 40


def test_held_out_halves_are_the_same_each_time():
    assert held_out(samples(0.3)).tolist() == held_out(samples(0.3)).tolist()


def test_four_samples_of_two_groups_are_enough():
    """Halves of halves may be single samples."""
    every = samples(0.0, 4, 2)
    assert len(held_out(every, 3, robust=True)) == 6
    assert len(held_out(samples(0.0, 4), 3, robust=True)) == 6
    assert fitted(every, robust=True)


def test_of_a_term_that_is_0_in_a_half_nothing_is_said_there():
    """Only the samples of one group have it: a fit to the others gives it no weight, and no error is not a number."""
    every = samples(0.05, 60, 3)
    every = [
        Sample({**own.terms, "rare": 1e5 * (own.group == "2")}, own.measured + 1e-3 * (own.group == "2"), own.group)
        for own in every
    ]
    for robust in (False, True):
        entries = entered(every, 0, robust)
        assert np.isfinite([value for entry in entries for value in (entry.weight, entry.error)]).all()
        assert np.isfinite(held_out(every, 5, robust)).all()
        assert max(entry.weight for entry in entries) < 1
