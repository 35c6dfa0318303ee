"""ZigZag's workload files, read and written."""

from .layers import is_zigzag_workload, read_zigzag_workload, write_zigzag_workload, zigzag_names

__all__ = ["is_zigzag_workload", "read_zigzag_workload", "write_zigzag_workload", "zigzag_names"]
