"""Energies of components by the built-in estimates, beside those of other estimators and of published tables.

What an estimator was asked for is often not what a design's file says: a line of `component_causes.csv` has what was
asked, and then the built-in estimate is of that, or the sum of the estimator's own figures.
"""

import warnings
from collections.abc import Iterable
from functools import partial
from math import prod

from ruby_map.arch import Architecture, Compute, Storage
from ruby_map.energy import energy_table

from .tables import Line, Row, Table, lines_of

COMPONENTS, ENERGIES, CAUSES = "components.csv", "component_energies.csv", "component_causes.csv"
SIZES = ("class", "node_nm", "depth", "width_bits", "ports", "banks")
MAC_CLASSES = ("intmac", "fpmac")
SOURCES = ("Accelergy 0.4", "hwcomponents", "ERT 2022", "ERT 2024", "DOSA", "Horowitz")
UNEXPLAINED = "unexplained"
NEAR = 1.1  # a ratio up to this in either direction needs no cause
DIGITS = 4
HIERARCHY = {"DRAM LPDDR4": 4, "shared buffer": 4, "weights' scratchpad": 1}  # and the 16-bit words of an access
RELATIVE = {"DRAM LPDDR4": 200.0, "shared buffer": 6.0, "weights' scratchpad": 1.0}
MAC = "MAC of 16 bits"

Pair = tuple[float, float | None]  # pJ of a read and of a write; of a MAC


def architecture(sizes: Line) -> Architecture:
    """Return a machine of this component, with a DRAM and a MAC unit where it is none of these itself."""
    node = (("technology_nm", int(sizes["node_nm"])),)
    width, cls = int(sizes["width_bits"]), sizes["class"]
    levels = (Storage("DRAM", "DRAM", width_bits=64),)
    if cls in MAC_CLASSES:
        return Architecture("component", levels, Compute("component", cls, word_bits=width, attributes=node))
    depth = int(sizes["depth"] or 0) * width
    ports, banks = (int(sizes[name] or default) for name, default in (("ports", 2), ("banks", 1)))
    level = Storage(
        "component", cls, capacity_bits=depth or None, width_bits=width, ports=ports, banks=banks, attributes=node
    )
    mac = Compute("MAC", "intmac", attributes=(("technology_nm", 45),))
    return Architecture("component", (*levels, level), mac)


def energies(sizes: Line, engine: str = "default") -> Pair:
    """Tell what an engine says of a component. Raises InputError where it says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a size is below the grid: docs/energy.md says what is then told
        table = energy_table(architecture(sizes), engine=engine)
    if sizes["class"] in MAC_CLASSES:
        return table.compute.compute_pj, None
    return table.levels[-1].read_pj, table.levels[-1].write_pj


def published(line: Line) -> Pair:
    """Return the figures of a line of the file of energies."""
    return float(line["read_pj"]), float(line["write_pj"]) if line["write_pj"] else None


def component_rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each component: its figures by all sources, and the largest ratio to the built-in estimate."""
    lines = lines_of(ENERGIES)
    return [_component_row(sizes, lines) for sizes in lines_of(COMPONENTS)[-3 if quick else 0 :]]


def _component_row(sizes: Line, lines: Iterable[Line]) -> Row:
    ours = energies(sizes)
    others = {line["source"]: published(line) for line in lines if line["component"] == sizes["name"]}
    ratios = {source: ratio for source, pair in others.items() if (ratio := farthest(pair, ours)) is not None}
    most = max(ratios, key=lambda source: apart(ratios[source]), default=None)
    return {
        "component": sizes["name"],
        "sizes": described(sizes),
        "ours": ours,
        "others": {source: others[source] for source in SOURCES if source in others},
        "ratios": ratios,
        "farthest": most,
    }


def farthest(pair: Pair, ours: Pair) -> float | None:
    """Return the ratio, of reads or of writes, that is farther from 1. A figure of 0 has none."""
    ratios = [theirs / own for theirs, own in zip(pair, ours, strict=True) if theirs and own]
    return max(ratios, key=apart, default=None)


def described(sizes: Line) -> str:
    """Write class, node and sizes."""
    kind = {"DRAM": "DRAM", "regfile": "registers", "reg": "register"}.get(sizes["class"], sizes["class"])
    shape = f"{sizes['depth']} x {sizes['width_bits']} b" if sizes["depth"] else f"{sizes['width_bits']} b"
    many = (
        f", {sizes['ports']} port{'s' * (sizes['ports'] != '1')}, {sizes['banks']} bank{'s' * (sizes['banks'] != '1')}"
    )
    node = "" if sizes["class"] == "DRAM" else f", {sizes['node_nm']} nm"
    return f"{kind} {shape}{many if sizes['ports'] else ''}{node}"


def cause_rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each cause, with the figures that it sets apart from the built-in ones, the farthest first."""
    by_cause: dict[str, list[Row]] = {}
    causes = {(line["component"], line["source"]): line for line in lines_of(CAUSES)}
    sizes = {line["name"]: line for line in lines_of(COMPONENTS)}
    for row in component_rows(quick):
        for source, ratio in row["ratios"].items():
            if apart(ratio) > NEAR:
                cause = causes.get((row["component"], source))
                figure = _apart_row(row, source, explained(cause, sizes[row["component"]]) if cause else None)
                by_cause.setdefault(cause["cause"] if cause else UNEXPLAINED, []).append(figure)
    rows = [{"cause": cause, "figures": _farthest_first(figures)} for cause, figures in by_cause.items()]
    return sorted(rows, key=lambda row: -apart(row["figures"][0]["ratio"]))


def _apart_row(row: Row, source: str, as_asked: Pair | None) -> Row:
    pair = row["others"][source]
    left = farthest(pair, as_asked) if as_asked else None
    ratio = row["ratios"][source]
    return {"component": row["component"], "source": source, "ratio": ratio, "as_asked": as_asked, "left": left}


def _farthest_first(figures: list[Row]) -> list[Row]:
    return sorted(figures, key=lambda figure: -apart(figure["ratio"]))


def apart(ratio: float) -> float:
    """Return how far a ratio is from 1, upwards or downwards."""
    return max(ratio, 1 / ratio)


def explained(cause: Line, sizes: Line) -> Pair | None:
    """Return the energies of what was asked for: built-in estimates, or the sum that the line has for a read."""
    if cause["read_terms"]:
        return added(cause["read_terms"]), None
    if any(cause[name] for name in SIZES):
        return energies(sizes | {name: cause[name] for name in SIZES if cause[name]})
    return None


def added(terms: str) -> float:
    """Add products up.

    >>> added("0.5 x 4 + 1")
    3.0
    """
    return sum(prod(float(factor) for factor in term.split(" x ")) for term in terms.split(" + "))


def relative_rows(quick: bool) -> list[Row]:  # noqa: FBT001, ARG001 - as every table
    """A row for each level of Eyeriss's hierarchy: a word of 16 bits over a MAC, there and here."""
    sizes = {line["name"]: line for line in lines_of(COMPONENTS)}
    mac, _ = energies(sizes[MAC])
    return [
        {"component": name, "published": RELATIVE[name], "ours": energies(sizes[name])[0] / words / mac}
        for name, words in HIERARCHY.items()
    ]


def figure(pj: float) -> str:
    """Write an energy."""
    return f"{pj:.{DIGITS}g}" if pj < 10**DIGITS else f"{pj:.0f}"


def pair_text(pair: Pair | None) -> str:
    """Write reads and writes, once where they are equal."""
    if pair is None:
        return ""
    read, write = pair
    return figure(read) if write in (None, read) else f"{figure(read)} / {figure(write)}"


def source_text(source: str, row: Row) -> str:
    """Write what a source says of a component."""
    return pair_text(row["others"].get(source))


def ratio_text(ratio: float | None) -> str:
    """Write a ratio."""
    return "" if ratio is None else f"{ratio:.3g}"


def figures_text(figures: Iterable[Row]) -> str:
    """Write figures with their ratios, those of a component together."""
    by_component: dict[str, list[str]] = {}
    for row in figures:
        by_component.setdefault(row["component"], []).append(f"{row['source']} {ratio_text(row['ratio'])}")
    return "; ".join(f"{component}: {', '.join(ratios)}" for component, ratios in by_component.items())


def left_text(figures: Iterable[Row]) -> str:
    """Write the ratio that is left of what was asked, the farthest of several."""
    return ratio_text(max((row["left"] for row in figures if row["left"] is not None), key=apart, default=None))


COMPONENT_TABLE = Table(
    "components",
    component_rows,
    {
        "component": lambda row: row["component"],
        "of": lambda row: row["sizes"],
        "built-in": lambda row: pair_text(row["ours"]),
        **{source: partial(source_text, source) for source in SOURCES},
        "farthest ratio": lambda row: "" if row["farthest"] is None else ratio_text(row["ratios"][row["farthest"]]),
    },
)
CAUSE_TABLE = Table(
    "causes",
    cause_rows,
    {
        "figures and their ratios to the built-in ones": lambda row: figures_text(row["figures"]),
        "ratio left": lambda row: left_text(row["figures"]),
        "cause": lambda row: row["cause"],
    },
)
RELATIVE_TABLE = Table(
    "relative",
    relative_rows,
    {
        "a word of 16 bits": lambda row: row["component"],
        "Eyeriss (ISCA 2016)": lambda row: ratio_text(row["published"]),
        "built-in": lambda row: ratio_text(row["ours"]),
    },
)
TABLES = (COMPONENT_TABLE, CAUSE_TABLE, RELATIVE_TABLE)
