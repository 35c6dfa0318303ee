"""`ruby-rewrite`: what it writes, prints and refuses; the files are read by ruby-import and run by ONNX Runtime."""

import json
from collections import Counter
from types import SimpleNamespace

import onnx
import pytest
import yaml
from ruby_map.mapper.commands import run_rewrite
from ruby_map.mapper.commands.rewrite_result import RewriteResult
from ruby_map.mapper.commands.ruby_import import main as ruby_import
from ruby_map.mapper.commands.ruby_rewrite import ALPHA, GRAPHS, PLANS, main
from ruby_map.mapper.exploration import FUSE
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.rewrite_search import Applied, Outcome, Price, Pricer, RewriteOptions, Seen, TooManyError
from ruby_map.mapper.rewrites.page import substitutions_html
from typer.testing import CliRunner

from ..rewrites.onnx_models import assert_close, node, run, save, words
from ..schema_files import faults

MACHINE = """
name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}}
- {name: B0, class: SRAM, capacity_words: 150, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1}}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10}}
"""
FILES = ["rewritten.onnx", "rewritten.yaml", "rewrites.json"]


@pytest.fixture
def rewrite(tmp_path, monkeypatch):
    """Run the command in a folder with a machine, and a network of two products that read one input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text(MACHINE)
    two_products(tmp_path / "two.onnx")

    def command(*arguments):
        return CliRunner().invoke(main, [*map(str, arguments)])

    return command


def two_products(path, inputs=(4, 8)):
    nodes = [node("MatMul", "XA", "P", name="query"), node("MatMul", "XB", "Q", name="key")]
    return save(path, nodes, {"X": inputs}, ["P", "Q"], {"A": (8, 6), "B": (8, 6)})


GIVEN = ("two.onnx", "--arch", "m.yaml", "--out", "out")


def test_two_products_become_one_that_computes_the_same(rewrite, tmp_path):
    """The input is read once: both networks are proven, so it is proven to be better."""
    done = rewrite(*GIVEN, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert faults("rewrite", said) == []
    assert [own["nodes"] for own in said["rewrites"]] == [[["query", "key"]]]
    before, after = said["before"], said["after"]
    assert after["edp"] == after["energy_pj"] * after["cycles"] < before["lower_bound"] <= before["edp"]
    assert said["rewrites"][0]["saved"] == pytest.approx(1 - after["edp"] / before["edp"])
    assert before["cycles"] == after["cycles"] == 2 * 4 * 8 * 6
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".ruby-rewrite.json", *sorted(FILES)]
    assert json.loads((tmp_path / "out/rewrites.json").read_text()) == said
    feeds = {"X": words((4, 8), 7)}
    assert_close(run(tmp_path / "out/rewritten.onnx", feeds), run(tmp_path / "two.onnx", feeds))
    model = onnx.load(tmp_path / "out/rewritten.onnx")
    assert [own.op_type for own in model.graph.node] == ["MatMul", "Split"]
    imported = CliRunner().invoke(ruby_import, [str(tmp_path / "out/rewritten.onnx")])
    assert imported.stdout == (tmp_path / "out/rewritten.yaml").read_text()
    (layer, *_) = yaml.safe_load(imported.stdout)["layers"]
    assert layer["sizes"] == {"M": 12, "N": 4, "K": 8}


def test_the_text_says_what_is_proven_and_where(rewrite):
    done = rewrite(*GIVEN, "--objective", "energy")
    assert done.exit_code == 0, done.output
    for text in (
        "on m, ruby-s, by energy",
        "proven to be at least ",
        "below every plan of it that is tried",
        "at query + key: saves ",
    ):
        assert text in done.stdout
    assert "written      rewritten.onnx, rewritten.yaml, rewrites.json in out" in done.stdout
    assert "ended by     no graph is left" in done.stdout


def test_a_network_that_nothing_makes_better_is_written_as_it_is(rewrite, tmp_path):
    save(tmp_path / "one.onnx", [node("MatMul", "XA", "Y")], {"X": (4, 8)}, ["Y"], {"A": (8, 6)})
    done = rewrite("one.onnx", "--arch", "m.yaml", "--out", "out")
    assert done.exit_code == 0, done.output
    assert "no network that was priced has a lower EDP: it is written as it is" in done.stdout
    said = json.loads((tmp_path / "out/rewrites.json").read_text())
    assert (said["rewrites"], said["before"]) == ([], said["after"])
    feeds = {"X": words((4, 8), 7)}
    assert_close(run(tmp_path / "out/rewritten.onnx", feeds), run(tmp_path / "one.onnx", feeds))


def test_dynamic_dims_have_the_sizes_that_are_given(rewrite, tmp_path):
    two_products(tmp_path / "two.onnx", ("N", 8))
    unknown = rewrite(*GIVEN)
    assert (unknown.exit_code, "N" in unknown.stderr) == (2, True)
    done = rewrite(*GIVEN, "--dim", "N=4", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["before"]["cycles"] == 2 * 4 * 8 * 6
    feeds = {"X": words((4, 8), 7)}
    assert_close(run(tmp_path / "out/rewritten.onnx", feeds), run(tmp_path / "two.onnx", feeds))


def test_every_fault_at_once(rewrite, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/rewritten.yaml").write_text("years of work")
    options = ("--mapspace", "perfect", "--objective", "edp,energy", "--fuse", "none", "--alpha", "0.5")
    more = ("--graphs", "0", "--jobs", "0", "--seed", "-1", "--effort", "more", "--dim", "N")
    done = rewrite("nowhere.onnx", "--arch", "no_machine", "--out", "out", *options, *more)
    assert done.exit_code == 2
    for text in (
        *("nowhere.onnx: no such file", "no_machine", "perfect", "edp,energy", "auto, resident", "alpha", "graphs"),
        *("jobs", "seed", "more", "NAME=SIZE", "out/rewritten.yaml: exists, and ruby-rewrite did not write it"),
    ):
        assert text in done.stderr, text
    assert (tmp_path / "out/rewritten.yaml").read_text() == "years of work"
    missing = rewrite()
    assert (missing.exit_code, missing.stderr.splitlines()) == (
        2,
        ["MODEL: is missing", "arch: is missing", "out: is missing"],
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("capacity_words: 150", "capacity_words: 150, start_cycles: 3"), "has start_cycles"),
        (("class: DRAM,", "class: DRAM, fanout: [{name: PE, size: 4}],"), "has no memory with one instance"),
    ],
)
def test_a_machine_whose_plans_are_not_counted_is_refused(rewrite, tmp_path, change, why):
    (tmp_path / "m.yaml").write_text(MACHINE.replace(*change))
    done = rewrite(*GIVEN)
    assert (done.exit_code, why in done.stderr) == (2, True), done.output
    assert not (tmp_path / "out").exists()


def test_a_layer_without_a_mapping_is_status_1(rewrite, tmp_path):
    (tmp_path / "m.yaml").write_text(
        MACHINE.replace("capacity_words: 150", "capacity_words: 1, keep: [Inputs, Outputs]")
    )
    done = rewrite(*GIVEN)
    assert done.exit_code == 1, done.output
    assert "has no mapping on m" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_network_with_too_many_plans_is_bad_input(rewrite, monkeypatch):
    def refuse(*_):
        raise TooManyError("there are more than 20,000 states")

    monkeypatch.setattr(Pricer, "price", refuse)
    done = rewrite(*GIVEN)
    assert (done.exit_code, done.stderr) == (
        2,
        "two.onnx: plans cannot be searched: there are more than 20,000 states\n",
    )


def test_files_that_were_changed_are_replaced_with_force_alone(rewrite, tmp_path):
    assert rewrite(*GIVEN).exit_code == 0
    (tmp_path / "out/notes.txt").write_text("mine")
    assert rewrite(*GIVEN).exit_code == 0  # its own files
    (tmp_path / "out/rewritten.yaml").write_text("mine")
    done = rewrite(*GIVEN)
    assert (done.exit_code, "was changed since ruby-rewrite wrote it" in done.stderr) == (2, True)
    assert rewrite(*GIVEN, "--force").exit_code == 0
    assert (tmp_path / "out/rewritten.yaml").read_text().startswith("# rewritten.onnx")
    assert (tmp_path / "out/notes.txt").read_text() == "mine"


def test_the_model_that_is_read_is_never_written_over(rewrite, tmp_path):
    assert rewrite(*GIVEN).exit_code == 0
    done = rewrite("out/rewritten.onnx", "--arch", "m.yaml", "--out", "out", "--force")
    assert (done.exit_code, "is read by this command" in done.stderr) == (2, True)


def test_nothing_is_written_where_one_file_cannot_be(rewrite, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_rewrite, "network_yaml", full)
    done = rewrite(*GIVEN)
    assert (done.exit_code, "make room and run the same command again" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def interrupted_after(number):
    """Prices as they are, until so many are made: then Ctrl-C."""
    price, priced = Pricer.price, []

    def interrupted(self, *arguments):
        priced.append(price(self, *arguments))
        if len(priced) > number:
            raise KeyboardInterrupt
        return priced[-1]

    return interrupted


def test_ctrl_c_leaves_the_best_so_far(rewrite, tmp_path, monkeypatch):
    monkeypatch.setattr(Pricer, "price", interrupted_after(1))
    done = rewrite(*GIVEN, "--json")
    assert (done.exit_code, done.stderr) == (0, "interrupted: the best so far is written\n")
    said = json.loads(done.stdout)
    assert (said["ended"], said["rewrites"], said["priced"]) == ("interrupted", [], 1)
    assert (tmp_path / "out/rewritten.onnx").exists()


def test_ctrl_c_before_the_network_has_a_price_leaves_nothing(rewrite, tmp_path, monkeypatch):
    monkeypatch.setattr(Pricer, "price", interrupted_after(0))
    done = rewrite(*GIVEN)
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "interrupted\n")
    assert not (tmp_path / "out").exists()


def test_the_log_says_how_many_networks_were_priced(rewrite):
    done = rewrite(*GIVEN, "--log")
    assert "2 networks met, 2 priced, the best " in done.stderr


def test_the_options_of_help_are_those_of_the_search():
    assert (RewriteOptions().alpha, RewriteOptions().graphs) == (ALPHA, GRAPHS)
    assert (*PLANS, "none") == FUSE


def priced(value, lower_bound):
    return Price(SimpleNamespace(energy_pj=value / 2, cycles=2), value, lower_bound)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        (
            90.0,
            "20.00% below the best known plan of the network before, proven to be at least 11.11% below every plan",
        ),
        (80.0, "20.00% below the best known plan of the network before, of which one may be 20.00% lower: not proven"),
        (0.0, "of which one may be 100.00% lower: not proven to be better"),
    ],
)
def test_no_more_is_said_than_is_proven(bound, verdict):
    """By the bound of the network before alone: what is known of that after is a plan."""
    applied = (Applied("a -> b", (("x",), ("y", "z")), 20.0),)
    outcome = Outcome(priced(100.0, bound), priced(80.0, 1.0), None, applied, Seen(unpriced=Counter({"why\nso": 2})))
    result = RewriteResult("m", "ruby-s", OBJECTIVES["edp"], outcome)
    assert verdict in result.verdict
    for line in ("rewrite      a -> b, at 2 places: x, y + z: saves 20.00%", "no price     2: why"):
        assert line in str(result).splitlines()


def test_the_page_of_substitutions_is_written_in_place_of_a_network(rewrite, tmp_path):
    """Its own page is replaced, and no other file without --force."""
    (tmp_path / "mine.html").write_text("mine")
    done = rewrite("--rules", "mine.html", "--arch", "m.yaml")
    assert (done.exit_code, done.stderr.splitlines()) == (
        2,
        [
            "arch: does not go with --rules: leave it out",
            "rules: mine.html: exists, and is not a page of substitutions: name another file, or give --force to"
            " replace it",
        ],
    )
    for options in (("mine.html", "--force"), ("mine.html",)):
        assert rewrite("--rules", *options).exit_code == 0
    assert (tmp_path / "mine.html").read_text() == substitutions_html()
