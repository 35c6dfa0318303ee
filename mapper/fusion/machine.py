"""The machine of each stage: the architecture with its tensors resident in the keeper, and the room that is left."""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from ...arch import Architecture
from .group import Group
from .held_words import HeldWords, KeptTensor
from .intervals import Between, Box, boxes
from .passes import statistics_words
from .steps import StepLayer, step_layers


@dataclass(frozen=True, eq=False)
class Standing:
    """What stands in the keeper of a group, stage by stage."""

    group: Group
    arch: Architecture

    @cached_property
    def level(self) -> int:
        """The number of the keeper's level. Raises StopIteration for a name that the machine has not."""
        return self.arch.number_of(self.group.keeper)

    @cached_property
    def _boxes(self) -> tuple[tuple[Box, ...], dict[int, Between]]:
        return boxes(self.group)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """What each stage computes."""
        return self._boxes[0]

    @property
    def needed(self) -> dict[int, Between]:
        """What is needed of each tensor between stages, by the stage that makes it."""
        return self._boxes[1]

    @cached_property
    def between(self) -> dict[int, HeldWords]:
        """The words between stages, by the stage that makes them."""
        return {stage: HeldWords.of(self.group, needed) for stage, needed in self.needed.items()}

    @cached_property
    def kept(self) -> dict[tuple[int, str], KeptTensor]:
        """The kept tensors."""
        return {
            (stage, name): KeptTensor.of(self.group, stage, name, self.boxes[stage])
            for (stage, name), _ in self.group.kept
        }

    def bits(self, stage: int, tensor: str) -> int:
        """The bits of a word of a stage's tensor in the keeper."""
        own = next(own for own in self.group.stages[stage].tensors if own.name == tensor)
        return self.arch.levels[self.level].bits(tensor, own.word_bits)

    def word_bits(self, producer: int) -> int:
        """The bits of a word between stages: the most that it has for a stage that makes or reads it."""
        links = self.group.consumers(producer)
        read = [self.bits(link.consumer, link.tensor) for link in links]
        return max([self.bits(producer, self.group.stages[producer].output.name), *read])

    def standing_bits(self, stage: int) -> int:
        """The bits of all that stands in the keeper for the group, and for longer, while a stage runs."""
        between = sum(words.most(stage) * self.word_bits(producer) for producer, words in self.between.items())
        kept = sum(kept.most * self.bits(*key) for key, kept in self.kept.items())
        lasting = self.group.reserved[stage] if self.group.reserved else 0
        return between + kept + lasting + self.statistics_bits

    @cached_property
    def statistics_bits(self) -> int:
        """The bits of the statistics of rows that stream: of all rows inside the outermost loop that cuts rows."""
        last = len(self.group.stages) - 1
        words = statistics_words(self.group, self.boxes[last])
        return sum(number * self.bits(last, tensor) for tensor, number in words)

    def free_bits(self, stage: int) -> int | None:
        """The bits that are left for the other tensors of a stage, below 0 where not all fits; None: without limit."""
        usable = self.arch.levels[self.level].usable_bits
        return None if usable is None else usable - self.standing_bits(stage)

    def machine(self, layer: StepLayer) -> Architecture:
        """Return the machine on which a stage is a layer: what stands in the keeper is resident there.

        Its capacity is what is left for the layer, with the words of its own that stand there. Raises ValueError where
        the keeper cannot have them, or nothing is left.
        """
        resident = self.group.resident(layer.stage)
        arch, work = self.arch.with_resident(self.level, resident), layer.workload(self.group)
        free = self.free_bits(layer.stage)
        if free is None:
            return arch
        if free < 0:
            raise ValueError(f"{self.group.keeper} is {-free:,} bits too small for what stays in it")
        own = sum(
            work.tensor_words(tensor) * self.bits(layer.stage, tensor.name)
            for tensor in work.tensors
            if tensor.name in resident
        )
        return arch.with_usable(self.level, free + own)

    @cached_property
    def layers(self) -> dict[StepLayer, int]:
        """The layers that the stages are in the steps of the shared loops, each with the number of its steps."""
        layers: dict[StepLayer, int] = {}
        for stage, box in enumerate(self.boxes):
            layers |= step_layers(self.group, stage, box)
        return layers

    @property
    def steps(self) -> int:
        """The steps of all shared loops together."""
        return prod(self.group.trips(loop) for loop in self.group.loops)
