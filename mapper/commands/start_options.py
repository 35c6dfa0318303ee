"""The options of `ruby-map` that say what its searches begin with."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ...workloads import Fault, InputError, collect, option_fault
from ..exploration import Beginnings, level_names
from .shared import STORE, FilesRequest

_SEARCH = "Search"  # the panel of --help
SEARCHES = (
    "strategy",
    "settings",
    "cost_model",
    "victory",
    "samples",
    "time_limit",
    "budget",
    "patience",
    "target",
    "engine",
    "quick",
)


def _option(field: str) -> str:
    return "search" if field == "strategy" else field.replace("_", "-")


@dataclass(frozen=True, kw_only=True)
class StartRequest(FilesRequest):
    """The options that say what a search begins with."""

    store: Annotated[Path | None, typer.Option(help=STORE, rich_help_panel=_SEARCH)] = None
    start_from: Annotated[
        list[Path],
        typer.Option(help="Begin with mappings from there: a store, a mapping, results.", rich_help_panel=_SEARCH),
    ] = field(default_factory=list)
    level_names: Annotated[
        str, typer.Option(help="For --start-from: THERE=HERE, several with commas.", rich_help_panel=_SEARCH)
    ] = ""
    transfer_only: Annotated[
        bool, typer.Option("--transfer-only", help="Answer the best of --start-from.", rich_help_panel=_SEARCH)
    ] = False

    def beginnings(self, *, size: bool) -> Beginnings | None:
        """Read the mappings to begin with; `size`: no search follows. Raises InputError with every fault."""
        faults = list[Fault]()
        names = collect(faults, lambda: level_names(self.level_names))
        found = collect(faults, lambda: Beginnings.read(self.start_from, names or {})) if self.start_from else None
        if self.start_from and size:
            faults.append(option_fault("start-from", "needs a search; leave out --size"))
        if self.transfer_only:
            taken = [name for name in SEARCHES if name in self.given]
            faults += [option_fault(_option(name), "goes with a search: leave out --transfer-only") for name in taken]
        alone = [] if self.start_from else [name for name in ("level_names", "transfer_only") if name in self.given]
        faults += [option_fault(name.replace("_", "-"), "goes with --start-from") for name in alone]
        if faults:
            raise InputError(faults)
        return found
