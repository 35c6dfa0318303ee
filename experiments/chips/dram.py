"""Streams of bursts as mappings of a layer that copies, on a machine with a DRAM: our cycles beside simulated ones.

A machine's clock is the DRAM's. Its bus moves a burst in tBL cycles, rows open every max(tRRD, tFAW / 4, tRC / banks),
and both stand still while rows are refreshed, tRFC of tREFI. Where bursts rotate over bank groups, a row stands for
those of all groups: it has as many times the words, and takes as many times as long to open.
"""

from collections.abc import Callable
from functools import partial
from itertools import groupby

import numpy as np
from ruby_map.arch import Architecture, parse_arch
from ruby_map.energy import no_energies
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.model import evaluate
from ruby_map.workloads import Tensor, Term, Workload, parse_yaml

from .tables import Line, Row, Table, lines_of, ratio

WORD_BYTES = 2
TILE_BURSTS = 256  # of a tile in streams without an array
STREAMS = {
    "sequential": "one line",
    "random": "runs of {} in random rows",
    "bankstride": "runs of {} in rows of one bank",
}


def machine(timing: Line, groups: int) -> Architecture:
    """The DRAM, above a buffer with room for everything."""
    of = {name: float(timing[name]) for name in ("tBL", "tRRD", "tFAW", "tRC", "tRFC", "tREFI", "banks")}
    share = 1 - of["tRFC"] / of["tREFI"]
    words = int(timing["burst_bytes"]) / WORD_BYTES / of["tBL"] * share
    opening = max(of["tRRD"], of["tFAW"] / 4, of["tRC"] / of["banks"]) * groups
    text = f"""
    name: dram
    compute: {{name: MAC, class: intmac}}
    levels:
      - name: DRAM
        class: DRAM
        shared_bandwidth: {words!r}
        row_bandwidth: {share / opening!r}
        dram: {{burst_bits: {8 * int(timing["burst_bytes"])}, row_bits: {8 * groups * int(timing["row_bytes"])}}}
      - {{name: buffer, class: SRAM, capacity_bits: {2**60}}}
    """
    return parse_arch(parse_yaml(text, "dram.yaml"))


def copied(columns: int, rows: int, *, written: bool) -> Workload:
    """A layer with a MAC per word of an array, which it reads; and if `written` it writes another of the same size."""
    array = tuple((Term(dim),) for dim in ("Y", "X"))
    outputs = Tensor("Outputs", array if written else (), output=True)
    return Workload("copy", ("Y", "X"), (rows, columns), (Tensor("Inputs", array), outputs))


def tiled(pattern: str, timing: Line, groups: int) -> tuple[int, int, int, int]:
    """The columns of an array that a stream is from, those of a tile, its rows, and how many of these the array has."""
    kind, _, size = pattern.partition(":")
    burst, row = int(timing["burst_bytes"]) // WORD_BYTES, groups * int(timing["row_bytes"]) // WORD_BYTES
    if kind == "tile2d":
        columns, tile = map(int, size.split("x"))
        return columns, tile, tile, 4
    if kind == "sequential":
        return 64 * TILE_BURSTS * burst, TILE_BURSTS * burst, 1, 1
    return row, int(size) * burst, TILE_BURSTS // int(size), 2


def cycles_a_burst(line: Line, timing: Line) -> tuple[float, float]:
    """Our cycles for each burst, and rows opened for each burst, of a stream."""
    groups = int(timing["bank_groups"]) if line["map"] == "bg" else 1
    columns, width, height, times = tiled(line["pattern"], timing, groups)
    arch, layer = machine(timing, groups), copied(columns, height * times, written=line["mode"] == "RW")
    factors = np.array([[[times, -(-columns // width)], [height, width]]])  # (mapping, level, dim)
    order, keep = np.array([[[0, 1]] * 2], np.int8), np.ones((1, 2, 2), bool)
    costs = evaluate(MappingBatch.of(arch, layer, factors, order, keep), no_energies(arch))
    counts = costs.counts
    bursts = float((counts.burst_reads + counts.burst_updates).sum())
    return float(costs.level_cycles[0, 0]) / bursts, float(counts.activations.sum()) / bursts


def name_of(line: Line) -> str:
    """A stream in words."""
    kind, _, size = line["pattern"].partition(":")
    if kind == "tile2d":
        columns, tile = size.split("x")
        return f"{tile} x {tile} words of an array with {columns} columns"
    return STREAMS[kind].format(f"{size} bursts" if size != "1" else "one burst")


def rows(quick: bool) -> list[Row]:
    """A row per stream and map: by DRAM and mode, simulated cycles over ours."""
    timings = {line["dram"]: line for line in lines_of("dram_timings.csv")}
    lines = [line for line in lines_of("dram_simulated.csv") if _told_apart(line, timings[line["dram"]])]
    keys = list(dict.fromkeys((line["pattern"], line["map"]) for line in lines))
    lines.sort(key=lambda line: keys.index((line["pattern"], line["map"])))
    every = [list(own) for _, own in groupby(lines, key=lambda line: (line["pattern"], line["map"]))]
    return [_row(own, timings) for own in (every[:2] if quick else every)]


def _told_apart(line: Line, timing: Line) -> bool:
    """Whether a run reaches all bank groups, so that a row of all of them is opened."""
    kind, _, size = line["pattern"].partition(":")
    return line["map"] == "row" or kind != "random" or int(size) >= int(timing["bank_groups"])


def _row(lines: list[Line], timings: dict[str, Line]) -> Row:
    row: Row = {"stream": name_of(lines[0]), "map": lines[0]["map"], "cycles": {}, "rows": {}}
    for line in lines:
        ours, opened = cycles_a_burst(line, timings[line["dram"]])
        bursts = int(line["bursts"])
        row["cycles"].setdefault(line["dram"], {})[line["mode"]] = int(line["cycles"]) / bursts / ours
        row["rows"].setdefault(line["dram"], {})[line["mode"]] = int(line["activations"]) / bursts / opened
    return row


def _cell(row: Row, figure: str, dram: str) -> str:
    of = row[figure].get(dram)
    return "" if of is None else f"{ratio(of['R'])}, {ratio(of['RW'])}"


def _table(name: str, figure: str) -> Table:
    """A column for each DRAM: the ratio of a figure in reads, and in reads and writes."""
    drams = {line["dram"]: partial(_cell, figure=figure, dram=line["dram"]) for line in lines_of("dram_timings.csv")}
    every: dict[str, Callable[[Row], str]] = {"stream": stream_of, **drams}
    return Table(name, rows, every)


def stream_of(row: Row) -> str:
    """A stream and its map in words."""
    return str(row["stream"]) + (", over all bank groups" if row["map"] == "bg" else "")


CYCLES, ROWS = _table("streams", "cycles"), _table("rows", "rows")
TABLES = (CYCLES, ROWS)
