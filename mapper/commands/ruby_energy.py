"""`ruby-energy ARCH` prints energy and area per action of every component, each with its source."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, WITH, FilesRequest, new_app
from .choices import ESTIMATES
from .complete import machines, one_of


@dataclass(frozen=True, kw_only=True)
class EnergyRequest(FilesRequest):
    """Energy per access of the full width, and area per instance, of every component of ARCH, with their sources.

    Exit status: 0 found, 2 bad input.
    """

    arch: Annotated[
        str, typer.Argument(autocompletion=machines, metavar="ARCH", help="The architecture: a library name or a path.")
    ]
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table: wins over every estimate.")] = None
    art: Annotated[Path | None, typer.Option(help="Accelergy area table: wins over every estimate.")] = None
    engine: Annotated[
        str,
        typer.Option(
            "--energy",
            autocompletion=one_of(ESTIMATES),
            help=f"Estimator of energies and areas: {', '.join(ESTIMATES)}.",
        ),
    ] = "default"
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    to_ert: Annotated[Path | None, typer.Option("--write-ert", help="Save the energies as an ERT, version 0.4.")] = None
    to_art: Annotated[Path | None, typer.Option("--write-art", help="Save the areas as an ART, version 0.4.")] = None
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)


main = new_app(EnergyRequest, "run_energy")
