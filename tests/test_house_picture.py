"""The picture of the import rule is drawn from the rule, and it is the one in docs/."""

import pytest

from .house import MAY_IMPORT, ROOMS
from .house_picture import CONTENTS, PICTURE, Rule, barred, floors, picture, reached, reduced

TRIANGLE: Rule = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
WALL: Rule = {"a": set(), "b": {"a"}, "c": {"b"}}  # c reaches a through b, and may not import it


def test_the_picture_is_what_the_rule_draws() -> None:
    """After a change of the rule: python -m tests.house_picture."""
    assert PICTURE.read_text(encoding="utf-8") == picture(), "draw it again: python -m tests.house_picture"


def test_every_room_and_part_is_in_the_picture_and_says_what_is_in_it() -> None:
    """The frame around the rooms is mapper."""
    assert set(CONTENTS) == {*ROOMS, *MAY_IMPORT} - {"mapper"}


def test_an_arrow_that_a_longer_way_stands_for_is_left_out() -> None:
    """The transitive reduction: what is reached stays the same."""
    assert reduced(TRIANGLE) == {"a": set(), "b": {"a"}, "c": {"b"}}
    assert reached("c", reduced(TRIANGLE)) == {"a", "b"}


def test_what_the_arrows_reach_and_the_rule_forbids_is_named() -> None:
    """The note below the picture."""
    assert barred(TRIANGLE) == {}
    assert barred(WALL) == {"c": {"a"}}


@pytest.mark.parametrize("rule", [MAY_IMPORT, ROOMS], ids=["parts", "rooms"])
def test_every_arrow_goes_down_by_one_floor(rule: Rule) -> None:
    """So no arrow crosses a box."""
    floor = {name: number for number, row in enumerate(floors(rule)) for name in row}
    assert all(floor[name] == floor[other] + 1 for name, below in reduced(rule).items() for other in below)
