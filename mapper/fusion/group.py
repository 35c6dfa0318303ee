"""Fused groups as values: stages in a row that hand each other tiles in one memory.

Shared loops over dims of the last stage stand outside all stages. In each of their steps every stage runs once, in
turn, for the part of its output that the stages after it read and nobody computed before (docs/fusion.md).
"""

from dataclasses import dataclass, field
from functools import cached_property

from ...workloads import Workload
from ...workloads.operators import OPERATORS, Causal, Operator

RETAIN, RECOMPUTE = "retain", "recompute"  # what is done with words that later tiles need again
STAGE, GROUP, PLAN = "stage", "group", "plan"  # how long a tensor stays, or inside the loop of a shared dim


@dataclass(frozen=True)
class Link:
    """A tensor that one stage makes and a later one reads."""

    producer: int  # the number of a stage
    consumer: int
    tensor: str  # by its name in the consumer
    # per rank of the consumer's tensor the dim of the producer's output that it runs along, or none where both have one
    # word there; and the zeros before the first word
    ranks: tuple[tuple[str | None, int], ...]
    through: str = ""  # the operator on its words: a key of OPERATORS
    streaming: bool = False  # whether an operator on rows is applied tile by tile, and its results are rescaled
    causal: Causal | None = None

    @property
    def operator(self) -> Operator | None:
        """The operator on its words."""
        return OPERATORS[self.through] if self.through else None

    @property
    def mask(self) -> Causal | None:
        """The causal mask, where it hides anything."""
        return self.causal if self.causal is not None and self.causal.hides else None


@dataclass(frozen=True)
class Group:
    """Layers that are executed together, and how: what is shared, where tiles stay, and how long."""

    stages: tuple[Workload, ...]  # in turn; the last makes the output of the group
    links: tuple[Link, ...]
    keeper: str  # the memory in which the tensors between stages stay
    shared: tuple[tuple[str, int], ...] = ()  # (dim of the last stage, tile), the outermost loop first
    # shared dims along which words that later tiles need again stay; along others they are computed again
    retained: frozenset[str] = frozenset()
    # tensors of stages that stay in the keeper, too: (stage, tensor) -> how many of the shared loops stand outside it
    kept: tuple[tuple[tuple[int, str], int], ...] = field(default=())
    # those of stages that stand in the keeper as wholes for longer than the group: inputs that are there before it, an
    # output that is there after it: (stage, tensor)
    lasting: frozenset[tuple[int, str]] = frozenset()
    reserved: tuple[int, ...] = ()  # per stage the bits of all that stands there for longer, these among it; none: 0

    @cached_property
    def loops(self) -> tuple[str, ...]:
        """The shared dims, the outermost first."""
        return tuple(dim for dim, _ in self.shared)

    @cached_property
    def depths(self) -> dict[tuple[int, str], int]:
        """How many of the shared loops stand outside each kept tensor."""
        return dict(self.kept)

    def trips(self, dim: str) -> int:
        """The steps of a shared loop."""
        return -(-self.stages[-1].size(dim) // dict(self.shared)[dim])

    def consumers(self, stage: int) -> tuple[Link, ...]:
        """The links to the stages that read the output of a stage."""
        return tuple(link for link in self.links if link.producer == stage)

    def inputs(self, stage: int) -> tuple[Link, ...]:
        """The links by which a stage reads what others make."""
        return tuple(link for link in self.links if link.consumer == stage)

    def intermediate(self, stage: int, tensor: str) -> bool:
        """Whether a tensor of a stage is between stages: what it reads from one, or makes for others."""
        output = self.stages[stage].output.name
        made = tensor == output and bool(self.consumers(stage))
        return made or any(link.consumer == stage and link.tensor == tensor for link in self.links)

    def resident(self, stage: int) -> frozenset[str]:
        """The tensors of a stage that are in the keeper as a whole while it runs."""
        tensors = (tensor.name for tensor in self.stages[stage].tensors)
        return frozenset(name for name in tensors if self.intermediate(stage, name) or self.stays(stage, name))

    def stays(self, stage: int, tensor: str) -> bool:
        """Whether a tensor that is between no stages stays in the keeper, for the group or for longer."""
        return (stage, tensor) in self.depths or (stage, tensor) in self.lasting

    @cached_property
    def reduced(self) -> frozenset[str]:
        """The shared dims over which the last stage adds up: its output gathers, or goes out and comes back."""
        return frozenset(self.loops) - self.stages[-1].output.dims

    @property
    def halo(self) -> dict[str, str]:
        """What is done with words between stages that later tiles of a shared dim need again, by the dim."""
        return {dim: RETAIN if dim in self.retained else RECOMPUTE for dim in self.loops}

    @property
    def life(self) -> dict[str, str]:
        """How long each tensor that is between no stages stays in the keeper, by stage.tensor.

        For its stage alone (it does not stay), for the group, while the loops inside that of a shared dim run, or for
        longer than the group.
        """
        lives = {}
        for number, stage in enumerate(self.stages):
            for tensor in stage.tensors:
                if not self.intermediate(number, tensor.name):
                    depth = self.depths.get((number, tensor.name))
                    where = STAGE if depth is None else GROUP if not depth else self.loops[depth - 1]
                    lives[f"{stage.name}.{tensor.name}"] = PLAN if (number, tensor.name) in self.lasting else where
        return lives
