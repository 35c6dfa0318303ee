"""A mapping in whatever form it is given: a file, transforms, an array, a result."""

import os
from pathlib import Path

from ...arch import Architecture
from ...workloads import Document, Fault, InputError, Workload, read_yaml
from ...workloads.timeloop import TIMELOOP_TAGS
from ..fusion.plans import is_plan
from ..mapping import MappingBatch, read_mapping, write_mapping
from ..mapping.transforms import ROOT, Transforms, applied, read_transforms
from ..networks import is_network_plan
from ..report import Result
from .inputs import Spec


def mapping_of(
    mapping: Spec | MappingBatch | Transforms | Result, arch: Architecture, workload: Workload
) -> MappingBatch:
    """Make a batch of one of a mapping, which is checked like a file. Raises InputError with every fault.

    A file is in Timeloop's format, or has the key `transforms`, which may pad the workload.
    """
    given = mapping.batch if isinstance(mapping, Result) else mapping
    if isinstance(given, Transforms):
        return applied(given, arch, workload)
    if isinstance(given, str | os.PathLike):
        document = read_yaml(Path(given), tags=TIMELOOP_TAGS)
        if isinstance(document.data, dict) and ROOT in document.data:
            return applied(read_transforms(document), arch, workload, document)
        if is_plan(document) or is_network_plan(document):
            rule = f"a plan is of layers of a network; {workload.name} is one layer"
            raise InputError(document.fault(("parts" if is_network_plan(document) else "group",), rule))
        return read_mapping(Path(given), arch, workload)
    return read_mapping(_document(given), arch, workload)


def _document(batch: object) -> Document:
    """Write a batch of one as a document. Raises InputError for anything else."""
    if not isinstance(batch, MappingBatch | None):
        rule = f"must be a file, a mapping or a result; got {type(batch).__name__} {batch!r}"
        raise InputError(Fault("mapping", None, "", rule))
    if batch is None or len(batch) != 1:
        number = 0 if batch is None else len(batch)
        raise InputError(Fault("mapping", None, "", f"must be one mapping, got {number}"))
    return Document(f"mapping of {batch.workload.name} on {batch.arch.name}", write_mapping(batch), {})
