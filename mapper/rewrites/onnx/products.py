"""Matrix products of ONNX as terms."""

from collections.abc import Sequence
from math import prod

from ....workloads.onnx import Node
from ..terms import Term
from .reading import Reading


def matmul(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a MatMul by a matrix. A tensor of more dims is reshaped to a matrix, and what is made back: products of
    one tensor share its matrix."""
    one, other = reading.operands(node)
    dims = reading.sizes(one)
    if len(dims) < 2 or len(reading.sizes(other)) != 2:
        return None
    product = reading.made("matmul", (), reading.reshaped(one, (prod(dims[:-1]), dims[-1])), other)
    return None if product is None else [reading.reshaped(product, (*dims[:-1], reading.sizes(other)[1]))]


def gemm(reading: Reading, node: Node) -> Sequence[Term] | None:
    """Return a Gemm: a product of matrices, or of their transposes, and what is added to it. Its factors become those
    of constants."""
    given, beta = node.attributes, node.attributes.get("beta", 1.0)
    operands = [
        reading.made("transpose", (), own) if given.get(turned, 0) else own
        for own, turned in zip(reading.operands(node), ("transA", "transB"), strict=False)
    ]
    if (alpha := given.get("alpha", 1.0)) != 1.0:
        operands = _multiplied(reading, operands, alpha)
    if len(operands) < 2 or operands[0] is None or operands[1] is None:
        return None
    product, added = reading.made("matmul", (), operands[0], operands[1]), reading.operand(node, 2)
    if product is None or added is None:
        return None if product is None else [product]
    factored = added if beta == 1.0 else _factored(reading, added, beta)
    whole = None if factored is None else _added(reading, product, factored)
    return None if whole is None else [whole]


def _multiplied(reading: Reading, operands: Sequence[Term | None], factor: float) -> list[Term | None]:
    """Two operands of which a constant one has a factor; none where both are computed."""
    one, other = operands
    if other is not None and (factored := _factored(reading, other, factor)) is not None:
        return [one, factored]
    return [] if one is None or (factored := _factored(reading, one, factor)) is None else [factored, other]


def _factored(reading: Reading, own: Term, factor: float) -> Term | None:
    """A constant, or its transpose, with a factor; None of what is no constant."""
    inner = own.operands[0] if own.op == "transpose" else own
    tensor = reading.source.tensor(own)
    if reading.value(inner) is None or tensor is None or tensor.dtype is None or not tensor.sizes:
        return None
    return reading.made("smul", (), own, reading.scalar(factor, tensor.dtype))


def _added(reading: Reading, product: Term, added: Term) -> Term | None:
    """A product of matrices and what is added, which is repeated along its rows or columns."""
    rows, columns = reading.sizes(product)
    words = reading.sizes(added)
    if words == (rows, columns):
        return reading.made("ewadd", (), product, added)
    axis = 1 if words in ((columns,), (1, columns)) else 0
    if axis == 0 and words != (rows, 1):
        return None
    return reading.made("bias", (axis,), product, _vector(reading, added, max(words)))


def _vector(reading: Reading, added: Term, words: int) -> Term:
    """The words of a vector without other dims; of a constant that has a factor these of what it is made of."""
    if added.op != "smul":
        return reading.reshaped(added, (words,))
    own, factor = added.operands
    vector = reading.made("smul", (), reading.reshaped(own, (words,)), factor)
    assert vector is not None, "it has the words that it had"
    return vector
