"""The file of a store: several writers, kills, and everything that can be wrong with it."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest
from ruby_map.mapper.runtime.checkpoint import NAME, Checkpoint
from ruby_map.mapper.store import MappingSource, Store, file, store_faults
from ruby_map.mapper.store.read import BEST
from ruby_map.workloads import InputError

from .test_store import drawn, toy

WRITER = """
import sys
from tests.store.test_store import drawn, toy
from ruby_map.mapper.store import MappingSource, Store
first, last = map(int, sys.argv[2:4])
batch = drawn(60)
with Store(sys.argv[1]) as store:
    print("ready", flush=True)
    for i in range(first, last):
        store.add(toy(), batch.take([i]), MappingSource(f"from {first}"))
        print(i, flush=True)
"""
HALF = """
import sys, time
from tests.store.test_store import drawn, toy
from ruby_map.mapper.store import MappingSource, Store
store = Store(sys.argv[1])
store.add(toy(), drawn(3), MappingSource("whole"))
with store.writing() as database:
    database.execute("PRAGMA cache_size = 1")
    for i in range(2000):
        database.execute("INSERT INTO mapping (problem, key, content, value, next_value, costs, date) "
                         "VALUES (1, ?, ?, 0, 0, '{}', '')", (str(i), "x" * 500))
    print("half", flush=True)
    time.sleep(60)
"""


def begun(code, *arguments):
    """A process that runs `code` with the tests at hand."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


def test_two_writers_at_once_lose_nothing(tmp_path):
    """Also where both make the file; what both add is there once, from both."""
    path = tmp_path / "s"
    writers = [begun(WRITER, path, *span) for span in ((0, 40), (20, 60))]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    with Store(path) as store:
        rows = store.rows(toy())
        assert len(rows) == 60
        assert sorted(len(row.origins) for row in rows) == [1] * 40 + [2] * 20
        assert store.file.database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_killed_while_it_writes_a_store_has_all_that_was_added(tmp_path):
    """kill -9 at some moment: each row that was told is there, and each row that is there is sound."""
    path = tmp_path / "s"
    writer = begun(WRITER, path, 0, 60)
    told = [next(writer.stdout).strip() for _ in range(12)]
    writer.send_signal(signal.SIGKILL)
    told += writer.stdout.read().split()
    writer.wait()
    with Store(path) as store:
        assert len(store.checked(toy(), -1)) >= len(told) - 1
    assert begun(WRITER, path, 0, 60).wait(120) == 0


def test_killed_within_a_transaction_a_store_has_what_was_there_before(tmp_path):
    """The file has been written to, its lock is that of a dead process: the next to open it takes the half back."""
    path = tmp_path / "s"
    writer = begun(HALF, path)
    assert next(writer.stdout) == "half\n"
    assert (tmp_path / "s-journal").stat().st_size
    grown = path.stat().st_size
    writer.kill()
    writer.wait()
    with Store(path) as store:
        assert len(store.rows(toy())) == 3
        store.add(toy(), drawn(5), MappingSource("hand"))
        assert len(store.rows(toy())) == 5
        assert path.stat().st_size < grown
    assert os.listdir(tmp_path) == ["s"]


def test_a_store_in_use_is_waited_for_and_then_told(tmp_path, monkeypatch):
    """A process that keeps its lock for too long."""
    monkeypatch.setattr(file, "WAIT", 0.1)
    with Store(tmp_path / "s") as one, Store(tmp_path / "s") as other, one.writing():
        with pytest.raises(InputError, match=r"in use by another run for 0.1 s"):
            other.add(toy(), drawn(1), MappingSource("hand"))
        assert other.rows(toy()) == []  # readers do not wait for a writer before it commits


def fault(path, **more):
    with pytest.raises(InputError) as error:
        Store(path, **more)
    assert [str(each) for each in store_faults(path)] == [str(each) for each in error.value.faults]
    return str(error.value)


def test_files_that_are_no_store_are_refused_and_left_as_they_are(tmp_path):
    """A text, another SQLite file, another version, a folder, a folder that is missing."""
    path = tmp_path / "s"
    assert "is a folder" in fault(tmp_path)
    path.write_text("no database, but a text that is long enough to be looked at" * 9)
    before = path.read_bytes()
    assert "is no store, or damaged (file is not a database)" in fault(path)
    assert path.read_bytes() == before
    path.unlink()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE other (x)")
    database.close()
    assert "is an SQLite file, but no store" in fault(path)
    path.unlink()
    with Store(path) as store:
        store.file.database.execute("PRAGMA user_version = 9")
    assert "is a store of format 9, and this version of ruby-map reads format 1" in fault(path)
    with pytest.raises(InputError, match="cannot be opened or written"):
        Store(tmp_path / "missing" / "s")
    assert "cannot be made" in str(store_faults(tmp_path / "missing" / "s")[0])
    with pytest.raises(InputError, match="no such store"):
        Store(tmp_path / "none", new=False)
    assert not (tmp_path / "none").exists()
    assert store_faults(tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_file_beside_a_store_is_not_sqlites_by_its_name(tmp_path, ending):
    """It would be taken for a part of the store, and removed; also beside a store that is not there yet, and beside a
    checkpoint. One of SQLite's own is no fault."""
    path, beside = tmp_path / "s", tmp_path / f"s{ending}"
    for there in (False, True):
        beside.write_text("mine")
        for new in (True, False):
            if new or there:
                with pytest.raises(InputError, match="is not SQLite's, which would remove it"):
                    Store(path, new=new)
        assert beside.read_text() == "mine"
        beside.write_bytes(b"")
        Store(path).close()
    (tmp_path / f"{NAME}{ending}").write_text("mine")
    with pytest.raises(InputError, match="is not SQLite's, which would remove it"):
        Checkpoint(tmp_path, {})


def test_a_damaged_store_is_told(tmp_path):
    """Pages, and rows that do not say what was written."""
    path = tmp_path / "s"
    with Store(path) as store:
        store.add(toy(), drawn(50), MappingSource("hand"))
    shutil.copy(path, tmp_path / "t")
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\xff" * (len(content) - 12288)
    path.write_bytes(content)
    with Store(path) as store, pytest.raises(InputError, match="damaged"):
        store.rows(toy())
    for table, column in (("problem", "content"), ("mapping", "content"), ("mapping", "costs")):
        shutil.copy(tmp_path / "t", path)
        with Store(path) as store:
            with store.writing() as database:
                database.execute(f"UPDATE {table} SET {column} = replace({column}, '1', '2')")
                database.execute(f"UPDATE {table} SET {column} = replace({column}, 'cycles', 'circles')")
            with pytest.raises(InputError, match="damaged"):
                store.problems()


def test_a_file_that_cannot_be_written_is_told_before_a_search(tmp_path):
    """Read-only; it can be read all the same."""
    with Store(tmp_path / "s") as store:
        store.add(toy(), drawn(3), MappingSource("hand"))
        store.file.database.execute("PRAGMA query_only = ON")
        with pytest.raises(InputError, match=r"cannot be opened or written .*readonly.*intact"):
            store.file.check_writable()
        assert len(store.rows(toy())) == 3


def interrupted(store):
    with store.writing() as database:
        database.execute("DELETE FROM store")
        raise KeyboardInterrupt


def test_ctrl_c_within_a_transaction_takes_it_back(tmp_path):
    """And the store goes on."""
    with Store(tmp_path / "s") as store:
        with pytest.raises(KeyboardInterrupt):
            interrupted(store)
        assert store.file.database.execute("SELECT count(*) FROM store").fetchall() == [(1,)]
        store.add(toy(), drawn(1), MappingSource("hand"))


def test_the_best_is_found_by_an_index(tmp_path):
    """Without sorting, however many mappings there are."""
    with Store(tmp_path / "s") as store:
        plan = " ".join(row[3] for row in store.file.database.execute(f"EXPLAIN QUERY PLAN {BEST}", (1, 1)))
    assert "mapping USING INDEX mapping_best (problem=?)" in plan
    assert "SCAN mapping" not in plan
    assert "ORDER BY" not in plan
