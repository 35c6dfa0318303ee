"""The counts of the model beside those of the executor."""

from ...arch import unstacked
from ..mapping import MappingBatch
from ..model import Counts
from .tables import table_text

WORDS = ("tile_words", "reads", "fills", "updates")
BLOCKS = ("burst_reads", "burst_updates", "activations")  # of a DRAM


def differences(batch: MappingBatch, model: Counts, truth: Counts, wires: bool) -> list[tuple[str, str, str, int, int]]:
    """List every figure of a mapping, cycles first: (level, tensor, figure, model, executor).

    Both counts are by memory. With `wires` also the words that cross the arrays below.
    """
    rows = [("", "", "cycles", int(model.cycles[0]), int(truth.cycles[0]))]
    crossed = [counts.crossings().words[0] for counts in (model, truth)] if wires else []
    for i, level in enumerate(unstacked(batch.arch).levels):
        for v, tensor in enumerate(batch.workload.tensors):
            if batch.kept[0, i, v]:
                for name in WORDS:
                    modelled, true = (int(getattr(counts, name)[0, i, v]) for counts in (model, truth))
                    rows.append((level.name, tensor.name, name, modelled, true))
                for name in BLOCKS if level.dram is not None else ():
                    modelled, true = (int(getattr(counts, name)[0, v]) for counts in (model, truth))
                    rows.append((level.name, tensor.name, name, modelled, true))
            if wires and level.instances_below > 1:
                modelled, true = (int(words[i, v]) for words in crossed)
                rows.append((level.name, tensor.name, "crossings", modelled, true))
    return rows


def comparison(batch: MappingBatch, model: Counts, truth: Counts, *, wires: bool = False) -> str:
    """Tabulate both side by side; a figure that differs is marked."""
    rows = differences(batch, model, truth, wires)
    lines = [
        [level, tensor, name, f"{modelled:,}", f"{true:,}", "" if modelled == true else f"{modelled - true:+,}"]
        for level, tensor, name, modelled, true in rows
    ]
    wrong = sum(modelled != true for *_, modelled, true in rows)
    verdict = f"{wrong} of {len(rows)} figures differ" if wrong else f"all {len(rows)} figures are equal"
    head = ["level", "tensor", "figure", "model", "executor", "difference"]
    return f"{table_text(head, lines, left=(0, 1, 2))}\n{verdict}"


def comparison_json(batch: MappingBatch, model: Counts, truth: Counts, *, wires: bool = False) -> dict[str, object]:
    """Write the executor's cycles and words by level and tensor, and whether all are equal."""
    rows = differences(batch, model, truth, wires)
    levels: dict[str, dict[str, dict[str, int]]] = {}
    for level, tensor, name, _, true in rows[1:]:
        levels.setdefault(level, {}).setdefault(tensor, {})[name] = true
    return {"cycles": rows[0][-1], "levels": levels, "equal": all(modelled == true for *_, modelled, true in rows)}
