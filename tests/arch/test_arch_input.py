"""Bad architecture files: each fault with its line, its path and the rule."""

import contextlib
import copy
import functools
import json
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import check_fit, load_arch, parse_arch
from ruby_map.workloads import InputError, Tensor, Term, Workload, load_workload, parse_yaml

GOOD = """\
name: machine
levels:
  - name: DRAM
    class: DRAM
    width_bits: 64
  - name: GLB
    class: SRAM
    capacity_bytes: 1024
    keep: [Inputs]
    bypass: [Weights]
    temporal: {factors: [C=2]}
    fanout:
      - {name: X, size: 4, factors: [M=2]}
      - {name: Y, size: 3}
compute: {name: MAC, class: intmac}
"""


def faults(text, **given):
    with pytest.raises(InputError) as caught:
        parse_arch(parse_yaml(text, "a.yaml"), **given)
    return [str(fault) for fault in caught.value.faults]


def test_the_base_of_these_cases_is_good():
    """GOOD is good: each case below fails by its one change."""
    assert parse_arch(parse_yaml(GOOD, "a.yaml")).instances(2) == 12


CASES = [
    (
        "width_bits: 64",
        "widht_bits: 64",
        'a.yaml:5: levels[0].widht_bits: unknown key "widht_bits"; did you mean "width_bits"?',
    ),
    ("width_bits: 64", "width_bits: 50", "a.yaml:5: levels[0].width_bits: must be a multiple of word_bits, 16; got 50"),
    ("width_bits: 64", "width_bits: 0", "a.yaml:5: levels[0].width_bits: must be at least 1"),
    (
        "width_bits: 64",
        "width_bits: wide",
        "a.yaml:5: levels[0].width_bits: must be an integer or an arithmetic expression",
    ),
    ("width_bits: 64", "banks: 2 *", "a.yaml:5: levels[0].banks: must be an integer or an arithmetic expression"),
    ("width_bits: 64", "banks: 2 * n", "a.yaml:5: levels[0].banks: unknown name 'n'"),
    ("width_bits: 64", "read_bandwidth: 1e31", "a.yaml:5: levels[0].read_bandwidth: must be at most 1e+30"),
    ("width_bits: 64", "read_bandwidth: 0", "a.yaml:5: levels[0].read_bandwidth: must be at least 1e-30"),
    ("width_bits: 64", "multiple_buffering: 0", "a.yaml:5: levels[0].multiple_buffering: must be at least 1"),
    ("width_bits: 64", "technology: small", "a.yaml:5: levels[0].technology: must be nanometres, as 45nm or 45"),
    ("width_bits: 64", "attributes: {banks: 2}", "a.yaml:5: levels[0].attributes: free attributes only"),
    (
        "width_bits: 64",
        "attributes: {a: [1]}",
        "a.yaml:5: levels[0].attributes.a: must be a number, text, true or false",
    ),
    ("width_bits: 64", "energy: {read_pj: -1, write_pj: 1}", "a.yaml:5: levels[0].energy.read_pj: must be at least 0"),
    ("width_bits: 64", "energy: {read_pj: 1}", 'a.yaml:5: levels[0].energy: the key "write_pj" is missing'),
    ("width_bits: 64", "bypass: [Outputs]", "a.yaml:5: levels[0].bypass: the outermost level keeps every tensor"),
    ("width_bits: 64", "tensor_bits: {Outputs: 0}", "a.yaml:5: levels[0].tensor_bits.Outputs: must be at least 1"),
    ("name: GLB", "name: DRAM", 'a.yaml:6: levels[1].name: must be unique, "DRAM" stands above too'),
    ("name: GLB", "name: G.LB", "a.yaml:6: levels[1].name: a name has letters, digits, _ and -"),
    ("{name: MAC", "{name: GLB", 'a.yaml:15: compute.name: must be unique, "GLB" stands above too'),
    ("capacity_bytes: 1024", "banks: 1", "a.yaml:6: levels[1]: one of capacity_bytes, capacity_words"),
    ("capacity_bytes: 1024", "capacity_bytes: 0", "a.yaml:8: levels[1].capacity_bytes: must be at least 1"),
    ("capacity_bytes: 1024", "capacity_bytes: 1", "a.yaml:6: levels[1]: the capacity must be at least one word"),
    (
        "bypass: [Weights]",
        "bypass: [Weights, Inputs]",
        "a.yaml:10: levels[1].bypass: a tensor is kept or bypassed, not both: Inputs",
    ),
    ("[C=2]", "[C=2, C>=4]", "a.yaml:11: levels[1].temporal.factors: C=2 and C>=4 leave no value for C"),
    ("[C=2]", "[C=4, C<=2]", "a.yaml:11: levels[1].temporal.factors: C=4 and C<=2 leave no value for C"),
    ("[C=2]", "[C<=2, C>=3]", "a.yaml:11: levels[1].temporal.factors: C<=2 and C>=3 leave no value for C"),
    ("[C=2]", "[C=2, C=3]", "a.yaml:11: levels[1].temporal.factors: at most one rule of a kind for a dim"),
    ("[C=2]", "[C=0]", "a.yaml:11: levels[1].temporal.factors[0]: a factor must be an integer of at least 1"),
    ("[C=2]", "[C<=full]", "a.yaml:11: levels[1].temporal.factors[0]: full goes with = only"),
    ("[C=2]", "[C]", "a.yaml:11: levels[1].temporal.factors[0]: a factor rule reads DIM=VALUE"),
    ("[C=2]", "[3]", "a.yaml:11: levels[1].temporal.factors[0]: a factor rule reads DIM=VALUE"),
    (
        "[C=2]",
        "[C=2], dims: [M]",
        "a.yaml:11: levels[1].temporal.dims: must name every dim that a factor rule puts over 1; missing: C",
    ),
    (
        "[C=2]",
        "[C=2, M=2], max_loops: 1",
        "a.yaml:11: levels[1].temporal.max_loops: the factor rules need 2 loops (C, M), got 1",
    ),
    (
        "[C=2]",
        "[], outermost: [C], innermost: [M, C]",
        "a.yaml:11: levels[1].temporal.innermost: a dim stands in outermost or in innermost",
    ),
    ("[C=2]", "[], outermost: [C, C]", "a.yaml:11: levels[1].temporal.outermost: each name once; twice: C"),
    ("[C=2]", "[], dims: [C, M, C]", "a.yaml:11: levels[1].temporal.dims: each name once; twice: C"),
    ("[C=2]", "[], min_utilization: 1", 'a.yaml:11: levels[1].temporal.min_utilization: unknown key "min_utilization"'),
    (
        "[M=2]",
        "[M=2, C>=3]",
        "a.yaml:13: levels[1].fanout[0].size: the factor rules need at least 6 copies, the axis has 4",
    ),
    ("[M=2]", "[], min_utilization: 1.5", "a.yaml:13: levels[1].fanout[0].min_utilization: must be at most 1"),
    ("[M=2]", "[], max_loops: 1", 'a.yaml:13: levels[1].fanout[0].max_loops: unknown key "max_loops"'),
    ("[M=2]", "[], mesh: Z", "a.yaml:13: levels[1].fanout[0].mesh: must be one of X, Y"),
    ("size: 3", "size: 0", "a.yaml:14: levels[1].fanout[1].size: must be at least 1"),
    ("name: Y", "name: X", "a.yaml:12: levels[1].fanout: each name once; twice: X"),
    ("name: machine", "nmae: machine", 'a.yaml:1: nmae: unknown key "nmae"; did you mean "name"?'),
    ("name: machine", "name: machine\nclock_ns: 0", "a.yaml:2: clock_ns: must be at least 1e-30"),
    (
        "name: machine",
        "name: machine\nvariables: {n: [1]}",
        "a.yaml:2: variables.n: must be NAME: number or expression",
    ),
    ("name: machine", "name: machine\nvariables: {n: 1 / 0}", "a.yaml:2: variables.n: division by zero"),
    ("name: machine", "name: machine\nvariables: [n]", "a.yaml:2: variables: must be a mapping"),
    (
        "name: machine",
        "name: machine\nbase: eyeris_like",
        'a.yaml:2: base: "eyeris_like": no such file or library architecture',
    ),
    ("name: machine", "name: machine\nbase: [1]", "a.yaml:2: base: must be a path or a name of the library"),
    (
        "name: machine",
        "name: machine\nbase: eyeriss_like",
        "a.yaml:7: levels[1]: must name a level of the base, DRAM, shared_glb",
    ),
    ("compute:", "computer:", 'a.yaml:1: the key "compute" is missing'),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_one_fault(old, new, expected):
    """Each bad value is told with its file, line, path and the rule."""
    assert old in GOOD
    found = faults(GOOD.replace(old, new, 1))
    assert any(fault.startswith(expected) for fault in found), found


def test_two_capacities():
    """Of the forms of a capacity one is expected."""
    found = faults(GOOD.replace("capacity_bytes: 1024", "capacity_bytes: 1024\n    depth: 64"))
    assert found == [
        "a.yaml:9: levels[1].depth: one of capacity_bytes, capacity_words, capacity_bits, depth is expected, "
        "got capacity_bytes too"
    ]


@pytest.mark.parametrize(
    "text", ["[1, 2]", "word", "levels: []\nname: a\ncompute: {name: c}", "levels: {}", "levels: [3]"]
)
def test_nothing_like_an_architecture(text):
    """Other shapes of YAML, and no level at all, are faults and never exceptions of another kind."""
    assert faults(text)


def test_several_faults_at_once():
    """Faults in different places, and several of one level, are told in one run in the order of lines."""
    text = GOOD.replace("width_bits: 64", "widht_bits: 64").replace("capacity_bytes: 1024", "capacity_bytes: -1")
    text = (
        text.replace("bypass: [Weights]", "bypass: [Inputs]").replace("C=2", "C=2, C>=4").replace("size: 3", "size: 0")
    )
    text = text.replace("name: MAC", "name: DRAM")
    lines = [fault.split(": ")[0] for fault in faults(text)]
    assert lines == [f"a.yaml:{line}" for line in (5, 8, 10, 11, 14, 15)]


def test_a_misspelt_variable():
    """A number may be the name of a variable; one that is nearly so is told."""
    text = GOOD.replace("size: 3", "size: rowz").replace("name: machine", "name: machine\nvariables: {rows: 3}")
    found = faults(text)
    assert found[0].endswith("an arithmetic expression of one, got 'rowz'; did you mean \"rows\"?")


def test_unknown_variable():
    """Variables from outside must be among those of the file."""
    with pytest.raises(InputError, match='unknown variable "colums"; did you mean "columns"'):
        load_arch("eyeriss_like", {"colums": 3})


def test_faults_name_the_file_they_are_in(tmp_path):
    """With a base, a fault is told with the file that holds the bad value, base or not."""
    (tmp_path / "base.yaml").write_text(GOOD.replace("size: 3", "size: 0"))
    (tmp_path / "mine.yaml").write_text("base: base.yaml\nlevels:\n  - {name: DRAM, banks: 0}\n")
    with pytest.raises(InputError) as caught:
        load_arch(str(tmp_path / "mine.yaml"))
    found = [(fault.source.rsplit("/", 1)[-1], fault.line, fault.path) for fault in caught.value.faults]
    assert found == [("base.yaml", 14, "levels[1].fanout[1].size"), ("mine.yaml", 3, "levels[0].banks")]


def test_a_base_of_itself(tmp_path):
    """A circle of bases ends in a fault."""
    path = tmp_path / "mine.yaml"
    path.write_text("base: mine.yaml")
    with pytest.raises(InputError, match="is it its own base"):
        load_arch(str(path))


def test_missing_file():
    """A path without a file is told as such."""
    with pytest.raises(InputError, match="nowhere/a.yaml: no such file"):
        load_arch("nowhere/a.yaml")


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20))
def test_rules_agree_exactly_when_a_value_exists(least, most, exact):
    """Rules on one dim are accepted if and only if some bound obeys them all."""
    text = GOOD.replace("C=2", f"C>={least}, C<={most}, C={exact}")
    if least <= exact <= most:
        assert len(parse_arch(parse_yaml(text, "a.yaml")).levels[1].temporal.factors) == 3
    else:
        assert "leave no value for C" in faults(text)[0]


def fit_faults(arch, workload):
    with pytest.raises(InputError) as caught:
        check_fit(arch, workload, "a.yaml")
    return [str(fault) for fault in caught.value.faults]


def test_fit_of_tensors_and_dims():
    """Constraints on what no layer has are told with near names, all at once."""
    text = GOOD.replace("[Inputs]", "[Input]").replace("C=2", "CC=1").replace("M=2", "M=4")
    found = fit_faults(parse_arch(parse_yaml(text, "a.yaml")), load_workload("rank1_100"))
    assert found[0].startswith('a.yaml: GLB.keep: unknown tensor "Input"; workload rank1_100 has Inputs, Outputs')
    assert found[0].endswith('did you mean "Inputs"?')
    assert found[1].startswith('a.yaml: GLB: unknown dim "CC"; known: ')
    assert found[2:] == ["a.yaml: GLB.X: a factor of at most the dim's size is expected, 1: it lacks this dim; got M=4"]


def test_fit_of_factors():
    """A fixed or least factor over the dim's size fits no mapping; a most is harmless."""
    text = GOOD.replace("C=2", "M>=101, N<=1000, K=full")
    found = fit_faults(parse_arch(parse_yaml(text, "a.yaml")), load_workload("matmul_100"))
    assert found == [
        "a.yaml: GLB: a factor of at most the dim's size is expected, 100 in workload matmul_100; got M>=101"
    ]


def test_fit_of_own_tensor_names():
    """A workload with names of its own does not pass for one that merely lacks a tensor."""
    ranks = ((Term("I"),),)
    own = Workload("own", ("I",), (5,), (Tensor("A", ranks), Tensor("Z", ranks, output=True)))
    assert 'shared_glb.bypass: unknown tensor "Weights"; workload own has A, Z' in "\n".join(
        fit_faults(load_arch("eyeriss_like"), own)
    )


def test_fit_of_a_layer_without_weights():
    """A layer of a library shape may lack a tensor that others have."""
    check_fit(load_arch("linear_16"), load_workload("rank1_100"), "a.yaml")


def _paths(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*path, key))


DATA = parse_yaml(GOOD, "a.yaml").data
ODD = st.sampled_from(
    [None, True, -1, 0, 1.5, 10**30, "", "x", "1/0", "C=2", "2**9999", [], [[]], {}, {"a": 1}, ["x", 3]]
)


@given(st.lists(st.tuples(st.sampled_from([path for path in _paths(DATA) if path]), ODD), min_size=1, max_size=3))
def test_any_odd_value_ends_in_faults(changes):
    """Whatever stands where, a file is read or its faults are told; no other exception leaves the reader."""
    data = copy.deepcopy(DATA)
    for path, value in changes:
        try:
            functools.reduce(operator.getitem, path[:-1], data)[path[-1]] = value
        except (TypeError, IndexError, KeyError):
            continue  # an earlier change took this place away
    with contextlib.suppress(InputError):
        assert parse_arch(parse_yaml(json.dumps(data), "a.yaml")).levels
