"""NASNet-A: its normal cell and its reduction cell, stacked as for ImageNet (mobile) and for CIFAR.

Zoph et al., Learning transferable architectures for scalable image recognition, CVPR 2018, figures 2 and 4;
what they leave open is as in the authors' code (TensorFlow models, slim/nets/nasnet): which tensors are joined, and how
a tensor of other sizes is fitted. Zeros of strided windows are the same number on both sides: the output has the sizes
of TensorFlow's "same". All functions raise ValueError for what cannot be built.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from onnx import ModelProto

from .building import DEFAULT, Builder, Options, Tensor, Window

SCALE = 2  # of the filters, in each reduction cell
QUIET = 0.6, 0.8  # gains of separable convolutions, and of what begins a cell: words stay near 1 from cell to cell
POINT = Window.square(1)

# two operations with what each reads: 0 is the cell before, 1 the one before that, 2 and so on are blocks of this cell
_Half = tuple[str, int]
NORMAL: Sequence[tuple[_Half, _Half]] = (
    (("separable 5", 0), ("separable 3", 1)),
    (("separable 5", 1), ("separable 3", 1)),
    (("average 3", 0), ("identity", 1)),
    (("average 3", 1), ("average 3", 1)),
    (("separable 3", 0), ("identity", 0)),
)
REDUCTION: Sequence[tuple[_Half, _Half]] = (
    (("separable 5", 0), ("separable 7", 1)),
    (("max 3", 0), ("separable 7", 1)),
    (("average 3", 0), ("separable 5", 1)),
    (("identity", 3), ("average 3", 2)),
    (("separable 3", 2), ("max 3", 0)),
)
CELLS = {"normal": 1, "reduction": 2}  # their strides
JOINED: Mapping[int, Sequence[int]] = {1: (1, 2, 3, 4, 5, 6), 2: (3, 4, 5, 6)}


def nasnet_a_cell(
    options: Options = DEFAULT, kind: str = "normal", image: int = 28, filters: int = 44, *, padded: bool = False
) -> ModelProto:
    """Return a "normal" or a "reduction" cell alone, on the outputs of two normal cells as they stand before it.

    Both inputs have 6 x `filters` channels of `image` x `image` words. `padded`: average pools count the zeros around,
    which the original leaves out.
    """
    if kind not in CELLS:
        raise ValueError(f"kind must be {' or '.join(CELLS)}, got {kind}")
    b = Builder(f"nasnet_a_{kind}", options)
    sizes = (options.batch, len(JOINED[1]) * b.width(filters), image, image)
    before, x = b.input("before", sizes), b.input("last", sizes)
    cells, stride = _Cells(b, padded), CELLS[kind]
    return b.model([cells.add(x, before, b.width(filters) * stride, stride, "cell")])


def nasnet_a_mobile(
    options: Options = DEFAULT, image: int = 224, repeats: int = 4, filters: int = 44, *, padded: bool = False
) -> ModelProto:
    """Return NASNet-A for ImageNet: two reduction cells, then `repeats` normal cells three times, reductions between.

    It reads images of 3 x `image` x `image` and makes scores of 1000 classes. `filters` are those of the first normal
    cells; 4 repeats and 44 filters are NASNet-A (4 @ 1056). `padded`: average pools count the zeros around, which the
    original leaves out. The least image is 3.
    """
    b = Builder("nasnet_a_mobile", options)
    cells = _Cells(b, padded)
    x = b.input("image", (options.batch, 3, image, image))
    x = b.conv_norm(x, b.width(32), Window.square(3, 2), "stem.conv")
    before: Tensor | None = None
    for number, part in enumerate((SCALE**2, SCALE)):
        before, x = x, cells.add(x, before, b.width(filters) // part or 1, 2, f"stem.cell{number}")
    return b.model([cells.classified(cells.stacked(x, before, b.width(filters), repeats), 1000)])


def nasnet_a_cifar(
    options: Options = DEFAULT, image: int = 32, repeats: int = 6, filters: int = 32, *, padded: bool = False
) -> ModelProto:
    """Return NASNet-A for CIFAR: `repeats` normal cells three times, reduction cells between them.

    It reads images of 3 x `image` x `image` and makes scores of 10 classes. 6 repeats and 32 filters are NASNet-A
    (6 @ 768). `padded` as for the mobile one. The least image is 1.
    """
    b = Builder("nasnet_a_cifar", options)
    cells = _Cells(b, padded)
    x = b.input("image", (options.batch, 3, image, image))
    x = b.conv_norm(x, b.width(96), Window.same(3), "stem.conv")
    return b.model([cells.classified(cells.stacked(x, None, b.width(filters), repeats), 10)])


@dataclass(frozen=True)
class _Cells:
    """Adds cells. `padded`: average pools count the zeros around."""

    builder: Builder
    padded: bool

    def stacked(self, x: Tensor, before: Tensor | None, filters: int, repeats: int) -> Tensor:
        """Add the normal cells, with reduction cells between."""
        for stage in range(3):
            if stage > 0:
                filters *= SCALE
                before, x = x, self.add(x, before, filters, 2, f"reduction{stage}")
            for number in range(repeats):
                before, x = x, self.add(x, before, filters, 1, f"normal{stage}.{number}")
        return x

    def classified(self, x: Tensor, classes: int) -> Tensor:
        """Add what makes scores of the last cell's output."""
        b = self.builder
        return b.linear(b.global_pool(b.relu(x, "final"), "final"), classes, "classifier")

    def add(self, x: Tensor, before: Tensor | None, filters: int, stride: int, scope: str) -> Tensor:
        """Add a normal cell (stride 1) or a reduction cell (stride 2) on the two cells before it."""
        b = self.builder
        first = x if before is None else self._fitted(before, x, filters, f"{scope}.before")
        x = b.conv_norm(b.relu(x, f"{scope}.squeeze"), filters, POINT, f"{scope}.squeeze", gain=QUIET[1])
        states = [x, first]
        for number, halves in enumerate(NORMAL if stride == 1 else REDUCTION):
            names = [f"{scope}.{number}.{side}" for side in ("left", "right")]
            made = [
                self._operation(op, states[at], filters, stride if at < 2 else 1, name)
                for (op, at), name in zip(halves, names, strict=True)
            ]
            states.append(b.add(made[0], made[1], f"{scope}.{number}"))
        joined = [states[at] for at in JOINED[stride]]
        return b.concat([self._of_channels(own, filters, f"{scope}.joined") for own in joined], scope)

    def _operation(self, op: str, x: Tensor, filters: int, stride: int, scope: str) -> Tensor:
        b, (kind, _, size) = self.builder, op.partition(" ")
        if kind == "identity":
            return x if x.sizes[1] == filters else self._of_channels(b.relu(x, scope), filters, scope)
        window = Window.same(int(size), stride)
        if kind == "separable":
            return self._separable(self._separable(x, filters, window, scope), filters, Window.same(int(size)), scope)
        pool = b.max_pool if kind == "max" else partial(b.average_pool, padded=self.padded)
        return self._of_channels(pool(x, window, scope), filters, scope)

    def _separable(self, x: Tensor, filters: int, window: Window, scope: str) -> Tensor:
        """A rectifier, a convolution of each channel, a 1x1 convolution and a batch norm."""
        b, channels = self.builder, x.sizes[1]
        weights = b.filters(x, channels, window, channels)
        x = b.convolution(b.relu(x, scope), weights, None, window, f"{scope}.depthwise", channels)
        return b.conv_norm(x, filters, POINT, f"{scope}.pointwise", gain=QUIET[0])

    def _of_channels(self, x: Tensor, filters: int, scope: str) -> Tensor:
        """The same, with other channels where it has not so many."""
        return x if x.sizes[1] == filters else self.builder.conv_norm(x, filters, POINT, f"{scope}.projection")

    def _fitted(self, before: Tensor, x: Tensor, filters: int, scope: str) -> Tensor:
        """The cell before the last one, with rows, columns and channels of the last one."""
        b = self.builder
        if before.sizes[2:] != x.sizes[2:]:
            return self._halved(b.relu(before, scope), filters, scope)
        return before if before.sizes[1] == filters else self._of_channels(b.relu(before, scope), filters, scope)

    def _halved(self, x: Tensor, filters: int, scope: str) -> Tensor:
        """Every other row and column, from the first for half of the channels and from the second for the others."""
        b, (number, channels, rows, columns) = self.builder, x.sizes
        norm, step = b.norm(filters), Window.square(1, 2)
        zeros = b.constant(f"{scope}.pads", [0, 0, 0, 0, 0, 0, 1, 1])
        padded = b.node("Pad", [x, zeros], (number, channels, rows + 1, columns + 1), scope)
        ranges = [b.constant(f"{scope}.{name}", values) for name, values in _FROM_THE_SECOND.items()]
        moved = b.node("Slice", [padded, *ranges], x.sizes, scope)
        halves = []
        for path, (own, made) in enumerate(((x, filters // 2), (moved, filters - filters // 2))):
            if made:  # a single filter has no first half
                pooled = b.average_pool(own, step, f"{scope}.path{path}", padded=True)
                weights, at = b.filters(pooled, made, POINT), slice(*((0, made) if path == 0 else (filters // 2, None)))
                if b.options.folded:
                    weights *= norm.factor[at, None, None, None]
                bias = norm.shift[at] if b.options.folded else None
                halves.append(b.convolution(pooled, weights, bias, POINT, f"{scope}.path{path}"))
        x = b.concat(halves, scope)
        return x if b.options.folded else b.normalized(x, norm, scope)


_FROM_THE_SECOND = {"starts": (1, 1), "ends": (2**31 - 1, 2**31 - 1), "axes": (2, 3)}
