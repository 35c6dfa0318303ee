"""The machine of a set of designs: no mapping costs less on one of them, by every mapping of both."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch, unstacked
from ruby_map.energy import as_written, default_table, stacked_table
from ruby_map.mapper.designs import figures, kind_of
from ruby_map.mapper.designs.relaxed import set_machine
from ruby_map.mapper.designs.space import Kind
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.problem.charges import Charges
from ruby_map.workloads import InputError

from ..conftest import DEEP
from ..small_problems import FEW, best_of_all, constrained_machines, problems, uneven_problems

RATE = st.sampled_from([None, 0.3, 0.7, 1.0, 2.5])
PJ = st.sampled_from([0.0, 0.5, 1.0, 3.0, 10.0, 200.0])
KINDS = {"even": problems(most=FEW), "constrained": problems(constrained_machines(), FEW), "uneven": uneven_problems()}


@st.composite
def altered(draw, arch, table):
    """Another design of the same kind: any figure that is relaxed may differ."""
    levels, energies = [], []
    for level, own in zip(arch.levels, table.levels, strict=True):
        fanout = tuple(_axis(draw, axis) for axis in level.fanout)
        bits = level.capacity_bits
        rates = {f"{kind}_bandwidth": draw(RATE) for kind in ("read", "write", "shared")}
        if level.dram is not None and level.dram.row_bits is not None:
            rates["row_bandwidth"] = draw(RATE)
        levels.append(replace(
            level, fanout=fanout,
            capacity_bits=None if bits is None else draw(st.sampled_from([bits, bits // 2, 2 * bits])),
            multiple_buffering=draw(st.sampled_from([level.multiple_buffering, 1, 3])) if bits else 1,
            start_cycles=draw(st.sampled_from([0, level.start_cycles, 5])), **rates,
        ))  # fmt: skip
        energies.append(
            replace(own, read_pj=draw(PJ), write_pj=draw(PJ), update_pj=draw(PJ), leak_pj_per_cycle=draw(PJ) / 10)
        )
    compute = replace(table.compute, compute_pj=draw(PJ), leak_pj_per_cycle=draw(PJ) / 10)
    return replace(arch, levels=tuple(levels)), replace(table, levels=tuple(energies), compute=compute)


def _axis(draw, axis):
    size = draw(st.integers(1, 5))
    constraint = axis.constraint
    if constraint.min_utilization:
        constraint = replace(constraint, min_utilization=draw(st.sampled_from([0.0, 0.5, constraint.min_utilization])))
    return replace(axis, size=size, constraint=constraint)


def machine_of_set(designs):
    every = [figures(*design) for design in designs]
    values = np.array([[own.value for own in row] for row in every])
    more, weights = (np.array([getattr(own, name) for own in every[0]]) for name in ("more", "weight"))
    kind = Kind(designs[0], values, more, weights)
    return set_machine(designs[0], kind.relaxed(np.arange(len(designs))))


def least(machine, table, space, objective, costs):
    """The least objective of all mappings of a machine; None where its mapspace is too large, inf where it is empty."""
    try:
        own = Mapspace(machine, space.workload, space.remainders, distinct=True)
    except InputError:
        return np.inf
    return None if own.size.total > 4 * FEW else best_of_all(own, stacked_table(table, own.arch), objective, costs)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=1_000 if DEEP else 25)
@given(data=st.data())
def test_no_design_is_better_than_the_machine_of_its_set(kind, data):
    """By every mapping, in each objective, with leakage, wires and drained words."""
    space, stacked, objective, costs = data.draw(KINDS[kind])
    arch = unstacked(space.arch)
    design = as_written(space.arch, stacked)
    assume(all(len(stack) == 1 or kind == "uneven" for stack in space.arch.stacks))
    designs = [design, *(data.draw(altered(*design)) for _ in range(data.draw(st.integers(1, 2))))]
    if costs.has_interconnect:  # wires are charged by the sizes of the array, which are then part of the kind
        designs = [(replace_sizes(one, arch), table) for one, table in designs]
    assert len({kind_of(*own, costs) for own in designs}) == 1
    bound = least(*machine_of_set(designs), space_of(space), objective, costs)
    assume(bound is not None)
    values = [least(*own, space_of(space), objective, costs) for own in designs]
    assume(None not in values)
    assert bound <= min(values) * (1 + 1e-9)


def space_of(space):
    """The mapspace with the remainders of memories, not of the levels of their stacks."""
    return space if len(space.arch.slots) == len(unstacked(space.arch).slots) else _Unstacked(space)


class _Unstacked:
    """What `least` asks of a mapspace."""

    def __init__(self, space):
        arch = unstacked(space.arch)
        flags = dict(zip((slot.name for slot in space.arch.slots), space.remainders, strict=True))
        self.workload, self.remainders = space.workload, tuple(flags[slot.name] for slot in arch.slots)


def replace_sizes(machine, like):
    """The machine with the sizes of axes of another."""
    return sized(machine, [[axis.size for axis in level.fanout] for level in like.levels])


def sized(machine, sizes):
    """The machine with axes of other sizes, by level."""
    levels = []
    for level, own in zip(machine.levels, sizes, strict=True):
        fanout = (replace(axis, size=size) for axis, size in zip(level.fanout, own, strict=True))
        levels.append(replace(level, fanout=tuple(fanout)))
    return replace(machine, levels=tuple(levels))


def test_a_set_of_one_is_its_design():
    arch = load_arch("simba_like_bandwidth")
    table = default_table(arch)
    machine, energies = machine_of_set([(arch, table)])
    assert [level.usable_bits for level in machine.levels] == [level.usable_bits for level in arch.levels]
    assert [level.bandwidths for level in machine.levels] == [level.bandwidths for level in arch.levels]
    assert [slot.least for slot in machine.slots] == [slot.least for slot in arch.slots]
    assert energies.compute.compute_pj == table.compute.compute_pj
    assert [own.leak_pj_per_cycle for own in energies.levels] == pytest.approx(
        [own.leak_pj_per_cycle for own in table.levels]
    )


@pytest.mark.parametrize("change", [
    {"width_bits": 32}, {"word_bits": 8}, {"keep": frozenset({"Weights"})}, {"bypass": frozenset({"Inputs"})},
    {"placement": "uneven"}, {"tensor_bits": (("Outputs", 32),)},
])  # fmt: skip
def test_what_is_not_known_to_be_monotone_is_another_kind(change):
    arch = load_arch("linear_16")
    table = default_table(arch)
    other = replace(arch, levels=(arch.levels[0], replace(arch.levels[1], **change), *arch.levels[2:]))
    assert kind_of(arch, table, Charges()) != kind_of(other, table, Charges())


def test_sizes_are_relaxed_unless_they_decide_more_than_what_fits():
    arch = load_arch("linear_16")
    table = default_table(arch)
    longer = sized(arch, [[2 * axis.size for axis in level.fanout] for level in arch.levels])
    systolic = [replace(machine, levels=tuple(
        replace(level, fanout=tuple(replace(axis, systolic=True) for axis in level.fanout)) for level in machine.levels
    )) for machine in (arch, longer)]  # fmt: skip
    assert kind_of(arch, table, Charges()) == kind_of(longer, table, Charges())
    assert kind_of(arch, table, Charges(hop_pj=1.0)) != kind_of(longer, table, Charges(hop_pj=1.0))
    assert len({kind_of(machine, table, Charges()) for machine in systolic}) == 2
    assert len(OBJECTIVES) == 3  # a new objective must grow with energy and cycles for all this to hold
