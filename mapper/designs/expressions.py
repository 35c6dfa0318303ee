"""Expressions of parameters: computed from the other parameters, in whatever order they stand."""

from collections.abc import Iterator, Mapping
from typing import Any

from ...workloads import near
from ...workloads.expressions import arithmetic, is_expression, names_in

Values = dict[str, Any]  # parameter -> its value in one design


class ExpressionError(ValueError):
    """An expression of a parameter cannot be computed; the message says why."""

    def __init__(self, name: str, message: str) -> None:
        self.name, self.message = name, message
        super().__init__(f"{name}: {message}")


def computed(written: Values) -> Values:
    """Compute the expressions in `written`: each may use the other parameters that are plain names.

    Returns all values. Raises ExpressionError for the first expression that cannot be computed.
    """
    if not any(isinstance(value, str) for value in written.values()):
        return dict(written)
    values, reasons = solved(written)
    for name, message in reasons.items():
        raise ExpressionError(name, message)
    return values


def solved(written: Values) -> tuple[Values, dict[str, str]]:
    """Compute the expressions in `written` that can be; returns all values, and by parameter why some cannot be.

    An expression that only waits for another such expression is left as it is, without a reason of its own.
    """
    names = numbers(written)
    waiting = {name: value for name, value in written.items() if _is_computed(value, written)}
    results = dict(_tried(waiting, names))
    while done := {name: result for name, result in results.items() if not isinstance(result, ValueError)}:
        names |= done
        waiting = {name: value for name, value in waiting.items() if name not in done}
        results = dict(_tried(waiting, names))
    needs = {name: _needs(text) - names.keys() for name, text in waiting.items()}
    reasons = {name: _reason(name, str(error), needs, {*names, *waiting}) for name, error in results.items()}
    values = {name: names.get(name, value) for name, value in written.items()}
    return values, {name: reason for name, reason in reasons.items() if reason}


def _needs(text: str) -> set[str]:
    """The names in an expression; none in a malformed expression, which `arithmetic` reports."""
    try:
        return names_in(text)
    except ValueError:
        return set()


def _reason(name: str, error: str, needs: Mapping[str, set[str]], known: set[str]) -> str:
    """Why the expression of `name`, which waits for `needs[name]`, cannot be computed; "" where another is to blame."""
    unknown = sorted(needs[name] - known)
    if unknown:
        choices = sorted(other for other in known - {name} if "." not in other)
        rule = "an expression may use the other parameters that are bare names"
        which = f"{', '.join(choices) or 'here none'}, and no other variable of the architecture"
        return f"unknown name {unknown[0]!r}: {rule}, {which}{near(unknown[0], choices)}"
    if not needs[name]:
        return error
    together = [other for other in needs if other in _reached(name, needs) and name in _reached(other, needs)]
    if name not in together:
        return ""
    return "is computed from itself" if len(together) == 1 else f"{', '.join(together)} are computed from each other"


def _reached(name: str, needs: Mapping[str, set[str]]) -> set[str]:
    """The names that `name` waits for, directly and through others."""
    reached, following = set[str](), set(needs[name])
    while following:
        reached |= following
        following = {other for next_name in following for other in needs.get(next_name, ())} - reached
    return reached


def _tried(waiting: Values, names: Values) -> Iterator[tuple[str, Any]]:
    """Try each expression: its name, and its value or ValueError."""
    for name, text in waiting.items():
        try:
            yield name, arithmetic(text, names)
        except ValueError as error:
            yield name, error


def numbers(values: Values) -> Values:
    """The values that are numbers."""
    return {
        name: value for name, value in values.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _is_computed(value: Any, names: Mapping[str, Any]) -> bool:
    """Whether a value is an expression or the name of a parameter; other text (`type: LPDDR4`) stays text."""
    return isinstance(value, str) and (is_expression(value) or value in names)
