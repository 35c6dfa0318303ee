"""The comparison with Timeloop's statistics, for a reader and as JSON."""

from ..result_json import Json
from ..tables import energy_unit, table_text
from .comparison import Beside, Energy
from .explanation import KNOWN

PARTS = ("counts", "vectors", "leakage", "other")
FIGURES = "Timeloop had other figures per access; give them with --ert"
SPARSE = "Timeloop's run was of a sparse design: accesses and computes that it skips or gates cost less"
LARGE = 0.01  # of the total: a rest that the reader is told of


def beside_text(compared: Beside) -> str:
    """Tabulate all counts, with a letter for each rule that makes a difference, and the energies."""
    used = [name for name in KNOWN if any(name in figure.rules for figure in compared.figures)]
    letters = {name: chr(ord("a") + number) for number, name in enumerate(used)}
    rows = []
    for figure in compared.figures:
        apart = "" if figure.equal else _count(figure.timeloop - figure.ours, "+")
        why = " ".join(letters[name] for name in figure.rules)
        rows.append([figure.level, figure.tensor, figure.name, f"{figure.ours:,}", _count(figure.timeloop), apart, why])
    differ = sum(not figure.equal for figure in compared.figures)
    head = ["level", "tensor", "figure", "ours", "Timeloop", "difference", "rule"]
    verdict = f"{differ} of {len(rows)} figures differ" if differ else f"all {len(rows)} figures are equal"
    lines = [f"beside {compared.source}", table_text(head, rows, left=(0, 1, 2, 6)), verdict]
    lines += [f"  {letters[name]}  {KNOWN[name]}" for name in used]
    lines += [f"not explained: {compared.too_large}"] if compared.too_large else []
    return "\n".join([*lines, "", *_energies(compared.energies, compared.sparse)])


def _count(value: float, sign: str = "") -> str:
    """A whole number with all its digits, another one with ten."""
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign},.10g}"


def _energies(energies: tuple[Energy, ...], sparse: bool) -> list[str]:
    total = energies[-1]
    unit, size = energy_unit(max(total.ours, total.timeloop))
    rows = []
    for energy in energies:
        parts = [getattr(energy, name) / size for name in PARTS]
        rows.append(
            [energy.component, f"{energy.ours / size:,.5g}", f"{energy.timeloop / size:,.5g}"]
            + [f"{part:+,.4g}" if abs(part) * size > 1e-6 * total.timeloop else "" for part in parts]
        )
    head = [f"energy [{unit}]", "ours", "Timeloop", "its counts", "whole vectors", "leakage", "other"]
    lines = [table_text(head, rows, left=(0,))]
    if abs(total.other) > LARGE * max(total.ours, total.timeloop):
        lines.append(f"other: {SPARSE if sparse else FIGURES}")
    return lines


def beside_json(compared: Beside) -> Json:
    """The same as values: words over all instances, energies in pJ."""
    return {
        "source": compared.source,
        "figures": [
            {
                "level": figure.level,
                "tensor": figure.tensor,
                "figure": figure.name,
                "ours": figure.ours,
                "timeloop": figure.timeloop,
                "rules": list(figure.rules),
            }
            for figure in compared.figures
        ],
        "rules": {name: KNOWN[name] for name in KNOWN if any(name in figure.rules for figure in compared.figures)},
        "not_explained": compared.too_large,
        "energies": [
            {"component": energy.component, "ours_pj": energy.ours, "timeloop_pj": energy.timeloop}
            | {f"{name}_pj": getattr(energy, name) for name in PARTS}
            for energy in compared.energies
        ],
    }
