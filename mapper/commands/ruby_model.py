"""`ruby-model ARCH WORKLOAD MAPPING` prints counts and costs of a mapping, compares the executor's, explains them.

With a second mapping it prints how the two differ, by level and tensor.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ...arch import Architecture
from ...energy import EnergyTable, energy_table
from ...workloads import Fault, InputError, Workload, collect
from ..exploration import evaluate, load, misfits
from ..mapping import MappingBatch
from ..model import CostOptions, Counts, TooLarge, simulate
from ..report import (
    Json,
    Result,
    comparison,
    comparison_json,
    counts_by_memory,
    difference_json,
    difference_text,
    result_json,
)
from ..runtime import say
from .shared import (
    DRAIN,
    FOUND,
    HOP,
    LEAKAGE,
    NOTHING_VALID,
    PLACEMENT,
    TILE,
    WIRE,
    WITH,
    Request,
    echo_json,
    new_app,
    placed_as,
)
from .timeloop_options import reference_tables


@dataclass(frozen=True, kw_only=True)
class ModelRequest(Request):
    """The arguments and options of `ruby-model`."""

    arch: Annotated[str, typer.Argument(help="an architecture: a file, or a name of the library")]
    workload: Annotated[str, typer.Argument(help="a layer: a file, or a name such as resnet50/conv1")]
    mapping: Annotated[str, typer.Argument(help="a mapping file (Timeloop's format, residuals as M=4,2)")]
    other: Annotated[str, typer.Argument(metavar="MAPPING_B", help="a second one: show what it changes")] = ""
    json: Annotated[bool, typer.Option("--json", help="one JSON object to standard output, nothing else")] = False
    simulated: Annotated[
        bool, typer.Option("--simulate", help="execute the nest element by element too, and show both")
    ] = False
    explained: Annotated[bool, typer.Option("--explain", help="why each count is what it is, symbolically")] = False
    ert: Annotated[Path | None, typer.Option(help="energy per action, a file of Accelergy")] = None
    art: Annotated[Path | None, typer.Option(help="area per component, a file of Accelergy")] = None
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)
    placement: Annotated[str, typer.Option(help=PLACEMENT)] = ""
    leakage: Annotated[bool, typer.Option("--leakage", help=LEAKAGE)] = False
    wire_pj_per_bit_mm: Annotated[float, typer.Option(help=WIRE)] = 0.0
    tile_mm: Annotated[float, typer.Option(help=TILE)] = 0.0
    hop_pj: Annotated[float, typer.Option(help=HOP)] = 0.0
    drain_reads: Annotated[bool, typer.Option("--drain-reads", help=DRAIN)] = False

    @property
    def costs(self) -> CostOptions:
        """The costs beside accesses and MACs."""
        return CostOptions(self.leakage, self.wire_pj_per_bit_mm, self.tile_mm, self.hop_pj, self.drain_reads)


def model(request: ModelRequest) -> int:
    """Count and cost one mapping. Status 0: valid; 1: it does not fit the machine or violates its constraints (costs
    are shown all the same); 2: bad input, and loops that are no mapping of the workload."""
    costs = request.costs
    machine, layer = load(request.arch, request.workload, request.more)
    machine = placed_as(machine, request.placement)
    table = energy_table(machine, *reference_tables(request.arch, request.more, request.ert, request.art))
    if not isinstance(layer, Workload):
        raise InputError(Fault(layer.name, None, "", "a mapping is of one layer; name one, as NETWORK/LAYER"))
    if request.other:
        if request.simulated or request.explained:
            raise InputError(Fault("--simulate, --explain", None, "", "are for one mapping; two are compared"))
        return _compare(machine, layer, table, costs, (request.mapping, request.other), request.json)
    result = evaluate(machine, layer, request.mapping, table=table, costs=costs)
    assert result.batch is not None
    if request.json:
        echo_json(_model_json(result, result.batch, request))
    else:
        say(_model_text(result, result.batch, request))
    return NOTHING_VALID if result.hint else FOUND


def _simulated(result: Result, batch: MappingBatch) -> tuple[MappingBatch, Counts, Counts]:
    """Return the mapping, the model's and the executor's counts. Raises InputError where it is too large to execute."""
    assert result.costs is not None
    try:
        truth = simulate(batch)
        truth = truth.with_drains() if result.costs.options.drain_reads else truth
        return batch, result.costs.counts, counts_by_memory(truth, batch.arch)
    except TooLarge as error:
        raise InputError(Fault("--simulate", None, "", str(error))) from error


def _model_json(result: Result, batch: MappingBatch, request: ModelRequest) -> Json:
    """Convert the result, and the additions of the request, to JSON values."""
    values = result_json(result)
    if result.hint:
        values["invalid"] = misfits(batch)
    if request.simulated:
        values["simulated"] = comparison_json(*_simulated(result, batch))
    if request.explained:
        values["explanation"] = _explanation(batch, request).splitlines()
    return values


def _model_text(result: Result, batch: MappingBatch, request: ModelRequest) -> str:
    """Format the result, and the additions of the request, as text."""
    counts = comparison(*_simulated(result, batch)) if request.simulated else ""
    parts = [str(result)]
    if result.hint:
        parts.append("\n".join(["\nthis mapping is not valid:", *misfits(batch)]))
    parts += [f"\n{counts}"] if counts else []
    parts += [f"\n{_explanation(batch, request)}"] if request.explained else []
    return "\n".join(parts)


def _compare(
    machine: Architecture,
    layer: Workload,
    table: EnergyTable,
    costs: CostOptions,
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
        say(difference_text(a, b, mappings))
        for name, why in wrong.items():
            say("\n".join([f"\n{name.upper()} is not valid:", *why]))
    return NOTHING_VALID if wrong else FOUND


def _explanation(batch: MappingBatch, request: ModelRequest) -> str:
    from ..model.explain import explanation_text  # sympy takes long to import

    return explanation_text(batch, drain_reads=request.drain_reads)


main = new_app(ModelRequest, model)
