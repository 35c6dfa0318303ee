"""Hypothesis strategies shared by the tests: random machines, workloads and mappings, small enough to execute."""

import numpy as np
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.arch.dram import Dram
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.workloads import Tensor, Term, Workload


def plain(name, dims, output=False):
    return Tensor(name, tuple((Term(d),) for d in dims), output=output)


@st.composite
def matmuls(draw, most=7):
    """A matrix product, now and then batched or with a broadcast dim that no tensor has."""
    kind = draw(st.sampled_from(["matmul", "batched", "outer"]))
    dims = {"matmul": "MNK", "batched": "BMNK", "outer": "MNKX"}[kind]
    batch = "B" if kind == "batched" else ""
    sizes = tuple(draw(st.integers(1, most)) for _ in dims)
    tensors = (plain("A", batch + "MK"), plain("B", batch + "KN"), plain("Z", batch + "MN", output=True))
    return Workload(kind, tuple(dims), sizes, tensors)


@st.composite
def convolutions(draw, most=6, two_windows=None, grouped=None):
    """A convolution with strides and dilations; one or two window ranks, groups now and then."""
    both = draw(st.booleans()) if two_windows is None else two_windows
    stride, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    groups = draw(st.integers(0, 3)) == 0 if grouped is None else grouped
    dims = "MCPR" + ("QS" if both else "") + ("G" if groups else "")
    sizes = tuple(draw(st.integers(1, 3 if d in "MCG" or both else most)) for d in dims)
    group = ((Term("G"),),) if "G" in dims else ()
    window = lambda p, r: (Term(p, stride), Term(r, dilation))  # noqa: E731
    inputs = (*group, (Term("C"),), window("P", "R"), *((window("Q", "S"),) if both else ()))
    weights = (*group, *((Term(d),) for d in ("MCRS" if both else "MCR")))
    outputs = (*group, *((Term(d),) for d in ("MPQ" if both else "MP")))
    tensors = (Tensor("Weights", weights), Tensor("Inputs", inputs), Tensor("Outputs", outputs, output=True))
    return Workload("conv", tuple(dims), sizes, tensors)


LAID = {"A": "MKB", "B": "BKN", "Z": "MNB", "Weights": "MCRSG", "Inputs": "CPRQSG", "Outputs": "MPQG"}


@st.composite
def drams(draw, word_bits=16):
    """Bursts and rows of any size, and any layouts; or none, every other time."""
    if draw(st.booleans()):
        return None
    burst = draw(st.sampled_from([word_bits, word_bits * 2, word_bits * 3, word_bits * 4, word_bits * 6]))
    layout = {name: draw(st.lists(st.sampled_from(dims), max_size=3, unique=True)) for name, dims in LAID.items()}
    return Dram(
        burst,
        draw(st.sampled_from([None, burst, 2 * burst, 3 * burst, 8 * burst])),
        0.0,
        draw(st.sampled_from([0.0, 0.25])),
        tuple((name, tuple(dims)) for name, dims in layout.items()),
    )


@st.composite
def machines(draw, most_levels=4, most_axes=2, bandwidths=False, bursts=True):
    """Storage levels with 0-2 fanout axes below each; sizes do not matter to the counts. Where they have bandwidths the
    outermost may be a DRAM with `bursts`."""
    levels = []
    for i in range(draw(st.integers(1, most_levels))):
        axes = tuple(Axis(f"a{i}{j}", 1 << 20) for j in range(draw(st.integers(0, most_axes))))
        limit = 1.0 if bandwidths else None
        rates = {f"{kind}_bandwidth": limit for kind in ("read", "write", "shared")}
        starts = draw(st.sampled_from([0, 0, 1, 7])) if bandwidths else 0
        dram = draw(drams()) if bandwidths and bursts and not i else None
        levels.append(Storage(f"L{i}", "SRAM", fanout=axes, start_cycles=starts, dram=dram, **rates))
    return Architecture("random", tuple(levels), Compute("MAC", "intmac"))


@st.composite
def mappings(draw, workloads=None, arch=None, perfect=False, most_spatial=12, n=1):
    """A batch of `n` mappings: any canonical chains, loop orders, and keepers."""
    workload = draw(workloads if workloads is not None else st.one_of(matmuls(), convolutions()))
    arch = draw(arch if arch is not None else machines())
    shape = (n, len(arch.slots), len(workload.dims))
    factors = np.ones(shape, np.int64)
    order = np.zeros((n, len(arch.levels), len(workload.dims)), np.int8)
    keep = np.ones((n, len(arch.levels), len(workload.tensors)), bool)
    for i in range(n):
        spatial = 1
        for d, size in enumerate(workload.sizes):
            left = size
            for s in range(len(arch.slots) - 1, 0, -1):
                room = left if not arch.slots[s].spatial else min(left, max(1, most_spatial // spatial))
                choices = [p for p in range(1, room + 1) if not perfect or left % p == 0]
                bound = draw(st.sampled_from(choices))
                factors[i, s, d] = bound
                left = -(-left // bound)
                spatial *= bound if arch.slots[s].spatial else 1
            factors[i, 0, d] = left
        for level in range(len(arch.levels)):
            order[i, level] = draw(st.permutations(range(len(workload.dims))))
            if level:
                keep[i, level] = [draw(st.integers(0, 3)) > 0 for _ in workload.tensors]
    return MappingBatch.of(arch, workload, factors, order, keep)


def paths(value, path=()):
    """The paths of all values inside `value`."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths(item, (*path, key))
