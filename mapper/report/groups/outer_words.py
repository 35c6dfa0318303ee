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


def why_not_fused(rows: Sequence[Row], least: float, more: float | None) -> list[str]:
    """Say what no group is below, `more` than alone as a share, and what crosses more often; `more` None: unproven."""
    if more is None:
        return ["             a group that was not looked at may be better"]
    times = sorted(((own / alone, name) for name, own, alone in rows if alone and own > alone), reverse=True)
    crosses = [f"{name} crosses {often:.2g} x as often" for often, name in times]
    return [f"not fused    {'; '.join([f'no group is below {least:.5g}, {more:.1%} more than alone', *crosses])}"]
