"""Nodes of ONNX that arrange words, as terms: transposes, joins, and parts by their places."""

from collections.abc import Sequence

from ....workloads.onnx import Node
from ..graphs import CONCAT, PART
from ..terms import Term
from .reading import Reading


def transpose(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Transpose of a matrix."""
    own = reading.made("transpose", (), *reading.operands(node))
    return None if own is None or list(node.attributes.get("perm", [1, 0])) != [1, 0] else [own]


def concat(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Concat, of many tensors one after the other."""
    own, *rest = reading.operands(node)
    if "axis" not in node.attributes:
        return None
    axis = _axis(reading, own, node.attributes["axis"])
    for other in rest:
        joined = None if axis is None else reading.made(CONCAT, (axis,), own, other)
        if joined is None:
            return None
        own = joined
    return [own]


def split(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return the parts that a Split makes, of which the sizes are constant."""
    own = reading.tensors[node.inputs[0]]
    axis = _axis(reading, own, node.attributes.get("axis", 0))
    if axis is None:
        return None
    sizes = _parts(reading, node, reading.sizes(own)[axis])
    if sizes is None or len(sizes) != len(node.outputs) or min(sizes) < 1 or sum(sizes) != reading.sizes(own)[axis]:
        return None
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    parts = [reading.made(PART, (axis, end - size, end), own) for size, end in zip(sizes, ends, strict=True)]
    known = [one for one in parts if one is not None]
    return known if len(known) == len(parts) else None


def _parts(reading: Reading, node: Node, whole: int) -> list[int] | None:
    """The sizes that a Split says: one by one, or, of nothing said, as equal as they can be, with the last smaller."""
    given = reading.operand(node, 1)
    if given is not None:
        return reading.integers(given)
    if "split" in node.attributes:
        return list(node.attributes["split"])
    number = len(node.outputs)
    each_size = -(-whole // number)
    return [*[each_size] * (number - 1), whole - each_size * (number - 1)]


def sliced(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Slice of constant places and steps of one, a part along each axis that it names."""
    own, places = reading.tensors[node.inputs[0]], _places(reading, node)
    if places is None:
        return None
    for axis, start, end in sorted(places):
        size = reading.sizes(own)[axis]
        first, last = (min(max(place + size if place < 0 else place, 0), size) for place in (start, end))
        if first >= last or (taken := reading.made(PART, (axis, first, last), own)) is None:
            return None
        own = taken
    return [own]


def _places(reading: Reading, node: Node) -> list[tuple[int, int, int]] | None:
    """The axes of a Slice, each with its start and its end; None where these are computed, or steps are others than
    one."""
    lists = _of_attributes(node) if "starts" in node.attributes else _of_operands(reading, node)
    if lists is None:
        return None
    starts, ends, axes, steps = lists
    number, own = len(starts), reading.tensors[node.inputs[0]]
    known = [_axis(reading, own, axis) for axis in (range(number) if axes is None else axes)]
    counted = [axis for axis in known if axis is not None]
    if not number == len(ends) == len(known) == len({*counted}) or any(step != 1 for step in steps or ()):
        return None
    return list(zip(counted, starts, ends, strict=True))


Lists = tuple[list[int], list[int], list[int] | None, list[int] | None]  # starts, ends, axes, steps


def _of_attributes(node: Node) -> Lists:
    given = node.attributes
    return list(given["starts"]), list(given.get("ends", ())), given.get("axes"), None


def _of_operands(reading: Reading, node: Node) -> Lists | None:
    operands = [reading.operand(node, number) for number in range(1, 5)]
    starts, ends, axes, steps = values = [reading.integers(own) for own in operands]
    if any(value is None and own is not None for value, own in zip(values, operands, strict=True)):
        return None
    return None if starts is None or ends is None else (starts, ends, axes, steps)


def _axis(reading: Reading, own: Term, axis: int) -> int | None:
    """An axis counted from the first; None where the tensor does not have it."""
    rank = len(reading.sizes(own))
    return axis % rank if -rank <= axis < rank else None
