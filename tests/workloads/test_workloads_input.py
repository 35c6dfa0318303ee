"""Bad workload files: every fault is told, with line, path, rule, value and choices."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.workloads import InputError, load_workload, shaped

TAGS = "!Component, !Container, !Element, !Hierarchical, !Nothing, !Parallel, !Pipelined"
CONV = "conv2d has N, G, M, C, P, Q, R, S"
GOOD = "shape: conv2d\nsizes: {M: 1, C: 1, P: 1, Q: 1, R: 1, S: 1}\n"
TENSORS = "dims: {A: 3, B: 4}\ncoefficients: {stride: 2}\ntensors:\n"
OUT = "  Y: {projection: [A], output: true}\n"

# the file, then its faults without the file's name
BAD = {
    "sahpe: rank1\nsizes: {D: 3}": [
        '1: the key "shape" is missing',
        '1: sahpe: unknown key "sahpe"; did you mean "shape"?',
    ],
    "shape: rank1\nsise: {D: 3}": [
        '1: the key "sizes" is missing',
        '2: sise: unknown key "sise"; did you mean "sizes"?',
    ],
    "shape: conv2\nsizes: {D: 3}": [
        "1: shape: must be one of conv2d, matmul, batched_matmul, attention_scores, attention_context, conv1d, conv3d, "
        "transposed_conv2d, rank1; got 'conv2'; did you mean \"conv2d\"?"
    ],
    "shape: conv2d\nsizes:\n  M: 1\n  C: 1\n  P: 1\n  R: 1": [f"2: sizes: the size of Q, S is missing; {CONV}"],
    "shape: rank1\nsizes:\n  D: 3\n  E: 4": ['4: sizes.E: unknown dim "E"; rank1 has D'],
    "shape: rank1\nsizes: {D: -3}": ["2: sizes.D: must be at least 1, got -3"],
    "shape: rank1\nsizes: {D: 0}": ["2: sizes.D: must be at least 1, got 0"],
    "shape: rank1\nsizes: {D: 2**62}": [
        "2: sizes.D: must be less than 4611686018427387904, got '2**62' = 4611686018427387904"
    ],
    "shape: rank1\nsizes: {D: many}": ["2: sizes.D: must be an integer or an arithmetic expression of one, got 'many'"],
    "shape: rank1\nsizes: {D: true}": ["2: sizes.D: must be an integer or an arithmetic expression of one, got true"],
    "shape: rank1\nsizes: {D: 2.5}": ["2: sizes.D: must be an integer or an arithmetic expression of one, got 2.5"],
    "shape: rank1\nsizes: [3]": ["2: sizes: must be a mapping, got [3]"],
    "shape: rank1\nsizes: {D: 3}\nstride: 2": ["3: stride: rank1 has no stride"],
    "shape: rank1\nsizes: {D: 3}\nword_bits: {Weights: 8}": [
        '3: word_bits.Weights: unknown tensor "Weights"; rank1 has Inputs, Outputs'
    ],
    "shape: rank1\nsizes: {D: 3}\nname: a/b": [
        "3: name: a name has no blanks and no slash (network/layer names a layer), got 'a/b'"
    ],
    "shape: matmul\nsizes: {M: 2**30, N: 2**30, K: 4}": [
        "2: sizes: fewer than 2**62 MACs are expected, got 4.61e+18",
    ],
    GOOD + "stride: 0": ["3: stride: must be at least 1, got 0"],
    GOOD + "stride: [1, 0]": ["3: stride[1]: must be at least 1, got 0"],
    GOOD + "word_bits: {Weights: 0}": ["3: word_bits.Weights: must be at least 1, got 0"],
    "[1, 2]": ["1: must be a mapping, got [1, 2]"],
    "just words": ["1: must be a mapping, got 'just words'"],
    "": ["the file is empty"],
    "a: [1": ["1: not YAML: while parsing a flow sequence; expected ',' or ']', but got '<stream end>'"],
    "shape: !!python/object:os.system ls": [f"1: shape: unknown tag !!python/object:os.system; known are {TAGS}"],
    "shape: rank1\nshape: rank1": ['2: shape: duplicate key "shape", first on line 1'],
    TENSORS + OUT + "  X: {projection: [C, A*stried]}": [
        "5: tensors.X.projection[0]: unknown dim or coefficient 'C'; known: A, B, stride",
        "5: tensors.X.projection[1]: unknown dim or coefficient 'stried'; known: A, B, stride; "
        'did you mean "stride"?',
    ],
    TENSORS + OUT + "  X: {projection: [A*B, A + 1]}": [
        "5: tensors.X.projection[0]: a product of two dims is no index expression: 'A * B'",
        "5: tensors.X.projection[1]: an index expression is a sum of dims without a constant, got 'A + 1'",
    ],
    TENSORS + OUT + "  X: {projection: [A - B]}": [
        "5: tensors.X.projection[0]: the coefficient of B must be at least 1, got -1 in 'A - B'"
    ],
    TENSORS + OUT + "  X: {projection: [A, A + B]}": [
        "5: tensors.X.projection[1]: the dim A is used twice in X; a dim may index a tensor once"
    ],
    TENSORS + OUT + "  X: {projection: [A, '']}": ["5: tensors.X.projection[1]: not an expression: ''"],
    TENSORS + OUT + "  X: {projection: []}": [
        "5: tensors.X.projection: at least one rank is expected; write a scalar as a dim of size 1"
    ],
    TENSORS + OUT + "  X: {projection: A}": ["5: tensors.X.projection: must be a list, got 'A'"],
    TENSORS + "  X: {projection: [A]}": ["3: tensors: exactly one tensor must have `output: true`, got none"],
    TENSORS + OUT + "  X: {projection: [A], output: true}": [
        "3: tensors: exactly one tensor must have `output: true`, got Y, X"
    ],
    TENSORS + "  Y: {projection: [A*stride], output: true}": [
        "4: tensors.Y.projection[0]: a rank of the output must be a single dim, so that partial sums have one place; "
        "got 'A*stride'"
    ],
    TENSORS + "  Y: {projection: [A + B], output: true}": [
        "4: tensors.Y.projection[0]: a rank of the output must be a single dim, so that partial sums have one place; "
        "got 'A + B'"
    ],
    "dims: {A: 3}\ncoefficients: {A: 2}\ntensors:\n" + OUT: ["2: coefficients.A: A is a dim already"],
    "dims: {1a: 3}\ntensors:\n" + OUT: [
        "1: dims.1a: the name of a dim, coefficient or tensor is letters, digits and _, got '1a'"
    ],
    "dims: {A: 3, in: 2}\ntensors:\n" + OUT: [
        "1: dims.in: the name of a dim, coefficient or tensor is letters, digits and _, got 'in'"
    ],
    "dims: {A: 2**40, B: 2**21}\ncoefficients: {c: 2**60}\ntensors:\n" + OUT + "  X: {projection: [A*c, B]}": [
        "1: dims: fewer than 2**62 words of X are expected, got 2.66e+36"
    ],
    "layers: []": ["1: layers: must have at least 1 entry, got []"],
    "layers:\n- 3": ["2: layers[0]: must be a mapping, got 3"],
    "layers:\n- {name: a, shape: rank1, sizes: {D: 1}, count: 0}\n- {name: b, shape: rank1, sizes: {D: x}}\n"
    "- {layer: resnet5}\n- {layer: resnet50}\n- {layer: rank1_100, cuont: 2}\n": [
        "2: layers[0].count: must be at least 1, got 0",
        "3: layers[1].sizes.D: must be an integer or an arithmetic expression of one, got 'x'",
        '4: layers[2].layer: neither a file nor a name of the library; did you mean "resnet50"?',
        "5: layers[3].layer: a layer is expected, resnet50 is a network",
        '6: layers[4].cuont: unknown key "cuont"; did you mean "count"?',
    ],
    "layers:\n- {name: a, shape: rank1, sizes: {D: 1}}\n- {name: a, shape: rank1, sizes: {D: 2}}": [
        '3: layers[1]: the name "a" is that of layers[0] already'
    ],
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: " ".join(text.split())[:40])
def test_bad_files_are_told_in_full(text: str, tmp_path: Path) -> None:
    """Each bad file ends in exactly its faults, all at once."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_workload(path)
    told = [str(fault).removeprefix(str(path)).lstrip(": ") for fault in caught.value.faults]
    assert told == BAD[text]


def test_a_yaml_bomb_is_refused(tmp_path: Path) -> None:
    """Aliases of aliases are counted before anything is expanded."""
    path = tmp_path / "bomb.yaml"
    path.write_text("a0: &a0 [1, 1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60)))
    with pytest.raises(InputError, match="at most 100000 values once aliases are expanded"):
        load_workload(path)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("resnet5", 'resnet5: neither a file nor a name of the library; did you mean "resnet50"?'),
        ("conv3_x_3x3", 'neither a file nor a name of the library; did you mean "resnet50/conv3_x_3x3"?'),
        ("resnet50/conv3_3x3", 'no layer "conv3_3x3" in resnet50; did you mean "conv3_x_3x3"?'),
        ("alexnet/zzz", 'no layer "zzz" in alexnet; it has conv1, conv2, conv3, conv4, conv5, fc6, fc7, fc8'),
        ("rank1_100/x", "rank1_100 is a single layer"),
        ("zzzzzzzz", "neither a file nor a name of the library; it has alexnet, "),
        ("", '"": neither a file nor a name of the library'),
        ("none.yaml", "none.yaml: no such file"),
        ("/", "/: a folder is a network of layers, each a file *.yaml in it; it has 0 such files"),
        ("..", "..: a folder is a network of layers, each a file *.yaml in it; it has 0 such files"),
        ("nul\x00.yaml", "cannot be read"),
    ],
)
def test_names_that_are_not_there(spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown name brings near names or the choices; a path says what is wrong with it."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(InputError) as caught:
        load_workload(spec)
    assert message in str(caught.value)


def test_a_network_does_not_refer_to_itself(tmp_path: Path) -> None:
    """A reference to a network, even in a circle, is one fault."""
    path = tmp_path / "net.yaml"
    path.write_text("layers:\n- {layer: net.yaml}\n")
    with pytest.raises(InputError, match=r"net.yaml:2: layers\[0\].layer: a layer is expected, net.yaml is a network$"):
        load_workload(path)


def test_programs_get_the_same_faults() -> None:
    """`shaped` checks its sizes as a file's are checked."""
    with pytest.raises(InputError, match=r"^toy: sizes.D: must be at least 1, got 0$"):
        shaped("rank1", "toy", D=0)
    with pytest.raises(InputError, match='unknown dim "E"'):
        shaped("rank1", D=1, E=2)


SPOILERS = ["!", "&a ", "*a", "<<: ", "[", "}", ": ", "- ", "\n", "~", "1e999", ".nan", "-1", "'", "?", "|", "\t", "é"]
SPOILERS += ["!!str ", "!!float ", "2**70", "1/0", "layers", "dims", "\x00", "9" * 30]


@given(
    st.sampled_from(
        [GOOD + "stride: [1, 2]", TENSORS + OUT + "  X: {projection: [A*stride + B]}", "layers:\n- {layer: a}"]
    ),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 4), st.sampled_from(SPOILERS)), min_size=1, max_size=3),
)
def test_a_spoilt_file_is_read_or_told(text: str, spoils: list[tuple[int, int, str]]) -> None:
    """Whatever is cut from or put into a good file, it is a workload or an InputError, never anything else."""
    for at, cut, spoiler in spoils:
        text = text[:at] + spoiler + text[at + cut :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spoilt.yaml"
        path.write_text(text)
        try:
            assert load_workload(path).macs >= 1
        except InputError as error:
            assert all(fault.message and fault.source for fault in error.faults)  # noqa: PT017


def test_a_missing_dim_is_told_beside_values_of_the_wrong_kind(tmp_path):
    """One run tells of a negative size, a word for a number, a misspelt key and a dim left out."""
    path = tmp_path / "layer.yaml"
    path.write_text("shape: conv2d\nsizes: {N: 1, M: -8, C: four, P: 7, Q: 7, R: 3}\nstrid: 2\n")
    with pytest.raises(InputError) as error:
        load_workload(str(path))
    told = [fault.message for fault in error.value.faults]
    assert len(told) == 4
    assert any("the size of S is missing" in message for message in told)
