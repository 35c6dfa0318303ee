"""The mapping as an indented loop nest: level headers with what they hold, loops with bounds and last rounds."""

from ...arch import Slot
from ...workloads import Tensor
from ..mapping import MappingBatch, Numbers
from ..model.nests import NestAnalysis, TileSizes


def loop_nest(batch: MappingBatch) -> str:
    """Print the single mapping of `batch`, outermost loop first; loops of a single round are left out.

    `for M in 0:4, last round 3` runs 4 rounds, but 3 where every loop of M outside it is in its last round
    (the residual). `parFor` is spread over the named fanout axis instead. Words are those of the largest tile
    of an instance. A memory with uneven placement has a line for each tensor, where it sits:

        DRAM [D: 100 words]
        for D in 0:17
          parFor D in 0:6, last round 4  # PE, X
            ...
    """
    if len(batch) != 1:
        raise ValueError(f"a loop nest shows one mapping, got a batch of {len(batch)}")
    bounds, residuals, order = batch.factors[0], batch.residuals[0], batch.order[0]
    words = TileSizes(NestAnalysis(batch)).kept_words()[0]
    lines: list[str] = []
    depth = 0
    for s, slot in enumerate(batch.arch.slots):
        if not slot.spatial and batch.stands(slot.level):
            lines.append("  " * depth + _header(batch, slot.level, words[slot.level]))
        for d in range(bounds.shape[1]) if slot.spatial else order[slot.level]:
            if bounds[s, d] > 1:
                lines.append(
                    "  " * depth + _loop(slot, batch.workload.dims[d], int(bounds[s, d]), int(residuals[s, d]))
                )
                depth += 1
    lines.append("  " * depth + _statement(batch))
    return "\n".join(lines)


def _loop(slot: Slot, dim: str, bound: int, residual: int) -> str:
    text = f"{'parFor' if slot.spatial else 'for'} {dim} in 0:{bound}"
    if residual != bound:
        text += f", last round {residual}"
    return f"{text}  # {slot.axis.name}, {slot.axis.mesh}" if slot.axis else text


def _header(batch: MappingBatch, level: int, words: Numbers) -> str:
    tensors = zip(batch.workload.tensors, words, batch.keep[0, level], strict=True)
    tiles = [f"{tensor.name}: {int(tile):,}" for tensor, tile, keep in tensors if keep]
    return f"{batch.arch.levels[level].of_memory} [{', '.join(tiles) + ' words' if tiles else 'bypassed'}]"


def _statement(batch: MappingBatch) -> str:
    """Write a MAC as an assignment: `Z[M, N] += A[M, K] * B[K, N]`."""
    inputs = [_term(tensor) for tensor in batch.workload.tensors if not tensor.output]
    return f"{_term(batch.workload.output)} += {' * '.join(inputs)}"


def _term(tensor: Tensor) -> str:
    return f"{tensor.name}{tensor.projection}"
