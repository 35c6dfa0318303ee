"""Rows of state on disk are what was written, or are refused: singly, and all of a checkpoint before any is used."""

import sqlite3
from pathlib import Path

import pytest
from ruby_map.mapper.runtime.checkpoint import NAME, Checkpoint
from ruby_map.mapper.runtime.state_file import StateFile
from ruby_map.workloads import InputError, option_fault


def edited(path, statement):
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()


def test_a_row_that_was_changed_is_not_read(tmp_path):
    """A value, the checksum itself, or both rows exchanged; the rows that were not changed are read."""
    file = StateFile(tmp_path / "s.sqlite", "state", "again")
    file.database.execute("CREATE TABLE t (key INTEGER PRIMARY KEY, value TEXT, checksum TEXT)")
    for key, value in enumerate("abc"):
        file.put("t", (key, value))
    file.commit()
    assert file.rows("t") == [(0, "a"), (1, "b"), (2, "c")]
    file.database.execute("UPDATE t SET value = 'x' WHERE key = 1")
    file.database.execute("UPDATE t SET checksum = '0000000000000000' WHERE key = 2")
    with pytest.raises(InputError, match="2 of 3 rows of t do not say what was written"):
        file.rows("t")
    assert file.rows("t", "key = ?", 0) == [(0, "a")]
    file.close()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE search SET state = replace(state, '7', '8') WHERE part = 1", "1 of 2 rows of search"),
        ("UPDATE search SET part = 9 WHERE part = 1", "1 of 2 rows of search"),
        ("UPDATE run SET identity = replace(identity, '1', '2')", "1 of 1 rows of run"),
    ],
)
def test_a_checkpoint_with_a_changed_row_is_refused_whole(tmp_path, statement, what):
    """Also where the row is of a layer that this run would not ask for first; the file stays as it is."""
    with Checkpoint(tmp_path, {"seed": 1}) as checkpoint:
        for number in (0, 1):
            checkpoint.part(number).save({"best": 7, "number": number})
    edited(tmp_path / NAME, statement)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(InputError, match=what):
        Checkpoint(tmp_path, {"seed": 1}, resume=True)
    assert (tmp_path / NAME).read_bytes() == before


def test_what_a_killed_run_left_beside_a_file_goes(tmp_path):
    """A journal that says nothing, as SQLite leaves it before a change began, also where nothing is written after."""
    with Checkpoint(tmp_path, {"seed": 1}):
        pass
    journal = tmp_path / f"{NAME}-journal"
    journal.write_bytes(bytes(512) + bytes(range(256)) * 16)
    with Checkpoint(tmp_path, {"seed": 1}, resume=True):
        pass
    assert not journal.exists()


def test_a_checkpoint_without_a_search_goes_where_the_run_is_refused(tmp_path):
    """And one with a search stays."""

    def refused(*saved):
        with Checkpoint(tmp_path / "out", {"seed": 1}) as checkpoint:
            for state in saved:
                checkpoint.part(0).save(state)
            raise InputError([option_fault("bad", "layer")])

    for saved in ((), ({"best": 7},)):
        with pytest.raises(InputError, match="bad"):
            refused(*saved)
        assert (tmp_path / "out" / NAME).exists() == bool(saved)


def test_folders_that_the_user_made_stay(tmp_path, monkeypatch):
    """Those that were made for the checkpoint go with it; a link to a folder, or the current one, is no fault."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "real")
    for folder in (tmp_path / "link", Path(), tmp_path / "p/q/r"):
        with pytest.raises(InputError, match="bad"), Checkpoint(folder, {"seed": 1}):
            raise InputError([option_fault("bad", "layer")])
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["link", "real"]


def test_more_may_be_given_than_the_run_had(tmp_path):
    """It is part of the run from then on."""
    Checkpoint(tmp_path, {"seed": 1}).close()
    Checkpoint(tmp_path, {"seed": 1, "start": "a"}, resume=True, added=("start",)).close()
    for identity in ({"seed": 1}, {"seed": 1, "start": "b"}, {"seed": 2, "start": "a"}):
        with pytest.raises(InputError, match="another problem"):
            Checkpoint(tmp_path, identity, resume=True, added=("start",))
    Checkpoint(tmp_path, {"seed": 1, "start": "a"}, resume=True, added=("start",)).close()


def test_a_fault_after_the_checkpoint_was_removed_is_told_as_it_is(tmp_path):
    """A run without a mapping removes its checkpoint; what failed beside it, such as a full disk, is the error."""

    def printed_nothing():
        with Checkpoint(tmp_path / "out", {"seed": 1}) as checkpoint:
            checkpoint.discard()
            raise InputError([option_fault("output", "no room")])

    with pytest.raises(InputError, match="no room"):
        printed_nothing()
