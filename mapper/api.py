"""The Python interface: load, explore a mapspace, evaluate one mapping; by library name, by path, or with objects.

from ruby_map.mapper import SearchOptions, evaluate, explore, load

machine, layer = load("eyeriss_like", "resnet50/conv3_x_3x3")
result = explore(machine, layer, "ruby-s", SearchOptions(seed=1, jobs=2))
print(result)               # the loop nest, accesses, totals
result.edp, result.cycles   # numbers
evaluate("simba_like", layer, "mapping.yaml")
"""

from dataclasses import replace
from pathlib import Path

from ..arch import Architecture
from ..energy import EnergyTable, energy_table
from ..workloads import Document, Fault, InputError, Network, Workload
from .checkpoint import Checkpoint
from .cost import CostOptions
from .cost import evaluate as evaluate_batch
from .diagnose import misfits
from .inputs import gather, load, spaces
from .layer import Progress, explore_layer
from .mapping import MappingBatch
from .mapping_file import read_mapping, write_mapping
from .recount import recount
from .report import NetworkResult, Result
from .sanity import check
from .search import SearchOptions


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
        found = explore_layer(space, options, figures, costs, progress, part)
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
    found = evaluate_batch(batch, figures, costs, recount(batch))
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
