"""The dims of a tensor in another order: what lies between tensors of ONNX and the ranks that a layer of ours has."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..networks import long


@dataclass(frozen=True)
class View:
    """A tensor with its dims in another order; dims of one word are left out."""

    sizes: tuple[int, ...]  # of the tensor as it is there: its dims, some of them joined or split
    order: tuple[int, ...]  # of these, as they are read

    @classmethod
    def of(cls, sizes: Sequence[int], order: Sequence[int] | None = None) -> "View":
        """The view of dims of these sizes in this order; without one, in theirs."""
        order = range(len(sizes)) if order is None else order
        kept = [at for at, size in enumerate(sizes) if size > 1]
        return cls(long(sizes), tuple(kept.index(at) for at in order if sizes[at] > 1))

    @property
    def plain(self) -> bool:
        """Whether the words are read in the order in which they are there."""
        return list(self.order) == sorted(self.order)

    @property
    def made(self) -> tuple[int, ...]:
        """The sizes as they are read."""
        return tuple(self.sizes[at] for at in self.order)

    def after(self, first: "View") -> "View | None":
        """The two as one; None where what `first` makes has other dims than this one reads."""
        if first.made != self.sizes:
            return None
        return View(first.sizes, tuple(first.order[at] for at in self.order))
