"""Times of programs: measured, and predicted as a sum of terms, each with the seconds that one of it takes."""

import math
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ...workloads import Fault, InputError
from ..calibration import Sample, weighted
from .data_types import DataType
from .nest import Nest
from .program import Backend, Measurement, ProgramError
from .program_counts import ProgramCounts


def measured_nest(backend: Backend, nest: Nest, kind: DataType, seed: int = 0) -> Measurement:
    """Write a nest to a folder of its own, run and compare it. Raises ProgramError."""
    with TemporaryDirectory(prefix="ruby-code-") as name:
        folder = Path(name)
        for file, text in backend.files(nest, kind).items():
            (folder / file).write_text(text)
        return backend.measured(folder, nest, kind, seed)


def sampled(backend: Backend, nest: Nest, kind: DataType, seed: int = 0) -> Sample:
    """Run a nest as a sample. Raises ProgramError, also where its output is wrong."""
    ran = measured_nest(backend, nest, kind, seed)
    if not ran.correct:
        raise ProgramError(f"{nest.workload.name}: the output is not what NumPy computes")
    return Sample(ProgramCounts(nest, kind).terms, ran.seconds)


def predicted(weights: Mapping[str, float], effort: ProgramCounts) -> float:
    """The seconds of a program: its terms by their weights, shared by its threads."""
    return weighted(weights, effort.terms) / effort.threads


def predicted_seconds(effort: ProgramCounts) -> float | None:
    """The same by the calibration of its machine; None where there is none, or it is of another data type.

    Raises InputError for terms that no program has, times that are not finite, and weights that are all 0.
    """
    arch, calibration = effort.nest.arch, effort.nest.arch.calibration
    if calibration is None or not calibration.seconds or calibration.dtype != effort.kind.name:
        return None
    faults = [
        Fault(arch.name, None, f"calibration.seconds.{name}", f"unknown term; known: {', '.join(effort.terms)}")
        for name, _ in calibration.seconds
        if name not in effort.terms
    ]
    seconds = predicted(dict(calibration.seconds), effort)
    if not 0 <= seconds < math.inf or not any(weight for _, weight in calibration.seconds):
        faults.append(Fault(arch.name, None, "calibration.seconds", f"a program would take {seconds:g} s by these"))
    if faults:
        raise InputError(faults)
    return seconds
