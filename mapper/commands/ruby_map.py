"""`ruby-map ARCH WORKLOAD` searches a mapspace and prints the best mapping with its costs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .app import DRAIN, HOP, LEAKAGE, TILE, WIRE, new_app
from .choices import ESTIMATES, FUSE, SCHEMAS
from .complete import one_of
from .search_request import ENERGY, OUT, SEARCH, SearchRequest

SCHEMA = "Print the JSON schema of a file or an object and stop; all: every schema."


@dataclass(frozen=True, kw_only=True)
class MapRequest(SearchRequest):
    """Find the best mapping of WORKLOAD on ARCH, by exact counts.

    Exit status: 0 found, 1 nothing valid found or the cost model failed, 2 bad input, 130 interrupted with nothing to
    show or layers missing.
    """

    group: Annotated[
        str,
        typer.Option(
            metavar="A+B",
            help="Search layers of a network as one fused group, by name.",
            rich_help_panel=SEARCH,
        ),
    ] = ""
    fuse: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(FUSE),
            help="auto: fuse layers, keep tensors on chip; resident: only keep tensors; none: layer by layer.",
            rich_help_panel=SEARCH,
        ),
    ] = "none"
    deadline: Annotated[
        float | None,
        typer.Option(metavar="CYCLES", help="With --fuse: plans of so many cycles at most.", rich_help_panel=SEARCH),
    ] = None
    energy_limit: Annotated[
        float | None,
        typer.Option(metavar="PJ", help="With --fuse: plans of so much energy at most.", rich_help_panel=SEARCH),
    ] = None
    pipeline: Annotated[
        str,
        typer.Option(
            metavar="AXIS",
            help="Divide the cores along this axis among the layers of a chain, with --items.",
            rich_help_panel=SEARCH,
        ),
    ] = ""
    items: Annotated[
        int | None,
        typer.Option(metavar="N", help="For --pipeline: items one after another.", rich_help_panel=SEARCH),
    ] = None
    graph: Annotated[
        bool,
        typer.Option(
            "--graph", help="List the graph of a network and stop; needs no ARCH; --out draws it.", rich_help_panel=OUT
        ),
    ] = False
    schema: Annotated[
        str,
        typer.Option(metavar="NAME", autocompletion=one_of(SCHEMAS), help=SCHEMA, rich_help_panel=OUT),
    ] = ""
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table.", rich_help_panel=ENERGY)] = None
    energy: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(ESTIMATES),
            help=f"Estimator of energies and areas: {', '.join(ESTIMATES)}.",
            rich_help_panel=ENERGY,
        ),
    ] = "default"
    art: Annotated[Path | None, typer.Option(help="Accelergy area table.", rich_help_panel=ENERGY)] = None
    leakage: Annotated[bool, typer.Option("--leakage", help=LEAKAGE, rich_help_panel=ENERGY)] = False
    wire_pj_per_bit_mm: Annotated[float, typer.Option(help=WIRE, rich_help_panel=ENERGY)] = 0.0
    tile_mm: Annotated[float, typer.Option(help=TILE, rich_help_panel=ENERGY)] = 0.0
    hop_pj: Annotated[float, typer.Option(help=HOP, rich_help_panel=ENERGY)] = 0.0
    drain_reads: Annotated[bool, typer.Option("--drain-reads", help=DRAIN, rich_help_panel=ENERGY)] = False


def _does(request: MapRequest) -> str:
    """Name the module that does what is asked for."""
    if request.graph:
        return "run_graph"
    return "run_schema" if request.schema else "run_list" if request.names else "run_map"


main = new_app(MapRequest, _does)
