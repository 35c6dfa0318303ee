"""The mapspace against a naive enumeration, its numbering, its sampling, and the contradictions it names."""

from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.mapper import joint, mapspace
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import InputError, Tensor, Term, Workload

MAC = Compute("MAC", "intmac")
KEEP = frozenset({"A", "B", "Z"})


def matmul(m, n, k):
    def tensor(name, dims, output=False):
        return Tensor(name, tuple((Term(dim),) for dim in dims), output=output)

    tensors = (tensor("A", "MK"), tensor("B", "KN"), tensor("Z", "MN", output=True))
    return Workload("matmul", ("M", "N", "K"), (m, n, k), tensors)


def machine(*axes, outer=None, inner=None, keep=KEEP, bypass=frozenset()):
    """DRAM, fanout axes, a scratchpad that keeps everything unless told otherwise."""
    dram = Storage("DRAM", "DRAM", fanout=axes, temporal=outer or LoopConstraint())
    pad = Storage("pad", "SRAM", keep=frozenset(keep), bypass=frozenset(bypass), temporal=inner or LoopConstraint())
    return Architecture("toy", (dram, pad), MAC)


def rule(dim, op, value):
    return FactorRule(dim, op, value)


TWO_AXES = (Axis("X", 4), Axis("Y", 3, "Y"))
CASES = {
    "one axis": (machine(Axis("X", 5)), matmul(6, 1, 7)),
    "two axes": (machine(*TWO_AXES), matmul(5, 1, 6)),
    "free bypass": (machine(Axis("X", 2), keep=(), bypass="B"), matmul(2, 3, 1)),
    "factors": (
        machine(
            Axis("X", 6, constraint=LoopConstraint((rule("M", "=", 3), rule("Q", "=", 2), rule("K", "<=", 2)))),
            inner=LoopConstraint((rule("K", ">=", 2), rule("N", "=", None))),
        ),
        matmul(9, 4, 6),
    ),
    "dims and use": (
        machine(
            Axis("X", 4, constraint=LoopConstraint(dims=("M", "K"), min_utilization=0.75)),
            outer=LoopConstraint(dims=("M", "N")),
        ),
        matmul(6, 3, 5),
    ),
    "few loops": (
        machine(Axis("X", 3), outer=LoopConstraint(max_loops=1), inner=LoopConstraint(max_loops=2)),
        matmul(4, 3, 4),
    ),
    "orders": (
        machine(
            Axis("X", 2),
            outer=LoopConstraint(outermost=("K",), innermost=("Q", "M")),
            inner=LoopConstraint(innermost=("N",)),
        ),
        matmul(3, 3, 4),
    ),
    "remainders by slot": (
        machine(Axis("X", 3, constraint=LoopConstraint(remainders=False)), inner=LoopConstraint(remainders=True)),
        matmul(7, 1, 5),
    ),
}


def chains_by_definition(size, imperfect):
    """Chains of canonical bounds of one dim, all slots, no other limit."""
    found = [((), size)]
    for slot in reversed(range(len(imperfect))):
        found = [
            ((bound, *chain), -(-n // bound))
            for chain, n in found
            for bound in range(1, n + 1)
            if (imperfect[slot] or n % bound == 0) and (slot or bound == n)
        ]
    return [chain for chain, n in found if n == 1]


def allowed(slot, dims, sizes, bounds):
    """Whether `bounds` (a bound per dim) meet everything asked of the slot."""
    constraint, of = slot.constraint, dict(zip(dims, bounds, strict=True))
    for rule in constraint.factors:
        value = sizes.get(rule.dim, 1) if rule.value is None else rule.value
        bound = of.get(rule.dim)
        if bound is not None and not {"=": bound == value, "<=": bound <= value, ">=": bound >= value}[rule.op]:
            return False
    if constraint.dims is not None and any(bound > 1 for dim, bound in of.items() if dim not in constraint.dims):
        return False
    if slot.spatial:
        return prod(bounds) <= slot.axis.size and prod(bounds) / slot.axis.size >= constraint.min_utilization
    return constraint.max_loops is None or sum(bound > 1 for bound in bounds) <= constraint.max_loops


def orders_by_definition(slot, dims, free, present):
    """Orders of the `present` loops that keep to the constraint; loops neither free nor named are left out."""
    first, last = slot.constraint.outermost, slot.constraint.innermost
    middle = [dim for dim in dims if dim in free and dim not in first + last]
    every = (
        tuple(d for d in first if d in dims) + order + tuple(d for d in last if d in dims)
        for order in permutations(middle)
    )
    return {tuple(dim for dim in order if dim in present(order)) for order in every}


def brute_force(arch, work, preset, distinct):
    """Every mapping by definition, as comparable text: bounds, orders (without idle loops), kept tensors."""
    spatial, temporal = preset in ("ruby", "ruby-s"), preset in ("ruby", "ruby-t")
    sizes = dict(zip(work.dims, work.sizes, strict=True))
    imperfect = [
        slot.constraint.remainders if slot.constraint.remainders is not None else spatial if slot.spatial else temporal
        for slot in arch.slots
    ]
    chains = [chains_by_definition(size, imperfect) for size in work.sizes]
    combos = [
        combo
        for combo in product(*chains)
        if all(
            allowed(slot, work.dims, sizes, bounds)
            for slot, bounds in zip(arch.slots, zip(*combo, strict=True), strict=True)
        )
    ]
    slots = [index for index, slot in enumerate(arch.slots) if not slot.spatial]
    # a dim is idle at a slot where its own limits leave it no bound over 1
    free = {
        s: {
            dim
            for d, dim in enumerate(work.dims)
            if work.sizes[d] > 1
            and (arch.slots[s].constraint.dims is None or dim in arch.slots[s].constraint.dims)
            and all(not (r.dim == dim and r.op != ">=" and r.value == 1) for r in arch.slots[s].constraint.factors)
        }
        for s in slots
    }
    keeps = list(
        product(
            *(
                [t.name in level.keep or index == 0]
                if t.name in level.keep or index == 0 or t.name in level.bypass
                else [False, True]
                for index, level in enumerate(arch.levels)
                for t in work.tensors
            )
        )
    )
    for combo in combos:

        def orders(s, combo=combo):
            over_one = {dim for d, dim in enumerate(work.dims) if combo[d][s] > 1}
            present = (lambda order: over_one) if distinct else set
            return orders_by_definition(arch.slots[s], work.dims, free[s], present)

        for order in product(*map(orders, slots)):
            for keep in keeps:
                yield combo, order, keep


def told(batch, free, distinct):
    """The mappings of a batch in the form of brute_force."""
    slots = [index for index, slot in enumerate(batch.arch.slots) if not slot.spatial]
    dims, factors = batch.workload.dims, batch.factors
    for i in range(len(batch)):
        order = []
        for level, s in enumerate(slots):
            names = [dims[d] for d in batch.order[i, level]]
            if distinct:
                order.append(tuple(n for n in names if factors[i, s, dims.index(n)] > 1))
            else:
                order.append(tuple(n for n in names if n in free[level]))
        combo = tuple(tuple(factors[i, :, d].tolist()) for d in range(len(dims)))
        yield combo, tuple(order), tuple(batch.keep[i].reshape(-1).tolist())


def named_or_free(space):
    return [
        {space.workload.dims[d] for d in (*level.outermost, *level.free, *level.innermost)}
        for level in space.orders.levels
    ]


@pytest.mark.parametrize("distinct", [False, True], ids=["all orders", "distinct"])
@pytest.mark.parametrize("preset", ["pfm", "ruby-s", "ruby-t", "ruby"])
@pytest.mark.parametrize("case", CASES)
def test_enumeration_is_the_definition(case, preset, distinct):
    """The mappings by number are those of a naive enumeration, each once, and `size` is how many there are."""
    arch, work = CASES[case]
    space = Mapspace(arch, work, preset, distinct=distinct)
    expected = list(brute_force(arch, work, preset, distinct))
    assert space.size.total == len(expected) == len(set(expected)) > 0
    found = [one for batch in space.batches(size=997) for one in told(batch, named_or_free(space), distinct)]
    assert len(found) == len(expected)
    assert set(found) == set(expected)


@pytest.mark.parametrize("case", ["one axis", "two axes", "few loops"])
def test_presets_are_nested(case):
    """Every PFM mapping is in Ruby-S and Ruby-T, and every one of these in Ruby."""
    arch, work = CASES[case]
    factors = {
        preset: {mapping.tobytes() for batch in Mapspace(arch, work, preset).batches() for mapping in batch.factors}
        for preset in ("pfm", "ruby-s", "ruby-t", "ruby")
    }
    assert factors["pfm"] < factors["ruby-s"] < factors["ruby"]
    assert factors["pfm"] < factors["ruby-t"] < factors["ruby"]


@pytest.mark.parametrize(
    ("pes", "sizes"), [(5, (5346, 9261, 6082300, 10090300)), (16, (10017, 47048, 10427439, 28941445))]
)
def test_sizes_of_a_100_cubed_matmul(pes, sizes):
    """The factorizations of the two-level toy, counted independently for the four presets."""
    found = [
        Mapspace(machine(Axis("X", pes)), matmul(100, 100, 100), p).size for p in ("pfm", "ruby-s", "ruby-t", "ruby")
    ]
    assert tuple(size.factorization for size in found) == sizes
    assert all(size.permutation == 36 and size.axes == size.bypass == 1 for size in found)
    assert all(size.total == size.factorization * 36 for size in found)


def test_size_is_the_product_of_its_parts():
    """The total is the product of the sub-spaces, bypass included; dims of size 1 do not multiply the orders."""
    size = Mapspace(machine(*TWO_AXES, keep="A"), matmul(5, 1, 6), "ruby").size
    assert (size.permutation, size.axes, size.bypass) == (4, 1, 4)
    assert size.total == size.factorization * size.permutation * size.axes * size.bypass
    assert str(size) == f"{size.total:,}"
    assert 10**size.log10 == pytest.approx(size.total)


@st.composite
def spaces(draw):
    """Random mapspaces, constrained at random, that are not empty."""
    work = matmul(*(draw(st.integers(1, 40)) for _ in range(3)))
    dims = st.sampled_from([None, None, ("M", "K"), ("N",)])
    axes = tuple(
        Axis(f"a{i}", draw(st.integers(1, 9)), constraint=LoopConstraint(dims=draw(dims)))
        for i in range(draw(st.integers(0, 2)))
    )
    loops = st.sampled_from([None, None, 1, 2])
    outer, inner = LoopConstraint(outermost=draw(st.sampled_from([(), ("N",)]))), LoopConstraint(max_loops=draw(loops))
    arch = machine(*axes, outer=outer, inner=inner, keep=draw(st.sampled_from([KEEP, "A", ""])))
    preset = draw(st.sampled_from(["pfm", "ruby-s", "ruby-t", "ruby"]))
    return Mapspace(arch, work, preset, distinct=draw(st.booleans()))


@settings(max_examples=60)
@given(spaces(), st.data())
def test_numbering_is_a_bijection(space, data):
    """`index` undoes `at`, and `at` undoes `index` on samples."""
    last = space.size.total - 1
    numbers = data.draw(st.lists(st.integers(0, last), max_size=20)) + [0, last]
    assert space.index(space.at(numbers)) == numbers
    batch = space.sample(np.random.default_rng(data.draw(st.integers(0, 99))), 20)
    again = space.at(space.index(batch))
    assert (again.factors == batch.factors).all()
    assert (again.order == batch.order).all()
    assert (again.keep == batch.keep).all()


def convolution():
    dims = ("N", "M", "C", "P", "Q", "R", "S")
    tensors = tuple(
        Tensor(name, tuple((Term(d),) for d in of), output=name == "Z")
        for name, of in (("A", "NCPQ"), ("B", "MCRS"), ("Z", "NMPQ"))
    )
    return Workload("conv", dims, (1, 6144, 384, 27, 27, 5, 5), tensors)


def deep_machine():
    """Nine slots: five levels, four axes."""
    fanouts = ((), (Axis("PE", 15),), (Axis("vector", 4),), (Axis("half", 2),), (Axis("lane", 4),))
    levels = tuple(Storage(f"L{i}", "SRAM", fanout=fanout) for i, fanout in enumerate(fanouts))
    return Architecture("deep", levels, MAC)


@pytest.mark.parametrize("preset", ["ruby-s", "ruby"])
def test_numbers_beyond_64_bits(preset):
    """6144 channels on nine slots: too many chains to list, numbers far beyond 2**63, and still a bijection."""
    space = Mapspace(deep_machine(), convolution(), preset)
    assert space.size.total > 2**100
    assert max(chains.total for chains in space.chains) > mapspace.LISTED
    rng = np.random.default_rng(1)
    numbers = [0, 1, space.size.total // 3, space.size.total - 1, *space.sample_distinct_indices(rng, 50)]
    assert space.index(space.at(numbers)) == numbers
    batch = space.sample(rng, 100)
    assert space.index(space.at(space.index(batch))) == space.index(batch)
    assert (np.prod(batch.factors[:, 2], axis=1) <= 15).all()


def test_numbers_outside_are_refused():
    """A number below 0 or beyond the last is an IndexError; mappings from elsewhere have no number."""
    space = Mapspace(*CASES["one axis"], "pfm")
    for number in (-1, space.size.total):
        with pytest.raises(IndexError, match="must be in 0"):
            space[number]
    imperfect = next(Mapspace(*CASES["one axis"], "ruby").batches(start=0, stop=2000, size=2000))
    with pytest.raises(ValueError, match="not in the mapspace"):
        space.index(imperfect)
    wide = space.at([0])
    wide.keep = ~wide.keep
    with pytest.raises(ValueError, match="kept tensors"):
        space.index(wide)


# Uniformity


def chi_square(numbers, total):
    """The statistic of uniformity over 0..total-1 in standard deviations from its mean."""
    seen = np.bincount(numbers, minlength=total)
    expected = len(numbers) / total
    return ((seen - expected) ** 2 / expected).sum() / (total - 1) - 1, np.sqrt(2 / (total - 1))


def is_uniform(numbers, total):
    excess, deviation = chi_square(np.asarray(numbers, np.int64), total)
    return abs(excess) < 5 * deviation


SMALL = {
    "bypass": (machine(Axis("X", 2), keep=(), bypass="B"), matmul(2, 3, 1), "ruby"),
    "coupled": (machine(*TWO_AXES, inner=LoopConstraint(max_loops=1)), matmul(5, 1, 6), "ruby-s"),
    "use": (CASES["dims and use"][0], matmul(3, 1, 5), "ruby-t"),
}


@pytest.mark.parametrize("case", SMALL)
@pytest.mark.parametrize("distinct", [False, True], ids=["all orders", "distinct"])
@pytest.mark.parametrize("way", ["listed", "unlisted", "few bits"])
def test_samples_are_uniform(case, distinct, way, monkeypatch):
    """Over the whole of a small space every mapping is equally likely, whichever way chains are drawn."""
    if way == "unlisted":
        monkeypatch.setattr(mapspace, "LISTED", 0)
    if way == "few bits":
        monkeypatch.setattr(joint, "BITS", 8)
    arch, work, preset = SMALL[case]
    space = Mapspace(arch, work, preset, distinct=distinct)
    assert space.size.total < 5000
    batch = space.sample(np.random.default_rng(7), 3000 if way == "few bits" else 20 * space.size.total)
    numbers = space.index(batch)
    assert is_uniform(numbers, space.size.total)


def test_a_biased_sampler_is_caught():
    """The same check fails for chains drawn slot by slot with equal chances, and for orders that lean one way."""
    arch, work, preset = SMALL["coupled"]
    space = Mapspace(arch, work, preset)
    rng = np.random.default_rng(7)
    fair = np.array(space.index(space.sample(rng, 20 * space.size.total)))
    assert is_uniform(fair, space.size.total)
    leaning = np.where((fair % 2 == 1) & (rng.random(len(fair)) < 0.3), fair - 1, fair)
    assert not is_uniform(leaning, space.size.total)
    assert not is_uniform(slot_by_slot(space, rng, len(fair)), space.size.total)


def slot_by_slot(space, rng, n):
    """Numbers of mappings whose chains are uniform within a uniform group: what ignoring the weights would give."""
    sizes = [len(chains.counts) for chains in space.chains]
    numbers = []
    while len(numbers) < n:
        groups = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
        ranks = [rng.integers(0, chains.counts[groups[:, d]]) for d, chains in enumerate(space.chains)]
        order = rng.integers(0, space.orders.count, n)
        for i in range(n):
            try:
                one = space._joint.rank(groups[i : i + 1], [rank[i : i + 1] for rank in ranks], order[i : i + 1])
            except ValueError:
                continue
            numbers.append(int(one[0]) * space.size.bypass)
    return numbers[:n]


def test_large_coupled_spaces_are_uniform_in_what_they_share():
    """Where weights pass 2**63, the number of each sample, cut into 64 equal parts, is uniform over the parts."""
    space = Mapspace(deep_machine(), convolution(), "ruby")
    numbers = space.index(space.sample(np.random.default_rng(3), 6400))
    assert is_uniform([number * 64 // space.size.total for number in numbers], 64)


def test_same_seed_same_samples_and_shared_tables():
    """A seed decides the batch; listed chains are one table for all batches."""
    space = Mapspace(*CASES["two axes"])
    one, other = (space.sample(np.random.default_rng(5), 64) for _ in range(2))
    assert isinstance(one, MappingBatch)
    assert (one.rows == other.rows).all()
    assert (one.order == other.order).all()
    assert all(a is b for a, b in zip(one.tables, other.tables, strict=True))
    assert one.order.dtype == np.int8
    assert one.keep.dtype == bool


@pytest.mark.parametrize("n", [0, 1, 50, None])
def test_indices_without_replacement(n):
    """`sample_distinct_indices` gives n different numbers; as many as there are give all of them."""
    space = Mapspace(*CASES["orders"], "ruby")
    n = space.size.total if n is None else n
    found = space.sample_distinct_indices(np.random.default_rng(0), n)
    assert len(found) == len(set(found)) == n
    assert all(0 <= i < space.size.total for i in found)
    with pytest.raises(ValueError, match="different ones"):
        space.sample_distinct_indices(np.random.default_rng(0), space.size.total + 1)


def test_batches_are_in_order():
    """`batches` walks start..stop in order, whatever the size of the pieces."""
    space = Mapspace(*CASES["few loops"])
    numbers = [i for batch in space.batches(10, 100, 7) for i in space.index(batch)]
    assert numbers == list(range(10, 100))


# Contradictions


def axis(**constraint):
    return Axis("X", 4, constraint=LoopConstraint(**constraint))


CONFLICTS = {
    "factors that do not divide": (
        machine(axis(factors=(rule("M", "=", 4),)), inner=LoopConstraint((rule("M", "=", 2),))),
        matmul(12, 2, 2),
        "pfm",
        "M=12 cannot meet M=4 at DRAM.X and M=2 at pad; with remainders it could (mapspace ruby)",
    ),
    "one factor that does not divide": (
        machine(axis(factors=(rule("M", "=", 4),), remainders=False), inner=LoopConstraint((rule("M", "<=", 1),))),
        matmul(7, 2, 2),
        "ruby-s",
        "M=7 cannot meet M=4 at DRAM.X",
    ),
    "factors that overshoot": (
        machine(axis(factors=(rule("M", "=", 4),)), inner=LoopConstraint((rule("M", ">=", 9),))),
        matmul(20, 2, 2),
        "ruby",
        "M=20 cannot meet M=4 at DRAM.X and M>=9 at pad",
    ),
    "factor against axis": (
        machine(axis(factors=(rule("K", "=", 6),)), inner=LoopConstraint((rule("M", "=", 2),))),
        matmul(2, 2, 6),
        "ruby",
        "K=6 cannot meet K=6 at DRAM.X and the size 4 of DRAM.X",
    ),
    "nowhere to go": (
        machine(axis(), outer=LoopConstraint(dims=("N",)), inner=LoopConstraint((rule("M", "<=", 2),))),
        matmul(9, 2, 2),
        "ruby",
        "M=9 cannot meet the dims allowed at DRAM (N) and the size 4 of DRAM.X and M<=2 at pad",
    ),
    "utilization out of reach": (
        machine(axis(min_utilization=0.9, dims=("M",), factors=(rule("N", "<=", 1),))),
        matmul(3, 2, 2),
        "ruby",
        "no mapping meets the dims allowed at DRAM.X (M) and a utilization of at least 0.9 of DRAM.X together, "
        "within the 4 places of DRAM.X",
    ),
    "two dims on one axis": (
        machine(axis(factors=(rule("M", "=", 2), rule("K", "=", 3), rule("N", "<=", 2)))),
        matmul(4, 2, 6),
        "ruby",
        "no mapping meets M=2 at DRAM.X and K=3 at DRAM.X together, within the 4 places of DRAM.X",
    ),
    "too few loops": (
        machine(inner=LoopConstraint((rule("M", "=", 2), rule("K", "=", 2)), max_loops=1)),
        matmul(4, 2, 6),
        "pfm",
        "no mapping meets M=2 at pad and K=2 at pad and at most 1 loops at pad together",
    ),
    "keep and bypass": (machine(keep="A", bypass="A"), matmul(2, 2, 2), "pfm", "pad must both keep and bypass A"),
    "order names twice": (
        machine(inner=LoopConstraint(outermost=("M",), innermost=("M",))),
        matmul(2, 2, 2),
        "pfm",
        "the loop order of pad places M more than once",
    ),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_contradictions_are_named(case):
    """Constraints that leave nothing are an InputError that names the ones in conflict and no others."""
    arch, work, preset, message = CONFLICTS[case]
    with pytest.raises(InputError) as caught:
        Mapspace(arch, work, preset)
    assert [fault.message for fault in caught.value.faults] == [message]


def test_all_dims_in_conflict_are_told_at_once():
    """Every dim without a chain has a fault of its own."""
    arch = machine(inner=LoopConstraint((rule("M", "=", 7), rule("K", "=", 9))))
    with pytest.raises(InputError) as caught:
        Mapspace(arch, matmul(4, 4, 4), "ruby")
    assert [fault.message.split()[0] for fault in caught.value.faults] == ["M=4", "K=4"]


def test_distinct_orders_too_many_to_count():
    """Where distinct orders need more joint states than fit, that is said, and counting all orders works."""
    levels = tuple(Storage(f"L{i}", "SRAM") for i in range(8))
    arch = Architecture("tall", levels, MAC)
    with pytest.raises(InputError, match="joint states"):
        Mapspace(arch, convolution(), "pfm", distinct=True)
    assert Mapspace(arch, convolution(), "pfm").size.total > 0
