"""docs/tutorial.md: its files and commands, in turn, from an empty folder, print what it shows."""

import contextlib
import importlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from .house import PROJECT, ROOT

TUTORIAL = (ROOT / "docs/tutorial.md").read_text()
BLOCKS = re.findall(r"^```(yaml|console|sh)\n(.*?)^```", TUTORIAL, re.DOTALL | re.MULTILINE)


def matches(shown: str, printed: str) -> bool:
    """Whether a text is what was shown, where a line `...` stands for any lines, and `...` in a line for any letters.

    >>> matches("a\\n...\\nd 1 ... s\\n", "a\\nb\\nc\\nd 1 2.5 s\\n")
    True
    >>> matches("a\\n...\\n", "b\\n")
    False
    """
    lines = [
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in shown.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is not None


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what is shown of its output."""
    return [(command, shown) for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]


def run(command: str, folder: Path) -> str:
    """What a command, run in a folder, prints."""
    script, *arguments = shlex.split(command)
    function = PROJECT["scripts"][script].split(":")[1]
    with contextlib.chdir(folder):
        done = CliRunner().invoke(importlib.import_module(f"ruby_map.mapper.commands.{function}").main, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def run_alone(command: str, folder: Path) -> str:
    """The same as a process of its own."""
    script, *arguments = shlex.split(command)
    module, function = PROJECT["scripts"][script].split(":")
    code = f"from {module} import {function}; {function}()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tutorial_from_an_empty_folder(tmp_path: Path) -> None:
    """Every command, in its order; each file has its name in its first line, and nothing else is needed."""
    for kind, block in BLOCKS:
        if kind == "yaml":
            (tmp_path / re.match(r"# (\S+):", block)[1]).write_text(block)  # type: ignore[index]
        for command, shown in commands(block) if kind == "console" else ():
            if "--quick" in command:  # whose answer depends on the machine
                continue
            printed = run(command, tmp_path)
            assert matches(shown, printed), f"{command}\n{printed}"
    assert {"machine.yaml", "layer.yaml", "results", "proof.json"} <= {path.name for path in tmp_path.iterdir()}


def test_the_first_answer_has_the_lines_shown(tmp_path: Path) -> None:
    """A second's search prints a nest and its costs, whichever mapping it ends with."""
    ((command, shown),) = commands(next(block for kind, block in BLOCKS if kind == "console"))
    assert matches(shown, run_alone(command, tmp_path))


@pytest.mark.parametrize("name", ["machine.yaml", "layer.yaml"])
def test_the_files_are_those_of_the_examples(name: str) -> None:
    """examples/ has the same machine and layer."""
    (block,) = [block for kind, block in BLOCKS if kind == "yaml" and block.startswith(f"# {name}:")]
    assert yaml.safe_load(block) == yaml.safe_load((ROOT / "examples" / name).read_text())


def test_the_commands_of_the_readme_that_use_the_examples(tmp_path: Path) -> None:
    """In their order, from a folder with the examples, whose searches end sooner."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    changed(tmp_path / "examples/sweep.yaml", {"time_limit: 10}": "time_limit: 0.2}"})
    changed(tmp_path / "examples/block.yaml", {"P: 14, Q: 14": "P: 4, Q: 4", "384": "6", "64": "3"})
    lines = re.findall(r"^(ruby-.*examples/.*?)(?: +#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert {line.split()[0] for line in lines} == {"ruby-map", "ruby-model", "ruby-energy", "ruby-sweep"}
    assert any("--budget 10s" in line for line in lines)
    for line in lines:
        run(line.replace("--budget 10s", "--budget 10m --effort quick") + " --quick" * ("--group" in line), tmp_path)
    assert (tmp_path / "results/mapping.html").exists()
    assert (tmp_path / "swept/report.html").exists()


def changed(path: Path, texts: dict[str, str]) -> None:
    """Replace texts of a file, each of which it has."""
    text = path.read_text()
    for old, new in texts.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
