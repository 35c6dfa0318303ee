"""The zeros around the data of a convolution of ONNX, from its attributes."""

from .graph import Graph, Node

Zeros = list[tuple[int, int]]  # before and after the words, by spatial dim
Sizes = tuple[int, ...]


def zeros_around(graph: Graph, node: Node, data: Sizes, filters: Sizes, output: Sizes) -> Zeros:
    """The zeros around the data of a Conv; all sizes are those of the spatial dims. Raises InputError."""
    strides, dilations = _steps(node, "strides", len(data)), _steps(node, "dilations", len(data))
    if not _automatic(node):
        return _given(graph, node, len(data))
    if _automatic(node) == "VALID":
        return [(0, 0)] * len(data)
    windows = zip(data, filters, output, strides, dilations, strict=True)
    totals = [max(0, (q - 1) * stride + (s - 1) * step + 1 - size) for size, s, q, stride, step in windows]
    return [_shared(total, _automatic(node) == "SAME_UPPER") for total in totals]


def zeros_of_transposed(graph: Graph, node: Node, data: Sizes, filters: Sizes, output: Sizes) -> Zeros | None:
    """The zeros around the data of a ConvTranspose as the convolution of stride 1 that it is; None where it leaves out
    words at the edges of the data. Raises InputError."""
    strides = _steps(node, "strides", len(data))
    cropped = [before for before, _ in _given(graph, node, len(data))]
    if _automatic(node) or "output_shape" in node.attributes:  # the sizes of the output say how much is cropped
        more = node.attributes.get("output_padding", [0] * len(data))
        if len(more) != len(data):
            raise graph.fault(node, f"output_padding is {more}, {len(data)} are expected")
        windows = zip(data, filters, output, strides, more, strict=True)
        totals = [max(0, (size - 1) * stride + s + add - q) for size, s, q, stride, add in windows]
        cropped = [_shared(total, _automatic(node) == "SAME_UPPER")[0] for total in totals]
    every = []
    for size, s, q, stride, crop in zip(data, filters, output, strides, cropped, strict=True):
        before = s // stride - 1 - crop // stride
        every.append((before, q // stride + s // stride - 1 - size - before))
    return every if all(min(both) >= 0 for both in every) else None


def _shared(total: int, upper: bool) -> tuple[int, int]:
    """So many zeros on two sides; an odd one stands after the words where `upper`."""
    return (total // 2, total - total // 2) if upper else (total - total // 2, total // 2)


def _automatic(node: Node) -> str:
    """The attribute auto_pad, empty where `pads` counts."""
    given = node.attributes.get("auto_pad", b"")
    text = given.decode(errors="replace") if isinstance(given, bytes) else str(given)
    return "" if text == "NOTSET" else text


def _given(graph: Graph, node: Node, spatial: int) -> Zeros:
    pads = node.attributes.get("pads", [0] * 2 * spatial)
    if len(pads) != 2 * spatial:
        raise graph.fault(node, f"pads are {pads}, {2 * spatial} are expected")
    return list(zip(pads[:spatial], pads[spatial:], strict=True))


def _steps(node: Node, attribute: str, spatial: int) -> list[int]:
    return list(node.attributes.get(attribute, [1] * spatial))
