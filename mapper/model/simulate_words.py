"""Sets of words, for the executor."""

from itertools import product

from ...workloads import Tensor, Workload

Box = tuple[tuple[int, int], ...]  # per dim: start, end (clipped at the dim's size)
Words = frozenset[tuple[int, ...]]
Instance = tuple[int, ...]  # of a level, by its coordinates along the axes outside it


def words_under(workload: Workload, tensor: Tensor, box: Box) -> Words:
    """The words of `tensor` under a box of dims: per rank the whole interval between its ends."""
    index = {dim: d for d, dim in enumerate(workload.dims)}
    intervals = []
    for rank in tensor.ranks:
        first = sum(term.coef * box[index[term.dim]][0] for term in rank)
        last = sum(term.coef * (box[index[term.dim]][1] - 1) for term in rank)
        intervals.append(range(first, last + 1))
    return frozenset(product(*intervals))


def first_words(tensor: Tensor, seen: dict[Instance, set[tuple[int, ...]]], origin: Instance) -> tuple[int, int]:
    """Words that an output begins with, so that no read comes before: of all instances, and of the origin."""
    return (sum(map(len, seen.values())), len(seen[origin])) if tensor.begins_empty else (0, 0)
