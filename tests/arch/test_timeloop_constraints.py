"""Timeloop constraint lists laid on an architecture."""

import pytest
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.arch.timeloop import apply_timeloop_constraints, read_timeloop_arch
from ruby_map.workloads import InputError, parse_yaml
from ruby_map.workloads.timeloop import read_timeloop_problem

ARCH = Architecture(
    "eyeriss",
    (
        Storage("DRAM", "DRAM"),
        Storage("glb", "SRAM", capacity_bits=1 << 20, fanout=(Axis("PE_Y", 12, "Y"), Axis("PE_X", 14, "X"))),
        Storage("spad", "regfile", capacity_bits=1 << 10),
    ),
    Compute("mac", "intmac"),
)
CONV = read_timeloop_problem(parse_yaml("problem: {R: 3, S: 3, P: 8, Q: 8, C: 4, K: 4, N: 1}", "conv.yaml"))


def apply(text, workload=None, arch=ARCH):
    return apply_timeloop_constraints(arch, parse_yaml(text, "constraints.yaml"), workload)


def messages(text, workload=None, arch=ARCH):
    with pytest.raises(InputError) as caught:
        apply(text, workload, arch)
    return [fault.message for fault in caught.value.faults]


def one(entry):
    return f"mapspace_constraints: [{{{entry}}}]"


def ones(dims):
    return tuple(FactorRule(dim, "=", 1) for dim in dims)


def test_row_stationary():
    """The exercises' row-stationary list: spatial dims by mesh, temporal factors, keep and bypass, spaces in text."""
    arch = apply(
        """
        mapspace_constraints:
        - {type: datatype, target: spad, bypass: [Inputs, Weights], keep: [Outputs]}
        - {split: 4, permutation: NPQR SCK, type: spatial, target: glb, factors: N=1 P=1 Q=1 R=1 S=0}
        - {permutation: NCPQRS K, type: temporal, target: spad, factors: N=1 C=1 P=1 Q=1 R=1 S=1}
        - {permutation: RSP_CKNQ, type: temporal, target: DRAM, factors: R=1 S=1 P<=4}
        """
    )
    dram, glb, spad = arch.levels
    assert (spad.keep, spad.bypass) == ({"Outputs"}, {"Inputs", "Weights"})
    y, x = (axis.constraint for axis in glb.fanout)
    assert x == LoopConstraint(factors=ones("NPQR"), dims=tuple("NPQR"))
    assert y == LoopConstraint(factors=(FactorRule("S", "=", None), *ones("NPQR")))
    assert spad.temporal == LoopConstraint(factors=ones("NCPQRS"), innermost=tuple("KSRQPCN"))
    assert dram.temporal == LoopConstraint(
        factors=(*ones("RS"), FactorRule("P", "<=", 4)), innermost=tuple("PSR"), outermost=tuple("QNKC")
    )


def test_split_with_workload_places_every_dim():
    """With the workload known, dims that the permutation leaves out follow in the workload's order."""
    arch = apply(one("target: glb, type: spatial, permutation: CK, split: 1, factors: R=1"), CONV)
    y, x = (axis.constraint for axis in arch.levels[1].fanout)
    assert (y.dims, y.factors) == (("K", "R", "S", "P", "Q", "N"), ones("R"))
    assert (x.dims, x.factors) == (("C",), ())


@pytest.mark.parametrize(
    "root",
    [
        "architecture_constraints: {targets: [%s]}",
        "arch_constraints: [%s]",
        "mapspace: {template: uber, constraints: [%s]}",
        "architecture: {constraints: [%s]}",
        "mapspace-constraints: {version: 0.4, targets: [%s]}",
    ],
)
def test_roots(root):
    """Every root that Timeloop reads constraints from is read."""
    assert apply(root % "{target: spad, type: temporal, factors: M4}").levels[2].temporal.factors == (
        FactorRule("M", "=", 4),
    )


def test_targets():
    """A target is a level, a storage id counted from the innermost, or an axis by any of its names."""
    assert apply(one("target: 2, type: temporal, factors: M=2")).levels[0].temporal.factors
    for name in ("PE_X", "glb.PE_X", "inter_PE_X_spatial"):
        y, x = apply(one(f"target: {name}, type: spatial, factors: M=2")).levels[1].fanout
        assert (y.constraint.factors, x.constraint.factors) == ((), (FactorRule("M", "=", 2),))


def test_constraints_add_up():
    """What one list and another say of a level holds together."""
    arch = apply(one("target: spad, type: temporal, factors: M=2"))
    arch = apply(one("target: spad, type: temporal, factors: N=2 M=2, permutation: MN"), arch=arch)
    assert arch.levels[2].temporal == LoopConstraint(
        factors=(FactorRule("M", "=", 2), FactorRule("N", "=", 2)), innermost=("N", "M")
    )


def test_remainders_and_utilization():
    """Remainder bounds over 1 allow imperfect factors there; a utilization holds for the only axis."""
    arch = apply(one("target: glb, type: spatial, remainders: 14"))
    assert [axis.constraint.remainders for axis in arch.levels[1].fanout] == [True, True]
    single = Architecture("one", (Storage("DRAM", "DRAM", fanout=(Axis("PE", 8),)),), Compute("mac", "mac"))
    arch = apply(one("target: DRAM, type: utilization, min: 0.75"), arch=single)
    assert arch.levels[0].fanout[0].constraint.min_utilization == 0.75


def test_without_constraints_nothing_changes():
    """A file without any of the roots leaves the architecture as it is."""
    assert apply("mapper: {algorithm: random}") == ARCH


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("target: gbl, type: temporal", 'did you mean "glb"?'),
        ("target: glb, type: temporl", 'did you mean "temporal"?'),
        ("type: temporal, factors: M=1", "must be text, got nothing"),
        ("target: glb, type: max_overbooked_proportion", "is not supported"),
        ("target: glb, type: temporal, no_reuse: [A]", "no_reuse is not supported"),
        ("target: glb, type: temporal, factors: 'M=4,2'", "a constraint has no residual"),
        ("target: glb, type: temporal, factors: M<=0", "at least 1"),
        ("target: glb, type: temporal, factor: M=1", 'unknown key "factor"'),
        ("target: glb, type: temporal, default_max_factor: 2", "together with the workload"),
        ("target: glb, type: spatial, factors: M=99", "a split must say"),
        ("target: spad, type: spatial, factors: M=2", "there is no fan-out"),
        ("target: glb, type: bypass, bypass: [A], keep: [A]", "both kept and bypassed"),
        ("target: DRAM, type: bypass, bypass: [A]", "keeps every tensor"),
        ("target: PE_X, type: bypass, keep: [A]", "an axis keeps nothing"),
        ("target: PE_X, type: temporal, factors: M=2", "no temporal loops"),
        ("target: glb, type: utilization, min: 0.5", "over several axes"),
    ],
)
def test_refused(entry, part):
    """What contradicts itself, is misspelt or has no counterpart here is refused."""
    found = messages(one(entry))
    assert len(found) == 1
    assert part in found[0]


def test_contradictions_between_entries():
    """Two entries that fix one dim differently, or two orders, cannot both hold."""
    text = """
    mapspace_constraints:
    - {target: spad, type: temporal, factors: M=2, permutation: MN}
    - {target: spad, type: temporal, factors: M=3, permutation: NM}
    """
    found = messages(text)
    assert any("two rules for one dim: M=2 and M=3" in message for message in found)
    assert any("innermost is constrained twice" in message for message in found)


def test_unknown_tensor():
    """With the workload known, a misspelt tensor is found."""
    assert messages(one("target: glb, type: bypass, keep: [Weight]"), CONV) == [
        "unknown tensor 'Weight'; did you mean \"Weights\"?"
    ]


def test_constraints_beside_an_architecture():
    """Lists in the architecture's own file hold too; laying them on once more changes nothing."""
    text = """
    architecture:
      subtree:
      - name: system
        local:
        - {name: DRAM, class: DRAM}
        - {name: mac, class: mac}
    architecture_constraints: [{target: DRAM, type: temporal, factors: M=2, permutation: MN}]
    """
    arch = read_timeloop_arch(parse_yaml(text, "arch.yaml"))
    assert arch.levels[0].temporal == LoopConstraint(factors=(FactorRule("M", "=", 2),), innermost=("N", "M"))
    assert apply(text, arch=arch) == arch
