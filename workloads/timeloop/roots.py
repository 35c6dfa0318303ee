"""Puts Timeloop's files together into a document and checks their root keys."""

import warnings
from collections.abc import Iterable
from pathlib import Path

from ..faults import Fault, InputError, InputWarning
from ..reading import Document, near
from ..yaml_files import read_yaml
from .values import TIMELOOP_TAGS, Reader

ROOTS = (
    *("architecture", "arch", "problem", "mapping", "mapper", "mapspace", "variables", "ERT", "ART"),
    *("mapspace_constraints", "architecture_constraints", "arch_constraints", "constraints"),
)
# Root keys that say nothing of counts: of Accelergy's energies, of how Timeloop's front end runs, its own marks.
IDLE = {
    "dumped_by_timeloop_front_end": "",
    "globals": "the environment of Timeloop's front end",
    "components": "energies are estimated here, or given as an ERT",
    "compound_components": "energies are estimated here, or given as an ERT",
    "primitive_components": "energies are estimated here, or given as an ERT",
    "model": "it steers Timeloop's own output",
    "ERT_summary": "",
    "ART_summary": "",
}
REFUSED = {
    "sparse_optimizations": ": this model is of dense workloads",
    "layout": ": data layouts are not modelled",
}


def root_faults(document: Document) -> list[Fault]:
    """The faults of root keys of a Timeloop file that are not read, each with its reason or near names.

    Keys without an effect on counts are warned of. A key with "ignore" in it is the front end's way to say so.
    """
    faults, idle = [], []
    for key in document.data if isinstance(document.data, dict) else ():
        name = key.replace("-", "_")
        if _says_nothing(name, document.data[key]):
            continue
        if name == "sparse_optimizations":
            reader = Reader(document)
            reader.sparse((key,), f"{name} is not supported{REFUSED[name]}")
            faults += reader.faults
            if not reader.faults:
                idle.append(f"{key} (the dense part is counted)")
        elif name in REFUSED:
            faults.append(document.fault((key,), f"{name} is not supported{REFUSED[name]}"))
        elif name in IDLE:
            idle += [f"{key} ({IDLE[name]})"] if IDLE[name] else []
        elif name not in ROOTS:
            hint = near(name, ROOTS) or f"; known: {', '.join(ROOTS)}"
            faults.append(document.fault((key,), f'unknown root key "{key}"{hint}'))
    if idle and not faults:
        warn_idle(document.source, idle)
    return faults


def _says_nothing(name: str, value: object) -> bool:
    """Whether a root key is one to pass over, or empty."""
    return "ignore" in name or ((name in IDLE or name in REFUSED) and value in (None, [], {}))


def warn_idle(source: str, keys: Iterable[str]) -> None:
    """Warn of keys of a file that have no effect on counts, in one line."""
    warnings.warn(f"{source}: without effect on counts: {', '.join(dict.fromkeys(keys))}", InputWarning, stacklevel=2)


def read_timeloop(*paths: Path | str) -> Document:
    """Timeloop's files as a single document, as by `read_yaml`; root keys are checked file by file.

    Raises InputError with the faults of all files.
    """
    faults: list[Fault] = []
    for path in paths:
        try:
            faults += root_faults(read_yaml(path, tags=TIMELOOP_TAGS))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return read_yaml(*paths, tags=TIMELOOP_TAGS)
