"""Each named shape computes what its name says, by NumPy, and its nests are counted as executing them counts."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from ruby_map.mapper.codegen.data_types import DATA_TYPES
from ruby_map.mapper.codegen.reference import expected, operands
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.simulate import simulate
from ruby_map.workloads import InputError, Workload, load_workload, shaped

from ..strategies import machines, mappings

Array = NDArray[np.float64]
small = st.integers(1, 3)


def sizes_of(dims: str) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries(dict.fromkeys(dims, small))


def given_words(workload: Workload) -> dict[str, Array]:
    return {name: words.astype(np.float64) for name, words in operands(workload, DATA_TYPES["int32"]).items()}


def computed(workload: Workload, words: Mapping[str, Array]) -> Array:
    """The outputs of the nest, by NumPy."""
    return expected(workload, words)


def one_d(inputs: Array, weights: Array, stride: int, dilation: int, outputs: int) -> Array:
    """The convolution along the last axis, word by word: inputs # (N, C, H), weights # (M, C, R)."""
    found = np.zeros((len(inputs), len(weights), outputs))
    for p, r in product(range(outputs), range(weights.shape[-1])):
        found[:, :, p] += np.einsum("nc,mc->nm", inputs[:, :, p * stride + r * dilation], weights[:, :, r])
    return found


@given(sizes_of("NMCPR"), small, small)
def test_conv1d(sizes: dict[str, int], stride: int, dilation: int) -> None:
    """A window along P, with stride and dilation."""
    layer = shaped("conv1d", stride=stride, dilation=dilation, **sizes)
    words = given_words(layer)
    wanted = one_d(words["Inputs"], words["Weights"], stride, dilation, sizes["P"])
    np.testing.assert_array_equal(computed(layer, words), wanted)


@settings(max_examples=60)
@given(sizes_of("NMCOPQTRS"), st.tuples(small, small, small), st.tuples(small, small, small))
def test_conv3d(sizes: dict[str, int], stride: tuple[int, ...], dilation: tuple[int, ...]) -> None:
    """Windows along O, P and Q, each with its stride and dilation: a sum of taps T, R, S."""
    layer = shaped("conv3d", stride=stride, dilation=dilation, **sizes)
    words = given_words(layer)
    wanted = np.zeros([sizes[dim] for dim in "NMOPQ"])
    for tap in product(*(range(sizes[dim]) for dim in "TRS")):
        places = [
            np.arange(sizes[dim]) * step + at * gap
            for dim, step, gap, at in zip("OPQ", stride, dilation, tap, strict=True)
        ]
        seen = words["Inputs"][np.ix_(range(sizes["N"]), range(sizes["C"]), *places)]
        wanted += np.einsum("ncopq,mc->nmopq", seen, words["Weights"][(..., *tap)])
    np.testing.assert_array_equal(computed(layer, words), wanted)
    grouped = shaped("conv3d", stride=stride, dilation=dilation, **sizes, G=2)
    assert grouped.macs == 2 * layer.macs == 2 * np.prod(list(sizes.values()))


def scattered(inputs: Array, weights: Array, stride: tuple[int, int]) -> Array:
    """The transposed convolution as it is defined: each input word adds its filter, from its place times the stride."""
    (n, _, rows, columns), (m, _, r, s), (down, right) = inputs.shape, weights.shape, stride
    found = np.zeros((n, m, (rows - 1) * down + r, (columns - 1) * right + s))
    for i, j in product(range(rows), range(columns)):
        added = np.einsum("nc,mcrs->nmrs", inputs[:, :, i, j], weights)
        found[:, :, i * down : i * down + r, j * right : j * right + s] += added
    return found


@settings(max_examples=60)
@given(sizes_of("NMC"), st.tuples(small, small), st.tuples(small, small), st.tuples(small, small))
def test_transposed_conv2d(
    sizes: dict[str, int], stride: tuple[int, int], image: tuple[int, int], taps: tuple[int, int]
) -> None:
    """The nest, phase by phase, gives every word that scattering the inputs gives; a part of the filter each."""
    (down, right), (rows, columns), (high, wide) = stride, image, taps
    filters = {"R": down * high, "S": right * wide}
    outputs = {"P": down * (rows - 1 + high), "Q": right * (columns - 1 + wide)}  # all, nothing cropped
    layer = shaped("transposed_conv2d", stride=stride, **sizes, **filters, **outputs)
    n, m, c = (sizes[dim] for dim in "NMC")
    random = np.random.default_rng(0)
    inputs = random.integers(-8, 8, (n, c, rows, columns)).astype(float)
    weights = random.integers(-8, 8, (m, c, *filters.values())).astype(float)
    padded = np.pad(inputs, ((0, 0), (0, 0), (high - 1, high - 1), (wide - 1, wide - 1)))
    # a phase has every stride-th tap, the last one first, as an output looks back at the inputs before it
    phases = weights.reshape(m, c, high, down, wide, right)[:, :, ::-1, :, ::-1].transpose(3, 5, 0, 1, 2, 4)
    nest = computed(layer, {"Inputs": padded, "Weights": phases.reshape(down * right * m, c, high, wide)})
    woven = nest.reshape(n, down, right, m, rows - 1 + high, columns - 1 + wide).transpose(0, 3, 4, 1, 5, 2)
    np.testing.assert_array_equal(woven.reshape(n, m, *outputs.values()), scattered(inputs, weights, stride))
    assert layer.macs == n * m * c * outputs["P"] * outputs["Q"] * high * wide
    assert layer.tensor_words(layer.tensors[0]) == weights.size
    assert layer.tensor_words(layer.output) == n * m * outputs["P"] * outputs["Q"]


def test_up_convolution_of_the_u_net() -> None:
    """2 x 2 with stride 2: every input word is read once by each of the four phases, none is missed."""
    layer = shaped("transposed_conv2d", M=512, C=1024, P=56, Q=56, R=2, S=2, stride=2)
    assert layer.dims == ("N", "M", "C", "P", "Q", "R", "S")
    assert layer.sizes == (1, 2048, 1024, 28, 28, 1, 1)
    assert layer.macs == 28 * 28 * 1024 * 512 * 4
    assert [tensor.projection for tensor in layer.tensors][1] == "[N, C, P + R, Q + S]"


@given(sizes_of("BHNMK"))
def test_grouped_query_attention(sizes: dict[str, int]) -> None:
    """Heads that share keys and values: both products are those of H heads, each with the keys of its group."""
    b, h, n, m, k = (sizes[dim] for dim in "BHNMK")
    scores = shaped("attention_scores", **sizes)
    words = given_words(scores)
    queries, keys = words["Inputs"].reshape(b, h, n, k), words["Weights"]
    found = computed(scores, words).reshape(b, h, n, m)
    np.testing.assert_array_equal(found, np.einsum("bhnk,bmk->bhnm", queries, keys))
    context = shaped("attention_context", B=b, H=h, N=n, M=k, K=m)
    values = given_words(context)["Weights"].transpose(0, 2, 1)  # (b, m, k)
    outputs = computed(context, {"Inputs": found.reshape(b, h * n, m), "Weights": values.transpose(0, 2, 1)})
    np.testing.assert_array_equal(outputs.reshape(b, h, n, k), np.einsum("bhnm,bmk->bhnk", found, values))
    assert scores.macs == context.macs == b * h * n * m * k
    assert (scores.dims, scores.sizes) == (("B", "M", "N", "K"), (b, m, h * n, k))


def test_attention_without_groups_is_a_batched_product() -> None:
    """H is 1 where left out, and B as well."""
    plain = shaped("batched_matmul", B=12, M=128, N=128, K=64)
    attention = shaped("attention_scores", B=12, M=128, N=128, K=64)
    assert (attention.sizes, attention.tensors) == (plain.sizes, plain.tensors)
    assert shaped("attention_context", M=64, N=5, K=7).sizes == (1, 64, 5, 7)


def test_a_depthwise_separable_convolution_is_two_layers() -> None:
    """As the page on workloads says: depthwise, then pointwise; C R S P Q + M C P Q MACs."""
    depthwise = shaped("conv2d", G=32, M=1, C=1, P=14, Q=14, R=3, S=3)
    pointwise = shaped("conv2d", M=64, C=32, P=14, Q=14, R=1, S=1)
    assert depthwise.macs + pointwise.macs == 32 * 9 * 14 * 14 + 64 * 32 * 14 * 14
    assert depthwise.tensor_words(depthwise.output) == 32 * 14 * 14


@st.composite
def layers(draw: st.DrawFn) -> Workload:
    """A layer of a shape that is not conv2d, a product or rank1."""
    size, step = st.integers(1, 4), st.integers(1, 2)
    shape = draw(st.sampled_from(["conv1d", "conv3d", "transposed_conv2d", "attention_scores", "attention_context"]))
    if shape.startswith("attention"):
        return shaped(shape, **{dim: draw(size) for dim in "BHNMK"})
    if shape == "conv1d":
        return shaped(shape, stride=draw(step), dilation=draw(step), **{dim: draw(size) for dim in "GMCPR"})
    if shape == "conv3d":
        return shaped(shape, stride=draw(step), **{dim: draw(step) for dim in "GMCOPQTRS"})
    down = draw(step)
    windows = {dim: down * draw(step) for dim in "PQRS"}
    return shaped(shape, stride=down, M=draw(step), C=draw(step), **windows)


@settings(max_examples=100)
@given(mappings(workloads=layers(), arch=machines(most_levels=3)))
def test_their_counts_are_those_of_executing_them(batch) -> None:  # type: ignore[no-untyped-def]
    """Reads, fills and updates of random mappings equal the executor's where the model calls them exact."""
    got, want = count(batch), simulate(batch)
    for name in ("fills", "updates", "cycles"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name), err_msg=name)
    assert not got.exact[0] or np.array_equal(got.reads, want.reads)
    assert (got.reads >= want.reads).all()


TRANSPOSED = "shape: transposed_conv2d\nsizes: {M: 1, C: 1, P: 4, Q: 4, R: 2, S: 2}\n"
REMAINDER = (
    "a multiple of the stride {} is expected, or the outputs of one remainder have filters and numbers of their own"
)

# the file, then its faults without the file's name
BAD = {
    TRANSPOSED.replace("R: 2", "R: 3") + "stride: 2": [f"2: sizes.R: {REMAINDER.format(2)}; got 3"],
    TRANSPOSED + "stride: [1, 4]": [f"2: sizes.S: {REMAINDER.format(4)}; got 2"],
    TRANSPOSED + "stride: 2\ndilation: 2": ["4: dilation: transposed_conv2d has no dilation"],
    TRANSPOSED + "stride: [2, 2, 2]": ["3: stride: one number, or 2 are expected for transposed_conv2d, got 3"],
    "shape: conv1d\nsizes: {M: 1, C: 1, P: 1, R: 1}\nstride: [1, 2]": [
        "3: stride: one number is expected for conv1d, got 2"
    ],
    "shape: conv1d\nsizes: {M: 1, C: 1, P: 1, Q: 1, R: 1}": [
        '2: sizes.Q: unknown dim "Q"; conv1d has N, G, M, C, P, R'
    ],
    "shape: conv3d\nsizes: {M: 1, C: 1, P: 1, Q: 1, R: 1, S: 1}\nstride: [1, 2]": [
        "2: sizes: the size of O, T is missing; conv3d has N, G, M, C, O, P, Q, T, R, S"
    ],
    "shape: attention_scores\nsizes: {H: 0, N: 1, M: 1}": [
        "2: sizes.H: must be at least 1, got 0",
        "2: sizes: the size of K is missing; attention_scores has B, M, N, K, H",
    ],
    "shape: transposed_conv2d\nsizes: {M: 2**61, C: 1, P: 2, Q: 2, R: 2, S: 2}\nstride: 2": [
        "2: sizes: a size of M below 2**62 is expected, got 9.22e+18",
    ],
    "shape: attention_scores\nsizes: {H: 2**40, N: 2**40, M: 1, K: 1}": [
        "2: sizes: a size of N below 2**62 is expected, got 1.21e+24",
    ],
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: " ".join(text.split())[7:50])
def test_faults(text: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """What a shape cannot express is refused, with its place and its rule."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_workload(path)
    assert [str(fault).removeprefix(f"{path}:") for fault in caught.value.faults] == BAD[text]


def test_one_stride_serves_all_windows() -> None:
    """`stride: 2` and `stride: [2, 2, 2]` mean the same."""
    sizes = dict.fromkeys(("M", "C", *"OPQTRS"), 2)
    assert shaped("conv3d", stride=2, **sizes) == shaped("conv3d", stride=(2, 2, 2), **sizes)
    different = shaped("conv3d", stride=(1, 2, 3), **sizes)
    assert different.tensors[1].projection == "[N, C, O + T, P*2 + R, Q*3 + S]"
