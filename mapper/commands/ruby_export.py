"""`ruby-export ARCH LAYER [MAPPING] --out DIR` writes a machine, a layer and a mapping as files of other tools."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, WITH, FilesRequest, new_app
from .choices import FORMATS
from .complete import layers, machines, one_of


@dataclass(frozen=True, kw_only=True)
class ExportRequest(FilesRequest):
    """Write ARCH with its constraints, LAYER, and MAPPING if given, as files of another tool.

    Exit status: 0 written, 2 bad input or something that the other tool cannot express.
    """

    arch: Annotated[
        str, typer.Argument(autocompletion=machines, metavar="ARCH", help="The architecture: a library name or a path.")
    ]
    workload: Annotated[str, typer.Argument(autocompletion=layers, metavar="LAYER", help="A layer: a name or a path.")]
    mapping: Annotated[str, typer.Argument(metavar="MAPPING", help="A mapping file.")] = ""
    out: Annotated[Path, typer.Option(help="The folder to write; other files in it stay.")]
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    form: Annotated[str, typer.Option("--format", autocompletion=one_of(FORMATS), help=f"{', '.join(FORMATS)}.")] = (
        "timeloop"
    )
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)


main = new_app(ExportRequest, "run_export")
