"""`ruby-map --cost-model`, and the examples of cost models."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..conftest import needs_compiler
from ..house import ROOT

EXAMPLES = ROOT / "examples/cost_models"
SMALL = ("toy_6pe_linear", "rank1_100")


def example(name, *arguments):
    """The command of an example."""
    return shlex.join([sys.executable, str(EXAMPLES / name), *map(str, arguments)])


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_executor_agrees_with_our_model():
    """Every nest that random search finds, executed: the best by execution is the best by our counts."""
    found = run(*SMALL, "--search", "random", "--samples", 25, "--cost-model", example("executor.py", *SMALL), "--json")
    said = json.loads(found.stdout)
    assert found.exit_code == 0, found.stderr
    assert said["objective"] == "cost_model"
    assert said["cost_model"]["value"] == pytest.approx(said["edp"])
    assert said["search"]["evaluated"] == said["search"]["valid"] == 25


def test_the_model_with_other_energies_and_what_is_written(tmp_path):
    """Its value stands beside our figures; the trace is of its values; `--resume` asks about more."""
    command = ("eyeriss_like", "alexnet/conv3", "--search", "random", "--cost-model", example("other_energies.py", 0))
    found = run(*command, "--samples", 20, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.stderr
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    value = stats["cost_model"]["value"]
    assert f"cost model   {value:.6g} (" in found.stdout
    assert "the figures above are those of our model" in found.stdout
    assert value != stats["edp"] == pytest.approx(stats["energy_pj"] * stats["cycles"])
    head, *rows = (tmp_path / "out/trace.csv").read_text().splitlines()
    assert head == "mappings,best_cost_model"
    assert float(rows[-1].split(",")[1]) == value
    again = run(*command, "--samples", 40, "--out", tmp_path / "out", "--resume", "--json")
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout)["search"]["evaluated"] == 40
    other = run(*command, "--samples", 40, "--out", tmp_path / "out", "--resume", "--seed", 1)
    assert other.exit_code == 2


@needs_compiler
def test_programs_are_timed_as_a_cost_model(tmp_path, monkeypatch):
    """Measured: positive seconds; predicted without fitted times: a plain end."""
    monkeypatch.setenv("CFLAGS", "-O1 -DSECONDS=0")
    command = (*SMALL, "--search", "random", "--samples", 5, "--cost-model")
    found = run(*command, example("compiled.py", *SMALL), "--json")
    assert found.exit_code == 0, found.stderr
    assert 0 < json.loads(found.stdout)["cost_model"]["value"] < 1
    unfitted = run(*command, example("compiled.py", *SMALL, "predicted"))
    assert unfitted.exit_code == 1
    assert "has no fitted times" in unfitted.stderr


def test_timeloop_says_that_it_is_not_there():
    """In one line, which is then part of our message."""
    command = [sys.executable, str(EXAMPLES / "timeloop.py"), *SMALL]
    done = subprocess.run(command, env=os.environ | {"PATH": ""}, input="", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "timeloop-model is not installed, or not on the PATH\n"


STAND_IN = """#!{python}
import pathlib, sys, yaml
arch, problem, ert, mapping = (yaml.safe_load(pathlib.Path(name).read_text()) for name in sys.argv[1:5])
assert arch["architecture"] and problem["problem"] and ert["ERT"]["tables"] and sys.argv[5] == "-o"
loops = [entry for entry in mapping["mapping"] if entry["type"] == "temporal"]
if loops[0]["factors"].startswith("D=1"):
    sys.exit("no room")
text = "Summary Stats\\nUtilization: 1.00\\nCycles: 17\\nEnergy: 0.50 uJ\\nEDP(J*cycle): 8.5e-06\\n"
(pathlib.Path(sys.argv[6]) / "timeloop-model.stats.txt").write_text(text)
"""


def test_timeloop_is_run_on_files_of_ours(tmp_path, monkeypatch):
    """With a program in its place that reads its four files and reports as it does."""
    program = tmp_path / "timeloop-model"
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = run(*SMALL, "--search", "random", "--samples", 12, "--cost-model", example("timeloop.py", *SMALL), "--json")
    assert found.exit_code == 0, found.stderr
    said = json.loads(found.stdout)
    assert said["cost_model"]["value"] == 17 * 0.5e6
    assert said["search"]["valid"] + said["search"]["invalid"]["refused by the cost model"] == 12
    assert said["search"]["invalid"]["refused by the cost model"] > 0


def test_a_model_that_fails_ends_with_status_1_and_the_best_so_far():
    """The result is printed, and in the JSON, and the reason on standard error."""
    body = "import sys\nfor n, line in enumerate(sys.stdin): print('oh' if n == 5 else 9 - n, flush=True)"
    command = (*SMALL, "--search", "random", "--cost-model", shlex.join([sys.executable, "-c", body]))
    found = run(*command, "--json")
    assert found.exit_code == 1
    said = json.loads(found.stdout)
    assert said["cost_model"]["value"] == 5
    assert said["search"]["ended_by"] == "the cost model failed"
    assert "its answer is not JSON; got 'oh'" in found.stderr
    assert said["cost_model"]["failure"] in found.stderr
    assert "cost model   5 (" in run(*command).stdout


def test_ctrl_c_in_a_question_keeps_the_best_and_leaves_no_process(tmp_path):
    """Also what the model itself has started ends."""
    pids = tmp_path / "pids"
    body = f"""
import subprocess, sys, time
for number, line in enumerate(sys.stdin):
    if number == 3:
        open({str(pids)!r}, "w").write(str(subprocess.Popen(["sleep", "60"]).pid))
        time.sleep(60)
    print(9 - number, flush=True)"""
    script = "from ruby_map.mapper.commands.entry import ruby_map; ruby_map()"
    command = [*SMALL, "--search", "random", "--cost-model", shlex.join([sys.executable, "-c", body]), "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", script, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while not (pids.exists() and pids.read_text()):
            assert running.poll() is None
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    assert running.returncode == 0, err
    said = json.loads(out)
    assert (said["cost_model"]["value"], said["search"]["ended_by"]) == (7, "interrupted")
    state = Path(f"/proc/{pids.read_text()}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"  # whoever inherits it may not have looked yet


def test_faults_are_told_together():
    found = run("eyeriss_like", "resnet50", "--cost-model", "nowhere", "--objective", "delay", "--cost-timeout", 0)
    assert found.exit_code == 2
    assert [line.split(":")[0] for line in found.stderr.splitlines()] == [
        "cost-timeout", "objective", "cost-model", "cost-model",
    ]  # fmt: skip
    assert "cost-timeout: needs --cost-model" in run(*SMALL, "--cost-timeout", 3).stderr
    assert "why: needs a proof" in run(*SMALL, "--cost-model", "true", "--why").stderr
    assert "effort: (or quick) counts work of our model" in run(*SMALL, "--cost-model", "true", "--quick").stderr


def test_from_python():
    """As a keyword or as an option, as text or as words."""
    command = [sys.executable, str(EXAMPLES / "other_energies.py"), "0"]
    options = SearchOptions("random", samples=8)
    found = explore(*SMALL, "pfm", options, cost_model=command)
    again = explore(*SMALL, "pfm", replace(options, cost_model=shlex.join(command)))
    assert found.answer.value == again.answer.value
    assert found.answer.command == shlex.join(command)
    with pytest.raises(InputError, match="cost-model: is asked about one layer"):
        explore("toy_6pe_linear", "alexnet", "pfm", options, cost_model=command)
