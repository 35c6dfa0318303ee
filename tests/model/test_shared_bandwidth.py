"""A bandwidth that reads and writes share: cycles by the executor, instance by instance, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.mapper.exploration import explore
from ruby_map.mapper.exploration.relaxations import changes
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.model.figures import binding, bound_text
from ruby_map.mapper.model.simulate import _Nest, _traffic
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError

from ..conftest import DEEP
from ..strategies import machines, mappings
from .test_cost import machine, mapping, matmul, table

SHARED = """
name: shared
compute: {name: MAC, class: intmac}
levels:
  - {name: DRAM, class: DRAM, shared_bandwidth: %s}
  - {name: GLB, class: SRAM, capacity_bits: 4096, fanout: [{name: PE, size: 4}]}
"""


def test_reads_and_writes_take_turns():
    """46 words read and 42 written by hand: 22 cycles at 4 words of both, 12 if each had 4."""
    workload, factors = matmul(4, 2, 3), [[1, 1, 1], [1, 2, 3], [4, 1, 1]]
    together, apart = machine(shared_bandwidth=4), machine(read_bandwidth=4, write_bandwidth=4)
    assert evaluate(mapping(together, workload, factors), table(together)).cycles[0] == 22
    assert evaluate(mapping(apart, workload, factors), table(apart)).cycles[0] == 12


def passing(batch, *, drains):
    """Words that each instance of each level reads and writes, by executing the mapping: {(level, instance): words}."""
    nest, words = _Nest(batch, 20_000_000), {}
    for v, tensor in enumerate(batch.workload.tensors):
        keepers = [level for level in range(nest.levels) if nest.keep[level, v]]
        for parent, child in zip(keepers, [*keepers[1:], nest.levels], strict=True):
            loops, axes = ([loop for loop in every if loop.level < child] for every in (nest.temporal, nest.spatial))
            traffic = _traffic(nest, tensor, parent, child, loops, axes)
            begun = {at: len(seen) * tensor.begins_empty for at, seen in traffic.parent_seen.items()}
            own = {(parent, at): moved * (1 + tensor.output) - begun[at] for at, moved in traffic.moved.items()}
            if child < nest.levels:
                begun = {at: len(seen) * tensor.begins_empty for at, seen in traffic.child_seen.items()}
                up = traffic.drained if drains and tensor.output else {}
                own |= {(child, at): filled - begun[at] + up.get(at, 0) for at, filled in traffic.filled.items()}
            for place, moved in own.items():
                words[place] = words.get(place, 0) + moved
    return words


@settings(max_examples=3000 if DEEP else 80, deadline=None)
@given(mappings(arch=machines(bandwidths=True, bursts=False)), st.sampled_from([0.3, 0.7, 1.0, 2.5]), st.booleans())
def test_the_busiest_instance_sets_the_cycles(batch, rate, drains):
    """Of every level, as executed: what it reads and writes, over the bandwidth that both share.

    Where windows overlap the spatial origin stands for the busiest (docs/model.md, rule 7).
    """
    arch = replace(batch.arch, levels=tuple(level.with_rates(lambda _: rate) for level in batch.arch.levels))
    costs = evaluate(replace(batch, arch=arch), table(arch), Charges(drain_reads=drains))
    words = passing(batch, drains=drains)
    for level in range(len(arch.levels)):
        every = {at: own for (place, at), own in words.items() if place == level}
        origin = next((own for at, own in every.items() if not any(at)), 0)
        windows = any(len(rank) > 1 for tensor in batch.workload.tensors for rank in tensor.ranks)
        assert windows or origin == max(every.values(), default=0)
        needed = -(-origin * 10 // round(10 * rate))
        cycles = int(costs.level_cycles[0, level])
        assert cycles == needed if costs.exact[0] else cycles >= needed
    assert costs.cycles[0] >= costs.level_cycles[0].max()


def test_sharing_costs_what_the_other_direction_takes():
    """Of many mappings: more cycles than with as much for each direction, never more than twice as many."""
    together, apart = machine(shared_bandwidth=2), machine(read_bandwidth=2, write_bandwidth=2)
    batch = Mapspace(together, matmul(5, 3, 4), "ruby").sample(np.random.default_rng(0), 50).own()
    both = evaluate(batch, table(together)).level_cycles[:, 1]
    each = evaluate(replace(batch, arch=apart), table(apart)).level_cycles[:, 1]
    assert (both > each).any()
    assert (both >= each).all()
    assert (both <= 2 * each).all()


def test_a_machine_file_gives_it(tmp_path):
    """It is named where it binds, and twice of it is one of the changes of `--why`."""
    path = tmp_path / "m.yaml"
    path.write_text(SHARED % 0.5)
    arch = load_arch(str(path))
    assert [(limit.kind, limit.rate) for limit in arch.levels[0].bandwidths] == [("shared", 0.5)]
    found = explore(str(path), "rank1_100", "ruby-s", SearchOptions(strategy="random"))
    assert bound_text(binding(arch, found.costs)) == "shared bandwidth of DRAM"
    assert "shared bandwidth of DRAM x2" in [
        change.text for change in changes(Mapspace(arch, found.workload, "ruby-s"))
    ]


@pytest.mark.parametrize("rate", [0, -1, "fast"])
def test_a_wrong_one_is_refused(tmp_path, rate):
    """As other bandwidths are: with file, line and path."""
    path = tmp_path / "m.yaml"
    path.write_text(SHARED % rate)
    with pytest.raises(InputError, match=r"m\.yaml:5: levels\[0\]\.shared_bandwidth: "):
        load_arch(str(path))
