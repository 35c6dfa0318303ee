"""The Python interface: load, explore a mapspace, evaluate one mapping; by library name, by path, or with objects.

from ruby_map.mapper import SearchOptions, evaluate, explore, load

machine, layer = load("eyeriss_like", "resnet50/conv3_x_3x3")
result = explore(machine, layer, "ruby-s", SearchOptions(seed=1, jobs=2))
print(result)               # the loop nest, accesses, totals
result.edp, result.cycles   # numbers
evaluate("simba_like", layer, "mapping.yaml")
"""

import os
from pathlib import Path

from ...arch import Architecture
from ...energy import EnergyTable, energy_table
from ...workloads import Document, Fault, InputError, Network, Workload, collect, unknown_choice
from ..mapping import MappingBatch, read_mapping, write_mapping
from ..mapspace import PRESETS
from ..model import CostOptions, check_physical, exactly, recount, tell_rounding
from ..model import evaluate as evaluate_batch
from ..report import NetworkResult, Result
from ..runtime import Checkpoint
from ..search import SearchOptions, option_faults
from .diagnose import misfits
from .inputs import Spec, alike, layers_of, load
from .layer import Progress
from .layers import Layers
from .time_slices import Study
from .transforms import transformed


def explore(
    arch: Architecture | Spec,
    workload: Workload | Network | Spec,
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
    """Search `mapspace` for the best mapping of a layer, or of each layer of a network, several at once (layers.py).

    With `pad`, dims are first rounded up to fill the array; with `distinct`, loop orders that differ only in loops of
    bound 1 count once. Ctrl-C ends the search with the best so far. With a `checkpoint`, each layer goes on from what
    it holds and saves how far it is. Raises InputError with every fault of the inputs and options.
    """
    options = SearchOptions() if options is None else options
    if not isinstance(options, SearchOptions):
        rule = f"must be SearchOptions, as SearchOptions(seed=1); got {type(options).__name__} {options!r}"
        raise InputError(Fault("options", None, "", rule))
    faults = option_faults(options) + (costs.faults() if costs else [])
    preset = next((name for name in PRESETS if name == mapspace), None)
    faults += [] if preset else [unknown_choice("mapspace", mapspace, PRESETS)]
    loaded = collect(faults, lambda: load(arch, workload))
    if faults or loaded is None or preset is None:
        raise InputError(faults)
    machine, work = loaded
    work = transformed(machine, work, ("pad",) if pad else ())
    every = layers_of(work)
    groups = alike(every)
    tell_rounding(machine, every)
    study = Study(machine, tuple(every[group[0]] for group in groups), preset, distinct,
                  table or energy_table(machine), costs or CostOptions(), options)  # fmt: skip
    layers = Layers(study, progress, checkpoint)
    counts = [1] if isinstance(work, Workload) else [sum(work.layers[i][1] for i in group) for group in groups]
    if options.budget:
        layers.spend(counts)
    else:
        layers.bring(layers.runs)
    found = layers.bounded(layers.results())
    if not found:
        raise KeyboardInterrupt  # before the first
    if isinstance(work, Workload):
        return found[0]
    names = tuple(tuple(every[i].name for i in group[1:]) for group in groups)
    return NetworkResult(
        work.name,
        tuple((result, counts[number]) for number, result in found.items()),
        missing=len(groups) - len(found),
        alike=tuple(names[number] for number in found),
        numbers=tuple(found),
    )


def evaluate(
    arch: Architecture | Spec,
    workload: Workload | Spec,
    mapping: Spec | MappingBatch | Result,
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
    batch = exactly(read_mapping(_source(mapping), machine, work))
    figures = table or energy_table(machine)
    found = evaluate_batch(batch, figures, costs, recount(batch))
    check_physical(batch, found)
    return Result(machine, work, figures, batch, found, hint="\n".join(misfits(batch)))


def _source(mapping: Spec | MappingBatch | Result) -> Path | Document:
    """What `read_mapping` takes: a mapping at hand is checked as a file is."""
    batch = mapping.batch if isinstance(mapping, Result) else mapping
    if isinstance(batch, str | os.PathLike):
        return Path(batch)
    if not isinstance(batch, MappingBatch | None):
        rule = f"must be a file, a mapping or a result; got {type(batch).__name__} {batch!r}"
        raise InputError(Fault("mapping", None, "", rule))
    if batch is None or len(batch) != 1:
        number = 0 if batch is None else len(batch)
        raise InputError(Fault("mapping", None, "", f"must be one mapping, got {number}"))
    return Document(f"mapping of {batch.workload.name} on {batch.arch.name}", write_mapping(batch), {})
