"""A processor as an architecture file."""

import json
from math import log2

from .machine import Cache, Processor

WORD_BITS = 32  # float32, which the lanes are counted in
USED = 0.75  # of a cache: tiles share it with other tensors, and addresses that fall together push each other out
# M. Horowitz, Computing's energy problem, ISSCC 2014, figure 1.1.9 (45 nm), in pJ: 32-bit floating-point multiplication
# and addition; 64 bits from a cache of 32 KiB, of 1 MiB, from DRAM (the lower of two); other sizes by a power law.
MAC_PJ, SMALL_PJ, LARGE_PJ, DRAM_PJ = 3.7 + 0.9, 20.0, 100.0, 1300.0
SMALL, STEPS = 32 * 1024, 5  # 1 MiB is five doublings more
REGISTER_PJ = 2.0  # there: 6 pJ for the registers of an instruction, which are three


def machine_yaml(machine: Processor, name: str) -> str:
    """Write a processor as an architecture, with what was measured as `calibration`, if anything was."""
    lanes = machine.vector_bytes * 8 // WORD_BITS
    outer = [cache for cache in machine.caches if cache.cores > 1]
    inner = [cache for cache in machine.caches if cache.cores == 1]
    cores = "{name: core, size: cores, code: threads, dims: [B, G, N, M, P, Q]}"
    blocks = [_level("DRAM", machine, pj=DRAM_PJ, axis="" if outer else cores)]
    for number, cache in enumerate(reversed(outer), 1):
        blocks.append(_cache(cache, machine, axis=cores if number == len(outer) else ""))
    # the largest cache of a core is where tiles are packed; outputs stay in registers as long as they are added to
    for number, cache in enumerate(reversed(inner)):
        keep = (
            "    keep: [Inputs, Weights]\n    bypass: [Outputs]\n    code: buffer\n"
            if number == 0
            else "    bypass: [Outputs]\n"
        )
        blocks.append(_cache(cache, machine, more=keep))
    registers = f"""    capacity_words: {machine.registers} * lanes
    keep: [Inputs, Weights, Outputs]
    temporal: {{dims: [B, G, N, M, P, Q]}}  # what adds up runs outside, and the sums stay
    code: registers
"""
    axis = "{name: lane, size: lanes, code: lanes, dims: [M, Q]}"
    blocks.append(_level("Registers", machine, pj=REGISTER_PJ, more=registers, axis=axis, kind="regfile"))
    return f"""\
# {machine.model}: a processor whose caches, vectors and rates were read and measured by ruby-machine.
# A core is a register file and the lanes of one vector; what is below the core axis is one core's own. Tiles may take
# {USED:.0%} of a cache. Energies: Horowitz, ISSCC 2014 (45 nm), per access of a line or vector; caches by a power law.
name: {name}
technology: 45nm  # of the energies
variables: {{cores: {machine.cores}, lanes: {lanes}}}
levels:
{"".join(blocks)}compute: {{name: FMA, class: fpmac, word_bits: {WORD_BITS}, energy: {{compute_pj: {MAC_PJ:g}}}}}
{_calibration(machine) if machine.peak_gflops else ""}"""


def _calibration(machine: Processor) -> str:
    rates = ", ".join(f"{level}: {rate:g}" for level, rate in machine.gb_per_second)
    return f"""\
calibration:
  measured_on: {json.dumps(machine.model)}
  dtype: float32
  peak_gflops: {machine.peak_gflops:g}  # of one core
  gb_per_second: {{{rates}}}  # read by one core
"""


def _cache(cache: Cache, machine: Processor, more: str = "", axis: str = "") -> str:
    pj = SMALL_PJ * (LARGE_PJ / SMALL_PJ) ** (log2(cache.size / SMALL) / STEPS)
    size = f"    capacity_bytes: {int(cache.size * USED)}\n"
    size += f"    attributes: {{ways: {cache.ways}, sets: {cache.sets}}}\n" if cache.ways else ""
    return _level(cache.name, machine, pj=pj, more=size + more, axis=axis)


def _level(name: str, machine: Processor, *, pj: float, more: str = "", axis: str = "", kind: str = "") -> str:
    width = machine.vector_bytes * 8
    energy = pj * width / 64
    text = f"  - name: {name}\n    class: {kind or ('DRAM' if name == 'DRAM' else 'SRAM')}\n"
    text += f"    width_bits: {width}\n    word_bits: {WORD_BITS}\n{more}"
    text += f"    energy: {{read_pj: {energy:.4g}, write_pj: {energy:.4g}}}\n"
    return text + (f"    fanout:\n      - {axis}\n" if axis else "")
