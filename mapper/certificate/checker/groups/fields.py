"""Checks the fields of a certificate of groups: it is about these stages on this machine, and names what there is."""

from collections.abc import Iterator, Sequence
from math import isfinite

from .....arch import Architecture
from .....energy import EnergyTable
from ....problem import OBJECTIVES, Charges, Objective
from ...format import certified_energies
from ...group_format import CertifiedGroup, GroupProof
from ..problem import Refused
from .walks import Walks


def check_fields(proof: GroupProof, machine: tuple[Architecture, EnergyTable, Charges], walks: Walks) -> Objective:
    """Check that a proof is about these stages on this machine, and return its objective. Raises Refused."""
    if fault := next(_faults(proof, machine, walks), ""):
        raise Refused(fault)
    return OBJECTIVES[proof.objective]


def _faults(proof: GroupProof, machine: tuple[Architecture, EnergyTable, Charges], walks: Walks) -> Iterator[str]:
    (arch, table, costs), stages = machine, walks.stages
    if proof.objective not in OBJECTIVES:
        yield f"it is of the objective {proof.objective}, which has no proofs"
    if proof.sizes != stages.sizes:
        yield "its stages have other sizes"
    if proof.energies != certified_energies(table):
        yield "it is of other energies"
    yield from _machine_faults(arch)
    yield from (f"it counts the network in a way that there is not: {fault}" for fault in costs.faults())
    keepers = stages.keepers(arch)
    if proof.keepers != keepers:
        yield f"it is of the keepers {proof.keepers}, and {keepers} may be"
    if list(proof.tiles) != walks.shared:
        yield f"it is of the shared dims {list(proof.tiles)}, and {walks.shared} may be"
    wrong = [dim for dim, own in proof.tiles.items() if own != sorted(set(own)) or own[-1:] != [stages.last.size(dim)]]
    yield from (f"its tiles of {dim} are not ascending up to the whole dim" for dim in wrong)
    yield from _layer_faults(proof, arch, keepers)
    slots = {slot.name for slot in arch.slots}
    if len(set(proof.remainders)) < len(proof.remainders) or not set(proof.remainders) <= slots:
        yield "it speaks of remainders at slots that there are not, or twice"


def _machine_faults(arch: Architecture) -> Iterator[str]:
    if arch.systolic is not None:
        yield f"the cycles of {arch.name} depend on loop orders, as it has systolic axes: nothing is certified"
    if arch.starts:
        yield f"{arch.name} has start_cycles, which are not counted of groups: nothing is certified"


def _layer_faults(proof: GroupProof, arch: Architecture, keepers: Sequence[str]) -> Iterator[str]:
    slopes = [own.slope for own in proof.layers] + [own.slope for group in proof.solved for own in group.sums]
    if not all(slope is None or isfinite(slope) for slope in slopes):
        yield "a slope is no number"
    rooms = {level.name: level.capacity_bits for level in arch.levels}
    for own in proof.layers:
        room = rooms.get(own.keeper)
        if own.keeper not in keepers or (own.room_bits is not None and not 0 <= own.room_bits <= (room or 0)):
            yield f"a layer has {own.room_bits} bits in {own.keeper}, which is no keeper with so many"


def check_group(said: CertifiedGroup, proof: GroupProof, walks: Walks) -> None:
    """Check the loops and names of a group. Raises Refused."""
    dims = [dim for dim, _ in said.shared]
    if len(set(dims)) < len(dims) or not all(tile in proof.tiles.get(dim, []) for dim, tile in said.shared):
        raise Refused("a group shares dims or tiles that the proof is not about")
    if any(tile >= walks.stages.last.size(dim) for dim, tile in said.shared):
        raise Refused("a group has a shared loop of one step")
    if said.keeper not in proof.keepers or not set(said.retained) <= set(dims):
        raise Refused("a group has a keeper, or retained dims, that there are not")
    kept = [(stage, name) for stage, name, _ in said.kept]
    if len(set(kept)) < len(kept) or any(outside > len(dims) for _, _, outside in said.kept):
        raise Refused("a group keeps a tensor twice, or inside more loops than there are")
