"""The entry points of the commands; they handle Ctrl-C during imports, and ignore it at the end."""

import os
import signal
import sys
import time
from importlib import import_module

BEGAN = time.monotonic()  # what a watch shows begins here
BAD_INPUT, INTERNAL, INTERRUPTED = 2, 70, 130  # as in guard.py, which is not imported yet


def _begin(module: str) -> None:
    """Run the command in `module`; a failure before or after it, in an import or `--help`, ends it like a search."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as for background jobs
            signal.signal(number, _interrupted)
    try:
        import_module(module, __package__).main(prog_name=module[1:].replace("_", "-"))  # also below python -m
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
    except (OSError, MemoryError) as error:
        from ..runtime import refused

        refused(error)
        sys.exit(BAD_INPUT)
    except Exception as error:
        from ..runtime import report_crash

        report_crash(error)
        sys.exit(INTERNAL)
    finally:  # all output is written; Python only waits for its processes
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupted(*_: object) -> None:
    """End at once: no file is open yet, and an imported module might catch an exception."""
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def ruby_map() -> None:
    """Run `ruby-map`."""
    _begin(".ruby_map")


def ruby_model() -> None:
    """Run `ruby-model`."""
    _begin(".ruby_model")


def ruby_import() -> None:
    """Run `ruby-import`."""
    _begin(".ruby_import")


def ruby_export() -> None:
    """Run `ruby-export`."""
    _begin(".ruby_export")


def ruby_energy() -> None:
    """Run `ruby-energy`."""
    _begin(".ruby_energy")


def ruby_sweep() -> None:
    """Run `ruby-sweep`."""
    _begin(".ruby_sweep")


def ruby_check() -> None:
    """Run `ruby-check`."""
    _begin(".ruby_check")


def ruby_store() -> None:
    """Run `ruby-store`."""
    _begin(".ruby_store")


def ruby_report() -> None:
    """Run `ruby-report`."""
    _begin(".ruby_report")


def ruby_machine() -> None:
    """Run `ruby-machine`."""
    _begin(".ruby_machine")


def ruby_code() -> None:
    """Run `ruby-code`."""
    _begin(".ruby_code")


def ruby_rewrite() -> None:
    """Run `ruby-rewrite`."""
    _begin(".ruby_rewrite")
