"""The bursts and rows of a DRAM, as text and as an object."""

from ..model.figures import DramUse, TensorUse, plain
from ..problem import Json


def dram_lines(use: DramUse | None, row_energy: str) -> list[tuple[str, str, str]]:
    """The lines of the totals: name, value, and nothing beside it; none on a machine without bursts. `row_energy`:
    what opening the rows took, as text."""
    if use is None:
        return []
    share = f"{use.words / use.burst_words:.1%} of their words of use" if use.burst_words else "none of use"
    lines = [("bursts", f"{use.bursts:,} of {use.burst_bits:,} bits, {share}{_laid(use)}", "")]
    if use.rows is not None:
        lines.append(("rows", f"{use.rows:,} opened{row_energy}", ""))
    return lines


def _laid(use: DramUse) -> str:
    """Say what lies in a burst of each tensor."""
    laid = [f"{name} {_box(own.burst)}" for name, own in use.tensors.items()]
    return f" ({', '.join(laid)})" if laid else ""


def _box(box: tuple[tuple[str, int], ...]) -> str:
    return " x ".join(f"{words} of {rank}" for rank, words in box) or "one word"


def dram_json(use: DramUse | None) -> Json:
    """The same as an object; nothing on a machine without bursts."""
    if use is None:
        return {}
    whole: Json = {
        "burst_bits": use.burst_bits,
        "bursts": use.bursts,
        "words_of_use": plain(use.words / use.burst_words) if use.burst_words else None,
        "rows": use.rows,
        "row_pj": plain(use.row_pj),
    }
    if use.tensors:
        whole["tensors"] = {name: _tensor_json(own) for name, own in use.tensors.items()}
    return {"dram": whole}


def _tensor_json(own: TensorUse) -> Json:
    return {
        "burst": dict(own.burst),
        "row": None if own.row is None else dict(own.row),
        "burst_reads": own.burst_reads,
        "burst_updates": own.burst_updates,
        "rows": own.rows,
    }
