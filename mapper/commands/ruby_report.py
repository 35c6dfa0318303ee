"""`ruby-report DIR [DIR]` shows one folder of results, or compares two: a page, tables, pictures."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from .app import FORCE, Request, new_app
from .choices import REPORT_FORMATS
from .complete import one_of

KINDS = ", ".join(REPORT_FORMATS)


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """Compare two folders that ruby-map --out or ruby-sweep --out wrote, layer by layer; or show one.

    Exit status: 0 done, 2 bad input.
    """

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")]
    other: Annotated[Path | None, typer.Argument(metavar="DIR", help="Another, to compare it with.")] = None
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="What the folders are called, in place of their paths.")
    ] = None
    out: Annotated[Path | None, typer.Option(metavar="PAGE.html", help="Write all as one page.")] = None
    files: Annotated[Path | None, typer.Option(metavar="DIR", help="Write tables and pictures there.")] = None
    forms: Annotated[
        list[str],
        typer.Option("--format", autocompletion=one_of(REPORT_FORMATS), help=f"Of --files, repeatable: {KINDS}."),
    ] = field(default_factory=list)
    force: Annotated[bool, typer.Option("--force", help=FORCE)] = False
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False


main = new_app(ReportRequest, "run_report")
