"""What kept tensors cost and take, at each depth, for all combinations of tiles at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import prod

import numpy as np

from ..fusion import KeptTensor, OuterLoop, Standing, Transfer, transfer_flows
from ..mapping import Floats
from .family import Family, LoopTable

Kept = tuple[int, str]  # a stage, a tensor


@dataclass(frozen=True, eq=False)
class KeptOptions:
    """The tensors that may be kept, with one choice of retained loops."""

    family: Family
    standing: Standing
    loop_tables: Sequence[LoopTable]
    axis: Callable[[str, Floats], Floats]  # lays a figure of each tile of a loop along its axis
    known: dict[Kept, dict[str, dict[str, Floats]]] = field(default_factory=dict)

    def of(self, key: Kept, order: tuple[str, ...]) -> "list[KeptOption]":
        """List for each depth of a kept tensor what it costs to move, and the bits that it takes.

        Depths at which it costs no less than at another, and takes no fewer bits, are left out, whatever the tiles.
        """
        listed: list[KeptOption] = []
        for option in self._of_depths(key, order):
            if not any(own.beats(option) for own in listed):
                listed = [own for own in listed if not option.beats(own)] + [option]
        return listed

    def _of_depths(self, key: Kept, order: tuple[str, ...]) -> "Iterator[KeptOption]":
        stage, name = key
        tensor = next(own for own in self.family.stages[stage].tensors if own.name == name)
        # linear in the words that come, and in those among them that come for the first time
        again, first = (Transfer.of(tensor, KeptTensor(1, *words)) for words in ((1, 0), (1, 1)))
        prices = [(self._transfer_pj(again), self._transfer_pj(first))]
        prices += list(zip(self._flow_cycles(again), self._flow_cycles(first), strict=True))
        bits, columns, still = self.standing.bits(stage, name), self._columns(key), self._still_words(key)
        for depth in range(len(order) + 1):
            outside = [columns[loop] for loop in order[:depth]]
            inside = still * prod((columns[loop]["span"] for loop in order[depth:]), start=np.ones(()))
            most = inside * prod((own["most"] for own in outside), start=np.ones(()))
            distinct = inside * prod((own["all"] for own in outside), start=np.ones(()))
            moved = inside * moved_words(outside)
            energy_pj, *cycles = (moved * back - distinct * (back - once) for back, once in prices)
            yield KeptOption(energy_pj, tuple(cycles), most * bits)

    def _flow_cycles(self, transfer: Transfer) -> list[float]:
        """The cycles of some words at each bandwidth that they pass."""
        outer, keeper = self.family.arch.levels[0], self.family.arch.levels[self.family.level]
        flows = transfer_flows([transfer], outer, keeper, drain_reads=self.family.charges.drain_reads)
        return [words * cycles / many for words, (many, cycles) in flows]

    def _columns(self, key: Kept) -> dict[str, dict[str, Floats]]:
        """What each loop makes of the words of a kept tensor."""
        if key not in self.known:
            self.known[key] = {table.loop: self._of_tensor(table, key) for table in self.loop_tables}
        return self.known[key]

    def _transfer_pj(self, transfer: Transfer) -> float:
        arch, energies = self.family.arch, self.family.energies
        ends = [(arch.levels[i], energies.levels[i]) for i in (0, self.family.level)]
        return transfer.energy_pj(*ends, drain_reads=self.family.charges.drain_reads)

    def _of_tensor(self, table: LoopTable, key: Kept) -> dict[str, Floats]:
        """What a loop makes of the words of a kept tensor, along the loop's axis."""
        stage, name = key
        tensor = next(own for own in self.family.stages[stage].tensors if own.name == name)
        outers = []
        for own in table.steps:
            box = own.boxes[stage]
            interval = next((i for i in map(box.along, tensor.ranks) if i.loop == table.loop), None)
            outers.append(OuterLoop.of(interval, box.running(table.loop, own.trips)))
        names = [field.name for field in fields(OuterLoop)]
        return {n: self.axis(table.loop, np.array([getattr(o, n) for o in outers], float)) for n in names}

    def _still_words(self, key: Kept) -> int:
        """Words of a tensor of a stage along the ranks that no loop moves."""
        stage, name = key
        tensor = next(own for own in self.family.stages[stage].tensors if own.name == name)
        words = 1
        for rank in tensor.ranks:
            moves = any(t.steps[0].boxes[stage].along(rank).loop == t.loop for t in self.loop_tables)
            words *= 1 if moves else int(self.standing.boxes[stage].along(rank).lengths[0])
        return words


def moved_words(outside: Sequence[Mapping[str, Floats]]) -> Floats:
    """Words that come in, along the loops outside a kept tensor: all tiles, less what is in place (held_words.py)."""
    moved = prod((own["sizes"] for own in outside), start=np.ones(()))
    for place, own in enumerate(outside):
        same = prod((other["sizes"] for other in outside[:place]), start=np.ones(()))
        moved = moved - same * own["stays"] * prod((other["turn"] for other in outside[place + 1 :]), start=np.ones(()))
    return np.asarray(moved)


@dataclass(frozen=True, eq=False)
class KeptOption:
    """A kept tensor inside so many loops. Arrays are # (tile of each loop, ...)."""

    energy_pj: Floats  # of what it moves
    cycles: tuple[Floats, ...]  # of it at each bandwidth
    bits: Floats

    def beats(self, other: "KeptOption") -> bool:
        """Whether it is no worse, whatever the tiles."""
        own, theirs = ((option.energy_pj, option.bits, *option.cycles) for option in (self, other))
        return all((a <= b).all() for a, b in zip(own, theirs, strict=True))
