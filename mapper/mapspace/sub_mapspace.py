"""The mapspace with fewer remainders, or with even placement, inside a mapspace."""

from collections.abc import Iterator

from ...workloads import InputError
from .mapspace import Mapspace
from .presets import Preset, remainders

INSIDE: tuple[Preset, ...] = ("ruby-s", "pfm")  # ruby-s has all of pfm, and its optimum mostly comes near that of ruby


def sub_mapspace(space: Mapspace) -> Mapspace | None:
    """Make the mapspace of ruby-s or pfm inside `space`, with even placement, ready to draw from.

    None where there is none, or it is empty. That of ruby-s has one only if a memory has uneven placement: else it is
    as quickly searched as that of pfm.
    """
    uneven = bool(space.keep_choices.stacks)
    for flags in _fewer(space):
        if uneven or flags != space.remainders:
            try:
                inside = Mapspace(space.arch, space.workload, flags, distinct=space.distinct, even=True)
                inside.prepare()
            except InputError:
                continue
            return inside
    return None


def _fewer(space: Mapspace) -> Iterator[tuple[bool, ...]]:
    """Yield which slots have remainders: those of the presets up to its own, then as it has them itself."""
    for preset in INSIDE:
        flags, _ = remainders(space.arch, space.workload, preset)
        if flags == space.remainders:
            break
        if all(own or not flag for flag, own in zip(flags, space.remainders, strict=True)):
            yield flags
    yield space.remainders
