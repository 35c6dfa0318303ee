"""`ruby-report DIR [DIR]`: reads the folders, matches them, writes what is asked for."""

from functools import partial

from ...workloads import Fault, InputError, collect, option_fault, unknown_choice, write_whole
from ..comparison import (
    FORMATS,
    comparison_json,
    comparison_text,
    matched,
    page_html,
    read_folder,
    write_files,
)
from ..runtime import say, tell
from .guard import FOUND, echo_json
from .ruby_report import ReportRequest


def _faults(request: ReportRequest) -> list[Fault]:
    """List what is wrong with the options."""
    faults = [unknown_choice("format", form, FORMATS) for form in request.forms if form not in FORMATS]
    if request.forms and request.files is None:
        faults.append(option_fault("format", "goes with --files"))
    if request.out is not None and request.out.suffix not in (".html", ".htm"):
        faults.append(option_fault("out", f"names a page, PAGE.html; got {request.out}"))
    return faults


def run(request: ReportRequest) -> int:
    """Compare two folders that ruby-map --out or ruby-sweep --out wrote, layer by layer; or show one.

    Exit status: 0 done, 2 bad input.
    """
    faults = _faults(request)
    paths = [path for path in (request.folder, request.other) if path is not None]
    folders = [collect(faults, partial(read_folder, path)) for path in paths]
    if faults:
        raise InputError(faults)
    found = matched([folder for folder in folders if folder is not None])
    page = None if request.out is None else page_html(found)
    if request.files is not None:
        write_files(found, request.files, request.forms or FORMATS)
    if request.out is not None and page is not None:
        write_whole(request.out, page)
    if request.as_json:
        echo_json(comparison_json(found))
    else:
        say(comparison_text(found))
    for path in (request.out, request.files):
        if path is not None:
            tell(f"written: {path}")
    return FOUND
