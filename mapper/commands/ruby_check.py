"""`ruby-check ARCH WORKLOAD CERTIFICATE`: is the proof in the file right? The code shares nothing with the search."""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ...arch import Architecture
from ...energy import EnergyTable, energy_table
from ...workloads import Workload
from ..certificate import Certificate, Refused, Verified, read_certificate, verify
from ..exploration import alike, layers_of, load
from ..exploration.transforms import transformed
from ..model import OBJECTIVES
from ..runtime import say
from .shared import FOUND, NOTHING_VALID, WITH, Request, echo_json, new_app
from .timeloop_options import reference_tables

REFUSED = NOTHING_VALID


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """The arguments and options of `ruby-check`."""

    arch: Annotated[str, typer.Argument(metavar="ARCH", help="The architecture: a library name or a path.")]
    workload: Annotated[str, typer.Argument(metavar="WORKLOAD", help="The layer or network: a name or a path.")]
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="The file that --certificate wrote.")]
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table, if one was given.")] = None
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)


def check(request: CheckRequest) -> int:
    """Verify the certificate of a proof: its sets of chains cover the mapspace, its bounds hold, its mapping is valid.

    Exit status: 0 verified, 1 refused, with the reason, 2 bad input.
    """
    said = read_certificate(request.certificate)
    machine, work = load(request.arch, request.workload, request.more)
    table = energy_table(machine, *reference_tables(request.arch, request.more, request.ert, None))
    layers = layers_of(work)
    began, found, layer = time.process_time(), [], ""
    try:
        for group in alike(layers):
            layer = layers[group[0]].name
            found.append(_verified(said, machine, layers[group[0]], table))
    except Refused as error:
        if request.as_json:
            echo_json({"verified": False, "layer": layer, "reason": str(error)})
        else:
            say(f"refused: {layer}: {error}")
        return REFUSED
    seconds = time.process_time() - began
    if request.as_json:
        every = [asdict(one) for one in found]
        echo_json({"verified": True, "arch": machine.name, "layers": every, "seconds": seconds})
    else:
        say("\n".join([*(_line(one, machine) for one in found), f"checked in {seconds:.1f} s"]))
    return FOUND


def _verified(said: Certificate, machine: Architecture, layer: Workload, table: EnergyTable) -> Verified:
    """What is proven of one layer. Raises Refused."""
    mine = [one for one in said.layers if one.workload == layer.name]
    if len(mine) != 1:
        raise Refused("it is spoken of more than once" if mine else "nothing is said of it")
    (layer,) = layers_of(transformed(machine, layer, ("pad",) if mine[0].pad else ()))
    return verify(mine[0], machine, layer, table)


def _line(one: Verified, machine: Architecture) -> str:
    work = f"{one.combinations:,} combinations: {one.sets:,} sets of chains, {one.evaluated:,} combinations one by one"
    where = f"{one.workload} on {machine.name}, remainders at {', '.join(one.remainders) or 'no slot'}{_beside(one)}"
    if one.objective == "front":
        what = "the front of energy and cycles" if one.optimal else "lower bounds of the front of energy and cycles"
        return f"verified: {where}: {what}, {one.points} mappings\n  {work}"
    name = OBJECTIVES[one.objective].title
    if one.optimal:
        return f"verified: {where}: no mapping has a lower {name} than {one.value:.6g}\n  {work}"
    gap = 1 - one.lower_bound / one.value
    return f"verified: {where}: no mapping has its {name} more than {gap:.2%} below {one.value:.6g}\n  {work}"


def _beside(one: Verified) -> str:
    """What the certificate is of, where that is not what the files alone say."""
    costs, told = one.costs, []
    if one.pad:
        told.append(f"dims padded to {' '.join(f'{dim}={size}' for dim, size in one.sizes.items())}")
    told += ["with leakage"] if costs.leakage else []
    told += [f"with {costs.hop_pj:g} pJ a hop"] if costs.hop_pj else []
    wire = costs.wire_pj_per_bit_mm * costs.tile_mm
    told += [f"with {wire:g} pJ a bit and hop"] if wire else []
    return "".join(f", {words}" for words in told)


main = new_app(CheckRequest, check)
