"""`ruby-import MODEL.onnx` writes the convolutions and matrix products of an ONNX model as a network file."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ...workloads import Fault, InputError, import_onnx, network_yaml, write_whole
from ...workloads.onnx import left_out_lines
from ..runtime import say, tell
from .shared import FOUND, Request, new_app


@dataclass(frozen=True, kw_only=True)
class ImportRequest(Request):
    """The arguments and options of `ruby-import`."""

    model: Annotated[Path, typer.Argument(help="An ONNX file.")]
    out: Annotated[Path | None, typer.Option(help="A new file; without it, standard output.")] = None
    dim: Annotated[list[str], typer.Option(help="NAME=SIZE of a dynamic dim, repeatable.")] = field(
        default_factory=list
    )


def ruby_import(request: ImportRequest) -> int:
    """Write the layers of MODEL as a network file for ruby-map, equal ones counted; what is left out is named.

    Exit status: 0 written, 2 bad input.
    """
    faults: list[Fault] = []
    dims = _sizes(request.dim, faults)
    if request.out and os.path.lexists(request.out):
        faults.append(Fault("--out", None, str(request.out), "exists already: name another file or remove it"))
    if faults:
        raise InputError(faults)
    imported = import_onnx(request.model, dims)
    text = network_yaml(imported)
    if request.out is None:
        say(text, nl=False)
    else:
        write_whole(request.out, text)
        tell(f"{request.out}: {len(imported.layers)} layers, {imported.macs:,} MACs")
    for line in left_out_lines(imported):
        tell(line)
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
