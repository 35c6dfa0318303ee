"""`ruby-map ARCH NETWORK --group A+B` searches the layers of a network as one fused group."""

from importlib.metadata import version
from math import inf
from pathlib import Path

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Network, Workload, collect, option_fault, unknown_choice
from ..certificate import GroupCertificate, write_group_certificate
from ..exploration import GroupProgress, explore_group, group_faults
from ..mapspace import PRESETS
from ..problem import at_most
from ..report.groups import GroupResult, write_group_folder
from ..runtime import print_message, print_result
from ..search.options import SearchOptions
from ..searchers import option_faults
from .guard import FOUND, INTERRUPTED, NOTHING_VALID, echo_json
from .map_options import costs
from .progress import live_steps
from .ruby_map import MapRequest

# what a search of groups takes of the options of ruby-map
TAKEN = frozenset(
    (
        *("arch", "workload", "group", "mapspace", "placement", "fix", "objective", "as_json", "more", "log", "jobs"),
        *("effort", "quick", "seed", "time_limit", "ert", "art", "energy", "certificate", "force", "out"),
        *("leakage", "wire_pj_per_bit_mm", "tile_mm", "hop_pj", "drain_reads"),
    )
)


def search_group(
    request: MapRequest, loaded: tuple[Architecture, Workload | Network, EnergyTable], options: SearchOptions
) -> int:
    """Search the group, print it, and return the exit status."""
    machine, work, table = loaded
    faults = group_faults(machine, options) + option_faults(options)
    if not isinstance(work, Network):
        faults.append(option_fault("group", f"names layers of a network, {work.name} is one layer"))
    preset = next((name for name in PRESETS if name == request.mapspace), None)
    faults += [] if preset else [unknown_choice("mapspace", request.mapspace, PRESETS)]
    if faults or not isinstance(work, Network) or preset is None:
        raise InputError(dict.fromkeys(faults))
    names = [name.strip() for name in request.group.split("+")]
    with live_steps(request.log, "bounding tiles", _line) as progress:
        result = explore_group(work, names, (machine, table, costs(request)), preset, options, progress)
    return _show(request, result)


def _line(step: GroupProgress) -> str:
    """Format how many groups were looked at, the best, what none is below, and the effort that is used."""
    parts = [f"{step.looked_at:,} groups looked at"]
    if step.best < inf:
        gap = 1 - step.lower_bound / step.best
        parts += [f"best {step.best:.4g}", f"the best possible at most {at_most(gap)} below"]
    else:
        parts.append("none yet")
    parts += [] if step.effort is None else [f"{step.effort:.0%} of the effort"]
    return ", ".join(parts)


def _show(request: MapRequest, result: GroupResult) -> int:
    """Print and write the result: if one of them fails the others are done all the same. Returns the status.

    Raises InputError with what could not be written.
    """
    faults = list[Fault]()
    collect(faults, lambda: echo_json(result.json()) if request.as_json else print_result(str(result)))
    folder, certificate = request.out, request.certificate
    if folder is not None and result.costs is not None:
        collect(faults, lambda: write_group_folder(result, folder))
    elif folder is not None:
        print_message(f"{folder}: not written, as no group fits")
    if certificate is not None:
        collect(faults, lambda: _write_proof(result, certificate))
    if result.statistics.interrupted:
        print_message("interrupted: the best so far")
    if faults:
        raise InputError(faults)
    if result.costs is None:
        return INTERRUPTED if result.statistics.interrupted else NOTHING_VALID
    return FOUND


def _write_proof(result: GroupResult, path: Path) -> None:
    """Write the certificate, or say why there is none. Raises InputError where the file cannot be written."""
    if result.proof is None:
        return print_message(f"{path}: not written: {result.no_proof}")
    proof = GroupCertificate(program=version("ruby-map"), arch=result.arch, group=result.proof)
    return write_group_certificate(proof, path)
