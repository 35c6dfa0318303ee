"""SWEEP.yaml: what it may say, and from it a checked `Plan`, with every fault at once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...arch import arch_documents, with_base
from ...workloads import (
    Document,
    Fault,
    InputError,
    Keys,
    Network,
    Workload,
    check,
    collect,
    expanded,
    load_workload,
    near,
    read_yaml,
    unknown_choice,
)
from ..designs import DESIGNERS, fields, read_groups
from ..exploration.transforms import TRANSFORMATIONS
from ..mapspace import PRESETS
from ..search.options import SearchOptions, read_patience
from ..searchers import ignored_options, option_faults
from .asked import axes_of, optimising_faults, plan_faults, read_question
from .energy import read_energies
from .fronts import AXES
from .keys import SweepFile
from .plan import MAX_DESCRIBED, MAX_LIMIT, MAX_POINTS, Plan
from .trial import named, not_charged, nothing_fits

OTHERWISE = {"pareto": "; other designers than the grid take expressions"}  # by key, behind what may stand there
GIVEN = "sweep"  # the name of a sweep that is given as a mapping and has none


def read_sweep(given: Path | str | Mapping[str, Any], limit: int | None = None) -> Plan:
    """The sweep in the file `given`, or given as a mapping of the same keys, whose paths start at the current folder.

    `limit` replaces that of the file. Raises InputError with every fault.
    """
    document, faults = _document(given), list[Fault]()
    written = _written(document, faults)
    path = Path(document.source)
    folder = path.parent
    machine = collect(faults, lambda: _architecture(document, written.architecture, folder))
    places = _places(document, written, faults)
    groups = read_groups(document, places, faults)
    keys = {} if machine is None else _keys(document, machine, places, faults)
    workloads = _workloads(document, written, folder, faults)
    parameters = [str(place[-1]) for together in places for place in together]
    designer, question = read_question(document, written, parameters, faults)
    faults += _choices(document, written, any_axis=DESIGNERS[designer].make is not None)
    same = question.objective == written.objective.split(",")[0]
    options = _options(document, written, written.objective if same else question.objective, faults)
    faults += optimising_faults(document, designer, written.seeds, options)
    faults += plan_faults(document, written, designer, workloads)
    energies = read_energies(document, written.energy, folder, faults)
    limit_at = (document.source, *document.place(("limit",))[1:], "limit") if limit is None else ("limit", None, "")
    possible = limit is None or 1 <= limit <= MAX_LIMIT
    if not possible:
        faults.append(Fault(*limit_at, f"must be from 1 to {MAX_LIMIT:,} points, got {limit}"))
    plan = Plan(written.name or path.stem, machine or document, keys, tuple(groups), workloads,
                written.mapspaces, written.seeds, options, written.search.distinct,
                axes_of(written, question.objective),
                written.limit if limit is None else limit, energies, written.transfer, question, designer,
                written.mapping_pages, written.search.fuse)  # fmt: skip
    faults += _size(document, plan, Fault(*limit_at, "")) if possible else []
    faults = faults or nothing_fits(document, plan) or not_charged(document, plan)
    if faults:
        raise InputError(sorted(dict.fromkeys(faults), key=lambda fault: (fault.source, fault.line or 0)))
    return plan


def _document(given: Path | str | Mapping[str, Any]) -> Document:
    """The sweep as plain data. Raises InputError where a file cannot be read."""
    return Document(GIVEN, _plain(given), {}) if isinstance(given, Mapping) else read_yaml(given)


def _plain(value: Any) -> Any:
    """The values of a mapping as a file has them: lists for all sequences and arrays, text for paths."""
    if isinstance(value, Mapping):
        return {key: _plain(own) for key, own in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(own) for own in value]
    return str(value) if isinstance(value, Path) else value


def _written(document: Document, faults: list[Fault]) -> SweepFile:
    """The file's sections. What has faults is left at its default, so that they hide none of the others'."""
    if isinstance(document.data, dict):
        missing = [key for key in ("architecture", "workloads") if key not in document.data]
        faults += [document.fault((), f'the key "{key}" is missing') for key in missing]
        if document.data.get("workloads") == []:
            faults.append(document.fault(("workloads",), "must have at least 1 entry, got []"))
        if document.data.get("architecture") == "":
            faults.append(document.fault(("architecture",), "must be a name of the library or a path, got ''"))
    try:
        return check(document, SweepFile)
    except InputError as error:
        if not isinstance(document.data, dict):
            raise
        faults += error.faults
        good = _without(document.data, [fault.keys for fault in error.faults if fault.keys])
        return check(Document(document.source, good, document.places), SweepFile)


def _without(data: dict[str, Any], bad: Iterable[Keys]) -> dict[Any, Any]:
    """Drop the keys with which `bad` paths begin from `data`; below `search` and `energy` drop only the bad options."""
    rest: dict[Any, Any] = {key: dict(value) if key in ("search", "energy") and isinstance(value, dict) else value
             for key, value in data.items()}  # fmt: skip
    for key, *inner in bad:
        if inner and isinstance(rest.get(key), dict):
            rest[key].pop(inner[0], None)
        else:
            rest.pop(key, None)
    return rest


def _architecture(document: Document, spec: str, folder: Path) -> Document | None:
    """Read the architecture's file, merged with its base; None where none is named."""
    if not spec:
        return None
    try:
        own, timeloop = arch_documents(_beside(spec, folder))
        machine = own or timeloop
        assert machine is not None
        return with_base(machine)
    except InputError as error:
        raise InputError(named(document, ("architecture",), spec, error.faults)) from None


def _workloads(
    document: Document, written: SweepFile, folder: Path, faults: list[Fault]
) -> dict[str, Workload | Network]:
    workloads = {}
    for index, name in enumerate(written.workloads):
        try:
            workloads[name] = load_workload(_beside(name, folder))
        except InputError as error:
            faults += named(document, ("workloads", index), name, error.faults)
    return workloads


def _beside(spec: str, folder: Path) -> str:
    """Resolve a path relative to the folder of the sweep's file; return a library name unchanged."""
    if spec.startswith((".", "~")) or any(part.endswith((".yaml", ".yml")) for part in spec.split("/")):
        return str(folder / expanded(spec))
    return spec


def _choices(document: Document, written: SweepFile, *, any_axis: bool) -> list[Fault]:
    """List faults of names that are none of the choices, and of entries listed twice; `any_axis`: axes may be
    expressions."""
    ends = ["", *(f"+{name}" for name in TRANSFORMATIONS)]
    lists: dict[str, tuple[Sequence[Any], list[str]]] = {
        "workloads": (written.workloads, []),
        "mapspaces": (written.mapspaces, [f"{name}{end}" for name in PRESETS for end in ends]),
        "pareto": (written.pareto, [] if any_axis else list(AXES)),
        "seeds": (written.seeds, []),
    }
    faults = []
    for key, (entries, choices) in lists.items():
        for index, entry in enumerate(entries):
            if choices and entry not in choices:
                rule = unknown_choice(key, entry, choices).message
                faults.append(document.fault((key, index), f"{rule}{OTHERWISE.get(key, '')}"))
        same = Counter(AXES[entry].column if key == "pareto" and entry in AXES else entry for entry in entries)
        twice = [str(entry) for entry, times in same.items() if times > 1]
        if twice:
            faults.append(document.fault((key,), f"each entry once; twice: {', '.join(twice)}"))
    return faults


def _options(document: Document, written: SweepFile, objective: str, faults: list[Fault]) -> SearchOptions:
    search, option_problems = written.search, list[Fault]()
    options = SearchOptions(
        search.strategy,
        objective,
        victory=search.victory,
        samples=search.samples,
        time_limit=search.time_limit,
        effort=search.effort,
        budget=search.budget,
        patience=collect(option_problems, lambda: read_patience(search.patience)) if search.patience else None,
        target=search.target,
    )
    option_problems += option_faults(options)
    given = document.data.get("search")
    option_problems += ignored_options(options, given if isinstance(given, dict) else ())
    places = {"search": ("search", "strategy"), "objective": ("objective",), "time-limit": ("search", "time_limit")}
    faults += [
        document.fault(places.get(fault.source, ("search", fault.source)), fault.message) for fault in option_problems
    ]
    return options


def _places(document: Document, written: SweepFile, faults: list[Fault]) -> list[list[Keys]]:
    """Return the place of each parameter's values in the file; parameters that vary together share a list."""
    faults += [
        document.fault(("linked", index), "must name at least 1 parameter")
        for index, names in enumerate(written.linked)
        if not names
    ]
    single: list[list[Keys]] = [[("parameters", name)] for name in written.parameters]
    return single + [[("linked", i, name) for name in names] for i, names in enumerate(written.linked) if names]


def _keys(document: Document, machine: Document, places: list[list[Keys]], faults: list[Fault]) -> dict[str, Keys]:
    """Return the place of each parameter in the architecture; appends faults for unknown parameters."""
    if places and (not isinstance(machine.data, dict) or "levels" not in machine.data):
        rule = "parameters are varied in architectures of this project's own form; this one is not"
        faults.append(document.fault(("architecture",), rule))
        return {}
    known = fields(machine) if places else {}
    keys: dict[str, Keys] = {}
    for place in (place for together in places for place in together):
        name = str(place[-1])
        if name not in known:
            faults.append(document.fault(place, _unknown(name, known)))
        elif known[name] in keys.values():
            faults.append(document.fault(place, "each parameter once; this one stands above too"))
        else:
            keys[name] = known[name]
    return keys


def _unknown(name: str, known: Mapping[str, Keys]) -> str:
    variables = [key for key, place in known.items() if "." not in key and len(place) == 2]
    other = f"; variables: {', '.join(variables) or 'none'}; a field is named by its path, levels.NAME.KEY"
    return f'no variable or field "{name}" in the architecture{near(name, known) or other}'


def _size(document: Document, plan: Plan, limit: Fault) -> list[Fault]:
    """Faults of a sweep that is too large to mean, or limited to less than one design."""
    if plan.limit is not None and plan.limit < plan.per_design:
        rule = f"must admit the points of one design, {plan.per_design}; got {plan.limit}"
        return [Fault(limit.source, limit.line, limit.path, rule)]
    most = MAX_POINTS if plan.grid else MAX_DESCRIBED
    if plan.limit is None and plan.size > most:
        size = f"{plan.size:,}" if plan.size < 1e9 else f"{float(min(plan.size, 10**300)):.3g}"
        how = "give fewer values, or run N points of it with `limit: N` (or --limit N): whole designs, drawn at random"
        rule = f"at most {most:,} points run without a limit, this sweep has {size} ({plan.size_text}): {how}"
        return [document.fault((), rule)]
    return []
