"""Reads search options, energy and area tables from Timeloop's files: `mapper` keys, the template, ERT and ART."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...arch import Architecture, arch_documents
from ...arch.timeloop import MOST_LOOPS
from ...energy import EnergyTable, energy_table
from ...workloads import Document, Fault, InputError
from ...workloads.timeloop import Reader, choices
from ..problem import OBJECTIVES

# Constraints say where a mapspace has remainders; elsewhere both templates are perfect.
TEMPLATES = {"uber": "pfm", "ruby": "pfm"}
ALGORITHMS = {"random": "random", "exhaustive": "exhaustive", "linear_pruned": "exhaustive"}
DRAWN_OTHERWISE = ("hybrid", "random_pruned")  # Timeloop's ways to draw at random
UNPROVEN = ("random", *DRAWN_OTHERWISE)
NUMBERS = {
    "num_threads": "jobs",
    "victory_condition": "victory",
    "timeout": "give_up",
    "search_size": "valid",
}
RULES = {"victory", "give_up", "valid"}  # of a random search, which the file then means
# Keys without a counterpart here: they change Timeloop's own output, its threads or its draws.
IDLE = (
    *("version", "live_status", "diagnostics", "out_prefix", "sync_interval", "log_interval", "log_stats", "log_all"),
    *(
        "log_oaves",
        "log_oaves_mappings",
        "log_suboptimal",
        "log_orojenesis_mappings",
        "log_mappings_yaml",
        "log_mappings_verbose",
        "log_all_mappings",
    ),
    *("filter_revisits", "max_permutations_per_if_visit", "penalize_consecutive_bypass_fails", "emit_whoop_nest"),
)


_PROVE = "which prove nothing; --search auto proves"


@dataclass
class FileOptions:
    """The search options in Timeloop's files, by our option names, and notes where our search differs."""

    given: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    without_proof: str = ""  # what chose a search that proves nothing, in place of the default

    @property
    def search(self) -> dict[str, Any]:
        """The options that are fields of SearchOptions."""
        return {name: value for name, value in self.given.items() if name not in ("mapspace", "distinct")}


def file_options(arch: str, more: Sequence[Path], taken: Collection[str] = ()) -> FileOptions:
    """Read the search options in ARCH and the files beside it, except those in `taken`, which are set elsewhere.

    Raises InputError with every fault: unknown keys, keys without a counterpart here, wrong values.
    """
    document = arch_documents(arch, more)[1]
    if document is None:
        return FileOptions()
    reader, options = Reader(document), FileOptions()
    _mapper(reader, options, taken)
    template = reader.text(("mapspace", "template"))
    if template is not None and template not in TEMPLATES:
        reader.fault(("mapspace", "template"), f"unknown template {template!r}{choices(template, TEMPLATES)}")
    elif template is not None:
        options.given["mapspace"] = TEMPLATES[template]
    reader.finish()
    options.given = {name: value for name, value in options.given.items() if name not in taken}
    return options


def reference_tables(
    arch: str, more: Sequence[Path], ert: Path | None, art: Path | None
) -> tuple[Path | None, Path | None]:
    """Return the ERT and ART files: as given, else those among the Timeloop files. Raises InputError for a second."""
    document = arch_documents(arch, more)[1]
    if document is None:
        return ert, art
    faults = []
    for root, path in (("ERT", ert), ("ART", art)):
        named = _source(document, root)
        if path is not None and named is not None and named != path:
            faults.append(document.fault((root,), f"a second {root} beside {path}"))
    if faults:
        raise InputError(faults)
    return ert or _source(document, "ERT"), art or _source(document, "ART")


def energies(
    machine: Architecture, spec: str, more: Sequence[Path], ert: Path | None, art: Path | None, engine: str = "default"
) -> EnergyTable:
    """Return the energy table of a machine that was read from `spec` and `more`.

    Raises InputError with every fault, those of components where their names stand in a file.
    """
    try:
        return energy_table(machine, *reference_tables(spec, more, ert, art), engine)
    except InputError as error:
        documents = [document for document in arch_documents(spec, more) if document is not None]
        raise InputError(_placed(fault, machine, documents) for fault in error.faults) from None


def _placed(fault: Fault, machine: Architecture, documents: Sequence[Document]) -> Fault:
    """The fault of a component with the file and line of its name, where a file has that."""
    if fault.source != machine.name or fault.line is not None:
        return fault
    places = [document.place((*keys, "name")) for document in documents for keys in document.named(fault.path)]
    return replace(fault, source=places[0][0], line=places[0][1]) if places else fault


def _source(document: Document, root: str) -> Path | None:
    return Path(document.place((root,))[0]) if root in document.data else None


def _mapper(reader: Reader, options: FileOptions, taken: Collection[str]) -> None:
    """Read the keys below `mapper` into `options`."""
    metrics = ("optimization_metric", "optimization_metrics")
    known = (*metrics, "algorithm", *NUMBERS, MOST_LOOPS[-1], *IDLE)
    mapper = reader.mapping(("mapper",), known)
    for key in metrics:
        if key in mapper and "objective" not in taken:
            _metric(reader, key, options)
    for key, option in NUMBERS.items():
        unlimited = key != "num_threads" and reader.value(("mapper", key)) == 0
        value = None if unlimited or option in taken else reader.integer(("mapper", key))
        options.given |= {} if value is None else {option: value}
    algorithm = reader.text(("mapper", "algorithm"))
    if "strategy" not in taken:
        _strategy(reader, options, algorithm)


def _strategy(reader: Reader, options: FileOptions, algorithm: str | None) -> None:
    """Read the strategy into `options`: that of an `algorithm`, or the one that the rules of a search are of."""
    if algorithm is None:
        rules = [key for key, option in NUMBERS.items() if option in RULES & options.given.keys()]
        if rules:
            options.given["strategy"] = "random"
            options.without_proof = f"{_place(reader, rules[0])} is a rule of random draws, {_PROVE}"
        return
    algorithm = algorithm.replace("-", "_")
    if algorithm in UNPROVEN:
        options.without_proof = f"{_place(reader, 'algorithm')} asks for random draws, {_PROVE}"
    if algorithm in DRAWN_OTHERWISE:
        options.given["strategy"] = "random"
        options.notes.append(
            f"{_place(reader, 'algorithm')}: {algorithm} is Timeloop's; the search draws uniformly at random"
        )
    elif algorithm in ALGORITHMS:
        options.given["strategy"] = ALGORITHMS[algorithm]
        options.given |= {"distinct": True} if algorithm == "linear_pruned" else {}
    else:
        hint = choices(algorithm, (*ALGORITHMS, *DRAWN_OTHERWISE))
        reader.fault(("mapper", "algorithm"), f"unknown algorithm {algorithm!r}{hint}")


def _metric(reader: Reader, key: str, options: FileOptions) -> None:
    """Read the objectives into `options`; later metrics decide among equals of earlier ones."""
    path = ("mapper", key)
    metrics = reader.words(path)
    bad = [metric for metric in metrics if metric not in OBJECTIVES]
    for metric in bad:
        reader.fault(path, f"unknown or unsupported metric {metric!r}{choices(metric, OBJECTIVES)}")
    if not metrics or bad:
        return
    if options.given.setdefault("objective", ",".join(metrics)) != ",".join(metrics):
        reader.fault(path, "two metrics: optimization_metric and optimization_metrics differ")
    if len(metrics) > 1:
        options.notes.append(f"{_place(reader, key)}: the second decides among equals; in Timeloop within 0.1%")


def _place(reader: Reader, key: str) -> str:
    source, line = reader.document.place(("mapper", key))
    return f"{source}:{line}: mapper.{key}"
