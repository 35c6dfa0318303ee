"""The encoder of BERT base: attention by heads and a feed-forward layer, each with a residual and a layer norm."""

from math import sqrt

import numpy as np
from onnx import ModelProto

from .building import DEFAULT, OPSET, Builder, Options, Tensor

HIDDEN, HEADS, INNER = 768, 12, 3072
EPSILON = 1e-12
GELU_OPSET = 20  # the first with Gelu


def bert_encoder(options: Options = DEFAULT, tokens: int = 128, layers: int = 12, gelu: str = "erf") -> ModelProto:
    """Return the encoder of BERT base: `tokens` embeddings of 768 words in, as many out; no mask.

    `gelu`: "erf" has the activation in parts, as it is exported up to opset 19; "op" has the Gelu of opset 20. A
    divided width leaves the 12 heads, with fewer words each: `divisor` divides 64. Raises ValueError for others.
    Source: Devlin et al., NAACL 2019, section 3; activations as in the authors' code.
    """
    if HIDDEN // HEADS % options.divisor:
        raise ValueError(f"the divisor must divide {HIDDEN // HEADS}, got {options.divisor}")
    if gelu not in ("erf", "op"):
        raise ValueError(f"gelu must be erf or op, got {gelu}")
    b = Builder(f"bert_base_{tokens}", options, OPSET if gelu == "erf" else GELU_OPSET)
    x = b.input("embeddings", (options.batch, tokens, HIDDEN // options.divisor))
    for layer in range(layers):
        scope = f"layer.{layer}"
        x = _normed(b, b.add(_attention(b, x, f"{scope}.attention"), x, f"{scope}.attention.output"), f"{scope}.1")
        y = _dense(b, x, INNER // options.divisor, f"{scope}.intermediate")
        y = _gelu(b, y, gelu, f"{scope}.intermediate")
        y = _dense(b, y, x.sizes[-1], f"{scope}.output")
        x = _normed(b, b.add(y, x, f"{scope}.output"), f"{scope}.2")
    return b.model([x])


def _dense(b: Builder, x: Tensor, features: int, scope: str) -> Tensor:
    """A product with weights and a sum with biases."""
    read = x.sizes[-1]
    weights = b.constant(f"{scope}.weight", b.draw((read, features), sqrt(1 / read)))
    x = b.node("MatMul", [x, weights], (*x.sizes[:-1], features), scope)
    return b.node("Add", [x, b.constant(f"{scope}.bias", b.draw((features,), 0.1))], x.sizes, scope)


def _attention(b: Builder, x: Tensor, scope: str) -> Tensor:
    number, tokens, hidden = x.sizes
    depth = hidden // HEADS
    shape = (number, tokens, HEADS, depth)
    views = {}
    for name, order in {"query": (0, 2, 1, 3), "key": (0, 2, 3, 1), "value": (0, 2, 1, 3)}.items():
        own = f"{scope}.{name}"
        made = _dense(b, x, hidden, own)
        made = b.node("Reshape", [made, b.constant(f"{own}.shape", shape)], shape, own)
        views[name] = b.node("Transpose", [made], tuple(shape[at] for at in order), own, perm=order)
    scores = b.node("MatMul", [views["query"], views["key"]], (number, HEADS, tokens, tokens), scope)
    scores = b.node("Div", [scores, b.constant(f"{scope}.scale", sqrt(depth))], scores.sizes, scope)
    weights = b.node("Softmax", [scores], scores.sizes, scope, axis=-1)
    context = b.node("MatMul", [weights, views["value"]], (number, HEADS, tokens, depth), scope)
    context = b.node("Transpose", [context], shape, scope, perm=(0, 2, 1, 3))
    context = b.node("Reshape", [context, b.constant(f"{scope}.shape", x.sizes)], x.sizes, scope)
    return _dense(b, context, hidden, f"{scope}.output")


def _gelu(b: Builder, x: Tensor, kind: str, scope: str) -> Tensor:
    """`x` times the share of a normal distribution below it."""
    if kind == "op":
        return b.node("Gelu", [x], x.sizes, scope)
    y = b.node("Div", [x, b.constant(f"{scope}.root_2", sqrt(2))], x.sizes, scope)
    y = b.node("Erf", [y], x.sizes, scope)
    y = b.node("Add", [y, b.constant(f"{scope}.1", 1.0)], x.sizes, scope)
    y = b.node("Mul", [x, y], x.sizes, scope)
    return b.node("Mul", [y, b.constant(f"{scope}.half", 0.5)], x.sizes, scope)


def _normed(b: Builder, x: Tensor, scope: str) -> Tensor:
    """A layer norm over the features."""
    size = x.sizes[-1:]
    values = {"weight": np.float32(1) + b.draw(size, 0.1), "bias": b.draw(size, 0.1)}
    names = [b.constant(f"{scope}.norm.{name}", own) for name, own in values.items()]
    return b.node("LayerNormalization", [x, *names], x.sizes, scope, axis=-1, epsilon=EPSILON)
