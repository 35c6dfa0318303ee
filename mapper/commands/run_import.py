"""`ruby-import` writes files of other tools as ours: ONNX models, and ZigZag's accelerators and workloads."""

import yaml

from ...arch import parse_arch
from ...arch.zigzag import is_zigzag_accelerator, read_zigzag_accelerator, read_zigzag_mapping
from ...workloads import Document, Fault, InputError, parse_yaml, read_yaml, write_whole
from ...workloads.onnx import import_onnx, left_out_lines, network_yaml
from ...workloads.outputs import OutputFile, note_input
from ...workloads.zigzag import is_zigzag_workload, read_zigzag_workload
from ..runtime import print_message, print_result
from .guard import FOUND
from .ruby_import import ImportRequest
from .shared import dim_sizes


def run(request: ImportRequest) -> int:
    """Write the layers and operations of MODEL as a network file for ruby-map; what is left out is named.

    Of an accelerator write an architecture file.

    Exit status: 0 written, 2 bad input.
    """
    faults: list[Fault] = []
    dims = dim_sizes(request.dim, faults)
    note_input(request.model)
    if request.out:  # a network that was imported may have been edited since: it is no more ours
        faults += OutputFile("out", request.out, "", force=request.force).faults()
    if faults:
        raise InputError(faults)
    document = read_yaml(request.model) if request.model.suffix.lower() in (".yaml", ".yml") else None
    if document is not None and is_zigzag_accelerator(document):
        return _accelerator(document, request)
    if request.mapping is not None:
        raise InputError(Fault("--mapping", None, "", "goes with an accelerator of ZigZag"))
    if document is None:
        imported = import_onnx(request.model, dims)
    elif is_zigzag_workload(document):
        imported = read_zigzag_workload(document, request.model.stem)
    else:
        rule = "is neither an accelerator (memories, operational_array) nor a workload (operator_type) of ZigZag"
        raise InputError(document.fault((), rule))
    text = network_yaml(imported)
    if request.out is None:
        print_result(text, nl=False)
    else:
        write_whole(request.out, text)
        print_message(f"{request.out}: {imported.title}")
    for line in left_out_lines(imported):
        print_message(line)
    return FOUND


def _accelerator(document: Document, request: ImportRequest) -> int:
    """Write an accelerator of ZigZag as an architecture file, which is read back first."""
    spreads = None if request.mapping is None else read_zigzag_mapping(read_yaml(request.mapping), request.entry)
    data = read_zigzag_accelerator(document, spreads)
    text = f"# {document.source}: an accelerator of ZigZag (docs/zigzag.md)\n"
    text += yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=120)
    machine = parse_arch(parse_yaml(text, str(request.model)))
    if request.out is None:
        print_result(text, nl=False)
    else:
        write_whole(request.out, text)
        print_message(f"{request.out}: {machine.name}, {len(machine.levels)} levels")
    for level in data["levels"]:
        if not level.get("energy"):
            print_message(f"{level['name']}: no costs are given, so its energies are estimated here")
    return FOUND
