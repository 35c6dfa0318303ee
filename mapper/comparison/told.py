"""What is told of two folders beside tables and pictures: in what they differ, and the mean of the ratios."""

from collections.abc import Callable, Iterator, Mapping
from math import exp, log

from .cases import Matched, Results


def title_of(found: Matched) -> str:
    """What is compared with what."""
    return " against ".join(f"{letter}: {one.path}" for letter, one in zip(found.letters, found.folders, strict=True))


def summary(found: Matched) -> str:
    """The geometric mean of the ratios of two sides, with the least and the most; "" for one folder."""
    if len(found.letters) == 1:
        return ""
    ratios = list(_ratios(found))
    if not ratios:
        return "no case has a mapping of the same layers on both sides"
    name = ratios[0][0]
    values = [value for what, value, _ in ratios if what == name]
    mean = exp(sum(map(log, values)) / len(values))
    if len(values) == 1:
        return f"{name} of B over that of A: {mean:.4g}"
    least, most = (pick(ratios, key=lambda one: one[1]) for pick in (min, max))
    return (
        f"{name} of B over that of A, geometric mean of {len(values):,} cases: {mean:.4g}; "
        f"least {least[1]:.4g} ({least[2]}), most {most[1]:.4g} ({most[2]})"
    )


def _ratios(found: Matched) -> Iterator[tuple[str, float, str]]:
    """Yield the ratio of EDP of each case, or of cycles where energies are not known."""
    pairs = [pair for pair in found.pairs if pair.alike]
    known = all(result.edp for pair in pairs for result in pair.results)
    for pair in pairs:
        x, y = (result.edp if known else result.cycles for result in pair.results)
        if x and y:
            yield "EDP" if known else "cycles", y / x, pair.label


def properties(found: Matched) -> Iterator[tuple[str, list[str], bool]]:
    """Yield what each folder holds, a row per property, and whether the sides differ in it."""
    for name, get in PROPERTIES.items():
        values = [get(one) for one in found.folders]
        if any(values):
            yield name, values, len(set(values)) > 1


def _all(folder: Results, name: str) -> str:
    """The values of a property of all results of a folder."""
    values = (getattr(result, name) for result in folder.results)
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))


def _areas(folder: Results) -> str:
    areas = sorted({result.area_um2 / 1e6 for result in folder.results if result.area_um2})
    return "" if not areas else f"{areas[0]:.4g}" if len(areas) == 1 else f"{areas[0]:.4g} to {areas[-1]:.4g}"


def _searches(folder: Results) -> str:
    names = (layer.search.strategy for result in folder.results for layer in result.each() if layer.search)
    return ", ".join(dict.fromkeys(name for name in names if name))


def _levels(folder: Results) -> str:
    """The names of the levels, of each machine that has others."""
    layers = (layer for result in folder.results for layer in result.each() if layer.levels)
    return "; ".join(dict.fromkeys(", ".join(layer.levels or {}) for layer in layers))


PROPERTIES: Mapping[str, Callable[[Results], str]] = {
    "results of": lambda folder: folder.name,
    "machine": lambda folder: _all(folder, "arch"),
    "levels": _levels,
    "area [mm2]": _areas,
    "mapspace": lambda folder: _all(folder, "mapspace"),
    "objective": lambda folder: _all(folder, "objective"),
    "search": _searches,
    "seed": lambda folder: _all(folder, "seed"),
    "cases": lambda folder: f"{len(folder.cases):,}",
}


def left_out(found: Matched) -> list[str]:
    """What one side alone has: cases, and layers of the cases of both."""
    layers = (f"{pair.label}, {one}" if pair.label else one for pair in found.pairs for one in pair.left_out)
    return [*found.left_out, *layers]
