"""`ruby-map NETWORK --graph`: the graph of a network, listed and drawn."""

from pathlib import Path

from ...workloads import Fault, InputError, Network, collect, option_fault
from ..exploration import load, load_without_machine
from ..report.graphs import graph_json, graph_text, write_graph_folder
from ..runtime import NAME as CHECKPOINT
from ..runtime import folder_faults, print_result
from .guard import FOUND, echo_json
from .map_options import clashes
from .ruby_map import MapRequest
from .search_request import NAME

# what a graph takes of the options of ruby-map
TAKEN = frozenset(("arch", "workload", "graph", "as_json", "out", "more", "template", "ignore_sparsity"))


def run(request: MapRequest) -> int:
    """Print the graph of a network, and draw it where a folder is named. Raises InputError with every fault."""
    faults = clashes(request, TAKEN, "does not go with --graph: leave it out")
    if request.more and not request.workload:
        faults.append(option_fault("with", "is read together with ARCH, and none is given: leave it out"))
    faults += folder_faults(request.out, CHECKPOINT) if request.out else []
    network = collect(faults, lambda: _network(request))
    if faults or network is None:
        raise InputError(dict.fromkeys(faults))
    return _show(network, request.as_json, request.out)


def _network(request: MapRequest) -> Network:
    """Read the network, and an architecture that stands before it: as for a search, both have to fit."""
    if not request.arch:
        raise InputError(option_fault("NETWORK", f"is missing: {NAME}"))
    if request.workload:
        _, work = load(request.arch, request.workload, request.more)
    else:
        work = load_without_machine(request.arch)
    if not isinstance(work, Network):
        raise InputError(option_fault("graph", f"is of a network, {work.name} is one layer"))
    return work


def _show(network: Network, as_json: bool, folder: Path | None) -> int:
    """Print and draw the graph: if one of both fails the other is done all the same. Returns the status."""
    faults = list[Fault]()
    collect(faults, lambda: echo_json(graph_json(network)) if as_json else print_result(graph_text(network)))
    if folder is not None:
        collect(faults, lambda: write_graph_folder(network, folder))
    if faults:
        raise InputError(faults)
    return FOUND
