"""The picture of the import rule is drawn from the rule, and it is the one in docs/."""

import pytest

from .house import PARTS, ROOMS
from .house_picture import CONTENTS, PICTURE, Rule, barred, boxes, floors, picture, reached, reduced

TRIANGLE: Rule = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
WALL: Rule = {"a": set(), "b": {"a"}, "c": {"b"}}  # c reaches a through b, and may not import it


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


def test_what_the_arrows_reach_and_the_rule_forbids_is_named() -> None:
    """The note below the picture."""
    assert barred(TRIANGLE) == {}
    assert barred(WALL) == {"c": {"a"}}


@pytest.mark.parametrize("rule", [PARTS, ROOMS], ids=["parts", "rooms"])
def test_no_arrow_crosses_a_box(rule: Rule) -> None:
    """Each goes down by one floor, or past floors at the right of all their boxes."""
    rows = floors(rule)
    floor = {name: number for number, row in enumerate(rows) for name in row}
    box = {each.name: each for each in boxes(rows, "room", 0)}
    for name, below in reduced(rule).items():
        for other in below:
            passed = [each for row in rows[floor[other] + 1 : floor[name] + 1] for each in row]
            assert floor[name] == floor[other] + 1 or all(box[each].right < box[other].middle for each in passed)
