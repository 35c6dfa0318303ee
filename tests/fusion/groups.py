"""Random groups, small enough to execute word by word."""

from dataclasses import replace

from hypothesis import strategies as st
from ruby_map.mapper.fusion import Group, Link
from ruby_map.workloads import Tensor, Term, Workload
from ruby_map.workloads.operators import Causal

from ..strategies import plain


def window(p, r, stride, dilation):
    return Term(p, stride), Term(r, dilation)


@st.composite
def _convolution(draw, name, made):
    """A stage that reads a tensor of the extents `made`, channels first; and the zeros around it per axis."""
    channels, *axes = made
    depthwise = draw(st.booleans())
    dims, sizes, zeros, slid, filters, outputs = [], [], [], [], [], []
    for axis, extent in zip("PQ", axes, strict=False):
        r, dilation, stride = draw(st.sampled_from([3, 2, 1])), draw(st.integers(1, 2)), draw(st.integers(1, 3))
        pad = draw(st.integers(0, dilation * (r - 1)))
        span = dilation * (r - 1) + 1
        if extent + 2 * pad < span:
            r, span, pad = 1, 1, 0
        size = (extent + 2 * pad - span) // stride + 1
        filter_dim = {"P": "R", "Q": "S"}[axis]
        dims += [axis, filter_dim]
        sizes += [size, r]
        slid.append(window(axis, filter_dim, stride, dilation))
        filters.append((Term(filter_dim),))
        outputs.append((Term(axis),))
        zeros.append(pad)
    if depthwise:
        own = [("G", channels)]
        first, weights, makes = [(Term("G"),)], [(Term("G"),)], [(Term("G"),)]
    else:
        own = [("M", draw(st.integers(1, 4))), ("C", channels)]
        first, weights, makes = [(Term("C"),)], [(Term("M"),), (Term("C"),)], [(Term("M"),)]
    tensors = (
        Tensor("Weights", (*weights, *filters)),
        Tensor("Inputs", (*first, *slid)),
        Tensor("Outputs", (*makes, *outputs), output=True),
    )
    names, numbers = [dim for dim, _ in own] + dims, [size for _, size in own] + sizes
    return Workload(name, tuple(names), tuple(numbers), tensors), [0, *zeros]


def _product(name, extents, inputs):
    """A stage that multiplies tensors of equal extents word by word."""
    dims = "MPQ"[: len(extents)]
    tensors = (*(plain(tensor, dims) for tensor in inputs), plain("Outputs", dims, output=True))
    return Workload(name, tuple(dims), tuple(extents), tensors)


@st.composite
def _sum_of_windows(draw, name, made):
    """A stage that multiplies windows of two tensors of equal channels, with any zeros around them.

    Now and then it adds up over these channels, for each of its own.
    """
    own, mixes = made[0][0], draw(st.booleans())
    dims, sizes = (["M", "C"], [draw(st.integers(1, 3)), own]) if mixes else (["M"], [own])
    read, outputs = dims[-1], [(Term("M"),)]
    ranks, zeros = [[(Term(read),)], [(Term(read),)]], [[0], [0]]
    every = zip(made[0][1:], made[1][1:], strict=True)
    for axis, filters, extents in zip("PQ", ("RT", "SU"), every, strict=False):
        size = draw(st.integers(1, 5))
        dims, sizes, outputs = [*dims, axis], [*sizes, size], [*outputs, (Term(axis),)]
        for number, (r, extent) in enumerate(zip(filters, extents, strict=True)):
            length, stride, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
            around = stride * (size - 1) + dilation * (length - 1) + 1 - extent
            zeros[number].append(draw(st.integers(0, max(0, around))))
            dims, sizes = [*dims, r], [*sizes, length]
            ranks[number].append(window(axis, r, stride, dilation))
    tensors = (
        *([Tensor("W", ((Term("M"),), (Term("C"),)))] if mixes else []),
        Tensor("A", tuple(ranks[0])),
        Tensor("B", tuple(ranks[1])),
        Tensor("Outputs", tuple(outputs), output=True),
    )
    return Workload(name, tuple(dims), tuple(sizes), tensors), zeros


def link(stages, producer, consumer, tensor, zeros=None):
    """The link of a tensor, rank by rank."""
    ranks = stages[producer].output.ranks
    return Link(
        producer, consumer, tensor, tuple((rank[0].dim, (zeros or [0] * len(ranks))[i]) for i, rank in enumerate(ranks))
    )


def made_by(stage):
    return [stage.size(rank[0].dim) for rank in stage.output.ranks]


@st.composite
def convolutions(draw, most=3):
    """Stages in a row of convolutions and of products word by word, one now and then around others."""
    extents = [
        draw(st.integers(1, 3)),
        *(draw(st.integers(4, 7) | st.integers(2, 7)) for _ in range(draw(st.integers(1, 2)))),
    ]
    stages, links = [], []
    for number in range(draw(st.integers(2, most))):
        alike = [i for i, stage in enumerate(stages[:-1]) if made_by(stage)[0] == made_by(stages[-1])[0]]
        if alike and len(extents) == len(made_by(stages[-1])) and draw(st.booleans()):
            other = draw(st.sampled_from(alike))
            stage, zeros = draw(_sum_of_windows(f"s{number}", (made_by(stages[-1]), made_by(stages[other]))))
            stages.append(stage)
            links += [link(stages, number - 1, number, "A", zeros[0]), link(stages, other, number, "B", zeros[1])]
            continue
        earlier = [i for i, stage in enumerate(stages[:-1]) if stages and made_by(stage) == made_by(stages[-1])]
        if earlier and draw(st.booleans()):
            other = draw(st.sampled_from(earlier))
            stages.append(_product(f"s{number}", made_by(stages[-1]), ("A", "B")))
            links += [link(stages, number - 1, number, "A"), link(stages, other, number, "B")]
            continue
        stage, zeros = draw(_convolution(f"s{number}", made_by(stages[-1]) if stages else extents))
        stages.append(stage)
        if number:
            links.append(link(stages, number - 1, number, "Inputs", zeros))
    return tuple(stages), tuple(links)


@st.composite
def products(draw, most=3):
    """Matrix products in a row, now and then with a batch: attention's two are of this kind."""
    batch = draw(st.sampled_from(["", "", "B"]))
    b, m, widths = draw(st.integers(1, 2)), draw(st.integers(1, 5)), [draw(st.integers(1, 4)) for _ in range(most + 1)]
    stages, links = [], []
    for number in range(draw(st.integers(2, most))):
        sizes = {"B": b, "M": m, "N": widths[number + 1], "K": widths[number]}
        dims = tuple(batch + "MNK")
        tensors = (plain("A", batch + "MK"), plain("W", batch + "KN"), plain("Z", batch + "MN", output=True))
        stages.append(Workload(f"s{number}", dims, tuple(sizes[dim] for dim in dims), tensors))
        if number:
            made = len(stages) - 2
            links.append(replace(link(stages, made, made + 1, "A"), **draw(_softmax(m, widths[number]))))
        if len(stages) < most - 1 and draw(st.integers(0, 3)) == 0:  # as a bias
            stages.append(_product(f"{stages[-1].name}b", made_by(stages[-1]), ("A", "B")))
            links.append(link(stages, len(stages) - 2, len(stages) - 1, "A"))
    return tuple(stages), tuple(links)


@st.composite
def _softmax(draw, rows, keys):
    """Now and then a softmax over the keys of a product, that streams or not, with a causal mask or without one."""
    if draw(st.booleans()):
        return {}
    queries = [number for number in range(1, min(rows, keys) + 1) if rows % number == 0]
    causal = Causal("M", "K", draw(st.sampled_from(queries))) if draw(st.booleans()) else None
    return {"through": "softmax", "streaming": draw(st.booleans()), "causal": causal}


@st.composite
def groups(draw, most_steps=24):
    """A group with any shared loops, orders, tiles, retained dims and kept tensors."""
    stages, links = draw(st.one_of(products(), convolutions(), convolutions()))
    last = stages[-1]
    dims = [dim for dim in last.dims if dim not in "RSTU" and last.size(dim) > 1] or last.dims[:1]
    shared, steps = [], 1
    fewest = min(len(dims), draw(st.integers(1, 2)))
    for dim in draw(st.lists(st.sampled_from(dims), unique=True, min_size=fewest, max_size=3)):
        # tiles of several steps first: only in these anything overlaps, or moves twice
        tile = draw(st.integers(1, max(1, last.size(dim) // 2)) | st.integers(1, last.size(dim)))
        if steps * -(-last.size(dim) // tile) <= most_steps:
            shared.append((dim, tile))
            steps *= -(-last.size(dim) // tile)
    cut = draw(st.integers(0, len(shared)))
    retained = frozenset(dim for dim, _ in shared[cut:]) | draw(st.sets(st.sampled_from(dims)))
    group = Group(stages, links, "L1", tuple(shared), retained & {dim for dim, _ in shared})
    free = [
        (number, tensor.name)
        for number, stage in enumerate(stages)
        for tensor in stage.tensors
        if not group.intermediate(number, tensor.name)
    ]
    chosen = draw(st.lists(st.sampled_from(free), unique=True, min_size=min(1, len(free)), max_size=3))
    kept = tuple((key, len(shared) - draw(st.integers(0, len(shared)))) for key in sorted(chosen))
    return Group(stages, links, "L1", tuple(shared), group.retained, kept)
