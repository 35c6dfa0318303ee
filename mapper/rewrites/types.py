"""What is known of a tensor before it is computed: its sizes, and where it was joined.

Along each axis a tensor has an *extent*: a size, or two extents of which it was joined, as `concat` joins them. A split
parts a tensor where it was joined last (as in TASO, section 3): so a rule holds for any sizes, and needs no places.
"""

Extent = int | tuple["Extent", "Extent"]
Type = tuple[Extent, ...]  # an extent for each axis


def size(extent: Extent) -> int:
    """Return how many words an extent has.

    >>> size(((2, 3), 4))
    9
    """
    return extent if isinstance(extent, int) else size(extent[0]) + size(extent[1])


def sizes(made: Type) -> tuple[int, ...]:
    """Return the sizes of a tensor: its type, where nobody asks how it was joined."""
    return tuple(map(size, made))


def divided(extent: Extent, by: int) -> Extent | None:
    """Return an extent with each of its parts divided; None where one is no multiple.

    >>> divided((4, (2, 6)), 2), divided((4, 3), 2)
    ((2, (1, 3)), None)
    """
    if isinstance(extent, int):
        return None if extent % by else extent // by
    parts = divided(extent[0], by), divided(extent[1], by)
    return None if parts[0] is None or parts[1] is None else (parts[0], parts[1])
