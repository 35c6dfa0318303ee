"""The Python interface: load, explore a mapspace, evaluate one mapping; by library name, by path, or with objects.

from ruby_map.mapper import SearchOptions, evaluate, explore, load

machine, layer = load("eyeriss_like", "resnet50/conv3_x_3x3")
result = explore(machine, layer, "ruby-s", SearchOptions(seed=1, jobs=2))
print(result)               # the loop nest, accesses, totals
result.edp, result.cycles   # numbers
evaluate("simba_like", layer, "mapping.yaml")
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

from ...arch import Architecture
from ...energy import EnergyTable, energy_table, stacked_table
from ...workloads import Document, Fault, InputError, Network, Workload, collect, near, unknown_choice
from ..mapping import MappingBatch, read_mapping, write_mapping
from ..mapspace import PRESETS
from ..model import CostOptions, tell_rounding
from ..report import NetworkResult, Result
from ..runtime import Checkpoint
from ..search import SearchOptions, option_faults
from .diagnose import misfits
from .inputs import Spec, alike, layers_of, load
from .layer import Progress, counted, result_of
from .layers import Layers
from .network import chosen_for_network
from .spending import spend_budget
from .spread import bring
from .time_slices import Study
from .transforms import transformed


class Request(TypedDict, total=False):
    """The keyword arguments of `explore`."""

    pad: bool  # round dims up first, so that perfect bounds fill the array
    distinct: bool  # count loop orders once that differ only in loops of bound 1
    table: EnergyTable | None  # in place of estimated energies
    costs: CostOptions | None  # leakage, wires, drain reads
    progress: Progress | None  # called after each step of each layer
    checkpoint: Checkpoint | None  # each layer goes on from its state there, and saves its state


def explore(
    arch: Architecture | Spec,
    workload: Workload | Network | Spec,
    mapspace: str = "ruby-s",
    options: SearchOptions | None = None,
    **request: Unpack[Request],
) -> Result | NetworkResult:
    """Search `mapspace` for the best mapping of a layer, or of each layer of a network, several at once (spread.py).

    Keyword arguments (`Request`): `pad`, `distinct`, `table`, `costs`, `progress`, `checkpoint`. Ctrl-C ends the search
    with the best so far. Raises InputError with every fault of the inputs and options.
    """
    for name in request:
        if name not in Request.__annotations__:
            raise TypeError(
                f"explore() got an unexpected keyword argument {name!r}{near(name, Request.__annotations__)}"
            )
    search = _Exploration.of(arch, workload, mapspace, SearchOptions() if options is None else options, request)
    layers = Layers(search.study, request.get("progress"), request.get("checkpoint"))
    if search.study.options.budget:
        spend_budget(layers, search.counts)
    else:
        bring(layers, layers.runs)
    results = layers.bounded(layers.results())
    if isinstance(search.work, Network):
        results = chosen_for_network(layers, results, search.counts)
    if not results:
        raise KeyboardInterrupt  # Ctrl-C came before the first result
    return search.result(results)


@dataclass(frozen=True)
class _Exploration:
    """The checked inputs of an exploration: all layers, and the groups of equal layers that are searched once."""

    work: Workload | Network
    layers: list[Workload]
    groups: list[list[int]]  # indices of equal layers
    study: Study  # has the first layer of each group

    @classmethod
    def of(
        cls,
        arch: Architecture | Spec,
        workload: Workload | Network | Spec,
        mapspace: str,
        options: SearchOptions,
        request: Request,
    ) -> "_Exploration":
        """Read and check the inputs. Raises InputError with every fault."""
        if not isinstance(options, SearchOptions):
            rule = f"must be SearchOptions, as SearchOptions(seed=1); got {type(options).__name__} {options!r}"
            raise InputError(Fault("options", None, "", rule))
        costs = request.get("costs") or CostOptions()
        faults = option_faults(options) + costs.faults()
        preset = next((name for name in PRESETS if name == mapspace), None)
        faults += [] if preset else [unknown_choice("mapspace", mapspace, PRESETS)]
        loaded = collect(faults, lambda: load(arch, workload))
        if faults or loaded is None or preset is None:
            raise InputError(faults)
        machine, work = loaded
        work = transformed(machine, work, ("pad",) if request.get("pad") else ())
        layers = layers_of(work)
        groups = alike(layers)
        tell_rounding(machine, layers)
        first, table = tuple(layers[group[0]] for group in groups), request.get("table") or energy_table(machine)
        study = Study(machine, first, preset, bool(request.get("distinct")), table, costs, options)
        return cls(work, layers, groups, study)

    @property
    def counts(self) -> list[int]:
        """The number of occurrences of each group's layers."""
        if isinstance(self.work, Workload):
            return [1]
        return [sum(self.work.layers[i][1] for i in group) for group in self.groups]

    def result(self, results: Mapping[int, Result]) -> Result | NetworkResult:
        """Return the result of the layer, or make that of the network from the results of its groups, by number."""
        if isinstance(self.work, Workload):
            return results[0]
        names = tuple(tuple(self.layers[i].name for i in group[1:]) for group in self.groups)
        return NetworkResult(
            self.work.name,
            tuple((result, self.counts[number]) for number, result in results.items()),
            missing=len(self.groups) - len(results),
            alike=tuple(names[number] for number in results),
            numbers=tuple(results),
        )


def evaluate(
    arch: Architecture | Spec,
    workload: Workload | Spec,
    mapping: Spec | MappingBatch | Result,
    *,
    table: EnergyTable | None = None,
    costs: CostOptions | None = None,
) -> Result:
    """Count and cost a mapping, valid or not; `hint` says what makes it invalid.

    `mapping` is a file, a batch of one, or the result of a search, perhaps for another machine with the same levels.
    Raises InputError with every fault of the inputs, and where the mapping does not suit this layer and machine.
    """
    if costs and (faults := costs.faults()):
        raise InputError(faults)
    machine, work = load(arch, workload)
    if not isinstance(work, Workload):
        raise InputError(Fault(work.name, None, "", "a mapping is of one layer; name one, as NETWORK/LAYER"))
    batch = read_mapping(_source(mapping), machine, work)
    figures = stacked_table(table or energy_table(machine), batch.arch)
    batch, exact = counted(batch, figures, costs)
    return replace(result_of(batch, exact, figures), hint="\n".join(misfits(batch)))


def _source(mapping: Spec | MappingBatch | Result) -> Path | Document:
    """Convert a mapping to the input of `read_mapping`, which checks it like a file. Raises InputError."""
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
