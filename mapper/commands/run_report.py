"""`ruby-report DIR [DIR]`: reads the folders, matches them, writes what is asked for."""

from dataclasses import replace
from functools import partial

from ...workloads import Fault, InputError, collect, option_fault, unknown_choice, write_whole
from ...workloads.outputs import OutputFile
from ..comparison import (
    FORMATS,
    Results,
    comparison_json,
    comparison_text,
    is_page,
    matched,
    page_html,
    read_folder,
    write_files,
)
from ..runtime import print_message, print_result
from .guard import FOUND, echo_json
from .ruby_report import ReportRequest

LONGEST = 40  # letters of a name


def _faults(request: ReportRequest) -> list[Fault]:
    """List what is wrong with the options."""
    faults = [unknown_choice("format", form, FORMATS) for form in request.forms if form not in FORMATS]
    if request.forms and request.files is None:
        faults.append(option_fault("format", "goes with --files"))
    if request.names is not None:
        faults += _name_faults(request)
    if request.out is not None and request.out.suffix not in (".html", ".htm"):
        faults.append(option_fault("out", f"names a page, PAGE.html; got {request.out}"))
    return faults


def _names(request: ReportRequest) -> list[str]:
    return [name.strip() for name in (request.names or "").split(",")]


def _name_faults(request: ReportRequest) -> list[Fault]:
    """List what is wrong with the names of the folders."""
    names, folders = _names(request), 1 if request.other is None else 2
    faults = []
    if len(names) != folders or not all(names):
        what = "a name for the folder" if folders == 1 else "a name for each folder, as OLD,NEW"
        faults.append(option_fault("names", f'must be {what}; got "{request.names}"'))
    elif len(set(names)) < folders:
        faults.append(option_fault("names", f'must differ; got "{request.names}"'))
    elif any(len(name) > LONGEST or not name.isprintable() for name in names):
        faults.append(option_fault("names", f"must be of at most {LONGEST} letters that can be printed"))
    return faults


def _read(request: ReportRequest) -> list[Results]:
    """Read the folders, under the names given. Raises InputError with the faults of all options and folders."""
    faults = _faults(request)
    paths = [path for path in (request.folder, request.other) if path is not None]
    folders = [collect(faults, partial(read_folder, path)) for path in paths]
    if request.out is not None:
        faults += OutputFile("out", request.out, "a page of ruby-report", is_page, request.force).faults()
    if faults:
        raise InputError(faults)
    read = [folder for folder in folders if folder is not None]
    if request.names is None:
        return read
    return [replace(folder, label=name) for folder, name in zip(read, _names(request), strict=True)]


def run(request: ReportRequest) -> int:
    """Compare two folders that ruby-map --out or ruby-sweep --out wrote, layer by layer; or show one.

    Exit status: 0 done, 2 bad input.
    """
    comparison = matched(_read(request))
    page = None if request.out is None else page_html(comparison)
    if request.files is not None:
        write_files(comparison, request.files, request.forms or FORMATS, force=request.force)
    if request.out is not None and page is not None:
        write_whole(request.out, page)
    if request.as_json:
        echo_json(comparison_json(comparison))
    else:
        print_result(comparison_text(comparison))
    for path in (request.out, request.files):
        if path is not None:
            print_message(f"written: {path}")
    return FOUND
