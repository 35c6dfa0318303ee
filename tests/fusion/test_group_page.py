"""mapping.html of a group: what it shows of each step is the executor's; the page itself in a headless browser."""

import json
from itertools import product

import pytest
from hypothesis import given, settings
from ruby_map.mapper.fusion import GroupCosts, Standing, boxes
from ruby_map.mapper.fusion.executor import drawn_inputs, execute
from ruby_map.mapper.fusion.executor.execute import _Run
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.report.groups.group_page import group_html

from ..browser import BROWSER, Page
from ..conftest import DEEP
from .groups import groups
from .test_plans import ARCH, NET, TABLE, mapped_layers

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome is installed")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    page = Page(BROWSER, tmp_path_factory.mktemp("browser"))
    yield page
    page.close()


@needs_browser
@settings(max_examples=30 if DEEP else 12)
@given(groups(most_steps=12))
def test_every_step_is_the_executors(browser, tmp_path_factory, group):
    """Any group: the box that each stage computes in each step, and the words in the keeper meanwhile."""
    try:
        boxes(group)
    except ValueError:
        return
    numbers, mapped = mapped_layers(group, Charges(), lambda: 1)
    path = tmp_path_factory.getbasetemp() / "group.html"
    path.write_text(group_html(GroupCosts(Standing(group, ARCH), TABLE, Charges(), numbers, mapped)), encoding="utf-8")
    browser.open(path)
    run = _Run(group, drawn_inputs(group))
    run.plan()
    found = execute(group, drawn_inputs(group))
    most = {}
    for number, step in enumerate(product(*(range(group.trips(loop)) for loop in group.loops))):
        for stage, layer in enumerate(group.stages):
            shown = json.loads(browser.js(f"JSON.stringify(boxOf({stage}, indicesOf({number})))"))
            box = run.boxes[stage][step]
            assert (shown or []) == [list(box[dim]) for dim in layer.dims if box], (step, stage)
            said = json.loads(browser.js(f"JSON.stringify(layerOf({stage}, indicesOf({number}))?.sizes ?? null)"))
            assert said == ([box[dim][1] - box[dim][0] for dim in layer.dims] if box else None)
            code = (
                f"JSON.stringify(data.between.map(one => [one.producer, heldWords(one, {stage}, indicesOf({number}))]))"
            )
            for producer, words in json.loads(browser.js(code)):
                most[producer, stage] = max(most.get((producer, stage), 0), words)
    assert most == found.between
    browser.js("at('last').click(); at('back').click(); at('first').click()")
    assert browser.faults() == []


@needs_browser
def test_the_page_of_a_search_steps_and_has_its_nests(browser, tmp_path):
    """--out writes it; buttons move it; texts from outside stay texts."""
    from ruby_map.mapper.commands.ruby_map import main
    from typer.testing import CliRunner

    (tmp_path / "net.yaml").write_text(NET)
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["eyeriss_like", str(tmp_path / "net.yaml"), "--group", "a+b", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in out.iterdir()) == ["mapping.html", "plan.yaml", "stats.json"]
    browser.open(out / "mapping.html")
    assert browser.js("document.title") == "a + b on eyeriss_like"
    browser.js("at('next').click()")
    assert browser.js("at('of').textContent").endswith(": b")
    assert "Outputs[N, M, P, Q] +=" in browser.js("at('nest').textContent")
    assert "640 of 1,048,576 bits" in browser.js("at('legend').textContent")
    assert browser.faults() == []
    again = CliRunner().invoke(main, ["eyeriss_like", str(tmp_path / "net.yaml"), "--group", "a+b", "--out", str(out)])
    assert again.exit_code == 2, "results are never mixed"
