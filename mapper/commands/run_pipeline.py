"""`ruby-map ARCH NETWORK --pipeline AXIS --items N` divides cores among the layers of a chain."""

from math import inf

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Fault, InputError, Network, Workload, option_fault, unknown_choice
from ..exploration import PlanProgress
from ..exploration.pipelines import PipelineRequest, explore_pipeline, pipeline_faults
from ..mapspace import PRESETS
from ..report.pipelines import PipelineResult
from ..runtime import print_message, print_result
from ..search.options import SearchOptions
from ..searchers import option_faults
from .guard import FOUND, INTERRUPTED, NOTHING_VALID, echo_json
from .map_options import costs
from .progress import live_steps
from .ruby_map import MapRequest

# what a search of pipelines takes of the options of ruby-map
TAKEN = frozenset(
    (
        *("arch", "workload", "pipeline", "items", "mapspace", "placement", "fix", "objective", "as_json", "more"),
        *("log", "jobs", "effort", "quick", "seed", "time_limit", "ert", "art", "energy"),
        *("leakage", "wire_pj_per_bit_mm", "tile_mm", "hop_pj", "drain_reads"),
    )
)


def missing_faults(request: MapRequest) -> list[Fault]:
    """Say what of --pipeline and --items is missing, where the other is given."""
    needed = {"pipeline": "needs --items, how many follow each other", "items": "goes with --pipeline AXIS"}
    missing = not needed.keys() <= request.given
    return [option_fault(name, needed[name]) for name in needed if missing and name in request.given]


def search_pipeline(
    request: MapRequest, loaded: tuple[Architecture, Workload | Network, EnergyTable], options: SearchOptions
) -> int:
    """Search the pipelines, print the best, and return the exit status."""
    machine, work, table = loaded
    faults = option_faults(options)
    asked = PipelineRequest(request.pipeline, request.items or 0)
    if isinstance(work, Network):
        faults += pipeline_faults(work, machine, options, asked)
    else:
        faults.append(option_fault("pipeline", f"is of a network, {work.name} is one layer"))
    preset = next((name for name in PRESETS if name == request.mapspace), None)
    faults += [] if preset else [unknown_choice("mapspace", request.mapspace, PRESETS)]
    if faults or not isinstance(work, Network) or preset is None:
        raise InputError(dict.fromkeys(faults))
    with live_steps(request.log, "the layers on all cores", _line) as progress:
        asked = PipelineRequest(request.pipeline, request.items or 0, progress)
        result = explore_pipeline(work, (machine, table, costs(request)), preset, options, asked)
    return _show(request, result)


def _line(step: PlanProgress) -> str:
    """Format how many prices were searched, how close the best is to what none is below, and the effort used."""
    parts = [f"{step.searched:,} prices of parts searched"]
    if 0 < step.value < inf:
        parts.append(f"at this slope the best possible at most {1 - step.least / step.value:.2%} below")
    parts += [] if step.effort is None else [f"{step.effort:.0%} of the effort"]
    return ", ".join(parts)


def _show(request: MapRequest, result: PipelineResult) -> int:
    """Print the result; return the exit status."""
    if request.as_json:
        echo_json(result.json())
    else:
        print_result(str(result))
    if result.interrupted:
        print_message("interrupted: the best so far" if result.best else "interrupted: nothing found yet")
    if result.best is None:
        return INTERRUPTED if result.interrupted else NOTHING_VALID
    return FOUND
