"""Spends a budget that all layers of a network share."""

import time
from collections.abc import Sequence

from ...workloads import InputError, option_fault
from ..search import CHUNK
from ..search.options import BudgetMark, LayerShare, read_budget, spend
from ..search.outcome import Ended
from .layers import SHARES, Layers, Run
from .spread import search_layers


def spend_budget(layers: Layers, counts: Sequence[int]) -> None:
    """Search with the budget of the options, which the layers share; `counts` are their occurrences.

    Raises InputError where it has less than one mapping per layer.
    """
    options = layers.study.options
    samples, seconds = read_budget(str(options.budget))
    if samples is not None and samples < len(counts):
        rule = f"must be at least a mapping for each of the {len(counts)} layers, got {samples}"
        raise InputError(option_fault("budget", rule))
    if seconds is not None:
        layers.ends = time.monotonic() + seconds - sum(run.seconds for run in layers.runs)
    elif samples is not None:
        shares = [_share(run, count) for run, count in zip(layers.runs, counts, strict=True)]
        spend(shares, samples, CHUNK, options.objectives[0], lambda subset: _bring(layers, subset))
    if not layers.interrupted:
        search_layers(
            layers, [run for run in layers.runs if run.result is None]
        )  # layers that an earlier run had finished
    for run in layers.runs:
        if run.result and SHARES.intersection(run.result.statistics.ended):
            run.result.statistics.stop(Ended.BUDGET)


def _share(run: Run, count: int) -> LayerShare:
    return LayerShare(run.number, count, ended=None if run.open else run.evaluated, marks=run.marks)


def _bring(layers: Layers, shares: Sequence[LayerShare]) -> bool:
    """Search the layers up to their targets and add marks; False where Ctrl-C ended that."""
    runs = [layers.runs[share.number] for share in shares]
    for run, share in zip(runs, shares, strict=True):
        run.target = share.target
    search_layers(layers, [run for run in runs if not run.marked])
    if layers.interrupted:
        return False  # a resumed run adds the marks
    for run, share in zip(runs, shares, strict=True):
        if run.result and run.evaluated > (run.marks[-1].seen if run.marks else 0):
            best = run.result
            run.marks.append(
                BudgetMark(run.evaluated, best.energy_pj, best.cycles) if best.found else BudgetMark(run.evaluated)
            )
            layers.keep(run)
        share.ended = None if run.open else run.evaluated
    return True
