"""The mapspace of a certificate, listed again for the checker: the chains of every dim, and all keep choices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import product
from math import prod
from typing import Self, override

import numpy as np

from ....arch import Architecture
from ....energy import EnergyTable
from ....workloads import Rank, Workload
from ...mapping import Bools, Floats, Ints
from ...problem import Charges
from .chains import Chains, Group, TooManyChains, every_chain, tied_dims
from .memories import Kept, Memory, memories
from .words import RankWords

MOST_ROWS = 1 << 21  # combinations of the chains of dims that share a window, or chains of a single dim


class Refused(Exception):
    """The certificate proves nothing; the message says why."""


@dataclass(eq=False)
class Problem:
    """A workload on an architecture whose levels are expanded, with energies and the slots that may have remainders."""

    arch: Architecture
    workload: Workload
    table: EnergyTable
    remainders: Sequence[bool]  # per slot
    costs: Charges
    _words: dict[object, RankWords] = field(default_factory=dict)
    _columns: dict[object, list[tuple[bytes, Floats]]] = field(default_factory=dict)
    _arrays: dict[bytes, Floats] = field(default_factory=dict)

    @cached_property
    def chains(self) -> tuple[Chains, ...]:
        """All chains of each dim, in lexicographic order."""
        sizes = zip(self.workload.dims, self.workload.sizes, strict=True)
        try:
            return tuple(every_chain(self.arch, size, dim, self.remainders) for dim, size in sizes)
        except TooManyChains as error:
            raise Refused(str(error)) from None

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of dims that share a window, with their chains."""
        groups = tuple(Group(dims, tuple(self.chains[d] for d in dims)) for dims in tied_dims(self.workload))
        if max(map(len, groups)) > MOST_ROWS:
            raise Refused(f"more than {MOST_ROWS:,} chains of one dim or window")
        return groups

    @property
    def combinations(self) -> int:
        """The number of combinations of chains for each choice of kept tensors."""
        return prod(map(len, self.groups))

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        """The memories, the outermost first."""
        return memories(self.arch)

    @cached_property
    def _choices(self) -> list[list[tuple[Kept, Bools]]]:
        """Whatever each memory may keep."""
        return [list(memory.choices(self.workload)) for memory in self.memories]

    @property
    def keeps(self) -> int:
        """The number of choices of kept tensors."""
        return prod(map(len, self._choices))

    def every_keep(self) -> Iterator[tuple[tuple[Kept, ...], Bools]]:
        """Yield every choice of kept tensors: their names in each memory, and which level keeps which.

        # (level, tensor)
        """
        for chosen in product(*self._choices):
            yield tuple(names for names, _ in chosen), np.concatenate([keep for _, keep in chosen])

    def kept(self, said: Mapping[str, Sequence[str]]) -> tuple[Kept, ...]:
        """Return the names that a certificate says are kept, in the form of `every_keep`; `said` has all memories."""
        return tuple(memory.kept(said[memory.name]) for memory in self.memories)

    def columns(self, what: object, column: Callable[[Group], Floats]) -> list[tuple[bytes, Floats]]:
        """Return the name and column `what` of each group; equal columns share a name. Computed once per `what`."""
        if what not in self._columns:
            self._columns[what] = []
            for group in self.groups:
                array = np.ascontiguousarray(column(group), float)
                name = blake2b(array.data, digest_size=16).digest()
                self._columns[what].append((name, self._arrays.setdefault(name, array)))
        return self._columns[what]

    def words(self, group: Group, rank: Rank, child: int, parent: int | None, *, mean: bool, block: int) -> RankWords:
        """Return the words that move along a rank of a tensor, or the blocks of so many indices, for the combinations
        of a group's chains."""
        key = rank, child, parent, mean, block
        if key not in self._words:
            dims = [(self.workload.dims.index(term.dim), term.coef) for term in rank]
            group_terms = [(d, coef) for d, coef in dims if d in group.dims]
            terms = [(group.of(d)[0], coef) for d, coef in group_terms]
            rows = [group.of(d)[1] for d, _ in group_terms]
            self._words[key] = RankWords(terms, rows, child, parent, mean=mean, block=block)
        return self._words[key]


@dataclass(eq=False)
class ProblemOfRows(Problem):
    """A problem with some of the rows of each group alone."""

    whole: Problem = field(kw_only=True)
    chosen: Sequence[Ints] = field(kw_only=True)  # per group # (row,)

    @classmethod
    def of(cls, whole: Problem, chosen: Sequence[Ints]) -> Self:
        """Leave the other rows of a problem out."""
        return cls(whole.arch, whole.workload, whole.table, whole.remainders, whole.costs, whole=whole, chosen=chosen)

    @cached_property
    @override
    def groups(self) -> tuple[Group, ...]:
        """The groups, with these rows and the chains that they use."""
        return tuple(group.take(rows) for group, rows in zip(self.whole.groups, self.chosen, strict=True))

    @cached_property
    @override
    def chains(self) -> tuple[Chains, ...]:
        """The chains of each dim that these rows use, in lexicographic order."""
        used = {d: own for group in self.groups for d, own in zip(group.dims, group.chains, strict=True)}
        return tuple(used.get(d, own) for d, own in enumerate(self.whole.chains))
