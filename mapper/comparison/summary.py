"""What is said of two folders beside tables and pictures: in what they differ, the mean of the ratios, the verdict."""

from collections.abc import Callable, Iterator, Mapping

from .cases import Matched, Results
from .limits import Interval, Verdict
from .overall import overall


def title_of(matched: Matched) -> str:
    """What is compared with what."""
    return " against ".join(
        f"{letter}: {one.title}" for letter, one in zip(matched.letters, matched.folders, strict=True)
    )


def summary(matched: Matched) -> list[str]:
    """Sentences: the ratio of two sides or the geometric mean of their ratios, its limits, and the verdict."""
    if len(matched.letters) == 1:
        return []
    whole = overall(matched)
    if whole is None:
        return ["no case has a mapping of the same layers on both sides"]
    if len(whole.ratios) == 1:
        return [f"{whole.name} of B over that of A: {whole.mean:.4g}", _concluded(whole.limits)]
    least, most = (pick(whole.ratios, key=lambda one: one.value) for pick in (min, max))
    cases = ", ".join(f"{verdict} in {count:,}" for verdict, count in whole.verdicts.items() if count)
    return [
        f"{whole.name} of B over that of A, geometric mean of {len(whole.ratios):,} cases: {whole.mean:.4g}; "
        f"least {least.value:.4g} ({least.case}), most {most.value:.4g} ({most.case})",
        f"{_concluded(whole.limits)}; by case: {cases}",
    ]


CONCLUSIONS = {
    Verdict.BETTER: "B is better",
    Verdict.WORSE: "B is worse",
    Verdict.EQUAL: "both are equal",
    Verdict.UNDECIDED: "undecided",
}


def _concluded(limits: Interval) -> str:
    """What is proven of a ratio of best mappings."""
    return f"of the best mappings, by what is proven: {limits.text}; {CONCLUSIONS[limits.verdict]}"


def properties(matched: Matched) -> Iterator[tuple[str, list[str], bool]]:
    """Yield what each folder holds, a row per property, and whether the sides differ in it."""
    for name, get in PROPERTIES.items():
        values = [get(one) for one in matched.folders]
        if any(values):
            yield name, [value or "none" for value in values], len(set(values)) > 1


def _all(folder: Results, name: str) -> str:
    """The values of a property of all results of a folder."""
    values = (getattr(result, name) for result in folder.results)
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))


def _transformations(folder: Results) -> str:
    """What changed layers before the search, in each result that has another; "" where nothing did."""
    every = dict.fromkeys("+".join(result.transformations) or "none" for result in folder.results)
    return "" if list(every) == ["none"] else ", ".join(every)


def _areas(folder: Results) -> str:
    areas = sorted({result.area_um2 / 1e6 for result in folder.results if result.area_um2})
    return "" if not areas else f"{areas[0]:.4g}" if len(areas) == 1 else f"{areas[0]:.4g} to {areas[-1]:.4g}"


def _searches(folder: Results) -> str:
    names = (layer.search.strategy for result in folder.results for layer in result.own_layers() if layer.search)
    return ", ".join(dict.fromkeys(name for name in names if name))


def _levels(folder: Results) -> str:
    """The names of the levels, of each machine that has others."""
    layers = (layer for result in folder.results for layer in result.own_layers() if layer.levels)
    return "; ".join(dict.fromkeys(", ".join(layer.levels or {}) for layer in layers))


PROPERTIES: Mapping[str, Callable[[Results], str]] = {
    "results of": lambda folder: folder.name,
    "machine": lambda folder: _all(folder, "arch"),
    "levels": _levels,
    "area [mm2]": _areas,
    "transformations": _transformations,
    "mapspace": lambda folder: _all(folder, "mapspace"),
    "objective": lambda folder: _all(folder, "objective"),
    "search": _searches,
    "seed": lambda folder: _all(folder, "seed"),
    "cases": lambda folder: f"{len(folder.cases):,}",
}


def left_out(matched: Matched) -> list[str]:
    """What one side alone has: cases, and layers of the cases of both."""
    layers = (f"{pair.label}, {one}" if pair.label else one for pair in matched.pairs for one in pair.left_out)
    return [*matched.left_out, *layers]
