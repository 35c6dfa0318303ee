"""ZigZag's accelerator and mapping files, read and written."""

from .read import is_zigzag_accelerator, read_zigzag_accelerator, read_zigzag_mapping
from .write import write_zigzag_accelerator, write_zigzag_mapping

__all__ = [
    "is_zigzag_accelerator",
    "read_zigzag_accelerator",
    "read_zigzag_mapping",
    "write_zigzag_accelerator",
    "write_zigzag_mapping",
]
