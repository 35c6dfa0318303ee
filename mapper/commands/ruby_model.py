"""`ruby-model ARCH WORKLOAD MAPPING`: all counts and costs of one mapping, beside the executor's, explained.

With a second mapping: what the two differ in, by level and tensor.
"""

from pathlib import Path
from typing import Annotated

import typer

from ...arch import Architecture
from ...energy import EnergyTable, energy_table
from ...workloads import Fault, InputError, Workload, collect
from ..exploration import evaluate, load, misfits
from ..mapping import MappingBatch
from ..model import CostOptions, TooLarge, simulate
from ..report import comparison, comparison_json, difference_json, difference_text, result_json
from ..runtime import say
from .shared import FOUND, HOP, LEAKAGE, NOTHING_VALID, TILE, WIRE, WITH, echo_json, new_app
from .timeloop_options import reference_tables


def model(
    arch: Annotated[str, typer.Argument(help="an architecture: a file, or a name of the library")],
    workload: Annotated[str, typer.Argument(help="a layer: a file, or a name such as resnet50/conv1")],
    mapping: Annotated[str, typer.Argument(help="a mapping file (Timeloop's format, residuals as M=4,2)")],
    other: Annotated[str, typer.Argument(metavar="MAPPING_B", help="a second one: show what it changes")] = "",
    json: Annotated[bool, typer.Option("--json", help="one JSON object to standard output, nothing else")] = False,
    simulated: Annotated[
        bool, typer.Option("--simulate", help="execute the nest element by element too, and show both")
    ] = False,
    explained: Annotated[bool, typer.Option("--explain", help="why each count is what it is, symbolically")] = False,
    ert: Annotated[Path | None, typer.Option(help="energy per action, a file of Accelergy")] = None,
    art: Annotated[Path | None, typer.Option(help="area per component, a file of Accelergy")] = None,
    more: Annotated[list[Path] | None, typer.Option("--with", help=WITH)] = None,
    leakage: Annotated[bool, typer.Option("--leakage", help=LEAKAGE)] = False,
    wire_pj_per_bit_mm: Annotated[float, typer.Option(help=WIRE)] = 0.0,
    tile_mm: Annotated[float, typer.Option(help=TILE)] = 0.0,
    hop_pj: Annotated[float, typer.Option(help=HOP)] = 0.0,
) -> int:
    """Count and cost one mapping. Status 0: valid; 1: it does not fit the machine or violates its constraints (costs
    are shown all the same); 2: bad input, and loops that are no mapping of the workload."""
    more, costs = more or [], CostOptions(leakage, wire_pj_per_bit_mm, tile_mm, hop_pj)
    machine, layer = load(arch, workload, more)
    table = energy_table(machine, *reference_tables(arch, more, ert, art))
    if not isinstance(layer, Workload):
        raise InputError(Fault(layer.name, None, "", "a mapping is of one layer; name one, as NETWORK/LAYER"))
    if other:
        if simulated or explained:
            raise InputError(Fault("--simulate, --explain", None, "", "are for one mapping; two are compared"))
        return _compare(machine, layer, table, costs, (mapping, other), json)
    result = evaluate(machine, layer, mapping, table=table, costs=costs)
    assert result.batch is not None
    assert result.costs is not None
    truth = None
    if simulated:
        try:
            truth = simulate(result.batch)
        except TooLarge as error:
            raise InputError(Fault("--simulate", None, "", str(error))) from error
    if json:
        shown = result_json(result)
        if result.hint:
            shown["invalid"] = misfits(result.batch)
        if truth is not None:
            shown["simulated"] = comparison_json(result.batch, result.costs.counts, truth)
        if explained:
            shown["explanation"] = _explanation(result.batch).splitlines()
        echo_json(shown)
    else:
        say(str(result))
        if result.hint:
            say("\n".join(["\nthis mapping is not valid:", *misfits(result.batch)]))
        if truth is not None:
            say(f"\n{comparison(result.batch, result.costs.counts, truth)}")
        if explained:
            say(f"\n{_explanation(result.batch)}")
    return NOTHING_VALID if result.hint else FOUND


def _compare(
    machine: Architecture,
    layer: Workload,
    table: EnergyTable,
    costs: CostOptions,
    mappings: tuple[str, str],
    json: bool,
) -> int:
    """Show why one mapping is better than the other. Status 1 where one is not valid."""
    faults: list[Fault] = []
    found = [
        collect(faults, lambda path=path: evaluate(machine, layer, path, table=table, costs=costs))  # type: ignore[misc]
        for path in mappings
    ]
    a, b = found
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


def _explanation(batch: MappingBatch) -> str:
    from ..model.explain import explanation_text  # sympy takes long to import

    return explanation_text(batch)


main = new_app(model)
