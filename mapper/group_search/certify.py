"""Writes what a search of groups proved as a certificate: the groups that were solved, the proofs of their layers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from ...energy import as_written, stacked_table
from ..certificate import (
    BestLayer,
    CertifiedGroup,
    CertifiedLayer,
    CertifiedSum,
    GroupProof,
    SolvedGroup,
    certified_energies,
)
from ..fusion import Group, GroupCosts, StepLayer
from ..mapspace import Mapspace
from ..problem import Objective
from ..proof import certified_mapping
from .entries import LeastSum, Open
from .family import Family
from .solver import Solved


def group_proof(
    families: Sequence[Family], objective: Objective, best: GroupCosts, lower_bound: float, solved: Sequence[Open]
) -> GroupProof:
    """Make the certificate of a search that ended with `best`; `solved` are all groups whose layers were solved.

    Sums are left out whose layers were stopped before something was proven of each.
    """
    certified = [(entry.group, [own for own in entry.sums if own.certified]) for entry in solved]
    family, (layers, numbers) = families[0], _layers(sums for _, sums in certified)
    charges, (_, table) = family.charges, as_written(family.arch, family.energies)
    return GroupProof(
        stages=[stage.name for stage in family.stages],
        sizes=[dict(zip(stage.dims, stage.sizes, strict=True)) for stage in family.stages],
        keepers=[own.keeper for own in families],
        tiles={loop: tiles.tolist() for loop, tiles in zip(family.loops, family.tiles, strict=True)},
        remainders=list(Mapspace(family.arch, family.stages[-1], family.preset, distinct=True).imperfect),
        objective=objective.name,
        leakage=charges.leakage,
        wire_pj_per_bit_mm=charges.wire_pj_per_bit_mm,
        tile_mm=charges.tile_mm,
        hop_pj=charges.hop_pj,
        drain_reads=charges.drain_reads,
        energies=certified_energies(table),
        best=_group(best.standing.group),
        best_layers=[_best_layer(best, layer) for layer in best.layers],
        energy_pj=best.energy_pj,
        cycles=float(best.cycles),
        lower_bound=lower_bound,
        layers=[_layer(own) for own in layers],
        solved=[
            SolvedGroup(
                group=_group(group),
                sums=[
                    CertifiedSum(slope=own.slope, layers=[(numbers[layer], number) for layer, number in own.layers])
                    for own in sums
                ],
            )
            for group, sums in certified
            if sums
        ],
    )


def _layers(solved: Iterable[Sequence[LeastSum]]) -> tuple[list[Solved], Mapping[Solved, int]]:
    """List the layers of the sums of all groups, and their numbers."""
    numbers: dict[Solved, int] = {}
    for own in chain.from_iterable(solved):
        for layer, _ in own.layers:
            numbers.setdefault(layer, len(numbers))
    return list(numbers), numbers


def _group(group: Group) -> CertifiedGroup:
    kept = [(stage, name, depth) for (stage, name), depth in group.kept]
    return CertifiedGroup(
        keeper=group.keeper, shared=list(group.shared), retained=sorted(group.retained), kept=sorted(kept)
    )


def _layer(solved: Solved) -> CertifiedLayer:
    """Convert a solved layer of which something is proven."""
    layer, batch = solved.layer, solved.mapped.batch
    assert solved.proof is not None, "sums without proofs are left out"
    return CertifiedLayer(
        stage=layer.stage,
        sizes=dict(zip(batch.workload.dims, layer.sizes, strict=True)),
        accumulates=layer.accumulates,
        resident=sorted(solved.resident),
        keeper=solved.keeper,
        room_bits=solved.room_bits,
        slope=solved.slope,
        proof=solved.proof,
    )


def _best_layer(best: GroupCosts, layer: StepLayer) -> BestLayer:
    batch = best.mapped[layer].batch
    return BestLayer(
        stage=layer.stage,
        sizes=dict(zip(batch.workload.dims, layer.sizes, strict=True)),
        accumulates=layer.accumulates,
        mapping=certified_mapping(batch, stacked_table(best.energies, batch.arch), best.charges),
    )
