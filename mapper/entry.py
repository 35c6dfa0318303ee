"""Where the commands begin: what they import is imported here, so that Ctrl-C in the first half second is one too."""

import sys
from importlib import import_module

INTERRUPTED = 130  # as in commands.py, which is not imported yet


def _begin(module: str) -> None:
    """Run the command in `module`; an interrupted import ends as an interrupted search does."""
    try:
        import_module(module, __package__).main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)


def ruby_map() -> None:
    """`ruby-map`."""
    _begin(".command_map")


def ruby_model() -> None:
    """`ruby-model`."""
    _begin(".command_model")


def ruby_import() -> None:
    """`ruby-import`."""
    _begin(".command_import")


def ruby_energy() -> None:
    """`ruby-energy`."""
    _begin(".command_energy")


def ruby_sweep() -> None:
    """`ruby-sweep`."""
    _begin(".command_sweep")


def ruby_check() -> None:
    """`ruby-check`."""
    _begin(".command_check")
