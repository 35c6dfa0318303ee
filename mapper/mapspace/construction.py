"""The parts of a mapspace, made; or an InputError that names the constraints which exclude each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...arch import Architecture
from ...workloads import Fault, InputError, Workload
from .bound_classes import ALONE, WIDTHS, Width
from .chain_steps import SlotRule
from .chains import MOST_COUNTS, ChainSpace
from .constraints import Limit, Rules, conflict, even_limits, limits, temporal_stacks
from .coupling import MOST_ENTRIES, Joint
from .presets import Preset, remainders
from .quotients import TooLargeError

Slots = frozenset[int]


class MapspaceTooLargeError(InputError):
    """A mapspace is beyond what can be searched; there may be mappings."""


MOST_DIMS = 127  # loop orders hold the number of a dim in eight bits
MOST_LEVELS = (
    32  # counts go over all pairs of levels that a tensor may move between: 41 levels took minutes and gigabytes
)
MOST_IN_CLASSES = 2**19  # entries of the table of one dim, for bounds in classes: a second
FEWER_COUNTS = 2**22  # of a dim whose bounds may be in classes: half a second
TRIED = 4  # times as many as there may be of bounds alone are looked at, to see how many lead to a mapping


@dataclass(frozen=True)
class Combined:
    """The chains of each dim, and the dims together for each pattern of loops."""

    chains: tuple[ChainSpace, ...]
    joints: tuple[Joint, ...]
    alone: bool  # each bound is counted, not classes of bounds
    width: Width  # of these classes


@dataclass(frozen=True)
class Construction:
    """What makes the parts of the mapspace of `workload` on `arch`; with `distinct`, of distinct loop orders.

    Every method raises InputError where the constraints leave no mapping; MapspaceTooLargeError, which is one, where
    tables would be too large.
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
            raise self._larger([f"choosing a mapspace: {error}; choose one by name"]) from None

    def check_names(self) -> None:
        """Look for contradictions between names alone: loop orders, kept tensors and placement."""
        faults, larger = _name_faults(self.arch, self.workload), _size_faults(self.arch, self.workload)
        if faults or larger:
            raise (self._error if faults else self._larger)([*larger, *faults])

    def rules(self, remainders: tuple[bool, ...], *, even: bool) -> Rules:
        """The limits on bounds; with `even` all loops of a memory below its tensors."""
        arch, every = self.arch, limits(self.arch, self.workload)
        patterned = tuple(slot for slots in temporal_stacks(arch) for slot in slots[:-1])
        every += even_limits(arch, self.workload) if even else ()
        return Rules(arch.slots, self.workload.sizes, remainders, every, patterned=patterned)

    def combined(self, rules: Rules, orders: int, patterns: Sequence[tuple[Slots, Slots]]) -> Combined:
        """The chains of each dim, and the dims together for each pattern: the slots without loops, and with some.

        Each combination of chains counts `orders` times. Bounds of axes are in the narrowest classes for which the
        tables that samples need are small enough.
        """
        first, faults, tried = None, list[str](), set[tuple[tuple[SlotRule, ...], ...]]()
        for width in WIDTHS:
            every = tuple(rules.of_dim(d, width) for d in range(len(self.workload.dims)))
            if every in tried:  # these classes change nothing
                continue
            tried.add(every)
            made = self._made(rules, width, orders, patterns)
            if not isinstance(made, Combined):
                faults = faults or made
                continue
            most, more = (MOST_ENTRIES, TRIED) if made.alone else (MOST_IN_CLASSES, 1)
            if all(joint.fits(most, more) for joint in made.joints):
                return self._required(made, rules, patterns, width)
            first = first or made
        if first is None or not first.alone:
            raise self._larger(faults)
        return self._required(first, rules, patterns, ALONE)  # it can be counted, but nothing can be drawn

    def chain_space(self, rules: Rules, d: int) -> ChainSpace:
        """The chains of a dim by itself, whatever the other dims; InputError where it has none."""
        fault = ""
        for width in WIDTHS:
            try:
                return self._chain_space(rules, width, self._most_counts(rules), d)
            except TooLargeError as error:
                fault = fault or str(error)
        raise self._larger([self._too_large(d, fault)])

    def totals(
        self, combined: Combined, rules: Rules, orders: int, patterns: Sequence[tuple[Slots, Slots]]
    ) -> tuple[list[int], list[int]]:
        """How many combinations each pattern has at most and at least: equal unless counting takes long."""
        made = combined if combined.alone else self._made(rules, ALONE, orders, patterns, MOST_COUNTS)
        try:
            if isinstance(made, Combined):
                return ([joint.total for joint in made.joints],) * 2
        except TooLargeError:
            pass  # there are limits
        return [joint.total for joint in combined.joints], [joint.least for joint in combined.joints]

    def _made(
        self, rules: Rules, width: Width, orders: int, patterns: Sequence[tuple[Slots, Slots]], most: int | None = None
    ) -> Combined | list[str]:
        """The same for one width of classes; or what is too large, every dim of it.

        `most` counts in the table of a dim; fewer where classes make it smaller.
        """
        spaces = self._chain_spaces(rules, width, self._most_counts(rules) if most is None else most)
        if isinstance(spaces, list):
            return spaces
        alone = not any(rule.starts for space in spaces for rule in space.rules)
        try:
            joints = tuple(Joint(spaces, rules.with_loops(*slots), orders) for slots in patterns)
        except TooLargeError as error:
            return [f"counting {self._what} here {error}; {self._choices}"]
        return Combined(spaces, joints, alone, width)

    def _chain_spaces(self, rules: Rules, width: Width, most: int) -> tuple[ChainSpace, ...] | list[str]:
        """The chains of each dim for one width of classes; or what is too large, every dim of it."""
        spaces, faults = [], []
        for d in range(len(self.workload.dims)):
            try:
                spaces.append(ChainSpace(self.workload.sizes[d], rules.of_dim(d, width), rules.products(d), most))
            except TooLargeError as error:
                faults.append(self._too_large(d, str(error)))
        if faults:
            return faults
        if none := [self._without_chains(rules, d, width) for d, space in enumerate(spaces) if not space.total]:
            raise self._error(none)
        return tuple(spaces)

    def _chain_space(self, rules: Rules, width: Width, most: int, d: int) -> ChainSpace:
        space = ChainSpace(self.workload.sizes[d], rules.of_dim(d, width), rules.products(d), most)
        if not space.total:
            raise self._error([self._without_chains(rules, d, width)])
        return space

    def _too_large(self, d: int, what: str) -> str:
        return f"{self.workload.dims[d]}={self.workload.sizes[d]}: {what}; {self._choices}"

    def _most_counts(self, rules: Rules) -> int:
        """How many counts the table of a dim may have: fewer where classes of bounds make it smaller."""
        dims = range(len(self.workload.dims))
        classes = any(rule.starts for d in dims for rule in rules.of_dim(d, WIDTHS[-1]))
        return FEWER_COUNTS if classes else MOST_COUNTS

    def _required(
        self, made: Combined, rules: Rules, patterns: Sequence[tuple[Slots, Slots]], width: Width
    ) -> Combined:
        """The same; InputError where no chains of the dims go together."""
        try:
            if sum(joint.total for joint in made.joints):  # of all: one that is too large to count is a fault
                return made
        except TooLargeError as error:
            raise self._larger([f"counting {self._what} here {error}; {self._choices}"]) from None
        raise self._error([self._without_combinations(rules, patterns, width)])

    def _without_chains(self, rules: Rules, d: int, width: Width) -> str:
        """Why dim d has no chain."""
        size = self.workload.sizes[d]

        def possible(trial: Rules) -> bool:
            return ChainSpace(size, trial.of_dim(d, width), trial.products(d)).total > 0

        limits = conflict(rules, lambda limit: limit.dim == d, possible)
        anywhere = replace(rules, remainders=tuple(slot.constraint.remainders is not False for slot in rules.slots))
        hint = "; with remainders it could (mapspace ruby)" if possible(anywhere) else ""
        return f"{self.workload.dims[d]}={size} cannot meet {_and(limits)}{hint}"

    def _without_combinations(self, rules: Rules, patterns: Sequence[tuple[Slots, Slots]], width: Width) -> str:
        """Why no chains of the dims go together."""

        def possible(trial: Rules) -> bool:
            sizes = enumerate(self.workload.sizes)
            chains = [ChainSpace(size, trial.of_dim(d, width), trial.products(d)) for d, size in sizes]
            return any(Joint(chains, trial.with_loops(*slots)).total for slots in patterns)

        limits = conflict(rules, lambda limit: limit.kind != "size", possible)
        axes = {limit.slot: self.arch.slots[limit.slot].axis for limit in limits}
        sizes = [f"the {axis.size} places of {self.arch.slots[slot].name}" for slot, axis in axes.items() if axis]
        return f"no mapping meets {_and(limits)} together" + (f", within {', '.join(sizes)}" if sizes else "")

    def prepare(self, joint: Joint) -> None:
        """Make the tables that samples and numbers need, unless it is certain that they can be made when needed."""
        try:
            if not joint.fits(MOST_ENTRIES, 0):
                _ = joint.steps
        except TooLargeError as error:
            raise self._larger([f"drawing {self._what} here needs {error}; {self._choices}"]) from None

    @property
    def _what(self) -> str:
        return "distinct loop orders" if self.distinct else "mappings"

    @property
    def _choices(self) -> str:
        """What makes a mapspace smaller."""
        fewer = "constrain the loops of some levels, choose a mapspace with fewer remainders"
        return f"{fewer}, or take all loop orders" if self.distinct else f"{fewer}, or make the dim smaller"

    def _error(self, messages: Sequence[str]) -> InputError:
        return InputError(self._faults(messages))

    def _larger(self, messages: Sequence[str]) -> MapspaceTooLargeError:
        return MapspaceTooLargeError(self._faults(messages))

    def _faults(self, messages: Sequence[str]) -> list[Fault]:
        source = f"{self.workload.name} on {self.arch.name}"
        return [Fault(source, None, "", message) for message in messages]


def _and(limits: Sequence[Limit]) -> str:
    return " and ".join(dict.fromkeys(limit.text for limit in limits))


def _size_faults(arch: Architecture, workload: Workload) -> list[str]:
    """List what is beyond the limits."""
    faults = []
    if (dims := len(workload.dims)) > MOST_DIMS:
        faults.append(f"a layer has at most {MOST_DIMS} dims; this one has {dims}")
    if (levels := len(arch.levels)) > MOST_LEVELS:
        rule = f"a machine has at most {MOST_LEVELS} levels, a level for each tensor of a memory with uneven placement"
        faults.append(f"{rule}; this one has {levels}")
    return faults


def _name_faults(arch: Architecture, workload: Workload) -> list[str]:
    """List the contradictions between names."""
    faults = []
    for slot in arch.slots:
        named = [d for d in slot.constraint.outermost + slot.constraint.innermost if d in workload.dims]
        for dim in sorted({d for d in named if named.count(d) > 1}):
            faults.append(f"the loop order of {slot.name} places {dim} more than once")
    for level in arch.levels:
        bypass = level.bypass & {tensor.name for tensor in workload.tensors}
        for tensor in sorted(bypass & level.keep):
            faults.append(f"{level.name} must both keep and bypass {tensor}")
        if level is arch.levels[0]:
            name = f"{level.of_memory} is the outermost level"
            faults += [f"{name} and cannot bypass {t}" for t in sorted(bypass) if not arch.home(t)]
            faults += [f"{name} and holds whole tensors: its placement is even"] * (level.placement != "even")
    return faults
