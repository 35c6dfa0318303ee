"""The policy of a proof: what it chooses in made-up states, and that it reads the state and nothing else."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.proof.policy import (
    ALONE,
    DIVES,
    EVOLVED,
    MOST_TIMES,
    Bound,
    Branch,
    Dive,
    End,
    Form,
    GiveUp,
    Open,
    Round,
    Standing,
    Unfold,
    evolves,
    halves,
    next_action,
    takes_long,
)
from ruby_map.mapper.search.outcome import STEPS_A_MAPPING, Ended


@dataclass(frozen=True)
class Choice:
    """A choice of kept tensors that is nothing but what the policy sees of it."""

    form: Form
    has_rounds: bool = True
    opened: int = 0


WIDE, FOLDED, WHOLE, OPEN, PARTS = map(Choice, Form)
DIVIDES = {FOLDED: Unfold, WHOLE: Branch, PARTS: Round}


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (Standing(unbounded=True), Bound()),
        (Standing(OPEN, unbounded=True, used_up=True, root_only=True), Bound()),  # its work meets the limit itself
        (Standing(OPEN, unbounded=True, cannot_finish=True), GiveUp(Ended.TOO_SHORT)),
        (Standing(OPEN, root_only=True), End(Ended.ROOT_ONLY)),
        (Standing(), End()),
        (Standing(OPEN, used_up=True), End()),
        (Standing(WIDE), GiveUp(Ended.TOO_MANY_CHAINS)),
        (Standing(FOLDED), Unfold(FOLDED)),
        (Standing(WHOLE, divisions=2), Branch(WHOLE)),
        (Standing(PARTS, divisions=2), Round(PARTS)),
        (Standing(OPEN), Open(OPEN)),
        (Standing(OPEN, divisions=2), Open(OPEN)),
        (Standing(OPEN, divisions=DIVES), Dive(OPEN)),
        (Standing(OPEN, divisions=DIVES + 1), Open(OPEN)),
        (Standing(OPEN, divisions=3 * DIVES), Open(OPEN)),
        (Standing(OPEN, divisions=4 * DIVES), Dive(OPEN)),
        (Standing(OPEN, divisions=DIVES // 2), Open(OPEN)),
    ],
)
def test_what_comes_next(state, action):
    """Each action where its reason holds."""
    assert next_action(state) == action


STATES = st.builds(
    Standing,
    st.none() | st.builds(Choice, st.sampled_from(Form), st.booleans(), st.integers(0, 2 * ALONE)),
    unbounded=st.booleans(),
    cannot_finish=st.booleans(),
    root_only=st.booleans(),
    used_up=st.booleans(),
    divisions=st.integers(1, 10_000),
)


@given(STATES)
def test_every_state_has_one_action(state):
    """The same at every call, about the choice of the state; nothing ends while it is not bounded."""
    action = next_action(state)
    assert action == next_action(replace(state))
    assert getattr(action, "choice", state.first) == state.first
    assert isinstance(action, Bound | GiveUp) == (state.unbounded or action == GiveUp(Ended.TOO_MANY_CHAINS))
    if not (state.unbounded or state.root_only or state.used_up) and state.first is not None:
        expected = DIVIDES.get(Choice(state.first.form), object)
        assert isinstance(action, expected)


@given(st.integers(0, 10**9))
def test_evolution_has_its_share_of_the_steps_and_no_more(steps):
    """However long a proof takes."""
    mappings = 0
    while evolves(mappings, steps):
        mappings += max(1024, steps // 10_000)
    most = EVOLVED * steps / STEPS_A_MAPPING
    assert most <= mappings <= most + max(1024, steps // 10_000)


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 1), st.floats(0, 1)), max_size=50))
def test_halving_and_rounds_both_go_on(turns):
    """Neither waits for ever, whatever their gaps; that with the lower gap has at least half of the steps."""
    of_halving = of_rounds = 0
    for of_turn, of_halves, gap, gap_of_rounds in turns:
        of_rounds += of_turn
        while halves(of_halving, of_rounds, gap, gap_of_rounds):
            of_halving += of_halves
        assert of_halving >= of_rounds * (1 if gap <= gap_of_rounds else 1 / MOST_TIMES)
        assert not halves(max(of_halving, of_rounds * MOST_TIMES), of_rounds, gap, gap_of_rounds)


def test_of_halving_and_rounds_the_one_with_the_lower_gap_has_more_steps():
    """As the inverse squares: with 15 % beside 20 % it has 1.78 times as many."""
    assert halves(1_770_000, 1_000_000, 0.15, 0.2)
    assert not halves(1_780_000, 1_000_000, 0.15, 0.2)
    assert halves(560_000, 1_000_000, 0.2, 0.15)
    assert not halves(570_000, 1_000_000, 0.2, 0.15)
    assert not halves(250_000, 1_000_000, 1.0, 0.0)  # at most four times


@pytest.mark.parametrize(
    ("choice", "long"),
    [
        (Choice(Form.BRANCHING, opened=ALONE), False),
        (Choice(Form.BRANCHING, opened=ALONE + 1), True),
        (Choice(Form.BRANCHING, has_rounds=False, opened=ALONE + 1), False),
    ],
)
def test_when_a_choice_takes_long(choice, long):
    """After so many nodes, with a single objective."""
    assert takes_long(choice) == long
