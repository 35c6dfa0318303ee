"""The widths of words, for a reader: what MACs of this layer cost by them, and partial sums that do not fit."""

from math import prod

from ...arch import Architecture, unstacked
from ...energy import EnergyTable
from ...workloads import Workload
from ..mapping import MappingBatch
from ..model import Costs


def mac_line(arch: Architecture, workload: Workload, table: EnergyTable) -> str:
    """Say what a MAC costs by the widths that the layer gives its tensors; an empty text where it gives none."""
    if all(tensor.word_bits is None for tensor in workload.tensors):
        return ""
    unit = arch.compute.word_bits
    inputs = " x ".join(f"{tensor.word_bits or unit}" for tensor in workload.factors)
    total = workload.output.word_bits or unit
    pj = f"{table.compute.mac_pj(workload):.4g} pJ"
    if table.compute.by_bits is None:
        return f"MAC          {inputs} bits, sums of {total}: {pj}, as given for all widths"
    wide = max(tensor.word_bits or unit for tensor in workload.factors) > unit
    more = f"; wider than the units of {unit} bits, yet one MAC a cycle" if wide else ""
    return f"MAC          {inputs} bits, sums of {total}: {pj}{more}"


def narrow_sums(batch: MappingBatch, costs: Costs) -> list[str]:
    """Name the memories of the one mapping of `batch` in which partial sums lose bits.

    Bits are lost where a memory hands partial sums back to one that holds them wider, and, of a layer that gives the
    widths of its inputs, where a memory has fewer than a sum needs: those of both factors, and the logarithm of the
    number of products.
    """
    workload, levels = batch.workload, unstacked(batch.arch).levels
    output = workload.output
    v = workload.tensors.index(output)
    keepers = [i for i in range(len(levels)) if batch.kept[0, i, v]]
    bits = {i: levels[i].bits(output.name, output.word_bits) for i in keepers}
    needed, how = _needed(workload)
    losses = []
    for i, inner in zip(keepers, [*keepers[1:], None], strict=True):
        words = costs.counts.reads if inner is None else costs.counts.fills
        if not words[0, i if inner is None else inner, v]:
            continue  # no sum comes back from here
        wider = max((bits[j] for j in keepers if j > i), default=0)
        where = f"{levels[i].name} stores partial sums of {output.name} in {bits[i]} bits"
        if bits[i] < wider:
            name = next(levels[j].name for j in keepers if j > i and bits[j] == wider)
            losses.append(f"{where}, {name} accumulates them in {wider}")
        elif bits[i] < needed:
            losses.append(f"{where}, exact ones need {needed} ({how})")
    return losses


def _needed(workload: Workload) -> tuple[int, str]:
    """The bits of an exact sum, and their parts; 0 where the widths of the inputs are not given, or blocks have scales:
    elements are floats then, or sums of blocks are scaled apart."""
    inputs = [tensor.word_bits for tensor in workload.factors]
    if None in inputs or workload.block_dims:
        return 0, ""
    widths = [bits for bits in inputs if bits is not None]
    products = prod(workload.size(dim) for dim in workload.dims if dim not in workload.output.dims)
    more = (products - 1).bit_length()
    return sum(widths) + more, " + ".join(map(str, [*widths, more]))
