"""Writes what a search of groups proved as a certificate: the groups that were solved, the proofs of their layers."""

from collections.abc import Mapping, Sequence

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
from .entries import Open
from .family import Family
from .solver import Solved


def group_proof(
    families: Sequence[Family], objective: Objective, best: GroupCosts, lower_bound: float, solved: Sequence[Open]
) -> GroupProof:
    """Make the certificate of a search that ended with `best`; `solved` are all groups whose layers were solved.

    Raises ValueError where a layer has no proof that can be checked.
    """
    family, (layers, sums) = families[0], _layers(solved)
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
                group=_group(entry.group),
                sums=[
                    CertifiedSum(slope=own.slope, layers=[(sums[layer], number) for layer, number in own.layers])
                    for own in entry.sums
                ],
            )
            for entry in solved
        ],
    )


def _layers(solved: Sequence[Open]) -> tuple[list[Solved], Mapping[Solved, int]]:
    """List the layers of all groups, and their numbers."""
    numbers: dict[Solved, int] = {}
    for entry in solved:
        for own in entry.sums:
            for layer, _ in own.layers:
                numbers.setdefault(layer, len(numbers))
    return list(numbers), numbers


def _group(group: Group) -> CertifiedGroup:
    kept = [(stage, name, depth) for (stage, name), depth in group.kept]
    return CertifiedGroup(
        keeper=group.keeper, shared=list(group.shared), retained=sorted(group.retained), kept=sorted(kept)
    )


def _layer(solved: Solved) -> CertifiedLayer:
    """Convert a solved layer. Raises ValueError where its proof is none that can be checked."""
    layer, batch = solved.layer, solved.mapped.batch
    if solved.proof is None:
        sizes = ", ".join(f"{dim}={size}" for dim, size in zip(batch.workload.dims, layer.sizes, strict=True))
        raise ValueError(f"nothing is proven of {batch.workload.name} with {sizes} that can be checked")
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
