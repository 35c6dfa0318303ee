"""The data types that programs compute with."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class DataType:
    """The types of the operands and of the output, which adds them up."""

    name: str
    operand: str  # as C names it
    output: str
    numpy: type[np.generic]
    numpy_output: type[np.floating | np.integer]
    operand_bytes: int
    output_bytes: int

    @property
    def exact_bits(self) -> int:
        """Whole numbers below 2**bits are exact sums: of floats the bits of the mantissa."""
        kind = np.dtype(self.numpy_output)
        return kind.itemsize * 8 - 1 if np.issubdtype(kind, np.integer) else int(np.finfo(kind).nmant) + 1


DATA_TYPES = {
    kind.name: kind
    for kind in (
        DataType("float32", "float", "float", np.float32, np.float32, 4, 4),
        DataType("float64", "double", "double", np.float64, np.float64, 8, 8),
        DataType("int8", "int8_t", "int32_t", np.int8, np.int32, 1, 4),
        DataType("int32", "int32_t", "int32_t", np.int32, np.int32, 4, 4),
    )
}
