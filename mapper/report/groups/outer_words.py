"""What a group and its layers one by one read and write at the outermost level, and why a group is not worth it."""

from collections.abc import Sequence

Row = tuple[str, int, int | None]  # stage.tensor, words fused, words alone


def words_table(rows: Sequence[Row], level: str) -> list[str]:
    """Write the words of the outermost `level` as a table."""
    used = [(name, own, alone) for name, own, alone in rows if own or alone]
    title = f"{level} words"
    width = max([len(title), *(len(name) for name, _, _ in used)])
    lines = [f"{title:<{width}} {'fused':>14} {'alone':>14}"]
    for name, own, alone in used:
        lines.append(f"{name:<{width}} {own:>14,} {'-' if alone is None else f'{alone:,}':>14}")
    return [*lines, ""]


def why_not_fused(rows: Sequence[Row], none: str | None) -> list[str]:
    """Say that `none` of the groups is better, and what crosses more often; `none` None: that is not proven."""
    if none is None:
        return ["             a group that was not looked at may be better"]
    times = sorted(((own / alone, name) for name, own, alone in rows if alone and own > alone), reverse=True)
    crosses = [f"{name} crosses {often:.2g} x as often" for often, name in times]
    return [f"not fused    {'; '.join([none, *crosses])}"]
