"""Writes a proof as a certificate: the problem by names and numbers, the best mapping, the verdicts on all chains."""

from collections.abc import Sequence

from ...arch import Architecture
from ...energy import EnergyTable, as_written
from ...workloads import Workload
from ..certificate import CertifiedMapping, Choice, LayerProof, certified_energies
from ..mapping import Bools, MappingBatch
from ..model import evaluate, recount
from ..problem import Charges
from ..search import Task


def certified_layer(
    task: Task,
    objective: str,
    best: Sequence[MappingBatch],
    lower_bound: float,
    corners: Sequence[tuple[float, float]],
    choices: Sequence[Choice],
) -> LayerProof:
    """Make the certificate of a layer; `best` has the best mapping, or those of a front, as batches of one."""
    workload, costs = task.space.workload, task.charges
    _, table = as_written(task.space.arch, task.table)
    return LayerProof(
        workload=workload.name,
        sizes=dict(zip(workload.dims, workload.sizes, strict=True)),
        transformations=list(workload.transformations),
        remainders=list(task.space.imperfect),
        objective=objective,
        objectives=[] if task.goal.front else list(task.goal.objectives),
        leakage=costs.leakage,
        wire_pj_per_bit_mm=costs.wire_pj_per_bit_mm,
        tile_mm=costs.tile_mm,
        hop_pj=costs.hop_pj,
        drain_reads=costs.drain_reads,
        energies=certified_energies(table),
        best=[certified_mapping(batch, task.table, costs) for batch in best],
        lower_bound=lower_bound,
        corners=list(corners),
        choices=list(choices),
    )


def certified_mapping(batch: MappingBatch, table: EnergyTable, options: Charges) -> CertifiedMapping:
    """Convert the single mapping of `batch` for a certificate, with its exact costs."""
    workload, levels = batch.workload, batch.arch.levels
    costs = evaluate(batch, table, options, recount(batch))
    return CertifiedMapping(
        bounds={dim: batch.factors[0, :, d].tolist() for d, dim in enumerate(workload.dims)},
        orders={level.name: [workload.dims[d] for d in batch.order[0, i]] for i, level in enumerate(levels)},
        keep=kept_names(batch.arch, workload, batch.keep[0]),
        energy_pj=float(costs.energy_pj[0]),
        cycles=float(costs.cycles[0]),
    )


def kept_names(arch: Architecture, workload: Workload, keep: Bools) -> dict[str, list[str]]:
    """List the names of the tensors that each memory keeps, by its name; `keep` # (level, tensor).

    Those of a stack of levels are in the order of the levels, the outermost first, then what is resident.
    """
    tensors = [tensor.name for tensor in workload.tensors]
    kept: dict[str, list[str]] = {level.of_memory: [] for level in arch.levels}
    for level, row in zip(arch.levels, keep.tolist(), strict=True):
        names = [name for name, keeps in zip(tensors, row, strict=True) if keeps]
        kept[level.of_memory] += sorted(names, key=lambda name: (name in level.resident, name))
    return kept
