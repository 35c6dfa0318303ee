"""`ruby-code ARCH LAYER [MAPPING] --out DIR` writes a mapping as a program; `--run` runs it beside NumPy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, PLACEMENT, WITH, FilesRequest, duration, new_app
from .choices import BACKENDS, DATA_TYPES, OBJECTIVES, PRESETS
from .complete import layers, machines, one_of

AS = "What a level (cache, buffer, registers) or an axis (loop, threads, lanes) becomes: NAME=ROLE, repeatable."


@dataclass(frozen=True, kw_only=True)
class CodeRequest(FilesRequest):
    """Write the loop nest of a mapping as a program that computes the layer, with its check against plain loops.

    Exit status: 0 written, and with --run correct; 1 no valid mapping, no compiler, or a program that fails or is
    wrong; 2 bad input.
    """

    arch: Annotated[
        str, typer.Argument(autocompletion=machines, metavar="ARCH", help="The architecture: a library name or a path.")
    ]
    workload: Annotated[str, typer.Argument(autocompletion=layers, metavar="LAYER", help="A layer: a name or a path.")]
    mapping: Annotated[str, typer.Argument(metavar="MAPPING", help="A mapping file; without it, search first.")] = ""
    out: Annotated[Path, typer.Option(help="The folder to write; other files in it stay.")]
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    backend: Annotated[str, typer.Option(autocompletion=one_of(BACKENDS), help=f"{', '.join(BACKENDS)}.")] = "c"
    dtype: Annotated[str, typer.Option(autocompletion=one_of(DATA_TYPES), help=f"{', '.join(DATA_TYPES)}.")] = "float32"
    roles: Annotated[list[str], typer.Option("--as", help=AS)] = field(default_factory=list)
    run: Annotated[bool, typer.Option("--run", help="Run it, compare with NumPy, and time it.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    mapspace: Annotated[str, typer.Option(autocompletion=one_of(PRESETS), help=f"To search: {', '.join(PRESETS)}.")] = (
        "ruby-s"
    )
    objective: Annotated[
        str, typer.Option(autocompletion=one_of(OBJECTIVES), help=f"Of that search: {', '.join(OBJECTIVES)}.")
    ] = "edp"
    fastest: Annotated[bool, typer.Option("--fastest", help="Search for the least predicted time.")] = False
    time_limit: Annotated[
        float | None, typer.Option(parser=duration, metavar="SECONDS", help="Seconds for that search, at most.")
    ] = None
    seed: Annotated[int, typer.Option(help="Of that search, and of the operands of --run.")] = 0
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table.")] = None
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)
    placement: Annotated[str, typer.Option(help=PLACEMENT)] = ""


main = new_app(CodeRequest, "run_code")
