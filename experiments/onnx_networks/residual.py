"""ResNet-50 and ResNeXt-50: blocks of three convolutions beside a shortcut."""

from dataclasses import dataclass

from onnx import ModelProto

from .building import DEFAULT, Builder, Options, Tensor, Window

CLASSES = 1000
BLOCKS = (3, 4, 6, 3)  # of the stages conv2_x to conv5_x
EXPANSION = 4  # channels that a block makes, of those that its 3x3 convolution of ResNet makes
QUIET = 0.3  # the gain of a block's last batch norm: sums of blocks stay near 1


@dataclass(frozen=True)
class _Block:
    """The widths of a block: of its 3x3 convolution, in groups, and of what it makes."""

    inner: int
    groups: int
    outer: int
    stride: int


def resnet50(options: Options = DEFAULT, image: int = 224) -> ModelProto:
    """Return ResNet-50: images of 3 x `image` x `image`, scores of 1000 classes.

    Version 1.5: the stride of a stage is on its first 3x3 convolution. The least image is 1. Source: He et al., CVPR
    2016, table 1; version 1.5 is that of torchvision and MLPerf.
    """
    return _network("resnet50", options, image, (64, 1))


def resnext50(options: Options = DEFAULT, image: int = 224) -> ModelProto:
    """Return ResNeXt-50 32x4d: images of 3 x `image` x `image`, scores of 1000 classes.

    A divided width leaves groups of four channels in conv2_x, of eight in conv3_x and so on, and fewer of them. Source:
    Xie et al., CVPR 2017, table 1; strides are where torchvision has them, as in ResNet v1.5.
    """
    return _network("resnext50_32x4d", options, image, (128, 32))


def _network(name: str, options: Options, image: int, first: tuple[int, int]) -> ModelProto:
    """A network whose first stage has 3x3 convolutions of `first` channels, groups."""
    b, (inner, groups) = Builder(name, options), first
    per_group, groups = inner // groups if groups > 1 else b.width(inner), max(1, groups // options.divisor)
    x = b.input("image", (options.batch, 3, image, image))
    x = b.relu(b.conv_norm(x, b.width(64), Window((7, 7), (2, 2), (3, 3, 3, 3)), "conv1"), "conv1")
    x = b.max_pool(x, Window.same(3, 2), "max_pool")
    for stage, number in enumerate(BLOCKS):
        for block in range(number):
            stride = 2 if stage > 0 and block == 0 else 1
            widths = _Block(per_group * groups << stage, groups, b.width(64 * EXPANSION) << stage, stride)
            x = _bottleneck(b, x, widths, f"layer{stage + 1}.{block}")
    return b.model([b.linear(b.global_pool(x, "average_pool"), CLASSES, "fc")])


def _bottleneck(b: Builder, x: Tensor, own: _Block, scope: str) -> Tensor:
    y = b.relu(b.conv_norm(x, own.inner, Window.square(1), f"{scope}.conv1"), f"{scope}.conv1")
    y = b.conv_norm(y, own.inner, Window.same(3, own.stride), f"{scope}.conv2", own.groups)
    y = b.relu(y, f"{scope}.conv2")
    y = b.conv_norm(y, own.outer, Window.square(1), f"{scope}.conv3", gain=QUIET)
    if own.stride > 1 or x.sizes[1] != own.outer:
        x = b.conv_norm(x, own.outer, Window.square(1, own.stride), f"{scope}.downsample")
    return b.relu(b.add(y, x, scope), scope)
