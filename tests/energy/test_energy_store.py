"""Estimates kept on disk: found again, never half written, never trusted when damaged."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.energy.store import CacheWarning, Entry, cache_folder

ENTRY = Entry("engine", "1.0", "SRAM", {"width": 64, "banks": 1})
FIGURES = {"read": 0.1 + 0.2, "write": 2.0}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("RUBY_MAP_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_what_is_kept_is_found():
    """Figures come back to the last bit."""
    assert ENTRY.read() is None
    ENTRY.write(FIGURES)
    assert ENTRY.read() == FIGURES


@pytest.mark.parametrize(
    "change", [{"engine": "other"}, {"version": "1.1"}, {"cls": "reg"}, {"attributes": {"width": 64}}]
)
def test_another_question_is_another_entry(change):
    """Engine, version, class and attributes all belong to the question."""
    ENTRY.write(FIGURES)
    assert replace(ENTRY, **change).read() is None


def test_the_order_of_attributes_does_not_matter():
    """The same attributes are the same question."""
    ENTRY.write(FIGURES)
    assert replace(ENTRY, attributes={"banks": 1, "width": 64}).read() == FIGURES


values = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=9), st.none())
attributes = st.dictionaries(st.text(max_size=5), values, max_size=4)


@given(attributes, attributes)
def test_different_attributes_have_different_files(one, other):
    """No two questions share a file."""
    paths = [replace(ENTRY, attributes=each).path() for each in (one, other)]
    assert (paths[0] == paths[1]) == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        '{"figures": {}}',
        "[]",
        "\x00",
        "REPLACE:NaN",
        'REPLACE:"2"',
        "REPLACE:-1",
        "REPLACE:true",
        "[" * 99_999,
    ],
)
def test_a_damaged_file_is_computed_anew_and_said(damage):
    """A file cut short, of another question or with impossible figures counts as none, with a warning naming it."""
    ENTRY.write(FIGURES)
    text = ENTRY.path().read_text()
    instead = damage.removeprefix("REPLACE:")
    ENTRY.path().write_text(text.replace("2.0", instead) if instead != damage else damage)
    with pytest.warns(CacheWarning, match=f"{ENTRY.path().name} is not readable and is computed anew"):
        assert ENTRY.read() is None
    ENTRY.write(FIGURES)
    assert ENTRY.read() == FIGURES


def test_a_file_under_another_name_is_not_trusted():
    """The question stands in the file too."""
    ENTRY.write(FIGURES)
    other = replace(ENTRY, version="2.0")
    os.replace(ENTRY.path(), other.path())
    with pytest.warns(CacheWarning, match="not the estimate that its name says"):
        assert other.read() is None


def test_a_folder_that_cannot_be_written_is_said(folder):
    """Figures are good although they could not be kept."""
    folder.write_text("a file where the folder should be")
    with pytest.warns(CacheWarning, match="estimate not kept in"):
        ENTRY.write(FIGURES)


def test_places(monkeypatch, tmp_path):
    """RUBY_MAP_CACHE, else XDG_CACHE_HOME, else the home's .cache; nothing is kept where RUBY_MAP_CACHE is empty."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "kept"
    monkeypatch.setenv("RUBY_MAP_CACHE", "")
    assert cache_folder() is None
    ENTRY.write(FIGURES)
    assert ENTRY.read() is None
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("RUBY_MAP_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "ruby-map"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / ".cache" / "ruby-map"


WORKER = """
import sys, warnings
from ruby_map.energy.store import CacheWarning, Entry
warnings.simplefilter("error", CacheWarning)
for step in range(60):
    for index in (step % 3, 1000 + 60 * int(sys.argv[1]) + step):  # shared by all processes; this one's own
        entry = Entry("engine", "1.0", "SRAM", {"index": index})
        figures = {f"action{k}": index + k / 7 for k in range(200)}  # anything mixed would show
        assert entry.read() in (None, figures)
        entry.write(figures)
"""


def test_several_processes_at_once(folder):
    """Four processes that write the same and other entries never read a half-written one, and leave no other file."""
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(number)]) for number in range(4)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0, 0]
    for index in (0, 1, 2, *range(1000, 1240)):
        found = replace(ENTRY, attributes={"index": index}).read()
        assert found == {f"action{k}": index + k / 7 for k in range(200)}
    assert len(list(folder.rglob("*.*"))) == 243
