"""Mappings ranked by their values, several objectives in turn."""

import numpy as np

from ...mapping import Floats, Ints

TIE = 1e-12  # relative: values no further apart are equal


def ranked(values: Floats) -> Ints:
    """Return the order of the rows # (mapping, objective), the best first; of equal rows the first."""
    order: Ints = np.lexsort(values.T[::-1])
    return order


def ranked_apart(values: Floats) -> Ints:
    """The same with one of each value, of finite ones: mappings of equal value mostly differ in ways that do not
    matter."""
    order = ranked(values)
    ascending = values[order]
    new = np.ones(len(order), bool)
    new[1:] = (abs(ascending[1:] - ascending[:-1]) > TIE * abs(ascending[:-1])).any(axis=1)
    return order[new]


def log_change(before: Floats, after: Floats) -> Floats:
    """Compute ln(after / before) of the first objective in which the rows # (mapping, objective) differ; 0 in none.

    The values of invalid mappings are inf, all equal. # (mapping,)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.isfinite(before) & (abs(after - before) <= TIE * abs(before))
        apart = ~near & (before != after)
        first = apart.argmax(axis=1)[:, None]
        old, new = (np.take_along_axis(values, first, axis=1)[:, 0] for values in (before, after))
        return np.where(apart.any(axis=1), np.log(new) - np.log(old), 0.0)
