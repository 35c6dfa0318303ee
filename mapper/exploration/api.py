"""The Python interface: load, explore a mapspace, evaluate one mapping; by library name, by path, or with objects.

from ruby_map.mapper import SearchOptions, evaluate, explore, load

machine, layer = load("eyeriss_like", "resnet50/conv3_x_3x3")
result = explore(machine, layer, "ruby-s", SearchOptions(seed=1, jobs=2))
result = explore(machine, layer, time_limit=5, cost_model=my_function)
print(result)               # the loop nest, accesses, totals
result.edp, result.cycles   # numbers
evaluate("simba_like", layer, "mapping.yaml")
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from math import inf
from typing import Any, TypedDict, cast

from ...arch import Architecture
from ...energy import EnergyTable, energy_table
from ...workloads import Fault, InputError, Network, Workload, collect, near, option_fault, unknown_choice
from ..bounds.sums import Limits
from ..mapping import MappingBatch
from ..mapping.transforms import Transforms
from ..mapspace import PRESETS
from ..model import warn_of_rounding
from ..model.figures import Mapped
from ..problem import Charges, Problem
from ..report import NetworkResult, Result
from ..runtime import Checkpoint, one_thread
from ..search.options import SearchOptions
from ..searchers import option_faults
from ..store import Store
from .diagnose import exceeded_limits
from .inputs import Spec, load
from .layer import Progress
from .layers import Layers
from .layouts import layouts_faults, with_layouts
from .mappings import mapping_of
from .neighbours import ONE_LAYER
from .network import chosen_for_network
from .plans import PlanRequest, Tell, why_no_plan, with_operations, with_plan
from .spending import spend_budget
from .spread import search_layers
from .start_mappings import StartMappings, kept_in
from .store_link import StoredLayers
from .time_slices import Study
from .transforms import chosen, transformed

AUTO, RESIDENT, NONE = FUSE = ("auto", "resident", "none")  # of `fuse`


class Request(TypedDict, total=False):
    """The keyword arguments of `explore` beside those of SearchOptions."""

    pad: bool  # round dims up first, so that perfect bounds fill the array
    im2col: bool  # make matrix products of convolutions first
    distinct: bool  # count loop orders once that differ only in loops of bound 1
    table: EnergyTable | None  # in place of estimated energies
    costs: Charges | None  # leakage, wires, drain reads
    progress: Progress | None  # called after each step of each layer
    checkpoint: Checkpoint | None  # each layer goes on from its state there, and saves its state
    store: Store | None  # searches begin with what it holds, and what they find is added
    start_from: StartMappings | None  # mappings made for other layers or machines, with which searches begin
    transfer_only: bool  # answer the best of these, and search no further
    # auto: the best plan of a network whose layers hand each other tensors; resident: the best that fuses no layers;
    # none: its layers one by one
    fuse: str
    deadline: float | None  # a plan has at most so many cycles
    energy_limit: float | None  # a plan has at most so much energy, in pJ
    plan_progress: Tell | None  # called after each step of the search of plans
    layouts: bool  # choose the layouts of tensors in a DRAM that the machine's file does not give (layouts.py)


def explore(
    arch: Architecture | Spec,
    workload: Workload | Network | Spec,
    mapspace: str = "ruby-s",
    options: SearchOptions | None = None,
    **keywords: Any,
) -> Result | NetworkResult:
    """Search `mapspace` for the best mapping of a layer, or of each layer of a network, several at once (spread.py).

    Keyword arguments: any option of the search, as `time_limit=5`, which wins over that of `options`; and those of
    `Request`. Ctrl-C ends the search with the best so far. Raises InputError with every fault of inputs and options,
    TypeError for a keyword that is none.
    """
    request, given = _sorted(keywords)
    options = SearchOptions() if options is None else options
    if given and isinstance(options, SearchOptions):
        options = replace(options, **given)
    study = _study(arch, workload, mapspace, options, request)
    if faults := study_faults(study, request):
        raise InputError(faults)
    return explored(study, request)


@one_thread()
def explored(study: Study, request: Request) -> Result | NetworkResult:
    """Search the layers of a study, whose inputs and options have been checked; see `explore`.

    Of `request` it takes what a search begins with and whom it tells.
    """
    warn_of_rounding(study.arch, study.layers)
    held = StoredLayers(store, study) if (store := request.get("store")) else None
    study = held.with_starts if held else study
    if beginnings := request.get("start_from"):
        study = beginnings.with_starts(study, bool(request.get("transfer_only")))
    if checkpoint := request.get("checkpoint"):
        study = kept_in(checkpoint, study)
    why_not = _no_plan(study, request)
    study = with_operations(study) if why_not is None else study
    layers = Layers(study, request.get("progress"), checkpoint)
    if study.options.budget:
        spend_budget(layers, study.counts)
    else:
        search_layers(layers, layers.runs)
    results = layers.bounded(layers.results())
    if held:
        held.keep(results)
    if isinstance(study.work, Network):
        results = chosen_for_network(layers, results, study.counts)
    if not results:
        raise KeyboardInterrupt  # Ctrl-C came before the first result
    result = study.result(held.with_origins(results) if held else results)
    if isinstance(result, Result):
        return with_layouts(study, result, request.get("progress")) if request.get("layouts") else result
    if why_not is not None:
        return replace(result, no_plan=why_not, plans_untried="fuse" not in request and not why_no_plan(study))
    tell = request.get("plan_progress")
    return with_plan(study, result, PlanRequest(request.get("fuse") == AUTO, _limits(request), tell))


def _limits(request: Request) -> Limits:
    """The limits of a plan."""
    cycles, energy_pj = request.get("deadline"), request.get("energy_limit")
    return Limits(inf if cycles is None else cycles, inf if energy_pj is None else energy_pj)


def _no_plan(study: Study, request: Request) -> str | None:
    """Say why no plans are searched, which is empty where none are asked for; None: they are."""
    if request.get("fuse", NONE) == NONE or not isinstance(study.work, Network):
        return ""
    return why_no_plan(study) or None


def _sorted(keywords: Mapping[str, Any]) -> tuple[Request, dict[str, Any]]:
    """Sort keyword arguments into those of `Request` and options of the search. Raises TypeError naming all others."""
    own = [field.name for field in fields(SearchOptions)]
    wrong = [name for name in keywords if name not in Request.__annotations__ and name not in own]
    if wrong:
        names = ", ".join(f"{name!r}{near(name, [*Request.__annotations__, *own])}" for name in wrong)
        several = "unexpected keyword arguments" if len(wrong) > 1 else "an unexpected keyword argument"
        raise TypeError(f"explore() got {several} {names}")
    request = {name: value for name, value in keywords.items() if name in Request.__annotations__}
    return cast(Request, request), {name: value for name, value in keywords.items() if name in own}


def study_faults(study: Study, request: Request) -> list[Fault]:
    """List what of a request does not go with a study: of plans, of layouts."""
    faults = _plan_faults(study, request)
    if request.get("layouts"):
        faults += layouts_faults(study)
        clashing = [name for name in ("store", "transfer_only") if request.get(name)]
        faults += [option_fault(name.replace("_", "-"), "is of one layout: leave out layouts") for name in clashing]
    return faults


def _plan_faults(study: Study, request: Request) -> list[Fault]:
    """List what is wrong with the limits of a plan, or why there is no plan that could keep them."""
    limits = {"deadline": request.get("deadline"), "energy_limit": request.get("energy_limit")}
    given = {name.replace("_", "-"): limit for name, limit in limits.items() if limit is not None}
    rule = "must be a positive number"
    faults = [option_fault(name, rule) for name, limit in given.items() if not 0 < limit < inf]
    if "energy-limit" in given and not study.problems[0].energies.counted:
        faults.append(option_fault("energy-limit", "energies are not known (--no-energy)"))
    why_not = "give --fuse auto, or resident" if request.get("fuse", NONE) == NONE else why_no_plan(study)
    if why_not:
        faults += [option_fault(name, f"is of plans of a network, and none is searched: {why_not}") for name in given]
    return faults


def _start_faults(request: Request, options: SearchOptions) -> list[Fault]:
    """List what does not go together of what a search begins with."""
    faults = []
    if request.get("transfer_only") and options.cost_model:
        faults.append(option_fault("transfer-only", "is judged by our model: leave this out with a cost model"))
    if request.get("transfer_only") and not request.get("start_from"):
        faults.append(option_fault("transfer-only", "needs --start-from, whose mappings it adapts"))
    for name in ("store", "checkpoint"):
        if request.get(name) and callable(options.cost_model):
            rule = "needs a cost model that a later run knows again: a command, and not a function"
            faults.append(option_fault(name, rule))
    return faults


def one_layer_faults(options: SearchOptions, work: Workload | Network, *, changes: bool = False) -> list[Fault]:
    """Say that a cost model, and what changes are asked about, are of one layer, where there are several."""
    if isinstance(work, Workload):
        return []
    faults = [option_fault("why", ONE_LAYER)] if changes else []
    if options.cost_model is not None:
        faults.append(option_fault("cost-model", "is asked about one layer; name one, as NETWORK/LAYER"))
    return faults


def _study(
    arch: Architecture | Spec,
    workload: Workload | Network | Spec,
    mapspace: str,
    options: SearchOptions,
    request: Request,
) -> Study:
    """Read and check the inputs. Raises InputError with every fault."""
    if not isinstance(options, SearchOptions):
        rule = f"must be SearchOptions, as SearchOptions(seed=1); got {type(options).__name__} {options!r}"
        raise InputError(Fault("options", None, "", rule))
    charges = request.get("costs") or Charges()
    faults = option_faults(options) + charges.faults() + _start_faults(request, options)
    if (fuse := request.get("fuse", NONE)) not in FUSE:
        faults.append(unknown_choice("fuse", str(fuse), FUSE))
    preset = next((name for name in PRESETS if name == mapspace), None)
    faults += [] if preset else [unknown_choice("mapspace", mapspace, PRESETS)]
    loaded = collect(faults, lambda: load(arch, workload))
    faults += one_layer_faults(options, loaded[1]) if loaded else []
    if faults or loaded is None or preset is None:
        raise InputError(faults)
    machine, work = loaded
    work = transformed(machine, work, chosen(**request))
    table = request.get("table") or energy_table(machine)
    goal = options.goal
    return Study.of(
        work,
        lambda layer: Problem(machine, layer, table, charges, goal),
        preset,
        bool(request.get("distinct")),
        options,
    )


def evaluate(
    arch: Architecture | Spec,
    workload: Workload | Spec,
    mapping: Spec | MappingBatch | Transforms | Result,
    *,
    table: EnergyTable | None = None,
    costs: Charges | None = None,
) -> Result:
    """Count and cost a mapping, valid or not; `hint` says what makes it invalid.

    `mapping` is a file (Timeloop's format, or transforms), transforms, a batch of one, or the result of a search,
    perhaps for another machine with the same levels. Raises InputError with every fault of the inputs, and where
    the mapping does not suit this layer and machine.
    """
    if costs and (faults := costs.faults()):
        raise InputError(faults)
    machine, work = load(arch, workload)
    if not isinstance(work, Workload):
        raise InputError(Fault(work.name, None, "", "a mapping is of one layer; name one, as NETWORK/LAYER"))
    batch = mapping_of(mapping, machine, work)
    # transforms may pad the layer
    problem = Problem(machine, batch.workload, table or energy_table(machine), costs or Charges())
    mapped = Mapped.of(problem, batch)
    return Result(problem, mapped, hint="\n".join(exceeded_limits(mapped.batch)))
