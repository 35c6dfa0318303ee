"""Tables and lines of text for a reader: accesses by level and tensor, totals, layers of a network."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Protocol, override

from ...arch import Architecture, unstacked
from ...energy import GIVEN, ComputeEnergy, EnergyTable, LevelEnergy
from ...workloads import Workload
from ..bounds import Ideal
from ..mapping import MappingBatch
from ..model import Costs
from ..model.figures import DramUse
from ..problem import ROUNDING, Charges, at_most, first_objective
from ..search.outcome import Ended, Statistics
from .dram import dram_lines
from .predictions import Predicted, prediction_lines
from .rates import Rates, rate_lines

BUILT_IN = "built-in estimates"
_OTHERS = ("ERT file", "Accelergy", GIVEN)  # begin the sources that say themselves who gave the figures
WIDTH = 1_000_000  # characters: a table is as wide as it needs, in a pipe and on any terminal; no figure is cut
_UNITS = (("J", 1e12), ("mJ", 1e9), ("uJ", 1e6), ("nJ", 1e3), ("pJ", 1.0))


def energy_sources(table: EnergyTable) -> str:
    """Name the sources of the energies, with their components where there are several; where some are built-in
    estimates, the options that give others."""
    components: dict[str, list[str]] = {}
    parts: list[LevelEnergy | ComputeEnergy] = [*table.levels, table.compute]
    for part in parts:
        source = part.source.partition("; area:")[0]
        components.setdefault(source if source.startswith(_OTHERS) else BUILT_IN, []).append(part.name)
    several = len(components) > 1
    sources = [f"{source}: {', '.join(names)}" if several else source for source, names in components.items()]
    more = ["--ert FILE or --energy accelergy gives others"] if BUILT_IN in components else []
    return "; ".join(sources + more)


def with_article(noun: str) -> str:
    """Put the article before a noun.

    >>> with_article("EDP"), with_article("delay")
    ('an EDP', 'a delay')
    """
    return f"{'an' if noun[0] in 'aeioE' else 'a'} {noun}"


def energy_unit(largest_pj: float) -> tuple[str, float]:
    """Choose the unit in which `largest_pj` is at least 1; returns its name and its size in pJ."""
    return next((unit for unit in _UNITS if largest_pj >= unit[1]), _UNITS[-1])


@dataclass(frozen=True)
class TextTable:
    """A table of text, printed in columns or shown in a notebook."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = ()  # columns of words; numbers stand to the right
    title: str = ""
    tight: bool = False  # two blanks between columns in place of three

    @override
    def __str__(self) -> str:
        return (f"{self.title}\n" if self.title else "") + table_text(self.head, self.rows, self.left, self.tight)

    def html(self) -> str:
        """Write the table in HTML, aligned by styles and by tags, for viewers of notebooks that drop the styles."""
        sides = ['style="text-align:left"' if i in self.left else 'align="right"' for i in range(len(self.head))]

        def line(tag: str, cells: Sequence[str]) -> str:
            row = (f"<{tag} {side}>{_html(cell)}</{tag}>" for side, cell in zip(sides, cells, strict=True))
            return f"<tr>{''.join(row)}</tr>"

        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        body = "".join(line("td", row) for row in self.rows)
        return f"<table>{title}<thead>{line('th', self.head)}</thead><tbody>{body}</tbody></table>"


def _html(cell: str) -> str:
    return escape(cell).replace("\n", "<br/>")


def level_table(batch: MappingBatch, costs: Costs, energies: bool = True) -> TextTable:
    """Tabulate reads, fills, updates and energy of the single mapping of `batch`, per level and kept tensor.

    Without `energies` those columns are left out.
    """
    total = float(costs.energy_pj[0])
    unit, size = energy_unit(total)
    counts, rows = costs.counts, []
    for i, level in enumerate(unstacked(batch.arch).levels):
        for t, tensor in enumerate(batch.workload.tensors):
            if batch.kept[0, i, t]:
                words = (counts.tile_words, counts.reads, counts.fills, counts.updates)
                energy = float(costs.level_energy_pj[0, i, t])
                rows.append([level.name, _whole(counts.instances[0, i]), tensor.name]
                            + [_whole(array[0, i, t]) for array in words] + _share(energy, size, total))  # fmt: skip
    compute, units = costs.compute_energy_pj, _whole(counts.instances[0, -1])
    rows.append([batch.arch.compute.name, units, "", "", "", "", "", *_share(compute, size, total)])
    if energies and (leak := float(costs.leak_energy_pj[0])):
        rows.append(["leakage", "", "", "", "", "", "", *_share(leak, size, total)])
    if costs.options.has_interconnect:
        rows.append(
            ["network", "", "", "", "", "", "", *_share(float(costs.interconnect_energy_pj[0].sum()), size, total)]
        )
    head = ["level", "instances", "tensor", "tile words", "reads", "fills", "updates", f"energy [{unit}]", "share"]
    end = len(head) if energies else -2
    return TextTable(head[:end], [row[:end] for row in _blank_repeats(rows)], left=(0, 2))


class Totals(Rates, Predicted, Protocol):
    """What is totalled of a layer or a network."""

    @property
    def cycles(self) -> int: ...
    @property
    def energy_pj(self) -> float: ...
    @property
    def utilization(self) -> float: ...
    @property
    def macs(self) -> int: ...
    @property
    def ineffectual_macs(self) -> int: ...
    @property
    def area_um2(self) -> float: ...
    @property
    def ideal(self) -> Ideal: ...
    @property
    def objective(self) -> str | None: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def fill_drain(self) -> tuple[int, int] | None: ...
    @property
    def starts(self) -> int | None: ...
    @property
    def dram(self) -> DramUse | None: ...


def totals(sums: Totals, options: Charges, table: EnergyTable) -> str:
    """Print the totals, a line each, and what `options` count; beside the objective its proven lower bound, if there is
    one, beside the others the ideal."""
    cycles, energy_pj, best, energies = sums.cycles, sums.energy_pj, sums.ideal, table.counted
    macs, zeros = sums.macs, sums.ineffectual_macs
    unit, size = energy_unit(energy_pj)
    edp, per_mac = cycles * energy_pj, energy_pj / macs
    of_energy = [
        (
            "energy",
            f"{energy_pj / size:,.5g} {unit} ({per_mac:,.4g} pJ per MAC)",
            _over(sums, "energy_pj", best.energy_pj),
        ),
        ("EDP", f"{edp:.5g} pJ cycles", _over(sums, "edp", best.edp)),
    ]
    charges = [("area", f"{sums.area_um2 / 1e6:,.4g} mm2", ""), ("network", options.interconnect_text, "")]
    charges.append(("energies", energy_sources(table), ""))
    lines = [
        ("cycles", f"{cycles:,}", _over(sums, "cycles", best.cycles)),
        *rate_lines(sums),
        *prediction_lines(sums),
        ("utilisation", f"{sums.utilization:.1%}", ""),
        *(of_energy if energies else [("energy", "not known", "")]),
        ("MACs", f"{macs:,}", f", {zeros:,} of them on the zeros of padding ({zeros / macs:.1%})" if zeros else ""),
        *(charges if energies else []),
    ]
    if options.drain_reads:
        lines.append(("drain reads", "counted", ""))
    row_pj = 0.0 if sums.dram is None or not energies else sums.dram.row_pj
    lines += dram_lines(sums.dram, f", {row_pj / size:,.4g} {unit}" if row_pj else "")
    lines[1:1] = _waits(sums)
    return "\n".join(f"{name:<12} {value}{over}" for name, value, over in lines)


def _waits(sums: Totals) -> list[tuple[str, str, str]]:
    """The lines of cycles in which nothing is computed, where the machine has such."""
    lines = []
    if sums.starts is not None:
        lines.append(("starts", f"{sums.starts:,} of the {sums.cycles:,} cycles: tiles that begin", ""))
    if sums.fill_drain is not None:
        waits, computing = sums.fill_drain
        lines.append(("fill, drain", f"{waits:,} of the {computing:,} cycles of the array", ""))
    return lines


def figure(sums: Totals, energies: bool) -> str:
    """The one figure of a title: EDP, or cycles where energies are not known."""
    return f"EDP {sums.cycles * sums.energy_pj:.4g} pJ cycles" if energies else f"{sums.cycles:,} cycles"


def search_line(statistics: Statistics) -> str:
    """Say in one line how the search went."""
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in statistics.invalid.items() if n)
    seen = f"{statistics.evaluated:,} mappings, {statistics.valid:,} valid" + (f" (not: {reasons})" if reasons else "")
    time = f"{statistics.seconds:.2f} s, {statistics.rate:,.0f} mappings/s"
    timed = "; the answer may depend on the machine" if Ended.TIME_LIMIT in statistics.ended else ""
    return f"search       {seen}; {time}; ended by: {statistics.stopped_by}{timed}"


def heading(arch: Architecture, workload: Workload) -> str:
    """Name the workload with its dims, and the architecture."""
    dims = " ".join(f"{dim}={size}" for dim, size in zip(workload.dims, workload.sizes, strict=True))
    return f"{workload.title} ({dims}) on {arch.name}"


def _whole(figure: float) -> str:
    return f"{int(figure):,}"


def _share(energy_pj: float, size: float, total_pj: float) -> list[str]:
    return [f"{energy_pj / size:,.4g}", f"{energy_pj / total_pj:.1%}" if total_pj else ""]


def _over(sums: Totals, column: str, ideal: float) -> str:
    """Say how far a total is above its proven lower bound, if it is the objective and has one; else above the ideal."""
    if sums.gap is not None and first_objective(str(sums.objective)).column == column:
        return ", at its lower bound" if sums.gap <= ROUNDING else f", its lower bound {at_most(sums.gap)} below"
    return f", {getattr(sums, column) / ideal:,.2f} x the ideal" if ideal else ""


def _blank_repeats(rows: list[list[str]]) -> list[list[str]]:
    """Leave a level's name and instances on its first row alone."""
    return [["", ""] + row[2:] if i and row[0] == rows[i - 1][0] else row for i, row in enumerate(rows)]


def table_text(head: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int], tight: bool = False) -> str:
    """Set rows in columns below their heads; columns numbered in `left` hold words and are aligned left."""
    from rich import box  # these take longer to import than all of report
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0 if tight else 1, 0, 1))
    for i, name in enumerate(head):
        table.add_column(name, justify="left" if i in left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    out = StringIO()
    # in a notebook rich would show the table there and then, and leave `out` empty
    plain = Console(file=out, width=WIDTH, color_system=None, highlight=False, markup=False, force_jupyter=False)
    plain.print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))
