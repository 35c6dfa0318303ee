"""What layers of a network hand each other: `from` and `pad`, matched rank by rank, and every fault of them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.workloads import InputError, Network, load_workload, shaped
from ruby_map.workloads.fitting import FitError, Made, linked
from ruby_map.workloads.operators import Causal

CONV = "{{name: {name}, shape: conv2d, sizes: {{M: {m}, C: {c}, P: {p}, Q: {p}, R: {r}, S: {r}}}{more}}}"


def network(tmp_path: Path, *layers: str) -> Path:
    path = tmp_path / "net.yaml"
    path.write_text("layers:\n" + "".join(f"  - {layer}\n" for layer in layers))
    return path


def faults(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_workload(path)
    return [str(fault).removeprefix(f"{path.parent}/") for fault in caught.value.faults]


def test_a_window_reads_zeros_around_what_a_layer_made(tmp_path: Path) -> None:
    """A 3 x 3 depthwise layer of stride 2 over 112 rows, one zero before the first: the second end falls outside."""
    net = load_workload(
        network(
            tmp_path,
            "{name: a, shape: conv2d, sizes: {M: 96, C: 16, P: 112, Q: 112, R: 1, S: 1}}",
            "{name: b, shape: conv2d, sizes: {G: 96, M: 1, C: 1, P: 56, Q: 56, R: 3, S: 3}, stride: 2, "
            "from: {Inputs: a}, pad: {P: 1, Q: [1, 0]}}",
        )
    )
    assert isinstance(net, Network)
    (edge,) = net.edges
    assert (edge.producer, edge.consumer, edge.tensor) == ("a", "b", "Inputs")
    assert edge.ranks == (("N", 0), ("M", 0), (None, 0), ("P", 1), ("Q", 1))


def test_products_run_along_each_other_in_the_order_of_their_ranks() -> None:
    """Scores [queries, keys] are read by the second product as [queries, keys]; heads go with heads."""
    scores = shaped("attention_scores", "scores", B=2, M=64, N=32, K=8)
    context = shaped("attention_context", "context", B=2, M=8, N=32, K=64)
    assert linked(Made.of_layer(scores), context, "Inputs", {}).ranks == (("B", 0), ("N", 0), ("M", 0))


def test_layers_from_elsewhere_have_edges_too(tmp_path: Path) -> None:
    """A layer of the library or of a file reads from those above it."""
    (tmp_path / "second.yaml").write_text("{shape: matmul, sizes: {M: 5, N: 3, K: 1000}}")
    path = network(tmp_path, "{layer: resnet50/fc}", "{layer: second.yaml, from: {Inputs: fc}}")
    assert any("Inputs[N=3 x K=1000]" in fault for fault in faults(path))  # fc has one row
    (tmp_path / "second.yaml").write_text("{shape: matmul, sizes: {M: 5, N: 1, K: 1000}}")
    net = load_workload(path)
    assert isinstance(net, Network)
    assert [edge.consumer for edge in net.edges] == ["second"]


@pytest.mark.parametrize(
    ("layers", "wanted"),
    [
        (
            [CONV.format(name="a", m=4, c=2, p=8, r=1, more=""),
             CONV.format(name="b", m=4, c=4, p=8, r=3, more=", from: {Inputs: a}")],
            ["net.yaml:3: layers[1].from.Inputs: b reads Inputs[N=1 x C=4 x P+R=10 x Q+S=10], and a makes "
             "[N=1 x M=4 x P=8 x Q=8]; write pad: {P: 1, Q: 1} if zeros stand around them"],
        ),
        (
            [CONV.format(name="a", m=4, c=2, p=9, r=1, more=""),
             CONV.format(name="b", m=4, c=3, p=3, r=1, more=", stride: 2, from: {Inputs: a}")],
            ["net.yaml:3: layers[1].from.Inputs: b reads Inputs[N=1 x C=3 x P+R=5 x Q+S=5], and a makes "
             "[N=1 x M=4 x P=9 x Q=9]"],
        ),
        (
            [CONV.format(name="a", m=4, c=2, p=8, r=1, more=", from: {Inputs: b}"),
             CONV.format(name="b", m=4, c=4, p=8, r=1, more=", from: {Weights: c, Input: a, Inputs: b}, pad: {N: 1}")],
            ["net.yaml:2: layers[0].from.Inputs: b stands below a: "
                "layers stand in an order in which they can be computed",
             "net.yaml:3: layers[1].pad.N: b has no window along N: P, Q, R, S have",
             'net.yaml:3: layers[1].from.Weights: no layer "c" in this network',
             'net.yaml:3: layers[1].from.Input: unknown input "Input"; b reads Weights, Inputs',
             "net.yaml:3: layers[1].from.Inputs: b would read what it makes itself"],
        ),
        (
            [CONV.format(name="a", m=-4, c=2, p=8, r=1, more=""),
             CONV.format(name="b", m=4, c=4, p=8, r=1, more=", from: {Inputs: a}"), "{op: adds, from: [a, b]}",
             CONV.format(name="c", m=4, c=4, p=8, r=1, more=", from: {Inputs: adds_3}")],
            ["net.yaml:2: layers[0].sizes.M: must be at least 1, got -4",
             'net.yaml:4: layers[2].op: unknown operator "adds"; did you mean "add"?'],
        ),
        (
            [CONV.format(name="a", m=4, c=2, p=8, r=1, more=", count: 2"),
             CONV.format(name="b", m=4, c=4, p=8, r=1, more=", from: {Inputs: a}")],
            ["net.yaml:3: layers[1].from.Inputs: a is there 2 times and b 1 times: write them one by one"],
        ),
        (
            [CONV.format(name="a", m=4, c=2, p=8, r=1, more=""),
             CONV.format(name="b", m=4, c=4, p=8, r=3, more=", from: {Inputs: a}, pad: {P: 1, R: 5, Q: 1}")],
            ["net.yaml:3: layers[1].pad.R: P and R are of one window: pad it by one of them"],
        ),
        (
            ["{name: a, shape: matmul, sizes: {N: 4, K: 2, M: 4}}",
             "{name: b, shape: matmul, sizes: {N: 5, K: 4, M: 4}, from: {Inputs: a}}"],
            ["net.yaml:3: layers[1].from.Inputs: b reads Inputs[N=5 x K=4], and a makes [N=4 x M=4]"],
        ),
        (
            [CONV.format(name="a", m=4, c=2, p=8, r=1, more=", pad: {P: 1}")],
            ["net.yaml:2: layers[0].pad: goes with from: zeros stand around what another layer made"],
        ),
        (
            [CONV.format(name="a", m=4, c=2, p=8, r=1, more=""),
             CONV.format(name="b", m=4, c=4, p=8, r=1, more=", from: {Inputs: [a, a]}, pad: {P: -1}")],
            ['net.yaml:3: layers[1].from.Inputs: must be text, got ["a", "a"]',
             "net.yaml:3: layers[1].pad.P: must be at least 0, got -1"],
        ),
    ],
    ids=["no zeros", "another size", "names and order", "faulty layers", "counts", "one window twice", "no window",
         "zeros around nothing", "two producers"],
)  # fmt: skip
def test_what_does_not_fit_is_a_fault_with_its_line(tmp_path: Path, layers: list[str], wanted: list[str]) -> None:
    """All of them at once."""
    assert faults(network(tmp_path, *layers)) == wanted


@given(st.integers(1, 9), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.integers(1, 2))
def test_a_window_fits_where_frameworks_give_it_these_outputs(size, r, stride, pad, dilation):
    """floor((size + 2 pad - dilation (r - 1) - 1) / stride) + 1 rows, and no other number."""
    rows = (size + 2 * pad - dilation * (r - 1) - 1) // stride + 1
    producer = shaped("conv1d", "a", M=2, C=1, P=size, R=1)
    for p in (rows - 1, rows, rows + 1):
        if p < 1:
            continue
        consumer = shaped("conv1d", "b", M=1, C=2, P=p, R=r, stride=stride, dilation=dilation)
        fits = p == rows
        try:
            linked(Made.of_layer(producer), consumer, "Inputs", {"P": (pad, pad)})
        except FitError:
            assert not fits
        else:
            assert fits


SCORES = "{name: scores, shape: attention_scores, sizes: {B: 2, H: 4, M: 8, N: 4, K: 3}}"
CONTEXT = "{{name: context, shape: attention_context, sizes: {{B: 2, H: 4, M: 3, N: 4, K: 8}}{more}}}"


def test_a_softmax_and_a_causal_mask_are_on_the_edge(tmp_path: Path) -> None:
    """The queries of a head are those before heads that share keys are merged."""
    more = ", from: {Inputs: scores}, through: {Inputs: softmax}, causal: true"
    net = load_workload(network(tmp_path, SCORES, CONTEXT.format(more=more)))
    assert isinstance(net, Network)
    (edge,) = net.edges
    assert (edge.through, edge.streaming) == ("softmax", False)
    assert edge.causal == Causal("N", "K", 4)
    assert [edge.causal.seen(low, low + 1, 8) for low in range(6)] == [5, 6, 7, 8, 5, 6]
    assert edge.causal.seen(3, 5, 8) == 8  # the last query of a head, and the first of the next


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (", from: {Inputs: scores}, through: {Inputs: softmx}", 'unknown operator "softmx"; did you mean "softmax"?'),
        (", through: {Inputs: softmax}", "goes with from: no layer is said to make Inputs"),
        (", from: {Inputs: scores}, streaming: true", "goes with an operator on rows"),
        (", from: {Inputs: scores}, causal: true", "goes with an operator on rows"),
    ],
)
def test_operators_that_do_not_fit_are_faults(tmp_path: Path, more: str, fault: str) -> None:
    """With the line and the path of the entry."""
    told = faults(network(tmp_path, SCORES, CONTEXT.format(more=more)))
    assert len(told) == 1
    assert told[0].startswith("net.yaml:3: layers[1].")
    assert fault in told[0]


def test_a_softmax_needs_a_reader_that_has_rows(tmp_path: Path) -> None:
    """A layer that works word by word does not say along which dim the rows are."""
    scores = "{name: scores, shape: matmul, sizes: {M: 8, N: 4, K: 3}}"
    tensors = "{A: {projection: [N, M]}, O: {projection: [N, M], output: true}}"
    more = "from: {A: scores}, through: {A: softmax}"
    drop = f"{{name: drop, dims: {{N: 4, M: 8}}, tensors: {tensors}, {more}}}"
    (fault,) = faults(network(tmp_path, scores, drop))
    assert fault.startswith("net.yaml:3: layers[1].through.A: softmax needs whole rows, and drop adds up over no dim")


def test_more_queries_than_keys_have_no_causal_mask(tmp_path: Path) -> None:
    """The first query would see no key."""
    scores = "{name: s, shape: matmul, sizes: {M: 3, N: 4, K: 2}}"
    more = "from: {Inputs: s}, through: {Inputs: softmax}, causal: true"
    context = f"{{name: c, shape: matmul, sizes: {{M: 2, N: 4, K: 3}}, {more}}}"
    assert "more queries (4) than keys (3)" in faults(network(tmp_path, scores, context))[0]
