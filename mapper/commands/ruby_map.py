"""`ruby-map ARCH WORKLOAD`: search a mapspace and print the best mapping with its costs."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ...arch import Architecture, library_archs
from ...energy import EnergyTable, energy_table
from ...workloads import Fault, InputError, collect, library_workloads
from ..exploration import alike, explore, layers_of, load, spaces
from ..mapspace import PRESETS, Mapspace
from ..model import OBJECTIVES, CostOptions
from ..report import NetworkResult, Result, certificate_faults, result_json, write_folder, write_proof
from ..runtime import KINDS, Checkpoint, folder_faults, identity, say, tell
from ..runtime import NAME as CHECKPOINT
from ..search import STRATEGIES, SearchOptions, idle_faults, read_patience, unknown
from ..search.engines import ENGINES
from .progress import progress
from .shared import FOUND, HOP, INTERRUPTED, LEAKAGE, NOTHING_VALID, TILE, WIRE, WITH, echo_json, new_app
from .timeloop_options import FileOptions, file_options, reference_tables

_SPACE, _SEARCH, _STOP, _OUT, _ENERGY = "Mapspace", "Search", "When to stop", "Output", "Energy and area"
BOUND = 10.0  # seconds
OTHERS = {"import": "MODEL.onnx", "model": "ARCH WORKLOAD MAPPING", "energy": "ARCH", "sweep": "SWEEP.yaml"}
OTHERS |= {"check": "ARCH WORKLOAD CERTIFICATE"}
NAME = "a library name (see --list) or a path"


def ruby_map(
    context: typer.Context,
    arch: Annotated[str, typer.Argument(metavar="ARCH", help=f"The architecture: {NAME}.")] = "",
    workload: Annotated[
        str, typer.Argument(metavar="WORKLOAD", help=f"A layer, NETWORK/LAYER, or a network: {NAME}.")
    ] = "",
    mapspace: Annotated[
        str, typer.Option(help=f"{', '.join(PRESETS)}: where bounds need not divide.", rich_help_panel=_SPACE)
    ] = "ruby-s",
    pad: Annotated[
        bool, typer.Option("--pad", help="Pad dims to fill the array first.", rich_help_panel=_SPACE)
    ] = False,
    size: Annotated[
        bool, typer.Option("--size", help="Print the mapspace's size and stop.", rich_help_panel=_SPACE)
    ] = False,
    strategy: Annotated[
        str, typer.Option("--search", help=f"{', '.join(STRATEGIES)}.", rich_help_panel=_SEARCH)
    ] = "random",
    objective: Annotated[
        str,
        typer.Option(
            help=f"What to minimise: {', '.join(OBJECTIVES)}; or a list, the first first.", rich_help_panel=_SEARCH
        ),
    ] = "edp",
    seed: Annotated[int, typer.Option(help="Same seed, same answer.", rich_help_panel=_SEARCH)] = 0,
    jobs: Annotated[
        int, typer.Option(help="Processes; the answer does not depend on it.", rich_help_panel=_SEARCH)
    ] = 1,
    victory: Annotated[
        int, typer.Option(help="Valid mappings in a row without improvement.", rich_help_panel=_STOP)
    ] = 3000,
    samples: Annotated[int | None, typer.Option(help="Mappings drawn, valid or not.", rich_help_panel=_STOP)] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds (the answer then depends on the machine).", rich_help_panel=_STOP)
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            help="In place of these: mappings (1000000) or seconds (60s) for all layers.", rich_help_panel=_STOP
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="A new folder for results and the checkpoint.", rich_help_panel=_OUT)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object and nothing else.", rich_help_panel=_OUT)
    ] = False,
    names: Annotated[
        bool, typer.Option("--list", help="Print the library's names and stop.", rich_help_panel=_OUT)
    ] = False,
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table.", rich_help_panel=_ENERGY)] = None,
    art: Annotated[Path | None, typer.Option(help="Accelergy area table.", rich_help_panel=_ENERGY)] = None,
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="Orders that differ in unit loops only count once.", rich_help_panel=_SPACE),
    ] = False,
    front: Annotated[
        str, typer.Option(help="Keep the Pareto front of these objectives, as energy,delay.", rich_help_panel=_SEARCH)
    ] = "",
    cluster: Annotated[str | None, typer.Option(help=f"Search there: {KINDS}.", rich_help_panel=_SEARCH)] = None,
    engine: Annotated[
        str, typer.Option(help=f"{', '.join(ENGINES)}: runs the model, same answer.", rich_help_panel=_SEARCH)
    ] = "numpy",
    patience: Annotated[
        str,
        typer.Option(help="FRACTION:N, N valid mappings without an improvement by FRACTION.", rich_help_panel=_STOP),
    ] = "",
    target: Annotated[
        float | None, typer.Option(help="Stop at this value of the objective, or below.", rich_help_panel=_STOP)
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Prove how far the best possible may be below.", rich_help_panel=_SEARCH)
    ] = False,
    bound_seconds: Annotated[
        float | None, typer.Option(help=f"For --bound, per layer; {BOUND:g} if not given.", rich_help_panel=_SEARCH)
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this file, for ruby-check.", rich_help_panel=_OUT)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint in --out.", rich_help_panel=_OUT)
    ] = False,
    log: Annotated[
        bool, typer.Option("--log", help="Progress as lines on standard error.", rich_help_panel=_OUT)
    ] = False,
    more: Annotated[
        list[Path] | None, typer.Option("--with", help=f"{WITH}; mapper keys are options.", rich_help_panel=_SPACE)
    ] = None,
    leakage: Annotated[bool, typer.Option("--leakage", help=LEAKAGE, rich_help_panel=_ENERGY)] = False,
    wire_pj_per_bit_mm: Annotated[float, typer.Option(help=WIRE, rich_help_panel=_ENERGY)] = 0.0,
    tile_mm: Annotated[float, typer.Option(help=TILE, rich_help_panel=_ENERGY)] = 0.0,
    hop_pj: Annotated[float, typer.Option(help=HOP, rich_help_panel=_ENERGY)] = 0.0,
) -> int:
    """Find the best mapping of WORKLOAD on ARCH, by exact counts.

    Exit status: 0 found, 1 nothing valid found, 2 bad input, 130 interrupted with nothing to show or layers missing.
    """
    if names:
        return _list(as_json)
    if arch in OTHERS and not os.path.exists(arch):
        raise InputError(Fault(arch, None, "", f"is a command of its own: ruby-{arch} {workload or OTHERS[arch]}"))
    faults: list[Fault] = []
    more = more or []
    files = collect(faults, lambda: file_options(arch, more, on_command_line(context))) if arch else None
    files = files or FileOptions()
    mapspace, distinct = files.given.pop("mapspace", mapspace), files.given.pop("distinct", distinct)
    options = replace(SearchOptions(strategy, objective, victory, samples, time_limit, jobs, seed), **files.given)
    rule = collect(faults, lambda: read_patience(patience)) if patience else None
    options = replace(options, patience=rule, target=target, front=front, cluster=cluster, budget=budget, engine=engine)
    faults += idle_faults(options, {*on_command_line(context), *(files.given if budget else ())})
    if bound or bound_seconds is not None:
        options = replace(options, bound=BOUND if bound_seconds is None else bound_seconds)
    if certificate:
        options = replace(options, certify=True)
        faults += certificate_faults(certificate, proves=options.strategy == "optimal" or options.bound is not None)
    faults += [Fault("resume", None, "", "needs --out, where the checkpoint is")] if resume and not out else []
    costs = CostOptions(leakage, wire_pj_per_bit_mm, tile_mm, hop_pj)
    faults += (
        options.faults() + costs.faults() + ([] if mapspace in PRESETS else [unknown("mapspace", mapspace, PRESETS)])
    )
    faults += folder_faults(out, CHECKPOINT) if out else []
    given = {"ARCH": arch, "WORKLOAD": workload}
    missing = [Fault(name, None, "", f"is missing: {NAME}") for name, value in given.items() if not value]
    loaded = None if missing else collect(faults, lambda: load(arch, workload, more))
    faults += missing
    table = collect(faults, lambda: _table(loaded[0], *reference_tables(arch, more, ert, art))) if loaded else None
    if faults or loaded is None:
        raise InputError(dict.fromkeys(faults))
    for note in files.notes:
        tell(f"note: {note}")
    machine, work = loaded
    if size:
        return _size(spaces(machine, work, mapspace, pad=pad, distinct=distinct), mapspace, as_json)
    with ExitStack() as open_files:
        checkpoint = None
        if out:
            problem: dict[str, object] = {"arch": machine, "workload": work, "energies": table}
            problem |= {"mapspace": mapspace, "pad": pad, "distinct": distinct, "costs": costs}
            what = identity(options, ("jobs", "cluster", "bound", "prune", "engine", "certify"), **problem)
            checkpoint = open_files.enter_context(Checkpoint(out, what, resume=resume))
        with progress(log, len(alike(layers_of(work))), budget) as told:
            result = explore(
                machine,
                work,
                mapspace,
                options,
                pad=pad,
                distinct=distinct,
                table=table,
                costs=costs,
                progress=told,
                checkpoint=checkpoint,
            )
        return _show(
            result, as_json, checkpoint, partial(write_proof, result, certificate, pad) if certificate else str
        )


def on_command_line(context: typer.Context) -> list[str]:
    """The parameters that the user gave, rather than left at their defaults."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def _table(arch: Architecture, ert: Path | None, art: Path | None) -> EnergyTable:
    return energy_table(arch, ert, art)


def _list(as_json: bool) -> int:
    """The names of the library."""
    archs, workloads = sorted(library_archs()), library_workloads()
    if as_json:
        echo_json({"archs": archs, "workloads": {name: list(layers) for name, layers in workloads.items()}})
        return FOUND
    say("\n".join(["architectures", *(f"  {name}" for name in archs), "workloads"]))
    for name, layers in workloads.items():
        say(f"  {name}" + (f" ({len(layers)} layers)" if layers else ""))
        for layer in layers:
            say(f"    {name}/{layer}")
    return FOUND


def _size(found: list[Mapspace], mapspace: str, as_json: bool) -> int:
    """The number of mappings, valid or not, and of the choices that they are combinations of."""
    if not as_json:
        for space in found:
            say(f"{space.workload.name} on {space.arch.name}, {mapspace}: {space.size} mappings")
            if mapspace == "auto":
                told = f"remainders at {space.reason}" if space.imperfect else f"no remainders: {space.reason}"
                say(f"  {told}")
            for part, number in asdict(space.size).items():
                say(f"  {part:<14} {number:,}")
            say(f"  {'log10':<14} {space.size.log10:.2f}")
        return FOUND
    layers = [_size_json(space) for space in found]
    echo_json(layers[0] if len(layers) == 1 else {"layers": layers})
    return FOUND


def _size_json(space: Mapspace) -> dict[str, object]:
    size = space.size
    told = {"size": asdict(size), "log10": size.log10, "human": str(size)}
    return {"workload": space.workload.name} | told | {"remainders": list(space.imperfect), "reason": space.reason}


def _show(
    result: Result | NetworkResult, as_json: bool, checkpoint: Checkpoint | None, prove: Callable[[], str]
) -> int:
    """Write and print: what cannot be written is printed all the same, what cannot be printed is written.

    `prove` writes the certificate, where one is asked for, or says why there is none.
    """
    interrupted, faults = result.statistics.interrupted, list[Fault]()
    some = result.found or (isinstance(result, NetworkResult) and any(layer.found for layer, _ in result.layers))
    if checkpoint and (some or not interrupted):
        collect(faults, lambda: _keep(result, some, checkpoint))
    if why := collect(faults, prove):
        tell(why)
    collect(faults, lambda: echo_json(result_json(result)) if as_json else say(str(result)))
    if interrupted:
        tell(_interrupted(result, some, checkpoint))
    if faults:
        raise InputError(faults)
    if not result.found:
        return INTERRUPTED if interrupted else NOTHING_VALID
    return FOUND


def _keep(result: Result | NetworkResult, some: bool, checkpoint: Checkpoint) -> None:
    """Write the folder; of a search that ended without a mapping nothing stays."""
    checkpoint.check_place()
    if result.found or (some and result.statistics.interrupted):
        write_folder(result, checkpoint.path.parent)
    else:
        checkpoint.discard()
        tell(f"{checkpoint.path.parent}: not written, as there is no mapping")


def _interrupted(result: Result | NetworkResult, some: bool, checkpoint: Checkpoint | None) -> str:
    """What there is after Ctrl-C, and how to go on."""
    told = "the best so far" if some else "nothing found yet"
    if isinstance(result, NetworkResult) and not result.found:
        number = sum(layer.found for layer, _ in result.layers)
        told = f"the best so far of {number} of {len(result.layers) + result.missing} layers" if some else told
    return f"interrupted: {told}" + ("; the same command with --resume goes on from here" if checkpoint else "")


main = new_app(ruby_map)
