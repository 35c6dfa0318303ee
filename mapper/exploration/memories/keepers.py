"""The memories in which whole tensors of a plan may stay, and machines that have none."""

from collections.abc import Iterator

from ....arch import Architecture
from ....workloads import Fault, InputError
from ..uncounted import machine_faults


def keepers(arch: Architecture) -> Iterator[str]:
    """Yield the memories in which whole tensors may stay: inner ones with one instance."""
    for number, level in enumerate(arch.levels):
        if number and arch.instances(number) == 1:
            yield level.name


def plan_keepers(arch: Architecture) -> list[str]:
    """List them, where plans are counted. Raises InputError with why there are no plans on a machine."""
    faults, names = machine_faults(arch), list(keepers(arch))
    if not names:
        faults.append(Fault(arch.name, None, "", "has no memory with one instance, in which tensors could stay"))
    if faults:
        raise InputError(faults)
    return names
