"""DOSA's formula: energy and cycles of a mapping, and the least hardware that runs mappings, written anew.

Hong et al., MICRO 2023; what is counted is that of github ucb-bar/dosa a7a3239, dataset/dse: mapping_utils.py,
latency_model.py (271 to 305), energy_model.py (101 to 103, 220, 226), mapping_driven_hw_search.py (1898). Loops are
those of `gemmini.loops_of`: levels 3 to 0 are DRAM, scratchpad, accumulators and registers; columns below the
scratchpad have kernels M, rows below the accumulators channels C; each element keeps a weight for P and Q.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from common import stride_of
from ruby_map.mapper.mapping import MappingBatch

from .gemmini import Loop

MAC_PJ, REGISTER_PJ, DRAM_PJ = 0.5608, 0.48746172, 100.0
KIB = 1024
DIMS = {"Weights": "RSCM", "Inputs": "PQCNRS", "Outputs": "PQMN"}
WINDOW = {"R": "P", "S": "Q"}  # dims of the filter, and those of the output that they add to


@dataclass(frozen=True)
class Hardware:
    """Places along a side of the array; KiB of the scratchpad, and of all accumulators together."""

    side: int
    scratchpad_kib: int
    accumulators_kib: int

    @property
    def scratchpad_pj(self) -> float:
        return 0.49 + 0.02513 * self.scratchpad_kib

    @property
    def accumulator_pj(self) -> float:
        return 1.94 + 0.1005 * self.accumulators_kib / self.side


@dataclass(frozen=True)
class Nest:
    """Loops by level, outermost first, of a layer with this stride."""

    levels: Mapping[int, Sequence[Loop]]
    stride: int

    @classmethod
    def of(cls, batch: MappingBatch) -> "Nest":
        """Return the only mapping of a batch on a machine with DOSA's four levels."""
        arch, layer = batch.arch, batch.workload
        levels: dict[int, list[Loop]] = {}
        for number, _ in enumerate(arch.levels):
            slots = [s for s, slot in enumerate(arch.slots) if slot.level == number]
            order = [(layer.dims[d], d) for d in batch.order[0, number].tolist()]
            levels[len(arch.levels) - 1 - number] = [
                (dim, int(batch.factors[0, slot, d]), slot != slots[0])
                for slot in slots
                for dim, d in order
                if batch.factors[0, slot, d] > 1
            ]
        return cls(levels, stride_of(layer))

    def size(self, dims: str, most: int) -> int:
        """Multiply the bounds of all loops of these dims at levels up to `most`."""
        return prod(bound for level in range(most + 1) for dim, bound, _ in self.levels[level] if dim in dims)

    def spread(self, level: int) -> int:
        """Return the places in use below a level."""
        return prod(bound for _, bound, spatial in self.levels[level] if spatial)

    @property
    def tiles(self) -> tuple[int, int, int]:
        """Words of a tile: weights and inputs in the scratchpad, outputs in an accumulator."""
        rows, columns = ((self.size(p, 2) - 1) * self.stride + self.size(r, 2) for r, p in WINDOW.items())
        return self.size(DIMS["Weights"], 2), self.size("CN", 2) * rows * columns, self.size(DIMS["Outputs"], 1)

    def deliveries(self, tensor: str, level: int, *, places: bool) -> int:
        """Count the tiles of a tensor that a level gets: a loop counts from the innermost one of its dims outwards.

        With `places` those of all instances.
        """
        outside = [loop for number in range(level + 1, 4) for loop in reversed(self.levels[number])]
        spread = prod(bound for _, bound, spatial in outside if spatial) if places else 1
        return spread * _repeats([loop for loop in outside if not loop[2]], DIMS[tensor])

    def input_words(self) -> int:
        """Count the words of inputs from DRAM: where a window slides along the innermost loop, what is new of it.

        An innermost loop of the filter makes the window larger; it may then slide along the loop around that one.
        """
        loops = [loop for loop in reversed(self.levels[3]) if loop[1] > 1]
        sizes = {dim: self.size(dim, 2) for dim in "PQRS"}
        widened = loops[0][0] if loops and loops[0][0] in WINDOW else ""
        if widened:
            sizes[widened] *= loops.pop(0)[1]
        rows, columns = ((sizes[p] - 1) * self.stride + sizes[r] for r, p in WINDOW.items())
        words, slides = rows * columns, bool(loops) and loops[0][0] in WINDOW.get(widened, "PQ")
        if slides:
            along, steps, _ = loops.pop(0)
            words += self._new(sizes, along, widened) * (columns if along == "P" else rows) * (steps - 1)
        return self.size("CN", 2) * words * _repeats(loops, DIMS["Inputs"], begun=slides or bool(widened))

    def _new(self, sizes: Mapping[str, int], along: str, widened: str) -> int:
        """Return the rows, or columns, of a window that the one before it did not have."""
        tile, own = sizes[along], sizes[next(dim for dim, output in WINDOW.items() if output == along)]
        if own == 1:
            end = 1
        elif not widened:
            end = self.stride
        else:
            end = own if tile == 1 else own - 1 if tile <= own else max(self.stride, own)
        return (tile - 1) * self.stride + end


def _repeats(loops: Iterable[Loop], dims: str, *, begun: bool = False) -> int:
    """Multiply the bounds of loops, innermost first, from the first of these dims on."""
    number = 1
    for dim, bound, _ in loops:
        begun = begun or (bound > 1 and dim in dims)
        number *= bound if begun else 1
    return number


def costs(nest: Nest, hardware: Hardware) -> tuple[float, float]:
    """Return energy in pJ and cycles of a mapping."""
    macs, outputs, rows, columns = (
        nest.size("RSPQCMN", 3),
        nest.size(DIMS["Outputs"], 3),
        nest.spread(1),
        nest.spread(2),
    )
    weights = nest.tiles[0] * nest.deliveries("Weights", 2, places=False)
    held = nest.deliveries("Weights", 0, places=True)
    sums = nest.tiles[2] * nest.deliveries("Outputs", 1, places=True)
    inputs = nest.input_words()
    accumulators = 2 * macs / rows - outputs + sums
    scratchpad = held + weights + macs / columns + inputs
    dram = weights + inputs + 2 * sums - outputs
    cycles = max(macs / (rows * columns), accumulators / (2 * columns), scratchpad / (2 * hardware.side), dram / 8)
    energy = macs * MAC_PJ + (macs + held) * REGISTER_PJ + dram * DRAM_PJ
    return energy + accumulators * hardware.accumulator_pj + scratchpad * hardware.scratchpad_pj, cycles


def least_hardware(nests: Sequence[Nest]) -> Hardware:
    """Return the least hardware that runs all mappings, sizes rounded up to whole KiB."""
    side = max(2, *(max(nest.spread(1), nest.spread(2)) for nest in nests))
    weights_and_inputs = max(sum(nest.tiles[:2]) for nest in nests)
    sums = 4 * side * max(nest.tiles[2] for nest in nests)  # bytes
    return Hardware(side, ceil(weights_and_inputs / KIB), ceil(sums / KIB))
