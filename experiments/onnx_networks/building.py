"""Builds an ONNX model node by node, with the sizes of every tensor and random weights.

Nodes and weights are named as exporters name them: the node `conv1/Conv` reads `conv1.weight` and `conv1.bias`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

OPSET = 17  # the first with LayerNormalization
IR_VERSION = 9  # the one of opset 20: older runtimes read it, too
EPSILON = 1e-5

Sizes = tuple[int, ...]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Options:
    """What all networks have in common.

    Numbers of channels and features, but not those of classes, are divided by `divisor`, at least 1 each, for fast
    tests. `folded` has batch norms folded into the weights and biases of the convolutions before them, which changes no
    result.
    """

    batch: int = 1
    divisor: int = 1
    seed: int = 0  # of the weights
    folded: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a batch or a divisor below 1."""
        if min(self.batch, self.divisor) < 1:
            raise ValueError(f"batch and divisor must be at least 1, got {self.batch} and {self.divisor}")


DEFAULT = Options()


@dataclass(frozen=True)
class Tensor:
    """A float32 tensor of the graph."""

    name: str
    sizes: Sizes


@dataclass(frozen=True)
class Window:
    """The window of a convolution or a pool, and its steps."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)  # before rows and columns, after rows and columns
    ceil: bool = False  # whether a window may reach over the end

    @classmethod
    def square(cls, size: int, stride: int = 1, *, ceil: bool = False) -> "Window":
        """A square one without zeros around."""
        return cls((size, size), (stride, stride), ceil=ceil)

    @classmethod
    def same(cls, size: int, stride: int = 1) -> "Window":
        """A square one of odd size with zeros around: a stride of 1 keeps rows and columns."""
        return cls((size, size), (stride, stride), (size // 2,) * 4)

    def over(self, rows: int, columns: int) -> tuple[int, int]:
        """How many windows there are along rows and columns of that many words."""
        before, after = self.pads[:2], self.pads[2:]
        axes = zip((rows, columns), self.kernel, self.stride, before, after, strict=True)
        made = [(size + one + other - k + (step - 1) * self.ceil) // step + 1 for size, k, step, one, other in axes]
        return made[0], made[1]

    @property
    def attributes(self) -> dict[str, Sequence[int]]:
        """As nodes have them."""
        return {"kernel_shape": self.kernel, "strides": self.stride, "pads": self.pads}


@dataclass(frozen=True, eq=False)
class Norm:
    """A batch norm of an inference graph. # (channel,)"""

    gamma: Floats
    beta: Floats
    mean: Floats
    variance: Floats

    @property
    def factor(self) -> Floats:
        return np.asarray(self.gamma / np.sqrt(self.variance + EPSILON), np.float32)

    @property
    def shift(self) -> Floats:
        return np.asarray(self.beta - self.mean * self.factor, np.float32)


class Builder:
    """Adds nodes to a model, each after what it reads."""

    def __init__(self, name: str, options: Options = DEFAULT, opset: int = OPSET) -> None:
        self.options = options
        self.rng = np.random.default_rng(options.seed)
        imports = [helper.make_opsetid("", opset)]
        empty = helper.make_graph([], name, [], [])
        self._model = helper.make_model(empty, ir_version=IR_VERSION, opset_imports=imports, producer_name="ruby-map")
        self._graph = self._model.graph  # filled in place: weights of large networks are copied once
        self._names: Counter[str] = Counter()

    def width(self, channels: int) -> int:
        """So many channels of the published network, divided."""
        return max(1, channels // self.options.divisor)

    def input(self, name: str, sizes: Sizes) -> Tensor:
        """Add an input of the network."""
        self._graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes))
        return Tensor(name, sizes)

    def constant(self, name: str, values: NDArray[np.generic] | float | Sequence[int]) -> str:
        """Add a tensor of the model, float32 or of whole numbers; return its name."""
        array = np.asarray(values)
        whole = np.issubdtype(array.dtype, np.integer)
        name = self._unique(name)
        self._graph.initializer.append(numpy_helper.from_array(array.astype(np.int64 if whole else np.float32), name))
        return name

    def node(self, op: str, operands: Sequence[Tensor | str], sizes: Sizes, scope: str, **attributes: Any) -> Tensor:
        """Add a node of one output, which has these sizes."""
        return self.several(op, operands, [sizes], scope, **attributes)[0]

    def several(
        self, op: str, operands: Sequence[Tensor | str], every: Sequence[Sizes], scope: str, **attributes: Any
    ) -> list[Tensor]:
        """Add a node with an output of each of these sizes. Raises ValueError where one would be empty."""
        if empty := next((sizes for sizes in every if min(sizes, default=1) < 1), None):
            raise ValueError(f"{scope}/{op} would make {empty}: the image is too small")
        name = self._unique(f"{scope}/{op}" if scope else op)
        inputs = [operand.name if isinstance(operand, Tensor) else operand for operand in operands]
        made = [Tensor(f"{name}_output_{number}", sizes) for number, sizes in enumerate(every)]
        outputs = [tensor.name for tensor in made]
        self._graph.node.append(helper.make_node(op, inputs, outputs, name=name, **attributes))
        return made

    def draw(self, sizes: Sizes, spread: float) -> Floats:
        """Return random words around 0 with this standard deviation, none of them 0, 100 million in a second."""
        words = self.rng.random(sizes, dtype=np.float32)  # multiples of 2**-24 below 1
        words *= 2
        words += 2**-24 - 1  # odd multiples
        words *= spread * sqrt(3)
        return words

    def filters(self, x: Tensor, channels: int, window: Window, groups: int = 1) -> Floats:
        """Return weights that keep the spread of what passed a rectifier. # (M, C / groups, R, S)"""
        read = x.sizes[1] // groups
        return self.draw((channels, read, *window.kernel), sqrt(2 / (read * prod(window.kernel))))

    def norm(self, channels: int, gain: float = 1.0) -> Norm:
        """Return a batch norm near that which multiplies by `gain`."""
        about_1 = [1 + self.draw((channels,), 0.1) for _ in range(2)]
        about_0 = [self.draw((channels,), 0.1) for _ in range(2)]
        return Norm(about_1[0] * np.float32(gain), about_0[0], about_0[1], about_1[1])

    def convolution(
        self, x: Tensor, weights: Floats, bias: Floats | None, window: Window, scope: str, groups: int = 1
    ) -> Tensor:
        """Add a Conv with these weights."""
        operands: list[Tensor | str] = [x, self.constant(f"{scope}.weight", weights)]
        if bias is not None:
            operands.append(self.constant(f"{scope}.bias", bias))
        sizes = (x.sizes[0], len(weights), *window.over(*x.sizes[2:]))
        attributes = window.attributes | {"dilations": (1, 1)}
        return self.node("Conv", operands, sizes, scope, group=groups, **attributes)

    def conv_relu(self, x: Tensor, channels: int, window: Window, scope: str) -> Tensor:
        """Add a convolution with random weights and biases, and a rectifier."""
        weights, bias = self.filters(x, channels, window), self.draw((channels,), 0.1)
        return self.relu(self.convolution(x, weights, bias, window, scope), scope)

    def conv_norm(
        self, x: Tensor, channels: int, window: Window, scope: str, groups: int = 1, gain: float = 1.0
    ) -> Tensor:
        """Add a convolution with random weights and a batch norm, or what these are folded."""
        weights, norm = self.filters(x, channels, window, groups), self.norm(channels, gain)
        if self.options.folded:
            weights *= norm.factor[:, None, None, None]
            return self.convolution(x, weights, norm.shift, window, scope, groups)
        return self.normalized(self.convolution(x, weights, None, window, scope, groups), norm, scope)

    def normalized(self, x: Tensor, norm: Norm, scope: str) -> Tensor:
        """Add a BatchNormalization."""
        values = {"weight": norm.gamma, "bias": norm.beta, "running_mean": norm.mean, "running_var": norm.variance}
        names = [self.constant(f"{scope}.norm.{name}", own) for name, own in values.items()]
        return self.node("BatchNormalization", [x, *names], x.sizes, scope, epsilon=EPSILON)

    def relu(self, x: Tensor, scope: str) -> Tensor:
        """Add a rectifier."""
        return self.node("Relu", [x], x.sizes, scope)

    def add(self, one: Tensor, other: Tensor, scope: str) -> Tensor:
        """Add the sum of two tensors of equal sizes."""
        return self.node("Add", [one, other], one.sizes, scope)

    def concat(self, tensors: Sequence[Tensor], scope: str) -> Tensor:
        """Join tensors along the channels."""
        (number, _, *spatial), channels = tensors[0].sizes, sum(tensor.sizes[1] for tensor in tensors)
        return self.node("Concat", tensors, (number, channels, *spatial), scope, axis=1)

    def max_pool(self, x: Tensor, window: Window, scope: str) -> Tensor:
        """Add a pool of largest words."""
        sizes = (*x.sizes[:2], *window.over(*x.sizes[2:]))
        return self.node("MaxPool", [x], sizes, scope, ceil_mode=int(window.ceil), **window.attributes)

    def average_pool(self, x: Tensor, window: Window, scope: str, *, padded: bool) -> Tensor:
        """Add a pool of averages; `padded` says whether the zeros around are counted among the words."""
        sizes = (*x.sizes[:2], *window.over(*x.sizes[2:]))
        return self.node("AveragePool", [x], sizes, scope, count_include_pad=int(padded), **window.attributes)

    def global_pool(self, x: Tensor, scope: str) -> Tensor:
        """Add the average of each channel, as a row of features for each image."""
        x = self.node("GlobalAveragePool", [x], (*x.sizes[:2], 1, 1), scope)
        return self.node("Flatten", [x], x.sizes[:2], scope, axis=1)

    def linear(self, x: Tensor, features: int, scope: str) -> Tensor:
        """Add a fully connected layer as a Gemm, its weights transposed as exporters have them."""
        weights, bias = self.draw((features, x.sizes[1]), sqrt(1 / x.sizes[1])), self.draw((features,), 0.1)
        names = self.constant(f"{scope}.weight", weights), self.constant(f"{scope}.bias", bias)
        return self.node("Gemm", [x, *names], (x.sizes[0], features), scope, alpha=1.0, beta=1.0, transB=1)

    def model(self, outputs: Sequence[Tensor]) -> ModelProto:
        """Return the model with these outputs."""
        for output in outputs:
            self._graph.output.append(helper.make_tensor_value_info(output.name, TensorProto.FLOAT, output.sizes))
        return self._model

    def _unique(self, name: str) -> str:
        """A name that no node or constant has yet."""
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name}_{self._names[name] - 1}"
