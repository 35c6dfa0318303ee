"""`ruby-import` writes files of other tools as ours: ONNX models, and ZigZag's accelerators and workloads."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, Request, new_app


@dataclass(frozen=True, kw_only=True)
class ImportRequest(Request):
    """Write the layers and operations of MODEL as a network file for ruby-map; what is left out is named.

    Of an accelerator write an architecture file.

    Exit status: 0 written, 2 bad input.
    """

    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="An ONNX file; or an accelerator or a workload of ZigZag, in YAML.")
    ]
    out: Annotated[Path | None, typer.Option(help="A new file; without it, standard output.")] = None
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    dim: Annotated[list[str], typer.Option(help="NAME=SIZE of a dynamic dim, repeatable.")] = field(
        default_factory=list
    )
    mapping: Annotated[
        Path | None, typer.Option(help="With an accelerator: ZigZag's mapping file, for what the array may spread.")
    ] = None
    entry: Annotated[str, typer.Option(help="Which mapping of that file, by its name.")] = "default"


main = new_app(ImportRequest, "run_import")
