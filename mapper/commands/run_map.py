"""`ruby-map ARCH WORKLOAD` searches a mapspace and prints the best mapping with its costs."""

import os
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...arch import Architecture
from ...energy import EnergyTable, no_energies
from ...workloads import Fault, InputError, Network, Workload, collect, option_fault, unknown_choice
from ...workloads.outputs import OutputFile, note_input
from ..certificate import is_certificate
from ..exploration import (
    Request,
    StartMappings,
    Study,
    explored,
    layers_of,
    load,
    one_layer_faults,
    study_faults,
    why,
)
from ..exploration.transforms import chosen, transformed
from ..mapspace import PRESETS
from ..problem import Problem, identity
from ..report import NetworkResult, Result, result_json, write_proof
from ..runtime import NAME as CHECKPOINT
from ..runtime import Checkpoint, folder_faults, print_message, print_result
from ..search.cost_model import ANSWERED
from ..search.options import SearchOptions
from ..searchers import STRATEGIES, option_faults
from ..store import Store, store_faults
from .after_search import interrupted_text, keep_folder, time_line
from .changes import machine_as
from .choices import FUSE
from .guard import BAD_INPUT, FOUND, INTERRUPTED, MODEL_FAILED, NOTHING_VALID, echo_json
from .map_options import clashes, costs, search_options, start_mappings
from .print_sizes import print_sizes
from .progress import progress, steps
from .ruby_map import MapRequest
from .run_group import TAKEN, search_group
from .run_pipeline import TAKEN as TAKEN_BY_PIPELINES
from .run_pipeline import missing_faults, search_pipeline
from .search_request import NAME
from .timeloop_options import FileOptions, energies, file_options

OTHERS = {"import": "MODEL.onnx", "model": "ARCH WORKLOAD MAPPING", "energy": "ARCH", "sweep": "SWEEP.yaml"}
OTHERS |= {"check": "ARCH WORKLOAD CERTIFICATE", "store": "FILE list"}

Search = Callable[[MapRequest, tuple[Architecture, Workload | Network, EnergyTable], SearchOptions], int]


@dataclass(frozen=True)
class Job:
    """The checked inputs of a search, with their files read."""

    request: MapRequest
    work: Workload | Network  # as its file has it
    study: Study
    notes: tuple[str, ...]  # for the user
    start: StartMappings | None  # mappings to begin with
    without_proof: str  # what in a file chose a search that proves nothing; empty: nothing did

    @classmethod
    def of(cls, request: MapRequest) -> "Job":
        """Read and check everything that `request` names. Raises InputError with every fault."""
        faults: list[Fault] = []
        files = FileOptions()
        if request.arch:
            files = collect(faults, lambda: file_options(request.arch, request.more, request.given)) or files
        mapspace = files.given.get("mapspace", request.mapspace)
        options = search_options(request, files, faults)
        faults += _option_faults(request, options, mapspace)
        start = collect(faults, lambda: start_mappings(request))
        loaded = _loaded(request, options, faults)
        if loaded is not None and request.fuse != "none" and isinstance(loaded[1], Workload):
            faults.append(option_fault("fuse", f"is of a network, {loaded[1].name} is one layer"))
        if faults or loaded is None:
            raise InputError(dict.fromkeys(faults))
        machine, work, table = loaded
        if request.fix:
            files.notes.append(f"only mappings with {'; '.join(request.fix)}")
        charges, goal, distinct = costs(request), options.goal, files.given.get("distinct", request.distinct)
        changed = transformed(machine, work, chosen(**vars(request)))
        study = Study.of(
            changed, lambda layer: Problem(machine, layer, table, charges, goal), mapspace, distinct, options
        )
        if faults := study_faults(study, _beside_layers(request)):
            raise InputError(faults)
        without = request.quick or request.transfer_only or options.bound is not None
        return cls(request, work, study, tuple(files.notes), start, "" if without else files.without_proof)

    def search(self) -> int:
        """Search, print and write; return the exit status."""
        request = self.request
        with ExitStack() as open_files:
            checkpoint = open_files.enter_context(self._checkpoint(request.out)) if request.out else None
            store = open_files.enter_context(Store(request.store)) if request.store else None
            with progress(request.log, len(self.study.groups), request.budget) as (show, show_plans):
                given = Request(progress=show, checkpoint=checkpoint, store=store, start_from=self.start)
                given |= Request(transfer_only=request.transfer_only, plan_progress=show_plans)
                given |= _beside_layers(request)
                result = explored(self.study, given)
            if request.why and isinstance(result, Result) and result.found and not result.statistics.interrupted:
                with steps(request.log, "changes") as tell_steps:
                    result = replace(result, why=why(result, self.study.options, tell_steps))
            certificate = request.certificate
            prove = partial(write_proof, result, certificate) if certificate else str
            status = self._show(result, checkpoint, prove)
            return status if store is None or store.complete else BAD_INPUT

    def _show(self, result: Result | NetworkResult, checkpoint: Checkpoint | None, prove: Callable[[], str]) -> int:
        """Print and write the result: if one of both fails the other is done all the same. Returns the status.

        `prove` writes the certificate, if asked for, or returns why there is none.
        """
        interrupted, faults = result.statistics.interrupted, list[Fault]()
        any_found = result.some_found
        collect(faults, lambda: self._print(result))
        printed = not faults
        if checkpoint and (any_found or not interrupted):
            collect(faults, lambda: keep_folder(result, any_found, checkpoint))
        if printed and not self.request.as_json:
            collect(faults, lambda: print_result(time_line()))
        if why := collect(faults, prove):
            print_message(why)
        if interrupted:
            print_message(interrupted_text(result, any_found, checkpoint))
        failure = result.answer.failure if isinstance(result, Result) and result.answer else ""
        if failure:
            print_message(failure)
        if faults:
            raise InputError(faults)
        return MODEL_FAILED if failure else _status(result, self.request)

    def _print(self, result: Result | NetworkResult) -> None:
        """Print the result, and why nothing is proven where a file chose such a search."""
        why = self.without_proof
        if self.request.as_json:
            echo_json(result_json(result) | ({"without_proof": why} if why else {}))
        else:
            print_result("\n\n".join([str(result), *([f"proof        none: {why}"] if why else []), ""]), nl=False)

    def _checkpoint(self, folder: Path) -> Checkpoint:
        study, first = self.study, self.study.problems[0]
        problem: dict[str, object] = {
            "arch": first.arch,
            "workload": self.work,
            "energies": first.energies.asked_by(layers_of(self.work)),
        }
        problem |= {"mapspace": study.mapspace, "pad": False, "distinct": study.distinct}
        problem |= dict.fromkeys(chosen(**vars(self.request)), True)
        problem |= {"costs": first.charges}
        problem |= {name: True for name in ("transfer_only", "layouts") if getattr(self.request, name)}
        if self.start:
            problem |= {"start_from": self.start.fingerprint(folder)}
        if self.request.store:
            problem |= {"store": True}  # it had mappings to begin with
        what = identity(
            study.options, ("jobs", "cluster", "bound", "prune", "engine", "certify", "cost_timeout"), **problem
        )
        free = ANSWERED if first.goal.answered else STRATEGIES[study.options.strategy].extends
        return Checkpoint(folder, what, resume=self.request.resume, free=free, added=("start_from", "store"))


def run(request: MapRequest) -> int:
    """Find the best mapping of WORKLOAD on ARCH, by exact counts.

    Exit status: 0 found, 1 nothing valid found or the cost model failed, 2 bad input, 130 interrupted with nothing to
    show or layers missing.
    """
    arch = request.arch
    if arch in OTHERS and not os.path.exists(arch):
        raise InputError(option_fault(arch, f"is a command of its own: ruby-{arch} {request.workload or OTHERS[arch]}"))
    if request.group or "group" in request.given:
        return _run_beside(request, "group", TAKEN, search_group)
    if {"pipeline", "items"} & request.given:
        return _run_beside(request, "pipeline", TAKEN_BY_PIPELINES, search_pipeline)
    job = Job.of(request)
    for note in job.notes:
        print_message(f"note: {note}")
    if request.size:
        every, faults = job.study.spaces()
        print_sizes(every, job.study.mapspace, request.as_json)
        for fault in faults:
            print_message(str(fault))
        return NOTHING_VALID if faults else FOUND
    return job.search()


def _run_beside(request: MapRequest, option: str, taken: Collection[str], search: Search) -> int:
    """Do a search that an option asks for, of its own kind. Raises InputError with every fault."""
    faults = list[Fault](clashes(request, taken, f"does not go with --{option} yet: leave it out"))
    faults += missing_faults(request) if option == "pipeline" else []
    files = collect(faults, lambda: file_options(request.arch, request.more, request.given)) or FileOptions()
    options = search_options(request, files, faults)
    faults += costs(request).faults()
    faults += folder_faults(request.out, CHECKPOINT) if request.out else []
    loaded = _loaded(request, options, faults)
    if faults or loaded is None:
        raise InputError(dict.fromkeys(faults))
    return search(request, loaded, options)


def _status(result: Result | NetworkResult, request: MapRequest) -> int:
    """The exit status of a result: where plans within limits are asked for nothing else will do."""
    limited = request.deadline is not None or request.energy_limit is not None
    within = isinstance(result, NetworkResult) and result.plan is not None and result.plan.within
    if result.found and (within or not limited):
        return FOUND
    plan = result.plan if isinstance(result, NetworkResult) else None
    interrupted = result.statistics.interrupted or (plan is not None and plan.statistics.interrupted)
    return INTERRUPTED if interrupted else NOTHING_VALID


def _beside_layers(request: MapRequest) -> Request:
    """What is searched beside the mappings of layers: plans, layouts."""
    fuse = Request(fuse=request.fuse) if "fuse" in request.given else Request()
    limits = Request(deadline=request.deadline, energy_limit=request.energy_limit)
    return fuse | limits | Request(layouts=request.layouts)


def _option_faults(request: MapRequest, options: SearchOptions, mapspace: str) -> list[Fault]:
    """List what is wrong with the options, before any input is read."""
    faults = []
    if request.resume and not request.out:
        faults.append(option_fault("resume", "needs --out, where the checkpoint is"))
    faults += option_faults(options) + costs(request).faults()
    faults += [] if mapspace in PRESETS else [unknown_choice("mapspace", mapspace, PRESETS)]
    faults += [] if request.fuse in FUSE else [unknown_choice("fuse", request.fuse, FUSE)]
    faults += folder_faults(request.out, CHECKPOINT) if request.out else []
    faults += store_faults(request.store) if request.store else []
    stored = [option_fault("store", "needs a search; leave out --size")]
    return faults + stored if request.store and request.size else faults


def _loaded(
    request: MapRequest, options: SearchOptions, faults: list[Fault]
) -> tuple[Architecture, Workload | Network, EnergyTable] | None:
    """Read both inputs and the energies; append the faults to `faults`, and return None where one cannot be read."""
    given = {"ARCH": request.arch, "WORKLOAD": request.workload}
    missing = [option_fault(name, f"is missing: {NAME}") for name, value in given.items() if not value]
    loaded = None if missing else collect(faults, lambda: load(request.arch, request.workload, request.more))
    faults += missing
    if loaded is None:
        faults += _output_faults(request)
        return None
    machine, work = loaded
    faults += one_layer_faults(options, work, changes=request.why)
    table = collect(faults, lambda: _table(machine, request))
    faults += _output_faults(request)
    # as placed and fixed it has to fit once more
    placed = collect(faults, lambda: load(machine_as(machine, work, request.placement, request.fix), work))
    return None if table is None or placed is None else (*placed, table)


def _output_faults(request: MapRequest) -> list[Fault]:
    """Say why the certificate cannot be written, after all files were read and before the search."""
    for word in (request.cost_model or "").split():
        note_input(word)
    if request.certificate is None:
        return []
    kind = "a certificate"
    return OutputFile("certificate", request.certificate, kind, is_certificate, request.force).faults()


def _table(arch: Architecture, request: MapRequest) -> EnergyTable:
    if request.no_energy:
        return no_energies(arch)
    return energies(arch, request.arch, request.more, request.ert, request.art, request.energy)
