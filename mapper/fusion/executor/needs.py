"""What is needed of each stage, word by word, for the executor of groups."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from ..group import Group, Link
from .word_values import Ends, Word, Words, tensor_named, words_under

Step = tuple[int, ...]  # the index of each shared loop
Moving = Mapping[str, frozenset[str]]  # the shared loops that move a dim of a stage; none: a dim that is left out


def steps_of(group: Group) -> list[Step]:
    """List the steps of all shared loops, in their order."""
    return list(product(*(range(group.trips(loop)) for loop in group.loops)))


def moved_with_masks(group: Group, stage: int, moving: Moving) -> Moving:
    """Add the keys of causal masks to what loops move: they move with the queries."""
    masks = [link.mask for link in group.inputs(stage) if link.mask is not None]
    return {**moving, **{mask.key: moving.get(mask.query, frozenset()) for mask in masks}}


def moved_by_readers(group: Group, stage: int, moving: Sequence[Moving]) -> Moving:
    """Find the loops that move the dims of a stage: those that move what each of its readers reads along them."""
    own: dict[str, frozenset[str]] = {}
    for link in group.consumers(stage):
        tensor = tensor_named(group.stages[link.consumer], link.tensor)
        for rank, (dim, _) in zip(tensor.ranks, link.ranks, strict=True):
            if dim is not None:
                loops = frozenset[str]().union(*(moving[link.consumer].get(term.dim, frozenset()) for term in rank))
                own[dim] = loops & own.get(dim, loops)
    return own


def needed_words(
    group: Group, stage: int, moving: Moving, boxes: Sequence[Mapping[Step, Ends]], whole: Words | None
) -> dict[Step, Words]:
    """List the words of a stage's output that are needed in each step.

    Along each rank these are all words around those that later stages read, in any step that is alike in the loop that
    moves the rank; along a rank that none moves those of `whole`, which are needed without shared loops. Nothing is
    needed in a step of a loop in which no later stage runs.
    """
    output = group.stages[stage].output
    loops = [moving.get(rank[0].dim, frozenset()) for rank in output.ranks]
    read, running = _read_along(group, stage, loops, boxes)
    if whole is not None:
        read |= {(rank, ()): {word[rank] for word in whole} for rank, own in enumerate(loops) if not own}
    needed: dict[Step, Words] = {}
    for step in steps_of(group):
        every = [read.get((rank, _indices(group, step, own)), set[int]()) for rank, own in enumerate(loops)]
        words = product(*(range(min(along), max(along) + 1) if along else () for along in every))
        needed[step] = frozenset(words) if set(enumerate(step)) <= running else frozenset()
    return needed


def _read_along(
    group: Group, stage: int, loops: Sequence[frozenset[str]], boxes: Sequence[Mapping[Step, Ends]]
) -> tuple[dict[tuple[int, Step], set[int]], set[tuple[int, int]]]:
    """List the indices that are read of a stage's output, by rank and by the step of the loops that move it; and the
    steps of each loop in which they are."""
    output, links = group.stages[stage].output, group.consumers(stage)
    read: dict[tuple[int, Step], set[int]] = {}
    running: set[tuple[int, int]] = set()
    named = {dim for link in links for dim, _ in link.ranks}
    for link in links:
        elsewhere = named - {dim for dim, _ in link.ranks}
        for step, ends in boxes[link.consumer].items():
            if not ends:
                continue
            running |= set(enumerate(step))
            for rank, along in enumerate(zip(*_read(group, link, ends), strict=True)):
                if output.ranks[rank][0].dim not in elsewhere:
                    read.setdefault((rank, _indices(group, step, loops[rank])), set()).update(along)
    return read, running


def _indices(group: Group, step: Step, loops: frozenset[str]) -> Step:
    """The indices of some loops in a step."""
    return tuple(index for index, loop in zip(step, group.loops, strict=True) if loop in loops)


def _read(group: Group, link: Link, ends: Ends) -> Iterator[Word]:
    """The words that a stage reads over a link, in the coordinates of the producer; zeros lie outside its sizes."""
    tensor = tensor_named(group.stages[link.consumer], link.tensor)
    place = {dim: i for i, (dim, _) in enumerate(link.ranks) if dim is not None}
    for word in words_under(tensor, ends):
        yield tuple(
            word[place[rank[0].dim]] - link.ranks[place[rank[0].dim]][1] if rank[0].dim in place else 0
            for rank in group.stages[link.producer].output.ranks
        )
