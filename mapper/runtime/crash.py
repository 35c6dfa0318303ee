"""A crash of the program: one line for the user, the traceback in a file."""

import os
import tempfile
import traceback

from .streams import print_message

DEBUG = "RUBY_MAP_DEBUG"  # set: the traceback goes to standard error instead


def report_crash(error: BaseException) -> None:
    """Write the traceback to a new file, and say on standard error where it is and what to do."""
    text = "".join(traceback.format_exception(error))
    what = f"internal error: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    if os.environ.get(DEBUG):
        print_message(f"{text}{what}: please report it with this traceback and the input")
        return
    try:
        handle, name = tempfile.mkstemp(prefix="ruby-map-crash-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        print_message(f"{what}: please run it again with {DEBUG}=1, and report the traceback and the input")
    else:
        print_message(f"{what}: please report it with the input and the traceback in {name}")
