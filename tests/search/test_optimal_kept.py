"""The certified optimum where there are many choices of what is kept."""

from functools import cache

import pytest
from ruby_map.arch import Architecture, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper import explore
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.bounds.relaxation import Relaxation
from ruby_map.mapper.search.ended import Ended
from ruby_map.mapper.search.evolution import population, populations
from ruby_map.mapper.search.optimal import hindrance
from ruby_map.mapper.search.optimal import optimal as optimal_file
from ruby_map.mapper.search.options import SearchOptions

from ..model.test_cost import matmul
from ..searches import lower_bound, optimal

OPTIMAL = SearchOptions(strategy="optimal", victory=50)


@cache
def problem(free):
    """A small product on a machine whose `free` inner levels may keep what they like."""
    inner = tuple(Storage(f"L{i}", "SRAM", capacity_bits=160) for i in range(1, free + 1))
    arch = Architecture("many", (Storage("L0", "DRAM"), *inner), Compute("MAC", "intmac"))
    figures = tuple(LevelEnergy(x.name, 9.0 - i / 4, 9.0, 9.0, 0.0, 1.0, "given") for i, x in enumerate(arch.levels))
    return Mapspace(arch, matmul(2, 2, 1), "pfm"), EnergyTable(
        "many", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given")
    )


@pytest.mark.parametrize("front", ["", "energy,delay"])
@pytest.mark.parametrize("free", [8, 10])
def test_more_choices_than_can_be_listed(free, front):
    """2^24 choices and more: the mapping found stays, with the ideal bound and the reason; no list of all is made."""
    space, table = problem(free)
    found = explore(
        space.arch, space.workload, "pfm", SearchOptions(strategy="optimal", victory=50, front=front), table=table
    )
    assert found.statistics.stopped_by == f"no proof: more than {hindrance.MOST_KEPT:,} choices of what is kept"
    assert found.found
    assert not found.optimal
    assert 0 < found.lower_bound < found.edp


def test_bound_with_more_choices_than_can_be_listed():
    """The same of the bound of another search, in no time."""
    space, table = problem(10)
    for seconds in (0.0, 5.0):
        found = explore(
            space.arch, space.workload, "pfm", SearchOptions(strategy="random", samples=200, bound=seconds), table=table
        )
        assert found.found
        assert 0 < found.lower_bound < found.edp


def test_as_many_choices_as_can_be_listed(monkeypatch):
    """The limit itself is not too many."""
    space, table = problem(1)
    monkeypatch.setattr(hindrance, "MOST_KEPT", space.size.bypass)
    assert optimal(space, table, OPTIMAL).optimal
    monkeypatch.setattr(hindrance, "MOST_KEPT", space.size.bypass - 1)
    assert optimal(space, table, OPTIMAL).statistics.stopped_by == Ended.TOO_MANY_CHOICES


def test_tells_and_looks_at_the_time_after_each_choice(monkeypatch):
    """Of 512 choices: how many are bounded so far; once time is up no further one is begun."""
    space, table = problem(3)
    best = space[0]
    told, made = [], []
    monkeypatch.setattr(optimal_file.Optimal, "_late", lambda self: len(made) >= 5)
    monkeypatch.setattr(
        Relaxation, "__post_init__", lambda self, real=Relaxation.__post_init__: (made.append(1), real(self))
    )
    found = lower_bound(
        space,
        table,
        SearchOptions(strategy="random", bound=100.0),
        best,
        progress=lambda recorder: told.append(recorder.proven),
    )
    assert told == [f"{n} of 512 choices of what is kept bounded" for n in range(1, len(told) + 1)]
    assert len(told) >= 4
    assert len(made) == 5
    assert found.lower_bound > 0


def test_time_is_used_where_nothing_can_be_proven(monkeypatch):
    """With a limit the evolution goes on until then; without one it ends when new populations bring nothing."""
    monkeypatch.setattr(populations, "SETTLED", 1)
    monkeypatch.setattr(population, "IDLE", 2)
    space, table = problem(10)
    first = optimal(space, table, SearchOptions(strategy="optimal"))
    limit = 2 * first.statistics.seconds + 0.5
    limited = optimal(space, table, SearchOptions(strategy="optimal", time_limit=limit))
    assert limited.statistics.seconds >= limit
    assert limited.statistics.evaluated > first.statistics.evaluated
    assert {first.statistics.stopped_by[:10], limited.statistics.stopped_by[:10]} == {"no proof: "}


@pytest.mark.parametrize("free", [20, 21, 25])
def test_numbers_of_mappings_with_more_choices_than_64_bits(free):
    """3 choices a level: numbers beyond 2^60 come back as they were."""
    space, _ = problem(free)
    assert space.size.bypass == 2 ** (3 * free)
    numbers = [0, 1, space.size.bypass - 1, space.size.total // 3, space.size.total - 1]
    assert space.index(space.at(numbers)) == numbers
