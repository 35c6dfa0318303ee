"""Where the commands begin: what they import is imported here, so that Ctrl-C in the first half second is one too."""

import sys
from importlib import import_module

BAD_INPUT, INTERRUPTED = 2, 130  # as in commands.py, which is not imported yet


def _begin(module: str) -> None:
    """Run the command in `module`; an import or a `--help` that fails ends as a search does (commands.py)."""
    try:
        import_module(module, __package__).main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
    except (OSError, MemoryError) as error:
        from .streams import refused

        refused(error)
        sys.exit(BAD_INPUT)


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
