"""Where the commands begin and end: Ctrl-C before the command itself has begun is one too, and none cuts its end."""

import os
import signal
import sys
from importlib import import_module

BAD_INPUT, INTERRUPTED = 2, 130  # as in shared.py, which is not imported yet


def _begin(module: str) -> None:
    """Run the command in `module`; what fails before or after it, an import or `--help`, ends as a search does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as of what runs in the background
            signal.signal(number, _interrupted)
    try:
        import_module(module, __package__).main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
    except (OSError, MemoryError) as error:
        from ..runtime import refused

        refused(error)
        sys.exit(BAD_INPUT)
    finally:  # all is told and written; Python has only to wait for the processes that it began
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupted(*_: object) -> None:
    """End at once: nothing is open yet, and what is imported may take an exception for its own."""
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def ruby_map() -> None:
    """`ruby-map`."""
    _begin(".ruby_map")


def ruby_model() -> None:
    """`ruby-model`."""
    _begin(".ruby_model")


def ruby_import() -> None:
    """`ruby-import`."""
    _begin(".ruby_import")


def ruby_energy() -> None:
    """`ruby-energy`."""
    _begin(".ruby_energy")


def ruby_sweep() -> None:
    """`ruby-sweep`."""
    _begin(".ruby_sweep")


def ruby_check() -> None:
    """`ruby-check`."""
    _begin(".ruby_check")
