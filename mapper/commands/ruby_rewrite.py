"""`ruby-rewrite MODEL --arch ARCH --out DIR` writes a network that computes the same at less cost."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, PLACEMENT, WITH, FilesRequest, new_app
from .choices import EFFORTS, FUSE, OBJECTIVES, PRESETS
from .complete import machines, one_of

PLANS = FUSE[:2]  # of layers one by one no plan is known
ALPHA, GRAPHS = 1.05, 60  # those of a search of rewrites; a test compares them


@dataclass(frozen=True, kw_only=True)
class RewriteRequest(FilesRequest):
    """Rewrite a network by proven substitutions, each result priced by its best plan on ARCH, and write the best.

    Exit status: 0 written, 1 a layer has no mapping, 2 bad input, 130 interrupted before the network had a price.
    """

    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="An ONNX file.")] = None
    arch: Annotated[
        str, typer.Option(autocompletion=machines, metavar="ARCH", help="The architecture: a library name or a path.")
    ] = ""
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The folder to write; other files in it stay.")] = None
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    rules: Annotated[
        Path | None,
        typer.Option(metavar="PAGE.html", help="Instead: write all substitutions as one page, with what proves them."),
    ] = None
    dim: Annotated[list[str], typer.Option(help="NAME=SIZE of a dynamic dim, repeatable.")] = field(
        default_factory=list
    )
    mapspace: Annotated[str, typer.Option(autocompletion=one_of(PRESETS), help=f"{', '.join(PRESETS)}.")] = "ruby-s"
    objective: Annotated[str, typer.Option(autocompletion=one_of(OBJECTIVES), help=f"{', '.join(OBJECTIVES)}.")] = "edp"
    effort: Annotated[
        str, typer.Option(autocompletion=one_of(EFFORTS), help=f"Of each layer and plan: {', '.join(EFFORTS)}.")
    ] = "quick"
    fuse: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(PLANS), help="auto: fuse layers, keep tensors on chip; resident: only keep tensors."
        ),
    ] = "auto"
    alpha: Annotated[float, typer.Option(help="Go on from networks of so many times the best objective, at most.")] = (
        ALPHA
    )
    graphs: Annotated[
        int, typer.Option(metavar="N", help="Networks that are priced, at most; of a large one, of each part.")
    ] = GRAPHS
    jobs: Annotated[int, typer.Option(help="Number of processes; the answer does not depend on it.")] = 1
    seed: Annotated[int, typer.Option(help="Same seed, same answer.")] = 0
    log: Annotated[bool, typer.Option("--log", help="Progress as lines on standard error.")] = False
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table.")] = None
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)
    placement: Annotated[str, typer.Option(help=PLACEMENT)] = ""


main = new_app(RewriteRequest, "run_rewrite")
