"""One machine in place of a set of designs: no mapping costs less on a design of the set than on that machine.

Designs of one *kind* differ in figures alone that are relaxed one by one: the set's machine has the largest capacity,
axis and bandwidth of each level, and the least energy per access, leakage and start. A mapping that is valid on a
design is valid there, with the same counts, and costs no more; so whatever is proven of all mappings of that machine
holds for each design of the set (docs/optimal.md, section 10). What is not known to be monotone is part of the kind.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import inf, nextafter
from typing import NamedTuple

from ...arch import Architecture, Axis, Storage
from ...energy import ComputeEnergy, EnergyTable, LevelEnergy
from ..mapping import Floats
from ..problem import Charges, digest, plain

RATES = ("read_bandwidth", "write_bandwidth", "shared_bandwidth", "row_bandwidth")
ENERGIES = ("read_pj", "write_pj", "update_pj")


class Figure(NamedTuple):
    """A figure of a machine that may be relaxed."""

    value: float  # inf: without limit
    more: bool  # whether more of it allows more, or costs less
    weight: float  # of the logarithm of its range where a set is divided


def figures(arch: Architecture, table: EnergyTable) -> list[Figure]:
    """List the figures of a machine, in the order in which `set_machine` takes them."""
    leasts = iter([slot.least for slot in arch.slots if slot.spatial])
    rows = list[Figure]()
    for i, (level, energies) in enumerate(zip(arch.levels, table.levels, strict=True)):
        rows += size_figures(level)
        for axis in level.fanout:
            rows += axis_figures(axis, next(leasts))
        rows += energy_figures(energies)
        rows.append(Figure(_leakage(arch, i, energies), False, 0.1))
    rows.append(Figure(_leakage(arch, len(arch.levels), table.compute), False, 0.1))
    return [*rows, *compute_figures(table.compute)]


def size_figures(level: Storage) -> Iterator[Figure]:
    """The figures of a level that stand before those of its axes."""
    yield Figure(inf if level.usable_bits is None else _rounded_up(level.usable_bits), True, 0.3)
    for rate in RATES:
        own = getattr(level, rate)
        yield Figure(inf if own is None else own, True, 0.5)
    yield Figure(float(level.start_cycles), False, 0.1)


def axis_figures(axis: Axis, least: int) -> Iterator[Figure]:
    """The figures of an axis of which at least so many instances are used."""
    yield Figure(float(axis.size), True, 1.0)
    yield Figure(float(least), False, 0.1)


def energy_figures(energies: LevelEnergy) -> Iterator[Figure]:
    """The figures of a level that stand behind those of its axes; its leakage follows."""
    for name in ENERGIES:
        yield Figure(getattr(energies, name), False, 0.1)


def compute_figures(compute: ComputeEnergy) -> Iterator[Figure]:
    """The figures of the MAC units that follow their leakage."""
    yield Figure(compute.compute_pj, False, 0.1)
    if compute.by_bits is not None:
        yield Figure(compute.by_bits.adder_pj, False, 0.1)
        yield Figure(compute.by_bits.multiplier_pj, False, 0.1)


def _rounded_up(number: int) -> float:
    """Return a float that is not below a whole number."""
    return float(number) if int(float(number)) >= number else nextafter(float(number), inf)


def _leakage(arch: Architecture, level: int, energies: LevelEnergy | ComputeEnergy) -> float:
    """Return the leakage of all instances of a level, in pJ per cycle."""
    return energies.leak_pj_per_cycle * arch.instances(level)


def kind_of(arch: Architecture, table: EnergyTable, charges: Charges) -> str:
    """Return a hash of all of a machine that decides mappings and costs, but for the figures that are relaxed.

    Wires are charged by the places of words in the array, and a systolic array fills the longer the larger it is: there
    the sizes of axes are part of it.
    """
    levels = [
        plain(replace(blank_level(level), fanout=tuple(blank_axis(axis, charges) for axis in level.fanout)))
        for level in arch.levels
    ]
    compute = blank_compute(arch, table)
    return digest({"levels": levels, "compute": compute, "counted": table.counted, "max_loops": arch.max_loops})


def blank_level(level: Storage) -> Storage:
    """Return a level without the figures that are relaxed, what only its energies depend on, and its axes."""
    level = level.with_rates(lambda _: None)
    return replace(level, cls="", attributes=(), capacity_bits=None, start_cycles=0, multiple_buffering=1, banks=1,
                   ports=2, fanout=())  # fmt: skip


def blank_axis(axis: Axis, charges: Charges) -> Axis:
    """Return an axis without the figures that are relaxed."""
    size = axis.size if charges.has_interconnect or axis.systolic else 1
    return replace(axis, size=size, constraint=replace(axis.constraint, min_utilization=0.0))


def blank_compute(arch: Architecture, table: EnergyTable) -> dict[str, int | None]:
    """Return what decides mappings and costs of the MAC units, but for the figures that are relaxed."""
    by_bits = table.compute.by_bits
    return {"word_bits": arch.compute.word_bits, "factors": None if by_bits is None else by_bits.word_bits}


def set_machine(like: tuple[Architecture, EnergyTable], values: Floats) -> tuple[Architecture, EnergyTable]:
    """Make the machine of a kind `like` another that has these figures, in the order of `figures`."""
    arch, table = like
    following = iter(values.tolist())
    levels, leakage, energies = list[Storage](), list[float](), list[LevelEnergy]()
    for level, own in zip(arch.levels, table.levels, strict=True):
        bits, *rates, start = (next(following) for _ in range(len(RATES) + 2))
        fanout = tuple(_axis(axis, next(following), next(following)) for axis in level.fanout)
        level = level.with_rates(lambda _: None)
        given = {name: rate for name, rate in zip(RATES, rates, strict=True) if rate < inf}
        capacity = None if bits == inf else int(bits) * level.multiple_buffering
        levels.append(replace(level, capacity_bits=capacity, start_cycles=int(start), fanout=fanout, **given))
        energies.append(replace(own, **{name: next(following) for name in ENERGIES}))
        leakage.append(next(following))
    made = replace(arch, levels=tuple(levels))
    leak, pj = next(following), next(following)
    compute = replace(table.compute, compute_pj=pj, leak_pj_per_cycle=leak / made.instances(len(levels)))
    if compute.by_bits is not None:
        bits = replace(compute.by_bits, adder_pj=next(following), multiplier_pj=next(following))
        compute = replace(compute, by_bits=bits)
    own_levels = tuple(
        replace(own, leak_pj_per_cycle=leak / made.instances(i))
        for i, (own, leak) in enumerate(zip(energies, leakage, strict=True))
    )
    return made, replace(table, levels=own_levels, compute=compute)


def _axis(axis: Axis, size: float, least: float) -> Axis:
    return replace(axis, size=int(size), constraint=replace(axis.constraint, min_utilization=least / size))
