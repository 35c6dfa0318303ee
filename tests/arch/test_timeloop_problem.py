"""Timeloop problems: shapes, instances, the default layer, and writing them."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.workloads import InputError, Tensor, Term, load_workload, parse_yaml
from ruby_map.workloads.timeloop import read_timeloop_problem, write_timeloop_problem

from ..strategies import convolutions, matmuls, paths

CONV1D = """
problem:
  shape:
    name: conv1d
    dimensions: [P, R]
    coefficients: [{name: stride, default: 1}]
    data-spaces:
    - {name: I, projection: [[[P, stride], [R]]]}
    - {name: W, projection: [R]}
    - {name: O, projection: [[[P]]], read-write: true}
  instance: {P: 8, R: 3, stride: 2}
"""


def read(text):
    return read_timeloop_problem(parse_yaml(text, "layer.yaml"))


def messages(text):
    with pytest.raises(InputError) as caught:
        read(text)
    return [fault.message for fault in caught.value.faults]


def test_inline_shape():
    """Dims, coefficients, projections and names arrive as written; hyphens are the older spelling."""
    workload = read(CONV1D)
    assert (workload.name, workload.shape) == ("layer", "conv1d")
    assert (workload.dims, workload.sizes) == (("P", "R"), (8, 3))
    assert workload.tensors == (
        Tensor("I", ((Term("P", 2), Term("R")),)),
        Tensor("W", ((Term("R"),),)),
        Tensor("O", ((Term("P"),),), output=True),
    )


def test_problem_files_load(tmp_path):
    """`load_workload` takes a Timeloop problem as it takes our layers."""
    (tmp_path / "layer.yaml").write_text(CONV1D)
    assert load_workload(tmp_path / "layer.yaml") == read(CONV1D)


def test_default_coefficient():
    """A coefficient that the instance leaves out has its default."""
    assert read(CONV1D.replace(", stride: 2", "")).tensors[0].ranks == ((Term("P"), Term("R")),)


@pytest.mark.parametrize("shape", ["", "shape: cnn-layer,", "shape: cnn_layer,"])
def test_default_shape(shape):
    """Without a shape a problem is Timeloop's CNN layer, its sizes under `instance` or beside it."""
    sizes = "R: 3, S: 2, P: 8, Q: 7, C: 4, K: 5, N: 1, Wstride: 2"
    workload = read(f"problem: {{{shape} instance: {{{sizes}}}}}")
    assert workload == read(f"problem: {{{shape} {sizes}}}")
    assert workload.macs == 3 * 2 * 8 * 7 * 4 * 5
    weights, inputs, outputs = workload.tensors
    assert (weights.name, weights.projection) == ("Weights", "[C, K, R, S]")
    assert inputs.projection == "[N, C, R + P*2, S + Q]"
    assert (outputs.projection, outputs.output) == ("[N, K, Q, P]", True)


def test_long_dims():
    """Dims may be words; coefficients may be plain numbers."""
    workload = read(
        "problem: {shape: {name: fir, dimensions: [time, tap], data_spaces: "
        "[{name: X, projection: [[[time, 2], [tap]]]}, {name: Y, projection: [time], read_write: true}]}, "
        "instance: {time: 9, tap: 4}}"
    )
    assert workload.tensors[0].ranks == ((Term("time", 2), Term("tap")),)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("P: 8", "P: 0", "must be at least 1, got 0"),
        ("P: 8, ", "", "the size of dimension P is missing"),
        ("P: 8", "P: 8, strid: 3", "unknown dimension or coefficient 'strid'"),
        ("[[[P]]]", "[[[T]]]", "unknown dimension 'T'"),
        ("[P, stride]", "[P, strde]", 'did you mean "stride"?'),
        ("[P, stride]", "[P, -1]", "at least 0, got -1"),
        ("[P, stride]", "[P, stride, 2]", "a term is [DIM] or [DIM, COEFFICIENT]"),
        (", read-write: true", "", "one data space must be read_write: true, got none"),
        ("name: W", "name: I", "two data spaces are called 'I'"),
        ("[P, R]", "[P, R, P]", "declared twice"),
        ("dimensions", "dimension", 'unknown key "dimension"'),
        ("P: 8", "P: 8, densities: {I: 0.5}", "densities below 1 are not supported"),
        ("name: conv1d", "name: conv1d\n    flatten: [[P, R]]", "flatten is not supported"),
        ("default: 1", "default: -1", "must be at least 0, got -1"),
        ("[[[P]]]", "[]", "at least one rank is expected"),
        ("[[[P]]]", "[[[P], [R]]]", "a rank of the output must be a single dimension"),
        ("projection: [R]", "projection: [R, R]", "dimension R is used in two ranks"),
        ("name: W", "name: W eights", "the name of a dim, coefficient or tensor"),
        ("P: 8", "P: 10**20", "must be below 2**62"),
        ("P: 8", "P: ~", "must be an integer, got nothing"),
        ("P: 8, R: 3", "P: 10**10, R: 10**9", "fewer than 2**62 MACs are expected"),
    ],
)
def test_refused(old, new, part):
    """Each fault is told; nothing is guessed."""
    assert old in CONV1D
    assert any(part in message for message in messages(CONV1D.replace(old, new)))


def test_named_shape():
    """A shape kept elsewhere is refused by name."""
    assert "got 'depthwise'" in messages("problem: {shape: depthwise, instance: {R: 1}}")[0]
    assert messages("arch: {}") == ['the key "problem" with a mapping is expected']


def test_dense_is_fine():
    """Densities of 1 say what this model assumes."""
    assert read(CONV1D.replace("P: 8", "P: 8, densities: {I: 1.0, W: {density: 1}}")).macs == 24


@given(st.one_of(matmuls(), convolutions()))
def test_written_problems_read_back(workload):
    """Writing a workload and reading it gives the same dims, sizes and tensors."""
    again = read(yaml.safe_dump(write_timeloop_problem(workload)))
    assert (again.dims, again.sizes, again.tensors) == (workload.dims, workload.sizes, workload.tensors)


@given(st.data())
def test_nothing_but_input_errors(data):
    """Whatever value stands wherever, the answer is a workload or a list of faults, never a traceback."""
    document = parse_yaml(CONV1D, "layer.yaml")
    path = data.draw(st.sampled_from(list(paths(document.data))))
    values = [None, "", "x", 0, -1, 3, 2.5, 1e300, True, [], {}, [[]], [[[]]], [None], {"a": 1}]
    document.get(path[:-1])[path[-1]] = data.draw(st.sampled_from(values))
    try:
        told = read_timeloop_problem(document).tensors
    except InputError as error:
        told = error.faults
    assert told
