"""What a user may have meant: names that other tools use, sizes with units, sizes of an input, all channels."""

import re
from collections.abc import Iterable, Mapping

# Names that are not ours, with ours, the likeliest first. A hint needs one of these among the choices.
OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    # objectives and mapspaces
    **dict.fromkeys(("latency", "runtime", "cycles", "time", "speed", "throughput", "performance"), ("delay",)),
    **dict.fromkeys(("power", "joules"), ("energy",)),
    **dict.fromkeys(("energy-delay", "energy_delay", "energy-delay-product", "product"), ("edp",)),
    **dict.fromkeys(("perfect", "divisors"), ("pfm",)),
    "imperfect": ("ruby",),
    # keys of levels and layers
    **dict.fromkeys(("capacity", "size", "size_bytes", "memory_size"), ("capacity_bytes",)),
    **dict.fromkeys(("precision", "datawidth", "bitwidth"), ("word_bits",)),
    "width": ("width_bits",),
    "strides": ("stride",),
    "dilations": ("dilation",),
    "dimensions": ("dims", "sizes"),
}
# Names of dims: ZigZag's, those of frameworks, of the literature. They say something of our shapes' dims only.
OTHER_DIMS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("k", "out_channels", "cout", "oc", "filters"), ("M",)),
    **dict.fromkeys(("in_channels", "cin", "ic"), ("C",)),
    **dict.fromkeys(("oy", "oh", "e"), ("P",)),
    **dict.fromkeys(("ox", "ow", "f"), ("Q",)),
    **dict.fromkeys(("fy", "kh"), ("R",)),
    **dict.fromkeys(("fx", "kw"), ("S",)),
    **dict.fromkeys(("groups",), ("G",)),
    **dict.fromkeys(("batch", "batch_size"), ("B", "N")),
}
_SHAPES = ({"M", "C", "P", "R"}, {"M", "N", "K"})  # dims by which a convolution and a matrix product are known
_ROWS, _COLUMNS = ("h", "iy", "ih", "in_h", "height"), ("w", "ix", "iw", "in_w", "width")  # of the input
_INPUT = dict.fromkeys(_ROWS, ("P", "R")) | dict.fromkeys(_COLUMNS, ("Q", "S"))
_OUTPUTS = {"conv1d": "P", "conv2d": "P and Q", "conv3d": "O, P and Q", "transposed_conv2d": "P and Q"}
_FILTERS = {
    "conv1d": "rows R",
    "conv2d": "rows R and columns S",
    "conv3d": "depth T, rows R and columns S",
    "transposed_conv2d": "rows R and columns S",
}
# In the digits of Python alone, and of a text without blanks around it: in two places they would be tried in pairs.
MAX_LENGTH = 40  # of a size with its unit: the hint repeats it
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)(b|bytes?|bits?|)", re.IGNORECASE)


def meant(name: str, choices: Iterable[str]) -> str | None:
    """The choice that somebody who writes `name` is known to mean: the same word in other letters before any other.

    >>> meant("latency", ["edp", "energy", "delay"]), meant("k", ["M", "N", "K"])
    ('delay', 'K')
    """
    known = {choice.lower(): choice for choice in choices}
    words = OTHER_NAMES.get(name.lower(), ())
    if any(dims.issubset(known.values()) for dims in _SHAPES):
        words += OTHER_DIMS.get(name.lower(), ())
    return next((known[word.lower()] for word in (name, *words) if word.lower() in known), None)


def with_unit(text: str, key: str) -> str:
    """The end of a message about a size with a unit: how to write it under `key`, in that key's own unit.

    >>> with_unit("64KB", "capacity_bytes"), with_unit("64KB", "capacity_bits"), with_unit("16b", "width_bits")
    ('; write 64 * 1024', '; write 64 * 1024 * 8', '; write 16')
    """
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= MAX_LENGTH else None
    if not match or not (match[2] or match[4]):
        return ""
    number, prefix, unit = match[1], match[2].lower(), match[4]
    value = " * ".join([number, *["1024"] * " kmgt".index(prefix or " ")])
    in_bits = unit.lower().startswith("bit") or (unit == "b" and not match[2].islower())  # many write kb for kilobytes
    in_bytes = bool(unit) and not in_bits
    if key.endswith("_bytes"):
        return f"; write {value}{' / 8' if in_bits else ''}"
    if key.endswith("_bits"):
        return f"; write {value}{' * 8' if in_bytes else ''}"
    return f"; write {value}" if not unit else f"; this key has no unit: write a number, as {value}"


def _factor(given: object, name: str) -> int | str:
    """A number of the layer for a formula; its name where the file has none there."""
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 2**62 else name


def of_input(
    name: str, sizes: Mapping[str, object], steps: Mapping[str, tuple[object, object]], transposed: bool = False
) -> str:
    """The end of a message about the rows or columns of an input: which size of the output they make.

    `steps` has the stride and the dilation of each output dim that slides a window. The result is rounded down, as
    frameworks do.

    >>> of_input("H", {"H": 56, "R": 3}, {"P": (2, 1)})
    '; the output has P = (56 + 2 * padding - 3) // 2 + 1'
    """
    output, window = _INPUT.get(name.lower(), ("", ""))
    if output not in steps:
        return ""
    rows, filters = _factor(sizes.get(name), name), _factor(sizes.get(window), window)
    stride, dilation = (_factor(step, key) for step, key in zip(steps[output], ("stride", "dilation"), strict=True))
    if transposed:
        return f"; the output has {output} = ({rows} - 1) * {stride} - 2 * padding + {filters}"
    reach = filters if dilation == 1 else f"{dilation} * ({filters} - 1) - 1"
    return f"; the output has {output} = ({rows} + 2 * padding - {reach}) // {stride} + 1"


def of_layer(key: str, shape: object) -> str:
    """The end of a message about a key that layers have elsewhere: where a layer of `shape` has it; or nothing.

    >>> of_layer("kernel_size", "conv1d"), of_layer("padding", "matmul")
    ("; sizes has the filter's rows R", '')
    """
    if not isinstance(shape, str) or shape not in _OUTPUTS:
        return ""
    if key.lower() in ("padding", "pad", "pads"):
        step = {"P": ("stride", 1)}
        formula = of_input("H", {}, step, shape.startswith("transposed")).removeprefix("; the output has ")
        return f"; sizes has the output's {_OUTPUTS[shape]}, which padding is part of: {formula}"
    if key.lower() in ("kernel_size", "kernel", "filter"):
        return f"; sizes has the filter's {_FILTERS[shape]}"
    if key.lower() == "groups":
        return "; sizes has the groups as G, and M and C of one group"
    return ""


def all_channels(sizes: Mapping[str, int]) -> str:
    """What to say of a grouped layer whose M and C may be meant of all groups; empty where they cannot be.

    >>> all_channels({"G": 96, "M": 96, "C": 96})
    'M and C are those of one group, so it has 9,216 channels; a depthwise layer of 96 is G: 96, M: 1, C: 1'
    """
    groups, channels, filters = (sizes.get(dim, 1) for dim in "GCM")
    if groups == 1 or channels != groups or filters % groups:
        return ""
    layers = f"a depthwise layer of {groups} is G: {groups}, M: {filters // groups}, C: 1"
    return f"M and C are those of one group, so it has {groups**2:,} channels; {layers}"
