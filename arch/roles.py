"""What levels and axes become in a program (docs/programs.md)."""

from collections.abc import Mapping
from dataclasses import replace

from ..workloads import Fault, InputError
from .spec import AXIS_CODES, LEVEL_CODES, Architecture, Storage


def with_roles(arch: Architecture, codes: Mapping[str, str]) -> Architecture:
    """Return `arch` with what its levels and axes, by name, become in a program. Raises InputError with every fault."""
    faults = []
    levels = {level.name for level in arch.levels}
    axes = {axis.name for level in arch.levels for axis in level.fanout}
    for name, code in codes.items():
        known = LEVEL_CODES if name in levels else AXIS_CODES if name in axes else ()
        if not known:
            faults.append(Fault("--as", None, name, f"no level or axis of {arch.name}: {', '.join([*levels, *axes])}"))
        elif code not in known:
            faults.append(Fault("--as", None, name, f"must be one of {', '.join(known)}; got {code!r}"))
    if faults:
        raise InputError(faults)
    return replace(arch, levels=tuple(_with_codes(level, codes) for level in arch.levels))


def one_core(arch: Architecture) -> Architecture:
    """Return `arch` with one instance along axes of threads: what a single thread runs."""
    levels = [
        replace(level, fanout=tuple(replace(axis, size=1) if axis.code == "threads" else axis for axis in level.fanout))
        for level in arch.levels
    ]
    return replace(arch, levels=tuple(levels))


def _with_codes(level: Storage, codes: Mapping[str, str]) -> Storage:
    axes = tuple(
        replace(axis, code=next((code for code in AXIS_CODES if code == codes.get(axis.name)), axis.code))
        for axis in level.fanout
    )
    own = next((code for code in LEVEL_CODES if code == codes.get(level.name)), level.code)
    return replace(level, code=own, fanout=axes)
