"""Nothing is lost and nothing ends in a traceback: inputs, disks, pipes and processes that go wrong."""

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from joblib import wrap_non_picklable_objects
from ruby_map.mapper.commands import after_search, run_map
from ruby_map.mapper.commands import ruby_energy as command_energy
from ruby_map.mapper.commands import ruby_import as command_import
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.mapper.commands import ruby_model as command_model
from ruby_map.mapper.commands import ruby_sweep as command_sweep
from ruby_map.mapper.exploration import explored
from ruby_map.mapper.runtime import checkpoint, signals
from ruby_map.mapper.runtime.parallel import in_order
from ruby_map.mapper.runtime.state_file import StateFile
from ruby_map.mapper.sweeps import run as sweep_output
from ruby_map.mapper.sweeps import run as sweep_run
from ruby_map.mapper.sweeps.run import run_point
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..conftest import DEEP

TOY = ("toy_6pe_linear", "rank1_100")


def run(app, *arguments):
    """Run a command in this process; an exception that it does not handle is a failure of the test."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.mark.parametrize(
    ("mapspace", "status", "words"), [("ruby-s", 0, "D in"), ("auto", 0, "D in"), ("ruby", 2, "tables of more than")]
)
def test_a_dim_of_a_million_millions_is_mapped_or_refused(tmp_path, mapspace, status, words):
    """No array is as long as a dim."""
    (tmp_path / "huge.yaml").write_text("name: h\nshape: rank1\nsizes: {D: 1000000000000}\n")
    done = run(
        command_map.main, TOY[0], tmp_path / "huge.yaml", "--search", "random", "--samples", 500, "--mapspace", mapspace
    )
    assert done.exit_code == status
    assert words in done.output


LONG = "x" * 300
ODD_NAMES = {
    "an architecture": (command_map.main, [LONG, TOY[1]], "no such file"),
    "a workload": (command_map.main, [TOY[0], LONG], "neither a file nor a name"),
    "a workload's file": (command_map.main, [TOY[0], f"{LONG}.yaml"], "File name too long"),
    "a layer of it": (command_map.main, [TOY[0], f"./{LONG}/{LONG}"], "File name too long"),
    "a folder": (command_map.main, [*TOY, "--out", LONG], "File name too long"),
    "a table": (command_map.main, [*TOY, "--ert", LONG], "File name too long"),
    "a mapping": (command_model.main, [*TOY, LONG], "File name too long"),
    "a model": (command_import.main, [LONG], "File name too long"),
    "a network": (command_import.main, ["MODEL", "--out", LONG], "File name too long"),
    "a table to write": (command_energy.main, [TOY[0], "--write-ert", LONG], "File name too long"),
    "a sweep": (command_sweep.main, [LONG], "File name too long"),
    "a sweep's folder": (command_sweep.main, ["SWEEP", "--out", LONG], "File name too long"),
    "nobody's workload": (command_map.main, [TOY[0], "~nosuchuser/x.yaml"], "no home of ~nosuchuser"),
    "nobody's layer": (command_map.main, [TOY[0], "~nosuchuser"], "no home of ~nosuchuser"),
    "a pipe": (command_map.main, [TOY[0], "./PIPE"], "this is a named pipe"),
    "a machine of a pipe": (command_map.main, ["PIPE", TOY[1]], "this is a named pipe"),
    "a model of a pipe": (command_import.main, ["PIPE"], "this is a named pipe"),
    "an endless model": (command_import.main, ["/dev/zero"], "this is a device"),
    "a table over a device": (command_energy.main, [TOY[0], "--write-ert", "/dev/null"], "it is a device"),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to stand in, with a sweep, a pipe and a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "SWEEP").write_text(
        "{architecture: toy_6pe_linear, workloads: [rank1_100], search: {strategy: random, victory: 20}}"
    )
    os.mkfifo(tmp_path / "PIPE")
    onnx = pytest.importorskip("onnx")
    product = onnx.helper.make_node("MatMul", ["A", "B"], ["C"])
    tensors = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 2]) for name in "ABC"]
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([product], "g", tensors[:2], tensors[2:])), "MODEL")
    return tmp_path


@pytest.mark.parametrize("what", ODD_NAMES)
def test_odd_names_are_faults(place, what):
    """Names too long, of nobody, of pipes and devices: status 2, a line that says so, and nothing made."""
    app, arguments, words = ODD_NAMES[what]
    before = sorted(place.rglob("*"))
    done = run(app, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert sorted(place.rglob("*")) == before


WRONG_KINDS = {
    "a shape that is a mapping": (
        "w.yaml",
        "{name: h, shape: {a: 1}, sizes: {D: 10}}",
        'shape: must be text, got {"a": 1}',
    ),
    "a shape that is a list": ("w.yaml", "{name: h, shape: [], sizes: {D: 10}}", "shape: must be text, got []"),
    "a search that is a number": ("s.yaml", "{search: 1000000}", "search: must be a mapping, got 1000000"),
    "tables of nobody": ("s.yaml", "{energy: {ert: ~nosuchuser/e.yaml}}", "energy.ert: ~nosuchuser/e.yaml: no home of"),
    "a sweep's workload of nobody": (
        "s.yaml",
        "{workloads: [~nosuchuser/e.yaml]}",
        "workloads[0]: ~nosuchuser/e.yaml: no home",
    ),
}


@pytest.mark.parametrize("what", WRONG_KINDS)
def test_values_of_another_kind_are_faults(tmp_path, what):
    """Each is told with file, line and path."""
    name, text, words = WRONG_KINDS[what]
    (tmp_path / name).write_text(text)
    app, arguments = (command_map.main, [TOY[0]]) if name == "w.yaml" else (command_sweep.main, [])
    done = run(app, *arguments, tmp_path / name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{name}:1: {words}" in done.stderr


SWEEP = """
architecture: toy_6pe_linear
parameters: {levels.DRAM.word_bits: [8, 16]}
workloads: [rank1_100]
mapspaces: [pfm, ruby-s]
search: {strategy: random, victory: 20}
"""
MAP, SWEEPS = "checkpoint.sqlite", "sweep.sqlite"
EDITS = {
    MAP: {
        "DELETE FROM run": "0 runs in it",
        "INSERT INTO run SELECT * FROM run": "2 runs in it",
        "UPDATE run SET format = 77": "(format 77)",
        "UPDATE run SET identity = '{}'": "1 of 1 rows of run do not say what was written",
        "UPDATE run SET identity = replace(identity, '0', '1')": "1 of 1 rows of run",
        "UPDATE search SET state = '{}'": "1 of 1 rows of search do not say what was written",
        "UPDATE search SET state = substr(state, 1, 100)": "1 of 1 rows of search",
        "UPDATE search SET state = replace(state, '1', '2')": "1 of 1 rows of search",
        "UPDATE search SET state = x'ff00'": "1 of 1 rows of search",
        "UPDATE search SET state = NULL, checksum = NULL": "1 of 1 rows of search",
        "UPDATE search SET part = 5": "1 of 1 rows of search",
        "DROP TABLE search": "no such table: search",
        "DROP TABLE run": "no such table: run",
    },
    SWEEPS: {
        "DELETE FROM sweep": "points of no sweep",
        "INSERT INTO sweep SELECT * FROM sweep": "holds another sweep",
        "UPDATE sweep SET fingerprint = 'x'": "1 of 1 rows of sweep",
        "UPDATE points SET outcome = '{}' WHERE rowid = 2": "1 of 4 rows of points do not say what was written",
        "UPDATE points SET outcome = replace(outcome, '1', '2')": "4 of 4 rows of points",
        "UPDATE points SET status = 'nothing valid'": "4 of 4 rows of points",
        "UPDATE points SET key = key || 'x'": "4 of 4 rows of points",
        "UPDATE points SET outcome = x'ff'": "4 of 4 rows of points",
        "ALTER TABLE points DROP COLUMN outcome": "damaged",
        "CREATE TABLE mine (a)": "tables of something else: mine",
    },
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A finished run of each kind: the folder, and how to go on in another, by the file of the state."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "sweep.yaml").write_text(SWEEP)
    commands = {
        MAP: (command_map.main, [*TOY, "--search", "random", "--samples", 5000, "--resume", "--json", "--out"]),
        SWEEPS: (command_sweep.main, [folder / "sweep.yaml", "--json", "--out"]),
    }
    for name, (app, arguments) in commands.items():
        assert run(app, *arguments, folder / name).exit_code == 0
    return folder, commands


def go_on(runs, name, copy):
    """Resume in `copy`: what the command did, which must be a fault that changes nothing, or the answer of before."""
    folder, commands = runs
    before = contents(copy)
    app, arguments = commands[name]
    done = run(app, *arguments, copy)
    if done.exit_code == 2:
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        assert contents(copy) == before
    else:
        assert done.exit_code == 0, done.output
        assert answer(done.stdout) == answer(run(app, *arguments, folder / name).stdout)
    return done


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "-journal" not in path.name}


def answer(text):
    """What was printed, without the seconds."""
    found = json.loads(text)
    found.get("search", {}).pop("seconds", None)
    return found


@pytest.mark.parametrize(("name", "edit"), [(name, edit) for name, edits in EDITS.items() for edit in edits])
def test_edited_state_is_one_fault_and_left_alone(runs, tmp_path, name, edit):
    """Rows changed, removed, doubled, of another type: status 2, what is wrong, and nothing is changed or removed."""
    copy = shutil.copytree(runs[0] / name, tmp_path / "copy")
    database = sqlite3.connect(copy / name, isolation_level=None)
    database.execute(edit)
    database.close()
    done = go_on(runs, name, copy)
    assert done.exit_code == 2
    assert f"{copy / name}: " in done.stderr
    assert EDITS[name][edit] in done.stderr


@pytest.mark.parametrize("name", [MAP, SWEEPS])
@pytest.mark.parametrize("size", [0, 100, 4096, 5000, 8192, -1])
def test_truncated_state_is_one_fault_and_left_alone(runs, tmp_path, name, size):
    """However little of it is left, nothing begins anew in a folder with results."""
    copy = shutil.copytree(runs[0] / name, tmp_path / "copy")
    (copy / name).write_bytes((copy / name).read_bytes()[:size])
    assert go_on(runs, name, copy).exit_code == 2


@pytest.mark.parametrize("name", [MAP, SWEEPS])
def test_flipped_bytes_never_change_an_answer(runs, tmp_path, monkeypatch, name):
    """A byte anywhere: a fault, or the very answer of before where the byte means nothing."""
    monkeypatch.setattr(after_search, "write_folder", lambda *_: None)  # pictures take half a second
    monkeypatch.setattr(sweep_output, "write_outputs", lambda *_: None)
    rng = np.random.default_rng(None if DEEP else 0)
    whole = np.frombuffer((runs[0] / name / name).read_bytes(), np.uint8)
    for number in range(1000 if DEEP else 16):
        copy = shutil.copytree(runs[0] / name, tmp_path / str(number))
        damaged = whole.copy()
        damaged[rng.integers(len(whole), size=rng.integers(1, 4))] ^= rng.integers(1, 256, dtype=np.uint8)
        (copy / name).write_bytes(damaged.tobytes())
        go_on(runs, name, copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize("name", [MAP, SWEEPS])
def test_state_from_before_checksums_is_read_and_given_them(runs, tmp_path, name):
    """The format before goes on to the same answer; an edit that follows is found."""
    copy = shutil.copytree(runs[0] / name, tmp_path / "copy")
    database = sqlite3.connect(copy / name, isolation_level=None)
    for table in ("run", "search") if name == MAP else ("sweep", "points", "identity"):
        database.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    if name == MAP:
        database.execute("UPDATE run SET format = ?", (checkpoint.BEFORE,))
    database.close()
    assert go_on(runs, name, copy).exit_code == 0
    assert go_on(runs, name, copy).exit_code == 0
    database = sqlite3.connect(copy / name, isolation_level=None)
    assert database.execute("SELECT count(checksum) FROM " + ("search" if name == MAP else "points")).fetchone()[0]
    database.execute("UPDATE search SET part = 2" if name == MAP else "UPDATE points SET key = key || 'x'")
    database.close()
    assert "do not say what was written" in go_on(runs, name, copy).stderr


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        (MAP, "UPDATE search SET state = '{}'"),
        (MAP, "UPDATE search SET state = substr(state, 1, 99)"),
        (MAP, "UPDATE run SET identity = '[]'"),
        (SWEEPS, "UPDATE points SET outcome = '{}'"),
        (SWEEPS, "UPDATE points SET outcome = substr(outcome, 1, 99)"),
    ],
)
def test_damage_of_before_is_not_given_checksums(runs, tmp_path, name, edit):
    """What is not even an outcome or a state in a file without checksums is one fault, and the file left as it is."""
    copy = shutil.copytree(runs[0] / name, tmp_path / "copy")
    database = sqlite3.connect(copy / name, isolation_level=None)
    for table in ("run", "search") if name == MAP else ("sweep", "points", "identity"):
        database.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    if name == MAP:
        database.execute("UPDATE run SET format = ?", (checkpoint.BEFORE,))
    database.execute(edit)
    database.close()
    assert "damaged" in go_on(runs, name, copy).stderr


def test_a_file_in_place_of_a_state_s_folder_or_a_folder_in_place_of_its_file(runs, tmp_path):
    """Neither is taken for a state, and both stay."""
    for name, (app, arguments) in runs[1].items():
        (tmp_path / name / name).mkdir(parents=True)
        (tmp_path / f"{name}.file").write_text("mine")
        (tmp_path / f"{name}.loop").symlink_to(tmp_path / f"{name}.loop")
        for place in (tmp_path / name, tmp_path / f"{name}.file", tmp_path / f"{name}.loop"):
            done = run(app, *arguments, place)
            assert (done.exit_code, done.stdout) == (2, "")
            assert str(place) in done.stderr
        assert (tmp_path / f"{name}.file").read_text() == "mine"
        assert (tmp_path / name / name).is_dir()


def test_no_two_runs_have_one_state(tmp_path):
    """A state file in use is a fault for all others."""
    with_state = StateFile(tmp_path / "state", "state", "again")
    with pytest.raises(InputError, match="is in use by another run"):
        StateFile(tmp_path / "state", "state", "again")
    with_state.close()
    StateFile(tmp_path / "state", "state", "again").close()


def program(command, *arguments):
    """The words that run a command as a process of its own."""
    code = f"from ruby_map.mapper.commands.entry import {command}; {command}()"
    return [sys.executable, "-P", "-c", code, *map(str, arguments)]


FULL = {
    "ruby_map": [*TOY, "--out", "found"],
    "ruby_energy": [TOY[0], "--write-ert", "ert.yaml"],
    "ruby_import": ["MODEL"],
    "ruby_sweep": ["SWEEP", "--out", "swept"],
}


@pytest.mark.parametrize("command", FULL)
def test_results_that_cannot_be_printed_are_a_fault_and_written(place, command):
    """Standard output on a full disk: status 2, a line, and the files are there."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(program(command, *FULL[command]), stdout=full, stderr=subprocess.PIPE, text=True)
    told = "standard output: cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, told)
    written = {"ruby_map": "found/stats.json", "ruby_energy": "ert.yaml", "ruby_sweep": "swept/results.json"}
    assert (place / written.get(command, "MODEL")).stat().st_size


def test_a_reader_that_has_gone_and_closed_streams(place):
    """`| true`, `>&-`, `2> /dev/full`, `--help > /dev/full`: files, statuses and lines are as they should be."""
    run_map, toy = shlex.join(program("ruby_map")), " ".join(TOY)
    unread = "standard output: cannot be written: Broken pipe\n"
    cases = {
        f"{run_map} {toy} --out found | true; exit ${{PIPESTATUS[0]}}": (2, unread),
        f"{run_map} {toy} >&-": (2, "standard output: cannot be written: it is closed\n"),
        f"{run_map} {toy} --log 2> /dev/full": (0, ""),
        f"{run_map} nosuch {toy} 2> /dev/full": (2, ""),
        f"{run_map} --help > /dev/full": (2, "the system refused: [Errno 28] No space left on device\n"),
    }  # fmt: skip
    for script, expected in cases.items():
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == expected, script
    assert (place / "found/mapping.yaml").is_file()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_our_characters_gets_their_numbers(encoding):
    """No traceback where the encoding of standard output lacks a line of a table."""
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run(program("ruby_map", *TOY), capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"rank1_100 (D=100) on toy_6pe_linear\n")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("of 7 TiB"), "not enough memory: of 7 TiB"),
        (OSError(24, "Too many open files"), "the system refused"),
    ],
)
def test_what_the_system_does_not_give_is_a_line(monkeypatch, error, words):
    """No memory, no files: status 2 and the reason, where nobody could foresee it."""

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(run_map, "explored", fails)
    done = run(command_map.main, *TOY)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(words)


def test_a_result_is_printed_where_it_cannot_be_written(tmp_path, monkeypatch):
    """A folder that is gone when the search ends, or has another run's state: status 2, and the result is shown."""
    for name, change in (("gone", shutil.rmtree), ("replaced", lambda folder: (folder / MAP).rename(folder / "old"))):
        folder = tmp_path / name

        def found(*arguments, folder=folder, change=change, **named):
            change(folder)
            return explored(*arguments, **named)

        monkeypatch.setattr(run_map, "explored", found)
        done = run(command_map.main, *TOY, "--out", folder)
        assert done.exit_code == 2
        assert "cycles       17" in done.stdout
        assert (
            done.stderr
            == f"out: {folder / MAP}: was removed or replaced while the run went on: no results are written there\n"
        )
        assert folder.exists() == (name == "replaced")


TIGHT = """
name: tight
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16}
  - name: Buffer
    class: regfile
    capacity_words: 1
    width_bits: 16
    keep: [Inputs, Outputs]
    temporal: {factors: [D=100]}
compute: {name: MAC, class: intmac, word_bits: 16}
"""


def test_a_search_without_a_mapping_whose_folder_is_gone(tmp_path, monkeypatch):
    """There is nothing to remove, which is a fault and no traceback."""

    def found(*arguments, **named):
        shutil.rmtree(tmp_path / "out")
        return explored(*arguments, **named)

    monkeypatch.setattr(run_map, "explored", found)
    (tmp_path / "tight.yaml").write_text(TIGHT)
    done = run(
        command_map.main,
        tmp_path / "tight.yaml",
        TOY[1],
        "--search",
        "random",
        "--samples",
        9,
        "--out",
        tmp_path / "out",
    )
    assert done.exit_code == 2
    assert "no valid mapping found" in done.stdout
    assert "was removed or replaced" in done.stderr


def test_a_sweep_whose_store_is_gone_ends_at_once(tmp_path, monkeypatch):
    """The next point finds no place: status 2, and no folder is made anew."""
    (tmp_path / "sweep.yaml").write_text(SWEEP)

    def point(plan, number):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return run_point(plan, number)

    monkeypatch.setattr(sweep_run, "run_point", point)
    done = run(command_sweep.main, tmp_path / "sweep.yaml", "--out", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "was removed or replaced while the sweep went on" in done.stderr
    assert not (tmp_path / "out").exists()


RESULTS = ["results.csv", "results.json", "pareto.json", "report.html", "mappings/design_0_pfm_1.html"]


def held(folder):
    """The content of every file in a folder, but for the store."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != SWEEPS}


@pytest.mark.parametrize("name", RESULTS)
def test_the_files_of_a_sweep_are_replaced_all_or_none(runs, tmp_path, monkeypatch, name):
    """Where one cannot be written all stay as they were, and the points are kept."""
    copy = shutil.copytree(runs[0] / SWEEPS, tmp_path / "copy")
    before = held(copy)
    assert copy / name in before
    plain = Path.open

    def opened(path, *arguments, **named):
        if path == copy / ".ruby-map.part" / name:
            raise OSError(28, "No space left on device")
        return plain(path, *arguments, **named)

    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("pfm, ruby-s", "pfm, ruby-s, ruby"))
    monkeypatch.setattr(Path, "open", opened)
    monkeypatch.setattr(Path, "write_text", lambda path, text, **named: opened(path, "w").write(text))
    done = run(command_sweep.main, tmp_path / "sweep.yaml", "--out", copy)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "the results cannot be written (No space left on device): make room and run the same command" in done.stderr
    assert held(copy) == before


@pytest.mark.parametrize(
    ("small_disk", "words"),
    [
        (8, "cannot be written (database or disk is full); what it held before is intact: make room and run the same"),
        (28, "cannot be written (database or disk is full); what it held before is intact: make room and run the same"),
        (100, "the results cannot be written (No space left on device): make room and run the same command again"),
    ],
    indirect=["small_disk"],
)
def test_a_sweep_on_a_full_disk_goes_on_where_there_is_room(runs, small_disk, tmp_path, words):
    """Status 2 and the reason, no half-written set; in a larger place the same command ends with the same answer."""
    folder, commands = runs
    app, arguments = commands[SWEEPS]
    done = run(app, *arguments, small_disk / "out")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr
    assert {path.name for path in (small_disk / "out").iterdir()} <= {SWEEPS, f"{SWEEPS}-journal"}
    shutil.copytree(small_disk / "out", tmp_path / "roomy")
    again = run(app, *arguments, tmp_path / "roomy")
    assert again.exit_code == 0
    assert answer(again.stdout) == answer(run(app, *arguments, folder / SWEEPS).stdout)


@pytest.mark.parametrize("small_disk", [1000], indirect=True)
def test_a_disk_that_may_not_be_written_is_told(runs, small_disk):
    """Begun or to be begun: status 2 and the reason for every command that writes."""
    for name, (app, arguments) in runs[1].items():
        shutil.copytree(runs[0] / name, small_disk / name)
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
        for place in (small_disk / name, small_disk / "new"):
            done = run(app, *arguments, place)
            assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
            assert "Read-only file system" in done.stderr or "not a folder that you may write to" in done.stderr
        subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = run(command_energy.main, TOY[0], "--write-ert", small_disk / "ert.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"ert.yaml: cannot be written: {small_disk} is not a folder that you may write to" in done.stderr


LONG_SEARCH = [
    "eyeriss_like",
    "resnet50/conv3_x_3x3",
    "--search",
    "random",
    "--samples",
    10**9,
    "--victory",
    10**9,
    "--jobs",
    2,
]


def workers(parent):
    """The worker processes that a process has begun, by number."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children if b"LokyProcess" in (command_line(child) or b"")]


def command_line(number):
    """The words of a running process; None of one that is over."""
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes() or None
    except (FileNotFoundError, ProcessLookupError):
        return None


@pytest.fixture
def long_search():
    """A search with two workers that does not end by itself, in a group of its own."""
    began = subprocess.Popen(
        program("ruby_map", *LONG_SEARCH), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    yield began
    if began.poll() is None:
        os.killpg(began.pid, signal.SIGKILL)
    began.communicate()


def wait_for(condition, seconds=30):
    """Until it holds; False where it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc of Linux")


@linux
def test_workers_end_with_a_killed_parent(long_search):
    """kill -9 of the command leaves no process behind, seconds later."""
    assert wait_for(lambda: len(workers(long_search.pid)) == 2)
    time.sleep(1.5)  # they are at work
    left = workers(long_search.pid)
    long_search.kill()
    assert wait_for(lambda: not any(command_line(number) for number in left), 10)


SIGNALS = [(0.0, signal.SIGINT), (0.2, signal.SIGTERM)]


@linux
@pytest.mark.parametrize(
    ("later", "number"), [*SIGNALS, *([(0.2, signal.SIGINT), (0.0, signal.SIGTERM)] if DEEP else [])]
)
def test_ctrl_c_while_workers_start_is_no_traceback(long_search, number, later):
    """Sent to all processes of the group as a terminal does: 130 and a line."""
    assert wait_for(lambda: workers(long_search.pid))
    time.sleep(later)
    os.killpg(long_search.pid, number)
    out, err = long_search.communicate(timeout=30)
    assert err in (b"interrupted: nothing found yet\n", b"interrupted\n")
    assert long_search.returncode == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_another_thread_receives_ends_nothing_half_begun(number, monkeypatch):
    """The mask is of one thread, and Python tells the main one what any thread receives."""
    monkeypatch.setattr(signals, "HELD", (number,))
    before = signal.signal(number, signal.default_int_handler)
    waits, begun = threading.Event(), False
    other = threading.Thread(target=waits.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), signals.held_back():  # noqa: PT012 - where it is raised is tested
            signal.pthread_kill(other.ident, number)
            time.sleep(0.05)  # a handler that was not put off would run here
            begun = True
        assert begun
        assert signal.getsignal(number) is signal.default_int_handler
        assert number not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        waits.set()
        signal.signal(number, before)


def test_workers_that_die_again_and_again_are_a_fault(capfd):
    """Three times in a row: what to do is said, and nothing hangs."""

    def dies(_, chunk):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(InputError, match=r"^jobs: worker processes died 3 times in a row, .* use fewer processes"):
        list(in_order(wrap_non_picklable_objects(dies), None, range(40), jobs=2))
    assert capfd.readouterr().err.count("a worker process died") == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "x"], "out: x: cannot be used (No such file or directory)"),
        (["--search", "random", "--jobs", 2], "jobs: the working directory is gone, and processes begin there"),
    ],
)
def test_a_working_directory_that_is_gone_is_a_fault(tmp_path, arguments, words):
    """Where it is needed: status 2; where it is not the search goes on."""
    script = f"cd {tmp_path} && mkdir gone && cd gone && rmdir ../gone && exec "
    for extra, status in ((arguments, 2), ([], 0)):
        command = shlex.join(program("ruby_map", *TOY, *extra))
        done = subprocess.run(["bash", "-c", script + command], capture_output=True, text=True)
        assert done.returncode == status
        assert (words in done.stderr) == (status == 2)
        assert "Traceback" not in done.stderr
