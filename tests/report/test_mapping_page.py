"""mapping.html: each step that it shows is the executor's, for any nest; the page itself in a headless browser."""

import json
import re
from dataclasses import replace
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from ruby_map.arch import load_arch, placed
from ruby_map.energy import energy_table, no_energies
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.model import RoundingWarning, evaluate
from ruby_map.mapper.model.figures import Mapped
from ruby_map.mapper.model.simulate import _Nest, _traffic
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.report.mapping_page import mapping_html
from ruby_map.workloads import Workload, load_workload

from ..browser import MIDDLE, opened_browser
from ..conftest import DEEP
from ..strategies import mappings, plain

QUICK = SearchOptions(strategy="random", samples=2000)
FOUR = {
    "convolution": ("eyeriss_like", "resnet50/conv2_x_3x3", "ruby-s"),
    "remainders": ("simba_like", "alexnet/conv1", "ruby"),
    "attention": ("eyeriss_like_free", "bert_base_128/scores", "ruby-s"),
    "depthwise": ("eyeriss_like", "mobilenet_v2/block2_depthwise", "ruby-s"),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    yield from opened_browser(tmp_path_factory)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The four mappings, each with its page."""
    folder, pages = tmp_path_factory.mktemp("four"), {}
    for name, (arch, workload, mapspace) in FOUR.items():
        result = explore(arch, workload, mapspace, QUICK)
        path = folder / f"{name}.html"
        path.write_text(mapping_html(result), encoding="utf-8")
        pages[name] = result, path
    return pages


def result_of(batch):
    """A result for any mapping, of a machine without energies."""
    table = no_energies(batch.arch)
    return Result(Problem(batch.arch, batch.workload, table), Mapped(batch, evaluate(batch, table)))


def boxes(nest, step):
    """Of each element of the array, in nest order, the MAC that the executor does in a step: starts and ends by dim."""
    places = product(*(range(loop.bound) for loop in nest.spatial))
    return [nest.box(nest.temporal, step, nest.spatial, place, nest.levels) for place in places]


def asked(page, code):
    """The value of an expression in the page, by way of JSON."""
    return json.loads(page.js(f"JSON.stringify({code})"))


def shown(page, k):
    found = asked(page, f"places(MACS, 1e6).map(place => box(indicesOf({k}, MACS, whole), place, MACS))")
    return [box and tuple(map(tuple, box)) for box in found]


@settings(max_examples=40 if DEEP else 15)
@given(mappings())
def test_every_step_is_the_executors(browser, tmp_path_factory, batch):
    """Any nest, remainders in time and in space: so many steps, in each the MACs, and into each level the words."""
    path = tmp_path_factory.getbasetemp() / "any.html"
    path.write_text(mapping_html(result_of(batch)), encoding="utf-8")
    browser.open(path)
    nest = _Nest(batch, 10**9)
    steps = list(nest.active_steps(nest.levels))
    assert browser.js("total") == len(steps) == browser.js("data.steps")
    for k in {0, len(steps) // 2, len(steps) - 1}:
        assert tuple(asked(browser, f"indicesOf({k}, MACS, whole)")) == steps[k]
        assert browser.js(f"stepOf(indicesOf({k}, MACS, whole), MACS, whole)") == k
        assert shown(browser, k) == boxes(nest, steps[k])
        assert browser.js(f"workers(indicesOf({k}, MACS, whole))") == sum(
            box is not None for box in boxes(nest, steps[k])
        )
        check_turns(browser, steps, k)
    if len(steps) * prod(loop.bound for loop in nest.spatial) <= 2000:
        check_moves(browser, nest)
    assert browser.faults() == []


def check_turns(page, steps, k):
    """The buttons of a loop lead to where its next round begins, and its own, or the one before."""
    for n in range(len(steps[k])):
        rounds = [i for i, step in enumerate(steps) if i == 0 or step[: n + 1] != steps[i - 1][: n + 1]]
        after = next((i for i in rounds if i > k), k)
        before = max([i for i in rounds if i < k], default=0)
        told = [page.js(f"(go({k}), turn(inTime[{n}], {by}), state.step)") for by in (1, -1)]
        assert told == [after, before]


def check_moves(page, nest):
    """The words new in each instance of a level, summed over all steps, are those that the executor fills it with."""
    for v, tensor in enumerate(nest.workload.tensors):
        keepers = [level for level in range(nest.levels) if nest.keep[level, v]]
        for parent, c in zip(keepers, keepers[1:], strict=False):
            loops = [loop for loop in nest.temporal if loop.level < c]
            axes = [loop for loop in nest.spatial if loop.level < c]
            traffic = _traffic(nest, tensor, parent, c, loops, axes)
            expected = [traffic.filled.get(at, 0) for at in product(*(range(loop.bound) for loop in axes))]
            told = asked(
                page,
                f"places({c}, 1e6).map(place => Array.from({{length: total}}, (_, k) => "
                f"held({v}, {c}, indicesOf(k, MACS, whole), place).fresh).reduce((a, b) => a + b, 0))",
            )
            assert told == expected


@pytest.mark.parametrize("name", FOUR)
def test_the_steps_of_four_mappings_are_the_executors(browser, found, name):
    """Layers of a usual size: as many steps as the model counts, and sampled steps are those of the executor."""
    result, path = found[name]
    browser.open(path)
    assert browser.js("total") == result.cycles == browser.js("data.steps")
    nest = _Nest(result.batch, 10**18)
    for share in (0, 0.37, 0.5, 0.93, 1):
        k = round(share * (result.cycles - 1))
        step = tuple(asked(browser, f"indicesOf({k}, MACS, whole)"))
        assert shown(browser, k) == boxes(nest, step)
    assert browser.faults() == []


def test_uneven_placement_has_a_line_per_tensor(browser, tmp_path):
    """A memory whose tensors sit below different loops is shown at each place, with the counts of the memory."""
    arch = placed(load_arch("eyeriss_like"), "uneven")
    result = explore(arch, "alexnet/conv5", "ruby-s", SearchOptions(strategy="evolve", samples=3000))
    path = tmp_path / "uneven.html"
    path.write_text(mapping_html(result), encoding="utf-8")
    browser.open(path)
    names = asked(browser, "[...document.querySelectorAll('#nest .level')].map(node => node.textContent)")
    assert names == re.findall(r"^ *(\w+ \[.*\])$", str(result), re.MULTILINE)
    assert browser.js("total") == result.cycles
    assert browser.faults() == []


def text(page, selector):
    return page.js(f"document.querySelector({json.dumps(selector)}).textContent")


def press(page, selector):
    page.click(*page.js(f"{MIDDLE}(document.querySelector({json.dumps(selector)}))"))


def test_a_reader_clicks_through_a_mapping(browser, found):
    """Buttons, loops, slider, number and address go to steps; elements are chosen; hovering tells the counts."""
    result, path = found["convolution"]
    browser.open(path, "#7")
    assert browser.js("state.step") == 7
    assert text(browser, "#title").startswith("conv2_x_3x3 (N=1 M=64")
    assert f"{result.cycles:,}" in text(browser, "#facts")
    press(browser, "#next")
    press(browser, "#next")
    press(browser, "#back")
    assert browser.js("state.step") == 8 == int(browser.js("document.getElementById('slider').value"))
    press(browser, "#first")
    assert browser.js("state.step") == 0
    number = browser.js("data.lines.findIndex(line => line.loop === inTime.at(-2)) + 1")  # the last loop but one
    press(browser, f"#nest :nth-child({number}) button:last-child")
    assert browser.js("state.step") == browser.js("inTime.at(-1).bound")  # a whole round of the last
    step = asked(browser, "indicesOf(state.step, MACS, whole)")
    assert asked(browser, "badges.map(badge => +badge.textContent)") == step
    press(browser, f"#nest :nth-child({number}) button")
    assert browser.js("state.step") == 0
    press(browser, "#last")
    assert browser.js("state.step") == result.cycles - 1
    browser.js("at('number').value = 5; at('number').dispatchEvent(new Event('change'))")
    assert browser.js("state.step") == 5
    left, top = browser.js("(({x, y}) => [x, y])(at('array').getBoundingClientRect())")
    x, y = left + 2.5 * browser.js("cell.width"), top + 1.5 * browser.js("cell.height")
    browser.mouse("mouseMoved", x, y)
    assert "on PE_column" in text(browser, "#tip")
    browser.click(x, y)
    chosen = browser.js("elements.findIndex(one => String(one.place) === String(state.place))")
    assert asked(browser, f"[elements[{chosen}].x, elements[{chosen}].y]") == [2, 1]
    x, y = browser.js(f"{MIDDLE}(document.querySelector('#nest .level'))")
    browser.mouse("mouseMoved", x, y)
    counts = result.costs.counts
    assert f"{int(counts.reads[0, 0, 0]):,} reads" in text(browser, "#tip")
    press(browser, "#play")
    assert text(browser, "#play") == "pause"
    press(browser, "#play")
    assert text(browser, "#play") == "play"
    assert browser.faults() == []


def opened(page, result, folder):
    path = folder / "mapping.html"
    path.write_text(mapping_html(result), encoding="utf-8")
    page.open(path)


def test_figures_that_a_script_would_round_are_exact(browser, tmp_path):
    """2^58 steps: counts are the model's, digit by digit; steps without an exact number are named and left out."""
    cube = {"A": 2**20, "B": 2**20, "C": 2**20}
    tensors = (plain("X", "AB"), plain("Y", "BC"), plain("Z", "AC", output=True))
    big = Workload("big", tuple(cube), tuple(cube.values()), tensors)
    with pytest.warns(RoundingWarning):
        result = explore("toy_6pe", big, "pfm", SearchOptions(strategy="random", samples=200))
    opened(browser, result, tmp_path)
    counts, tips = result.costs.counts, asked(browser, "data.levels.map((_, c) => countsText(c))")
    assert f"{int(counts.reads[0, 0, 0]):,} reads" in tips[0]
    assert int(counts.reads[0, 0, 0]) > 2**53
    press(browser, "#last")
    assert browser.js("state.step") == 2**53 - 2
    assert f"; the {result.cycles - 2**53 + 1:,} after these are left out" in text(browser, "#of")
    for k in (2**53 - 2, 2**52 + 1, 12345678901):
        assert browser.js(f"stepOf(indicesOf({k}, MACS, whole), MACS, whole)") == k
    press(browser, "#back")
    assert browser.js("state.step") == 2**53 - 3
    assert browser.faults() == []


def test_all_that_work_are_counted_of_an_array_too_large_to_draw(browser, tmp_path):
    """Of a million elements the first 131,072 are drawn; how many work is told of all."""
    arch = load_arch("toy_6pe")
    axes = tuple(replace(axis, size=1024) for axis in arch.levels[-1].fanout)
    wide = replace(arch, levels=(*arch.levels[:-1], replace(arch.levels[-1], fanout=axes)))
    tensors = (plain("X", "M"), plain("Y", "N"), plain("Z", "MN", output=True))
    outer = Workload("outer", ("M", "N"), (1000, 1000), tensors)
    result = explore(wide, outer, "pfm", SearchOptions(strategy="evolve", objective="delay", samples=3000))
    opened(browser, result, tmp_path)
    assert browser.js("elements.length") == 2**17 < 10**6 / browser.js("total")
    told = asked(browser, "Array.from({length: total}, (_, k) => workers(indicesOf(k, MACS, whole)))")
    assert sum(told) == outer.macs
    press(browser, "#first")
    assert text(browser, "#work").startswith(
        f"{told[0]:,} of 1,048,576 MAC units work; the first 131,072, which are drawn,"
    )
    assert browser.faults() == []


def test_cycles_that_wait_are_told_apart_from_steps(browser, tmp_path):
    """Where a bandwidth or a systolic array takes cycles, the page says how many of them are no steps."""
    slow = load_arch("toy_6pe_linear")
    slow = replace(slow, levels=(replace(slow.levels[0], read_bandwidth=0.5), *slow.levels[1:]))
    result = explore(slow, "rank1_100", "ruby-s", QUICK)
    opened(browser, result, tmp_path)
    total = browser.js("total")
    assert total < result.cycles
    assert f"of these stalled{result.cycles - total:,}" in text(browser, "#facts")


def test_a_long_array_is_seen_and_keys_choose_its_elements(browser, tmp_path):
    """2,560 columns in a page of 1,100 points: rows have a height, the mouse finds them, arrow keys go on."""
    result = explore("tensor_core_like", "gpt2_small_1024/scores", "pfm", SearchOptions(strategy="random", samples=200))
    opened(browser, result, tmp_path)
    left, top, width, height = browser.js(
        "(({x, y, width, height}) => [x, y, width, height])(at('array').getBoundingClientRect())"
    )
    rows, columns = browser.js("rows"), browser.js("columns")
    assert columns == 2560
    assert height >= 100
    assert width <= 1100
    x, y = asked(browser, "elements.map(({x, y}) => [x, y]).sort((a, b) => b[1] - a[1] || b[0] - a[0])[0]")
    browser.click(left + (x + 0.5) / columns * width, top + (y + 0.5) / rows * height)
    chosen = "(({x, y}) => [x, y])(elements.find(one => String(one.place) === String(state.place)))"
    assert abs(asked(browser, chosen)[0] - x) <= columns / width
    assert asked(browser, chosen)[1] == y
    browser.js("(go(0), state.place = inSpace.map(() => 0), at('array').focus())")
    for key, (right, down) in {"ArrowRight": (1, 0), "ArrowDown": (0, 1)}.items():
        line = asked(browser, f"elements.filter(({{x, y}}) => !({down} ? x : y)).map(({{x, y}}) => {down} ? y : x)")
        after = sorted(line)[1]  # columns between may not work
        browser.key(key)
        assert asked(browser, chosen) == [right * after, down * after]
        browser.js("state.place = inSpace.map(() => 0)")
    assert browser.faults() == []


def test_counts_are_told_without_a_mouse(browser, found):
    """Tab reaches the levels and tiles, which tell their counts; Escape hides them."""
    result, path = found["convolution"]
    browser.open(path)
    browser.key("Tab")
    assert f"{int(result.costs.counts.reads[0, 0, 0]):,} reads" in text(browser, "#tip")
    browser.key("Escape")
    assert browser.js("at('tip').hidden")


@pytest.mark.parametrize("width", [320, 400, 760])
def test_a_narrow_window_needs_no_scrolling_sideways(browser, found, width):
    """Everything is within the window, at the widths of telephones and of half a screen."""
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=True)
    try:
        browser.open(found["remainders"][1])
        assert browser.js("document.documentElement.scrollWidth") <= width
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")


def test_the_page_asks_for_nothing_outside_itself_and_names_are_text(tmp_path):
    """No address, no import; a name with a tag in it stays a name; without a mapping there is no page."""
    workload = replace(load_workload("rank1_100"), name="</script><b>x")
    result = explore("toy_6pe_linear", workload, "ruby-s", QUICK)
    page = mapping_html(result)
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)\s*=\s*"', page)
    assert set(re.findall(r"https?://[^\"'\s]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "</script><b>" not in page
    nothing = Result(Problem(result.arch, workload, energy_table(result.arch)), None)
    with pytest.raises(ValueError, match="so there is none to show"):
        mapping_html(nothing)
