"""`ruby-sweep SWEEP.yaml` searches every point of a sweep, resumes where it stopped, and shows the frontiers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .app import Request, new_app
from .choices import CLUSTERS


@dataclass(frozen=True, kw_only=True)
class SweepRequest(Request):
    """Search every design x workload x mapspace x seed of SWEEP.yaml and show the Pareto frontiers.

    Exit status: 0 every point has a mapping, 1 some have no valid one, 2 bad input, 3 some points failed,
    130 interrupted (what is done is kept in the folder).
    """

    path: Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="The sweep.")]
    out: Annotated[Path | None, typer.Option(help="Folder of the results, and of what a later run goes on from.")] = (
        None
    )
    jobs: Annotated[int, typer.Option(help="Number of processes; the answer does not depend on it.")] = 1
    cluster: Annotated[str | None, typer.Option(help=f"Search on a cluster, in place of processes: {CLUSTERS}.")] = None
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    limit: Annotated[
        int | None, typer.Option(help="Points at most: whole designs, drawn at random. Replaces the file's.")
    ] = None
    fresh: Annotated[bool, typer.Option("--fresh/--resume", help="Forget what is in the folder, or go on from it.")] = (
        False
    )
    log: Annotated[bool, typer.Option("--log", help="A line per point that is done, on standard error.")] = False


main = new_app(SweepRequest, "run_sweep")
