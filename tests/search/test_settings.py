"""Settings of one strategy: read, checked, and refused where there are none."""

from dataclasses import dataclass

import pytest
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.options.settings import Configurable, setting
from ruby_map.mapper.searchers import STRATEGIES
from ruby_map.mapper.searchers.option_faults import option_faults
from ruby_map.workloads import InputError


@dataclass(frozen=True)
class Knobs(Configurable):
    """One setting of each type, and a field that is none."""

    other: int = 0
    chains: int = setting(64, "chains side by side", least=1)
    cooling: float = setting(0.9, "factor of each step", least=0, most=1)
    greedy: bool = setting(False, "take the better always")
    rule: str = setting("rank", "the loss", one_of=("rank", "square"))


def test_settings_are_read_by_the_type_of_their_default():
    assert Knobs().configured("") == Knobs()
    given = "chains=7, cooling = .5,greedy=True,rule=square"
    assert Knobs().configured(given) == Knobs(0, 7, 0.5, True, "square")
    assert list(Knobs.settings()) == ["chains", "cooling", "greedy", "rule"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("chains", 'must be NAME=VALUE, several with commas; got "chains"'),
        ("chain=3", 'must be one of chains, cooling, greedy, rule; got "chain"; did you mean "chains"?'),
        ("other=3", 'must be one of chains, cooling, greedy, rule; got "other"'),
        ("chains=1.5", 'chains must be a whole number, got "1.5"'),
        ("chains=0", "chains must be at least 1, got 0"),
        ("chains=2,chains=3", "gives chains twice"),
        ("cooling=nan", "cooling must be finite, got nan"),
        ("cooling=1.5", "cooling must be 0 to 1, got 1.5"),
        ("greedy=1", 'greedy must be true or false, got "1"'),
        ("rule=cube", "rule must be one of rank, square, got cube"),
    ],
)
def test_every_fault_of_settings_is_told(given, message):
    with pytest.raises(InputError) as raised:
        Knobs().configured(f"{given},=2")
    found, last = raised.value.faults
    assert (found.source, found.message) == ("settings", message)
    assert last.message.startswith('must be one of chains, cooling, greedy, rule; got ""')


@pytest.mark.parametrize("name", ["auto", "random", "exhaustive", "evolve", "optimal"])
def test_a_strategy_without_settings_refuses_them(name):
    options = SearchOptions(strategy=name, settings={"chains": 3})
    assert [(fault.source, fault.message) for fault in option_faults(options)] == [
        ("settings", "the search has none; leave out chains")
    ]
    assert not STRATEGIES[name].configured("").proves or name in ("auto", "optimal")


def test_settings_are_the_same_as_text_and_as_a_mapping():
    """So that equal searches have equal options."""
    assert SearchOptions(settings={"b": 0.5, "a": 1}) == SearchOptions(settings=" b = 0.5,a=1")
    assert [fault.source for fault in option_faults(SearchOptions(settings=3))] == ["settings"]
