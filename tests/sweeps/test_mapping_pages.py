"""Pages of the mappings of points beside report.html: which there are, what they show, how many files."""

import re
from dataclasses import replace

import pytest
from ruby_map.mapper import sweep
from ruby_map.mapper.sweeps import mapping_pages
from ruby_map.mapper.sweeps.run import write_outputs
from ruby_map.workloads import Fault, InputError

from ..browser import data_of

SWEEP = """
name: pages
architecture: toy_6pe_linear
parameters: {levels.GLB.fanout.PE.size: [2, 3, 5, 6]}
workloads: [rank1_100, ./net.yaml]
mapspaces: [pfm, ruby-s+pad]
seeds: [0, 1]
search: {strategy: random, samples: 40}
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep, and the folder with its file."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "net.yaml").write_text("layers: [{layer: rank1_100, count: 2}, {layer: matmul_100, count: 1}]\n")
    (folder / "sweep.yaml").write_text(SWEEP)
    return sweep(folder / "sweep.yaml", folder / "out"), folder


def test_every_point_has_a_page_with_the_figures_of_its_best_seed(swept):
    """Of a layer one file, of a network an index with a page per layer; cycles are those that are in the results."""
    found, folder = swept
    data = data_of(folder / "out/report.html")
    assert data["pages"] == ""
    for design in data["designs"]:
        page = folder / "out" / design["page"]
        pages = [page]
        if design["workload"] != "rank1_100":
            pages = [page.parent / link for link in re.findall(r'href="([^"]+)"', page.read_text())]
            assert [path.name for path in pages] == ["mapping.html", "mapping.html"]
            assert f"design {design['design']} ({design['label']})" in page.read_text()
            assert "stats.json" not in page.read_text()
        for layer, own in zip(design["layers"], map(data_of, pages), strict=True):
            facts = dict(own["facts"])
            assert facts["cycles"] == f"{layer['cycles'] // layer['count']:,}"
            assert facts["utilisation"] == f"{layer['utilization']:.1%}"
            assert facts["design"] == f"{design['design']} ({design['label']})"
            assert facts["mapspace"] == design["mapspace"]
    assert len({design["page"] for design in data["designs"]}) == len(data["designs"]) == 4 * 2 * 2
    assert found.plan.mapping_pages == 200


def test_of_few_files_the_best_designs_have_them_and_the_page_says_so(swept, tmp_path):
    """Knees first; pages that an earlier run wrote of others go, files of the user stay."""
    found, _ = swept
    write_outputs(found, tmp_path)
    (tmp_path / "mappings/own.html").write_text("of the user")
    (tmp_path / "mappings/design_7_notes_2.html").write_text("of the user, too")
    few = replace(found, plan=replace(found.plan, mapping_pages=6))
    write_outputs(few, tmp_path)
    files = {str(path.relative_to(tmp_path / "mappings")) for path in (tmp_path / "mappings").rglob("*.html")}
    data = data_of(tmp_path / "report.html")
    linked = [design for design in data["designs"] if design["page"]]
    assert len(files) <= 6 + 2
    assert "own.html" in files
    assert {link["page"].removeprefix("mappings/") for link in linked} <= files
    assert 2 <= len(linked) < 16
    assert all(design["knee"] for design in linked)
    assert f"{len(linked)} of 16 mappings have a page" in data["pages"]
    assert "mapping_pages is 6 files" in data["pages"]
    write_outputs(replace(found, plan=replace(found.plan, mapping_pages=0)), tmp_path)
    left = sorted(path.name for path in (tmp_path / "mappings").rglob("*"))
    assert left == ["design_7_notes_2.html", "own.html"]


def test_a_proof_stands_on_the_page(tmp_path):
    """What the search proved of a mapping is there as on the page that ruby-map writes."""
    given = {"architecture": "toy_6pe_linear", "workloads": ["rank1_100"], "mapspaces": ["ruby-s"]}
    sweep(given, tmp_path)
    (design,) = data_of(tmp_path / "report.html")["designs"]
    facts = data_of(tmp_path / design["page"])["facts"]
    assert ["proven", "optimal of ruby-s"] in facts


def test_a_mapping_that_cannot_be_read_takes_no_other_result_with_it(swept, tmp_path, monkeypatch):
    """The report says why it has no page."""

    def fails(*_):
        raise InputError(Fault("its mapping", None, "", "is none"))

    monkeypatch.setattr(mapping_pages, "_write_page", fails)
    write_outputs(swept[0], tmp_path)
    designs = data_of(tmp_path / "report.html")["designs"]
    assert {design["no_page"] for design in designs} == {"its mapping: is none"}
    assert (tmp_path / "results.json").exists()


def test_the_file_says_how_many(tmp_path):
    """`mapping_pages` of SWEEP.yaml; another number is no other sweep."""
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("workloads: [rank1_100, ./net.yaml]", "workloads: [rank1_100]"))
    sweep(tmp_path / "sweep.yaml", tmp_path / "out")
    with (tmp_path / "sweep.yaml").open("a") as file:
        file.write("mapping_pages: 2\n")
    sweep(tmp_path / "sweep.yaml", tmp_path / "out")
    assert len([*(tmp_path / "out/mappings").iterdir()]) == 2
