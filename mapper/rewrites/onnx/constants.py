"""Nodes of ONNX that hand on what they read, or are constants of the model."""

from collections.abc import Sequence
from math import prod

import numpy as np

from ....workloads.onnx import Node
from ..graphs import WEIGHT
from ..terms import Term
from .reading import Reading

WORDS = 2**31 - 1  # the most of a constant that the file does not spell out


def handed_on(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return what an Identity, or a Dropout that drops nothing, reads."""
    if node.op == "Dropout":
        training = reading.operand(node, 2)
        trained = training is not None and (reading.value(training) is None or bool(np.any(reading.value(training))))
        masked = not reading.graph.read.isdisjoint(filter(None, node.outputs[1:]))
        if trained or masked or "is_test" in node.attributes:
            return None
        return [reading.tensors[node.inputs[0]]] * len(node.outputs)
    return [reading.tensors[node.inputs[0]]]


def constant(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return what a Constant is, of numbers."""
    dtypes = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    ((name, value),) = node.attributes.items()
    if name in dtypes:
        return [reading.add_weight(node.output, np.array(value, dtypes[name]))]
    if name == "value":
        return [reading.add_weight(node.output, reading.model.onnx.numpy_helper.to_array(value))]
    return None


def constant_of_shape(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a ConstantOfShape of a constant shape; its words take the memory of one."""
    shape = reading.integers(reading.operand(node, 0))
    if shape is None or min(shape, default=1) < 1 or prod(shape) > WORDS:
        return None
    value = node.attributes.get("value")
    word = np.zeros(1, np.float32) if value is None else reading.model.onnx.numpy_helper.to_array(value)
    return [reading.add_weight(node.output, np.broadcast_to(word.reshape(()), tuple(map(int, shape))))]


def in_other_sizes(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a constant of the model in other sizes."""
    own, known = reading.operand(node, 0), reading.known(node.output)
    if own is None or own.op != WEIGHT or known is None or prod(known.sizes) != reading.weights[own.name].size:
        return None
    return [reading.reshaped(own, known.sizes)]


def reshape(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Reshape to a constant shape: equal ones are one, whatever their shapes are named, and two in a row."""
    own, sizes = reading.operand(node, 0), reading.integers(reading.operand(node, 1))
    tensor = None if own is None else reading.source.tensor(own)
    if own is None or tensor is None or sizes is None:
        return None
    if not node.attributes.get("allowzero", 0):  # 0: as it was
        sizes = [size or tensor.sizes[at] if at < len(tensor.sizes) else size for at, size in enumerate(sizes)]
    if -1 in sizes:  # what is left
        at = sizes.index(-1)
        sizes[at] = 0
        sizes[at] = prod(tensor.sizes) // max(1, prod(size for size in sizes if size))
    if min(sizes, default=1) < 1 or prod(sizes) != prod(tensor.sizes):
        return None
    return [reading.reshaped(own, tuple(sizes))]
