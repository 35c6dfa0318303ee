"""Graphs of networks: what is listed, and that a picture puts nothing on top of anything."""

import re
import time
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.report.graphs import graph_json, graph_svg, graph_text
from ruby_map.mapper.report.graphs.labels import labels
from ruby_map.mapper.report.graphs.layout import Layout
from ruby_map.mapper.report.graphs.nodes import Kind, Node, layer_text
from ruby_map.mapper.report.graphs.parts import cut_into_columns, linked
from ruby_map.workloads import Network, load_workload, shaped
from ruby_map.workloads.networks import Edge
from ruby_map.workloads.operators import OPERATORS, Operation

from ..browser import BROWSER, Page
from ..house import ROOT

MATMUL = shaped("matmul", M=8, N=8, K=8)
SVG = "{http://www.w3.org/2000/svg}"
BLOCK = """
name: block
inputs: {x: [24, 56, 56]}
layers:
  - {name: expand, shape: conv2d, sizes: {M: 144, C: 24, P: 56, Q: 56, R: 1, S: 1}, from: {Inputs: x}, count: 32}
  - {name: relu, op: relu6, from: expand, count: 32}
  - name: depthwise
    count: 32
    shape: conv2d
    sizes: {G: 144, M: 1, C: 1, P: 56, Q: 56, R: 3, S: 3}
    from: {Inputs: relu}
    pad: {P: 1, Q: 1}
  - name: project
    count: 32
    shape: conv2d
    sizes: {M: 24, C: 144, P: 56, Q: 56, R: 1, S: 1}
    from: {Inputs: depthwise}
  - {name: add, op: add, from: [project, x], count: 32}
  - {name: pool, op: max_pool, from: add, sizes: [24, 28, 28], count: 32}
"""


@pytest.fixture
def block(tmp_path):
    (tmp_path / "block.yaml").write_text(BLOCK)
    return load_workload(tmp_path / "block.yaml")


def chain(length, skips=0):
    """A network of matrix products in a row, and where asked for after every so many an addition of what came in."""
    layers, operations, edges, before = [], [], [], "x"
    for number in range(length):
        layers.append((replace(MATMUL, name=f"m{number}"), 1))
        edges.append(Edge(before, f"m{number}", "Inputs"))
        before = f"m{number}"
        if skips and number % skips == skips - 1:
            begin = f"a{number - skips}" if number >= skips else "x"
            operations.append(Operation(f"a{number}", "add", (before, begin), (8, 8)))
            before = f"a{number}"
    return Network("chain", tuple(layers), None, tuple(edges), tuple(operations), (("x", (8, 8)),))


def test_the_order_of_computing_is_listed_with_totals(block):
    """Figures of one occurrence in rows, of all in the last line; only what writes words adds to those between."""
    lines = [line.split() for line in graph_text(block).splitlines()]
    assert [line[0] for line in lines[4:11]] == ["x", "expand", "relu", "depthwise", "project", "add", "pool"]
    assert " ".join(lines[7]) == "depthwise conv2d 3x3, 144 groups 144x56x56 451,584 4,064,256 32 relu"
    assert " ".join(lines[9]) == "add add 24x56x56 75,264 32 project, x"
    words = 32 * (2 * 144 + 24) * 56 * 56
    assert graph_text(block).splitlines()[-1] == (
        "total  3 layers, 3 operations, 7 edges, 2 pairs of layers that could hand each other tiles; "
        f"in all occurrences {block.macs:,} MACs, {words:,} words between layers"
    )


def test_pairs_are_those_whose_tiles_match(tmp_path):
    """Where ranks are joined or split, tiles are not matched."""
    edges = (Edge("a", "b", "Inputs", whole=True),)
    layers = tuple((replace(MATMUL, name=name), 1) for name in "ab")
    assert graph_json(Network("n", layers, edges=edges))["totals"]["pairs"] == 0
    assert graph_json(Network("n", layers, edges=(replace(edges[0], whole=False),)))["totals"]["pairs"] == 1


def test_words_that_nobody_here_reads_are_not_between(block):
    """A view at the end reads nothing."""
    last = Operation("view", "reshape", ("pool",), (24, 784), 32)
    more = replace(block, operations=(*block.operations, last))
    assert graph_json(more)["totals"]["words_between"] == graph_json(block)["totals"]["words_between"]


def test_without_edges_nothing_is_known():
    """Text, object and picture say so; several layers may have one name then."""
    network = Network("n", ((MATMUL, 2), (replace(MATMUL, sizes=(4, 8, 8)), 3)))
    text, totals = graph_text(network), graph_json(network)["totals"]
    assert "nothing is known of what these layers hand each other" in text
    assert text.splitlines()[-1] == "total  2 layers, 0 operations; in all occurrences 1,792 MACs"
    assert (totals["pairs"], totals["words_between"]) == (None, None)
    assert [node["count"] for node in graph_json(network)["nodes"]] == [2, 3]
    drawn = texts(graph_svg(network))
    assert drawn.count("matmul") == 4, "name and shape of each"
    assert any(text.startswith("nothing is known") for text in drawn)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (shaped("conv2d", M=8, C=8, P=8, Q=8, R=3, S=5, stride=(1, 2), dilation=2), "conv2d 3x5/1x2 dilation 2"),
        (shaped("conv2d", G=4, M=2, C=2, P=8, Q=8, R=3, S=3, stride=2), "conv2d 3x3/2, 4 groups"),
        (shaped("conv1d", M=8, C=8, P=8, R=3), "conv1d 3"),
        (shaped("rank1", D=8), "rank1"),
        (replace(MATMUL, shape=""), "nest"),
    ],
)
def test_a_layer_is_said_by_its_shape_and_window(layer, text):
    assert layer_text(layer) == text


def texts(svg):
    """All texts of a picture, which is well formed."""
    return [node.text for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_picture_says_what_nodes_are(block):
    """Layers with shape, sizes and words, operations, inputs; counts; the words that skip."""
    drawn = texts(graph_svg(block))
    assert drawn.count("x 32") == 3
    assert {"expand", "conv2d 3x3, 144 groups", "144x56x56, 452 k words", "add x 32", "x 24x56x56"} <= set(drawn)
    assert {"relu: relu6 x 32", "pool: max_pool x 32", "24x28x28"} <= set(drawn)
    assert drawn.count("75.3 k words") == 2, "beside the edge that skips, and after the addition"
    assert "3 layers, 3 operations; 824 M MACs, 31.3 M words between layers" in drawn


def test_texts_from_outside_stay_texts():
    """A name is no tag, wherever it stands."""
    name = "<a href='x'>&\"b\""
    network = Network(name, ((replace(MATMUL, name=name), 1),))
    svg = graph_svg(network, [[name]], {(name, name): name})
    assert "<a" not in svg
    assert texts(svg).count(name) >= 2


def test_a_picture_asks_for_no_other_file(block):
    """No script, no font, no link but to its own arrows."""
    svg = graph_svg(block, [["expand", "relu"]], {("expand", "relu"): "resident"})
    assert not re.search(r"<script|<style|<image|@import|href|url\((?!#)", svg)
    assert svg.count("http") == 1, "the name space"


def test_groups_and_marks_are_drawn_and_told(block):
    """A band with a number for each group, a thick edge for each mark, and the legend."""
    groups, marks = [["expand", "relu", "depthwise"], ["project", "add"]], {("relu", "depthwise"): "resident"}
    svg, plain = graph_svg(block, groups, marks), graph_svg(block)
    drawn = texts(svg)
    assert [text for text in drawn if text not in texts(plain)] == [
        *("1", "2", "1", "expand + relu + depthwise", "2", "project + add", "resident"),
    ]
    tree = ElementTree.fromstring(svg)
    bands = [node for node in tree.iter(f"{SVG}g") if node.get("opacity")]
    assert [len(list(band.iter(f"{SVG}rect"))) for band in bands] == [3, 2]
    assert len({band.get("fill") for band in bands}) == 2
    (thick,) = (node for node in tree.iter(f"{SVG}g") if node.get("stroke-width") == "3")
    assert len(thick) == 1
    assert height(svg) > height(plain), "room for the legend"


def height(svg):
    return int(ElementTree.fromstring(svg).get("height"))


def test_long_graphs_are_cut_into_columns_where_one_tensor_goes_on():
    """A column begins with what the one before ends with; skips stay inside a column."""
    network = chain(90, skips=3)
    svg = graph_svg(network)
    assert height(svg) < 1900
    drawn = texts(svg)
    ends = [name for name in network.by_name if f"{name} 8x8" in drawn]
    assert len(ends) == svg.count("stroke-dasharray") > 1
    assert all(name.startswith("a") for name in ends)


def test_a_skip_over_all_keeps_a_graph_in_one_column():
    """There is no place where one tensor alone goes on."""
    network = chain(60)
    last = Operation("end", "add", ("m59", "m0"), (8, 8))
    assert "stroke-dasharray" not in graph_svg(replace(network, operations=(last,)))


@pytest.mark.parametrize("network", [chain(500), chain(400, 4), Network("n", ((MATMUL, 1),) * 500)], ids=str)
def test_500_nodes_take_less_than_two_seconds(network):
    began = time.perf_counter()
    graph_svg(network)
    assert time.perf_counter() - began < 2


# the texts that reach out of the box before them, or out of the picture
OUTSIDE = """
JSON.stringify([...document.querySelectorAll("text")].filter(text => {
  const frame = text.parentNode.querySelector(":scope > title ~ rect") ?? document.documentElement;
  const [inner, outer] = [text.getBoundingClientRect(), frame.getBoundingClientRect()];
  return inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom;
}).map(text => text.textContent))
"""
OPS = ("relu", "add", "softmax")


@st.composite
def graphs(draw):
    """Any graph of up to 30 nodes, as nodes."""
    nodes = []
    for number in range(draw(st.integers(1, 30))):
        kind = draw(st.sampled_from([Kind.LAYER, Kind.OPERATION, Kind.PASSING, Kind.INPUT]))
        earlier = [node.name for node in nodes[-6:]] + [node.name for node in nodes[:2]]
        reads = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=4)) if earlier else []
        name = draw(st.sampled_from(["n", "a_longer_name_", "a_name_that_is_much_too_long_for_its_box_"])) + str(number)
        what = draw(st.sampled_from(OPS)) if kind is not Kind.INPUT else ""
        reads = () if kind is Kind.INPUT else tuple(dict.fromkeys(reads))
        nodes.append(Node(name, kind, what, (draw(st.integers(1, 2000)), 56), reads, count=draw(st.integers(1, 40))))
    return nodes


def boxes_of(layout):
    return {
        name: (box.x - box.label.width / 2, box.top, box.x + box.label.width / 2, box.bottom)
        for name, box in layout.boxes.items()
    }


def points(path):
    """Points along a path of M, V and C."""
    x = y = 0.0
    for command, arguments in re.findall(r"([MVC])([^MVC]*)", path):
        values = [float(value) for value in arguments.split()]
        if command == "M":
            x, y = values
        elif command == "V":
            yield from ((x, y + (values[0] - y) * step / 8) for step in range(9))
            y = values[0]
        else:
            corners = [(x, y), *zip(values[::2], values[1::2], strict=True)]
            for step in range(9):
                t = step / 8
                weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
                yield tuple(sum(w * c[axis] for w, c in zip(weights, corners, strict=True)) for axis in (0, 1))
            x, y = corners[-1]


@given(graphs())
def test_nothing_lies_on_anything(nodes):
    """Any graph: boxes are apart and below what they read, edges are drawn from box to box, beside all others."""
    for part in linked(nodes):
        (column,) = cut_into_columns(part)
        layout = Layout(column, labels(column))
        boxes = list(boxes_of(layout).items())
        for number, (_, (left, top, right, bottom)) in enumerate(boxes):
            assert left >= -0.1
            assert right <= layout.width + 0.1
            assert all(
                right < other[0] or other[2] < left or bottom < other[1] or other[3] < top
                for _, other in boxes[number + 1 :]
            )
        assert set(layout.routes) == {(read, node.name) for node in part for read in node.reads}
        for maker, reader in layout.routes:
            way = list(points(layout.path(maker, reader)))
            for (x, y), name in ((way[0], maker), (way[-1], reader)):
                left, top, right, bottom = dict(boxes)[name]
                assert left <= x <= right
                assert y == pytest.approx(bottom if name == maker else top, abs=0.1)
            assert all(before[1] <= after[1] + 1e-6 for before, after in zip(way, way[1:], strict=False))
            assert not [
                name for x, y in way for name, box in boxes if box[0] < x < box[2] and box[1] + 0.1 < y < box[3] - 0.1
            ]


@pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome is installed")
@pytest.mark.parametrize("network", [ROOT / "experiments/groups/mobilenet_v2.yaml", "resnet50", "long names"])
def test_texts_have_room_in_a_browser(network, tmp_path):
    """By the font that is there: every text within its box and the picture; nothing else is asked for."""
    named = replace(MATMUL, name="a_name_of_a_layer.that_is_much.too_long_for_its_box")
    network = Network("n", ((named, 1_000_000),)) if network == "long names" else load_workload(network)
    layers = [layer.name for layer, _ in network.layers]
    (tmp_path / "graph.svg").write_text(graph_svg(network, [layers[:2], layers[2:]]), encoding="utf-8")
    page = Page(BROWSER, tmp_path / "browser")
    try:
        page.open(tmp_path / "graph.svg")
        assert page.js(OUTSIDE) == "[]"
        assert page.faults() == []
    finally:
        page.close()


def test_every_operator_has_a_drawing():
    """Those that move nothing as text, the others in rounded boxes."""
    operations = tuple(Operation(name, name, ("m0",), (8, 8)) for name in OPERATORS)
    drawn = texts(graph_svg(replace(chain(1), operations=operations)))
    assert set(OPERATORS) <= set(drawn)
