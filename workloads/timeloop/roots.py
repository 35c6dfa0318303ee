"""Puts Timeloop's files together into a document and checks their root keys."""

from pathlib import Path

from ..faults import Fault, InputError
from ..reading import Document, near, read_yaml
from .values import TIMELOOP_TAGS

ROOTS = (
    *("architecture", "arch", "problem", "mapping", "mapper", "mapspace", "variables", "ERT", "ART"),
    *("mapspace_constraints", "architecture_constraints", "arch_constraints"),
)
_OWN_CLASSES = "; leave the file out (docs/energy.md lists the classes known by name), or give the energies as an ERT"
REFUSED = {
    "sparse_optimizations": ": this model is of dense workloads",
    "layout": ": data layouts are not modelled",
    "globals": "; write the values out",
    "model": ": it steers Timeloop's own output",
    "components": f": Accelergy's compound classes are not read{_OWN_CLASSES}",
    "compound_components": _OWN_CLASSES,
    "primitive_components": _OWN_CLASSES,
}


def root_faults(document: Document) -> list[Fault]:
    """The faults of root keys of a Timeloop file that are not read, each with its reason or near names."""
    faults = []
    for key in document.data if isinstance(document.data, dict) else ():
        name = key.replace("-", "_")
        if name in REFUSED:
            if document.data[key] not in (None, [], {}):
                faults.append(document.fault((key,), f"{name} is not supported{REFUSED[name]}"))
        elif name not in ROOTS:
            hint = near(name, ROOTS) or f"; known: {', '.join(ROOTS)}"
            faults.append(document.fault((key,), f'unknown root key "{key}"{hint}'))
    return faults


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
