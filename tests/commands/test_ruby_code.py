"""`ruby-code`: programs written, run, judged; every fault of its options at once."""

import json
import re

import pytest
from ruby_map.mapper.codegen import program
from ruby_map.mapper.commands.ruby_code import main
from typer.testing import CliRunner

from ..conftest import needs_compiler

pytestmark = needs_compiler
LAYER = "{name: tiny, shape: matmul, sizes: {M: 20, N: 6, K: 9}}"


@pytest.fixture
def ruby_code(tmp_path, monkeypatch):
    """Run the command in a folder of its own, on a small layer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFLAGS", "-O1 -std=gnu11 -DSECONDS=0")
    (tmp_path / "tiny.yaml").write_text(LAYER)

    def run(*arguments):
        return CliRunner().invoke(main, [*map(str, arguments)])

    return run


def test_a_layer_is_searched_written_and_run(ruby_code, tmp_path):
    done = ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--run", "--json", "--time-limit", "1")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["correct"] is True
    assert said["seconds"] > 0
    assert said["gflops"] == pytest.approx(2 * 20 * 6 * 9 / said["seconds"] / 1e9)
    assert said["files"] == sorted(
        path.name for path in (tmp_path / "p").iterdir() if path.name not in ("program", ".ruby-code.json")
    )
    again = ruby_code("eyeriss_like", "tiny.yaml", "p/mapping.yaml", "--out", "q", "--dtype", "int8", "--run")
    assert again.exit_code == 0, again.output
    assert "output       equals NumPy in every word" in again.stdout
    assert (tmp_path / "q/mapping.yaml").read_text() == (tmp_path / "p/mapping.yaml").read_text()
    assert loops(tmp_path / "q") == loops(tmp_path / "p")


def loops(folder):
    return re.findall(r"for \(.*\)", (folder / "kernel.c").read_text())


def test_a_wrong_output_is_status_1(ruby_code, monkeypatch):
    from ruby_map.mapper.codegen.c import plan

    points = plan.Plan.points
    monkeypatch.setattr(
        plan.Plan, "points", lambda self, extents: [(at, lanes) for at, lanes in points(self, extents)] * 2
    )
    done = ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--run", "--time-limit", "1")
    assert done.exit_code == 1
    assert "WRONG" in done.stdout


def test_no_compiler_is_status_1_and_the_files_are_there(ruby_code, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--run", "--time-limit", "1")
    assert done.exit_code == 1
    assert "no C compiler: none of cc, gcc, clang is found; install gcc or clang" in done.stderr
    assert (tmp_path / "p/kernel.c").exists()


@pytest.mark.parametrize("backend", ["exo", "tvm"])
def test_a_package_that_is_missing_is_status_1_and_the_files_are_there(ruby_code, monkeypatch, tmp_path, backend):
    monkeypatch.setattr(program, "find_spec", lambda name: None)
    searched = ("eyeriss_like", "tiny.yaml", "--backend", backend, "--mapspace", "pfm", "--time-limit", "1")
    done = ruby_code(*searched, "--out", "p", "--run")
    assert done.exit_code == 1
    assert f"schedule.py needs the extra {backend}: pip install 'ruby-map[{backend}]'" in done.stderr
    assert (tmp_path / "p/schedule.py").exists()


def test_remainders_are_bad_input_for_exo(ruby_code, tmp_path):
    (tmp_path / "prime.yaml").write_text("{name: prime, shape: matmul, sizes: {M: 997, N: 83, K: 5}}")
    done = ruby_code("eyeriss_like", "prime.yaml", "--out", "p", "--backend", "exo", "--time-limit", "1")
    assert done.exit_code == 2
    assert "exo writes perfect mappings alone" in done.stderr


def test_every_fault_at_once(ruby_code, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/kernel.c").write_text("years of work")
    done = ruby_code(
        *("eyeriss_like", "tiny.yaml", "--out", "mine", "--backend", "fortran", "--dtype", "float16", "--as", "PE"),
        *("--as", "PE=lanes", "--as", "PE=loop", "--mapspace", "perfect"),
    )
    assert done.exit_code == 2
    for part in (
        "fortran",
        "float16",
        "NAME=ROLE",
        "two roles",
        "perfect",
        "mine/kernel.c: exists, and ruby-code did not write it",
    ):
        assert part in done.stderr
    assert (tmp_path / "mine/kernel.c").read_text() == "years of work"
    roles = ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--as", "PEs=lanes", "--as", "PE=buffer")
    assert roles.exit_code == 2
    assert "PEs" in roles.stderr
    assert "must be one of loop, threads, lanes" in roles.stderr
    network = ruby_code("eyeriss_like", "alexnet", "--out", "p")
    assert network.exit_code == 2
    assert "NETWORK/LAYER" in network.stderr
    ignored = ruby_code("eyeriss_like", "tiny.yaml", "m.yaml", "--out", "p", "--mapspace", "pfm")
    assert ignored.exit_code == 2
    assert "a mapping is given" in ignored.stderr


def test_other_files_are_left_alone(ruby_code, tmp_path):
    """A folder of results, a Makefile of the user's, a folder in the way: refused, nothing is changed."""
    other = "exists, and ruby-code did not write it"
    places = (("results", "mapping.yaml", other), ("mine", "Makefile", other), ("mine2", "program", other))
    for name, file, why in (*places, ("dirs", "kernel.c/keep.txt", "cannot be written: it is a directory")):
        (tmp_path / name / file).parent.mkdir(parents=True)
        (tmp_path / name / file).write_text("mine")
        done = ruby_code("eyeriss_like", "tiny.yaml", "--out", name, "--time-limit", "1")
        assert done.exit_code == 2
        assert f"out: {name}/{file.split('/')[0]}: {why}" in done.stderr
        assert (tmp_path / name / file).read_text() == "mine"


def test_a_file_that_is_no_program_is_not_compiled_over(ruby_code, tmp_path):
    """In a folder of its own, where `make` may have compiled one: refused, unless --force is given."""
    write = ("eyeriss_like", "tiny.yaml", "--out", "p", "--time-limit", "1")
    assert ruby_code(*write).exit_code == 0
    (tmp_path / "p/program").write_bytes(b"\x7fELF")
    assert ruby_code(*write).exit_code == 0
    (tmp_path / "p/program").write_text("notes")
    for more in ((), ("--run",)):
        done = ruby_code(*write, *more)
        assert (done.exit_code, (tmp_path / "p/program").read_text()) == (2, "notes")
        assert "out: p/program: exists, and is no compiled program" in done.stderr
    assert ruby_code(*write, "--force").exit_code == 0
    assert not (tmp_path / "p/program").exists()


def test_files_of_an_earlier_program_go(ruby_code, tmp_path):
    assert ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--run", "--time-limit", "1").exit_code == 0
    assert (tmp_path / "p/program").exists()
    done = ruby_code("eyeriss_like", "tiny.yaml", "p/mapping.yaml", "--out", "p", "--backend", "tvm")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == [
        ".ruby-code.json",
        "mapping.yaml",
        "schedule.py",
    ]


def test_a_seed_below_0_and_a_compiler_with_options(ruby_code, monkeypatch):
    done = ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--seed", "-1")
    assert (done.exit_code, done.stderr) == (2, "seed: must be at least 0, got -1\n")
    monkeypatch.setenv("CC", "gcc -O0")
    assert ruby_code("eyeriss_like", "tiny.yaml", "--out", "p", "--run", "--time-limit", "1").exit_code == 0
