"""The arguments and options of `ruby-map`, and the search options that they make."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from ...workloads import Fault, collect, option_fault
from ..exploration import why_faults
from ..mapspace import PRESETS
from ..model import OBJECTIVES, CostOptions
from ..report import certificate_faults
from ..runtime import KINDS
from ..search import ENGINES, STRATEGIES, SearchOptions, ignored_options, read_patience
from .shared import DRAIN, FIX, HOP, LEAKAGE, NO_ENERGY, PLACEMENT, TILE, WIRE, WITH, energy_clashes
from .start_options import StartRequest
from .timeloop_options import FileOptions

_SPACE, _SEARCH, _STOP, _OUT, _ENERGY = "Mapspace", "Search", "When to stop", "Output", "Energy and area"
BOUND = 10.0  # seconds
QUICK = 1.0  # second
_TAKEN = ("strategy", "settings", "cost_model", "time_limit", "budget", "certificate")  # by --quick
NAME = "a library name (see --list) or a path"


@dataclass(frozen=True, kw_only=True)
class SearchRequest(StartRequest):
    """The arguments of `ruby-map`, and the options of its search."""

    arch: Annotated[str, typer.Argument(metavar="ARCH", help=f"The architecture: {NAME}.")] = ""
    workload: Annotated[
        str, typer.Argument(metavar="WORKLOAD", help=f"A layer, NETWORK/LAYER, or a network: {NAME}.")
    ] = ""
    mapspace: Annotated[
        str, typer.Option(help=f"{', '.join(PRESETS)}: where bounds need not divide.", rich_help_panel=_SPACE)
    ] = "ruby-s"
    placement: Annotated[str, typer.Option(help=PLACEMENT, rich_help_panel=_SPACE)] = ""
    fix: Annotated[list[str], typer.Option(help=FIX, rich_help_panel=_SPACE)] = field(default_factory=list)
    pad: Annotated[bool, typer.Option("--pad", help="Pad dims to fill the array first.", rich_help_panel=_SPACE)] = (
        False
    )
    im2col: Annotated[
        bool, typer.Option("--im2col", help="Make matrix products of convolutions first.", rich_help_panel=_SPACE)
    ] = False
    size: Annotated[
        bool, typer.Option("--size", help="Print the mapspace's size and stop.", rich_help_panel=_SPACE)
    ] = False
    strategy: Annotated[str, typer.Option("--search", help=f"{', '.join(STRATEGIES)}.", rich_help_panel=_SEARCH)] = (
        "auto"
    )
    settings: Annotated[
        str, typer.Option(help="Of that search alone: NAME=VALUE, several with commas.", rich_help_panel=_SEARCH)
    ] = ""
    cost_model: Annotated[
        str | None,
        typer.Option(help="Minimise what this command answers for each mapping.", rich_help_panel=_SEARCH),
    ] = None
    cost_timeout: Annotated[float, typer.Option(help="Seconds that it has for a mapping.", rich_help_panel=_SEARCH)] = (
        60.0
    )
    quick: Annotated[
        bool, typer.Option("--quick", help="Stop after a second of evolution, without a proof.", rich_help_panel=_STOP)
    ] = False
    objective: Annotated[
        str,
        typer.Option(
            help=f"What to minimise: {', '.join(OBJECTIVES)}; or a list, the first first.", rich_help_panel=_SEARCH
        ),
    ] = "edp"
    seed: Annotated[int, typer.Option(help="Same seed, same answer.", rich_help_panel=_SEARCH)] = 0
    jobs: Annotated[int, typer.Option(help="Processes; the answer does not depend on it.", rich_help_panel=_SEARCH)] = 1
    victory: Annotated[
        int, typer.Option(help="Valid mappings in a row without improvement.", rich_help_panel=_STOP)
    ] = 3000
    samples: Annotated[int | None, typer.Option(help="Mappings drawn, valid or not.", rich_help_panel=_STOP)] = None
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds (the answer then depends on the machine).", rich_help_panel=_STOP)
    ] = None
    budget: Annotated[
        str,
        typer.Option(
            help="In place of these: mappings (1000000) or seconds (60s) for all layers.", rich_help_panel=_STOP
        ),
    ] = ""
    out: Annotated[
        Path | None, typer.Option(help="A new folder for results and the checkpoint.", rich_help_panel=_OUT)
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.", rich_help_panel=_OUT)] = (
        False
    )
    names: Annotated[bool, typer.Option("--list", help="Print the library's names and stop.", rich_help_panel=_OUT)] = (
        False
    )
    distinct: Annotated[
        bool,
        typer.Option("--distinct", help="Orders that differ in unit loops only count once.", rich_help_panel=_SPACE),
    ] = False
    front: Annotated[
        str, typer.Option(help="Keep the Pareto front of these objectives, as energy,delay.", rich_help_panel=_SEARCH)
    ] = ""
    cluster: Annotated[str | None, typer.Option(help=f"Search there: {KINDS}.", rich_help_panel=_SEARCH)] = None
    engine: Annotated[
        str, typer.Option(help=f"{', '.join(ENGINES)}: runs the model, same answer.", rich_help_panel=_SEARCH)
    ] = "numpy"
    patience: Annotated[
        str,
        typer.Option(help="FRACTION:N, N valid mappings without an improvement by FRACTION.", rich_help_panel=_STOP),
    ] = ""
    target: Annotated[
        float | None, typer.Option(help="Stop at this value of the objective, or below.", rich_help_panel=_STOP)
    ] = None
    bound: Annotated[
        bool, typer.Option("--bound", help="Prove how far the best possible may be below.", rich_help_panel=_SEARCH)
    ] = False
    bound_seconds: Annotated[
        float | None, typer.Option(help=f"For --bound, per layer; {BOUND:g} if not given.", rich_help_panel=_SEARCH)
    ] = None
    why: Annotated[
        bool,
        typer.Option("--why", help="Show what holds the best back: each limit relaxed alone.", rich_help_panel=_SEARCH),
    ] = False
    certificate: Annotated[
        Path | None, typer.Option(help="Write the proof to this file, for ruby-check.", rich_help_panel=_OUT)
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint in --out.", rich_help_panel=_OUT)
    ] = False
    log: Annotated[bool, typer.Option("--log", help="Progress as lines on standard error.", rich_help_panel=_OUT)] = (
        False
    )
    more: Annotated[
        list[Path], typer.Option("--with", help=f"{WITH}; mapper keys are options.", rich_help_panel=_SPACE)
    ] = field(default_factory=list)

    no_energy: Annotated[bool, typer.Option("--no-energy", help=NO_ENERGY, rich_help_panel=_ENERGY)] = False

    def options(self, files: FileOptions, faults: list[Fault]) -> SearchOptions:
        """Make the search options from the command line and the Timeloop `files`; appends faults to `faults`."""
        rule = collect(faults, lambda: read_patience(self.patience)) if self.patience else None
        options = SearchOptions(
            self.strategy, self.objective, self.victory, self.samples, self.time_limit, self.jobs, self.seed,
            patience=rule, target=self.target, front=self.front, cluster=self.cluster, budget=self.budget,
            engine=self.engine, certify=self.certificate is not None, settings=self.settings,
            cost_model=self.cost_model, cost_timeout=self.cost_timeout,
        )  # fmt: skip
        options = replace(options, **files.search)
        if self.no_energy:
            chosen = "objective" in {*self.given, *files.search}
            options = _for_delay(self.given, options, chosen, faults)
        if self.quick:
            options = replace(options, strategy="evolve", time_limit=QUICK)
            taken = [
                "search" if name == "strategy" else name.replace("_", "-") for name in _TAKEN if name in self.given
            ]
            faults += [option_fault("quick", f"leave out --{name}: it says itself how to search") for name in taken]
        if self.bound or self.bound_seconds is not None:
            options = replace(options, bound=BOUND if self.bound_seconds is None else self.bound_seconds)
        if self.cost_model is None and "cost_timeout" in self.given:
            faults.append(option_fault("cost-timeout", "needs --cost-model"))
        faults += ignored_options(options, {*self.given, *(files.given if self.budget else ())})
        if self.certificate and not self.quick:
            proves = options.strategy in STRATEGIES and STRATEGIES[options.strategy].proves
            faults += certificate_faults(self.certificate, proves=proves or options.bound is not None)
        if self.why:
            quick = [option_fault("why", "needs a proof: leave out --quick")]
            faults += quick if self.quick else why_faults(options)
            faults += [option_fault("why", "needs a search; leave out --size")] if self.size else []
        return options


@dataclass(frozen=True, kw_only=True)
class MapRequest(SearchRequest):
    """The arguments and options of `ruby-map`: those of a search, and what is charged."""

    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table.", rich_help_panel=_ENERGY)] = None
    art: Annotated[Path | None, typer.Option(help="Accelergy area table.", rich_help_panel=_ENERGY)] = None
    leakage: Annotated[bool, typer.Option("--leakage", help=LEAKAGE, rich_help_panel=_ENERGY)] = False
    wire_pj_per_bit_mm: Annotated[float, typer.Option(help=WIRE, rich_help_panel=_ENERGY)] = 0.0
    tile_mm: Annotated[float, typer.Option(help=TILE, rich_help_panel=_ENERGY)] = 0.0
    hop_pj: Annotated[float, typer.Option(help=HOP, rich_help_panel=_ENERGY)] = 0.0
    drain_reads: Annotated[bool, typer.Option("--drain-reads", help=DRAIN, rich_help_panel=_ENERGY)] = False

    @property
    def costs(self) -> CostOptions:
        """The costs beside accesses and MACs."""
        return CostOptions(self.leakage, self.wire_pj_per_bit_mm, self.tile_mm, self.hop_pj, self.drain_reads)


def _for_delay(given: Collection[str], options: SearchOptions, chosen: bool, faults: list[Fault]) -> SearchOptions:
    """Search for delay; objectives that were `chosen` may be no others."""
    faults += energy_clashes(given)
    if not chosen and options.cost_model is None:  # whose answers are minimised otherwise
        options = replace(options, objective="delay")
    for name, listed in (("objective", options.objectives if chosen else ()), ("front", options.axes)):
        if any(OBJECTIVES[each].powers[0] for each in listed if each in OBJECTIVES):
            got = ", ".join(listed)
            faults.append(option_fault(name, f"energies are not known (--no-energy), delay is; got {got}"))
    return options
