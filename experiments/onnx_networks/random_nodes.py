"""The kinds of nodes of random graphs, each with its sizes and the range of what it makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from .building import Floats, Sizes, Window
from .drawing import Constant, Drawing, Range, Value

KERNELS = ((1, 1), (3, 3), (1, 3), (3, 1))
STRIDES = ((1, 1), (1, 1), (1, 1), (2, 2), (1, 2), (2, 1))  # 1 is the commonest
POWERS_OF_2 = ((2, 2), (1, 2), (2, 1))  # windows whose averages are exact
EPSILON = 2**-10  # and variances that with it are exact squares
TWO_AXES = 2
IMAGES = 4  # N C H W


@dataclass(frozen=True)
class Kind:
    """How common a kind is, and how a node of it is added on an operand; nothing is added where that cannot be."""

    common: float
    add: Callable[[Drawing, Value], list[Value]]


def _window(drawing: Drawing, kernel: tuple[int, int]) -> Window:
    """Zeros that keep the sizes, or none; now and then on one side alone."""
    rows, columns = kernel[0] // 2, kernel[1] // 2
    pads = [(rows, columns, rows, columns)] * 5 + [(0, 0, 0, 0)] * 3 + [(0, 0, rows, columns)]
    return Window(kernel, drawing.one_of(STRIDES), drawing.one_of(pads))


def _convolution(drawing: Drawing, x: Value) -> list[Value]:
    if len(x.sizes) != IMAGES:
        return []
    number, channels, *spatial = x.sizes
    groups = drawing.one_of([1, *(one for one in range(1, channels + 1) if channels % one == 0)])
    made = groups * drawing.number(1, 2) if groups > 1 else drawing.number(2, 4)
    window = _window(drawing, drawing.one_of(KERNELS))
    weights = drawing.words((made, channels // groups, *window.kernel), channels // groups * prod(window.kernel))
    operands: list[Value | Constant] = [x, weights]
    own = x.range.times(_sums(weights, (1, 2, 3)))
    if drawing.chance(0.4):
        bias = drawing.words((made,))
        operands.append(bias)
        own = own.plus(Range.of(bias))
    sizes = (number, made, *window.over(spatial[0], spatial[1]))
    return drawing.node("Conv", operands, [sizes], own, group=groups, **window.attributes)


def _sums(weights: Floats, added: int | tuple[int, ...]) -> Range:
    """What a sum of products multiplies the range of the other factors by."""
    return Range(float(np.abs(weights).sum(axis=added).max()))


def _batch_norm(drawing: Drawing, x: Value) -> list[Value]:
    if len(x.sizes) != IMAGES:
        return []
    size = x.sizes[1:2]
    gamma, beta, mean = (drawing.words(size) for _ in range(3))
    deviation = np.float32(2) ** drawing.rng.integers(-1, 2, size)  # 1/2, 1, 2
    if not drawing.exact:
        deviation *= drawing.rng.uniform(0.8, 1.2, size)
    variance = (deviation**2 - EPSILON).astype(np.float32)
    factor = Range(float(np.abs(gamma / deviation).max()), 0.5)
    own = x.range.plus(Range.of(mean)).times(factor).plus(Range.of(beta))
    return drawing.node("BatchNormalization", [x, gamma, beta, mean, variance], [x.sizes], own, epsilon=EPSILON)


def _rectifier(drawing: Drawing, x: Value) -> list[Value]:
    return drawing.node("Relu", [x], [x.sizes], x.range)


def _max_pool(drawing: Drawing, x: Value) -> list[Value]:
    if len(x.sizes) != IMAGES:
        return []
    window = _window(drawing, drawing.one_of([(3, 3), (3, 3), (1, 3), (3, 1)]))
    if drawing.chance(0.25):
        window = Window.square(2, 2)
    return drawing.node("MaxPool", [x], [(*x.sizes[:2], *window.over(*x.sizes[2:]))], x.range, **window.attributes)


def _average_pool(drawing: Drawing, x: Value) -> list[Value]:
    """Of windows of 2 or 4 words where averages have to be exact."""
    if len(x.sizes) != IMAGES:
        return []
    if drawing.exact or drawing.chance(0.25):
        window = Window(drawing.one_of(POWERS_OF_2), drawing.one_of(STRIDES))
    else:
        window = _window(drawing, drawing.one_of(KERNELS[1:]))
    own, counted = Range(x.range.bound, x.range.step / 4), int(drawing.chance(0.7) or drawing.exact)
    sizes = (*x.sizes[:2], *window.over(*x.sizes[2:]))
    return drawing.node("AveragePool", [x], [sizes], own, count_include_pad=counted, **window.attributes)


def _sum(drawing: Drawing, x: Value) -> list[Value]:
    return _word_by_word(drawing, "Add", x)


def _product(drawing: Drawing, x: Value) -> list[Value]:
    return _word_by_word(drawing, "Mul", x)


def _word_by_word(drawing: Drawing, op: str, x: Value) -> list[Value]:
    """With a tensor of equal sizes, or a constant tensor, vector along an axis, or scalar; in either order."""
    partner = drawing.partner(x, x.sizes)
    other: Value | Constant
    if partner is not None and partner is not x and drawing.chance(0.8):
        other, second = partner, partner.range
    else:
        other = drawing.words(drawing.one_of(_repeated(x.sizes)))
        second = Range.of(other)
    own = x.range.plus(second) if op == "Add" else x.range.times(second)
    operands = [x, other] if drawing.chance(0.7) else [other, x]
    return drawing.node(op, operands, [x.sizes], own)


def _repeated(sizes: Sizes) -> list[Sizes]:
    """The sizes of constants that are repeated along these: whole, a vector along each axis, of one word."""
    along = [tuple(size if at == axis else 1 for at, size in enumerate(sizes)) for axis in range(len(sizes))]
    return [sizes, *along, along[1], along[1], sizes[-1:], (), (1,)]  # most often by channel


def _concat(drawing: Drawing, x: Value) -> list[Value]:
    axis = 1 if drawing.chance(0.6) else drawing.number(0, len(x.sizes) - 1)
    free = [None if at == axis else size for at, size in enumerate(x.sizes)]
    parts = [x, *(drawing.partner(x, free) or x for _ in range(drawing.number(1, 2)))]
    size = sum(value.sizes[axis] for value in parts)
    own = x.range.joined(*(value.range for value in parts))
    return drawing.node("Concat", parts, [_with(x.sizes, axis, size)], own, axis=axis)


def _split(drawing: Drawing, x: Value) -> list[Value]:
    axes = [axis for axis, size in enumerate(x.sizes) if size > 1]
    if not axes:
        return []
    axis = 1 if 1 in axes and drawing.chance(0.6) else drawing.one_of(axes)
    size = x.sizes[axis]
    cuts = drawing.rng.choice(np.arange(1, size), drawing.number(1, min(2, size - 1)), replace=False)
    parts = [int(part) for part in np.diff([0, *sorted(cuts), size])]
    return drawing.node("Split", [x, parts], [_with(x.sizes, axis, part) for part in parts], x.range, axis=axis)


def _with(sizes: Sizes, axis: int, size: int) -> Sizes:
    return (*sizes[:axis], size, *sizes[axis + 1 :])


def _matmul(drawing: Drawing, x: Value) -> list[Value]:
    """With a constant on either side, or with another matrix."""
    if len(x.sizes) != TWO_AXES:
        return []
    (rows, columns), made = x.sizes, drawing.number(2, 4)
    other = drawing.partner(x, (columns, None))
    if other is not None and drawing.chance(0.4):
        own = x.range.times(other.range).times(Range(columns))
        return drawing.node("MatMul", [x, other], [(rows, other.sizes[1])], own)
    if drawing.chance(0.2):
        weights = drawing.words((made, rows), rows)
        return drawing.node("MatMul", [weights, x], [(made, columns)], x.range.times(_sums(weights, 1)))
    weights = drawing.words((columns, made), columns)
    return drawing.node("MatMul", [x, weights], [(rows, made)], x.range.times(_sums(weights, 0)))


def _gemm(drawing: Drawing, x: Value) -> list[Value]:
    """With constants, either operand transposed or not, most often with factors of 1."""
    if len(x.sizes) != TWO_AXES:
        return []
    turned = int(drawing.chance(0.2)), int(drawing.chance(0.5))
    (rows, read), made = x.sizes[::-1] if turned[0] else x.sizes, drawing.number(2, 4)
    weights, (alpha, beta) = drawing.words((made, read), read), drawing.one_of([(1.0, 1.0)] * 4 + [(0.5, 2.0)])
    operands: list[Value | Constant] = [x, weights if turned[1] else np.ascontiguousarray(weights.T)]
    own = x.range.times(_sums(weights, 1)).times(Range(alpha, 0.5))
    if drawing.chance(0.7):
        bias = drawing.words(drawing.one_of([(made,), (1, made), (rows, made)]))
        operands.append(bias)
        own = own.plus(Range.of(bias).times(Range(beta)))
    attributes = {"alpha": alpha, "beta": beta, "transA": turned[0], "transB": turned[1]}
    return drawing.node("Gemm", operands, [(rows, made)], own, **attributes)


def _transpose(drawing: Drawing, x: Value) -> list[Value]:
    if len(x.sizes) != TWO_AXES:
        return []
    return drawing.node("Transpose", [x], [x.sizes[::-1]], x.range, perm=(1, 0))


def _flatten(drawing: Drawing, x: Value) -> list[Value]:
    """A row for each image, where it is short."""
    number, words = x.sizes[0], prod(x.sizes[1:])
    if len(x.sizes) != IMAGES or words > 64:
        return []
    return drawing.node("Flatten", [x], [(number, words)], x.range, axis=1)


KINDS: Sequence[Kind] = (
    Kind(5, _convolution),
    Kind(1, _batch_norm),
    Kind(2, _rectifier),
    Kind(1, _max_pool),
    Kind(1, _average_pool),
    Kind(2.5, _sum),
    Kind(1, _product),
    Kind(1.5, _concat),
    Kind(1, _split),
    Kind(3, _matmul),
    Kind(1.5, _gemm),
    Kind(1, _transpose),
    Kind(0.3, _flatten),
)
