"""Verifies a certificate of fused groups: the best group is what it claims, and no group is below the bound.

Groups are listed again from the network, with tiles of the certificate; their steps, rooms and bounds are the checker's
own. The proofs of layers are verified as any certificate's are (checker/verify.py).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from .....arch import Architecture
from .....energy import EnergyTable
from .....workloads import Network, Workload
from ....problem import Charges, Objective
from ...format import TOLERANCE, LayerProof
from ...group_format import CertifiedGroup, CertifiedLayer, CertifiedSum, GroupProof
from ..bounds import SLACK
from ..mapping import worth
from ..memories import expanded
from ..problem import Problem, Refused
from ..verify import verify
from .cover import GroupCover, Key, TooManyLeftError, key_of
from .fields import check_fields, check_group
from .group import GroupSteps
from .stages import Stages
from .sums import Machine
from .traces import NoGroupError
from .walks import Walks

# relative: of groups nothing is lower by more. A bound of a layer may be above the truth by TOLERANCE, and so may a sum
# of energy + slope x cycles: of the objective that is a few times as much
GROUP_TOLERANCE = 1e-8
MOST = Fraction(1e150)  # pJ and cycles, whose product is a float


@dataclass(frozen=True)
class VerifiedGroup:
    """The verified facts about the groups of some stages."""

    stages: tuple[str, ...]
    keepers: tuple[str, ...]
    objective: str
    value: float  # of the best group
    lower_bound: float
    optimal: bool
    tiles: dict[str, tuple[int, int]]  # per shared dim its size, and how many of its tiles the proof is about
    remainders: tuple[str, ...]  # the slots that may have them
    costs: Charges
    bounded: int  # combinations of tiles and kept tensors that were bounded
    summed: int  # groups that sums of layers rule out
    layers: int  # proofs of layers that were verified


def verify_group(proof: GroupProof, arch: Architecture, network: Network, table: EnergyTable) -> VerifiedGroup:
    """Check the proof of groups. Raises Refused with the first reason against it."""
    with np.errstate(all="ignore"):
        return _Check(proof, arch, network, table).run()


class _Check:
    """One check."""

    def __init__(self, proof: GroupProof, arch: Architecture, network: Network, table: EnergyTable) -> None:
        self.proof, self.arch, self.table = proof, arch, table
        self.stages = Stages.of(network, proof.stages)
        self.walks = Walks(self.stages)
        self.costs = Charges(proof.leakage, proof.wire_pj_per_bit_mm, proof.tile_mm, proof.hop_pj, proof.drain_reads)
        self._sums: dict[Key, Sequence[CertifiedSum]] = {}
        self._layers: dict[int, float] = {}  # verified lower bounds, by the number of a layer

    def run(self) -> VerifiedGroup:
        """Check all. Raises Refused."""
        objective = check_fields(self.proof, (self.arch, self.table, self.costs), self.walks)
        for own in self.proof.solved:
            key = self._key(own.group)
            if key in self._sums:
                raise Refused("a group is solved twice")
            self._sums[key] = own.sums
        value = self._best(objective)
        bound = self.proof.lower_bound
        if not 0 <= bound <= value * (1 + TOLERANCE):
            raise Refused(f"the lower bound {bound:.9g} is not between 0 and the value of its group, {value:.9g}")
        bounded, summed = self._cover(objective, bound)
        tiles = {dim: (self.stages.last.size(dim), len(own)) for dim, own in self.proof.tiles.items()}
        return VerifiedGroup(
            tuple(self.proof.stages),
            tuple(self.proof.keepers),
            objective.name,
            value,
            bound,
            bound >= value * (1 - TOLERANCE),
            tiles,
            tuple(self.proof.remainders),
            self.costs,
            bounded,
            summed,
            len(self._layers),
        )

    def _group(self, said: CertifiedGroup) -> GroupSteps:
        """Make a group. Raises Refused where there is none like it."""
        check_group(said, self.proof, self.walks)
        level = self._level(said.keeper)
        if not {(stage, name) for stage, name, _ in said.kept} <= set(self.stages.keepable(self.arch, level)):
            raise Refused("a group keeps a tensor that it may not")
        retained = frozenset(dim for dim, tile in said.shared if dim in said.retained and self.walks.repeats(dim, tile))
        try:
            return GroupSteps(self.walks, tuple(said.shared), retained, tuple(sorted(said.kept)))
        except NoGroupError as error:
            raise Refused(f"a group is none: {error}") from None

    def _key(self, said: CertifiedGroup) -> Key:
        return key_of(said.keeper, self._group(said))

    def _level(self, keeper: str) -> int:
        return next(i for i, level in enumerate(self.arch.levels) if level.name == keeper)

    def _machine(self, level: int, layer: Workload, resident: Sequence[str], room: float) -> Architecture:
        """The machine with resident tensors, whose keeper has so much room beside them."""
        arch, levels = self.arch.with_resident(level, resident), list(self.arch.levels)
        levels = list(arch.levels)
        keeper = levels[level]
        if room != float("inf"):
            own = sum(
                layer.tensor_words(tensor) * keeper.bits(tensor.name, tensor.word_bits)
                for tensor in layer.tensors
                if tensor.name in resident
            )
            levels[level] = replace(keeper, capacity_bits=(int(room) + own) * keeper.multiple_buffering)
        return replace(arch, levels=tuple(levels))

    def _best(self, objective: Objective) -> float:
        """Check the best group with its mappings, and return its value. Raises Refused."""
        proof = self.proof
        group, level = self._group(proof.best), self._level(proof.best.keeper)
        kinds, (energy, cycles) = Counter(group.kinds), self._beside(group, level)
        for own in proof.best_layers:
            layer = self.stages.layers[own.stage] if 0 <= own.stage < len(self.stages.layers) else None
            if layer is None or list(own.sizes) != list(layer.dims):
                raise Refused("a layer of its group is of no stage, or of other dims")
            kind = own.stage, tuple(own.sizes.values()), own.accumulates
            number = kinds.pop(kind, 0)
            if not number:
                raise Refused(f"no step of its group has {layer.name} with {own.sizes}, or it is there twice")
            work = self.stages.layer(own.stage, kind[1], accumulates=own.accumulates)
            resident = sorted(self.stages.between[own.stage] | {n for s, n, _ in group.kept if s == own.stage})
            room = group.room(self.arch, level, own.stage)
            if room < 0:
                raise Refused("its group has no room in the keeper")
            steps, pj = worth(self._problem(self._machine(level, work, resident, room), work), own.mapping)
            energy, cycles = energy + number * pj, cycles + number * steps
        if kinds:
            raise Refused("steps of its group have no mapping")
        for name, counted, claim in (("pJ", energy, proof.energy_pj), ("cycles", cycles, proof.cycles)):
            if not (np.isfinite(claim) and abs(counted - claim) <= TOLERANCE * abs(counted)):
                raise Refused(f"its group takes {counted:.12g} {name}, and not {claim:.12g}")
        return float(objective.value(energy, cycles))

    def _beside(self, group: GroupSteps, level: int) -> tuple[float, float]:
        """Energy and cycles of all that is no layer: kept tensors that move, and operators."""
        pj, took = group.transfers(self.arch, level, self.table, self.costs)
        pass_pj, passing = group.passes((self.arch, level, self.table), self.costs)
        return pj + pass_pj, float(took + passing)

    def _problem(self, arch: Architecture, work: Workload) -> Problem:
        arch, table = expanded(arch, self.table, work)
        flags = [slot.name in self.proof.remainders for slot in arch.slots]
        return Problem(arch, work, table, flags, self.costs)

    def _cover(self, objective: Objective, bound: float) -> tuple[int, int]:
        """Check that no group is below a bound. Returns what was bounded, and what sums rule out. Raises Refused."""
        least, bounded, summed = bound * (1 - GROUP_TOLERANCE) * (1 - SLACK), 0, 0
        if bound <= 0:
            return 0, 0
        for keeper in self.proof.keepers:
            machine = Machine(self.arch, self._level(keeper), self.table, self.costs, self.proof.remainders)
            cover = GroupCover(self.walks, machine, self.proof.tiles, objective, least)
            try:
                for group, energy, cycles in cover.left():
                    self._check_sums(keeper, group, (energy, cycles), objective, least)
                    summed += 1
            except TooManyLeftError as error:
                raise Refused(str(error)) from None
            bounded += cover.bounded
        return bounded, summed

    def _check_sums(
        self, keeper: str, group: GroupSteps, bounds: tuple[float, float], objective: Objective, least: float
    ) -> None:
        """Check that the sums of a group's layers rule it out. Raises Refused."""
        key = key_of(keeper, group)
        if key not in self._sums:
            loops = ", ".join(f"{dim} {tile}" for dim, tile in group.shared) or "no loop"
            raise Refused(f"a group that shares {loops} may be below the bound, and nothing is said of it")
        level, (energy, fewest) = self._level(keeper), bounds
        lines = [(0.0, energy)]
        pj, took = self._beside(group, level)
        for own in self._sums[key]:
            number = self._sum(own, keeper, group) * (1 - TOLERANCE)
            if not np.isfinite(number + pj + (own.slope or 0.0) * took):
                raise Refused("a sum is no number")
            if own.slope is None:
                fewest = max(fewest, number + took)
            else:
                lines.append((own.slope, number + pj + own.slope * took))
        if not _least_above(lines, fewest, objective) >= least:
            raise Refused("the sums of a group leave room below the bound")

    def _sum(self, own: CertifiedSum, keeper: str, group: GroupSteps) -> float:
        """Add up the proofs of the layers of a group. Raises Refused where they are not those of its steps."""
        kinds, level, total = Counter(group.kinds), self._level(keeper), 0.0
        for number, steps in own.layers:
            if not 0 <= number < len(self.proof.layers):
                raise Refused("a sum names a layer that there is not")
            layer = self.proof.layers[number]
            kind = layer.stage, tuple(layer.sizes.values()), layer.accumulates
            if kinds.pop(kind, 0) != steps:
                raise Refused("a sum has other layers than the steps of its group, or other numbers of them")
            resident = self.stages.between[layer.stage] | {n for s, n, _ in group.kept if s == layer.stage}
            room = group.room(self.arch, level, layer.stage)
            serves = layer.room_bits is None or room <= layer.room_bits
            if layer.keeper != keeper or set(layer.resident) != resident or layer.slope != own.slope or not serves:
                raise Refused("a sum has the proof of a layer on another machine, or at another slope")
            total += steps * self._layer(number, layer)
        if kinds:
            raise Refused("a sum lacks layers of the steps of its group")
        return total

    def _layer(self, number: int, layer: CertifiedLayer) -> float:
        """Verify the proof of a layer, once, and return its lower bound. Raises Refused."""
        if number not in self._layers:
            work = self.stages.layer(layer.stage, list(layer.sizes.values()), accumulates=layer.accumulates)
            if list(layer.sizes) != list(work.dims):
                raise Refused("the proof of a layer is of other dims")
            room = float("inf") if layer.room_bits is None else layer.room_bits
            arch = self._machine(self._level(layer.keeper), work, layer.resident, room)
            self._check_layer(layer.proof, layer.slope)
            table = self.table if layer.slope is None else self._leaking(layer.slope)
            self._layers[number] = verify(layer.proof, arch, work, table).lower_bound
        return self._layers[number]

    def _check_layer(self, proof: LayerProof, slope: float | None) -> None:
        """Check what the proof of a layer counts. Raises Refused."""
        ours = self.proof
        costs = proof.wire_pj_per_bit_mm, proof.tile_mm, proof.hop_pj, proof.drain_reads
        if costs != (ours.wire_pj_per_bit_mm, ours.tile_mm, ours.hop_pj, ours.drain_reads):
            raise Refused("the proof of a layer counts other costs")
        wanted = ("delay", ours.leakage) if slope is None else ("energy", True)
        if (proof.objective, proof.leakage) != wanted or proof.remainders != ours.remainders:
            raise Refused("the proof of a layer is of another objective, or of other remainders")

    def _leaking(self, slope: float) -> EnergyTable:
        """The energies where the MAC units leak what all of the machine does, if that is counted, and the slope."""
        leak = (self.costs.leakage_pj_per_cycle(self.arch, self.table) + slope) / self.arch.instances(
            len(self.arch.levels)
        )
        levels = tuple(replace(level, leak_pj_per_cycle=0.0) for level in self.table.levels)
        return replace(self.table, levels=levels, compute=replace(self.table.compute, leak_pj_per_cycle=leak))


def _least_above(lines: Sequence[tuple[float, float]], fewest: float, objective: Objective) -> float:
    """The least of an objective where cycles are no fewer, and energy + slope x cycles no less, than these.

    Along a line the objective has no least between two corners, as it is a product of powers of both.
    """
    exact = [(Fraction(slope), Fraction(least)) for slope, least in lines]  # floats would cancel at large slopes
    places = {start := Fraction(fewest)}
    for i, (slope, least) in enumerate(exact):
        for other, other_least in exact[:i]:
            if slope != other:
                places.add(max(start, (least - other_least) / (slope - other)))
    corners = [(max(Fraction(0), *(least - slope * cycles for slope, least in exact)), cycles) for cycles in places]
    floats = ((float(min(energy, MOST)), float(min(cycles, MOST))) for energy, cycles in corners)
    return min(float(objective.value(energy, cycles)) for energy, cycles in floats)
