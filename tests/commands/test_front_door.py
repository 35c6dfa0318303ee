"""What a stranger tries first: --version, --help, python -m, import ruby_map, completion of names."""

import importlib
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest
import yaml
from ruby_map.energy import ENGINES as ESTIMATES
from ruby_map.mapper.codegen import BACKENDS, DATA_TYPES
from ruby_map.mapper.commands import choices
from ruby_map.mapper.commands.run_export import FORMATS
from ruby_map.mapper.commands.run_store import ACTIONS
from ruby_map.mapper.comparison import FORMATS as REPORT_FORMATS
from ruby_map.mapper.exploration import FUSE
from ruby_map.mapper.mapspace import PRESETS
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.problem.effort import EFFORTS
from ruby_map.mapper.runtime import KINDS
from ruby_map.mapper.schemas import NAMES as SCHEMAS
from ruby_map.mapper.search import ENGINES
from ruby_map.mapper.searchers import STRATEGIES

import ruby_map
from ruby_map import mapper

from ..house import PROJECT, ROOT


def test_the_names_of_help_are_those_of_the_tables():
    """What `--help` shows without importing anything is what there is, in the same order."""
    tables = {
        "PRESETS": PRESETS,
        "SEARCHES": STRATEGIES,
        "FUSE": FUSE,
        "ENGINES": ENGINES,
        "OBJECTIVES": OBJECTIVES,
        "EFFORTS": EFFORTS,
        "ESTIMATES": ESTIMATES,
        "BACKENDS": BACKENDS,
        "DATA_TYPES": DATA_TYPES,
        "ACTIONS": ACTIONS,
        "FORMATS": FORMATS,
        "REPORT_FORMATS": REPORT_FORMATS,
        "SCHEMAS": SCHEMAS,
    }
    shown = {name: value for name, value in vars(choices).items() if isinstance(value, tuple)}
    assert shown == {name: tuple(table) for name, table in tables.items()}
    assert choices.CLUSTERS == KINDS


def test_the_package_offers_what_the_mapper_offers_and_the_files():
    """`import ruby_map` has every public name, the same objects, and no others."""
    for name in mapper.__all__:
        assert getattr(ruby_map, name) is getattr(mapper, name)
    assert set(mapper.__all__) < set(ruby_map.__all__) <= set(dir(ruby_map))
    assert all(getattr(ruby_map, name) is not None for name in ruby_map.__all__)
    assert ruby_map.__version__ == version("ruby-map") == PROJECT["version"]
    with pytest.raises(AttributeError, match="has no attribute 'exlore'"):
        _ = ruby_map.exlore


def test_the_module_is_the_command():
    """`python -m ruby_map` says what `ruby-map` says, under that name."""
    environment = os.environ | {"COLUMNS": "100", "TERM": "dumb"}
    usage = subprocess.run(
        [sys.executable, "-m", "ruby_map", "--help"], capture_output=True, text=True, env=environment, check=True
    )
    assert "Usage: ruby-map [OPTIONS] [ARCH] [WORKLOAD]" in usage.stdout
    bad = subprocess.run([sys.executable, "-m", "ruby_map", "nowhere", "rank1_100"], capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("nowhere: ")


@pytest.mark.parametrize("name", sorted(PROJECT["scripts"]))
def test_every_command_tells_its_version(name):
    """`--version` wins over missing arguments."""
    module, function = PROJECT["scripts"][name].split(":")
    code = f"from {module} import {function}; {function}()"
    told = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == (f"{name} {version('ruby-map')}\n", "")


@pytest.fixture
def told_here(monkeypatch, capsys):
    """What a command prints, run by its entry point in this process."""

    def run_here(name, words, **environment):
        module, function = PROJECT["scripts"][name].split(":")
        handled = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", [name, *words])
            for variable, value in environment.items():
                patch.setenv(variable, value)
            with pytest.raises(SystemExit) as ended:
                getattr(importlib.import_module(module), function)()
        for number, handler in handled.items():
            signal.signal(number, handler)
        told = capsys.readouterr()
        assert (ended.value.code or 0, told.err) == (0, "")
        return told.out

    return run_here


@pytest.mark.parametrize("name", sorted(PROJECT["scripts"]))
def test_every_usage_line_names_arguments_alike(name, told_here):
    """Capitals, and brackets once around what may be left out."""
    told = told_here(name, ["--help"], COLUMNS="100", TERM="dumb")
    usage = next(line for line in told.splitlines() if "Usage:" in line).split("[OPTIONS]")[1].split()
    assert usage
    assert all(re.fullmatch(r"(\[[A-Z_]+\](\.\.\.)?|\{?[A-Z_]+(\.yaml|\.onnx)?\}?)", word) for word in usage), usage


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("ruby-map", ["eyeriss_v"], {"eyeriss_v2_like"}),
        ("ruby-map", ["my_"], set()),  # the shell's own, as below
        ("ruby-map", ["~nobody_of_that_name/"], set()),
        ("ruby-map", ["eyeriss_like", "al"], {"alexnet", "alexnet_conv2_paper", "alike/", "alone.yaml"}),
        ("ruby-map", ["eyeriss_like", "alexnet/conv1"], {"alexnet/conv1"}),
        ("ruby-map", ["eyeriss_like", "alexn"], {"alexnet", "alexnet_conv2_paper"}),
        ("ruby-map", ["a", "b", "--mapspace", "ruby-"], {"ruby-s", "ruby-t"}),
        ("ruby-map", ["a", "b", "--search", "ev"], {"evolve"}),
        ("ruby-model", ["shi"], {"shidiannao_like"}),
        ("ruby-energy", ["gemm"], {"gemmini_like"}),
        ("ruby-code", ["a", "b", "--backend", ""], {"c", "exo", "tvm"}),
        ("ruby-store", ["f.sqlite", "ex"], {"export"}),
    ],
)
def test_names_are_completed(name, words, expected, tmp_path, monkeypatch, told_here):
    """Names of the library, files in YAML, and values of options."""
    (tmp_path / "my_arch.yaml").write_text("")
    (tmp_path / "my_notes.txt").write_text("")
    (tmp_path / "my_folder").mkdir()
    (tmp_path / "my_folder/net.yaml").write_text("")
    (tmp_path / "alone.yaml").write_text("")
    (tmp_path / "alike").mkdir()
    monkeypatch.chdir(tmp_path)
    asked = {
        f"_{name.upper().replace('-', '_')}_COMPLETE": "complete_bash",  # for the last of the words
        "COMP_WORDS": " ".join([name, *words]),
        "COMP_CWORD": str(len(words)),
    }
    assert set(told_here(name, [], **asked).split()) == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is installed")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("eyeriss_v\t", ["eyeriss_v2_like"]),
        ("my_fo\tne\t", ["my_folder/net.yaml"]),
        ("my\\ ot\tne\t", ["my other/net.yaml"]),
        ("eyeriss_like alexnet/conv1\t--mapspace ruby-t\t", ["eyeriss_like", "alexnet/conv1", "--mapspace", "ruby-t"]),
    ],
)
def test_bash_completes_what_is_typed(typed, expected, tmp_path):
    """In a terminal with bash: names of the library, and the paths of files whole, blanks quoted."""
    for folder in ("my_folder", "my other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.yaml").write_text("")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/ruby-map"
    program.write_text(f"#!{sys.executable}\nfrom ruby_map.mapper.commands.entry import ruby_map\nruby_map()\n")
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "TERM": "dumb"}
    script = subprocess.run(
        [program], env=environment | {"_RUBY_MAP_COMPLETE": "source_bash"}, capture_output=True, text=True, check=True
    )
    (tmp_path / "rc").write_text(script.stdout + "told() { printf '%s\\n' \"$@\" > told; }\n")
    us, terminal = pty.openpty()
    bash = subprocess.Popen(
        ["bash", "--noprofile", "--rcfile", "rc", "-i"],
        stdin=terminal, stdout=terminal, stderr=terminal, env=environment, cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    os.write(us, f"ruby-map {typed}\x01told \rexit\r".encode())  # ^A: told ruby-map ..., which notes its words
    try:
        while os.read(us, 4096):
            pass
    except OSError:  # bash has ended, and the terminal with it
        pass
    bash.wait(30)
    os.close(us)
    assert (tmp_path / "told").read_text().splitlines() == ["ruby-map", *expected]


def test_parts_are_there_without_more_imports_and_names_are_ours():
    """`import ruby_map; ruby_map.energy` in a new process; what a notebook offers has no helpers among it."""
    parts = ("energy", "arch", "workloads", "mapper")
    code = f"import ruby_map; print(*(getattr(ruby_map, name).__name__ for name in {parts}))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [f"ruby_map.{part}" for part in parts]
    offered = {name for name in dir(ruby_map) if not name.startswith("__")}
    assert offered == {*ruby_map.__all__, *parts} - {"__version__"}


def test_little_is_imported_before_interrupts_are_handled():
    """A Ctrl-C before the handler of entry.py is a traceback, so nothing slow comes before it."""
    code = (
        "import sys; before = set(sys.modules); import ruby_map.mapper.commands.entry; print(*{*sys.modules} - before)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(told.stdout.split())
    assert "ruby_map.mapper.commands.entry" in imported
    assert not imported & {"importlib.metadata", "typer", "numpy"}
    assert len(imported) < 20


def test_the_citation_is_of_this_version():
    """CITATION.cff and pyproject.toml tell one version and one licence."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
