"""GoogLeNet and SqueezeNet: modules whose branches share an input and are joined."""

from onnx import ModelProto

from .building import DEFAULT, Builder, Options, Tensor, Window

CLASSES = 1000

# Szegedy et al., Going deeper with convolutions, CVPR 2015, table 1: channels of the 1x1 branch, the 3x3 branch
# (reduced, made), the 5x5 branch (reduced, made) and the pool's projection
INCEPTION = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}

# Iandola et al., SqueezeNet, arXiv 1602.07360, table 1: channels of the squeeze, of either expansion; in both versions
FIRE = {
    "fire2": (16, 64),
    "fire3": (16, 64),
    "fire4": (32, 128),
    "fire5": (32, 128),
    "fire6": (48, 192),
    "fire7": (48, 192),
    "fire8": (64, 256),
    "fire9": (64, 256),
}
POOLED_AFTER = {"1.0": ("conv1", "fire4", "fire8"), "1.1": ("conv1", "fire3", "fire5")}


def googlenet(options: Options = DEFAULT, image: int = 224) -> ModelProto:
    """Return Inception-v1 without its auxiliary heads: images of 3 x `image` x `image`, scores of 1000 classes.

    The pools between stages round up, as in the original. The two response norms of figure 3 are there; dropout,
    which does nothing in inference, and the softmax are not. Raises ValueError for images below 31. Source: Szegedy et
    al., CVPR 2015, table 1 and figure 3.
    """
    b = Builder("googlenet", options)
    shrink = Window.square(3, 2, ceil=True)
    x = b.input("image", (options.batch, 3, image, image))
    x = b.conv_relu(x, b.width(64), Window((7, 7), (2, 2), (3, 3, 3, 3)), "conv1")
    x = _response_norm(b, b.max_pool(x, shrink, "pool1"), "norm1")
    x = b.conv_relu(x, b.width(64), Window.square(1), "conv2.reduce")
    x = _response_norm(b, b.conv_relu(x, b.width(192), Window.same(3), "conv2"), "norm2")
    x = b.max_pool(x, shrink, "pool2")
    for name, channels in INCEPTION.items():
        if name in ("4a", "5a"):
            x = b.max_pool(x, shrink, f"pool{int(name[0]) - 1}")
        x = _inception(b, x, [b.width(one) for one in channels], f"inception_{name}")
    return b.model([b.linear(b.global_pool(x, "pool5"), CLASSES, "classifier")])


def _response_norm(b: Builder, x: Tensor, scope: str) -> Tensor:
    """As the authors' model file has it: over five channels."""
    return b.node("LRN", [x], x.sizes, scope, size=5, alpha=1e-4, beta=0.75, bias=1.0)


def _inception(b: Builder, x: Tensor, channels: list[int], scope: str) -> Tensor:
    one, reduced_3, three, reduced_5, five, projected = channels
    point = Window.square(1)
    branches = [b.conv_relu(x, one, point, f"{scope}.1x1")]
    for size, reduced, made in ((3, reduced_3, three), (5, reduced_5, five)):
        less = b.conv_relu(x, reduced, point, f"{scope}.{size}x{size}.reduce")
        branches.append(b.conv_relu(less, made, Window.same(size), f"{scope}.{size}x{size}"))
    pooled = b.max_pool(x, Window.same(3), f"{scope}.pool")
    branches.append(b.conv_relu(pooled, projected, point, f"{scope}.pool.projection"))
    return b.concat(branches, scope)


def squeezenet(options: Options = DEFAULT, image: int = 224, version: str = "1.0") -> ModelProto:
    """Return SqueezeNet of version "1.0" or "1.1": images of 3 x `image` x `image`, scores of 1000 classes.

    Pools round up, as in the original; dropout, which does nothing in inference, and the softmax are left out. Raises
    ValueError for other versions, and images below 21 (version 1.1: 17). Sources: Iandola et al., arXiv 1602.07360,
    table 1; version 1.1 is of the authors' repository.
    """
    if version not in POOLED_AFTER:
        raise ValueError(f"version must be {' or '.join(POOLED_AFTER)}, got {version}")
    b = Builder(f"squeezenet_{version.replace('.', '_')}", options)
    pools = POOLED_AFTER[version]
    shrink = Window.square(3, 2, ceil=True)
    channels, kernel = (96, 7) if version == "1.0" else (64, 3)
    x = b.input("image", (options.batch, 3, image, image))
    x = b.conv_relu(x, b.width(channels), Window.square(kernel, 2), "conv1")
    x = b.max_pool(x, shrink, "pool1")
    for name, (squeezed, expanded) in FIRE.items():
        x = _fire(b, x, b.width(squeezed), b.width(expanded), name)
        if name in pools:
            x = b.max_pool(x, shrink, f"pool{name.removeprefix('fire')}")
    x = b.conv_relu(x, CLASSES, Window.square(1), "conv10")
    return b.model([b.global_pool(x, "pool10")])


def _fire(b: Builder, x: Tensor, squeezed: int, expanded: int, scope: str) -> Tensor:
    x = b.conv_relu(x, squeezed, Window.square(1), f"{scope}.squeeze")
    branches = [b.conv_relu(x, expanded, Window.same(size), f"{scope}.expand{size}x{size}") for size in (1, 3)]
    return b.concat(branches, scope)
