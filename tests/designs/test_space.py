"""Sets of a design space: their machines, what these allow as much as, how candidates are divided by kinds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.designs.space import Kind, Space

FIGURE = st.sampled_from([1.0, 2.0, 4.0, np.inf])


@st.composite
def spaces(draw):
    """Up to twelve candidates of up to three kinds in two mapspaces, some of which cannot be made."""
    count, figures = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    made = draw(st.lists(st.sampled_from("abc-"), min_size=count, max_size=count))
    names = [name for name in dict.fromkeys(made) if name != "-"]
    kind = np.array([names.index(name) if name in names else -1 for name in made])
    row, kinds = np.zeros(count, np.int64), []
    for number in range(len(names)):
        rows = np.flatnonzero(kind == number)
        row[rows] = np.arange(len(rows))
        own = st.lists(FIGURE, min_size=figures, max_size=figures)
        values = np.array(draw(st.lists(own, min_size=len(rows), max_size=len(rows))))
        more = np.array(draw(st.lists(st.booleans(), min_size=figures, max_size=figures)))
        kinds.append(Kind((None, None), values, more, np.ones(figures)))
    mapspace = np.array(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    by_machine = np.array(draw(st.lists(st.booleans(), min_size=2, max_size=2)))
    return Space(tuple(kinds), kind, row, np.zeros((count, 1)), (False,), mapspace, by_machine)


@given(space=spaces(), data=st.data())
def test_what_a_set_covers(space, data):
    """Each candidate of its kind and its mapspaces whose figures its machine has at least."""
    made = np.flatnonzero(space.kind >= 0)
    roots = space.roots(made)
    assert [own.tolist() for own in roots] == [
        np.flatnonzero(space.kind == number).tolist() for number in np.unique(space.kind[made])
    ]
    for root in roots:
        rows = np.array(sorted(data.draw(st.sets(st.sampled_from(root.tolist()), min_size=1))))
        kind = space.kinds[space.kind[rows[0]]]
        own = kind.figures[space.row[rows]]
        machine = np.where(kind.more, own.max(axis=0), own.min(axis=0))
        assert kind.relaxed(space.row[rows]).tolist() == machine.tolist()
        figures = kind.figures[space.row[root]]
        within = np.where(kind.more, figures <= machine, figures >= machine).all(axis=1)
        covered = root[within & np.isin(space.mapspace[root], space.mapspace[rows])].tolist()
        alone = len(rows) == 1 and space.by_machine[space.mapspace[rows[0]]]
        assert space.covered(rows).tolist() == (rows.tolist() if alone else covered)
    parts = space.by_mapspace(made)
    assert sorted(row for part in parts for row in part.tolist()) == made.tolist()
    assert all(len({(space.kind[row], space.mapspace[row]) for row in part.tolist()}) == 1 for part in parts)
