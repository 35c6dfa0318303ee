"""Sums of products in logarithms, bounded from below by linear forms.

A sum of exponentials is convex in its exponents, so its tangents are bounds (outer approximation). A window, as the
P + R - 1 rows of inputs below loops P and R, is not quite convex: there a tangent may cut off what it should not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log

from ...mapping import Floats
from .programme import Form, total

MOST_FLOORS = 16  # of one product of windows


@dataclass(frozen=True, eq=False)
class Window:
    """The length of a tile along a rank: 1 + sum of coef * (extent - 1) over its dims."""

    terms: tuple[tuple[int, Form], ...]  # coef, logarithm of the extent

    def tangent(self, point: Floats) -> Form:
        """Return the tangent of the logarithm of the length at a point."""
        extents = [exp(form.at(point)) for _, form in self.terms]
        length = 1 + sum(coef * (extent - 1) for (coef, _), extent in zip(self.terms, extents, strict=True))
        sides = [form * (coef * e / length) for (coef, form), e in zip(self.terms, extents, strict=True)]
        slope = total(sides)
        return slope + (log(length) - slope.at(point))


@dataclass(frozen=True, eq=False)
class Product:
    """The logarithm of a product: of a form, and of the lengths of windows."""

    form: Form
    windows: tuple[Window, ...] = ()

    def tangent(self, point: Floats) -> Form:
        """Return the tangent at a point."""
        return total([self.form, *(window.tangent(point) for window in self.windows)])

    def floors(self) -> list[Form]:
        """List linear lower bounds: a window is at least as long as the extent of each of its dims."""
        chosen = product(*([form for _, form in window.terms] for window in self.windows))
        return [total([self.form, *forms]) for forms, _ in zip(chosen, range(MOST_FLOORS), strict=False)]


@dataclass(frozen=True, eq=False)
class LogSum:
    """The logarithm of a sum of products."""

    products: Sequence[Product]

    def at(self, point: Floats) -> float:
        """Return its value at a point."""
        return self.tangent(point).at(point)

    def tangent(self, point: Floats) -> Form:
        """Return the tangent at a point."""
        tangents = [term.tangent(point) for term in self.products]
        values = [form.at(point) for form in tangents]
        most = max(values)
        whole = sum(exp(value - most) for value in values)
        slope = total(form * (exp(value - most) / whole) for form, value in zip(tangents, values, strict=True))
        return slope + (most + log(whole) - slope.at(point))

    def floors(self) -> list[Form]:
        """List linear lower bounds: the sum is at least each of its products."""
        return [form for term in self.products for form in term.floors()]
