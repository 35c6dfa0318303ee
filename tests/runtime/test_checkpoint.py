"""Checkpoints: a killed search goes on to the same answer, and what cannot go on says why and leaves the file alone."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from ruby_map.mapper import SearchOptions, explore, result_json
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.problem import fingerprint
from ruby_map.mapper.runtime import checkpoint
from ruby_map.mapper.runtime.checkpoint import NAME, Checkpoint
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..conftest import DEEP

TOY = ("toy_6pe", "rank1_100")
SEARCH = (
    "eyeriss_like",
    "resnet50/conv3_x_3x3",
    "--search",
    "random",
    "--samples",
    "250000",
    "--victory",
    "10000000",
    "--front",
    "energy,delay",
)
# saves twenty times a second, so that a kill is never far from one
SCRIPT = "from ruby_map.mapper.runtime import checkpoint\ncheckpoint.EVERY = 0.05\n"
SCRIPT += "from ruby_map.mapper.commands.ruby_map import main\nmain()"


def script(*arguments):
    return [sys.executable, "-c", SCRIPT, *map(str, arguments)]


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def final(text):
    """The object of --json without what depends on the machine."""
    found = json.loads(text)
    del found["search"]["seconds"]
    return found


@pytest.fixture(scope="module")
def whole():
    """What the search gives when nothing kills it, and how long it took."""
    began = time.monotonic()
    found = subprocess.run(script(*SEARCH, "--json"), capture_output=True, check=True, timeout=120)
    return final(found.stdout), time.monotonic() - began


def kill_and_resume(folder, jobs, moment):
    """Kill -9 the whole group at `moment`, resume, and give what that printed."""
    command = script(*SEARCH, "--jobs", jobs, "--out", folder, "--json")
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(moment)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    found = subprocess.run([*command, "--resume"], capture_output=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr
    return final(found.stdout)


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_at_any_moment_a_search_resumes_to_the_same_answer(whole, tmp_path, jobs):
    """kill -9 of all processes at random moments; the resumed run prints and writes what an undisturbed one does."""
    expected, duration = whole
    some = np.random.default_rng().uniform(0.3, 1.0, 10 if DEEP else 1)
    for number, share in enumerate(some):
        folder = tmp_path / str(number)
        found = kill_and_resume(folder, jobs, share * duration)
        assert found == expected, f"killed after {share * duration} s"
        assert final((folder / "stats.json").read_text()) == expected
        assert not (folder / ".part").exists()


def test_an_interrupted_search_goes_on_where_it_was(tmp_path, monkeypatch):
    """What the checkpoint holds is not searched again, and Ctrl-C changes nothing in the end."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    options = SearchOptions(strategy="random", samples=40_000, victory=10**9)
    first_seen = []

    def interrupt(layer, recorder):
        if recorder.chunks == 5:
            raise KeyboardInterrupt

    with Checkpoint(tmp_path, {}) as file:
        assert explore(*SEARCH[:2], options=options, progress=interrupt, checkpoint=file).statistics.interrupted
    with Checkpoint(tmp_path, {}, resume=True) as file:
        note = lambda _, recorder: first_seen.append(recorder.chunks)  # noqa: E731
        resumed = explore(*SEARCH[:2], options=options, progress=note, checkpoint=file)
    assert first_seen[0] == 5  # the fifth was not saved yet
    alone = result_json(explore(*SEARCH[:2], options=options))
    assert final(json.dumps(result_json(resumed))) == final(json.dumps(alone))


def test_an_interrupted_or_finished_run_resumes_and_is_never_overwritten(tmp_path):
    """Without --resume a folder with a run is refused; with it a finished run is told again, without searching."""
    folder = tmp_path / "run"
    first = run(*TOY, "--out", folder, "--json")
    again = run(*TOY, "--out", folder, "--json")
    assert (again.exit_code, again.stdout) == (2, "")
    assert "give --resume" in again.stderr
    resumed = run(*TOY, "--out", folder, "--json", "--resume")
    assert resumed.exit_code == 0
    assert json.loads(resumed.stdout) == json.loads(first.stdout)  # even the seconds


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--seed", 1), "seed (there 0, here 1)"),
        (("--mapspace", "ruby"), 'mapspace (there "ruby-s", here "ruby")'),
        (("--objective", "delay,energy"), 'objective (there "edp", here "delay,energy")'),
        (("--search", "random", "--victory", 10), "victory"),
        (("--front", "energy,delay"), 'front (there none, here "energy,delay")'),
        (("--leakage",), "costs (other contents)"),
        (("--drain-reads",), "costs (other contents)"),
    ],
)
def test_a_checkpoint_of_another_problem_is_refused_and_intact(tmp_path, change, words):
    """Status 2, what differs, and not a byte changed."""
    folder = tmp_path / "run"
    assert run(*TOY, "--out", folder).exit_code == 0
    before = (folder / NAME).read_bytes()
    refused = run(*TOY, *change, "--out", folder, "--resume")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "of another problem" in refused.stderr
    assert words in refused.stderr
    assert (folder / NAME).read_bytes() == before


def test_another_workload_or_machine_is_another_problem(tmp_path):
    """The layer and the machine belong to the identity, by what they say; they are told by their names."""
    folder = tmp_path / "run"
    run(*TOY, "--out", folder)
    machine = run("toy_6pe_linear", TOY[1], "--out", folder, "--resume").stderr
    assert 'arch (there "toy_6pe", here "toy_6pe_linear")' in machine
    layer = run(TOY[0], "alexnet/conv3", "--out", folder, "--resume").stderr
    assert 'workload (there "rank1_100", here "conv3")' in layer
    (tmp_path / "mine.yaml").write_text("{name: rank1_100, shape: rank1, sizes: {D: 99}}")
    same = run(TOY[0], tmp_path / "mine.yaml", "--out", folder, "--resume").stderr
    assert 'workload (other contents of the same name, "rank1_100")' in same


@pytest.mark.parametrize(
    ("of", "value", "words"),
    [("version", lambda _: "0.0.7", "and this is 0.0.7"), ("FORMAT", "99", "(format 99): finish it with that version")],
)
def test_a_checkpoint_of_another_version_is_refused_and_intact(tmp_path, monkeypatch, of, value, words):
    """Another version, of the program or of the file, may mean other mappings by the same seed."""
    folder = tmp_path / "run"
    run(*TOY, "--out", folder)
    before = (folder / NAME).read_bytes()
    monkeypatch.setattr(checkpoint, of, value)
    refused = run(*TOY, "--out", folder, "--resume")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert words in refused.stderr
    assert (folder / NAME).read_bytes() == before


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    """Something else of that name is told and left alone."""
    (tmp_path / NAME).write_text("a shopping list, long enough to be no database at all\n" * 20)
    refused = run(*TOY, "--out", tmp_path, "--resume")
    assert refused.exit_code == 2
    assert "is no checkpoint" in refused.stderr
    assert (tmp_path / NAME).read_text().startswith("a shopping list")


def test_two_runs_never_share_a_folder(tmp_path):
    """A checkpoint in use is locked."""
    with Checkpoint(tmp_path, {"seed": 0}), pytest.raises(InputError, match="in use by another run"):
        Checkpoint(tmp_path, {"seed": 0}, resume=True)
    Checkpoint(tmp_path, {"seed": 0}, resume=True).close()


def small_files():
    """No file may grow beyond 20 kB, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_a_full_disk_is_told_and_the_checkpoint_intact(whole, tmp_path):
    """Status 2 and the reason, no traceback; with room again the run goes on to the same answer."""
    command = script(*SEARCH, "--out", tmp_path / "run", "--json")
    full = subprocess.run(command, capture_output=True, preexec_fn=small_files, timeout=120, check=False)
    assert full.returncode == 2, full.stderr
    assert full.stdout == b"" or b"results cannot be written" in full.stderr
    assert b"cannot be written" in full.stderr
    assert b"Traceback" not in full.stderr
    found = subprocess.run([*command, "--resume"], capture_output=True, timeout=120, check=True)
    assert final(found.stdout) == whole[0]


@pytest.mark.parametrize("small_disk", [48], indirect=True)
def test_a_disk_too_small_for_the_results_is_told(whole, small_disk, tmp_path):
    """Status 2 and the reason, no traceback; the checkpoint holds the search, and goes on where there is room."""
    command = script(*SEARCH, "--json", "--out")
    full = subprocess.run([*command, small_disk / "run"], capture_output=True, timeout=120, check=False)
    assert full.returncode == 2, full.stderr
    assert b"the results cannot be written (No space left on device)" in full.stderr
    assert b"Traceback" not in full.stderr
    shutil.copytree(small_disk / "run", tmp_path / "roomy")
    found = subprocess.run([*command, tmp_path / "roomy", "--resume"], capture_output=True, timeout=120, check=True)
    assert final(found.stdout) == whole[0]


@pytest.mark.parametrize("small_disk", [8], indirect=True)
def test_a_disk_too_small_for_the_checkpoint_is_told_before_the_search(small_disk):
    """Status 2 at once, in the user's words."""
    refused = run(*TOY, "--out", small_disk / "run")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cannot be written (database or disk is full)" in refused.stderr


def test_a_save_that_finds_no_room_leaves_the_last_one(tmp_path):
    """SQLite's own word for a full disk becomes a fault, and the state before it is still there."""
    with Checkpoint(tmp_path, {"seed": 0}) as file:
        file.save(0, {"chunks": 3})
        (pages,) = file._file.database.execute("PRAGMA page_count").fetchone()
        file._file.database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match=r"cannot be written \(database or disk is full\); what it held before"):
            file.save(0, {"chunks": 4, "trace": list(range(20_000))})
        assert file.load(0) == {"chunks": 3}
    with Checkpoint(tmp_path, {"seed": 0}, resume=True) as file:
        assert file.load(0) == {"chunks": 3}


def test_resume_needs_a_folder():
    """--resume without --out has nothing to go on from."""
    refused = run(*TOY, "--resume")
    assert refused.exit_code == 2
    assert "resume: needs --out" in refused.stderr


def test_fingerprints_do_not_depend_on_the_process():
    """Sets are sorted first: another hash seed gives the same fingerprint."""
    code = "from ruby_map.arch import load_arch; from ruby_map.mapper.problem import fingerprint;"
    code += "print(fingerprint(load_arch('eyeriss_like')))"
    found = {
        subprocess.check_output([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed})
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    with pytest.raises(TypeError, match="no fingerprint of object"):
        fingerprint(object())
