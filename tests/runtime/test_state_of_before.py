"""State on disk outlives where the code stands: a checkpoint and a sweep written before mapper/ had rooms go on."""

import json
import shutil
from pathlib import Path

from ruby_map.mapper.commands import ruby_map, ruby_sweep, run_map
from typer.testing import CliRunner

STATE = Path(__file__).parent / "state"
SEARCH = (
    "linear_16",
    "matmul_100",
    "--mapspace",
    "ruby-s",
    "--search",
    "random",
    "--victory",
    100_000_000,
    "--samples",
    1_000_000,
    "--seed",
    5,
)


def the_json(main, *arguments):
    """What a command says, but the seconds."""
    found = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert found.exit_code == 0, found.stderr
    return without_seconds(json.loads(found.stdout))


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(inner) for key, inner in value.items() if key != "seconds"}
    return [without_seconds(inner) for inner in value] if isinstance(value, list) else value


def test_a_search_goes_on(tmp_path, monkeypatch):
    """To the answer of a search that was never interrupted, from where it was."""
    folder = tmp_path / "out"
    folder.mkdir()
    shutil.copy(STATE / "checkpoint.sqlite", folder)
    known = []
    real = run_map.explored

    def explored(study, request):
        known.append(request["checkpoint"].load(0)["statistics"]["evaluated"])
        return real(study, request)

    with monkeypatch.context() as patch:
        patch.setattr(run_map, "explored", explored)
        resumed = the_json(ruby_map.main, *SEARCH, "--out", folder, "--resume")
    assert resumed == the_json(ruby_map.main, *SEARCH)
    assert 0 < known[0] < 1_000_000


def test_a_sweep_goes_on(tmp_path):
    """To the frontier of a sweep that was never interrupted; the points that are done are not run again."""
    folder = tmp_path / "out"
    folder.mkdir()
    shutil.copy(STATE / "sweep.sqlite", folder)
    resumed = the_json(ruby_sweep.main, STATE / "sweep.yaml", "--out", folder)
    assert resumed == the_json(ruby_sweep.main, STATE / "sweep.yaml")
    assert resumed["found"] == 4
