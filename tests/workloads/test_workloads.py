"""Shapes, files and the library: what a user writes becomes the loop nest that is meant."""

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch.fit import SHAPE_DIMS
from ruby_map.mapper.exploration import distinct_layers
from ruby_map.workloads import SHAPES, Network, Workload, library_workloads, load_workload, shaped
from ruby_map.workloads.operators import OPERATORS

DOCS = Path(__file__).parents[2] / "docs" / "workloads.md"


def network(name: str) -> Network:
    found = load_workload(name)
    assert isinstance(found, Network)
    return found


def layer(name: str) -> Workload:
    found = load_workload(name)
    assert isinstance(found, Workload)
    return found


# name: distinct layers, GMACs (to the digits that are published)
TOTALS = {
    "resnet50": (24, "4.089"),
    "vgg16": (12, "15.470"),
    "mobilenet_v2": (31, "0.301"),
    "alexnet": (8, "0.724"),
}


@pytest.mark.parametrize("name", TOTALS)
def test_networks_have_their_published_macs(name: str) -> None:
    """Sizes and counts together give the totals that the literature has for the network."""
    layers, gmacs = TOTALS[name]
    assert len(library_workloads()[name]) == layers
    assert f"{network(name).macs / 1e9:.3f}" == gmacs


# C1 to C12 of the table, in MACs
RESNET18 = [118013952, 115605504, 12845056, 57802752, 6422528, 115605504]
RESNET18 += [57802752, 6422528, 115605504, 57802752, 6422528, 115605504]


def test_resnet18_has_the_macs_of_each_row() -> None:
    """Every row of the table has its MACs; without C3 the counts give torchvision's 1.814 GMACs."""
    assert [layer(f"resnet18/C{number}").macs for number in range(1, 13)] == RESNET18
    assert network("resnet18").macs - layer("resnet18/C3").macs == 1_814_073_344


def test_bert_has_the_macs_of_its_equation() -> None:
    """12 blocks of 12 h^2 per position for the projections and 2 h per pair of positions for attention."""
    for length in (128, 256):
        hidden = 768
        wanted = 12 * (12 * hidden**2 * length + 2 * hidden * length**2)
        assert network(f"bert_base_{length}").macs == wanted


def test_deepbench_has_all_its_layers() -> None:
    """40 convolutions and 23 matrix products under 63 names; first and last of each are those of the source."""
    layers = [workload for workload, count in network("deepbench").layers if count == 1]
    assert len({workload.name for workload in layers}) == 63
    assert [workload.shape for workload in layers].count("conv2d") == 40
    assert layer("deepbench/speech_1").macs == 32 * 1 * 79 * 341 * 5 * 20
    assert layer("deepbench/speech_1").tensors[1].projection == "[N, C, P*2 + R, Q*2 + S]"
    assert layer("deepbench/device_5").sizes == (35, 1500, 2048)


def test_layers_of_a_network_differ() -> None:
    """No network is listed with two layers of the same sizes and strides (counts say how often)."""
    for name, layers in library_workloads().items():
        if layers and name != "deepbench":
            nests = {(w.shape, w.dims, w.sizes, w.tensors) for w in (layer(f"{name}/{one}") for one in layers)}
            assert len(nests) == len(layers), name


def test_every_name_of_the_library_loads_as_listed() -> None:
    """`library_workloads` lists names that `load_workload` takes, of layers that are equal the first."""
    listed = library_workloads()
    assert {"resnet50", "rank1_100", "matmul_100", "conv_3x3x64", "alexnet_conv2_paper"} <= listed.keys()
    for name, layers in listed.items():
        entry = load_workload(name)
        assert entry.name == name
        assert layers == (tuple(own.name for own in distinct_layers(entry)) if isinstance(entry, Network) else ())
        for one in layers:
            assert layer(f"{name}/{one}").name == one


def test_toys() -> None:
    """The toys have the sizes that the paper prints."""
    assert layer("rank1_100").macs == 100
    assert layer("matmul_100").macs == 100**3
    assert layer("conv_3x3x64").macs == 26 * 26 * 64 * 64 * 9
    assert layer("alexnet_conv2_paper").tensor_words(layer("alexnet_conv2_paper").tensors[0]) == 5 * 5 * 48 * 96


small = st.integers(1, 3)


@given(st.fixed_dictionaries(dict.fromkeys("NGMCPQRS", small)), st.tuples(small, small), st.tuples(small, small))
def test_conv2d_is_the_grouped_convolution(
    sizes: dict[str, int], stride: tuple[int, int], dilation: tuple[int, int]
) -> None:
    """MACs are N Cin Cout R S P Q / groups, and the words are those of a grouped convolution without padding."""
    conv = shaped("conv2d", stride=stride, dilation=dilation, **sizes)
    n, g, m, c, p, q, r, s = (sizes[dim] for dim in "NGMCPQRS")
    channels_in, channels_out = g * c, g * m
    assert conv.macs == n * channels_in * channels_out * r * s * p * q // g
    height, width = ((a - 1) * x + (b - 1) * y + 1 for a, b, x, y in zip((p, q), (r, s), stride, dilation, strict=True))
    words = {tensor.name: conv.tensor_words(tensor) for tensor in conv.tensors}
    assert words == {
        "Weights": channels_out * c * r * s,
        "Inputs": n * channels_in * height * width,
        "Outputs": n * channels_out * p * q,
    }
    assert ("G" in conv.dims) == (g > 1)


@given(st.fixed_dictionaries(dict.fromkeys("BMNK", small)), st.data())
def test_batched_matmul_computes_the_product(sizes: dict[str, int], data: st.DataObject) -> None:
    """Executing the loops of the workload gives out[b, n, m] = sum over k of in[b, n, k] * weight[b, m, k]."""
    workload = shaped("batched_matmul", **sizes)
    value = {"Weights": lambda b, m, k: b + 2 * m + 3 * k, "Inputs": lambda b, n, k: 5 * b + 7 * n + k + 1}
    out: dict[tuple[int, ...], int] = {}
    for point in product(*map(range, workload.sizes)):
        at = dict(zip(workload.dims, point, strict=True))
        index = {
            tensor.name: tuple(sum(term.coef * at[term.dim] for term in rank) for rank in tensor.ranks)
            for tensor in workload.tensors
        }
        product_here = value["Weights"](*index["Weights"]) * value["Inputs"](*index["Inputs"])
        out[index["Outputs"]] = out.get(index["Outputs"], 0) + product_here
    b, n, m = (data.draw(st.integers(0, sizes[dim] - 1)) for dim in "BNM")
    assert out[b, n, m] == sum(value["Weights"](b, m, k) * value["Inputs"](b, n, k) for k in range(sizes["K"]))
    assert len(out) == sizes["B"] * sizes["N"] * sizes["M"]


def test_stride_and_dilation_pair_with_their_dims() -> None:
    """Height goes with P and R, width with Q and S; one number serves both."""
    sizes = {"M": 1, "C": 1, "P": 2, "Q": 2, "R": 2, "S": 2}
    both = shaped("conv2d", stride=(2, 3), dilation=(4, 5), **sizes)
    assert both.tensors[1].projection == "[N, C, P*2 + R*4, Q*3 + S*5]"
    assert shaped("conv2d", stride=2, **sizes).tensors[1].projection == "[N, C, P*2 + R, Q*2 + S]"


def test_shape_dims_are_the_dims_of_all_shapes() -> None:
    """The public vocabulary that constraints may name."""
    assert frozenset("NGMCOPQTRSKBD") == SHAPE_DIMS


def test_roles_of_every_shape() -> None:
    """Every shape writes Outputs, whose ranks are single dims, and reads Inputs."""
    for shape, entry in SHAPES.items():
        dims = [dim for dim in entry.names if dim not in entry.one_by_default]
        workload = shaped(shape, **dict.fromkeys(dims, 2))
        assert workload.shape == shape
        assert workload.output.name == "Outputs"
        assert "Inputs" in {tensor.name for tensor in workload.tensors}


def examples() -> list[str]:
    """The YAML blocks of the page on workloads."""
    return re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)


def test_examples_of_the_documentation_load(tmp_path: Path) -> None:
    """Each YAML block of docs/workloads.md is a file that loads, and means what the page says."""
    found = []
    for index, text in enumerate(examples()):
        path = tmp_path / f"example{index}.yaml"
        path.write_text(text)
        found.append(load_workload(path))
    conv1, strided, scaled, two_layers, block, attention, residual, equal = found
    assert isinstance(attention, Network)
    assert isinstance(residual, Network)
    assert isinstance(equal, Network)
    assert [layer.name for layer in distinct_layers(equal)] == ["first"]
    assert (equal.sources("second"), equal.sources("add")) == (("first",), ("second", "image"))
    assert residual.order == ("expand", "depthwise", "project", "add", "pool")
    assert [edge.through for edge in attention.edges] == ["softmax"]
    assert isinstance(conv1, Workload)
    assert isinstance(strided, Workload)
    assert isinstance(two_layers, Network)
    assert isinstance(scaled, Workload)
    assert scaled.tensors[1].projection == "[M, K_blocks]"
    assert conv1.macs == 118_013_952
    assert [tensor.word_bits for tensor in conv1.tensors] == [8, None, None]
    assert strided.tensors[1].projection == "[N, P*2 + R]"
    assert [(one.name, count) for one, count in two_layers.layers] == [("conv", 3), ("pool", 1), ("fc", 1)]
    assert two_layers.macs == 3 * 8 * 8 * 16 * 9 + 8 + 2_048_000
    assert isinstance(block, Network)
    assert [(edge.producer, edge.consumer) for edge in block.edges] == [
        ("expand", "depthwise"),
        ("depthwise", "project"),
    ]


def test_the_page_has_every_operator() -> None:
    """The table of operators names each of them once."""
    rows = [line for line in DOCS.read_text().partition("| operators |")[2].splitlines() if line.startswith("| `")]
    named = [name for row in rows[: len({*OPERATORS.values()})] for name in re.findall(r"`(\w+)`", row)]
    assert [name for name in named if name in OPERATORS] == named[: len(OPERATORS)]
    assert sorted(named[: len(OPERATORS)]) == sorted(OPERATORS)


def test_ways_to_name_a_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a layer of a file, a library name, a layer of it; a folder of a library name hides nothing."""
    file = tmp_path / "net.yml"
    file.write_text("layers: [{name: a, shape: rank1, sizes: {D: 3}}, {layer: one.yaml, count: 2}]")
    (tmp_path / "one.yaml").write_text("{shape: rank1, sizes: {D: 2 * 3}}")
    (tmp_path / "resnet50").mkdir()
    monkeypatch.chdir(tmp_path)
    assert network("net.yml").macs == 3 + 2 * 6
    assert network(str(file)).name == "net"
    assert layer("net.yml/one").macs == 6
    assert layer("./one.yaml").name == "one"
    assert network("resnet50").macs > 1e9
    assert layer("resnet50/conv3_x_3x3").sizes == (1, 128, 128, 28, 28, 3, 3)
