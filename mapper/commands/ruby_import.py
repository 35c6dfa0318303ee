"""`ruby-import MODEL.onnx`: the convolutions and matrix products of an ONNX model as a network file."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ...workloads import Fault, InputError, import_onnx, network_yaml, write_whole
from ...workloads.onnx import left_out_lines
from ..runtime import say, tell
from .shared import FOUND, new_app


def ruby_import(
    model: Annotated[Path, typer.Argument(help="An ONNX file.")],
    out: Annotated[Path | None, typer.Option(help="A new file; without it, standard output.")] = None,
    dim: Annotated[list[str] | None, typer.Option(help="NAME=SIZE of a dynamic dim, repeatable.")] = None,
) -> int:
    """Write the layers of MODEL as a network file for ruby-map, equal ones counted; what is left out is named.

    Exit status: 0 written, 2 bad input.
    """
    faults: list[Fault] = []
    dims = _sizes(dim or [], faults)
    if out and os.path.lexists(out):
        faults.append(Fault("--out", None, str(out), "exists already: name another file or remove it"))
    if faults:
        raise InputError(faults)
    imported = import_onnx(model, dims)
    text = network_yaml(imported)
    if out is None:
        say(text, nl=False)
    else:
        write_whole(out, text)
        tell(f"{out}: {len(imported.layers)} layers, {imported.macs:,} MACs")
    for line in left_out_lines(imported):
        tell(line)
    return FOUND


def _sizes(given: list[str], faults: list[Fault]) -> dict[str, int]:
    """`N=1` as name and size."""
    sizes = {}
    for text in given:
        name, _, size = text.rpartition("=")
        if name and size.isascii() and size.isdigit() and int(size[:20]) > 0:
            sizes[name] = int(size[:20])  # more digits than any size has, and few enough to be read
        else:
            faults.append(Fault("--dim", None, "", f"must be NAME=SIZE with a size of at least 1, got {text!r}"))
    return sizes


main = new_app(ruby_import)
