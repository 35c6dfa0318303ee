"""report.html in a headless browser: the filter, the selection in all views, bounds of what was not searched, links."""

import pytest
from ruby_map.mapper import sweep
from ruby_map.mapper.sweeps.unsearched import unsearched_json

from ..browser import MIDDLE, opened_browser

HOSTILE = "</script><img onerror=document.title=1 src=x>.yaml"
SWEEP = f"""
name: views
architecture: toy_6pe_linear
parameters:
  levels.GLB.fanout.PE.size: [2, 3, 5, 6]
  levels.GLB.read_bandwidth: [2, 40]
  levels.GLB.bypass: [[], [Inputs]]
workloads: [rank1_100, "./{HOSTILE}"]
mapspaces: [pfm, ruby-s]
seeds: [0, 1]
search: {{strategy: random, samples: 40}}
"""
DESIGNED = """
name: designed
architecture: toy_6pe_linear
parameters: {levels.GLB.fanout.PE.size: [1, 2, 3, 4, 5, 6], levels.GLB.read_bandwidth: [1, 2, 40]}
workloads: [rank1_100]
minimize: edp * area_mm2
"""
MARKS = "document.querySelectorAll('#plot .mark')"
BOX = "(node => { const box = node.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; })"
TABLE = "[...document.querySelectorAll('#points tbody tr')].map(row => [...row.children].map(cell => cell.textContent))"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    yield from opened_browser(tmp_path_factory)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The results of a sweep, and of one that a designer made."""
    folder = tmp_path_factory.mktemp("views")
    for name, text in (("grid", SWEEP), ("designed", DESIGNED)):
        (folder / name).mkdir()
        (folder / name / "sweep.yaml").write_text(text)
    (folder / "grid" / HOSTILE.partition("/")[0]).mkdir()
    (folder / "grid" / HOSTILE).write_text("layers: [{layer: rank1_100, count: 2}]\n")
    for name in ("grid", "designed"):
        sweep(folder / name / "sweep.yaml", folder / name / "out")
    return folder


@pytest.fixture
def grid(page, folder):
    page.open(folder / "grid/out/report.html")
    yield page
    assert page.faults() == []


@pytest.fixture
def designed(page, folder):
    page.open(folder / "designed/out/report.html")
    yield page
    assert page.faults() == []


def drag(page, start, end, **more):
    page.mouse("mousePressed", *start, button="left", clickCount=1, **more)
    for share in (0.3, 0.6, 1.0):
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        page.mouse("mouseMoved", x, y, button="left", buttons=1, **more)
    page.mouse("mouseReleased", *end, button="left", clickCount=1, **more)


def press(page, name, times=1):
    page.js(f"document.querySelector('[aria-label=\"{name}\"]').focus()")
    for _ in range(times):
        page.key("ArrowRight" if name.endswith("least") else "ArrowLeft")


def test_a_filter_drops_designs_from_plot_and_table(grid):
    """Handles by keyboard, boxes for what is no number; the count says what is left, and a button brings all back."""
    assert grid.js(f"{MARKS}.length") == 4 * 2 * 2 * 2
    assert grid.js("at('left').textContent") == "16 of 16 designs shown"
    labels = grid.js("[...document.querySelectorAll('.range input')].map(box => box.getAttribute('aria-label'))")
    path = "levels.GLB.fanout.PE.size"
    assert labels[:2] == [f"{path} at least", f"{path} at most"]
    press(grid, f"{path} at least")
    press(grid, f"{path} at most")
    assert grid.js("document.querySelector('#filters legend').textContent") == "size: 3 to 5"
    assert grid.js("document.querySelector('.range input').getAttribute('aria-valuetext')") == "3"
    assert grid.js("at('left').textContent") == "8 of 16 designs shown"
    assert grid.js(f"{MARKS}.length") == 16
    assert {row[1] for row in grid.js(TABLE)} == {"3", "5"}
    press(grid, f"{path} at least", 3)  # handles do not pass each other
    assert grid.js("document.querySelector('#filters legend').textContent") == "size: 5"
    grid.js("document.querySelector('.choices input').click()")
    assert {(row[1], row[3]) for row in grid.js(TABLE)} == {("5", "['Inputs']")}
    assert grid.js("at('left').textContent") == "2 of 16 designs shown"
    grid.js("document.querySelector('.choices input:not(:checked)').click()")
    grid.js("at('all').click()")
    assert grid.js(f"{MARKS}.length") == 32
    assert grid.js("at('all').disabled") is True


def test_the_frontier_of_what_the_filter_leaves_is_drawn_anew(grid):
    """Thin lines through the designs that no other dominates of those that are left."""
    path = "document.querySelector('#plot path.frontier')"
    before = grid.js(f"{path}.getAttribute('d')")
    assert grid.js(f"{path}.getAttribute('stroke-width')") == "2"
    press(grid, "levels.GLB.fanout.PE.size at most", 2)
    assert grid.js(f"{path}.getAttribute('stroke-width')") == "1.2"
    assert grid.js(f"{path}.getAttribute('d')") != before
    assert "which the filter leaves" in grid.js("at('legend').textContent")
    assert grid.js("at('of_all').hidden") is False


def test_a_rectangle_in_the_plot_selects_in_all_views(grid):
    """With the button, or with Shift; the lines of others are pale, their rows last; Escape drops it."""
    x, y, width, height = grid.js(f"{BOX}(at('plot'))")
    corners = (x + 0.5 * width, y + 0.03 * height), (x + 0.97 * width, y + 0.85 * height)
    before = grid.js("JSON.stringify(view)")
    grid.js("at('select').click()")
    drag(grid, *corners)
    count = grid.js(f"[...{MARKS}].filter(mark => mark.classList.contains('picked')).length")
    others = grid.js(f"[...{MARKS}].filter(mark => mark.classList.contains('off')).length")
    assert 0 < count < 32
    assert count + others == 32
    assert grid.js("JSON.stringify(view)") == before  # it did not move
    assert grid.js("at('picked').textContent").endswith(" designs selected")
    boxes = "document.querySelectorAll('#parallel rect.box[visibility=visible]').length"
    assert grid.js(boxes) == 2  # area and EDP
    off = grid.js("[...document.querySelectorAll('#points tbody tr')].map(row => row.classList.contains('off'))")
    assert off == sorted(off)
    assert sum(off) == others
    grid.key("Escape")
    assert grid.js("brushes.size") == 0
    grid.js("at('select').click()")
    drag(grid, *corners, modifiers=8)
    assert grid.js(f"[...{MARKS}].filter(mark => mark.classList.contains('picked')).length") == count
    grid.js("at('clear').click()")
    assert grid.js(f"{MARKS}[0].classList.contains('off')") is False


def test_a_drag_without_a_mode_moves_the_plot(grid):
    """As one group while it is dragged, and drawn anew at the end, at the same places."""
    x, y, width, height = grid.js(f"{BOX}(at('plot'))")
    before = grid.js(f"[...{MARKS}].map({MIDDLE})")
    drag(grid, (x + 0.5 * width, y + 0.1 * height), (x + 0.5 * width + 60, y + 0.1 * height + 30))
    after = grid.js(f"[...{MARKS}].map({MIDDLE})")
    assert grid.js("at('marks').getAttribute('transform')") is None
    for (a, b), (c, d) in zip(before, after, strict=True):
        assert (c - a, d - b) == pytest.approx((60, 30), abs=1)
    assert grid.js("brushes.size") == 0


def test_a_drag_along_an_axis_selects_and_a_click_drops_it(grid):
    """In the parallel coordinates: the lowest values of the first parameter; the plot marks the same designs."""
    x, y, _, height = grid.js(f"{BOX}(at('parallel'))")
    lane = x + 60
    drag(grid, (lane, y + height - 14), (lane, y + height - 60))
    designs = (
        "[...owners].filter(([node]) => node.classList.contains('picked')).map(([, one]) => one.values[varied[0].name])"
    )
    assert set(grid.js(designs)) == {2}
    grid.click(lane, y + height / 2)
    assert grid.js("brushes.size") == 0
    grid.js("window.scrollTo(0, document.getElementById('strips').offsetTop - 200)")
    left, top, width, tall = grid.js(f"{BOX}(document.querySelector('#strips canvas'))")
    grid.click(left + width - 15, top + tall / 2)  # the last value
    assert set(grid.js(designs)) == {6}
    grid.js("window.scrollTo(0, 0)")


def test_a_line_under_the_mouse_is_marked_in_the_plot(grid):
    """And tells its configuration; a click chooses its design."""
    x, y, _, _ = grid.js(f"{BOX}(at('parallel'))")
    ends = grid.js("line_points(shown()[3], at('parallel').clientWidth, at('parallel').clientHeight).slice(-2)")
    across, down = (sum(pair) / 2 for pair in zip(*ends, strict=True))
    grid.mouse("mouseMoved", x + across, y + down)
    assert grid.js("document.querySelectorAll('#plot .hovered').length") == 1
    assert grid.js("at('tip').textContent").startswith("size ")
    grid.click(x + across, y + down)
    assert grid.js("document.querySelectorAll('#plot .chosen').length") == 1


def test_the_page_of_a_mapping_opens_from_a_file(grid, folder):
    """From the table and from the chosen design, in a tab of its own, which shows the mapping without an error."""
    x, y = grid.js(f"{MIDDLE}({MARKS}[31])")
    grid.click(x, y)
    links = [
        grid.js("document.querySelector('#link a').href"),
        grid.js("document.querySelector('#points tr.chosen a').href"),
    ]
    assert links[0] == links[1]
    assert links[0].startswith((folder / "grid/out/mappings").as_uri())
    grid.js("document.querySelector('#link a').click()")
    tabs = grid.call("Target.getTargets")["targetInfos"]
    assert links[0] in {tab["url"] for tab in tabs}
    grid.open(folder / "grid/out" / links[0].partition("/out/")[2])
    assert grid.js("document.querySelectorAll('#nest div').length") > 2
    assert "design" in grid.js("document.getElementById('facts').textContent")


def test_hostile_names_stay_text(grid, folder):
    """The name of a workload with markup: in the selector, and on the index of its network."""
    choose = "(s => { s.selectedIndex = 1; s.onchange({target: s}); })(document.getElementById('workload'))"
    grid.js(choose)
    assert grid.js("workload") == f"./{HOSTILE}"
    assert grid.js("document.querySelectorAll('img').length") == 0
    assert grid.js("document.title") == "views"
    link = grid.js("document.querySelector('#link a').href")
    grid.open(folder / "grid/out" / link.partition("/out/")[2])
    assert grid.js("document.querySelectorAll('img').length") == 0
    assert grid.js("document.querySelectorAll('td a').length") == 1


def test_designs_that_were_not_searched_stand_at_their_bounds(designed):
    """A dash each, which says what no mapping is below; none is on a frontier; they go with the box and the filter."""
    dashes = (
        "(path => path ? path.getAttribute('d').split('M').length - 1 : 0)(document.querySelector('#plot .bounds'))"
    )
    count = designed.js("data.unsearched.marks.length")
    assert count > 2
    assert designed.js(dashes) == count
    assert designed.js("at('left').textContent").endswith(f"{count} of {count} not searched")
    assert designed.js("document.querySelectorAll('#unsearched tbody tr').length") == count
    searched = designed.js("data.designs.map(one => one.design)")
    assert not set(searched) & set(designed.js("data.unsearched.marks.map(one => one.design)"))
    left, top, width, _ = designed.js(f"{BOX}(at('plot'))")
    x, y = designed.js("[bound_places.at(-1).x / W, bound_places.at(-1).y / W]")
    designed.mouse("mouseMoved", left + x * width, top + y * width + 2)
    told = designed.js("at('tip').textContent")
    assert "not searched: no mapping is below" in told
    assert "proven not to change the answer" in told
    designed.js("document.querySelector('[aria-label$=\"size at least\"]').focus()")
    designed.key("ArrowRight")
    assert designed.js(dashes) < count
    designed.js("at('bounds').click()")
    assert designed.js(dashes) == 0


def test_a_bound_is_not_above_what_the_design_reaches(folder):
    """Of each design that was left out: searched all the same, its best mapping is not below the mark."""
    found = sweep(folder / "designed/sweep.yaml")
    whole = sweep({"architecture": "toy_6pe_linear", "workloads": ["rank1_100"], "designer": "grid", "parameters": {
        "levels.GLB.fanout.PE.size": [1, 2, 3, 4, 5, 6], "levels.GLB.read_bandwidth": [1, 2, 40]}})  # fmt: skip
    values = {whole.plan.point(number).design: outcome.result["edp"] for number, outcome in whole.outcomes.items()}
    marks = unsearched_json(found)["marks"]
    assert {mark["design"] for mark in marks} | {found.plan.point(n).design for n in found.outcomes} <= set(values)
    assert all(0 < mark["bounds"][0] <= values[mark["design"]] * (1 + 1e-9) for mark in marks)
