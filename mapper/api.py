"""The Python interface: load, explore a mapspace, evaluate one mapping; by library name, by path, or with objects.

from ruby_map.mapper import SearchOptions, evaluate, explore, load

machine, layer = load("eyeriss_like", "resnet50/conv3_x_3x3")
result = explore(machine, layer, "ruby-s", SearchOptions(seed=1, jobs=2))
print(result)               # the loop nest, accesses, totals
result.edp, result.cycles   # numbers
evaluate("simba_like", layer, "mapping.yaml")
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..arch import Architecture, check_fit, load_arch
from ..energy import EnergyTable, energy_table
from ..workloads import Document, Fault, InputError, Network, Workload, load_workload
from . import cost
from .checkpoint import Checkpoint, Part
from .cost import CostOptions
from .diagnose import hint, misfits
from .front import exact_front
from .mapping import MappingBatch
from .mapping_file import read_mapping, write_mapping
from .mapspace import Mapspace
from .padding import padded
from .presets import PRESETS
from .record import Recorder
from .recount import recount
from .report import NetworkResult, Result
from .sanity import check
from .search import Problem, SearchOptions, search, unknown

Progress = Callable[[Workload, Recorder], None]  # told after each chunk of mappings


def gather[T](faults: list[Fault], load: Callable[[], T]) -> T | None:
    """What `load` returns; None with its faults added to `faults`, so that several files report together."""
    try:
        return load()
    except InputError as error:
        faults += error.faults
        return None


def load(
    arch: Architecture | str, workload: Workload | Network | str, more: Sequence[Path] = ()
) -> tuple[Architecture, Workload | Network]:
    """Both inputs, read where they are names or paths, and checked together. Raises InputError with all faults.

    `more` are Timeloop files (constraints, variables...) to be read together with the file `arch`.
    """
    faults: list[Fault] = []
    others: list[Fault] = []
    work = gather(others, lambda: load_workload(workload)) if isinstance(workload, str) else workload
    machine = (
        gather(faults, lambda: load_arch(arch, workload=_common(work), more=more)) if isinstance(arch, str) else arch
    )
    faults += others
    if machine is None or work is None:
        raise InputError(faults)
    source = arch if isinstance(arch, str) else arch.name
    for layer in layers_of(work):
        gather(faults, lambda layer=layer: check_fit(machine, layer, source))  # type: ignore[misc]
    if faults:
        raise InputError(dict.fromkeys(faults))
    return machine, work


def _common(workload: Workload | Network | None) -> Workload | None:
    """The layer whose dims and tensors all layers share, for constraints that speak of all of them."""
    layers = layers_of(workload) if workload else []
    same = {(layer.dims, tuple((tensor.name, tensor.dims) for tensor in layer.tensors)) for layer in layers}
    return layers[0] if len(same) == 1 else None


def layers_of(workload: Workload | Network) -> list[Workload]:
    """The layers, in turn; of a single layer itself."""
    return [workload] if isinstance(workload, Workload) else [layer for layer, _ in workload.layers]


def spaces(
    arch: Architecture, workload: Workload | Network, preset: str, *, pad: bool = False, distinct: bool = False
) -> list[Mapspace]:
    """The mapspace of each layer (padded, if asked for), in turn. Raises InputError with the faults of all of them."""
    if preset not in PRESETS:
        raise InputError(unknown("mapspace", preset, PRESETS))
    faults: list[Fault] = []
    found = [
        gather(faults, lambda layer=layer: Mapspace(arch, layer, preset, distinct=distinct))  # type: ignore[misc]
        for layer in (padded(arch, layer) if pad else layer for layer in layers_of(workload))
    ]
    if faults:
        raise InputError(dict.fromkeys(faults))
    return [space for space in found if space is not None]


def explore(
    arch: Architecture | str,
    workload: Workload | Network | str,
    mapspace: str = "ruby-s",
    options: SearchOptions | None = None,
    *,
    pad: bool = False,
    distinct: bool = False,
    table: EnergyTable | None = None,
    costs: CostOptions | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Result | NetworkResult:
    """Search `mapspace` for the best mapping of a layer, or of each layer of a network in turn.

    With `pad`, dims are first rounded up to fill the array; with `distinct`, loop orders that differ only in loops of
    bound 1 count once. Ctrl-C ends the search with the best so far. With a `checkpoint`, each layer goes on from what
    it holds and saves how far it is. Raises InputError with every fault of the inputs and options.
    """
    options = options or SearchOptions()
    faults = options.faults() + (costs.faults() if costs else [])
    loaded = gather(faults, lambda: load(arch, workload))
    if faults or loaded is None:
        raise InputError(faults)
    machine, work = loaded
    figures = table or energy_table(machine)
    results: list[Result] = []
    for number, space in enumerate(spaces(machine, work, mapspace, pad=pad, distinct=distinct)):
        part = checkpoint.part(number) if checkpoint else None
        found = _explore_layer(space, options, figures, costs, progress, part)
        results.append(replace(found, mapspace=mapspace, remainders=space.imperfect, reason=space.reason))
        if found.statistics.interrupted:
            break
    if isinstance(work, Workload):
        return results[0]
    counts = [count for _, count in work.layers]
    return NetworkResult(work.name, tuple(zip(results, counts, strict=False)), missing=len(counts) - len(results))


def evaluate(
    arch: Architecture | str,
    workload: Workload | str,
    mapping: str | Path | MappingBatch | Result,
    *,
    table: EnergyTable | None = None,
    costs: CostOptions | None = None,
) -> Result:
    """The costs of one mapping, valid or not; `hint` says what makes it invalid.

    `mapping` is a file, a batch of one, or the result of a search, perhaps for another machine with the same levels.
    Raises InputError with every fault of the inputs, and where the mapping is none of this layer on this machine.
    """
    if costs and (faults := costs.faults()):
        raise InputError(faults)
    machine, work = load(arch, workload)
    if not isinstance(work, Workload):
        raise InputError(Fault(work.name, None, "", "a mapping is of one layer; name one, as NETWORK/LAYER"))
    batch = read_mapping(_source(mapping), machine, work)
    figures = table or energy_table(machine)
    found = cost.evaluate(batch, figures, costs, recount(batch))
    check(batch, found)
    return Result(machine, work, figures, batch, found, hint="\n".join(misfits(batch)))


def _source(mapping: str | Path | MappingBatch | Result) -> str | Path | Document:
    """What `read_mapping` takes: a mapping at hand is checked as a file is."""
    batch = mapping.batch if isinstance(mapping, Result) else mapping
    if isinstance(batch, str | Path):
        return batch
    if batch is None or len(batch) != 1:
        number = 0 if batch is None else len(batch)
        raise InputError(Fault("mapping", None, "", f"must be one mapping, got {number}"))
    return Document(f"mapping of {batch.workload.name} on {batch.arch.name}", write_mapping(batch), {})


def _explore_layer(
    space: Mapspace,
    options: SearchOptions,
    table: EnergyTable,
    costs: CostOptions | None,
    progress: Progress | None,
    checkpoint: Part | None = None,
) -> Result:
    """The result of one search; `hint` from its own first chunk where nothing was valid."""
    space.prepare()
    tell = None if progress is None else lambda recorder: progress(space.workload, recorder)
    outcome = search(space, table, options, costs, tell, checkpoint)
    best, went = outcome.best, outcome.statistics
    if best is None:
        why = hint(Problem(space, table, options.strategy, seed=options.seed).propose(0))
        return Result(space.arch, space.workload, table, None, None, went, "", options.objective, options.seed, why)
    found = cost.evaluate(best, table, costs, recount(best))
    check(best, found)
    front = exact_front(outcome.front, options.axes, table, costs)
    told = Result(space.arch, space.workload, table, best, found, went, "", options.objective, options.seed)
    return replace(told, lower_bound=outcome.lower_bound, optimal=outcome.optimal, axes=options.axes, front=front)
