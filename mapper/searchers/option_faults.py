"""Checks the options of a search and lists their faults, in the user's words."""

from collections.abc import Collection, Sequence
from dataclasses import fields, replace

from ...workloads import Fault, InputError, collect, option_fault, unknown_choice
from ..problem import EFFORTS, OBJECTIVES, read_effort
from ..runtime import cluster_faults
from ..search import Stop
from ..search.cost_model import cost_model_faults
from ..search.engines import ENGINES
from ..search.options import NUMBERS, WHOLE, SearchOptions, read_budget
from .table import STRATEGIES

BY_BUDGET = "leave this out: the budget says when to stop"
# may be left out
NONE = ("victory", "samples", "valid", "patience", "cluster", "cost_model", "time_limit", "target", "bound")
_OPTION = {"strategy": "search", "bound": "bound-seconds"}  # where the command has another name


def option_faults(options: SearchOptions) -> list[Fault]:
    """List every fault of the options: wrong types, which Python allows, then wrong values."""
    rules = {field.name: rule for field in fields(options) if (rule := _type_rule(field.name, options)) is not None}
    given = {name: getattr(options, name) for name in rules}
    faults = [
        option_fault(
            _OPTION.get(name, name.replace("_", "-")), f"{rule}; got {type(given[name]).__name__} {given[name]!r}"
        )
        for name, rule in rules.items()
    ]
    defaults = {field.name: field.default for field in fields(options) if field.name in rules}
    return faults + _value_faults(replace(options, **defaults) if rules else options)  # type: ignore[arg-type]


def ignored_options(options: SearchOptions, given: Collection[str]) -> list[Fault]:
    """List the options `given` by a user that a search with these options would ignore. Defaults are never faults."""
    if options.budget:
        return [option_fault("victory", BY_BUDGET)] if "victory" in given else []
    strategy = STRATEGIES.get(options.strategy)
    if strategy is None or (options.cost_model and strategy.stop(options).victory is not None):
        return []
    return strategy.ignored(given)


def stop_rules(options: SearchOptions) -> Stop:
    """Return the stop rules of a search with these options."""
    return STRATEGIES[options.strategy].stop(options)


def _value_faults(options: SearchOptions) -> list[Fault]:
    faults = [] if options.strategy in STRATEGIES else [unknown_choice("search", options.strategy, STRATEGIES)]
    faults += _objective_faults(options) + _number_faults(options) + cluster_faults(options.cluster)
    faults += _engine_faults(options) + _budget_faults(options) + _rule_faults(options)
    faults += cost_model_faults(options, STRATEGIES)
    if options.strategy in STRATEGIES:
        faults += [option_fault("search", message) for message in STRATEGIES[options.strategy].missing()]
        faults += STRATEGIES[options.strategy].faults(options)
        collect(faults, lambda: STRATEGIES[options.strategy].configured(str(options.settings)))
    return faults


def _objective_faults(options: SearchOptions) -> list[Fault]:
    faults = [] if options.objectives else [unknown_choice("objective", "", OBJECTIVES)]
    for option, names in (("objective", options.objectives), ("front", options.axes)):
        faults += [unknown_choice(option, name, OBJECTIVES) for name in names if name not in OBJECTIVES]
        faults += [option_fault(option, "names one of its objectives twice")] if len(set(names)) < len(names) else []
    return faults


def _number_faults(options: SearchOptions) -> list[Fault]:
    least = (
        ("victory", options.victory, 1),
        ("samples", options.samples, 1),
        ("jobs", options.jobs, 1),
        ("seed", options.seed, 0),
        ("give-up", options.give_up, 1),
        ("valid", options.valid, 1),
    )
    faults = [
        option_fault(name, f"must be at least {low}, got {n}") for name, n, low in least if n is not None and n < low
    ]
    if options.time_limit is not None and not options.time_limit > 0:
        faults.append(option_fault("time-limit", f"must be more than 0 seconds, got {options.time_limit:g}"))
    return faults


def _engine_faults(options: SearchOptions) -> list[Fault]:
    if options.engine not in ENGINES:
        return [unknown_choice("engine", options.engine, ENGINES)]
    engine, strategy = ENGINES[options.engine], STRATEGIES.get(options.strategy)
    faults = [option_fault("engine", message) for message in engine.missing()]
    if not engine.exact and not (strategy and strategy.compiles):
        names = " or ".join(name for name, row in STRATEGIES.items() if row.compiles)
        rule = f"{options.engine} goes with --search {names}, got {options.strategy}"
        faults.append(option_fault("engine", f"{rule}; or use {_exact_engine()}"))
    return faults


def _exact_engine() -> str:
    return next(name for name, engine in ENGINES.items() if engine.exact)


def _rule_faults(options: SearchOptions) -> list[Fault]:
    faults = list[Fault]()
    collect(faults, lambda: read_effort(str(options.effort)))
    if options.target is not None and not options.target > 0:
        faults.append(option_fault("target", f"must be more than 0, got {options.target:g}"))
    if options.bound is not None and not options.bound >= 0:
        faults.append(option_fault("bound-seconds", f"must be 0 or more, got {options.bound:g}"))
    if options.patience and not (0 < options.patience[0] < 1 and options.patience[1] >= 1):
        given = f"got {options.patience[0]:g}:{options.patience[1]}"
        faults.append(option_fault("patience", f"must be FRACTION:N with 0 < FRACTION < 1 and N at least 1, {given}"))
    if len(options.axes) == 1:
        faults.append(option_fault("front", f'must name two objectives or more, got "{options.front}"'))
    return faults


def _budget_faults(options: SearchOptions) -> list[Fault]:
    if not options.budget:
        return []
    try:
        samples = read_budget(str(options.budget)).samples
    except InputError as error:
        return list(error.faults)
    given = {"samples": options.samples, "time-limit": options.time_limit}
    faults = [option_fault(name, BY_BUDGET) for name, value in given.items() if value]
    strategy = STRATEGIES.get(options.strategy)
    if samples and strategy and strategy.proves:
        rule = f"must be seconds for an {options.strategy} search, as 60s"
        faults.append(option_fault("budget", f'{rule}; got "{options.budget}"'))
    return faults


def _type_rule(name: str, options: SearchOptions) -> str | None:
    """Say what the value of a field must be; None where its type is right."""
    value = getattr(options, name)
    if (value is None and name in NONE) or (name == "cost_model" and callable(value)):
        return None
    kinds: tuple[tuple[Sequence[str], type, str], ...] = (
        (("objective", "front"), str, "must be names, as text or a list"),
        (("strategy", "cluster", "engine"), str, "must be a name"),
        (WHOLE, int, "must be a whole number"),
        (NUMBERS, float, "must be a number"),
        (("cost_model",), str, "must be a command, as text or a list of its words, or a function"),
        (("settings",), str, "must be NAME=VALUE, as text or a mapping"),
        (("effort",), str, f"must be {', '.join(EFFORTS)} or an Effort"),
        (("budget",), str, "must be a number of mappings, as 1000000, or seconds, as 60s"),
    )
    for names, kind, rule in kinds:
        if name in names:
            return None if isinstance(value, kind) and not isinstance(value, bool) else rule
    if name in ("prune", "certify"):
        return None if isinstance(value, bool) else "must be True or False"
    numbers = isinstance(value, list | tuple) and [isinstance(number, int | float) for number in value]
    return None if numbers == [True, True] else "must be a pair, FRACTION and N, as (0.01, 5000)"
