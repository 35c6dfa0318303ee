"""How results show themselves: text and tables, data frames that add up, pictures by name and on given axes."""

import importlib.util
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper import NetworkResult, SearchOptions, evaluate, explore, sweep
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.report import show
from ruby_map.mapper.report.tables import TextTable
from ruby_map.workloads import InputError, Workload, load_workload

needs_pandas = pytest.mark.skipif(
    importlib.util.find_spec("pandas") is None, reason="pandas is not installed: pip install 'ruby-map[pandas]'"
)
SWEEP = """
architecture: toy_6pe_linear
parameters: {levels.GLB.fanout.PE.size: [2, 3, 6]}
workloads: [rank1_100]
mapspaces: [pfm, ruby-s]
search: {strategy: random, samples: 40}
"""
LEAKY = Charges(leakage=True, wire_pj_per_bit_mm=0.1, tile_mm=0.5)


@pytest.fixture(scope="module")
def layer():
    """A layer with a front; leakage and network counted."""
    options = SearchOptions(strategy="random", samples=3000, front="energy,delay")
    return explore("eyeriss_like", "alexnet/conv2", "ruby-s", options, costs=LEAKY)


@pytest.fixture(scope="module")
def network(layer):
    """Two layers, one of them twice."""
    problem = replace(layer.problem, workload=replace(layer.workload, name="other"))
    return NetworkResult("two", ((layer, 1), (replace(layer, problem=problem), 2)))


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Three designs in two mapspaces."""
    path = tmp_path_factory.mktemp("sweep") / "sizes.yaml"
    path.write_text(SWEEP)
    return sweep(path)


@pytest.fixture(scope="module")
def nothing():
    """A layer for which there is no room."""
    arch = load_arch("eyeriss_like")
    levels = tuple(replace(level, capacity_bits=1) if level.name == "psum_spad" else level for level in arch.levels)
    return explore(
        replace(arch, levels=levels), "alexnet/conv2", "ruby-s", SearchOptions(strategy="random", samples=100)
    )


class Cells(HTMLParser):
    """The words of a page in turn; ends that match their beginnings."""

    def __init__(self, page):
        super().__init__()
        self.words, self.open, self.tags = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data.split()


def test_a_notebook_shows_what_is_printed(layer, network, swept, nothing):
    """The same words in the same order, but for heads of two lines; tables as tables."""
    for result, tables in ((layer, 2), (network, 4), (swept, 3), (nothing, 0)):
        page, words = Cells(result._repr_html_()), re.sub("─+", " ", str(result)).split()
        assert sorted(page.words) == sorted(words)
        assert page.words == words or result is network
        assert page.tags.count("table") == tables


def test_what_a_user_wrote_is_no_tag():
    """Names are escaped."""
    page = TextTable(["<level>", "n"], [["<b>", "1 & 2"]], left=(0,), title="</table>").html()
    assert "<b>" not in page
    assert Cells(page).words == ["</table>", "<level>", "n", "<b>", "1", "&", "2"]


def test_a_result_names_itself_in_a_line(layer, network, swept, nothing):
    """What an interpreter echoes: no arrays, one line."""
    assert repr(layer) == f"<Result conv2 on eyeriss_like: EDP {layer.edp:.4g} pJ cycles>"
    assert repr(network) == f"<NetworkResult two on eyeriss_like, 2 layers: EDP {network.edp:.4g} pJ cycles>"
    assert repr(swept) == f"<SweepResult {str(swept).splitlines()[0]}>"
    assert repr(nothing) == "<Result conv2 on eyeriss_like: no valid mapping found>"


@needs_pandas
def test_the_frame_of_a_layer_adds_up(layer):
    """A row per level and tensor kept, and for MACs, leakage and network: their energies are that of the result."""
    frame = layer.to_pandas()
    assert frame.energy_pj.sum() == pytest.approx(layer.energy_pj, rel=1e-12)
    assert list(frame.level)[-3:] == ["MAC", "leakage", "network"]
    kept = frame.dropna(subset="tensor")
    assert len(kept) == layer.batch.keep.sum()
    counts = layer.costs.counts
    for name in ("reads", "fills", "updates", "tile_words"):
        assert kept[name].dtype == "Int64"
        assert kept[name].sum() == getattr(counts, name)[0][layer.batch.keep[0]].sum()


@needs_pandas
def test_the_frame_of_a_network_adds_up(network):
    """A row per layer, its figures times its count are the totals."""
    frame = network.to_pandas()
    assert list(frame.layer) == ["conv2", "other"]
    assert (frame.energy_pj * frame["count"]).sum() == pytest.approx(network.energy_pj)
    assert (frame.cycles * frame["count"]).sum() == network.cycles
    assert set(frame.bound_by) == {"compute"}


@needs_pandas
def test_the_frame_of_a_network_leaves_gaps_where_nothing_was_found(layer, nothing):
    """A layer without a mapping has its row without costs."""
    frame = NetworkResult("two", ((layer, 1), (nothing, 1))).to_pandas()
    assert frame.edp.isna().tolist() == [False, True]
    assert frame.valid.tolist()[1] == 0


@needs_pandas
def test_the_frame_of_a_sweep_has_a_row_per_point(swept):
    """Parameters as columns, figures those of the points."""
    frame = swept.to_pandas()
    assert len(frame) == swept.plan.points == 6
    assert frame["levels.GLB.fanout.PE.size"].tolist() == [2, 2, 3, 3, 6, 6]
    assert frame.edp.tolist() == [outcome.result["edp"] for outcome in swept.outcomes.values()]


def test_a_network_prints_the_front_of_each_layer(layer, network):
    """A table per layer, in which the mapping reported is marked; of one layer too."""
    marked = [line for line in str(layer).splitlines() if line.endswith("reported")]
    assert len(marked) == 1
    assert f"{layer.cycles:,.0f}" in marked[0]
    assert f"{layer.energy_pj:.6g}" in marked[0]
    titles = [part.title for part in network._parts() if isinstance(part, TextTable)]
    assert titles[2:] == ["front of conv2", "front of other"]
    assert str(network).count(marked[0]) == 2


@needs_pandas
def test_without_a_mapping_there_is_no_frame(nothing):
    """Said as the pictures say it."""
    with pytest.raises(InputError, match="to_pandas: no valid mapping of conv2 was found"):
        nothing.to_pandas()


def test_without_pandas_the_extra_is_named(layer, monkeypatch):
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"need the package pandas: pip install 'ruby-map\[pandas\]'"):
        layer.to_pandas()


@pytest.fixture(scope="module")
def best():
    """The best of three designs, and what is beside it."""
    space = {"architecture": "linear_5", "parameters": {"pes": [2, 3, 5]}, "workloads": ["rank1_100"]}
    return sweep(space | {"minimize": "edp", "sensitivity": True})


def test_every_picture_is_drawn_and_shows_itself(layer, network, swept, best):
    """By name; a notebook gets a PNG."""
    without = (network, "front"), (swept, "tornado")
    for result in (layer, network, swept, best):
        for what in [name for name in show._RENDERERS[type(result)] if (result, name) not in without]:
            picture = result.plot(what)
            assert picture._repr_png_().startswith(b"\x89PNG")
            assert all(axes.get_xlabel() or axes.get_ylabel() for axes in picture.axes), what


@pytest.fixture(scope="module")
def eight():
    """The eight layers of AlexNet."""
    return explore("eyeriss_like", "alexnet", options=SearchOptions(strategy="random", samples=400))


def test_a_convergence_names_its_layers(eight):
    """Up to seven layers have a colour and a name each; of more the five slowest, and how many others there are."""
    seven = replace(eight, layers=eight.layers[:7])
    (axes,) = seven.plot("convergence").axes
    names = [layer.workload.name for layer, _ in seven.layers]
    assert axes.get_legend_handles_labels()[1] == names
    assert len({line.get_color() for line in axes.lines}) == 7
    (axes,) = eight.plot("convergence").axes
    told = axes.get_legend_handles_labels()[1]
    assert (len(axes.lines), len(told), told[0]) == (8, 6, "3 other layers")
    late = [next(n for n, value in layer.statistics.trace if value <= 1.1 * layer.statistics.trace[-1][1])
            for layer, _ in eight.layers]  # fmt: skip
    shown = [late[i] for i, (layer, _) in enumerate(eight.layers) if layer.workload.name in told]
    assert sorted(shown) == sorted(late)[-5:]


def test_a_roofline_is_legible(eight):
    """No number lies on another, on a point, on the roof or its label, and the points fill the height."""
    from matplotlib.text import Text

    figure = eight.plot("roofline")
    (axes,) = figure.axes
    figure.draw_without_rendering()
    numbers = [text for text in axes.texts if text.get_text().isdigit()]
    boxes = [Text.get_window_extent(text) for text in numbers]  # without leaders
    (label,) = [text for text in axes.texts if text.get_text().endswith("MACs per cycle")]
    boxes.append(label.get_window_extent())
    assert len(boxes) == 9
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    roof = axes.transData.transform((1, 168))[1]
    assert not any(box.y0 < roof < box.y1 for box in boxes)
    spots = [axes.transData.transform(text.xy) for text in numbers]
    assert not any(box.contains(*spot) for box in boxes for spot in spots)
    assert label.get_window_extent().x1 > axes.get_window_extent().x1 - 5
    low, high = axes.get_ylim()
    assert low * 3 > min(text.xy[1] for text in numbers) > low
    assert high < 3 * 168


def test_pictures_take_given_axes(layer, swept):
    """Several on one figure; a second result adds its line to those there."""
    from matplotlib.figure import Figure

    figure = Figure()
    ours = figure.subplots(1, 3)
    assert layer.plot("energy", ours[0]) is figure
    swept.plot("pareto", ours[2])
    for mapspace in ("pfm", "ruby-s"):
        replace(layer, search=replace(layer.search, mapspace=mapspace)).plot("convergence", ours[1])
    labels = [label.split(":")[0] for label in ours[1].get_legend_handles_labels()[1]]
    assert labels == ["pfm", "ruby-s"]
    assert len({line.get_color() for line in ours[1].get_lines()}) == 2


def test_leakage_and_network_are_in_the_picture(layer, network):
    """The bars add up to the energy in the title, of a layer and of a network."""
    for result in (layer, network):
        (axes,) = result.plot("energy").axes
        unit = {"mJ": 1e9, "\N{MICRO SIGN}J": 1e6}[axes.get_xlabel().split("[")[1].rstrip("]")]
        assert sum(bar.get_width() for bar in axes.patches) * unit == pytest.approx(result.energy_pj)
        assert "leakage" in axes.get_legend_handles_labels()[1]


def test_a_picture_that_a_result_does_not_have_is_refused(layer, network, nothing, swept):
    """Misspelled; not asked for; nothing found: the message says which."""
    given = evaluate("eyeriss_like", "alexnet/conv2", layer)
    without = replace(layer.problem, goal=replace(layer.problem.goal, front=()))
    plain = replace(layer, front=(), problem=without)
    for result, what, why in (
        (layer, "enrgy", 'must be one of energy, convergence, usage, roofline, front; got "enrgy".*"energy"'),
        (network, "frond", 'must be one of energy, cycles, convergence, roofline, front; got "frond"'),
        (network, "front", r'"front" cannot be drawn: each layer has a front of its own: layers\[0\]\[0\].plot'),
        (given, "convergence", '"convergence" cannot be drawn: this mapping was not searched for'),
        (plain, "front", r'"front" cannot be drawn: no front was asked for, as SearchOptions\(front='),
        (nothing, "usage", '"usage" cannot be drawn: no valid mapping was found'),
        (replace(swept, outcomes={}), "pareto", "no point has a mapping"),
    ):
        with pytest.raises(InputError, match=why):
            result.plot(what)


def test_axes_hold_one_workload_of_a_sweep(swept):
    """Two workloads need two panels."""
    from matplotlib.figure import Figure

    layer = load_workload("rank1_100")
    assert isinstance(layer, Workload)
    both = {"a": layer, "b": layer}
    outcomes = dict(enumerate([*swept.outcomes.values()] * 2))
    doubled = replace(swept, plan=replace(swept.plan, workloads=both), outcomes=outcomes)
    assert len(doubled.plot("pareto").axes) == 2
    with pytest.raises(InputError, match="hold one workload, and there are 2: a, b"):
        doubled.plot("pareto", Figure().add_subplot())
