"""Nodes of ONNX that go word by word, as terms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....workloads.onnx import Node
from ..terms import Term
from .reading import Reading


def relu(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Relu."""
    return _single(reading.made("relu", (), *reading.operands(node)))


def add(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return an Add of two tensors of equal sizes, or of one and a vector along an axis."""
    one, other = reading.operands(node)
    if reading.sizes(one) == reading.sizes(other):
        return _single(reading.made("ewadd", (), one, other))
    return _single(_along(reading, "bias", one, other) or _along(reading, "bias", other, one))


def mul(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Mul of two tensors of equal sizes, or of one and a vector along an axis, or a scalar."""
    one, other = reading.operands(node)
    if reading.sizes(one) == reading.sizes(other):
        return _single(reading.made("ewmul", (), one, other))
    for whole, factor in ((one, other), (other, one)):
        own, words = reading.sizes(whole), reading.sizes(factor)
        if len(words) <= len(own) and set(words) <= {1}:
            return _single(reading.made("smul", (), whole, reading.reshaped(factor, ())))
    return _single(_along(reading, "scale", one, other) or _along(reading, "scale", other, one))


def summed(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Sum of tensors of equal sizes, one after the other."""
    own, *rest = reading.operands(node)
    for other in rest:
        made = reading.made("ewadd", (), own, other)
        if made is None:
            return None
        own = made
    return [own]


def _along(reading: Reading, op: str, whole: Term, vector: Term) -> Term | None:
    """The operator on a tensor and what is repeated along all its axes but one."""
    own, words = reading.sizes(whole), reading.sizes(vector)
    axes = [len(own) - len(words) + at for at, size in enumerate(words) if size != 1]
    if len(words) > len(own) or len(axes) != 1 or own[axes[0]] != max(words):
        return None
    return reading.made(op, (axes[0],), whole, reading.reshaped(vector, (max(words),)))


def batch_norm(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a BatchNormalization of constant statistics as a factor and a bias for each channel."""
    data, *names = node.inputs
    values = [reading.value(reading.tensors[name]) for name in names]
    given = node.attributes
    inference = not given.get("training_mode", 0) and len(node.outputs) == 1
    if not inference or given.get("spatial", 1) != 1 or any(value is None for value in values):
        return None
    own, dtype = reading.tensors[data], values[0].dtype if values[0] is not None else None
    with np.errstate(all="ignore"):  # a model may have such words; the file's own nodes make the same of them
        gamma, beta, mean, variance = (np.asarray(value, np.float64) for value in values)
        factor = gamma / np.sqrt(variance + given.get("epsilon", 1e-5))
        shift = (beta - mean * factor).astype(dtype)
        factor = factor.astype(dtype)
    key: Any = (*names, given.get("epsilon", 1e-5))
    scaled = reading.made("scale", (1,), own, reading.derived(("scale", key), f"{node.output}.scale", factor))
    if scaled is None:
        return None
    vector = reading.derived(("bias", key), f"{node.output}.bias", shift)
    return _single(reading.made("bias", (1,), scaled, vector))


def _single(own: Term | None) -> list[Term] | None:
    return None if own is None else [own]
