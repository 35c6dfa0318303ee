"""The store of a sweep: what is asked for is read, by its key, and nothing else is kept."""

import sqlite3

import pytest
from ruby_map.mapper import sweep
from ruby_map.mapper.sweeps import optimise, run
from ruby_map.mapper.sweeps.store import FAILED, FOUND, STORE, PointOutcome, Store, open_store
from ruby_map.workloads import InputError

OUTCOME = PointOutcome(FOUND, {"energy_pj": 0.1, "layers": [{"mapping": None}]}, "", ("a warning",), 2.5)
DESIGNED = {
    "architecture": "toy_6pe",
    "workloads": ["rank1_100"],
    "parameters": {"levels.GLB.capacity_bytes": [1024, 2048, 4096], "levels.GLB.width_bits": [16, 32, 64]},
    "minimize": "edp",
}


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path, "a sweep", {}) as made:
        made.add("good", OUTCOME)
        made.add("bad", PointOutcome(FAILED, message="it cannot be made"))
        made.add_bounds("set", {"lower_bound": 1.5, "empty": False, "layers": []})
        yield made


def test_what_was_written_is_read_by_its_key(store):
    """Those that failed are to be tried again."""
    assert (store.outcome("good"), store.outcome("bad"), store.outcome("none")) == (OUTCOME, None, None)
    assert store.outcomes({"good", "bad", "none"}) == {"good": OUTCOME}
    assert store.outcomes(()) == {}
    assert store.bounds("set") == {"lower_bound": 1.5, "empty": False, "layers": []}
    assert store.bounds("good") is None


def test_a_damaged_row_is_told_where_it_is_read(tmp_path, store):
    """By its own key, or with all others; the others can be read one by one."""
    store.add("other", OUTCOME)
    store.file.database.execute("UPDATE points SET outcome = replace(outcome, '0.1', '0.2') WHERE key = 'good'")
    assert store.outcome("other") == OUTCOME
    with pytest.raises(InputError, match="1 of 1 rows of points do not say what was written"):
        store.outcome("good")
    with pytest.raises(InputError, match="1 of 3 rows of points do not say what was written"):
        store.outcomes({"other"})
    store.file.database.execute("UPDATE sets SET bounds = ''")
    with pytest.raises(InputError, match="1 of 1 rows of sets do not say what was written"):
        store.bounds("set")


def test_a_designer_that_goes_on_reads_what_it_asks_for(tmp_path, monkeypatch):
    """Not the points of other designs in the same folder; and it keeps no bounds of sets beside the store."""
    sweep(DESIGNED | {"designer": "random", "name": "one"}, tmp_path / "out")
    database = sqlite3.connect(tmp_path / "out" / STORE)
    (points,) = database.execute("SELECT count(*) FROM points").fetchone()
    database.close()
    few = DESIGNED | {"parameters": DESIGNED["parameters"] | {"levels.GLB.width_bits": [16]}, "name": "one"}
    at_once = sweep(few)
    read, real, optimisers = [], Store.read, []
    monkeypatch.setattr(Store, "read", lambda own, text: read.append(text) or real(own, text))

    def seen(*given, **named):
        optimisers.append(optimise.Optimiser(*given, **named))
        return optimisers[-1]

    monkeypatch.setattr(run, "Optimiser", seen)
    again = sweep(few, tmp_path / "out")
    assert again.answer.json()["best"] == at_once.answer.json()["best"]
    assert 0 < len(read) < points
    (optimiser,) = optimisers
    assert optimiser.trials
    assert not any(done.results for done in optimiser.trials.values())
