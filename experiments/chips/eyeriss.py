"""Eyeriss's chip: its own passes, counted here, beside its measured time, active elements and buffer accesses.

Chen et al., JSSC 2017, tables III (passes of AlexNet), V and VI (measurements). The passes of VGG-16 are not published;
here one number of each layer is taken from its buffer accesses: the channels that a pass adds up before its sums go
back to the buffer. All else is what then fits.
"""

from dataclasses import dataclass
from functools import partial
from math import ceil

from ruby_map.mapper import Result, evaluate
from ruby_map.mapper.exploration import load
from ruby_map.mapper.mapping import read_mapping
from ruby_map.workloads import Workload, parse_yaml, shaped

from .tables import HERE, Line, Row, Table, accesses, lines_of, numbers, ratio

CYCLES_OF_A_MS, WORD_BYTES = 200_000, 2
BUFFER_WORDS = 100 * 1024 // WORD_BYTES
ELEMENT_INPUTS, ELEMENT_KERNELS = 12, 16
# of VGG-16, by the height of a layer's output: channels of a pass, as its buffer accesses tell
CHANNELS_AT_ONCE = {224: 1, 112: 1, 56: 2, 28: 4, 14: 8}
# of a word of 16 bits, of a MAC, and at rest; as github stanford-mast/nn_dataflow (tests) takes them for this chip
BUFFER_PJ, ARRAY_PJ, REGISTER_PJ, MAC_PJ, IDLE_MW = 15.0, 4.0, 1.0, 2.0, 30.0
COLUMNS, SETS = 14, 4  # of an array; sets of three rows in its twelve


@dataclass(frozen=True)
class Passes:
    """How the chip cuts a layer, in the letters of table III."""

    m: int  # kernels whose sums the buffer holds
    n: int  # images at once
    e: int  # output rows side by side
    p: int  # kernels of an element
    q: int  # channels of an element
    r: int  # sets of elements for other channels
    t: int  # sets of elements for other kernels

    @classmethod
    def of(cls, line: Line) -> "Passes":
        """Take those of table III, or what fits."""
        if line["m"]:
            return cls(*numbers(line, "mnepqrt"))
        size, kernels = int(line["P"]), int(line["M"])
        at_once = min(CHANNELS_AT_ONCE[size], int(line["C"]))
        q = min(at_once, ELEMENT_INPUTS // int(line["R"]))
        r, e = at_once // q, 13 if size > 28 else 14
        room = (BUFFER_WORDS - at_once * (e + 2) * (size + 2)) // (e * size)  # for sums of so many kernels
        m = max(m for m in (16, 32, 64, 128, 256) if m <= min(room, kernels))
        return cls(m, 1, e, min(ELEMENT_KERNELS, m * r // SETS), q, r, SETS // r)

    def mapping(self, line: Line) -> str:
        """Write them as a mapping file."""
        kernels, channels, size, images, groups = numbers(line, ("M", "C", "P", "N", "G"))
        many, order = ("", "NQM") if groups == 1 else (f"G={groups} ", "NQMG")
        beside = 2 if 2 * self.e <= COLUMNS and self.t > 1 else 1  # sets, where two fit
        outer = f"{many}M={ceil(kernels / self.m)} Q={ceil(size / self.e)} N={ceil(images / self.n)}"
        inner = f"M={ceil(self.m / (self.p * self.t))} N={self.n} P={size}"
        folds = ceil(self.e / COLUMNS)
        entries = (
            "target: buffer, type: bypass, keep: [Outputs, Inputs], bypass: [Weights]",  # the sums are outside
            f"target: DRAM, type: temporal, factors: {outer}, permutation: {order}",
            f"target: buffer, tensor: Outputs, type: temporal, factors: C={ceil(channels / (self.q * self.r))}",
            f"target: buffer, tensor: Inputs, type: temporal, factors: {inner}, permutation: PNM",
            f"target: column, type: spatial, factors: Q={min(self.e, COLUMNS)} M={beside}",
            f"target: row, type: spatial, factors: S={line['R']} C={self.r} M={self.t // beside} Q={folds}",
            f"target: weights_spad, type: temporal, factors: C={self.q} R={line['R']}",
            f"target: psum_spad, type: temporal, factors: M={self.p}",
        )
        return "mapping:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


def layer_of(line: Line) -> Workload:
    """Return the layer, as measured: with its batch."""
    sizes = {dim: int(line[dim]) for dim in ("N", "M", "C", "P", "R")}
    groups = {"G": int(line["G"])} if line["G"] != "1" else {}
    return shaped("conv2d", line["layer"], stride=int(line["stride"]), **sizes, **groups, Q=sizes["P"], S=sizes["R"])


def replayed(line: Line) -> Result:
    """Count the chip's own passes."""
    machine, layer = load(HERE / "eyeriss.yaml", layer_of(line))
    assert isinstance(layer, Workload)
    return evaluate(
        machine, layer, read_mapping(parse_yaml(Passes.of(line).mapping(line), line["layer"]), machine, layer)
    )


def rows(network: str, quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each layer that was measured."""
    measured = [line for line in lines_of("eyeriss.csv") if line["network"] == network]
    return [_row(line) for line in measured[-2 if quick else 0 :]]


def _row(line: Line) -> Row:
    result = replayed(line)
    dram, buffer = (accesses(result.valid_costs, level) * WORD_BYTES / 1e6 for level in (0, 1))
    return {
        "layer": line["layer"],
        "elements": int(line["elements"]),
        "our_elements": int(result.valid_costs.counts.instances[0, -1]),
        "cycles": round(float(line["ms"]) * CYCLES_OF_A_MS),
        "our_cycles": result.cycles,
        "steps": int(result.valid_costs.counts.cycles[0]),
        "buffer_mb": float(line["buffer_mb"]),
        "our_buffer_mb": buffer,
        "dram_mb": float(line["dram_mb"]),
        "our_dram_mb": dram,
        "fits": not result.hint,
    }


HEADINGS = {
    "layer": lambda row: row["layer"],
    "active elements: chip": lambda row: str(row["elements"]),
    "here": lambda row: str(row["our_elements"]),
    "million cycles: chip": lambda row: f"{row['cycles'] / 1e6:.2f}",
    "here ": lambda row: f"{row['our_cycles'] / 1e6:.2f}",
    "ratio": lambda row: ratio(row["our_cycles"] / row["cycles"]),
    "steps alone": lambda row: f"{row['steps'] / 1e6:.2f}",
    "MB from and to the buffer: chip": lambda row: f"{row['buffer_mb']:,.1f}",
    "here  ": lambda row: f"{row['our_buffer_mb']:,.1f}",
    "ratio ": lambda row: ratio(row["our_buffer_mb"] / row["buffer_mb"]),
    "from and to DRAM: chip": lambda row: f"{row['dram_mb']:.1f}",
    "here   ": lambda row: f"{row['our_dram_mb']:.1f}",
}


@dataclass(frozen=True)
class Activity:
    """What a mapping does on the chip, in words and MACs: all of it, and what a zero input of the chip spares."""

    buffer: int  # words from and to it
    array: int  # words to scratchpads, and sums from them
    registers: int  # words of scratchpads
    spared: int  # of these where the input is zero
    macs: int

    @classmethod
    def of(cls, result: Result) -> "Activity":
        """Count a mapping's. Weights and sums stay where they are where the input is zero."""
        counts, levels = result.valid_costs.counts, [level.name for level in result.arch.levels]
        weights, sums = levels.index("weights_spad"), levels.index("psum_spad")
        spads = slice(levels.index("ifmap_spad"), None)
        array = int(counts.fills[0, spads].sum() + counts.drains[0, sums].sum())
        read = int((counts.reads + counts.updates)[0, spads].sum())
        spared = int(counts.reads[0, weights].sum() + (counts.reads + counts.updates)[0, sums].sum())
        return cls(accesses(result.valid_costs, 1), array, read + array, spared, result.macs)

    def milliwatts(self, line: Line, zeros: float) -> float:
        """Its power in the time that the chip takes, where such a share of the inputs is zero."""
        registers, macs = self.registers - zeros * self.spared, self.macs * (1 - zeros)
        pj = self.buffer * BUFFER_PJ + self.array * ARRAY_PJ + registers * REGISTER_PJ + macs * MAC_PJ
        return pj / float(line["ms"]) * 1e-6 + IDLE_MW


def power_rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each layer of both networks."""
    measured = lines_of("eyeriss.csv")
    return [_power(line) for line in measured[-2 if quick else 0 :]]


def _power(line: Line) -> Row:
    done, zeros = Activity.of(replayed(line)), float(line["zeros"]) / 100
    return {
        "layer": f"{line['network']} {line['layer']}",
        "mw": float(line["mw"]),
        "zeros": zeros,
        "our_mw": done.milliwatts(line, 0.0),
        "our_mw_of_others": done.milliwatts(line, zeros),
    }


POWER = Table(
    "eyeriss_power",
    power_rows,
    {
        "layer": lambda row: row["layer"],
        "mW: chip": lambda row: f"{row['mw']:.0f}",
        "zero inputs": lambda row: f"{row['zeros']:.0%}",
        "mW: all words and MACs": lambda row: f"{row['our_mw']:.0f}",
        "ratio": lambda row: ratio(row["our_mw"] / row["mw"]),
        "without those of zero inputs": lambda row: f"{row['our_mw_of_others']:.0f}",
        "ratio ": lambda row: ratio(row["our_mw_of_others"] / row["mw"]),
    },
)
TABLES = tuple(Table(f"eyeriss_{network}", partial(rows, network), HEADINGS) for network in ("alexnet", "vgg16"))
