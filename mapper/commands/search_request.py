"""The options of `ruby-map` that say how to search, what a search begins with, and where its answer goes."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FIX, FORCE, IM2COL, NO_ENERGY, PAD, PLACEMENT, STORE, WITH, FilesRequest, duration
from .choices import CLUSTERS, EFFORTS, ENGINES, OBJECTIVES, PRESETS, SEARCHES
from .complete import layers, machines, one_of

# the panels of the help
SPACE, SEARCH, STOP, OUT, ENERGY = "Mapspace", "Search", "When to stop", "Output", "Energy and area"
BOUND = 10.0  # seconds
NAME = "a library name (see --list) or a path"


@dataclass(frozen=True, kw_only=True)
class StartRequest(FilesRequest):
    """The options that say what a search begins with."""

    store: Annotated[Path | None, typer.Option(help=STORE, rich_help_panel=SEARCH)] = None
    start_from: Annotated[
        list[Path],
        typer.Option(
            help="Begin with known mappings: a store, a mapping file, a folder of results.", rich_help_panel=SEARCH
        ),
    ] = field(default_factory=list)
    level_names: Annotated[
        str,
        typer.Option(
            help="For --start-from, names of levels and axes: THERE=HERE, several with commas.", rich_help_panel=SEARCH
        ),
    ] = ""
    transfer_only: Annotated[
        bool,
        typer.Option(
            "--transfer-only", help="Do not search: answer the best mapping of --start-from.", rich_help_panel=SEARCH
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class SearchRequest(StartRequest):
    """The arguments of `ruby-map`, and the options of its search."""

    arch: Annotated[str, typer.Argument(autocompletion=machines, metavar="ARCH", help=f"The architecture: {NAME}.")] = (
        ""
    )
    workload: Annotated[
        str,
        typer.Argument(
            autocompletion=layers, metavar="WORKLOAD", help=f"A layer, NETWORK/LAYER, or a network: {NAME}."
        ),
    ] = ""
    mapspace: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(PRESETS),
            help=f"{', '.join(PRESETS)}: which loop bounds need not divide.",
            rich_help_panel=SPACE,
        ),
    ] = "ruby-s"
    placement: Annotated[str, typer.Option(help=PLACEMENT, rich_help_panel=SPACE)] = ""
    fix: Annotated[list[str], typer.Option(help=FIX, rich_help_panel=SPACE)] = field(default_factory=list)
    pad: Annotated[bool, typer.Option("--pad", help=PAD, rich_help_panel=SPACE)] = False
    im2col: Annotated[bool, typer.Option("--im2col", help=IM2COL, rich_help_panel=SPACE)] = False
    size: Annotated[bool, typer.Option("--size", help="Print the mapspace's size and stop.", rich_help_panel=SPACE)] = (
        False
    )
    strategy: Annotated[
        str,
        typer.Option(
            "--search", autocompletion=one_of(SEARCHES), help=f"{', '.join(SEARCHES)}.", rich_help_panel=SEARCH
        ),
    ] = "auto"
    settings: Annotated[
        str, typer.Option(help="Settings of that search: NAME=VALUE, several with commas.", rich_help_panel=SEARCH)
    ] = ""
    cost_model: Annotated[
        str | None,
        typer.Option(help="Minimise what this command prints for a mapping.", rich_help_panel=SEARCH),
    ] = None
    cost_timeout: Annotated[
        float,
        typer.Option(
            parser=duration,
            metavar="SECONDS",
            help="Seconds that the cost model may take for a mapping.",
            rich_help_panel=SEARCH,
        ),
    ] = 60.0
    effort: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(EFFORTS),
            help=f"{', '.join(EFFORTS)}, or mappings=100000,steps=2000000: counted, so the same on any machine.",
            rich_help_panel=STOP,
        ),
    ] = ""
    quick: Annotated[bool, typer.Option("--quick", help="The same as --effort quick.", rich_help_panel=STOP)] = False
    objective: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(OBJECTIVES),
            help=f"What to minimise: {', '.join(OBJECTIVES)}; or a list, where the first decides first.",
            rich_help_panel=SEARCH,
        ),
    ] = "edp"
    seed: Annotated[int, typer.Option(help="Same seed, same answer.", rich_help_panel=SEARCH)] = 0
    jobs: Annotated[
        int, typer.Option(help="Number of processes; the answer does not depend on it.", rich_help_panel=SEARCH)
    ] = 1
    victory: Annotated[int, typer.Option(help="Valid mappings in a row without improvement.", rich_help_panel=STOP)] = (
        3000
    )
    samples: Annotated[int | None, typer.Option(help="Mappings drawn, valid or not.", rich_help_panel=STOP)] = None
    time_limit: Annotated[
        float | None,
        typer.Option(
            parser=duration,
            metavar="SECONDS",
            help="A cap, as 60, 60s or 5m: where it ends a search the answer depends on the machine.",
            rich_help_panel=STOP,
        ),
    ] = None
    budget: Annotated[
        str,
        typer.Option(
            help="In place of these: mappings (1000000) or a time (60s, 5m) for all layers.", rich_help_panel=STOP
        ),
    ] = ""
    out: Annotated[
        Path | None, typer.Option(help="A new folder for results and the checkpoint.", rich_help_panel=OUT)
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.", rich_help_panel=OUT)] = (
        False
    )
    names: Annotated[bool, typer.Option("--list", help="Print the library's names and stop.", rich_help_panel=OUT)] = (
        False
    )
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="Orders that differ in unit loops only count once.", rich_help_panel=SPACE),
    ] = False
    front: Annotated[
        str, typer.Option(help="Keep the Pareto front of these objectives, as energy,delay.", rich_help_panel=SEARCH)
    ] = ""
    cluster: Annotated[str | None, typer.Option(help=f"Search on a cluster: {CLUSTERS}.", rich_help_panel=SEARCH)] = (
        None
    )
    engine: Annotated[
        str,
        typer.Option(
            autocompletion=one_of(ENGINES),
            help=f"What runs the cost model: {', '.join(ENGINES)}; the answer is the same.",
            rich_help_panel=SEARCH,
        ),
    ] = "numpy"
    patience: Annotated[
        str,
        typer.Option(help="FRACTION:N, N valid mappings without an improvement by FRACTION.", rich_help_panel=STOP),
    ] = ""
    target: Annotated[
        float | None, typer.Option(help="Stop at this value of the objective, or below.", rich_help_panel=STOP)
    ] = None
    bound: Annotated[
        bool,
        typer.Option("--bound", help="Prove a lower bound: how far the optimum may be below.", rich_help_panel=SEARCH),
    ] = False
    bound_seconds: Annotated[
        float | None,
        typer.Option(
            parser=duration,
            metavar="SECONDS",
            help=f"For --bound, per layer; {BOUND:g} if not given.",
            rich_help_panel=SEARCH,
        ),
    ] = None
    layouts: Annotated[
        bool,
        typer.Option(
            "--layouts",
            help="Choose what lies innermost in a DRAM, too, of tensors whose layout is not given.",
            rich_help_panel=SEARCH,
        ),
    ] = False
    why: Annotated[
        bool,
        typer.Option(
            "--why", help="Show what limits the best mapping: relax each limit alone.", rich_help_panel=SEARCH
        ),
    ] = False
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this file, for ruby-check.", rich_help_panel=OUT)
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint in --out.", rich_help_panel=OUT)
    ] = False
    log: Annotated[bool, typer.Option("--log", help="Progress as lines on standard error.", rich_help_panel=OUT)] = (
        False
    )
    more: Annotated[
        list[Path], typer.Option("--with", help=f"{WITH}; mapper keys are options.", rich_help_panel=SPACE)
    ] = field(default_factory=list)

    no_energy: Annotated[bool, typer.Option("--no-energy", help=NO_ENERGY, rich_help_panel=ENERGY)] = False
