"""The files of a plan: its page in a browser, its tables, and the pages of its parts."""

import csv
import json
from html.parser import HTMLParser
from math import isclose
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.networks import Part
from ruby_map.mapper.report.plan_pages import part_folders, remove_other_parts
from ruby_map.mapper.report.plan_pages.fills import Fills
from typer.testing import CliRunner

from ..browser import BROWSER, Page
from ..schema_files import object_faults
from .test_commands import MACHINE, NETWORK

NAME = "a_layer_with_a_long_name_that_has_no_place_to_break_it"
FILES = ["index.html", "plan.csv", "plan.html", "plan_front.csv", "plan.md", "plan.tex", "plan.yaml"]
FILES += ["plan_levels.csv", "plan_levels.md", "plan_levels.tex"]
# texts of pictures beyond their picture, and of cells beyond their cell
OUTSIDE = """[...document.querySelectorAll("svg text")].filter(text => {
  const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
  return own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 1 || own.bottom > all.bottom + 1;
}).concat([...document.querySelectorAll("td, th, p, li, h1, h2")].filter(one => one.scrollWidth > one.clientWidth + 1))
.map(one => one.textContent)"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A plan of five parts on a machine with leakage, one of them an operation alone."""
    where = tmp_path_factory.mktemp("plan")
    machine = MACHINE.replace("word_bits: 16, energy: {", "word_bits: 16, energy: {leak_pj_per_cycle: 2, ")
    (where / "arch.yaml").write_text(machine.replace("class: DRAM,", "class: DRAM, read_bandwidth: 2,"))
    network = NETWORK.replace("{name: a,", f"{{name: {NAME},").replace("from: a}", f"from: {NAME}}}")
    (where / "net.yaml").write_text(network + "  - {name: half, op: max_pool, from: c, sizes: [4, 3]}\n")
    files = [str(where / "arch.yaml"), str(where / "net.yaml")]
    done = CliRunner().invoke(
        main, [*files, "--fuse", "auto", "--leakage", "--front", "energy,delay", "--out", str(where / "out")]
    )
    assert done.exit_code == 0, done.output
    return where / "out"


def read(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_costs_by_level_add_up(folder):
    """Of JSON and of CSV: layers and what moves to parts, parts to the plan, levels to both."""
    said = json.loads((folder / "stats.json").read_text())
    assert object_faults("run_map", said) == []
    levels, parts = read(folder / "plan_levels.csv"), read(folder / "plan.csv")
    assert {row["kind"] for row in levels} >= {"layer", "operation"}
    for number, (own, row) in enumerate(zip(said["plan"]["groups"], parts, strict=True), 1):
        rows = [one for one in levels if one["part"] == str(number)]
        assert [one["name"] for one in rows] == [one["name"] for one in own["costs"]]
        assert sum(one["cycles"] for one in own["costs"]) == own["cycles"] == int(row["cycles"])
        assert sum(int(one["cycles"]) for one in rows) == own["cycles"]
        assert isclose(sum(one["energy_pj"] for one in own["costs"]), own["energy_pj"], rel_tol=1e-12)
        assert isclose(float(row["energy_pj"]), own["energy_pj"], rel_tol=1e-12)
        for one, cost in zip(rows, own["costs"], strict=True):
            assert isclose(sum(cost["component_pj"].values()), cost["energy_pj"], rel_tol=1e-12)
            shown = {name: float(one[f"{name}_pj"]) for name in ("DRAM", "B0", "MAC", "leakage")}
            assert shown == {name: cost["component_pj"].get(name, 0.0) for name in shown}
    for totals, costs in ((said["plan"], said), (said["layer_by_layer"], said["layer_by_layer"])):
        assert isclose(sum(totals["component_pj"].values()), costs["energy_pj"], rel_tol=1e-12)
        assert totals["component_pj"]["leakage"] == pytest.approx(6 * costs["cycles"])
    assert said["plan"]["component_pj"]["MAC"] == 10 * said["macs"]
    assert said["plan"]["component_pj"]["DRAM"] < said["layer_by_layer"]["component_pj"]["DRAM"]


def test_what_is_open_of_parts_is_within_the_plan(folder):
    """Every part is proven here: nothing is open."""
    said = json.loads((folder / "stats.json").read_text())
    assert said["optimal"]
    assert all(own["gap"] is not None and own["gap"] < 1e-6 for own in said["plan"]["groups"])


def test_pages_of_another_plan_are_removed(folder):
    """Those of an interrupted run that was resumed; other files stay."""
    plan = SimpleNamespace(costs=SimpleNamespace(plan=SimpleNamespace(parts=[Part((NAME,)), Part((), (), ("norm",))])))
    names = part_folders(plan)
    assert names == {0: f"parts/01_{NAME}"}
    old = [folder / "old" / "parts" / name for name in ("01_b_c", "02_d", f"01_{NAME}")]
    for path in old:
        path.mkdir(parents=True)
        (path / "mapping.html").touch()
    (old[1] / "mine").touch()
    remove_other_parts(plan, folder / "old")
    left = {str(path.relative_to(folder / "old" / "parts")) for path in (folder / "old").rglob("*") if path.is_file()}
    assert left == {"02_d/mine", f"01_{NAME}/mapping.html"}
    assert not old[0].exists()


class Links(HTMLParser):
    """The addresses that a page links."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs)["href"])


def test_every_part_with_layers_has_its_page(folder):
    """Linked from the page of the plan, and from the index; no link leads nowhere."""
    assert set(FILES) <= {path.name for path in folder.iterdir()}
    said = json.loads((folder / "stats.json").read_text())
    wanted = {number for number, own in enumerate(said["plan"]["groups"], 1) if own["layers"]}
    pages = {int(path.name[:2]): path for path in (folder / "parts").iterdir()}
    assert set(pages) == wanted
    assert len(wanted) < len(said["plan"]["groups"])
    for name in ("plan.html", "index.html"):
        links = Links((folder / name).read_text()).found
        assert all((folder / unquote(link)).is_file() for link in links)
        assert {f"parts/{path.name}/mapping.html" for path in pages.values()} <= set(map(unquote, links))
    for number, path in pages.items():
        assert f"part {number} of the plan" in (path / "mapping.html").read_text()


def test_the_tables_of_papers_have_a_row_for_each_part(folder):
    """Markdown and LaTeX."""
    rows = len(read(folder / "plan.csv"))
    assert len((folder / "plan.md").read_text().splitlines()) == rows + 2
    text = (folder / "plan.tex").read_text()
    assert text.count(r"\\") == rows + 1
    assert r"a\_layer\_with" in text
    levels = len(read(folder / "plan_levels.csv"))
    assert len((folder / "plan_levels.md").read_text().splitlines()) == levels + 2 + 2  # and both sums


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    page = Page(BROWSER, tmp_path_factory.mktemp("browser"))
    yield page
    page.close()


@pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome is installed")
@pytest.mark.parametrize("width", [1400, 400])
def test_pages_fit_their_window(browser, folder, width):
    """Wide tables and pictures scroll within themselves; nothing is written over an edge; no error of the page."""
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    part = next(path for path in sorted((folder / "parts").iterdir()) if NAME[:20] in path.name)
    for path in (folder / "plan.html", folder / "index.html", part / "mapping.html"):
        browser.open(path)
        assert browser.js("document.documentElement.scrollWidth") <= width, path
        assert browser.js(OUTSIDE) == [], path
    browser.open(folder / "plan.html")
    assert browser.js("document.querySelectorAll('svg[aria-label=\"energy of each part by level\"] rect').length") > 8
    points = browser.js("document.querySelectorAll('svg[aria-label=\"energy and cycles of plans\"] circle').length")
    assert points == 2 + len(read(folder / "plan_front.csv"))
    pictures = {path.as_uri() for path in folder.glob("*.png")}
    assert [fault for fault in browser.faults() if fault not in pictures] == []


def test_more_tensors_than_colours_are_told_apart():
    """By patterns, whose ids the fills refer to."""
    names = [f"t{number}" for number in range(49)]
    fills = Fills("stays", names, ["beside"])
    drawn = set()
    for name in names:
        own = fills.of(name)
        body = fills.patterns.split(f'id="{own[5:-1]}"')[1].split("</pattern>")[0] if own.startswith("url") else own
        drawn.add(body)
    assert len(drawn) == 49
    assert fills.of("beside") not in drawn
    assert [name for _, name in fills.legend()] == [*names, "beside"]


def test_without_energies_a_plan_has_cycles_alone(tmp_path):
    """No column, no picture and no figure of energies that nobody knows."""
    (tmp_path / "arch.yaml").write_text(MACHINE.replace("class: DRAM,", "class: DRAM, read_bandwidth: 2,"))
    (tmp_path / "net.yaml").write_text(NETWORK)
    files = [str(tmp_path / "arch.yaml"), str(tmp_path / "net.yaml")]
    words = ["--fuse", "auto", "--no-energy", "--objective", "delay", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*files, *words])
    assert done.exit_code == 0, done.output
    said = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert object_faults("run_map", said) == []
    assert said["plan"]["component_pj"] is None
    text = (tmp_path / "out" / "plan.html").read_text()
    assert "energy [" not in text
    assert "energy" not in (tmp_path / "out" / "plan.md").read_text()
    assert "level by level as" in text
