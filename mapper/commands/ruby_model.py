"""`ruby-model ARCH WORKLOAD MAPPING` prints counts and costs of a mapping, compares the executor's, explains them.

With a second mapping, or changes by `--set`, it prints how the two differ, by level and tensor. With `--fit` it fits
cycles and energies to what was measured of many mappings.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import DRAIN, HOP, IM2COL, LEAKAGE, NO_ENERGY, PAD, PLACEMENT, TILE, WIRE, WITH, FilesRequest, new_app
from .choices import ESTIMATES
from .complete import layers, machines, one_of


@dataclass(frozen=True, kw_only=True)
class ModelRequest(FilesRequest):
    """Count and cost one mapping. Status 0: valid; 1: it does not fit the machine or violates its constraints (costs
    are shown all the same); 2: bad input, and loops that are no mapping of the workload.

    With --fit FILE: fit cycles and energies to what FILE says was measured of many mappings, and print ARCH with the
    fit as its calibration; ruby-map and ruby-model then predict by it.
    """

    arch: Annotated[
        str,
        typer.Argument(
            autocompletion=machines, metavar="ARCH", help="An architecture: a file, or a name of the library."
        ),
    ]
    workload: Annotated[
        str,
        typer.Argument(
            autocompletion=layers, metavar="WORKLOAD", help="A layer: a file, or a name such as resnet50/conv1."
        ),
    ] = ""
    mapping: Annotated[
        str, typer.Argument(metavar="MAPPING", help="A mapping file (Timeloop's format, residuals as M=4,2).")
    ] = ""
    other: Annotated[str, typer.Argument(metavar="MAPPING_B", help="A second one: show what it changes.")] = ""
    changes: Annotated[
        list[str],
        typer.Option(
            "--set", help="Change it, repeatable: LEVEL: DIM=BOUND, AXIS: DIM=BOUND, order=DIMS, keep=TENSORS"
        ),
    ] = field(default_factory=list)
    transforms: Annotated[bool, typer.Option("--transforms", help="Print it as a list of transforms, in YAML.")] = False
    pad: Annotated[bool, typer.Option("--pad", help=PAD)] = False
    im2col: Annotated[bool, typer.Option("--im2col", help=IM2COL)] = False
    json: Annotated[bool, typer.Option("--json", help="One JSON object to standard output, nothing else.")] = False
    simulated: Annotated[
        bool, typer.Option("--simulate", help="Execute the nest element by element too, and show both.")
    ] = False
    explained: Annotated[bool, typer.Option("--explain", help="Why each count is what it is, symbolically.")] = False
    beside: Annotated[
        Path | None, typer.Option(metavar="STATS", help="Timeloop's statistics of it: show both, and why they differ")
    ] = None
    ert: Annotated[Path | None, typer.Option(help="Energy per action, a file of Accelergy.")] = None
    energy: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(ESTIMATES), help=f"Estimator of energies and areas: {', '.join(ESTIMATES)}."
        ),
    ] = "default"
    art: Annotated[Path | None, typer.Option(help="Area per component, a file of Accelergy.")] = None
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)
    no_energy: Annotated[bool, typer.Option("--no-energy", help=NO_ENERGY)] = False
    placement: Annotated[str, typer.Option(help=PLACEMENT)] = ""
    leakage: Annotated[bool, typer.Option("--leakage", help=LEAKAGE)] = False
    wire_pj_per_bit_mm: Annotated[float, typer.Option(help=WIRE)] = 0.0
    tile_mm: Annotated[float, typer.Option(help=TILE)] = 0.0
    hop_pj: Annotated[float, typer.Option(help=HOP)] = 0.0
    drain_reads: Annotated[bool, typer.Option("--drain-reads", help=DRAIN)] = False
    store: Annotated[Path | None, typer.Option(help="Add the mapping, if it is valid, to this file.")] = None
    objective: Annotated[str, typer.Option(help="With --store: what the mapping is meant to minimise.")] = "edp"
    fit: Annotated[
        Path | None, typer.Option(metavar="MEASURED", help="A CSV: workload, mapping, cycles or seconds, energy_pj.")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="With --fit: of the halves by which terms are chosen.")] = 0


main = new_app(ModelRequest, "run_model")
