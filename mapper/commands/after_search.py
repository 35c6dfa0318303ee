"""What `ruby-map` says and writes after a search: the time, the folder, how to go on after Ctrl-C."""

import time

from ..bounds import engine
from ..report import NetworkResult, Result, write_folder
from ..runtime import Checkpoint, print_message
from .entry import BEGAN


def time_line() -> str:
    """The seconds since the command began: reading, proofs and pictures included, which the search line leaves out."""
    bounds = "compiled" if engine() == "compiled" else "computed by NumPy"
    return f"time         {time.monotonic() - BEGAN:.2f} s from start to end, bounds {bounds}"


def keep_folder(result: Result | NetworkResult, any_found: bool, checkpoint: Checkpoint) -> None:
    """Write the folder, where some layer has a mapping; after a search without one, remove the checkpoint instead."""
    checkpoint.check_place()
    if any_found:
        write_folder(result, checkpoint.path.parent)
    else:
        checkpoint.discard()
        print_message(f"{checkpoint.path.parent}: not written, as there is no mapping")


def interrupted_text(result: Result | NetworkResult, any_found: bool, checkpoint: Checkpoint | None) -> str:
    """Format the message after Ctrl-C: what is shown, and how to go on."""
    shown = "the best so far" if any_found else "nothing found yet"
    if len(result.layers) + result.missing > 1 and not result.found:
        number = sum(layer.found for layer, _ in result.layers)
        shown = f"the best so far of {number} of {len(result.layers) + result.missing} layers" if any_found else shown
    return f"interrupted: {shown}" + ("; the same command with --resume goes on from here" if checkpoint else "")
