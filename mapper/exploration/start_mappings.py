"""Mappings made for other layers, machines and mapspaces, with which searches begin: `--start-from`."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...arch import Architecture
from ...workloads import Document, Fault, InputError, collect, option_fault, unknown_choice
from ...workloads.outputs import note_input
from ...workloads.timeloop import read_timeloop
from ..mapping import MappingBatch, read_outline, together, write_mapping
from ..mapspace import Mapspace
from ..model import evaluate
from ..runtime import Checkpoint
from ..search import Task
from ..search.variation import MappingSampler, adapted, widened
from ..store import Store, plain_mappings, read_mappings
from .time_slices import NoMapspaceError, Study, prepared

MOST = 128  # mappings that a search begins with, the best of those adapted
MOST_ASKED = 16  # the same where a cost model is asked about each, which may take seconds
MOST_TRIED = 5_000  # mappings of a store: each takes a millisecond a layer
SQLITE = b"SQLite format 3\0"  # the first bytes of a store
FILES = ("mapping.yaml", "front/*.yaml")  # of the folders that `--out` writes


@dataclass(frozen=True)
class StartMappings:
    """Mappings by the names of their levels, dims and tensors, for any layer and machine."""

    mappings: tuple[Document, ...]
    renamed: tuple[tuple[str, str], ...] = ()  # levels and axes there, and what they are called here

    @classmethod
    def read(cls, paths: Sequence[Path], renamed: Mapping[str, str] | None = None) -> "StartMappings":
        """Read stores, mapping files, and folders of results with all that is below them.

        Raises InputError with what cannot be read, and where a folder or a store has no mapping.
        """
        faults, documents = list[Fault](), list[Document]()
        for path in paths:
            path_documents = collect(faults, lambda path=path: list(_read(path)))  # type: ignore[misc]
            if path_documents == []:
                faults.append(option_fault("start-from", f"{path} has no mapping"))
            documents += path_documents or []
        if faults:
            raise InputError(faults)
        return cls(tuple(documents), tuple((renamed or {}).items()))

    def fingerprint(self, results: Path) -> str:
        """A hash of the mappings and names but for those below a folder of results, which a run itself writes."""
        own = [
            document.data
            for document in self.mappings
            if not Path(document.source).resolve().is_relative_to(results.resolve())
        ]
        text = repr((own, self.renamed))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def start(self, task: Task) -> MappingBatch | None:
        """Adapt all mappings to the mapspace of `task`; the best of them by our model, None where none suits.

        Raises InputError where one is no mapping, with file and line.
        """
        batch = self.adapted(task.space, task.options.seed)
        if batch is None:
            return None
        costs = evaluate(batch, task.table, task.charges)
        values = [objective.of(costs) for objective in task.goal.minimised]
        most = MOST_ASKED if task.goal.answered else MOST
        return batch.take(np.lexsort(values[::-1])[:most])

    def adapted(self, space: Mapspace, seed: int) -> MappingBatch | None:
        """Make all mappings valid ones of `space`, and those that leave axes idle also wider; None where none suits.

        Raises InputError where one is no mapping, with file and line.
        """
        outlines = [
            read_outline(document, space.arch, space.workload, dict(self.renamed)) for document in self.mappings
        ]
        sampler = MappingSampler(space)
        near = adapted(sampler, [outline for outline in outlines if outline.common], seed)
        return together([near, widened(sampler, near, seed)]) if len(near) else None

    def with_starts(self, study: Study, only: bool) -> Study:
        """Add the adapted mappings to those that the searches of a study begin with; `only`: search no further."""
        self._check_names(study.arch)
        starts = list[MappingBatch | None]()
        for number in range(len(study.layers)):
            try:
                task = study.task(number, prepared(study, number), study.options)
            except NoMapspaceError:  # the search says so
                starts.append(None)
                continue
            batches = [batch for batch in (task.start, self.start(task)) if batch is not None]
            starts.append(together(batches) if batches else None)
        return replace(study, starts=tuple(starts), only_start=only)

    def _check_names(self, arch: Architecture) -> None:
        """Raise InputError for names that levels and axes here do not have."""
        known = [*(level.name for level in arch.levels), *(axis.name for level in arch.levels for axis in level.fanout)]
        if faults := [unknown_choice("level-names", name, known) for _, name in self.renamed if name not in known]:
            raise InputError(faults)


def kept_in(checkpoint: Checkpoint, study: Study) -> Study:
    """Add the mappings that the searches of this run began with before, and keep all of them in `checkpoint`.

    A store, or a file, may have lost them since: an answer must not be worse than it was.
    """
    starts = list[MappingBatch | None]()
    for number, layer in enumerate(study.layers):
        before, own = checkpoint.starts_of(number), study.starts[number] if study.starts else None
        own_mappings = [] if own is None else plain_mappings(own)
        lost = [mapping for mapping in before if mapping not in own_mappings]
        if len(lost + own_mappings) > len(before):
            checkpoint.begin(number, lost + own_mappings)
        again = read_mappings(study.arch, layer, lost)[0] if lost else None
        starts.append(again if own is None else own if again is None else together([own, again]))
    return replace(study, starts=tuple(starts)) if any(start is not None for start in starts) else study


def level_names(text: str) -> dict[str, str]:
    """Read `GLB=shared_glb,PE=PE_column`: names there, and what they are called here. Raises InputError."""
    names, faults = dict[str, str](), list[Fault]()
    for entry in filter(None, (part.strip() for part in text.split(","))):
        old, _, new = (part.strip() for part in entry.partition("="))
        if not (old and new) or old in names:
            rule = f"names {old} twice" if old in names else f'must be THERE=HERE, several with commas; got "{entry}"'
            faults.append(option_fault("level-names", rule))
        names[old] = new
    if faults:
        raise InputError(faults)
    return names


def _read(path: Path) -> Iterator[Document]:
    """Yield the mappings of a file or folder. Raises InputError, also where there is none."""
    if path.is_dir():
        for pattern in FILES:
            yield from (read_timeloop(file) for file in sorted(path.rglob(pattern)))
    elif path.is_file() and _begins(path) == SQLITE:
        yield from _held(path)
    else:
        yield read_timeloop(path)


def _begins(path: Path) -> bytes:
    note_input(path)
    with path.open("rb") as file:
        return file.read(len(SQLITE))


def _held(path: Path) -> Iterator[Document]:
    """Yield the mappings of a store, of each problem the best; as many of each as may be tried in all."""
    with Store(path, new=False) as store:
        limit = max(1, MOST_TRIED // max(1, len(store.problems())))
        for problem, rows in store.every(limit):
            batch, _ = read_mappings(problem.arch, problem.workload, [row.mapping for row in rows])
            for i in range(len(batch)):
                yield Document(f"{path}: {problem.workload.name}", write_mapping(batch.take([i])), {})
