"""`ruby-store FILE ACTION` lists what a store of mappings holds, shows the best, exports, imports and removes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, Request, new_app
from .choices import ACTIONS
from .complete import one_of

GLOB = "; * and ? stand for any characters."


@dataclass(frozen=True, kw_only=True)
class StoreRequest(Request):
    """List, show, export, import and remove mappings of a store, which `ruby-map --store` fills.

    Exit status: 0 done, 1 no mapping is held, 2 bad input.
    """

    path: Annotated[Path, typer.Argument(metavar="FILE", help="The store.")]
    action: Annotated[
        str, typer.Argument(metavar="ACTION", autocompletion=one_of(ACTIONS), help=f"{', '.join(ACTIONS)}.")
    ]
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="best: the problem, as list shows it; import: a file of export.")
    ] = ""
    arch: Annotated[str, typer.Option(help=f"list, best: the machine's name{GLOB}")] = "*"
    workload: Annotated[str, typer.Option(help=f"list, best: the layer's name{GLOB}")] = "*"
    objective: Annotated[str, typer.Option(help=f"list, best: as ruby-map has it{GLOB}")] = "*"
    keep: Annotated[int | None, typer.Option(help="prune: so many mappings of each problem, the best.")] = None
    older_than: Annotated[
        float | None, typer.Option(help="prune: remove mappings held for more days, but the best of a problem.")
    ] = None
    out: Annotated[Path | None, typer.Option(help="export: a file; else standard output.")] = None
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False


main = new_app(StoreRequest, "run_store")
