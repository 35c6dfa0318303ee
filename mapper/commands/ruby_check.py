"""`ruby-check ARCH WORKLOAD CERTIFICATE` checks the proof in a file. It shares no code with the search."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FIX, IM2COL, PAD, PLACEMENT, WITH, FilesRequest, new_app
from .choices import ESTIMATES
from .complete import layers, machines, one_of


@dataclass(frozen=True, kw_only=True)
class CheckRequest(FilesRequest):
    """Verify the certificate of a proof: its sets of chains cover the mapspace, its bounds hold, its mapping is valid.

    Exit status: 0 verified, 1 refused, with the reason, 2 bad input.
    """

    arch: Annotated[
        str, typer.Argument(autocompletion=machines, metavar="ARCH", help="The architecture: a library name or a path.")
    ]
    workload: Annotated[
        str, typer.Argument(autocompletion=layers, metavar="WORKLOAD", help="The layer or network: a name or a path.")
    ]
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="The file that --certificate wrote.")]
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table, if one was given.")] = None
    energy: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(ESTIMATES), help=f"Estimator of energies and areas: {', '.join(ESTIMATES)}."
        ),
    ] = "default"
    no_energy: Annotated[bool, typer.Option("--no-energy", help="Of a search with this option.")] = False
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)
    pad: Annotated[bool, typer.Option("--pad", help=PAD)] = False
    im2col: Annotated[bool, typer.Option("--im2col", help=IM2COL)] = False
    placement: Annotated[str, typer.Option(help=PLACEMENT)] = ""
    fix: Annotated[list[str], typer.Option(help=FIX)] = field(default_factory=list)


main = new_app(CheckRequest, "run_check")
