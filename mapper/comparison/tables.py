"""The tables of a comparison: totals by case, layers, energy by part, words by level and tensor."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from ..problem import at_most
from ..report.table_files import Column, Table, Value, energy_column
from .cases import CasePair, LayerPair, Matched
from .overall import NAMES, headline, ratio_of
from .sided import RATIO, sided, told_apart, values_of
from .stored import Stored, TensorFigures


@dataclass(frozen=True)
class _Figure:
    """A figure of a layer or a network."""

    column: Column
    value: Callable[[Stored], float | None]


WORDS = ("reads", "fills", "updates")


def case_table(matched: Matched) -> Table:
    """A row per case: EDP, energy, cycles and utilisation of each side, the ratios; of one folder what is proven."""
    results = [result for pair in matched.pairs if pair.found for result in pair.results]
    figures, alone = _figures(results), len(matched.letters) == 1
    columns = [Column("case"), *_of_sides(figures, matched)]
    rows = list[list[Value]]()
    for pair in matched.pairs:
        row = [pair.label or pair.sides[0].workload, *_values(figures, [case.result for case in pair.sides])]
        if pair.left_out:  # totals of other layers are no ratio of anything
            row = [None if one.name.endswith(RATIO) else value for one, value in zip(columns, row, strict=True)]
        rows.append(row + (_proofs(pair) if alone else []))
    return told_apart("cases", "totals", [*columns, *([Column("proof")] if alone else [])], rows)


def verdict_table(matched: Matched) -> Table:
    """Of two folders, a row per case and layer: the ratio of the first figure, its limits for the best mappings."""
    column, rows = headline(matched), list[list[Value]]()
    for pair in matched.pairs if len(matched.letters) > 1 else ():
        label = pair.label or pair.sides[0].workload
        rows.append([label, "", *_conclusion(pair.results if pair.comparable else [], column), *_proofs(pair)])
        for layer in pair.layers if len(pair.layers) > 1 else ():
            proofs = [_proof(side) for side in layer.sides]
            rows.append([pair.label, layer.name, *_conclusion(layer.sides, column), *proofs])
    columns = [Column("case"), Column("layer"), Column(f"{NAMES[column]}{RATIO}", "", ".4g")]
    columns += [Column("at least", "", ".4g"), Column("at most", "", ".4g"), Column("verdict")]
    columns += [Column(f"proof {letter}") for letter in matched.letters]
    if not any(row[1] for row in rows):
        columns, rows = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in rows]
    return told_apart("verdicts", "what is proven of the best mappings", columns, rows)


OPEN = "open"  # a side on which nothing limits a ratio


def _conclusion(sides: Sequence[Stored], column: str) -> list[Value]:
    """The ratio of a figure of two sides, its limits and the verdict; empty where a side has no such figure."""
    ratio = ratio_of("", sides, column) if sides else None
    if ratio is None:
        return [None] * 4
    low, high = ratio.limits.low or OPEN, OPEN if ratio.limits.high == inf else ratio.limits.high
    return [ratio.value, low, high, str(ratio.limits.verdict)]


def layer_table(matched: Matched) -> Table:
    """A row per layer of each case, figures of one occurrence."""
    layers = list(_layers(matched))
    figures = _figures([side for _, layer in layers for side in layer.sides])
    columns = [Column("case"), Column("layer"), *_of_sides(figures, matched)]
    rows = [(pair.label, layer.name, *_values(figures, layer.sides)) for pair, layer in layers]
    return told_apart("layers", "layers, one occurrence of each", columns, rows)


def part_table(matched: Matched) -> Table:
    """A row per case and level, MAC units, network or leakage: the energy of the layers that each side maps."""
    rows = list[tuple[Value, ...]]()
    for pair in matched.pairs:
        sides = pair.parts
        for part in dict.fromkeys(part for side in sides for part in side):
            rows.append((pair.label, part, *values_of(Column("energy"), [side.get(part) for side in sides])))
    largest = max((value for row in rows for value in row[2:4] if isinstance(value, float)), default=1.0)
    columns = [Column("case"), Column("part"), *sided([energy_column("energy", largest)], matched.letters)]
    which = "layers with a mapping" + (" on each side" if len(matched.letters) > 1 else "")
    which = "all layers" if all(pair.comparable for pair in matched.pairs) else which
    return told_apart("parts", f"where the energy goes, {which}", columns, rows)


def count_table(matched: Matched) -> Table:
    """A row per layer, level and tensor: reads, fills, updates and energy of one occurrence."""
    layers = list(_layers(matched))
    columns = _word_columns([layer for _, layer in layers])
    rows = [(pair.label, layer.name, *row) for pair, layer in layers for row in _word_rows(layer, columns, every=True)]
    key_columns = [Column(name) for name in ("case", "layer", "level", "tensor")]
    title = "words by level and tensor, one occurrence of each layer"
    return told_apart("counts", title, [*key_columns, *sided(list(columns.values()), matched.letters)], rows)


def layer_counts(layer: LayerPair, letters: str) -> Table:
    """The same of one layer; of two sides the rows whose words differ."""
    columns = _word_columns([layer])
    rows = tuple(tuple(row) for row in _word_rows(layer, columns, every=len(letters) == 1))
    shown_columns = (Column("level"), Column("tensor"), *sided(list(columns.values()), letters))
    return Table("counts", "words that differ" if len(letters) > 1 else "words", shown_columns, rows)


def _word_columns(layers: Sequence[LayerPair]) -> dict[str, Column]:
    """The columns by the figure they show; one of energy where energies are known."""
    columns = {name: Column(name, "words", ",.0f") for name in WORDS}
    known = [_of_place(layer, place, "energy_pj") for layer in layers for place in _places(layer)]
    if energies := [energy for sides in known for energy in sides if energy is not None]:
        columns["energy_pj"] = energy_column("energy", max(energies))
    return columns


def _word_rows(layer: LayerPair, columns: Mapping[str, Column], every: bool) -> Iterator[list[Value]]:
    """Yield a row per level and tensor that a side keeps: `every` one, or those with other words on the other side."""
    for place in _places(layer):
        values = {name: _of_place(layer, place, name) for name in columns}
        if every or any(len(set(values[name])) > 1 for name in WORDS):
            figures = (values_of(column, values[name]) for name, column in columns.items())
            yield [*place, *(one for cells in figures for one in cells)]


def _figures(results: Sequence[Stored]) -> list[_Figure]:
    """EDP, energy, cycles and utilisation; without energies the latter two."""
    energies = [result.energy_pj for result in results if result.energy_pj is not None]
    of_energy = [
        _Figure(Column("EDP", "pJ cycles", ".5g"), lambda result: result.edp),
        _Figure(energy_column("energy", max(energies, default=1.0)), lambda result: result.energy_pj),
    ]
    return [
        *(of_energy if energies else []),
        _Figure(Column("cycles", "", ",.0f"), lambda result: result.cycles),
        _Figure(Column("utilisation", "", ".1%", compared=False), lambda result: result.utilization),
    ]


def _of_sides(figures: Sequence[_Figure], matched: Matched) -> list[Column]:
    return sided([figure.column for figure in figures], matched.letters)


def _values(figures: Sequence[_Figure], sides: Sequence[Stored | None]) -> Iterator[Value]:
    """Yield the values of each figure, as `_of_sides` has their columns."""
    for figure in figures:
        yield from values_of(figure.column, [None if side is None else figure.value(side) for side in sides])


def _proofs(pair: CasePair) -> list[Value]:
    return [_proof(case.result, case.message) for case in pair.sides]


def _proof(result: Stored | None, message: str = "") -> str:
    if result is None or not result.found:
        return " ".join(message.split()) or "no mapping"
    if result.gap is None:
        return "not proven"
    return "optimal" if result.optimal else f"within {at_most(result.gap)}"


def _layers(matched: Matched) -> Iterator[tuple[CasePair, LayerPair]]:
    return ((pair, layer) for pair in matched.pairs for layer in pair.layers)


def _places(layer: LayerPair) -> dict[tuple[str, str], None]:
    """The levels and tensors that a side keeps, in the order of the first."""
    levels = dict.fromkeys(level for side in layer.sides for level in side.levels or {})
    kept = [(level, tensor) for level in levels for side in layer.sides for tensor in _tensors(side, level)]
    return dict.fromkeys(kept)


def _tensors(side: Stored, level: str) -> Mapping[str, TensorFigures]:
    held = (side.levels or {}).get(level)
    return {} if held is None else held.tensors


def _of_place(layer: LayerPair, place: tuple[str, str], name: str) -> list[float | None]:
    return [None if figures is None else getattr(figures, name) for figures in _held(layer, place)]


def _held(layer: LayerPair, place: tuple[str, str]) -> list[TensorFigures | None]:
    """What a level does for a tensor on each side, None where it does not keep it."""
    level, tensor = place
    return [_tensors(side, level).get(tensor) for side in layer.sides]
