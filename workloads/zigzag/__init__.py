"""ZigZag's workload files, read and written."""

from .layers import is_zigzag_workload, read_zigzag_workload, write_zigzag_workload

__all__ = ["is_zigzag_workload", "read_zigzag_workload", "write_zigzag_workload"]
