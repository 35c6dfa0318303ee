"""Machines whose groups and plans are not counted."""

from ...arch import Architecture
from ...workloads import Fault


def machine_faults(arch: Architecture) -> list[Fault]:
    """Refuse a machine whose groups and plans are not counted."""
    rule = why_uncounted(arch)
    return [Fault(arch.name, None, "", rule)] if rule else []


def why_uncounted(arch: Architecture) -> str:
    """Say why groups and plans on a machine are not counted; empty: they are."""
    if arch.systolic is not None:
        return "has systolic axes: nothing is proven of its mappings, nor of groups"
    if arch.starts:
        names = ", ".join(arch.levels[level].of_memory for level, _ in arch.starts)
        return f"has start_cycles ({names}): when tiles begin is known of layers one by one, not of groups and plans"
    if arch.levels[0].dram is not None:
        return f"has a section dram ({arch.levels[0].name}): bursts are counted of layers one by one, not of groups"
    return ""
