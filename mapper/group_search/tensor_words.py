"""The words of a tensor between stages that stand in the keeper in one step, for all combinations of tiles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..mapping import Floats


@dataclass(frozen=True, eq=False)
class TensorWords:
    """The words of a tensor between stages, in a step in the middle of all loops."""

    loops: dict[str, dict[str, Floats]]  # by loop, along its axis, the figures of held_words.py
    still: int  # along ranks that no loop moves

    def most(self, order: Sequence[str], *, before: bool, after: bool) -> Floats:
        """Words along all loops that stand there, in this order."""
        return self._words([self.loops[loop] for loop in order], before=before, after=after)

    def _words(self, loops: Sequence[Mapping[str, Floats]], *, before: bool, after: bool) -> Floats:
        if not loops:
            return np.asarray(float(not (before or after)))
        loop, inner = loops[0], loops[1:]
        every = _product(own["all"] for own in inner)
        return (
            loop["inside"] * every
            + loop["ending"] * _ends(inner, after)
            + loop["beginning"] * _begins(inner, before)
            + loop["alone"] * self._words(inner, before=before, after=after)
        )


def _ends(loops: Sequence[Mapping[str, Floats]], after: bool) -> Floats:
    if not loops:
        return np.asarray(float(not after))
    loop, inner = loops[0], loops[1:]
    return loop["later"] * _product(own["all"] for own in inner) + loop["old"] * _ends(inner, after)


def _begins(loops: Sequence[Mapping[str, Floats]], before: bool) -> Floats:
    if not loops:
        return np.asarray(float(not before))
    loop, inner = loops[0], loops[1:]
    return loop["earlier"] * _product(own["all"] for own in inner) + loop["new"] * _begins(inner, before)


def _product(figures: Iterable[Floats]) -> Floats:
    return np.asarray(prod(figures, start=np.ones(())))
