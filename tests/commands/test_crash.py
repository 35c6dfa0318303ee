"""A crash is no answer: its own status, one line, the traceback in a file; files of SQLite that would never end."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from ruby_map.mapper.commands import ruby_map, ruby_store, run_map
from typer.testing import CliRunner

TOY = ("toy_6pe_linear", "rank1_100", "--search", "random", "--samples", "200")
VIEW = "CREATE VIEW {} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n WHERE i < 0"


def run(app, *arguments):
    return CliRunner().invoke(app.main, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def crashing(monkeypatch, tmp_path):
    """Every search fails as no input should make it fail."""

    def fail(*_, **__):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(run_map, "explored", fail)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("RUBY_MAP_DEBUG", raising=False)
    return tmp_path


def test_a_crash_is_status_70_and_one_line(crashing):
    done = run(ruby_map, *TOY)
    assert (done.exit_code, done.stdout) == (70, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("internal error: ZeroDivisionError: division: please report it with the input and")
    (file,) = crashing.glob("ruby-map-crash-*.txt")
    assert line.endswith(str(file))
    assert "Traceback" in file.read_text()


def test_a_traceback_is_shown_on_request_or_where_no_file_can_be(crashing, monkeypatch):
    monkeypatch.setenv("RUBY_MAP_DEBUG", "1")
    done = run(ruby_map, *TOY)
    assert done.exit_code == 70
    assert "Traceback" in done.stderr
    monkeypatch.delenv("RUBY_MAP_DEBUG")
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: (_ for _ in ()).throw(OSError("full")))
    done = run(ruby_map, *TOY)
    assert done.exit_code == 70
    assert "with RUBY_MAP_DEBUG=1" in done.stderr
    assert not list(crashing.glob("ruby-map-crash-*.txt"))


def test_a_crash_before_the_command_begins_is_one_too(tmp_path):
    """In an import, where no guard is yet."""
    code = "import typer\ndel typer.Typer\nfrom ruby_map.mapper.commands.entry import ruby_map; ruby_map()"
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (70, "")
    assert re.fullmatch(r"internal error: AttributeError: .*\n", done.stderr)


@pytest.mark.parametrize("options", ["--list", "--list --json"])
def test_names_that_are_not_read_are_no_fault(options):
    code = "from ruby_map.mapper.commands.entry import ruby_map; ruby_map()"
    command = f"'{sys.executable}' -c '{code}' {options} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    assert run(ruby_map, *TOY, "--out", place / "found", "--store", place / "store").exit_code == 0
    return place


@pytest.mark.parametrize("kind", ["view", "trigger"])
@pytest.mark.parametrize("what", ["store", "checkpoint"])
def test_a_file_with_a_program_in_it_is_refused(written, tmp_path, what, kind):
    """A view that never ends in the place of each table, a trigger: refused at once, and left as it is."""
    place = shutil.copytree(written, tmp_path / "copy")
    file = place / ("store" if what == "store" else "found/checkpoint.sqlite")
    with sqlite3.connect(file) as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names if kind == "view" else ():
            columns = ", ".join(f"i AS {row[1]}" for row in database.execute(f"PRAGMA table_info({name})"))
            database.execute(f"DROP TABLE {name}")
            database.execute(VIEW.format(name, columns))
        if kind == "trigger":
            database.execute(f"CREATE TRIGGER t AFTER INSERT ON {names[0]} BEGIN DELETE FROM {names[0]}; END")
    database.close()
    before = file.read_bytes()
    for command in (
        [ruby_store, file, "list"] if what == "store" else [ruby_map, *TOY, "--out", file.parent, "--resume"],
        [ruby_map, *TOY, "--store", file] if what == "store" else [ruby_map, *TOY, "--out", file.parent],
    ):
        done = run(*command)
        assert done.exit_code == 2
        assert f"it has a {kind}: " in done.stderr
    assert Path(file).read_bytes() == before
