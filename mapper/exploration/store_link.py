"""A study with a store: what it holds of each layer before the search, and what the search adds to it."""

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite

from ...workloads import InputError
from ..mapping import MappingBatch, together
from ..problem import Problem
from ..report import Result
from ..runtime import StoreWarning
from ..store import MappingSource, Store, StoredMapping, StoredProof, StoreHistory, key_of, plain_mappings
from .time_slices import Study

EVERY = 1.0  # seconds after which the answers of a cost model are added


@dataclass(frozen=True)
class StoredLayer:
    """What a store holds of a layer."""

    problem: Problem
    rows: tuple[tuple[StoredMapping, MappingBatch], ...]  # counted again, the best first; each also as a batch of one
    proofs: tuple[StoredProof, ...]

    @property
    def start(self) -> MappingBatch | None:
        """The mappings that a search begins with."""
        return together([batch for _, batch in self.rows]) if self.rows else None

    def held(self, batch: MappingBatch | None) -> StoredMapping | None:
        """Return the row of the single mapping of `batch`; None where it is not held."""
        key = None if batch is None else key_of(plain_mappings(batch)[0])
        return next((held for held, _ in self.rows if held.key == key), None)


class StoredLayers:
    """What a store holds of all layers of a study."""

    def __init__(self, store: Store, study: Study) -> None:
        """Look up all layers. Raises InputError where the store is damaged, or could not be written later."""
        self.store, self.study = store, study
        self.answers: list[tuple[MappingBatch, float]] = []  # of a cost model, to be added
        self.added = time.monotonic()  # when others were
        store.file.check_writable()
        self.layers = [
            StoredLayer(problem, tuple(store.checked(problem)), store.proofs(problem)) for problem in study.problems
        ]

    @property
    def with_starts(self) -> Study:
        """The study with the mappings that its searches begin with."""
        answered = self._answered if self.study.options.cost_model else None
        return replace(self.study, starts=tuple(layer.start for layer in self.layers), answered=answered)

    def with_origins(self, results: Mapping[int, Result]) -> dict[int, Result]:
        """Return results, by number, that say where their mappings come from."""
        return {number: self._with_origin(self.layers[number], result) for number, result in results.items()}

    def _with_origin(self, layer: StoredLayer, result: Result) -> Result:
        proof = next((stored for stored in layer.proofs if stored.remainders == result.remainders), None)
        answer = layer.held(result.batch)
        return replace(result, known=StoreHistory.of(str(result.strategy), answer, len(layer.rows), proof))

    def keep(self, results: Mapping[int, Result]) -> None:
        """Add what the searches found. A StoreWarning tells where that fails: the results are not lost with it."""
        with self._told_where_it_fails((InputError, KeyboardInterrupt)):
            if self.study.options.cost_model:
                self._keep_answers()
                return
            for number, result in results.items():
                if result.batch is not None:
                    self._keep(self.layers[number], result, result.batch)

    @contextmanager
    def _told_where_it_fails(self, kinds: tuple[type[BaseException], ...] = (InputError,)) -> Iterator[None]:
        try:
            yield
        except kinds as error:
            self.store.complete = False
            why = str(error) or f"{self.store.file.path}: interrupted"
            warnings.warn(f"the mappings found are not added: {why}", StoreWarning, stacklevel=3)

    def _answered(self, one: MappingBatch, value: float) -> None:
        """Take the answer of a cost model, of its one layer; add what there is now and then."""
        if isfinite(value) and self.store.complete:
            self.answers.append((one, value))
            if time.monotonic() - self.added >= EVERY:
                with self._told_where_it_fails():
                    self._keep_answers()

    def _keep_answers(self) -> None:
        """Add the answers since the last time."""
        source = MappingSource(self.study.options.strategy, self.study.mapspace)
        if self.answers and self.store.complete:
            batch = together([one for one, _ in self.answers])
            self.store.add(self.layers[0].problem, batch, source, [value for _, value in self.answers])
        self.answers, self.added = [], time.monotonic()

    def _keep(self, layer: StoredLayer, result: Result, best: MappingBatch) -> None:
        """Add the mapping of a result and its front, unless they were held, and what is proven."""
        new = [batch for batch in (best, *(point.batch for point in result.front)) if layer.held(batch) is None]
        source = MappingSource(str(result.strategy), str(result.mapspace), result.remainders)
        for batch in new:
            self.store.add(layer.problem, batch, source)
        if result.lower_bound is not None:
            proven = replace(source, lower_bound=result.lower_bound, optimal=result.optimal)
            self.store.add(layer.problem, best.take([]), proven)
