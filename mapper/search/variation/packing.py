"""Arrays as text, for memories and checkpoints: lists of numbers take several times the room and time."""

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(values: NDArray[Any]) -> list[Any]:
    """Write an array of numbers as plain values: its type, its shape, its compressed bytes as text.

    Whole numbers are written by the smallest type that holds them.
    """
    if values.dtype.kind == "i" and values.size:
        small = np.result_type(np.min_scalar_type(values.min()), np.min_scalar_type(values.max()))
        values = values.astype(small)
    text = base64.b64encode(zlib.compress(np.ascontiguousarray(values).tobytes(), 1)).decode()
    return [values.dtype.str, list(values.shape), text]


def unpacked(plain: Sequence[Any]) -> NDArray[Any]:
    """Read the array that `packed` wrote; whole numbers keep the small type."""
    kind, shape, text = plain
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), kind).reshape(shape)
