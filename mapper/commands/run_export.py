"""`ruby-export ARCH LAYER [MAPPING] --out DIR` writes a machine, a layer and a mapping as files of other tools."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import yaml

from ...arch import Architecture, Storage
from ...arch.timeloop import (
    NodeDumper,
    dummy_name,
    write_timeloop_arch,
    write_timeloop_constraints,
    write_timeloop_nodes,
)
from ...arch.zigzag import write_zigzag_accelerator, write_zigzag_mapping
from ...energy import energy_table
from ...workloads import Fault, InputError, Workload, unknown_choice, written_together
from ...workloads.timeloop import write_timeloop_problem
from ...workloads.zigzag import write_zigzag_workload, zigzag_names
from ..exploration import evaluate, load
from ..mapping import MappingBatch, write_mapping_of_axes
from ..runtime import print_message, print_result
from .guard import FOUND
from .ruby_export import ExportRequest

Documents = dict[str, Any]  # by the name of the file


def _tree(arch: Architecture, layer: Workload, batch: MappingBatch | None) -> Documents:
    """What Timeloop's own binaries read: a 0.3 tree, in which each axis has a dummy storage."""
    _same_widths(arch, layer)
    files: Documents = {
        "arch.yaml": write_timeloop_arch(arch, dummies=True),
        "problem.yaml": write_timeloop_problem(layer),
        "constraints.yaml": write_timeloop_constraints(arch, layer),
    }
    if batch is not None:
        files["mapping.yaml"] = {"mapping": write_mapping_of_axes(batch, dummy_name, dummies=True)}
    return files


def _nodes(arch: Architecture, layer: Workload, batch: MappingBatch | None) -> Documents:
    """What Timeloop's front end reads: 0.4 nodes with their constraints, in which each axis is a container."""
    _same_widths(arch, layer)
    problem = write_timeloop_problem(layer)["problem"]
    files: Documents = {
        "arch.yaml": write_timeloop_nodes(arch, layer),
        "problem.yaml": {"problem": {"version": 0.4, **problem}},
    }
    if batch is not None:
        entries = write_mapping_of_axes(batch, lambda axis: axis.name, dummies=False)
        kept = {"type": "dataspace"}  # which the front end does not know as bypass
        files["mapping.yaml"] = {"mapping": [{**e, **kept} if e["type"] == "bypass" else e for e in entries]}
    return files


def _same_widths(arch: Architecture, layer: Workload) -> None:
    """Raise ValueError where a tensor has words of a width of its own, which Timeloop does not know."""
    faults = [
        f"words of {tensor.name} have {tensor.word_bits} bits, those of {level.name} {level.word_bits}"
        for tensor in layer.tensors
        for level in arch.levels
        if tensor.word_bits and tensor.word_bits != level.word_bits and tensor.name not in level.bypass
    ]
    if faults:
        raise ValueError(f"{layer.name} cannot be written for Timeloop: {'; '.join(faults)}")


def _zigzag(arch: Architecture, layer: Workload, batch: MappingBatch | None) -> Documents:
    """ZigZag's files: the machine with its energies, the layer, and how a mapping spreads it."""
    table, tensors = energy_table(arch), layer.tensors
    energies = {level.name: (level.read_pj, level.write_pj, level.update_pj) for level in table.levels}
    kept = {
        level.name: [t.name for v, t in enumerate(tensors) if _keeps(batch, i, v, level, t.name)]
        for i, level in enumerate(arch.levels)
    }
    axes = [(slot.axis.name, s) for s, slot in enumerate(arch.slots) if slot.axis]
    bounds = {} if batch is None else {name: batch.factors[0, s].tolist() for name, s in axes}
    spread = {name: dict(zip(layer.dims, axis_bounds, strict=True)) for name, axis_bounds in bounds.items()}
    return {
        "accelerator.yaml": write_zigzag_accelerator(arch, energies, table.compute.mac_pj(layer), kept),
        "workload.yaml": write_zigzag_workload(layer, _widths(arch, layer, kept)),
        "mapping.yaml": write_zigzag_mapping(arch, spread, zigzag_names(layer)),
    }


def _widths(arch: Architecture, layer: Workload, kept: Mapping[str, Collection[str]]) -> dict[str, int]:
    """The bits of each tensor, which ZigZag has once. Raises ValueError where levels have different ones."""
    widths: dict[str, int] = {}
    for tensor in layer.tensors:
        keepers = [level for level in arch.levels if tensor.name in kept[level.name]]
        bits = {level.name: level.bits(tensor.name, tensor.word_bits) for level in keepers}
        if len(set(bits.values())) > 1:
            shown = ", ".join(f"{name} {n}" for name, n in bits.items())
            raise ValueError(f"words of {tensor.name} have one width in ZigZag; here {shown} bits")
        widths[tensor.name] = next(iter(bits.values()))
    return widths


def _keeps(batch: MappingBatch | None, level: int, v: int, storage: Storage, tensor: str) -> bool:
    """Whether a mapping keeps a tensor at a level; without one, whether the level may."""
    return tensor not in storage.bypass if batch is None else bool(batch.keep[0, level, v])


FORMATS: dict[str, Callable[[Architecture, Workload, MappingBatch | None], Documents]] = {
    "timeloop": _tree,
    "timeloop-0.4": _nodes,
    "zigzag": _zigzag,
}


def run(request: ExportRequest) -> int:
    """Write ARCH with its constraints, LAYER, and MAPPING if given, as files of another tool.

    Exit status: 0 written, 2 bad input or something that the other tool cannot express.
    """
    if request.form not in FORMATS:
        raise InputError(unknown_choice("format", request.form, FORMATS))
    arch, layer = load(request.arch, request.workload, request.more)
    if not isinstance(layer, Workload):
        raise InputError(Fault(layer.name, None, "", "files are of one layer; name one, as NETWORK/LAYER"))
    result = evaluate(arch, layer, request.mapping) if request.mapping else None
    if result is not None and result.hint:
        print_message(
            "\n".join([f"warning: {request.mapping} is not valid on {arch.name}:", *result.hint.splitlines()])
        )
    try:
        files = FORMATS[request.form](arch, layer, None if result is None else result.batch)
    except ValueError as error:
        raise InputError(Fault(request.arch, None, "", str(error))) from None
    again = "make room and run the same command again"
    with written_together(request.out, "mapping.yaml", again, "ruby-export", request.force) as part:
        for name, document in files.items():
            text = yaml.dump(document, Dumper=NodeDumper, sort_keys=False, default_flow_style=None, width=120)
            (part / name).write_text(text, encoding="utf-8")
    print_result(f"{layer.name} on {arch.name}: {', '.join(files)} in {request.out}")
    return FOUND
