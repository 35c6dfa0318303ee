"""report.html: its data, and the page itself in a headless browser, where one is found."""

import base64
import re
from collections import Counter

import pytest
from ruby_map.mapper import SearchOptions, explore, result_json, sweep
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.sweeps import page as sweep_report
from ruby_map.mapper.sweeps.page import report_html
from ruby_map.mapper.sweeps.store import FOUND, PointOutcome

from ..browser import MIDDLE, data_of, opened_browser

SWEEP = """
name: "</script><b>report"
architecture: toy_6pe_linear
parameters: {levels.GLB.fanout.PE.size: [2, 3, 5, 6]}
workloads: [rank1_100, ./net.yaml]
mapspaces: [pfm, ruby-s]
seeds: [0, 1]
search: {strategy: random, samples: 40}
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A sweep and the path of its report."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "net.yaml").write_text("layers: [{layer: rank1_100, count: 2}]\n")
    (folder / "sweep.yaml").write_text(SWEEP)
    found = sweep(folder / "sweep.yaml")
    path = folder / "report.html"
    path.write_text(report_html(found))
    return found, path


def test_the_page_holds_every_design_and_its_energy_adds_up(report):
    """One entry per design, workload and mapspace; by layer, cycles and energies add up to those of the best seed."""
    found, path = report
    data = data_of(path)
    assert len(data["designs"]) == 4 * 2 * 2
    assert data["sweep"] == found.plan.name
    scale = {"pJ": 1, "nJ": 1e3, "\N{MICRO SIGN}J": 1e6}[data["energy_unit"]]
    for design in data["designs"]:
        best = min(
            (outcome.result for number, outcome in found.outcomes.items() if same(found.plan.point(number), design)),
            key=lambda result: result["edp"],
        )
        total = sum(sum(layer["energy"]) for layer in design["layers"]) * scale
        assert total == pytest.approx(best["energy_pj"])
        assert sum(layer["cycles"] for layer in design["layers"]) == best["cycles"]


def test_network_and_leakage_stand_beside_the_levels():
    """Of a point that counts them, each under its own name; together they are the whole."""
    options = Charges(leakage=True, hop_pj=1.0)
    found = explore(
        "eyeriss_like", "alexnet/conv5", options=SearchOptions(strategy="random", samples=300), costs=options
    )
    (layer,) = sweep_report._layers(PointOutcome(FOUND, result_json(found)))
    assert list(layer["energy"])[-3:] == ["MACs", "network", "leakage"]
    assert sum(layer["energy"].values()) == pytest.approx(found.energy_pj)
    assert layer["energy"]["leakage"] == pytest.approx(found.costs.leak_energy_pj[0], rel=1e-3)


def same(point, design):
    return (point.design, point.workload, point.mapspace) == (design["design"], design["workload"], design["mapspace"])


def test_the_page_asks_for_nothing_outside_itself(report):
    """No address, no import, and a policy that forbids any."""
    text = report[1].read_text()
    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)\s*=\s*"', text)
    assert set(re.findall(r"https?://[^\"'\s]+", text)) <= {"http://www.w3.org/2000/svg"}


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    for page in opened_browser(tmp_path_factory):
        page.open(report[1])
        yield page


MARKS = "document.querySelectorAll('#plot .mark')"


def test_the_page_draws_every_design_without_an_error(page, report):
    """A mark per design of the first workload, a frontier line per mapspace, rows in the tables; a title as text."""
    assert page.js(f"{MARKS}.length") == 8
    assert page.js("document.querySelectorAll('#plot g path[stroke-width=\"2\"]').length") == 2
    assert page.js("document.querySelectorAll('#points tbody tr').length") == 8
    assert page.js("document.querySelectorAll('#fronts tbody tr').length") == 3
    assert page.js("document.getElementById('title').textContent") == report[0].plan.name
    assert page.faults() == []


def test_hovering_names_the_configuration(page):
    """The tooltip tells design, parameters and figures, and goes when the mouse does."""
    x, y = page.js(f"{MIDDLE}({MARKS}[7])")
    page.mouse("mouseMoved", x, y)
    told = page.js("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    assert re.match(r"size [2356]; (pfm|ruby-s)\nlevels.GLB.fanout.PE.size = [2356]\narea [\d.e-]+ mm", told)
    assert "2 seeds; on the frontier in" in told
    page.mouse("mouseMoved", 5, 5)
    assert page.js("document.getElementById('tip').hidden") is True


def test_the_wheel_zooms_around_the_mouse_and_the_button_goes_back(page):
    """Marks move apart, the one under the mouse stays; the whole plot comes back."""
    places = f"[...{MARKS}].map({MIDDLE})"
    before = page.js(places)
    x, y = before[7]
    page.mouse("mouseMoved", x, y)
    assert page.js("document.getElementById('tip').hidden") is False
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    after = page.js(places)
    assert page.js("document.getElementById('tip').hidden") is True
    assert after[7] == pytest.approx([x, y], abs=1.5)
    far = max(range(8), key=lambda i: abs(before[i][0] - x))
    assert abs(after[far][0] - x) > 1.1 * abs(before[far][0] - x)
    page.js("document.getElementById('reset').click()")
    assert page.js(places) == before


def test_filters_leave_what_is_asked_for(page):
    """A mapspace unticked is gone from plot and tables; the other workload has its own."""
    page.js("document.querySelector('#mapspaces input').click()")
    assert page.js(f"{MARKS}.length") == 4
    rows = page.js("[...document.querySelectorAll('#points tbody tr')].map(row => row.children[2].textContent)")
    assert Counter(rows) == {"ruby-s": 4}
    page.js("document.querySelector('#mapspaces input').click()")
    assert page.js(f"{MARKS}.length") == 8
    choose = "(name => { const s = document.getElementById('workload'); s.value = name; s.onchange({target: s}); })"
    page.js(f"{choose}('./net.yaml')")
    assert page.js("document.querySelector('#layers tbody td:nth-child(2)').textContent") == "2"
    heads = page.js("[...document.querySelectorAll('#layers th')].slice(3).map(head => head.textContent)")
    assert heads[0] == "cycles \N{MULTIPLICATION SIGN} count"
    assert all(head.endswith("J] \N{MULTIPLICATION SIGN} count") for head in heads[1:])
    page.js(f"{choose}('rank1_100')")


def test_a_click_shows_the_energy_by_layer(page):
    """Bars and a table of the design that was clicked on, marked in plot and table."""
    x, y = page.js(f"{MIDDLE}({MARKS}[7])")
    page.click(x, y)
    assert page.js("document.querySelectorAll('#points tr.chosen').length") == 1
    assert page.js("document.querySelectorAll('#layers tbody tr').length") == 1
    assert page.js("document.querySelectorAll('#bars rect title').length") >= 3
    assert page.js("document.getElementById('chosen').textContent").startswith("design ")


def test_of_three_axes_any_two_are_drawn_and_the_third_is_named(page, report, tmp_path):
    """Two axes have no choice; of three the selectors put each along x or y, and the note names the one left out."""
    assert page.js("document.getElementById('axes').hidden") is True
    assert "not drawn" not in page.js("document.getElementById('legend').textContent")
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace(", ./net.yaml", "") + "pareto: [area, energy, delay]\n")
    (tmp_path / "report.html").write_text(report_html(sweep(tmp_path / "sweep.yaml")))
    page.open(tmp_path / "report.html")
    assert page.js("document.getElementById('axes').hidden") is False
    shown = "[...document.querySelectorAll('#plot > text')].slice(-2).map(text => text.textContent.split(' ')[0])"
    for side, axis, wanted in (("y", 2, ["area", "delay"]), ("x", 2, ["delay", "area"]), ("y", 1, ["delay", "energy"])):
        page.js(f"(s => {{ s.value = {axis}; s.onchange({{target: s}}); }})(document.getElementById('{side}'))")
        assert page.js(shown) == wanted
        (third,) = {"area", "energy", "delay"} - set(wanted)
        assert f"of all 3 axes; {third} is not drawn" in page.js("document.getElementById('legend').textContent")
        values = page.js(
            "[document.getElementById('x'), document.getElementById('y')].map(s => data.axes[s.value].name)"
        )
        assert values == wanted
    heights = f"(n => [...{MARKS}].map({MIDDLE}).map(place => place[n]))"
    middles = page.js("shown().sort((a, b) => a.front - b.front).map(one => one.middle)")
    for n, axis, sign in ((0, 2, 1), (1, 1, -1)):  # marks stand in the order of the figures on the chosen axes
        places = page.js(f"{heights}({n})")
        order = sorted(range(len(middles)), key=lambda i: (sign * middles[i][axis], places[i]))
        assert [places[i] for i in order] == pytest.approx(sorted(places), abs=0.01)
    page.open(report[1])


def test_many_parameters_leave_the_table_a_line_per_design(page, report, tmp_path):
    """Short heads with the path behind them, what is given once above, no cell broken; equal marks inside others."""
    (tmp_path / "sweep.yaml").write_text("""
architecture: toy_6pe_linear
parameters:
  levels.GLB.read_bandwidth: [40, 80]
  levels.DRAM.read_bandwidth: [40, 80]
  levels.GLB.fanout.PE.size: 6
linked: [{levels.GLB.write_bandwidth: [40, 80], levels.DRAM.write_bandwidth: [40, 80]}]
workloads: [rank1_100]
mapspaces: [pfm, ruby-s]
seeds: [0, 1]
search: {strategy: random, samples: 40}
""")
    (tmp_path / "report.html").write_text(report_html(sweep(tmp_path / "sweep.yaml")))
    page.open(tmp_path / "report.html")
    heads = page.js("[...document.querySelectorAll('#points th')].map(head => head.textContent)")
    assert heads[1:4] == ["GLB.read_bandwidth", "DRAM.read_bandwidth", "GLB.write_bandwidth, DRAM.write_bandwidth"]
    assert page.js("document.querySelectorAll('#points th')[1].title") == "levels.GLB.read_bandwidth"
    assert page.js("document.getElementById('once').textContent") == "in every design: levels.GLB.fanout.PE.size 6"
    heights = page.js("[...document.querySelectorAll('#points tbody tr')].map(row => row.offsetHeight)")
    assert len(heights) == 16
    assert max(heights) < 30  # pixels: one line
    sizes = page.js(
        f"[...{MARKS}].map(mark => [mark.tagName, mark.getBoundingClientRect().width, mark.getAttribute('opacity')])"
    )
    for opacity in {opacity for *_, opacity in sizes}:
        circles = [width for tag, width, same in sizes if (tag, same) == ("circle", opacity)]
        squares = [width for tag, width, same in sizes if (tag, same) == ("rect", opacity)]
        assert not circles or not squares or min(circles) > 1.2 * max(squares)
    page.open(report[1])


def test_nothing_went_wrong_and_nothing_was_fetched(page):
    """After all of it: no console message, no exception, no request but for the page."""
    assert page.faults() == []
    assert base64.b64decode(page.call("Page.captureScreenshot")["data"])[:4] == b"\x89PNG"
