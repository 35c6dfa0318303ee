"""Files of every kind, changed at random, through the commands: no traceback, no hang, bounded memory (fuzz.py)."""

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import DEEP

FUZZ = Path(__file__).parents[1] / "fuzz.py"
CASES = 20_000 if DEEP else 40
PARTS = 20 if DEEP else 2  # processes, so that several work at once


@pytest.mark.parametrize("part", range(PARTS))
def test_no_change_of_a_file_is_fatal(tmp_path, part):
    """The same changes every time; in the deep run new ones, whose seed stands in the failure."""
    seed = secrets.token_hex(4) if DEEP else "0"
    size = CASES // PARTS
    command = [sys.executable, FUZZ, tmp_path, seed, str(size * (part + 1)), str(size * part)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}{done.stderr}"
    assert f"{size} cases, 0 failed" in done.stderr


def test_it_notices(tmp_path):
    """What it is to find is found: a traceback, too much time, too much memory, bad input with results."""
    script = f"""
import sys
sys.path.insert(0, {str(FUZZ.parent)!r})
import fuzz
from pathlib import Path
fuzz.SECONDS = 1
def hang(_):
    while True: pass
ways = {{"trace": lambda _: 1 / 0, "hang": hang, "memory": lambda _: bytearray(5 * 2**30)}}
ways |= {{"odd": lambda _: sys.exit(77), "silent": lambda _: sys.exit(2), "nothing": lambda _: sys.exit(0)}}
fuzz.APPS.update(ways)
for name in ways:
    print(name, "|", fuzz.run(fuzz.Case(name, (), {{}}, ()), Path({str(tmp_path)!r}) / name))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    told = dict(line.split(" | ") if " | " in line else (line.split()[0], "") for line in done.stdout.splitlines())
    assert "ZeroDivisionError" in told["trace"]
    assert "SIGXCPU" in told["hang"]
    assert "MemoryError" in told["memory"]
    assert "status 77" in told["odd"]
    assert "bad input that printed" in told["silent"]
    assert told["nothing"] == ""
