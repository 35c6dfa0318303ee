"""What all back ends share: a program is files, which compute the output of drawn operands and take their time."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np

from ...arch import Architecture
from ...workloads import Fault, Workload
from .data_types import DataType
from .nest import Nest
from .reference import Array, expected, operands

COMPILERS = ("cc", "gcc", "clang")
SECONDS = 600  # that a compiler or a program may take


class ProgramError(RuntimeError):
    """There is no compiler, or it fails, or the program does."""


@dataclass(frozen=True)
class Measurement:
    """A run of a program."""

    correct: bool
    wrong: int  # words that are not those of NumPy
    words: int  # of the output
    seconds: float  # of the fastest run
    runs: int
    macs: int

    @property
    def gflops(self) -> float:
        """Billions of operations a second: two for each MAC."""
        return 2 * self.macs / self.seconds / 1e9


class Backend(Protocol):
    """A language in which a nest can be written."""

    @property
    def name(self) -> str: ...

    @property
    def calibrated(self) -> bool:
        """Whether its programs are those that a machine's calibration is fitted to."""
        ...

    def faults(self, nest: Nest, kind: DataType) -> list[Fault]:
        """Say why it cannot write a nest; empty where it can."""
        ...

    def files(self, nest: Nest, kind: DataType) -> Mapping[str, str]:
        """Write a nest as files, by name."""
        ...

    def measured(self, folder: Path, nest: Nest, kind: DataType, seed: int) -> Measurement:
        """Run the files in `folder`, compare and time them. Raises ProgramError."""
        ...


def measured(command: Sequence[str], folder: Path, nest: Nest, kind: DataType, seed: int) -> Measurement:
    """Run a program on drawn operands, each in a file, and judge the file that it writes. Raises ProgramError."""
    inputs = operands(nest.workload, kind, seed)
    with TemporaryDirectory(prefix="ruby-code-") as name:
        files = [Path(name) / f"{number}.bin" for number in range(len(inputs) + 1)]
        for path, array in zip(files, inputs.values(), strict=False):
            array.tofile(path)
        lines = run([*command, *map(str, files)], folder, "the program fails").split()
        output = np.fromfile(files[-1], kind.numpy_output)
    return compared(output, inputs, [float(line) for line in lines], nest, kind)


def compared(
    output: Array, inputs: Mapping[str, Array], seconds: Sequence[float], nest: Nest, kind: DataType
) -> Measurement:
    """Judge an output, row-major, by NumPy. Raises ProgramError for an output of another size."""
    sums = expected(nest.workload, inputs)
    if output.size != sums.size:
        raise ProgramError(f"the program wrote {output.size:,} words, not {sums.size:,}")
    difference = np.abs(output.reshape(sums.shape).astype(np.float64) - sums)
    wrong = int(np.count_nonzero(difference != 0))  # NaN is
    return Measurement(wrong == 0, wrong, sums.size, min(seconds), len(seconds), nest.workload.macs)


def need(package: str, extra: str) -> None:
    """Raise ProgramError where a package that only programs import, not we, is not installed."""
    if find_spec(package) is None:
        raise ProgramError(f"schedule.py needs the extra {extra}: pip install 'ruby-map[{extra}]'")


def compiler() -> list[str]:
    """Return the C compiler: $CC, words as a shell reads them, or the first of cc, gcc, clang.

    Raises ProgramError where there is none.
    """
    given = os.environ.get("CC", "")
    for words in (shlex.split(given),) if given else ([name] for name in COMPILERS):
        if words and (path := shutil.which(words[0])):
            return [os.path.abspath(path), *words[1:]]
    named = f"$CC is {given!r}, which is not found" if given else f"none of {', '.join(COMPILERS)} is found"
    raise ProgramError(f"no C compiler: {named}; install gcc or clang")


def compiler_version() -> str:
    """Return the first line of what the compiler says of itself. Raises ProgramError."""
    return run([*compiler(), "--version"], Path.cwd(), "the compiler fails").splitlines()[0]


def run(command: Sequence[str], folder: Path, problem: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a command in `folder`; return what it prints. Raises ProgramError with the end of its messages."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
            env=None if environment is None else {**os.environ, **environment},
        )
    except OSError as error:
        raise ProgramError(f"{problem}: {command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ProgramError(f"{problem}: not done after {SECONDS} s") from None
    if done.returncode:
        said = [*done.stdout.strip().splitlines(), *done.stderr.strip().splitlines()]
        status = f"status {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise ProgramError("\n".join([f"{problem} ({status}):", *said[-30:]]))
    return done.stdout


def thread_faults(arch: Architecture) -> list[Fault]:
    """Say where threads should run more than one axis."""
    axes = [axis.name for level in arch.levels for axis in level.fanout if axis.code == "threads"]
    if len(axes) < 2:
        return []
    return [Fault(arch.name, None, "code", f"threads run one axis at most; these say so: {', '.join(axes)}")]


def _check_bytes(workload: Workload) -> int:
    """What an einsum may need: each tensor with an axis for each of its dims, in float64, and once more."""
    words = sum(prod(workload.size(dim) for dim in tensor.dims) for tensor in workload.tensors)
    return 16 * words


def memory_faults(workload: Workload, kind: DataType, buffer_bytes: int = 0) -> list[Fault]:
    """Say where the tensors and buffers of a program are more than half of this machine's memory."""
    have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    sizes = {
        tensor.name: workload.tensor_words(tensor) * (kind.output_bytes if tensor.output else kind.operand_bytes)
        for tensor in workload.tensors
    } | {"buffers": buffer_bytes, "NumPy's check": _check_bytes(workload)}
    if sum(sizes.values()) <= have / 2:
        return []
    listing = ", ".join(f"{name} {size / 2**30:,.3g} GiB" for name, size in sizes.items() if size)
    return [Fault(workload.name, None, "", f"too large to run in {have / 2**30:.3g} GiB of memory: {listing}")]
