"""Convolutions and pooling of ONNX as terms."""

from collections.abc import Sequence

from ....workloads.onnx import Node, zeros_around
from ..operators import NONE, SAME, VALID
from ..terms import Term
from .reading import Reading

Pair = tuple[int, int]
AUTOMATIC = (b"NOTSET", b"SAME_LOWER", b"SAME_UPPER", b"VALID")


def conv(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Conv of two spatial dims, and its bias."""
    own, weights, *rest = reading.operands(node)
    data, kernels = reading.sizes(own), reading.sizes(weights)
    if len(data) != 4 or len(kernels) != 4 or (windows := _windows(reading, node, kernels[2:])) is None:
        return None
    group, (stride, pad) = node.attributes.get("group", 1), windows
    if group < 1 or kernels[1] * group != data[1]:
        return None
    product = reading.made("conv" if group == 1 else "gconv", (stride, pad, NONE), own, weights)
    if product is None or not rest:
        return None if product is None else [product]
    biased = reading.made("bias", (1,), product, rest[0])
    return None if biased is None else [biased]


def average_pool(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return an AveragePool in which zeros of padding count as words."""
    made = _pooled(reading, node, "pool_avg")
    counted = bool(node.attributes.get("count_include_pad", 0))
    if made is None or counted or made[0].params[0] == (1, 1) or made[0].params[2] == VALID:
        return made
    return None


def max_pool(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a MaxPool without the places of what it takes."""
    return _pooled(reading, node, "pool_max") if len(node.outputs) == 1 else None


def _pooled(reading: Reading, node: Node, op: str) -> Sequence[Term] | None:
    (own,), kernel = reading.operands(node), tuple(node.attributes.get("kernel_shape", ()))
    if len(reading.sizes(own)) != 4 or node.attributes.get("ceil_mode", 0):
        return None
    windows = _windows(reading, node, kernel)
    made = None if windows is None else reading.made(op, (kernel, *windows), own)
    return None if made is None else [made]


def _windows(reading: Reading, node: Node, kernel: Sequence[int]) -> tuple[Pair, str] | None:
    """The stride of windows, and the name of the zeros around; None of others than the table has."""
    given, output = node.attributes, reading.known(node.output)
    strides, steps = given.get("strides", [1, 1]), given.get("dilations", [1, 1])
    if len(strides) != 2 or list(steps) != [1, 1] or len(kernel) != 2 or min(*strides, *kernel) < 1:
        return None
    known = given.get("auto_pad", b"NOTSET") in AUTOMATIC and tuple(given.get("kernel_shape", kernel)) == tuple(kernel)
    if not known or output is None or len(output.sizes) != 4:
        return None
    data = reading.sizes(reading.tensors[node.inputs[0]])[2:]
    zeros = zeros_around(reading.graph, node, data, tuple(kernel), output.sizes[2:])
    stride = (strides[0], strides[1])
    if all(window % 2 and both == (window // 2, window // 2) for both, window in zip(zeros, kernel, strict=True)):
        return stride, SAME
    return None if any(map(any, zeros)) else (stride, VALID)
