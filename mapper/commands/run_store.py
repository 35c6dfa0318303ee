"""`ruby-store FILE ACTION` lists what a store of mappings holds, shows the best, exports, imports and removes."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from math import isfinite
from pathlib import Path

from ...workloads import Fault, InputError, option_fault, unknown_choice, write_whole
from ...workloads.outputs import OutputFile
from ..exploration import evaluate
from ..model.figures import plain
from ..report import Json, Searched, TextTable, result_json
from ..runtime import print_result
from ..search.outcome import Answer
from ..store import DATE, Entry, Store, StoredMapping, StoredProof, export_lines, is_export, merge_lines, prune
from .guard import FOUND, NOTHING_VALID, echo_json
from .ruby_store import StoreRequest

SHOWN = 12  # letters of a digest
_NAMES = ("arch", "workload", "objective")
# what goes with each action, beside FILE: WHAT and options
TAKES: Mapping[str, tuple[str, ...]] = {
    "list": (*_NAMES, "as_json"),
    "best": ("what", *_NAMES, "as_json"),
    "export": ("out", "force"),
    "import": ("what", "as_json"),
    "prune": ("keep", "older_than", "as_json"),
}
_SHOWN_AS = {"as_json": "json", "older_than": "older-than", "what": "WHAT"}


def _faults(request: StoreRequest) -> list[Fault]:
    """List what is wrong with the arguments and options."""
    if request.action not in TAKES:
        return [unknown_choice("ACTION", request.action, TAKES)]
    faults = [
        option_fault(_SHOWN_AS.get(name, name), f"does not go with {request.action}: leave it out")
        for name in sorted(request.given - {"path", "action", *TAKES[request.action]})
    ]
    if request.action == "import" and not request.what:
        faults.append(option_fault("WHAT", "is missing: a file that export has written"))
    if request.action == "prune" and request.keep is None and request.older_than is None:
        faults.append(option_fault("prune", "needs --keep or --older-than, which say what goes"))
    if request.keep is not None and request.keep < 1:
        faults.append(option_fault("keep", f"must be at least 1, got {request.keep}"))
    if request.older_than is not None and not (isfinite(request.older_than) and 0 <= request.older_than < 1e5):
        faults.append(option_fault("older-than", f"must be days, 0 to 100000, got {request.older_than:g}"))
    return faults


def run(request: StoreRequest) -> int:
    """List, show, export, import and remove mappings of a store, which `ruby-map --store` fills.

    Exit status: 0 done, 1 no mapping is held, 2 bad input.
    """
    if faults := _faults(request):
        raise InputError(faults)
    with Store(request.path, new=request.action == "import") as store:
        return ACTIONS[request.action](store, request)


def _list(store: Store, request: StoreRequest) -> int:
    entries = store.problems(request.arch, request.workload, request.objective)
    if request.as_json:
        echo_json({"problems": [_entry_json(entry) for entry in entries]})
        return FOUND
    head = ["problem", "machine", "layer", "objective", "mappings", "best", "from", "proven"]
    print_result(str(TextTable(head, [_row(entry) for entry in entries], (0, 1, 2, 3, 6, 7))))
    return FOUND


def _row(entry: Entry) -> list[str]:
    best = ["", ""] if entry.best is None else [f"{entry.best.values[0]:.6g}", str(entry.best.origins[0])]
    proven = ", ".join(map(_proven, entry.proofs))
    return [entry.digest[:SHOWN], entry.arch, entry.title, entry.objective, f"{entry.number:,}", *best, proven]


def _proven(proof: StoredProof) -> str:
    return f"{proof.mapspace}: none below {proof.lower_bound:.6g}" + (", reached" if proof.optimal else "")


def _entry_json(entry: Entry) -> Json:
    names = {"problem": entry.digest, "arch": entry.arch, "workload": entry.workload, "title": entry.title}
    names |= {"objective": entry.objective}
    best = None if entry.best is None else _held_json(entry.best)
    return {**names, "mappings": entry.number, "best": best, "proofs": [asdict(proof) for proof in entry.proofs]}


def _held_json(held: StoredMapping) -> Json:
    origins = [asdict(origin) for origin in held.origins]
    costs = {"values": [plain(value) for value in held.values], "energy_pj": held.energy_pj, "cycles": held.cycles}
    return {**costs, "date": held.date, "origins": origins, "mapping": held.mapping}


def _best(store: Store, request: StoreRequest) -> int:
    """Show the best mapping of a problem, counted again."""
    entry = _chosen(store, request)
    problem = store.problem(entry.digest)
    held = next(iter(store.checked(problem)), None)
    if held is None:
        print_result("no valid mapping is held")
        return NOTHING_VALID
    row, batch = held
    result = evaluate(problem.arch, problem.workload, batch, table=problem.energies, costs=problem.charges)
    answer = Answer(problem.goal.model, row.values[0]) if problem.goal.answered else None
    result = replace(result, problem=problem, search=Searched(), answer=answer)
    if request.as_json:
        identity = {"problem": entry.digest, "origin": row.origins[0].name, "date": row.date}
        more = {
            "origins": [asdict(origin) for origin in row.origins],
            "proofs": [asdict(proof) for proof in entry.proofs],
        }
        echo_json(result_json(result) | identity | more)
        return FOUND
    lines = [f"{origin.date}  found: {origin}" for origin in row.origins]
    lines += [f"{proof.date}  said to be proven by {proof.origin}: {_proven(proof)}" for proof in entry.proofs]
    by = f"the answers of {problem.goal.model}: {row.values[0]:.6g}" if problem.goal.answered else problem.goal.text
    print_result("\n".join([str(result), "", f"problem {entry.digest}, best by {by}", *lines]))
    return FOUND


def _chosen(store: Store, request: StoreRequest) -> Entry:
    """Return the one problem that the request names. Raises InputError where it names none or several."""
    every = store.problems(request.arch, request.workload, request.objective)
    matches = [entry for entry in every if entry.digest.startswith(request.what)]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise InputError(option_fault("best", "no problem of the store is so named: `list` shows all"))
    choices = ", ".join(f"{entry.digest[:SHOWN]} ({entry.title} on {entry.arch})" for entry in matches[:8])
    raise InputError(option_fault("best", f"{len(matches)} problems are so named, say which: {choices}"))


def _export(store: Store, request: StoreRequest) -> int:
    if request.out is None:
        for line in export_lines(store):
            print_result(line)
    else:
        output = OutputFile("out", request.out, "an export of a store", is_export, request.force)
        if faults := output.faults():
            raise InputError(faults)
        write_whole(request.out, "".join(f"{line}\n" for line in export_lines(store)))
    return FOUND


def _import(store: Store, request: StoreRequest) -> int:
    number = merge_lines(store, Path(request.what))
    if request.as_json:
        echo_json({"imported": number})
    else:
        print_result(f"{number:,} mappings imported; those that were held already are held once")
    return FOUND


def _prune(store: Store, request: StoreRequest) -> int:
    days = request.older_than
    before = None if days is None else (datetime.now(UTC) - timedelta(days=days)).strftime(DATE)
    number = prune(store, request.keep, before)
    if request.as_json:
        echo_json({"removed": number})
    else:
        print_result(f"{number:,} mappings removed")
    return FOUND


ACTIONS: Mapping[str, Callable[[Store, StoreRequest], int]] = {
    "list": _list,
    "best": _best,
    "export": _export,
    "import": _import,
    "prune": _prune,
}
