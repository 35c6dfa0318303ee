"""The wheel holds everything a user needs, and nothing else."""

import json
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("workloads", "arch", "energy", "mapper", "ruby_map")
UV = (sys.executable, "-m", "uv", "--offline", "--no-config", "--quiet")
LEFT_OUT = (".*", "build", "dist", "*.egg-info", "__pycache__", "golden", "out")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by way of the source distribution from a copy (building leaves files in the tree)."""
    base = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, base / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT))
    run([sys.executable, "-m", "build", "--outdir", base / "dist", base / "tree"], base)
    (built,) = (base / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def user(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A new environment with the wheel, as (its bin folder, an empty folder to work in).

    The dependencies are borrowed from this environment by a line in a .pth file. That adds the folder and not what
    the .pth files in it name, so an editable install here stays out of sight.
    """
    environment = tmp_path_factory.mktemp("user")
    run([*UV, "venv", "--allow-existing", "--python", sys.executable, environment], environment)
    run([*UV, "pip", "install", "--python", environment / "bin/python", "--no-deps", "--compile-bytecode", wheel], ROOT)
    (site_packages,) = environment.glob("lib/python*/site-packages")
    (site_packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment / "bin", tmp_path_factory.mktemp("empty")


def run(command: Sequence[str | Path], folder: Path) -> str:
    """What `command`, run in `folder`, prints to standard output; its complaints where it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_four_parts_with_their_data_and_nothing_else(wheel: Path) -> None:
    """Every .py, .yaml, .csv and py.typed of the parts is in the wheel, under ruby_map/, and no other file."""
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tree = wheel.parent.parent / "tree"
    expected = {
        f"ruby_map/{path.relative_to(tree)}".replace("ruby_map/ruby_map/", "ruby_map/")
        for part in PARTS
        for path in (tree / part).rglob("*")
        if path.is_file()
    }
    assert files == expected


def test_a_user_without_the_source_can_list_the_library(user: tuple[Path, Path]) -> None:
    """`ruby-map --list` works from an empty folder, with the package imported from the wheel."""
    programs, folder = user
    listed = run([programs / "ruby-map", "--list"], folder).split()
    assert {"eyeriss_like", "resnet50"} <= set(listed)
    where = run([programs / "python", "-c", "import ruby_map.mapper; print(ruby_map.mapper.__file__)"], folder)
    assert Path(where).is_relative_to(programs.parent)


def test_a_user_without_the_source_has_the_package_the_module_and_the_version(user: tuple[Path, Path]) -> None:
    """`import ruby_map`, `python -m ruby_map` and `--version`, from an empty folder."""
    programs, folder = user
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shown = run([programs / "python", "-c", "import ruby_map; print(ruby_map.__version__, ruby_map.explore)"], folder)
    assert shown.startswith(f"{version} <function explore")
    assert run([programs / "python", "-m", "ruby_map", "--version"], folder) == f"ruby-map {version}\n"
    assert run([programs / "ruby-code", "--version"], folder) == f"ruby-code {version}\n"


def test_the_root_of_the_repository_does_not_hide_the_package(wheel: Path, user: tuple[Path, Path]) -> None:
    """With an installed wheel, in the root of a clone: Python finds the folder ruby_map/ there, and its parts."""
    programs, _ = user
    tree = wheel.parent.parent / "tree"
    shown = run([programs / "python", "-c", "import ruby_map; print(ruby_map.explore, ruby_map.arch.__file__)"], tree)
    assert shown.startswith("<function explore")
    assert str(tree / "arch") in shown
    assert run([programs / "python", "-m", "ruby_map", "--version"], tree).startswith("ruby-map ")


def test_a_user_without_the_source_can_map_a_layer(user: tuple[Path, Path]) -> None:
    """The library files and the energy tables come with the wheel, and a search finds a mapping."""
    programs, folder = user
    found = run(
        [
            programs / "ruby-map",
            "eyeriss_like",
            "resnet50/conv2_x_3x3",
            "--search",
            "random",
            "--samples",
            "20000",
            "--json",
        ],
        folder,
    )
    assert json.loads(found)["edp"] > 0
