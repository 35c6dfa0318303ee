"""`ruby-store`, and `--store` of `ruby-map` and `ruby-model`: what a user sees, and the exit statuses."""

import json
import sqlite3

import pytest
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.mapper.commands import ruby_model as command_model
from ruby_map.mapper.commands import ruby_store as command_store
from ruby_map.mapper.mapping import mapping_yaml
from typer.testing import CliRunner

from ..store.test_store import LAYER, drawn

RANDOM = ("--search", "random", "--samples", 3000)


def run(main, *arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def search(path, *more):
    return run(command_map.main, *LAYER, "--store", path, *more)


def store(path, *arguments):
    return run(command_store.main, path, *arguments)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A store with two problems."""
    path = tmp_path_factory.mktemp("store") / "s.sqlite"
    for objective in ("edp", "delay"):
        found = search(path, "--objective", objective, "--mapspace", "ruby")
        assert found.exit_code == 0, found.stderr
        assert "store        found by this search (auto)" in found.stdout
    return path


@pytest.fixture
def path(filled, tmp_path):
    """A copy of it."""
    copy = tmp_path / "s.sqlite"
    copy.write_bytes(filled.read_bytes())
    return copy


def test_a_search_answers_what_is_held_where_that_is_better(path):
    """And says where it comes from, and what is said to be proven."""
    whole = json.loads(search(path, "--mapspace", "ruby", *RANDOM, "--json").stdout)
    assert whole["origin"] == "auto"
    assert whole["search"]["strategy"] == "random"
    assert whole["store"]["since"]
    assert whole["store"]["proof"]["optimal"]
    text = search(path, "--mapspace", "ruby", *RANDOM).stdout
    assert "from auto; 1 mapping known before; said to be proven: the best of ruby was known (auto, " in text
    assert "origin" not in json.loads(run(command_map.main, *LAYER, *RANDOM, "--json").stdout)


def test_the_problems_are_listed_and_the_best_is_shown(path):
    """By names, as text and as JSON; a mapping is counted again."""
    said = json.loads(store(path, "list", "--json").stdout)["problems"]
    assert [(each["arch"], each["workload"], each["objective"]) for each in said] == [
        ("linear_5", "matmul_100", "delay"),
        ("linear_5", "matmul_100", "edp"),
    ]
    assert said[1]["problem"][:12] in store(path, "list").stdout
    assert len(json.loads(store(path, "list", "--objective", "d*", "--json").stdout)["problems"]) == 1
    assert json.loads(store(path, "list", "--arch", "x", "--json").stdout) == {"problems": []}
    best = json.loads(store(path, "best", said[1]["problem"][:9], "--json").stdout)
    assert best["edp"] == pytest.approx(said[1]["best"]["values"][0])
    assert best["proofs"][0]["optimal"]
    assert best["origin"] == "auto"
    shown = store(path, "best", "--objective", "edp").stdout
    assert "found: auto in ruby\n" in shown
    assert "for M in " in shown


def test_a_hand_made_mapping_is_added(tmp_path):
    """With the origin hand, if it is valid; a search then begins with it."""
    path, file = tmp_path / "s", tmp_path / "m.yaml"
    file.write_text(mapping_yaml(drawn(1)))
    assert run(command_model.main, *LAYER, file, "--store", path).exit_code == 0
    assert run(command_model.main, *LAYER, file, "--store", path, "--objective", "delay,energy").exit_code == 0
    said = json.loads(store(path, "list", "--json").stdout)["problems"]
    assert {each["objective"]: each["best"]["origins"][0]["name"] for each in said} == {
        "edp": "hand",
        "delay,energy": "hand",
    }
    found = json.loads(search(path, "--mapspace", "ruby", "--search", "evolve", "--samples", 2000, "--json").stdout)
    assert found["store"]["known"] == 1


def test_an_invalid_mapping_is_not_added(tmp_path):
    """Status 1, as without a store."""
    layer = ("eyeriss_like", "resnet50/conv2_x_3x3")
    (tmp_path / "m.yaml").write_text("- {target: psum_spad, type: temporal, factors: M=0 C=0 P=0 Q=0 R=0 S=0}\n")
    found = run(command_model.main, *layer, tmp_path / "m.yaml", "--store", tmp_path / "s")
    assert found.exit_code == 1
    assert not (tmp_path / "s").exists()


def test_an_export_is_imported_elsewhere(path, tmp_path):
    """Once or twice, the store there says the same; without a file the lines go to standard output."""
    lines, there = tmp_path / "lines.jsonl", tmp_path / "there"
    assert store(path, "export", "--out", lines).exit_code == 0
    assert store(path, "export").stdout == lines.read_text()
    for _ in range(2):
        assert json.loads(store(there, "import", lines, "--json").stdout) == {"imported": 2}
        assert store(there, "export").stdout == lines.read_text()
    assert store(there, "list").stdout == store(path, "list").stdout


def test_a_file_that_is_no_export_is_refused_with_every_fault(path, tmp_path):
    """By line; nothing of it is imported."""
    lines = [json.loads(line) for line in store(path, "export").stdout.splitlines()]
    header, problem, mapping = lines[:3]
    table = problem["content"]["table"]
    beyond = [  # what JSON has no number for, where the digest does not look
        table | {"levels": [level | {"area_um2": area} for level in table["levels"]]}
        for area in (float("nan"), float("inf"), "1" * 400)
    ]
    wrong = [
        header,
        problem,
        problem | {"digest": "0" * 32},
        mapping | {"cycles": -1},
        mapping | {"date": "yesterday"},
        mapping | {"problem": "other"},
        mapping | {"mapping": {"bounds": {}, "orders": {}, "keep": {}}},
        header,
        {"kind": "x"},
        mapping,
        *(problem | {"content": problem["content"] | {"table": bad}} for bad in beyond),
    ]
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join([*map(json.dumps, wrong), "no json"]))
    before = store(path, "export").stdout
    refused = store(path, "import", file)
    assert (refused.exit_code, refused.stdout) == (2, "")
    for number, words in {
        3: "does not say what was written", 4: "cycles", 5: "date", 6: "no line above has the problem other",
        7: "none of the sizes", 8: "the first line, and no other", 9: "kind", 11: "JSON", 12: "JSON", 13: "JSON",
        14: "JSON",
    }.items():  # fmt: skip
        assert any(f"{file}:{number}: " in line and words in line for line in refused.stderr.splitlines()), words
    assert f"{file}:10:" not in refused.stderr
    assert store(path, "export").stdout == before


def test_a_store_is_pruned(path):
    """The best of each problem stays."""
    assert json.loads(store(path, "prune", "--keep", 1, "--older-than", 0, "--json").stdout) == {"removed": 0}
    assert "0 mappings removed" in store(path, "prune", "--keep", 5).stdout
    assert len(json.loads(store(path, "list", "--json").stdout)["problems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lst",), 'ACTION: must be one of list, best, export, import, prune; got "lst"; did you mean "list"?'),
        (("list", "--keep", 3, "--out", "x"), "keep: does not go with list"),
        (("list", "--keep", 3, "--out", "x"), "out: does not go with list"),
        (("list", "x"), "WHAT: does not go with list"),
        (("import",), "WHAT: is missing"),
        (("import", "nowhere"), "nowhere: no such file"),
        (("prune",), "needs --keep or --older-than"),
        (("prune", "--keep", 0), "keep: must be at least 1"),
        (("prune", "--older-than", "nan"), "older-than: must be days"),
        (("best",), "best: 2 problems are so named"),
        (("best", "x"), "best: no problem of the store is so named"),
    ],
)
def test_wrong_arguments_are_told(path, arguments, words):
    """Status 2, all at once, and nothing on standard output."""
    refused = store(path, *arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert words in refused.stderr


def test_a_wrong_store_is_told_with_all_other_faults_before_a_search(tmp_path):
    """A text, a folder, a missing folder; and options that need no store."""
    (tmp_path / "text").write_text("x" * 200)
    for path, words in {
        tmp_path: "is a folder", tmp_path / "text": "is no store, or damaged", tmp_path / "x/y": "cannot be made",
    }.items():  # fmt: skip
        refused = search(path, "--seed", -1)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert f"{path}: " in refused.stderr
        assert words in refused.stderr
        assert "seed: must be" in refused.stderr
        assert run(command_model.main, *LAYER, "none.yaml", "--store", path).exit_code == 2
    assert "leave out --size" in search(tmp_path / "s", "--size").stderr
    assert not (tmp_path / "s").exists()
    assert "no such store" in store(tmp_path / "s", "list").stderr
    two = run(command_model.main, *LAYER, "a.yaml", "b.yaml", "--store", tmp_path / "s")
    assert "store: takes one mapping" in two.stderr
    assert "objective: goes with --store" in run(command_model.main, *LAYER, "a", "--objective", "edp").stderr


def test_what_could_not_be_added_is_told_after_the_result(path, monkeypatch):
    """Status 2, with the result on standard output and a warning."""
    database = sqlite3.connect(path)
    # a write that fails though the file can be written: no second origin fits beside the first
    database.execute("DELETE FROM origin WHERE mapping > (SELECT min(mapping) FROM origin)")
    database.execute("CREATE UNIQUE INDEX one ON origin (mapping IS NULL)")
    database.commit()
    database.close()
    found = search(path, "--mapspace", "pfm", "--search", "evolve", "--samples", 2000, "--json")
    assert found.exit_code == 2
    assert json.loads(found.stdout)["edp"] > 0
    assert "warning: the mappings found are not added:" in found.stderr
