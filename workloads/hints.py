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
    # dims: ZigZag's, those of frameworks, of the literature
    **dict.fromkeys(("k", "out_channels", "cout", "oc", "filters"), ("M",)),
    **dict.fromkeys(("in_channels", "cin", "ic"), ("C",)),
    **dict.fromkeys(("oy", "oh", "e"), ("P",)),
    **dict.fromkeys(("ox", "ow", "f"), ("Q",)),
    **dict.fromkeys(("fy", "kh"), ("R",)),
    **dict.fromkeys(("fx", "kw"), ("S",)),
    **dict.fromkeys(("groups",), ("G",)),
    **dict.fromkeys(("batch", "batch_size"), ("N", "B")),
}
_ROWS, _COLUMNS = ("h", "iy", "ih", "in_h", "height"), ("w", "ix", "iw", "in_w", "width")  # of the input
_INPUT = dict.fromkeys(_ROWS, ("P", "R")) | dict.fromkeys(_COLUMNS, ("Q", "S"))
_OUTPUT = "sizes has the output's P and Q, which padding is part of: P = (H + 2 * padding - R) / stride + 1"
LAYER_KEYS = dict.fromkeys(("padding", "pad", "pads"), _OUTPUT)
LAYER_KEYS |= dict.fromkeys(("kernel_size", "kernel", "filter"), "sizes has the filter's rows R and columns S")
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)(b|bytes?|bits?|)\s*", re.IGNORECASE)


def meant(name: str, choices: Iterable[str]) -> str | None:
    """The choice that somebody who writes `name` is known to mean.

    >>> meant("latency", ["edp", "energy", "delay"])
    'delay'
    """
    known = set(choices)
    return next((other for other in OTHER_NAMES.get(name.lower(), ()) if other in known), None)


def with_unit(text: str, key: str) -> str:
    """The end of a message about a size with a unit: how to write it under `key`, in that key's own unit.

    >>> with_unit("64KB", "capacity_bytes"), with_unit("64KB", "capacity_bits"), with_unit("16b", "width_bits")
    ('; write 64 * 1024', '; write 64 * 1024 * 8', '; write 16')
    """
    found = _QUANTITY.fullmatch(text)
    if not found or not (found[2] or found[4]):
        return ""
    number, prefix, unit = found[1], found[2].lower(), found[4]
    value = " * ".join([number, *["1024"] * " kmgt".index(prefix or " ")])
    in_bits = unit.lower().startswith("bit") or (unit == "b" and not found[2].islower())  # many write kb for kilobytes
    in_bytes = bool(unit) and not in_bits
    if key.endswith("_bytes"):
        return f"; write {value}{' / 8' if in_bits else ''}"
    if key.endswith("_bits"):
        return f"; write {value}{' * 8' if in_bytes else ''}"
    return f"; write {value}" if not unit else f"; this key has no unit: write a number, as {value}"


def of_input(name: str, sizes: Mapping[str, object], stride: object, choices: Iterable[str]) -> str:
    """The end of a message about the rows or columns of an input: which size of the output they make.

    >>> of_input("H", {"H": 56, "R": 3}, 2, "NMCPQRS")
    '; the output has P = (56 + 2 * padding - 3) / 2 + 1'
    """
    output, window = _INPUT.get(name.lower(), ("", ""))
    if not output or output not in (known := set(choices)) or window not in known:
        return ""
    step = stride if isinstance(stride, int) else "stride"
    return f"; the output has {output} = ({sizes[name]} + 2 * padding - {sizes.get(window, window)}) / {step} + 1"


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
