"""How the tests run: Hypothesis profiles, the tests marked deep only on request; and what several of them share."""

import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from .schema_files import object_faults

DEEP = bool(os.environ.get("RUBY_DEEP"))  # set by `make test-deep`

# Hundreds of tests start a process: without byte code each would compile all our modules anew, a second of two.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# As in searches: where other processes run, threads of linear algebra that wait take many times the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# default: the same examples every time, so that a failure belongs to the change at hand and not to luck.
# deep: many more, new ones on each run.
COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("default", COMMON, max_examples=25, derandomize=True)
settings.register_profile("deep", COMMON, max_examples=5_000)
settings.load_profile("deep" if DEEP else "default")

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="needs a C compiler: cc, gcc or clang"
)


@pytest.fixture(autouse=True)
def _every_object_has_its_schema(monkeypatch):
    """What any test makes a command print for --json is what its schema says."""
    from ruby_map.mapper.commands import guard

    print_result, wrong = guard.print_result, []

    def checked(text):
        command = sys._getframe(2).f_globals["__name__"].rsplit(".", 1)[1]
        wrong.extend(object_faults(command, json.loads(text)))
        print_result(text)

    monkeypatch.setattr(guard, "print_result", checked)
    yield
    assert not wrong


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests marked deep to the deep profile."""
    deep = [item for item in items if item.get_closest_marker("deep")]
    if deep and not DEEP:
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if item not in deep]


def interrupt_at(call):
    """A progress callback that stands for Ctrl-C at its `call`-th time."""
    calls = itertools.count(1)

    def progress(layer, recorder):
        if next(calls) == call:
            raise KeyboardInterrupt

    return progress


@pytest.fixture
def onnx_networks(monkeypatch):
    """The package that builds ONNX models, of `experiments/`; without onnx the test is skipped."""
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'ruby-map[onnx]'")
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "experiments")
    return importlib.import_module("onnx_networks")


@pytest.fixture
def small_disk(tmp_path, request):
    """A file system of so many kB; skips where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}k", "none", place]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", place], check=True)
