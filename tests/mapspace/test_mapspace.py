"""The mapspace against a naive enumeration, and its numbering."""

from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, LoopConstraint, Storage, load_arch, placed
from ruby_map.mapper.mapspace import chain_tables
from ruby_map.mapper.mapspace.chains import ChainSpace, SlotRule
from ruby_map.mapper.mapspace.constraints import SharedLimit
from ruby_map.mapper.mapspace.coupling import Joint
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.workloads import InputError, Tensor, Term, Workload, load_workload

from ..small_spaces import CASES, KEEP, MAC, TWO_AXES, convolution, deep_machine, machine, matmul


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


@pytest.mark.parametrize("preset", ["ruby-s", "ruby"])
def test_numbers_beyond_64_bits(preset):
    """6144 channels on nine slots: too many chains to list, numbers far beyond 2**63, and still a bijection."""
    space = Mapspace(deep_machine(), convolution(), preset)
    assert space.size.total > 2**100
    assert max(chains.total for chains in space.chains) > chain_tables.LISTED
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


def test_distinct_orders_too_many_to_count():
    """Where distinct orders need more joint states than fit, that is said, and counting all orders works."""
    levels = tuple(Storage(f"L{i}", "SRAM") for i in range(8))
    arch = Architecture("tall", levels, MAC)
    with pytest.raises(InputError, match="joint states"):
        Mapspace(arch, convolution(), "pfm", distinct=True)
    assert Mapspace(arch, convolution(), "pfm").size.total > 0


def test_distinct_orders_too_many_to_count_with_uneven_placement():
    """Also where only some choices of what stands in which memory have too many: the machine is refused."""
    arch = placed(load_arch("simba_like"), "uneven")
    with pytest.raises(InputError, match="joint states"):
        Mapspace(arch, load_workload("resnet50/conv3_x_3x3"), "ruby-s", distinct=True)


def test_dims_that_do_not_go_together_have_empty_tables():
    """Three loops of two dims with at most one each at a level: no combination, and tables that say so."""
    spaces = [ChainSpace(4, (SlotRule(1, 4, True), SlotRule(1, 4, True, tell="loop")))] * 2
    joint = Joint(spaces, [SharedLimit("loops", 1, frozenset({0, 1}), most=3, least=3)])
    assert joint.total == 0
    assert [len(step.group) for step in joint.steps] == [0, 0]


@pytest.mark.parametrize(
    ("sizes", "axes", "preset", "words"),
    [
        (
            (10**12,),
            (6,),
            "ruby",
            ["D0=1000000000000: its chains of bounds need tables of more than", "choose a mapspace with fewer"],
        ),
        ((10**12, 10**11), (6,), "ruby-t", ["D0=1000000000000: its chains", "D1=100000000000: its chains"]),
        ((2**61,), (6,), "auto", ["choosing a mapspace: its chains of bounds need", "choose one by name"]),
    ],
)
def test_a_mapspace_too_large_to_count_is_told_at_once(sizes, axes, preset, words):
    """Every dim that is too large is named, before gigabytes are filled."""
    fanout = tuple(Axis(f"X{n}", size) for n, size in enumerate(axes))
    arch = Architecture("wide", (Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=800, fanout=fanout)), MAC)
    dims = tuple(f"D{n}" for n in range(len(sizes)))
    out = Tensor("O", tuple((Term(dim),) for dim in dims), output=True)
    with pytest.raises(InputError) as told:
        Mapspace(arch, Workload("huge", dims, sizes, (out,)), preset)
    assert all(word in str(told.value) for word in words)


def test_large_axes_have_few_states():
    """Two axes of 512 places that three dims compete for: numbered and drawn, every array within its places."""
    fanout = (Axis("X", 512), Axis("Y", 512))
    arch = Architecture("wide", (Storage("L0", "DRAM", fanout=fanout), Storage("L1", "SRAM")), MAC)
    space = Mapspace(arch, load_workload("matmul_100"), "ruby-s")
    batch = space.sample(np.random.default_rng(0), 200)
    assert (np.prod(batch.factors[:, 1:3], axis=2) <= 512).all()
    assert space.index(space.at(space.index(batch))) == space.index(batch)
