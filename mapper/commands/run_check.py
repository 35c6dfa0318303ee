"""`ruby-check ARCH WORKLOAD CERTIFICATE` checks the proof in a file. It shares no code with the search."""

import time
from dataclasses import asdict

from ...arch import Architecture
from ...energy import EnergyTable, no_energies
from ...workloads import InputError, Network, Workload, option_fault, variant
from ..certificate import FRONT, Certificate, GroupCertificate, read_certificate
from ..certificate.checker import Refused, Verified, VerifiedStage, verify
from ..certificate.checker.groups import VerifiedGroup, verify_group
from ..exploration import equal_layers, layers_of, load
from ..exploration.transforms import TRANSFORMATIONS, chosen, transformed
from ..problem import OBJECTIVES, Charges, at_most
from ..report.groups import shared_over
from ..runtime import print_result
from .changes import machine_as
from .guard import FOUND, NOTHING_VALID, echo_json
from .ruby_check import CheckRequest
from .shared import energy_clashes
from .timeloop_options import energies

REFUSED = NOTHING_VALID


def run(request: CheckRequest) -> int:
    """Verify the certificate of a proof: its sets of chains cover the mapspace, its bounds hold, its mapping is valid.

    Exit status: 0 verified, 1 refused, with the reason, 2 bad input.
    """
    certificate = read_certificate(request.certificate)
    machine, work = load(request.arch, request.workload, request.more)
    machine = machine_as(machine, work, request.placement, request.fix)
    if request.no_energy:
        if faults := energy_clashes(request.given):
            raise InputError(faults)
        table = no_energies(machine)
    else:
        table = energies(machine, request.arch, request.more, request.ert, None, request.energy)
    if isinstance(certificate, GroupCertificate):
        return _check_group(request, certificate, (machine, work, table))
    layers = layers_of(transformed(machine, work, chosen(**vars(request))))
    began, verified, layer = time.process_time(), [], ""
    try:
        for group in equal_layers(layers):
            layer = layers[group[0]].name
            verified.append(_verified(certificate, machine, layers[group[0]], table))
    except Refused as error:
        if request.as_json:
            echo_json({"verified": False, "layer": layer, "reason": str(error)})
        else:
            print_result(f"refused: {layer}: {error}")
        return REFUSED
    seconds = time.process_time() - began
    if request.as_json:
        every = [asdict(layer_facts) | _applied(layer_facts) for layer_facts in verified]
        echo_json({"verified": True, "arch": machine.name, "layers": every, "seconds": seconds})
    else:
        print_result(
            "\n".join([*(_line(layer_facts, machine) for layer_facts in verified), f"checked in {seconds:.1f} s"])
        )
    return FOUND


def _check_group(
    request: CheckRequest,
    certificate: GroupCertificate,
    loaded: tuple[Architecture, Workload | Network, EnergyTable],
) -> int:
    """Verify a proof about fused groups."""
    (machine, work, table), began = loaded, time.process_time()
    if not isinstance(work, Network):
        raise InputError(option_fault("workload", f"is a network in a certificate of groups; {work.name} is a layer"))
    if names := chosen(**vars(request)):
        raise InputError(option_fault(next(iter(names)), "does not go with a certificate of groups"))
    try:
        verified = verify_group(certificate.group, machine, work, table)
    except Refused as error:
        if request.as_json:
            echo_json({"verified": False, "layer": "+".join(certificate.group.stages), "reason": str(error)})
        else:
            print_result(f"refused: {'+'.join(certificate.group.stages)}: {error}")
        return REFUSED
    seconds = time.process_time() - began
    if request.as_json:
        echo_json({"verified": True, "arch": machine.name, "group": asdict(verified), "seconds": seconds})
    else:
        print_result(f"{_group_text(verified, machine)}\nchecked in {seconds:.1f} s")
    return FOUND


def _group_text(facts: VerifiedGroup, machine: Architecture) -> str:
    limits = " in these tiles" if any(number < size for size, number in facts.tiles.values()) else ""
    claim = _claim(facts, f"no group{shared_over(facts.tiles)}{limits}")
    tiles = ", ".join(f"{number:,} of {size:,} tiles of {dim}" for dim, (size, number) in facts.tiles.items())
    work = f"{facts.bounded:,} combinations bounded, {facts.summed:,} groups by {facts.layers:,} proofs of layers"
    slots = ", ".join(facts.remainders) or "no slot"
    where = f"{'+'.join(facts.stages)} on {machine.name}, held in {' or '.join(facts.keepers)}, remainders at {slots}"
    where += _beside(facts.costs)
    return f"verified: {where}: {claim}\n  {tiles or 'no tiles'}\n  {work}"


def _verified(certificate: Certificate, machine: Architecture, layer: Workload, table: EnergyTable) -> Verified:
    """Verify the proof about a layer. Raises Refused."""
    proofs = [proof for proof in certificate.layers if proof.workload == layer.name]
    if len(proofs) != 1:
        raise Refused("it is spoken of more than once" if proofs else "nothing is said of it")
    return verify(proofs[0], machine, layer, table)


def _applied(facts: Verified) -> dict[str, object]:
    """A key for each transformation: whether it made the layer that is verified."""
    return {name: name in facts.transformations for name in TRANSFORMATIONS}


def _line(facts: Verified, machine: Architecture) -> str:
    sets = f"{facts.sets:,} sets of chains, {facts.evaluated:,} combinations one by one"
    work = f"{facts.combinations:,} combinations: {sets}"
    slots = ", ".join(facts.remainders) or "no slot"
    where = f"{facts.workload} on {machine.name}, remainders at {slots}{_made(facts)}{_beside(facts.costs)}"
    if facts.objective == FRONT:
        what = "the front of energy and cycles" if facts.optimal else "lower bounds of the front of energy and cycles"
        return f"verified: {where}: {what}, {facts.points} mappings\n  {work}"
    claims = [_claim(stage, "of these none" if i else "no mapping") for i, stage in enumerate(facts.stages)]
    return f"verified: {where}: {', and '.join(claims)}\n  {work}"


def _claim(stage: VerifiedStage | VerifiedGroup, no_mapping: str) -> str:
    """Format what is verified by one objective, of mappings or of groups."""
    name = OBJECTIVES[stage.objective].title
    if not stage.lower_bound and stage.value:
        return f"nothing is proven of the lowest {name}"
    if stage.optimal:
        return f"{no_mapping} has a lower {name} than {stage.value:.6g}"
    return (
        f"{no_mapping} has its {name} more than {at_most(1 - stage.lower_bound / stage.value)} below {stage.value:.6g}"
    )


def _made(facts: Verified) -> str:
    """Format what was done to the layer: im2col, padding."""
    made = variant(facts.transformations)
    return f", the {made} layer {' '.join(f'{dim}={size}' for dim, size in facts.sizes.items())}" if made else ""


def _beside(costs: Charges) -> str:
    """Format what the proof counts beside energies of words and MACs: leakage, drained words, network."""
    additions = list[str]()
    additions += ["with leakage"] if costs.leakage else []
    additions += ["with reads of drained words"] if costs.drain_reads else []
    additions += [f"with {costs.hop_pj:g} pJ a hop"] if costs.hop_pj else []
    wire = costs.wire_pj_per_bit_mm * costs.tile_mm
    additions += [f"with {wire:g} pJ a bit and hop"] if wire else []
    return "".join(f", {words}" for words in additions)
