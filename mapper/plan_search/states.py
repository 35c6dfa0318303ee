"""The states between the parts of a plan, and the moves from one to another: what dynamic programming goes through.

A state says what is computed, and which tensors are in the memory. Its moves are the parts that can be executed next,
each with every choice of which tensors stay afterwards. All orders of parts are ways through these states.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import Workload
from ..fusion import Group, GroupCosts, Standing
from ..model.figures import Mapped
from ..networks import Graph, Part, PlacedPart, movements, overfull_bits
from ..problem import Charges, Point
from .candidates import MOST_STAGES, candidates, with_applied

MOST_STATES = 20_000
STAGE = "stage"  # the name of every layer, where names are left out


class TooManyError(Exception):
    """There are more states than are looked at."""


@dataclass(frozen=True)
class State:
    """What is computed, and the tensors that are in the memory, each with whether it is off chip, too."""

    done: int  # a bit for each node
    held: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, eq=False)
class Move:
    """A part that is executed in a state."""

    before: int  # the numbers of states
    after: int
    placed: PlacedPart
    group: Group | None  # of its layers, with what lasts longer; names are left out
    beside: Point  # cycles and pJ of what moves beside the layers


@dataclass(frozen=True, eq=False)
class Machine:
    """The machine of a plan, and the memory in which tensors stay."""

    arch: Architecture
    energies: EnergyTable
    charges: Charges
    keeper: str

    @property
    def costed(self) -> tuple[Architecture, EnergyTable, Charges]:
        """What costs are computed with."""
        return self.arch, self.energies, self.charges

    @property
    def level(self) -> int:
        """The number of the keeper's level."""
        return self.arch.number_of(self.keeper)

    def alone(self, layer: Workload) -> Group:
        """Make the group of a layer alone, without its name: equal layers are searched once."""
        return nameless(Group((layer,), (), self.keeper))

    def costs_of_layer(self, group: Group, mapped: Mapped) -> GroupCosts:
        """Compute what the only layer of a group costs with a mapping."""
        standing = Standing(group, self.arch)
        layers = standing.layers
        return GroupCosts(standing, self.energies, self.charges, layers, dict.fromkeys(layers, mapped))

    def beside(self, placed: PlacedPart) -> Point:
        """Compute cycles and pJ of what moves beside the layers of a part."""
        moved = movements(placed, self.arch, drain_reads=self.charges.drain_reads)
        cycles = sum(own.cycles(self.arch) for own in moved)
        leak_pj = self.charges.leak_pj_per_cycle(self.arch, self.energies) * cycles
        return float(cycles), leak_pj + sum(own.energy_pj(self.arch, self.energies) for own in moved)


class States:
    """All states and moves of some nodes that hand each other tensors, in an order in which they can be passed.

    `most_held`: so many tensors are in the memory between parts at most; None: as many as there is room for. `in_turn`:
    each part has the first node that is not computed. A fused group has `most_stages` layers at most; 1: none is fused.
    Raises TooManyError.
    """

    def __init__(
        self,
        graph: Graph,
        names: Sequence[str],
        machine: Machine,
        most_held: int | None = None,
        *,
        in_turn: bool = False,
        most_stages: int = MOST_STAGES,
    ) -> None:
        self.graph, self.names, self.machine = graph, names, machine
        self.most_held, self.in_turn = most_held, in_turn
        self.bit = {name: 1 << i for i, name in enumerate(names)}
        self.parts = candidates(graph, names, machine.keeper, machine.arch, most_stages)
        self.states: dict[State, int] = {State(0): 0}
        self.moves: list[Move] = []
        self._known: dict[object, tuple[Group | None, Point] | None] = {}
        self._expand()

    def _expand(self) -> None:
        by_size: dict[int, list[State]] = {0: [State(0)]}
        for size in range(len(self.names)):
            for state in by_size.get(size, ()):
                for placed, after in self._next(state):
                    priced = self._priced(placed)
                    if priced is None:
                        continue
                    if after not in self.states:
                        self.states[after] = len(self.states)
                        by_size.setdefault(after.done.bit_count(), []).append(after)
                        if len(self.states) > MOST_STATES:
                            raise TooManyError
                    self.moves.append(Move(self.states[state], self.states[after], placed, *priced))

    @property
    def end(self) -> int:
        """The number of the state in which all is computed."""
        return self.states[State((1 << len(self.names)) - 1)]

    def _next(self, state: State) -> Iterator[tuple[PlacedPart, State]]:
        """Yield the parts that can be executed, with every choice of what stays, and the states after them."""
        first = next((name for name in self.names if not self.bit[name] & state.done), None)
        for base in self.parts:
            if self._ready(base, state.done) and (not self.in_turn or first in base.names):
                for part in with_applied(self.graph, base, partial(self._computed, state.done)):
                    yield from self._placed(part, state)

    def _computed(self, done: int, name: str) -> bool:
        return bool(self.bit[name] & done)

    def _placed(self, part: Part, state: State) -> Iterator[tuple[PlacedPart, State]]:
        """Yield a part with every choice of what stays, and the states after it."""
        done = state.done | sum(self.bit[name] for name in part.names)
        kept = [self._choices(part, own, done) for own in state.held]
        held = dict(state.held)
        before = PlacedPart(self.graph, self.machine.keeper, part, frozenset(held))
        if not all(held[name] for name, _ in before.read_off_chip()):
            return  # it is joined with words that are not there
        for stays, copied in self._of_output(part, done):
            inside = frozenset({*held, part.last} if stays else held)
            placed = PlacedPart(self.graph, self.machine.keeper, part, inside, copied)
            output = [((part.last, copied),)] if stays else [()]
            for chosen in product(*kept, output):
                after = tuple(sorted(entry for entries in chosen for entry in entries))
                if self.most_held is None or len(after) <= self.most_held:
                    yield placed, State(done, after)

    def _ready(self, part: Part, done: int) -> bool:
        """Whether nothing of a part is computed, and all that it reads of others is."""
        read = {maker for name in part.names for maker in self.graph.nodes[name].makers}
        computed = partial(self._computed, done)
        return not any(map(computed, part.names)) and all(map(computed, read.difference(part.names)))

    def _choices(self, part: Part, held: tuple[str, bool], done: int) -> list[tuple[tuple[str, bool], ...]]:
        """List what may become of a tensor in the memory after a part: one with a copy may leave when it was read."""
        name, copied = held
        later = any(not self.bit[reader] & done for reader in self.graph.readers[name])
        if not later:
            return [()]
        was_read = any(reader in part.names for reader in self.graph.readers[name])
        return [(held,), ()] if copied and was_read else [(held,)]

    def _of_output(self, part: Part, done: int) -> list[tuple[bool, bool]]:
        """List whether the tensor of a part stays, and with a copy off chip."""
        readers = self.graph.readers[part.last]
        if not readers:
            return [(False, False)]
        reads = sum(part.last in read.makers for name in readers for read in self.graph.nodes[name].reads)
        return [(False, False), (True, False)] + [(True, True)] * (reads > 1)

    def _priced(self, placed: PlacedPart) -> tuple[Group | None, Point] | None:
        """The group of a part and what moves beside it; None where what lasts has no room, or may not stay there."""
        key = placed.part.names, placed.held, placed.copied
        if key not in self._known:
            self._known[key] = self._price(placed)
        return self._known[key]

    def _price(self, placed: PlacedPart) -> tuple[Group | None, Point] | None:
        machine = self.machine
        if overfull_bits(placed, machine.arch):
            return None
        group = None
        if placed.part.group is not None:
            group = nameless(placed.group(machine.arch))
            try:
                for stage in range(len(group.stages)):
                    machine.arch.with_resident(machine.level, group.resident(stage))
            except ValueError:
                return None
        return group, machine.beside(placed)


@dataclass(frozen=True, eq=False)
class Component:
    """Nodes that hand each other tensors, and how often they occur."""

    states: States
    count: int


def nameless(group: Group) -> Group:
    """Return a group without the names of its layers: equal ones are searched once."""
    stages = tuple(replace(stage, name=STAGE, shape="") for stage in group.stages)
    return replace(group, stages=stages)
