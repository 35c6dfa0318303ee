"""`ruby-machine > cpu.yaml` writes the processor at hand as an architecture; with layers, it fits times to programs."""

from dataclasses import dataclass
from typing import Annotated

import typer

from .app import Request, new_app
from .choices import DATA_TYPES
from .complete import machines, one_of


@dataclass(frozen=True, kw_only=True)
class MachineRequest(Request):
    """Read the caches, cores and vectors of this processor, measure its rates (some seconds), print it as YAML.

    With ARCH, such a file, and layers: run random mappings of them on one core, fit the seconds of what they do, and
    print the file with these as its calibration; ruby-code and ruby-model then predict times.

    Exit status: 0 printed, 1 no compiler, a program that fails, nothing known of caches, 2 bad input.
    """

    arch: Annotated[
        str,
        typer.Argument(autocompletion=machines, metavar="ARCH", help="A file it wrote: fit times and print it again."),
    ] = ""
    layers: Annotated[list[str] | None, typer.Argument(metavar="LAYER", help="Layers whose mappings are run.")] = None
    name: Annotated[str, typer.Option(help="Of the architecture.")] = "cpu"
    vector_bytes: Annotated[int | None, typer.Option(help="As if vectors had so many bytes: 16, 32 or 64.")] = None
    samples: Annotated[int, typer.Option(min=10, help="With layers: mappings of each that are run.")] = 50
    dtype: Annotated[
        str, typer.Option(autocompletion=one_of(DATA_TYPES), help=f"With layers: {', '.join(DATA_TYPES)}.")
    ] = "float32"
    seed: Annotated[int, typer.Option(help="With layers: of the mappings that are drawn.")] = 0


main = new_app(MachineRequest, "run_machine")
