"""`ruby-report`: folders of results read again, matched, compared; every figure is that of the folders."""

import csv
import io
import json
import re
import shutil
from functools import partial

import pytest
from hypothesis import given, settings
from ruby_map.arch import load_arch
from ruby_map.energy import no_energies
from ruby_map.mapper import SearchOptions, evaluate, explore, load, result_json
from ruby_map.mapper.commands.ruby_report import main
from ruby_map.mapper.commands.shared import placed_as
from ruby_map.mapper.comparison import FORMATS, Stored, comparison_json, matched, page_html, read_folder
from ruby_map.mapper.comparison.nests import nest_lines, side_by_side
from ruby_map.mapper.comparison.stored import TOLD
from ruby_map.mapper.comparison.tables import count_table
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.report import write_folder
from ruby_map.mapper.report.loop_nest import loop_nest
from ruby_map.mapper.report.pictures import PICTURES, draw_energy, drawn_bytes, save_picture
from ruby_map.mapper.report.table_files import Column, Table, csv_text, latex_text, markdown_text
from ruby_map.mapper.sweeps import sweep
from typer.testing import CliRunner

from ..browser import BROWSER, Page
from ..strategies import mappings

SWEEP = """
name: {mapspace}
architecture: toy_6pe_linear
parameters: {{levels.GLB.fanout.PE.size: [{sizes}]}}
workloads: [./net.yaml]
mapspaces: [{mapspace}]
search: {{strategy: exhaustive}}
objective: delay
"""
NET = "layers: [{layer: rank1_100, count: 2}, {layer: odd.yaml}]\n"
ODD = "name: odd\nshape: matmul\nsizes: {M: 7, N: 1, K: 1}\n"
FIGURES = ("edp", "energy_pj", "cycles", "utilization")


def run(*arguments, status=0):
    """The outcome of the command."""
    found = CliRunner().invoke(main, list(map(str, arguments)))
    assert found.exit_code == status, found.output
    return found


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Two sweeps of a network, perfect and imperfect; B has a design that A lacks."""
    root = tmp_path_factory.mktemp("sweeps")
    (root / "net.yaml").write_text(NET)
    (root / "odd.yaml").write_text(ODD)
    for name, mapspace, sizes in (("a", "pfm", "3, 6"), ("b", "ruby-s", "6, 3, 4")):
        (root / f"{name}.yaml").write_text(SWEEP.format(mapspace=mapspace, sizes=sizes))
        sweep(root / f"{name}.yaml", out=root / name)
    return root


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A layer searched in two mapspaces, written as `--out` does; and a network."""
    root = tmp_path_factory.mktemp("searched")
    options = SearchOptions(strategy="random", samples=200, victory=None)
    for mapspace in ("pfm", "ruby"):
        write_folder(explore("toy_6pe_linear", "rank1_100", mapspace, options), root / mapspace)
    (root / "net.yaml").write_text(NET)
    (root / "odd.yaml").write_text(ODD)
    write_folder(explore("toy_6pe_linear", root / "net.yaml", "pfm", options), root / "net")
    return root


def stats(folder, **changes):
    """Write stats.json of a folder anew with other values; None leaves a key out."""
    path = folder / "stats.json"
    whole = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in whole.items() if value is not None}))


def copied(source, target, **changes):
    """A copy of a folder of results, changed."""
    shutil.copytree(source, target)
    stats(target, **changes)
    return target


def test_two_sweeps_side_by_side(swept, tmp_path):
    """Every figure of the JSON, the tables and the page is one of the folders; ratios are B over A."""
    page, files = tmp_path / "page.html", tmp_path / "files"
    found = json.loads(run(swept / "a", swept / "b", "--json", "--out", page, "--files", files).stdout)
    points = {}
    for side in "ab":
        for point in json.loads((swept / side / "results.json").read_text())["points"]:
            points[side, point["parameters"]["levels.GLB.fanout.PE.size"]] = point["result"]
    assert [case["parameters"]["levels.GLB.fanout.PE.size"] for case in found["cases"]] == [3, 6]
    assert found["left_out"] == ["B: PE.size 4"]
    with (files / "layers.csv").open() as file:
        layers = list(csv.DictReader(file))
    text = page.read_text()
    for case in found["cases"]:
        both = [points[side, case["parameters"]["levels.GLB.fanout.PE.size"]] for side in "ab"]
        for name in FIGURES:
            a, b = (result[name] for result in both)
            assert {side: case[name][side] for side in ("a", "b", "ratio")} == {"a": a, "b": b, "ratio": b / a}
        assert case["found"] == [True, True]
        assert sum(part["a"] for part in case["parts_pj"].values()) == pytest.approx(both[0]["energy_pj"])
        assert sum(part["b"] for part in case["parts_pj"].values()) == pytest.approx(both[1]["energy_pj"])
        assert [layer["layer"] for layer in case["layers"]] == ["rank1_100 ×2", "odd"]
        for number, layer in enumerate(case["layers"]):
            a, b = (result["layers"][number] for result in both)
            assert all(layer[name]["a"] == a[name] and layer[name]["b"] == b[name] for name in FIGURES)
            (row,) = (row for row in layers if (row["case"], row["layer"]) == (case["case"], layer["layer"]))
            assert (float(row["energy A [pJ]"]), float(row["energy B [pJ]"])) == (a["energy_pj"], b["energy_pj"])
            assert int(row["cycles A"]), int(row["cycles B"]) == (a["cycles"], b["cycles"])
            assert f"<td>{a['edp']:.5g}</td><td>{b['edp']:.5g}</td>" in text
    assert found["cases"][1]["cycles"]["ratio"] < 1  # remainders gain where 100 outputs meet 6 elements
    assert sorted(path.name for path in files.iterdir()) == sorted(
        [".ruby-report.json"]
        + [
            f"{table}.{kind}"
            for table in ("cases", "verdicts", "parts", "layers", "counts")
            for kind in ("csv", "md", "tex")
        ]
        + [f"{picture}.{kind}" for picture in ("ratios", "energy", "cycles") for kind in PICTURES]
    )


def test_the_words_are_those_of_the_layers(searched):
    """counts.csv has reads, fills and updates of each level and tensor of both sides."""
    found = matched([read_folder(searched / name) for name in ("pfm", "ruby")])
    rows = list(csv.DictReader(io.StringIO(csv_text(count_table(found)))))
    sides = {
        side: json.loads((searched / name / "stats.json").read_text())
        for side, name in zip("AB", ("pfm", "ruby"), strict=True)
    }
    seen = 0
    for row in rows:
        for side, result in sides.items():
            held = result["levels"][row["level"]]["tensors"].get(row["tensor"])
            for name in ("reads", "fills", "updates"):
                value = row[f"{name} {side} [words]"]
                assert value == ("" if held is None else str(held[name]))
                seen += held is not None
    every = sum(len(level["tensors"]) for result in sides.values() for level in result["levels"].values())
    assert seen == 3 * every


def test_a_folder_beside_itself(swept, searched):
    """Ratios are 1, no line and no word differs, nothing is left out."""
    for folder in (swept / "b", searched / "pfm", searched / "net"):
        found = matched([read_folder(folder), read_folder(folder)])
        whole = comparison_json(found)
        assert whole["left_out"] == []
        for case in whole["cases"]:
            assert all(case[name]["ratio"] == 1 for name in FIGURES)
            assert all(part["ratio"] == 1 for part in case["parts_pj"].values() if part["a"])
        page = page_html(found)
        assert 'class="differs"' not in page
        assert "no lines of" in page


def test_one_folder(searched, tmp_path):
    """A page of one result, without ratios."""
    found = json.loads(run(searched / "net", "--json", "--out", tmp_path / "p.html").stdout)
    whole = json.loads((searched / "net" / "stats.json").read_text())
    (case,) = found["cases"]
    assert {name: case[name]["a"] for name in FIGURES} == {name: whole[name] for name in FIGURES}
    assert "b" not in found
    assert "B/A" not in (tmp_path / "p.html").read_text() + run(searched / "net").stdout


@settings(max_examples=60, deadline=None)
@given(mappings())
def test_a_stored_nest_is_the_printed_one(batch):
    """Any mapping: the lines of the JSON's entries are those of the loop nest, but for how axes are named."""
    result = evaluate(batch.arch, batch.workload, batch, table=no_energies(batch.arch))
    stored = Stored.model_validate(result_json(result))
    told = [re.sub(r"  # .*", "", line) for line in nest_lines(stored, "stats.json")]
    printed = [re.sub(r"  # .*", "", line) for line in loop_nest(batch).splitlines()[:-1]]
    strip = [[line.strip() for line in lines] for lines in (told, printed)]
    assert sorted(strip[0]) == sorted(strip[1])
    in_time = [[line for line in lines if not line.startswith("parFor")] for lines in strip]
    assert in_time[0] == in_time[1]
    assert [len(line) - len(line.lstrip()) for line in told] == [len(line) - len(line.lstrip()) for line in printed]


def test_an_uneven_memory_has_a_line_for_each_tensor():
    """Each tensor stands above its own loops."""
    options = SearchOptions(strategy="random", samples=300, victory=None)
    result = explore(placed_as(load_arch("eyeriss_like"), "uneven"), "alexnet/conv3", "pfm", options)
    stored = Stored.model_validate(result_json(result))
    told = [re.sub(r"  # .*", "", line) for line in nest_lines(stored, "stats.json")]
    assert told == [re.sub(r"  # .*", "", line) for line in loop_nest(result.batch).splitlines()[:-1]]
    assert sum(line.strip().startswith("shared_glb [") for line in told) == 2


def test_lines_side_by_side():
    """Equal lines stand beside one another whatever their indentation; a level that holds other words differs."""
    a = ["DRAM [A: 4 words]", "for M in 0:2", "  for N in 0:3", "    GLB [A: 2 words]"]
    b = ["DRAM [A: 4 words]", "for N in 0:3", "  GLB [A: 1 words]", "  for K in 0:5"]
    pairs = side_by_side(a, b)
    lines = [(a[0], b[0]), (a[1], ""), (a[2], b[1]), (a[3], b[2]), ("", b[3])]
    assert [(pair.lines, pair.differ) for pair in pairs] == list(zip(lines, (0, 1, 0, 1, 1), strict=True))


def test_what_one_side_alone_has(searched, tmp_path):
    """Layers of other sizes are other layers; totals of other layers have no ratio."""
    whole = json.loads((searched / "net" / "stats.json").read_text())
    whole["layers"][1]["macs"] = 8
    other = copied(searched / "net", tmp_path / "other", layers=whole["layers"])
    found = json.loads(run(searched / "net", other, "--json").stdout)
    (case,) = found["cases"]
    assert case["left_out"] == ["A: odd (7 MACs)", "B: odd (8 MACs)"] == found["left_out"]
    assert case["edp"]["ratio"] is None
    assert [layer["layer"] for layer in case["layers"]] == ["rank1_100 ×2"]
    assert "no case has a mapping of the same layers on both sides" in run(searched / "net", other).stdout
    alone = copied(searched / "pfm", tmp_path / "alone", workload="other")
    assert "no layer of one folder is in the other: A: rank1_100 (100 MACs); B: other" in run(
        searched / "pfm", alone, status=2).stderr  # fmt: skip


def test_energy_is_that_of_the_layers_that_both_sides_map(searched, tmp_path):
    """Of a layer that one side has no mapping of there is no part in either sum, and the table says so."""
    whole = json.loads((searched / "net" / "stats.json").read_text())
    whole["layers"][1] |= {"cycles": None, "energy_pj": None, "edp": None, "levels": None}
    part = copied(searched / "net", tmp_path / "part")
    (part / "stats.json").write_text(json.dumps(whole | {"cycles": None, "energy_pj": None, "edp": None}))
    (case,) = json.loads(run(searched / "net", part, "--json").stdout)["cases"]
    assert all(sides["a"] == sides["b"] for sides in case["parts_pj"].values())
    assert "where the energy goes, layers with a mapping on each side" in run(searched / "net", part).stdout
    assert "where the energy goes, layers with a mapping\n" in run(part).stdout
    assert "where the energy goes, all layers" in run(searched / "net").stdout


def test_padding_leaves_a_layer_what_it_is(searched, tmp_path):
    """MACs on zeros are not counted where layers are matched."""
    padded = copied(searched / "pfm", tmp_path / "padded", macs=102, ineffectual_macs=2)
    assert json.loads(run(searched / "pfm", padded, "--json").stdout)["left_out"] == []


def test_sweeps_without_a_common_point(swept, tmp_path):
    whole = json.loads((swept / "a" / "results.json").read_text())
    for point in whole["points"]:
        point["parameters"] = {"levels.GLB.fanout.PE.size": 100 + point["design"]}
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "results.json").write_text(json.dumps(whole))
    assert "no point of one folder is in the other: A: PE.size 3; " in run(swept / "a", tmp_path / "c", status=2).stderr


def test_points_without_a_mapping(swept, tmp_path):
    """A point that failed is told, and compared with nothing."""
    whole = json.loads((swept / "a" / "results.json").read_text())
    whole["points"][0] |= {"status": "failed", "message": "no room\nat all", "result": None}
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "results.json").write_text(json.dumps(whole))
    found = run(swept / "b", tmp_path / "c", "--out", tmp_path / "p.html", "--files", tmp_path / "f")
    assert "no room at all" in found.stdout
    (first, _) = json.loads(run(tmp_path / "c", swept / "b", "--json").stdout)["cases"]
    assert first["found"] == [False, True]
    assert first["edp"]["a"] is first["edp"]["ratio"] is None
    assert first["layers"] == []


def test_folders_of_before(searched, tmp_path):
    """Keys that came later may be missing, and others be there."""
    later = ("remainders", "reason", "network", "ideal", "area_um2", "search", "ineffectual_macs", "seed")
    old = copied(searched / "pfm", tmp_path / "old", **dict.fromkeys(later), forgotten=1)
    found = json.loads(run(searched / "pfm", old, "--json", "--out", tmp_path / "p.html").stdout)
    assert found["cases"][0]["edp"]["ratio"] == 1


def test_results_without_energies(tmp_path):
    """Cycles are compared; nothing stands in the place of energies."""
    arch, layer = load("toy_6pe_linear", "rank1_100")
    for name in ("pfm", "ruby-s"):
        options = SearchOptions(strategy="exhaustive", objective="delay")
        write_folder(explore(arch, layer, name, options, table=no_energies(arch)), tmp_path / name)
    found = run(tmp_path / "pfm", tmp_path / "ruby-s", "--out", tmp_path / "p.html", "--files", tmp_path / "f")
    assert "cycles of B over that of A: 0.85" in found.stdout
    assert not re.search(r"EDP|energy|nan|None", found.stdout)
    assert not (tmp_path / "f" / "energy.png").exists()


def test_leakage_and_hops_are_parts(tmp_path):
    costs = Charges(leakage=True, hop_pj=2.0)
    write_folder(
        explore("toy_6pe_linear", "rank1_100", "pfm", SearchOptions(strategy="random", samples=50), costs=costs),
        tmp_path / "x",
    )
    whole = json.loads((tmp_path / "x" / "stats.json").read_text())
    (case,) = json.loads(run(tmp_path / "x", "--json").stdout)["cases"]
    parts = {name: part["a"] for name, part in case["parts_pj"].items()}
    assert parts["network"] == whole["network"]["energy_pj"] > 0
    assert parts["leakage"] > 0
    assert sum(parts.values()) == pytest.approx(whole["energy_pj"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "EOF while parsing"),
        ("[]", "Input should be an object"),
        ('{"arch": "x"}', "workload: is not what ruby-map writes: Field required"),
        ('{"arch": NaN}', "is not what ruby-map writes"),
        ("\ud800".encode("utf-8", "surrogatepass"), "is not what ruby-map writes"),
        ("[" * 100_000, "is not what ruby-map writes"),
    ],
)
def test_damaged_files(tmp_path, content, said):
    """Every fault with its file and key, of both folders; no traceback."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "stats.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    told = run(tmp_path / "a", tmp_path / "b", "--out", tmp_path / "p.html", status=2).stderr
    assert said in told
    assert str(tmp_path / "a" / "stats.json") in told
    assert str(tmp_path / "b" / "stats.json") in told
    assert not (tmp_path / "p.html").exists()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"cycles": -1}, "cycles"),
        ({"cycles": "7"}, "cycles"),
        ({"energy_pj": True}, "energy_pj"),
        ({"levels": {"DRAM": {"tensors": {"A": {"reads": 1.5, "fills": 0, "updates": 0}}}}}, "DRAM.tensors.A.reads"),
        ({"levels": {str(n): 1 for n in range(TOLD + 5)}}, "and 5 more"),
        ({"mapping": [1]}, "mapping.0"),
    ],
)  # fmt: skip
def test_wrong_figures(searched, tmp_path, changes, key):
    other = copied(searched / "pfm", tmp_path / "other", **changes)
    assert key in run(searched / "pfm", other, status=2).stderr


def test_a_mapping_that_is_none(searched, tmp_path):
    """Faults of entries name folder, layer and key."""
    entries = [{"target": "DRAM", "type": "temporal", "factors": "M=x", "permutation": "MM"}, {"type": "spatial"}]
    other = copied(searched / "pfm", tmp_path / "other", mapping=entries)
    said = run(searched / "pfm", other, "--out", tmp_path / "p.html", status=2).stderr
    assert f"{other}: rank1_100: mapping[0].factors: a factor is written DIM=BOUND" in said
    assert "mapping[1].target" in said
    assert not (tmp_path / "p.html").exists()


def test_no_results(searched, tmp_path):
    """What is expected, where there is none, or two."""
    assert "a folder that ruby-map --out or ruby-sweep --out wrote is expected" in run(tmp_path / "x", status=2).stderr
    (tmp_path / "empty").mkdir()
    assert "holds no stats.json and no results.json" in run(tmp_path / "empty", status=2).stderr
    (tmp_path / "empty" / "checkpoint.sqlite").touch()
    assert "its run has not ended" in run(tmp_path / "empty", status=2).stderr
    both = copied(searched / "pfm", tmp_path / "both")
    (both / "results.json").write_text("{}")
    assert "which is meant" in run(both, status=2).stderr
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "results.json").write_text('{"sweep": "s", "points": []}')
    assert "the sweep in it has no point" in run(tmp_path / "none", status=2).stderr


def test_options(searched, tmp_path):
    """Every fault at once; nothing is written then."""
    said = run(tmp_path / "x", "--out", tmp_path / "p.txt", "--format", "jpg", status=2).stderr
    assert 'format: must be one of csv, md, tex, png, svg, pdf; got "jpg"' in said
    assert "goes with --files" in said
    assert "names a page, PAGE.html" in said
    assert "is expected" in said
    run(searched / "pfm", "--files", tmp_path / "f", "--format", "tex", "--format", "svg")
    assert {path.suffix for path in (tmp_path / "f").iterdir() if path.name != ".ruby-report.json"} == {".tex", ".svg"}
    assert set(FORMATS) == {"csv", "md", "tex", "png", "svg", "pdf"}


def test_names_are_no_markup(searched, tmp_path):
    """A name from a file is text on the page, in a picture, in Markdown, in LaTeX."""
    name = "<script>alert(1)</script> $x_{ & 50% | \\end #"
    whole = json.loads((searched / "net" / "stats.json").read_text())
    whole["layers"][0]["workload"] = name
    other = copied(searched / "net", tmp_path / "other", layers=whole["layers"], workload=name)
    run(other, other, "--out", tmp_path / "p.html", "--files", tmp_path / "f")
    page = (tmp_path / "p.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    tex = (tmp_path / "f" / "layers.tex").read_text()
    assert "\\$x\\_\\{ \\& 50\\%" in tex
    assert tex.count("{") - tex.count("\\{") == tex.count("}") - tex.count("\\}")
    lines = (tmp_path / "f" / "layers.md").read_text().splitlines()
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert "\\<script>" in lines[2]


def test_tables_in_each_format():
    """Words left, figures right, units in heads; a cell without a value is empty."""
    columns = (Column("what"), Column("energy A", "nJ", ",.3g", 1e3), Column("energy B/A", "", ".3g"))
    table = Table("t", "", columns, (("a_1", 1234567.0, None), ("b", 0.0, 2.0)))
    latex = [re.sub(r" +", " ", line.strip()) for line in latex_text(table).splitlines()]
    assert latex == [
        r"\begin{tabular}{lrr}", r"\toprule", r"what & energy A [nJ] & energy B/A \\", r"\midrule",
        r"a\_1 & 1.23e+03 & \\", r"b & 0 & 2 \\", r"\bottomrule", r"\end{tabular}"]  # fmt: skip
    sides = markdown_text(table).splitlines()[1].split("|")[1:-1]
    assert [(side[0], side[-1]) for side in sides] == [(":", "-"), ("-", ":"), ("-", ":")]


def test_pictures_are_the_same_bytes(searched, tmp_path):
    """In each format, twice; words of SVG are text."""
    result = explore("toy_6pe_linear", "rank1_100", "pfm", SearchOptions(strategy="random", samples=50))
    draw = partial(draw_energy, result)
    for kind in PICTURES:
        assert list(drawn_bytes("a", draw, [kind])) == list(drawn_bytes("a", draw, [kind]))
    paths = save_picture(draw, tmp_path / "a.b", PICTURES)
    assert [path.name for path in paths] == [f"a.b.{kind}" for kind in PICTURES]
    assert ">DRAM<" in paths[1].read_text()
    assert [path.read_bytes()[:4] for path in paths] == [b"\x89PNG", b"<?xm", b"%PDF"]


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_the_page_opens(swept, tmp_path):
    """In a browser: no fault, no request, the pictures have their size, a click opens the nests of a layer."""
    path = tmp_path / "page.html"
    path.write_text(page_html(matched([read_folder(swept / name) for name in "ab"])))
    page = Page(BROWSER, tmp_path / "browser")
    try:
        page.open(path)
        sizes = page.js("[...document.querySelectorAll('figure svg')].map(one => one.getBoundingClientRect().width)")
        assert len(sizes) == 3
        assert min(sizes) > 300
        wider = "[...document.querySelectorAll('html, .wide')].filter(one => one.scrollWidth > one.clientWidth).length"
        assert page.js(wider) == 0  # nothing has to be pushed aside to be read
        page.js("document.querySelector('summary').click()")
        assert page.js("document.querySelector('.nest').getBoundingClientRect().height") > 50
        assert page.js("document.querySelectorAll('.nest tr.differs').length") > 0
        assert page.faults() == []
    finally:
        page.close()


def test_many_points_keep_the_page_small(swept):
    """Pictures, nests and tables of very many points are cut, and say so."""
    whole = json.loads((swept / "a" / "results.json").read_text())
    point = whole["points"][1]
    folder = swept / "many"
    folder.mkdir(exist_ok=True)
    whole["points"] = [point | {"parameters": {"n": number}} for number in range(1500)]
    (folder / "results.json").write_text(json.dumps(whole))
    page = page_html(matched([read_folder(folder)]))
    assert len(page) < 3e6
    assert "The pictures leave out 1460 rows" in page
    assert "2940 more layers are left out" in page
    assert "more rows are left out here" in page
    assert "more rows: --files" in run(folder).stdout
    assert len(json.loads(run(folder, "--json").stdout)["cases"]) == 1500


def test_folders_have_the_names_that_a_user_gives_them(searched, tmp_path):
    """In text, page and JSON no path is left; names that are none are refused, all faults at once."""
    folders = (searched / "pfm", searched / "ruby")
    said = run(*folders, "--names", "old, new", "--out", tmp_path / "p.html").stdout
    assert said.startswith("A: old against B: new\n")
    page = (tmp_path / "p.html").read_text()
    assert '<p class="side">B: new</p>' in page
    assert str(searched) not in said + page
    found = json.loads(run(*folders, "--names", "old,new", "--json").stdout)
    assert (found["a"], found["b"]) == ("old", "new")
    for names, rule in (("old", "a name for each folder"), ("a,a", "must differ"), ("a," + 41 * "b", "at most 40")):
        assert rule in run(*folders, "--names", names, status=2).stderr
    assert "a name for the folder" in run(folders[0], "--names", "a,b", status=2).stderr
