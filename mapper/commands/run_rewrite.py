"""`ruby-rewrite MODEL --arch ARCH --out DIR` writes a network that computes the same at less cost."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...arch import Architecture, load_arch
from ...energy import EnergyTable
from ...workloads import Fault, InputError, collect, option_fault, unknown_choice, write_whole, written_together
from ...workloads.onnx import import_onnx, network_yaml
from ...workloads.outputs import Manifest, OutputFile, begins_with, note_input
from ..exploration import load
from ..exploration.memories import plan_keepers
from ..mapspace import PRESETS, Preset
from ..problem import OBJECTIVES, Charges
from ..rewrite_search import (
    NoMappingError,
    Outcome,
    Pricer,
    RewriteOptions,
    TooManyError,
    network_of_graph,
    search_rewrites,
)
from ..rewrites import Rules, TensorGraph, read_tensor_graph, rules, write_onnx
from ..rewrites.page import PAGE_HEAD, substitutions_html
from ..runtime import one_thread, print_message, print_result
from ..search.options import SearchOptions
from ..searchers import option_faults
from .guard import FOUND, NOTHING_VALID, echo_json
from .map_options import option_name
from .progress import live_steps
from .rewrite_result import RewriteResult
from .ruby_rewrite import PLANS, RewriteRequest
from .shared import dim_sizes, placed_as
from .timeloop_options import energies

NAME = "ruby-rewrite"
MODEL, NETWORK, RESULT = FILES = ("rewritten.onnx", "rewritten.yaml", "rewrites.json")


@dataclass(frozen=True, eq=False)
class Job:
    """The checked inputs of a search, with their files read."""

    request: RewriteRequest
    graph: TensorGraph
    folder: Path
    arch: Architecture
    energies: EnergyTable
    mapspace: Preset
    options: SearchOptions

    @property
    def pricer(self) -> Pricer:
        """What prices networks on the machine."""
        memories, fused = plan_keepers(self.arch), self.request.fuse == PLANS[0]
        return Pricer(self.arch, self.energies, Charges(), self.mapspace, self.options, memories, fused)


def run(request: RewriteRequest) -> int:
    """Rewrite a network by proven substitutions, each result priced by its best plan on ARCH, and write the best.

    Exit status: 0 written, 1 a layer has no mapping, 2 bad input, 130 interrupted before the network had a price.
    """
    if request.rules is not None:
        return _page(request, request.rules)
    job = _job(request)
    with live_steps(request.log, "pricing the network", _line) as tell:
        try:
            outcome = _searched(job, tell)
        except NoMappingError as error:
            print_message(str(error))
            return NOTHING_VALID
        except TooManyError as error:
            raise InputError(Fault(str(request.model), None, "", f"plans cannot be searched: {error}")) from None
    result = RewriteResult(job.arch.name, job.mapspace, OBJECTIVES[request.objective], outcome)
    _write(job, result)
    if request.as_json:
        echo_json(result.json())
    else:
        print_result(f"{result}\nwritten      {', '.join(FILES)} in {job.folder}")
    if outcome.seen.interrupted:
        print_message("interrupted: the best so far is written")
    return FOUND


def _page(request: RewriteRequest, page: Path) -> int:
    """Write the page of all substitutions. Raises InputError with every fault."""
    beside = sorted(request.given - {"rules", "force"})
    faults = [option_fault(option_name(name), "does not go with --rules: leave it out") for name in beside]
    own = begins_with(PAGE_HEAD)
    faults += OutputFile("rules", page, "a page of substitutions", own, request.force).faults()
    if faults:
        raise InputError(faults)
    write_whole(page, substitutions_html())
    print_message(f"{page}: every substitution, with what proves it")
    return FOUND


def _job(request: RewriteRequest) -> Job:
    """Read and check everything that is asked for. Raises InputError with every fault."""
    faults = list[Fault]()
    options = SearchOptions(objective=request.objective, jobs=request.jobs, seed=request.seed, effort=request.effort)
    faults += _option_faults(request, options)
    dims = dim_sizes(request.dim, faults)
    if request.model is not None:
        note_input(request.model)
    graph = None if request.model is None else collect(faults, lambda: _graph(request, dims))
    machine = collect(faults, lambda: _machine(request, graph)) if request.arch else None
    preset = next((name for name in PRESETS if name == request.mapspace), None)
    faults += [] if request.out is None else _folder_faults(request.out, request.force)
    if faults or graph is None or machine is None or preset is None or request.out is None:
        raise InputError(dict.fromkeys(faults))
    return Job(request, graph, request.out, *machine, preset, options)


def _option_faults(request: RewriteRequest, options: SearchOptions) -> list[Fault]:
    """List what is wrong with the options, and which of those that are needed is missing."""
    needed = {"MODEL": request.model, "arch": request.arch, "out": request.out}
    faults = [option_fault(name, "is missing") for name, value in needed.items() if not value]
    choices = (("mapspace", PRESETS), ("objective", OBJECTIVES), ("fuse", PLANS))
    unknown = [(name, known) for name, known in choices if getattr(request, name) not in known]
    faults += [unknown_choice(name, getattr(request, name), known) for name, known in unknown]
    faults += [fault for fault in option_faults(options) if fault.source != "objective"]
    if not 1.0 <= request.alpha < float("inf"):
        faults.append(option_fault("alpha", f"must be a number of at least 1, got {request.alpha:g}"))
    if request.graphs < 1:
        faults.append(option_fault("graphs", f"must be at least 1, got {request.graphs}"))
    return faults


def _graph(request: RewriteRequest, dims: dict[str, int]) -> TensorGraph:
    assert request.model is not None
    return read_tensor_graph(request.model, dims)


def _machine(request: RewriteRequest, graph: TensorGraph | None) -> tuple[Architecture, EnergyTable]:
    """Read the machine, which the layers of the network have to fit, and its energies. Raises InputError."""
    if graph is None:
        arch = load_arch(request.arch, more=request.more)
    else:
        arch, _ = load(request.arch, network_of_graph(graph), request.more)
    arch = placed_as(arch, request.placement)
    faults = list[Fault]()
    collect(faults, lambda: plan_keepers(arch))
    table = collect(faults, lambda: energies(arch, request.arch, request.more, request.ert, None))
    if faults or table is None:
        raise InputError(faults)
    return arch, table


def _folder_faults(folder: Path, force: bool) -> list[Fault]:
    """Say why the files cannot be written to a folder, before a search that would be lost."""
    above = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not above.is_dir():
        return [option_fault("out", f"{above} is no folder")]
    if not os.access(above, os.W_OK):
        return [option_fault("out", f"{above} is not a folder that you may write to")]
    return Manifest.read(folder, NAME).faults("out", folder, FILES, force)


@one_thread()
def _searched(job: Job, tell: Callable[[Outcome], None] | None) -> Outcome:
    """Search. Raises InputError, NoMappingError or TooManyError where the network itself has no price."""
    how = RewriteOptions(job.request.alpha, job.request.graphs)
    return search_rewrites(job.graph, job.pricer, Rules(rules()), how, tell)


def _line(outcome: Outcome) -> str:
    """Format how many networks were met, and how far the best is below the one that was read."""
    below = 1 - outcome.after.value / outcome.before.value if outcome.before.value else 0.0
    return f"{outcome.seen.met:,} networks met, {outcome.seen.priced:,} priced, the best {below:.1%} below"


def _write(job: Job, result: RewriteResult) -> None:
    """Write the best network as a model and as its network file, and how it was reached: all or nothing."""
    again = "make room and run the same command again"
    with written_together(job.folder, RESULT, again, NAME, job.request.force) as part:
        write_onnx(result.outcome.graph, part / MODEL)
        (part / NETWORK).write_text(network_yaml(import_onnx(part / MODEL)), encoding="utf-8")
        (part / RESULT).write_text(json.dumps(result.json(), indent=2, allow_nan=False) + "\n")
