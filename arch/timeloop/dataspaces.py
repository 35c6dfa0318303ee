"""Timeloop's constraints on tensors: which of them a level keeps, which pass it by."""

from dataclasses import replace

from ...workloads import Keys
from ...workloads.timeloop import Reader
from ..spec import Storage
from .scope import Scope

KEYS = ("keep", "bypass", "keep_only", "bypass_only")


def dataspace(scope: Scope, path: Keys, known: tuple[str, ...] = ()) -> tuple[frozenset[str], frozenset[str]]:
    """The tensors that the constraint at `path` keeps, and those that it bypasses; `known` keys stand beside its own.

    `keep_only` and `bypass_only` say the opposite of all other tensors of the workload, which they need.
    """
    values = scope.section(path, (*known, *KEYS))
    keep, bypass = set(scope.tensors((*path, "keep"))), set(scope.tensors((*path, "bypass")))
    for key, own, other in (("keep_only", keep, bypass), ("bypass_only", bypass, keep)):
        if values.get(key) is not None:
            names, workload = scope.tensors((*path, key)), scope.needed((*path, key))
            own |= set(names)
            other |= {tensor.name for tensor in workload.tensors} - own if workload else set()
    for name in sorted(keep & bypass):
        scope.reader.fault(path, f"{name} is both kept and bypassed")
    return frozenset(keep), frozenset(bypass - keep)


def keeping(
    reader: Reader, path: Keys, level: Storage, keep: frozenset[str], bypass: frozenset[str], outermost: bool
) -> Storage:
    """`level` with more tensors to keep and to bypass; contradictions are faults of the constraint at `path`."""
    keep, bypass = level.keep | keep, level.bypass | bypass
    for name in sorted(keep & bypass):
        reader.fault(path, f"{name} is both kept and bypassed at {level.name}")
    if outermost and bypass:
        reader.fault(
            path, f"the outermost level {level.name} keeps every tensor, got bypass {', '.join(sorted(bypass))}"
        )
    return replace(level, keep=keep, bypass=bypass)
