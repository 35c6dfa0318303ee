"""What the options of `ruby-map` say together: how to search, what to begin with, what is charged."""

from collections.abc import Collection
from dataclasses import replace

from ...workloads import Fault, InputError, collect, option_fault
from ..exploration import StartMappings, level_names, why_faults
from ..problem import OBJECTIVES, Charges
from ..search.options import SearchOptions, read_patience
from ..searchers import STRATEGIES, ignored_options
from .ruby_map import MapRequest
from .search_request import BOUND
from .shared import energy_clashes
from .timeloop_options import FileOptions

SEARCHES = (
    "strategy",
    "settings",
    "cost_model",
    "victory",
    "samples",
    "time_limit",
    "budget",
    "patience",
    "target",
    "engine",
    "effort",
    "quick",
)


_OPTIONS = {"strategy": "search", "names": "list", "more": "with", "as_json": "json"}


def clashes(request: MapRequest, taken: Collection[str], message: str) -> list[Fault]:
    """List the options on the command line that are not among those `taken`, with the same message of each."""
    return [option_fault(option_name(name), message) for name in sorted(request.given.difference(taken))]


def option_name(field: str) -> str:
    """The name of the option that a field of the request is, without its hyphens."""
    return _OPTIONS.get(field, field.replace("_", "-"))


def search_options(request: MapRequest, files: FileOptions, faults: list[Fault]) -> SearchOptions:
    """Make the search options from the command line and the Timeloop `files`; appends faults to `faults`."""
    rule = collect(faults, lambda: read_patience(request.patience)) if request.patience else None
    options = SearchOptions(
        request.strategy, request.objective, request.victory, request.samples, request.time_limit,
        request.jobs, request.seed,
        patience=rule, target=request.target, front=request.front, cluster=request.cluster, budget=request.budget,
        engine=request.engine, certify=request.certificate is not None, settings=request.settings,
        cost_model=request.cost_model, cost_timeout=request.cost_timeout, effort=request.effort,
    )  # fmt: skip
    options = replace(options, **files.search)
    if request.no_energy:
        chosen = "objective" in {*request.given, *files.search}
        options = _for_delay(request.given, options, chosen, faults)
    if request.quick:
        options = replace(options, effort="quick")
        faults += [option_fault("quick", "is --effort quick: leave one out")] if "effort" in request.given else []
    if request.bound or request.bound_seconds is not None:
        options = replace(options, bound=BOUND if request.bound_seconds is None else request.bound_seconds)
    if request.cost_model is None and "cost_timeout" in request.given:
        faults.append(option_fault("cost-timeout", "needs --cost-model"))
    faults += ignored_options(options, {*request.given, *(files.given if request.budget else ())})
    faults += _proof_faults(request, options)
    return options


def _proof_faults(request: MapRequest, options: SearchOptions) -> list[Fault]:
    """List what does not go with a certificate, or with what holds the best mapping back."""
    faults = []
    proves = options.strategy in STRATEGIES and STRATEGIES[options.strategy].proves
    if request.certificate and not proves and options.bound is None:
        faults.append(option_fault("certificate", "needs a proof: give --search optimal, or --bound"))
    if request.why:
        faults += why_faults(options)
        faults += [option_fault("why", "needs a search; leave out --size")] if request.size else []
    if request.layouts:
        clashing = request.given.intersection(("size", "store", "transfer_only"))
        faults += [
            option_fault(option_name(name), "does not go with --layouts: leave one out") for name in sorted(clashing)
        ]
    return faults


def start_mappings(request: MapRequest) -> StartMappings | None:
    """Read the mappings to begin with, if any. Raises InputError with every fault."""
    faults = list[Fault]()
    names = collect(faults, lambda: level_names(request.level_names))
    mappings = (
        collect(faults, lambda: StartMappings.read(request.start_from, names or {})) if request.start_from else None
    )
    if request.start_from and request.size:
        faults.append(option_fault("start-from", "needs a search; leave out --size"))
    if request.transfer_only:
        taken = [name for name in SEARCHES if name in request.given]
        faults += [option_fault(option_name(name), "goes with a search: leave out --transfer-only") for name in taken]
    alone = [] if request.start_from else [name for name in ("level_names", "transfer_only") if name in request.given]
    faults += [option_fault(name.replace("_", "-"), "goes with --start-from") for name in alone]
    if faults:
        raise InputError(faults)
    return mappings


def costs(request: MapRequest) -> Charges:
    """Return the costs beside accesses and MACs."""
    return Charges(request.leakage, request.wire_pj_per_bit_mm, request.tile_mm, request.hop_pj, request.drain_reads)


def _for_delay(given: Collection[str], options: SearchOptions, chosen: bool, faults: list[Fault]) -> SearchOptions:
    """Search for delay; objectives that were `chosen` may be no others."""
    faults += energy_clashes(given)
    if not chosen and options.cost_model is None:  # whose answers are minimised otherwise
        options = replace(options, objective="delay")
    for name, listed in (("objective", options.objectives if chosen else ()), ("front", options.axes)):
        if any(OBJECTIVES[objective].powers[0] for objective in listed if objective in OBJECTIVES):
            got = ", ".join(listed)
            faults.append(option_fault(name, f"energies are not known (--no-energy), delay is; got {got}"))
    return options
