"""`ruby-model ARCH WORKLOAD MAPPING` prints counts and costs of a mapping, compares the executor's, explains them.

With a second mapping, or changes by `--set`, it prints how the two differ, by level and tensor.
"""

from ...arch import Architecture
from ...energy import EnergyTable, no_energies
from ...workloads import Fault, InputError, Network, Workload, collect, option_fault, unknown_choice
from ..codegen import DATA_TYPES, Nest, ProgramCounts, predicted_seconds
from ..exploration import evaluate, exceeded_limits, layers_of, load
from ..exploration.transforms import chosen, transformed
from ..mapping import MappingBatch
from ..mapping.transforms import transforms_of
from ..model import Counts, TooLarge, simulate
from ..model.figures import counts_by_memory
from ..problem import OBJECTIVES, Charges, Goal, Problem
from ..report import (
    Json,
    Result,
    beside_json,
    beside_text,
    compare_with_timeloop,
    comparison,
    comparison_json,
    difference_json,
    difference_text,
    result_json,
)
from ..runtime import print_result
from ..store import MappingSource, Store, store_faults
from .changes import changed, with_them
from .guard import FOUND, NOTHING_VALID, echo_json
from .ruby_model import ModelRequest
from .run_fit import run_fit
from .run_plan import run_plan
from .shared import energy_clashes, placed_as
from .timeloop_options import energies

HAND = "hand"  # the origin, in a store, of mappings that nobody searched for


def run(request: ModelRequest) -> int:
    """Count and cost one mapping. Status 0: valid; 1: it does not fit the machine or violates its constraints (costs
    are shown all the same); 2: bad input, and loops that are no mapping of the workload."""
    if request.fit:
        return run_fit(request)
    costs = Charges(request.leakage, request.wire_pj_per_bit_mm, request.tile_mm, request.hop_pj, request.drain_reads)
    _check_one(request)
    _check_store(request)
    machine, layer = load(request.arch, request.workload, request.more)
    machine = placed_as(machine, request.placement)
    if request.no_energy:
        table = no_energies(machine)
    else:
        table = energies(machine, request.arch, request.more, request.ert, request.art, request.energy)
    if isinstance(layer, Network):
        return run_plan(request, layer, (machine, table, costs))
    if faults := _clashes(request):
        raise InputError(faults)
    (layer,) = layers_of(transformed(machine, layer, chosen(**vars(request))))
    if request.other:
        return _compare(machine, layer, table, costs, (request.mapping, request.other), request.json)
    result = evaluate(machine, layer, request.mapping, table=table, costs=costs)
    assert result.batch is not None
    if request.changes:
        return _show_changes(result, layer, costs, request)
    if request.transforms:
        print_result(transforms_of(result.batch, layer).yaml().rstrip())
        return NOTHING_VALID if result.hint else FOUND
    if request.json:
        echo_json(_model_json(result, result.batch, request))
    else:
        print_result(_model_text(result, result.batch, request))
    if request.store and not result.hint:
        with Store(request.store) as store:
            goal = Goal(tuple(request.objective.split(",")))
            store.add(Problem(machine, result.workload, table, costs, goal), result.batch, MappingSource(HAND))
    return NOTHING_VALID if result.hint else FOUND


def _clashes(request: ModelRequest) -> list[Fault]:
    """List options that do not go together."""
    two = bool(request.other or request.changes)
    rules = {
        "--simulate, --explain": (
            two and (request.simulated or request.explained),
            "are for one mapping; two are compared",
        ),
        "--beside": (two and request.beside is not None, "is for one mapping; two are compared"),
        "--set": (bool(request.other and request.changes), "changes one mapping; leave out the second"),
        "--transforms": (
            request.transforms and (two or request.json or request.simulated or request.explained),
            "prints one mapping as it is, in YAML and nothing else",
        ),
    }
    faults = [Fault(name, None, "", rule) for name, (wrong, rule) in rules.items() if wrong]
    return faults + (energy_clashes(request.given) if request.no_energy else [])


def _show_changes(before: Result, layer: Workload, costs: Charges, request: ModelRequest) -> int:
    """Show what the changes of a mapping change in its figures. Returns status 1 where the changed one is not valid."""
    assert before.batch is not None
    after = evaluate(
        before.arch, before.workload, changed(before.batch, layer, request.changes), table=before.table, costs=costs
    )
    assert after.batch is not None
    moved = with_them(before.batch, after.batch)
    if request.json:
        wrong = {"invalid": {"b": after.hint.splitlines()}} if after.hint else {}
        echo_json(difference_json(before, after) | {"set": request.changes, "with_it": moved} | wrong)
    else:
        names = (request.mapping, f"{request.mapping} with " + "; ".join(request.changes))
        print_result(difference_text(before, after, names))
        if moved:
            print_result("\n".join(["\nwith it, as the outermost level takes what the others leave:", *moved]))
        if after.hint:
            print_result("\n".join(["\nB is not valid:", *after.hint.splitlines()]))
    return NOTHING_VALID if after.hint else FOUND


def _check_one(request: ModelRequest) -> None:
    """Raise InputError where a layer or a mapping is missing, and for what goes with --fit alone."""
    missing = {"WORKLOAD": not request.workload, "MAPPING": not request.mapping}
    faults = [option_fault(name, "is missing") for name, is_missing in missing.items() if is_missing]
    faults += [option_fault("seed", "goes with --fit")] if "seed" in request.given else []
    if faults:
        raise InputError(faults)


def _check_store(request: ModelRequest) -> None:
    """Raise InputError with what is wrong with the options of the store."""
    faults = store_faults(request.store) if request.store else []
    if request.store and request.other:
        faults.append(option_fault("store", "takes one mapping: leave out MAPPING_B"))
    if request.store and (request.changes or request.transforms):
        faults.append(option_fault("store", "takes the mapping as it is: leave out --set and --transforms"))
    if not request.store and "objective" in request.given:
        faults.append(option_fault("objective", "goes with --store"))
    names = request.objective.split(",")
    faults += [unknown_choice("objective", name, OBJECTIVES) for name in names if name not in OBJECTIVES]
    if len(set(names)) < len(names):
        faults.append(option_fault("objective", "names one of its objectives twice"))
    if faults:
        raise InputError(faults)


def _simulated(result: Result, batch: MappingBatch) -> tuple[MappingBatch, Counts, Counts]:
    """Return the mapping, the model's and the executor's counts. Raises InputError where it is too large to execute."""
    assert result.costs is not None
    try:
        truth = simulate(batch)
        truth = truth.with_drains() if result.costs.options.drain_reads else truth
        return batch, result.costs.counts, counts_by_memory(truth, batch.arch)
    except TooLarge as error:
        raise InputError(Fault("--simulate", None, "", str(error))) from error


def _predicted(result: Result, batch: MappingBatch) -> tuple[float, str] | None:
    """Return the seconds of a program in C by the machine's calibration, and what that is of; None without one."""
    known = result.arch.calibration
    if known is None or known.dtype not in DATA_TYPES:
        return None
    seconds = predicted_seconds(ProgramCounts(Nest.of(batch), DATA_TYPES[known.dtype]))
    return None if seconds is None else (seconds, f"{known.dtype}, {known.measured_on}")


def _model_json(result: Result, batch: MappingBatch, request: ModelRequest) -> Json:
    """Convert the result, and the additions of the request, to JSON values."""
    values = result_json(result)
    if result.hint:
        values["invalid"] = exceeded_limits(batch)
    if time := _predicted(result, batch):
        values["predicted_seconds"] = time[0]
    if request.simulated:
        assert result.costs is not None
        wires = result.costs.options.has_interconnect
        values["simulated"] = comparison_json(*_simulated(result, batch), wires=wires)
    if request.explained:
        values["explanation"] = _explanation(batch, request).splitlines()
    if request.beside:
        values["timeloop"] = beside_json(compare_with_timeloop(result, request.beside))
    return values


def _model_text(result: Result, batch: MappingBatch, request: ModelRequest) -> str:
    """Format the result, and the additions of the request, as text."""
    assert result.costs is not None
    wires = result.costs.options.has_interconnect
    counts = comparison(*_simulated(result, batch), wires=wires) if request.simulated else ""
    parts = [str(result)]
    if time := _predicted(result, batch):
        parts.append(f"\nprogram      {time[0] * 1e3:,.4g} ms predicted for one in C ({time[1]})")
    if result.hint:
        parts.append("\n".join(["\nthis mapping is not valid:", *exceeded_limits(batch)]))
    parts += [f"\n{counts}"] if counts else []
    parts += [f"\n{_explanation(batch, request)}"] if request.explained else []
    parts += [f"\n{beside_text(compare_with_timeloop(result, request.beside))}"] if request.beside else []
    return "\n".join(parts)


def _compare(
    machine: Architecture,
    layer: Workload,
    table: EnergyTable,
    costs: Charges,
    mappings: tuple[str, str],
    json: bool,
) -> int:
    """Show why one mapping is better than the other. Returns status 1 where one is not valid."""
    faults: list[Fault] = []
    results = [
        collect(faults, lambda path=path: evaluate(machine, layer, path, table=table, costs=costs))  # type: ignore[misc]
        for path in mappings
    ]
    a, b = results
    if a is None or b is None:
        raise InputError(dict.fromkeys(faults))
    wrong = {name: result.hint.splitlines() for name, result in (("a", a), ("b", b)) if result.hint}
    if json:
        echo_json(difference_json(a, b) | ({"invalid": wrong} if wrong else {}))
    else:
        print_result(difference_text(a, b, mappings))
        for name, why in wrong.items():
            print_result("\n".join([f"\n{name.upper()} is not valid:", *why]))
    return NOTHING_VALID if wrong else FOUND


def _explanation(batch: MappingBatch, request: ModelRequest) -> str:
    from ..model.explain import explanation_text

    return explanation_text(batch, drain_reads=request.drain_reads)
