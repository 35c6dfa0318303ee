"""A study with a store: what it holds of each layer before the search, and what the search adds to it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...workloads import InputError
from ..mapping import MappingBatch
from ..report import Result
from ..runtime import StoreWarning
from ..store import Found, Held, HeldProof, Known, Problem, Store, key_of, plain_mappings
from .time_slices import Study


@dataclass(frozen=True)
class HeldLayer:
    """What a store holds of a layer."""

    problem: Problem
    rows: tuple[tuple[Held, MappingBatch], ...]  # counted again, the best first; each also as a batch of one
    proofs: tuple[HeldProof, ...]

    @property
    def start(self) -> MappingBatch | None:
        """The mappings that a search begins with."""
        every = [batch for _, batch in self.rows]
        if not every:
            return None
        factors, order, keep = (
            np.concatenate([getattr(each, name) for each in every]) for name in ("factors", "order", "keep")
        )
        return MappingBatch.of(every[0].arch, every[0].workload, factors, order, keep)

    def held(self, batch: MappingBatch | None) -> Held | None:
        """Return the row of the single mapping of `batch`; None where it is not held."""
        key = None if batch is None else key_of(plain_mappings(batch)[0])
        return next((held for held, _ in self.rows if held.key == key), None)


class HeldLayers:
    """What a store holds of all layers of a study."""

    def __init__(self, store: Store, study: Study) -> None:
        """Look up all layers. Raises InputError where the store is damaged, or could not be written later."""
        self.store, self.study = store, study
        store.file.check_writable()
        objective = ",".join(study.options.objectives)
        problems = [Problem(study.arch, layer, study.table, objective, study.costs) for layer in study.layers]
        self.layers = [HeldLayer(each, tuple(store.checked(each)), store.proofs(each)) for each in problems]

    @property
    def begun(self) -> Study:
        """The study with the mappings that its searches begin with."""
        return replace(self.study, starts=tuple(layer.start for layer in self.layers))

    def told(self, results: Mapping[int, Result]) -> dict[int, Result]:
        """Return results, by number, that say where their mappings come from."""
        return {number: self._told(self.layers[number], result) for number, result in results.items()}

    def _told(self, layer: HeldLayer, result: Result) -> Result:
        proof = next((each for each in layer.proofs if each.remainders == result.remainders), None)
        answer = layer.held(result.batch)
        return replace(result, known=Known.of(str(result.strategy), answer, len(layer.rows), proof))

    def keep(self, results: Mapping[int, Result]) -> None:
        """Add what the searches found. A StoreWarning tells where that fails: the results are not lost with it."""
        try:
            for number, result in results.items():
                if result.batch is not None:
                    self._keep(self.layers[number], result, result.batch)
        except (InputError, KeyboardInterrupt) as error:
            self.store.complete = False
            why = str(error) or f"{self.store.file.path}: interrupted"
            warnings.warn(f"the mappings found are not added: {why}", StoreWarning, stacklevel=3)

    def _keep(self, layer: HeldLayer, result: Result, best: MappingBatch) -> None:
        """Add the mapping of a result and its front, unless they were held, and what is proven."""
        new = [batch for batch in (best, *(point.batch for point in result.front)) if layer.held(batch) is None]
        found = Found(str(result.strategy), str(result.mapspace), result.remainders)
        for batch in new:
            self.store.add(layer.problem, batch, found)
        if result.lower_bound is not None:
            proven = replace(found, lower_bound=result.lower_bound, optimal=result.optimal)
            self.store.add(layer.problem, best.take([]), proven)
