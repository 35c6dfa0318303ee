"""What does not go with a cost model, whose values no bound of ours is about."""

import shlex
import shutil
from collections.abc import Mapping
from math import isfinite

from ....workloads import Fault, option_fault
from ..options import SearchOptions
from ..strategy import Strategy
from .calling import OPTION, function_name

ANSWERED = frozenset({"samples", "valid", "time_limit", "victory", "target"})  # may change where a search goes on


def cost_model_faults(options: SearchOptions, strategies: Mapping[str, Strategy]) -> list[Fault]:
    """List what is wrong with the command, and the options that do not go with it."""
    faults = []
    timeout = options.cost_timeout
    if not (timeout > 0 and isfinite(timeout)):
        faults.append(option_fault("cost-timeout", f"must be more than 0 seconds, got {timeout:g}"))
    if options.cost_model is None:
        return faults
    strategy = strategies.get(options.strategy)
    if strategy and strategy.asks is None:
        names = ", ".join(name for name, row in strategies.items() if row.asks)
        rule = f"works by our model alone, which says nothing of a cost model's values: use one of {names}"
        faults.append(option_fault("search", f"{options.strategy} {rule}"))
    ours = "is about our model, and the cost model's values are minimised: leave this out"
    proof = "needs bounds of our model, which say nothing of a cost model's values: leave this out"
    unfit = (
        ("objective", options.objective != SearchOptions.objective, ours),
        ("front", bool(options.front), ours),
        ("engine", options.engine != SearchOptions.engine, "does not go with a cost model: leave this out"),
        ("effort", bool(options.effort), "(or quick) counts work of our model, and a cost model is asked: use samples"),
        ("bound", options.bound is not None, proof),
        ("certificate", options.certify, proof),
        ("cluster", options.cluster is not None, "does not go with a cost model, whose processes begin here: use jobs"),
        ("budget", bool(options.budget), "is for networks, and a cost model is asked about one layer: use samples"),
    )
    faults += [option_fault(name, rule) for name, given, rule in unfit if given]
    return faults + (_function_faults(options) if callable(options.cost_model) else _command_faults(options))


def command_of(options: SearchOptions) -> list[str]:
    """Return the words of the command. Raises ValueError where quotes do not close."""
    return shlex.split(str(options.cost_model))


def model_name(options: SearchOptions) -> str:
    """What the user calls the cost model: the command, or the name of the function."""
    return function_name(options.cost_model) if callable(options.cost_model) else str(options.cost_model)


def _function_faults(options: SearchOptions) -> list[Fault]:
    """A function is called in this process, one mapping after the other, and for as long as it takes."""
    faults = []
    if options.jobs != 1:
        rule = f"must be 1 with a function as the cost model, which is called in this process; got {options.jobs}"
        faults.append(option_fault("jobs", rule))
    if options.cost_timeout != SearchOptions.cost_timeout:
        faults.append(option_fault("cost-timeout", "is for commands; a function cannot be ended: leave this out"))
    return faults


def _command_faults(options: SearchOptions) -> list[Fault]:
    command = str(options.cost_model)
    try:
        words = shlex.split(command)
    except ValueError as error:
        return [option_fault(OPTION, f"must be a command, as a shell reads its words: {error}; got {command!r}")]
    if not words:
        return [option_fault(OPTION, "must be a command, got none")]
    if shutil.which(words[0]) is None:
        return [option_fault(OPTION, f"cannot be started: {words[0]} is no program here")]
    return []
