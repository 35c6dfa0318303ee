"""`ruby-import` writes files of other tools as ours: ONNX models, and ZigZag's accelerators and workloads."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
import yaml

from ...arch import parse_arch
from ...arch.zigzag import is_zigzag_accelerator, read_zigzag_accelerator, read_zigzag_mapping
from ...workloads import Document, Fault, InputError, import_onnx, network_yaml, parse_yaml, read_yaml, write_whole
from ...workloads.onnx import left_out_lines
from ...workloads.zigzag import is_zigzag_workload, read_zigzag_workload
from ..runtime import say, tell
from .shared import FOUND, Request, new_app


@dataclass(frozen=True, kw_only=True)
class ImportRequest(Request):
    """The arguments and options of `ruby-import`."""

    model: Annotated[Path, typer.Argument(help="An ONNX file; or an accelerator or a workload of ZigZag, in YAML.")]
    out: Annotated[Path | None, typer.Option(help="A new file; without it, standard output.")] = None
    dim: Annotated[list[str], typer.Option(help="NAME=SIZE of a dynamic dim, repeatable.")] = field(
        default_factory=list
    )
    mapping: Annotated[
        Path | None, typer.Option(help="With an accelerator: ZigZag's mapping file, for what the array may spread.")
    ] = None
    entry: Annotated[str, typer.Option(help="Which mapping of that file, by its name.")] = "default"


def ruby_import(request: ImportRequest) -> int:
    """Write the layers of MODEL as a network file for ruby-map, equal ones counted; what is left out is named.

    Of an accelerator write an architecture file.

    Exit status: 0 written, 2 bad input.
    """
    faults: list[Fault] = []
    dims = _sizes(request.dim, faults)
    if request.out and os.path.lexists(request.out):
        faults.append(Fault("--out", None, str(request.out), "exists already: name another file or remove it"))
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
        say(text, nl=False)
    else:
        write_whole(request.out, text)
        tell(f"{request.out}: {len(imported.layers)} layers, {imported.macs:,} MACs")
    for line in left_out_lines(imported):
        tell(line)
    return FOUND


def _accelerator(document: Document, request: ImportRequest) -> int:
    """Write an accelerator of ZigZag as an architecture file, which is read back first."""
    spreads = None if request.mapping is None else read_zigzag_mapping(read_yaml(request.mapping), request.entry)
    data = read_zigzag_accelerator(document, spreads)
    text = f"# {document.source}: an accelerator of ZigZag (docs/zigzag.md)\n"
    text += yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=120)
    machine = parse_arch(parse_yaml(text, str(request.model)))
    if request.out is None:
        say(text, nl=False)
    else:
        write_whole(request.out, text)
        tell(f"{request.out}: {machine.name}, {len(machine.levels)} levels")
    for level in data["levels"]:
        if not level.get("energy"):
            tell(f"{level['name']}: no costs are given, so its energies are estimated here")
    return FOUND


def _sizes(given: list[str], faults: list[Fault]) -> dict[str, int]:
    """Read `N=1` as name and size; appends faults to `faults`."""
    sizes = {}
    for text in given:
        name, _, size = text.rpartition("=")
        if name and size.isascii() and size.isdigit() and int(size[:20]) > 0:
            sizes[name] = int(size[:20])  # more digits than any size has, but few enough for int()
        else:
            faults.append(Fault("--dim", None, "", f"must be NAME=SIZE with a size of at least 1, got {text!r}"))
    return sizes


main = new_app(ImportRequest, ruby_import)
