"""The picture of the import rule is drawn from the rule, and it is the one in docs/."""

import doctest

import pytest

from . import house_picture
from .house import PARTS, ROOMS
from .house_picture import CONTENTS, PICTURE, Rule, boxes, crosses, floors, picture, reached, reduced, route

TRIANGLE: Rule = {"a": set(), "b": {"a"}, "c": {"a", "b"}}


def test_the_picture_is_what_the_rule_draws() -> None:
    """After a change of the rule: python -m tests.house_picture."""
    assert PICTURE.read_text(encoding="utf-8") == picture(), "draw it again: python -m tests.house_picture"


def test_every_room_and_part_is_in_the_picture_and_says_what_is_in_it() -> None:
    """The frame around the rooms is mapper."""
    assert set(CONTENTS) == {*ROOMS, *PARTS} - {"mapper"}


def test_an_arrow_that_a_longer_way_stands_for_is_left_out() -> None:
    """The transitive reduction: what is reached stays the same."""
    assert reduced(TRIANGLE) == {"a": set(), "b": {"a"}, "c": {"b"}}
    assert reached("c", reduced(TRIANGLE)) == {"a", "b"}


@pytest.mark.parametrize("rule", [PARTS, ROOMS], ids=["parts", "rooms"])
def test_no_arrow_crosses_a_box(rule: Rule) -> None:
    """Each goes down by one floor, past others at their right, or by the lane."""
    box = {each.name: each for each in boxes(floors(rule), "room", 0)}
    for name, below in reduced(rule).items():
        for other in below:
            others = [each for each in box.values() if each.name not in (name, other)]
            points = route(box[name], box[other], others)
            assert not any(crosses(points, each) for each in others), (name, other)


def test_the_examples_of_the_picture_give_what_they_show() -> None:
    """What crosses a box."""
    result = doctest.testmod(house_picture)
    assert result.attempted > 0
    assert result.failed == 0
