"""The mapspace with fewer remainders inside a mapspace."""

from ...workloads import InputError
from .mapspace import Mapspace
from .presets import Preset, remainders

INSIDE: tuple[Preset, ...] = ("ruby-s", "pfm")  # ruby-s has all of pfm, and its optimum mostly comes near that of ruby


def smaller(space: Mapspace) -> Mapspace | None:
    """Make the mapspace of ruby-s or pfm inside `space`, ready to draw from; None where there is none, or it is empty.

    The mapspace of ruby-s has none: it is as quickly searched as that of pfm.
    """
    for preset in INSIDE:
        flags, _ = remainders(space.arch, space.workload, preset)
        if preset == "ruby-s" and flags == space.remainders:
            return None
        pairs = zip(flags, space.remainders, strict=True)
        if flags != space.remainders and all(own or not flag for flag, own in pairs):
            try:
                inside = Mapspace(space.arch, space.workload, flags, distinct=space.distinct)
                inside.prepare()
            except InputError:
                continue
            return inside
    return None
