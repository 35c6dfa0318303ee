"""How many words of a tensor the MACs of a layer touch."""

from collections.abc import Iterable
from functools import reduce
from itertools import permutations
from math import prod

import numpy as np

from ....workloads import Tensor, Workload
from .ranks import distinct_sums

LISTED = 2**20  # sums of a rank that are listed to be counted


def touched_words(workload: Workload, tensor: Tensor) -> int:
    """Words of `tensor` that some MAC uses: fewer than `tensor_words` where a stride leaves gaps.

    At least so many where a rank of three terms or more leaves gaps among more than LISTED sums.
    """
    return prod(_sums([(term.coef, workload.size(term.dim)) for term in rank]) for rank in tensor.ranks)


def _sums(terms: Iterable[tuple[int, int]]) -> int:
    """How many different sums of coef * x there are, 0 <= x < size, for terms (coef, size); of no term, one."""
    terms = _without_gaps([(coef, size) for coef, size in terms if size > 1])
    sizes = [size for _, size in terms]
    if len(terms) < 2:
        return prod(sizes)
    if len(terms) > 2 and prod(sizes) <= LISTED:
        listed = (np.arange(size) * coef for coef, size in terms)
        return len(reduce(lambda sums, more: np.unique(np.add.outer(sums, more)), listed))
    (coef, size), (other, times) = terms[:2]
    # in Python's integers, which the product of two sizes may need
    (of_two,) = distinct_sums(*(np.array([n], object) for n in (size, times, coef, other)))
    # any set of numbers grows by size - 1 at least with another term
    return int(of_two) + sum(size - 1 for size in sizes[2:])


def _without_gaps(terms: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same sums, with two terms as one wherever the steps of one fill the strides of the other."""
    for one, other in permutations(range(len(terms)), 2):
        (coef, size), (stride, times) = terms[one], terms[other]
        if not stride % coef and stride // coef <= size:
            other_terms = [term for index, term in enumerate(terms) if index not in (one, other)]
            return _without_gaps([*other_terms, (coef, size + stride // coef * (times - 1))])
    return terms
