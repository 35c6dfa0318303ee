"""The parts of a mapspace, made; or an InputError that names the constraints which exclude each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ...arch import Architecture
from ...workloads import Fault, InputError, Workload
from .chains import ChainSpace
from .constraints import Limit, Rules, conflict
from .coupling import Joint
from .presets import Preset, remainders
from .quotients import TooLargeError

Slots = frozenset[int]

MOST_STATES = 2**22  # of what the dims share; more would take minutes and gigabytes


@dataclass(frozen=True)
class Construction:
    """What makes the parts of the mapspace of `workload` on `arch`; with `distinct`, of distinct loop orders.

    Every method raises InputError where the constraints leave no mapping, or tables would be too large.
    """

    arch: Architecture
    workload: Workload
    distinct: bool

    def remainders(self, preset: Preset | tuple[bool, ...]) -> tuple[tuple[bool, ...], str]:
        """Which slots may have remainders, and why."""
        if not isinstance(preset, str):
            return tuple(preset), "remainders given slot by slot"
        try:
            return remainders(self.arch, self.workload, preset)
        except TooLargeError as error:
            raise self._error([f"choosing a mapspace: {error}; choose one by name"]) from None

    def check_names(self) -> None:
        """Look for contradictions between names alone: loop orders, kept tensors and placement."""
        faults = []
        for slot in self.arch.slots:
            named = [d for d in slot.constraint.outermost + slot.constraint.innermost if d in self.workload.dims]
            for dim in sorted({d for d in named if named.count(d) > 1}):
                faults.append(f"the loop order of {slot.name} places {dim} more than once")
        for level in self.arch.levels:
            bypass = level.bypass & {tensor.name for tensor in self.workload.tensors}
            for tensor in sorted(bypass & level.keep):
                faults.append(f"{level.name} must both keep and bypass {tensor}")
            if level is self.arch.levels[0]:
                name = f"{level.of_memory} is the outermost level"
                faults += [f"{name} and cannot bypass {t}" for t in sorted(bypass)]
                faults += [f"{name} and holds whole tensors: its placement is even"] * (level.placement != "even")
        if faults:
            raise self._error(faults)

    def chains(self, rules: Rules) -> tuple[ChainSpace, ...]:
        """The chains of each dim; the faults are of every dim that has too many, or else of each that has none."""
        spaces, faults = [], []
        for d, size in enumerate(self.workload.sizes):
            try:
                spaces.append(ChainSpace(size, rules.of_dim(d), rules.products(d)))
            except TooLargeError as error:
                faults.append(f"{self.workload.dims[d]}={size}: {error}; {self._choices}")
        if not faults:
            faults = [self._without_chains(rules, d) for d, space in enumerate(spaces) if not space.total]
        if faults:
            raise self._error(faults)
        return tuple(spaces)

    def _without_chains(self, rules: Rules, d: int) -> str:
        """Why dim d has no chain."""
        size = self.workload.sizes[d]

        def possible(trial: Rules) -> bool:
            return ChainSpace(size, trial.of_dim(d), trial.products(d)).total > 0

        limits = conflict(rules, lambda limit: limit.dim == d, possible)
        anywhere = replace(rules, remainders=tuple(slot.constraint.remainders is not False for slot in rules.slots))
        hint = "; with remainders it could (mapspace ruby)" if possible(anywhere) else ""
        return f"{self.workload.dims[d]}={size} cannot meet {_and(limits)}{hint}"

    def joints(
        self, rules: Rules, spaces: Sequence[ChainSpace], orders: int, patterns: Sequence[tuple[Slots, Slots]]
    ) -> list[Joint]:
        """The dims together for each pattern: the slots without loops, and those with at least one.

        Each combination of chains counts `orders` times.
        """
        joints = []
        for none, some in patterns:
            shared = rules.with_loops(none, some)
            states = prod(len(each.values) for each in shared)
            if states > MOST_STATES:
                rule = f"needs {states:,} joint states, more than {MOST_STATES:,}"
                raise self._error([f"counting {self._what} here {rule}; {self._choices}"])
            joints.append(Joint(spaces, shared, orders))
        if not any(joint.total for joint in joints):
            raise self._error([self._without_combinations(rules, patterns)])
        return joints

    def _without_combinations(self, rules: Rules, patterns: Sequence[tuple[Slots, Slots]]) -> str:
        """Why no chains of the dims go together."""

        def possible(trial: Rules) -> bool:
            chains = [
                ChainSpace(size, trial.of_dim(d), trial.products(d)) for d, size in enumerate(self.workload.sizes)
            ]
            return any(Joint(chains, trial.with_loops(*slots)).total for slots in patterns)

        limits = conflict(rules, lambda limit: limit.kind != "size", possible)
        axes = {limit.slot: self.arch.slots[limit.slot].axis for limit in limits}
        sizes = [f"the {axis.size} places of {self.arch.slots[slot].name}" for slot, axis in axes.items() if axis]
        return f"no mapping meets {_and(limits)} together" + (f", within {', '.join(sizes)}" if sizes else "")

    def prepare(self, joint: Joint) -> None:
        """Make the tables that samples and numbers need."""
        try:
            _ = joint.steps
        except TooLargeError as error:
            raise self._error([f"drawing {self._what} here needs {error}; {self._choices}"]) from None

    @property
    def _what(self) -> str:
        return "distinct loop orders" if self.distinct else "mappings"

    @property
    def _choices(self) -> str:
        """What makes a mapspace smaller."""
        fewer = "constrain the loops of some levels, choose a mapspace with fewer remainders"
        return f"{fewer}, or take all loop orders" if self.distinct else f"{fewer}, or make the dim smaller"

    def _error(self, messages: Sequence[str]) -> InputError:
        source = f"{self.workload.name} on {self.arch.name}"
        return InputError(Fault(source, None, "", message) for message in messages)


def _and(limits: Sequence[Limit]) -> str:
    return " and ".join(dict.fromkeys(limit.text for limit in limits))
