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
    for each in compared.figures:
        apart = "" if each.equal else _count(each.timeloop - each.ours, "+")
        why = " ".join(letters[name] for name in each.rules)
        rows.append([each.level, each.tensor, each.name, f"{each.ours:,}", _count(each.timeloop), apart, why])
    differ = sum(not each.equal for each in compared.figures)
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
    for each in energies:
        parts = [getattr(each, name) / size for name in PARTS]
        rows.append(
            [each.component, f"{each.ours / size:,.5g}", f"{each.timeloop / size:,.5g}"]
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
                "level": each.level,
                "tensor": each.tensor,
                "figure": each.name,
                "ours": each.ours,
                "timeloop": each.timeloop,
                "rules": list(each.rules),
            }
            for each in compared.figures
        ],
        "rules": {name: KNOWN[name] for name in KNOWN if any(name in each.rules for each in compared.figures)},
        "not_explained": compared.too_large,
        "energies": [
            {"component": each.component, "ours_pj": each.ours, "timeloop_pj": each.timeloop}
            | {f"{name}_pj": getattr(each, name) for name in PARTS}
            for each in compared.energies
        ],
    }
