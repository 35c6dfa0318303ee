"""`experiments/default_answers.py`: it runs at a small size, goes on where it was killed, and finds contradictions."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "experiments"
SCRIPT = FOLDER / "default_answers.py"
NAME = SCRIPT.stem


@pytest.fixture
def script(monkeypatch):
    """The script, as Python finds its neighbours."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module(NAME)


@pytest.fixture
def known(script):
    return importlib.import_module("answers.known")


@pytest.fixture
def here(script, monkeypatch, tmp_path):
    """Run the script at a small size in this process, which also measures; its status."""
    monkeypatch.setattr(script, "alone", lambda measure, case: measure(case))

    def run(*words):
        monkeypatch.setattr(sys, "argv", [SCRIPT.name, "--quick", "--out", str(tmp_path), *words])
        with pytest.raises(SystemExit) as ended:
            script.main()
        return int(ended.value.code)

    return run


def test_every_table_at_a_small_size(script, here, tmp_path):
    """Each case of each table becomes a line and a row; what stands is not measured again, half a line is.

    The last run is a process, with one of its own for what it measures.
    """
    assert (ast.get_docstring(ast.parse(SCRIPT.read_text())) or "").startswith("Claim: ")
    assert here("--part", "1/2") == 0
    lines = tmp_path / f"{NAME}.jsonl"
    first = lines.read_text()
    assert here() == 0
    assert lines.read_text().startswith(first)
    written = lines.read_text().splitlines()
    result = json.loads((tmp_path / f"{NAME}.json").read_text())
    page = (tmp_path / f"{NAME}.md").read_text()
    size = script.Size(True, 60.0)
    assert list(result["tables"]) == list(script.TABLES)
    for name, table in script.TABLES.items():
        of = result["tables"][name]
        assert of["measured"] == of["of"] == len(table.cases(size)) > 0
        assert of["rows"]
        assert table.markdown(of["rows"]) in page
    assert not result["contradictions"]
    assert len(written) == sum(of["of"] for of in result["tables"].values())
    lines.write_text("\n".join([*written[:-1], written[-1][:40]]))  # killed while it wrote the last line
    command = [sys.executable, str(SCRIPT), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    again = lines.read_text().splitlines()
    assert again[:-2] == written[:-1]
    last = [json.loads(line) for line in (again[-1], written[-1])]
    assert last[0]["case"] == last[1]["case"]


def test_full_sizes(script):
    """How many measurements the tables have."""
    size = script.Size(False, 60.0)
    counts = {name: len(table.cases(size)) for name, table in script.TABLES.items()}
    assert counts == {
        "default": 12, "proofs": 24 * 2 * 4, "machines": 7 + 2 * 5, "evolution": 5 * 6 * 9, "limits": 12 * 3,
        "timeloop": 12, "golden": 16, "uneven": 12,
        "library": 9 * 5, "spaces": 4 * 4 + 3 * 2,
    }  # fmt: skip
    for table in script.TABLES.values():
        cases = [json.dumps(case) for case in table.cases(size)]
        assert len(set(cases)) == len(cases)


def test_bad_options(here, tmp_path, capsys):
    """A table or a part that there is not is refused."""
    for words, told in (("--tables", "speed"), "unknown: speed"), (("--part", "3/2"), "must be I/N"):
        assert here(*words) == 2
        assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def line(limit, optimal, edition="now", edp=2.0):
    own = {"machine": "m", "workload": "w", "mapspace": "pfm", "edp": edp, "lower_bound": 1.0, "optimal": optimal}
    return {"table": "proofs", "case": {"of": "w", "limit": limit}, "found": {"answers": [own]}, "edition": edition}


def test_a_longer_limit_replaces_a_shorter(script, tmp_path):
    """An open proof is measured again with more time, not with less, and never once it is closed."""
    path = tmp_path / "lines.jsonl"
    store = script.Store(path)

    def found(*lines, any_edition=False):
        path.write_text("".join(json.dumps(one | {"edition": one["edition"]}) + "\n" for one in lines))
        store.edition, store.any_edition = "now", any_edition
        return store.line_of("proofs", {"of": "w", "limit": 60.0})

    case = {"of": "w", "limit": 60.0}
    assert not script.stands(found(), case)
    assert not script.stands(found(line(10.0, False)), case)
    assert script.stands(found(line(10.0, True)), case)
    assert script.stands(found(line(60.0, False)), case)
    assert script.stands(found(line(600.0, False)), case)
    assert found(line(600.0, False, edp=3.0), line(10.0, False)) == line(600.0, False, edp=3.0)
    old = line(600.0, True, "before")
    assert found(old) is None
    assert found(old, any_edition=True) == old


def test_best_known_and_contradictions(known):
    """A mapping of pfm is one of ruby; a bound of ruby above it is wrong, one of pfm says nothing of ruby."""
    pfm = known.Answer("m", "w", "pfm", 2.0, 2.0, True)
    ruby = known.Answer("m", "w", "ruby", 4.0, 1.0, False)
    fine = known.Known([pfm, ruby])
    assert fine.best("m", "w", "ruby") == fine.best("m", "w", "pfm") == 2.0
    assert fine.best("m", "other", "ruby") == float("inf")
    assert fine.over_best(vars(ruby), ruby.edp) == 2.0
    assert not fine.contradictions()
    below = known.Answer("m", "w", "ruby", 1.5, 1.0, False)
    assert not known.Known([pfm, below]).contradictions()
    wrong = known.Answer("m", "w", "ruby", 4.0, 3.0, False)
    assert known.Known([pfm, wrong]).contradictions() == ["m w ruby: an EDP of 2 is below the bound 3"]
    none = known.Answer("m", "w", "pfm", None, None, False)
    assert none.gap == 1.0
    assert ruby.gap == 0.75


def test_mapspaces_inside_a_mapspace(known):
    """INSIDE says of each preset what the flags of its slots say."""
    from ruby_map.arch import load_arch
    from ruby_map.mapper.mapspace.presets import remainders
    from ruby_map.workloads import load_workload

    arch, work = load_arch("linear_16"), load_workload("matmul_100")
    flags = {preset: remainders(arch, work, preset)[0] for preset in known.INSIDE}
    for preset, inside in known.INSIDE.items():
        own = [name for name in flags if all(a <= b for a, b in zip(flags[name], flags[preset], strict=True))]
        assert sorted(own) == sorted(inside)


def test_evolution_at_marks(script, known):
    """Medians over seeds, then over layers; a seed without mapping counts as infinite; ruby against ruby-s."""
    evolution = importlib.import_module("answers.evolution")

    def run(mapspace, seed, *trace):
        case = {"machine": "m", "workload": "net/a", "mapspace": mapspace, "seed": seed, "seconds": 1.0}
        return {"case": case, "found": {"trace": trace}}

    lines = [run("ruby-s", 0, (0.2, 4.0), (0.9, 2.0)), run("ruby-s", 1, (0.2, 2.0)), run("ruby-s", 2, (0.4, 8.0))]
    lines += [run("ruby", 0, (0.2, 3.0)), run("ruby", 1, (0.2, 2.0))]
    best = known.Known([known.Answer("m", "net/a", "pfm", 2.0, None, False)])
    ruby_s, ruby = evolution.rows(lines, best)
    assert ruby_s["over_best"] == {"0.3": [2.0, 2.0], "0.5": [2.0, 2.0], "1.0": [1.0, 1.0]}
    assert ruby["above_ruby_s"] == [1, 2, 1.5]
    late = evolution.rows([run("ruby-s", 0, (0.4, 2.0))], best)[0]
    assert late["over_best"]["0.3"] == [None, None]
    column = evolution.TABLE.columns
    assert [column[name](late) for name in ("0.3 s", "0.5 s", "10 s")] == ["-, -", "1.000, 1.000", ""]


def test_compulsory_traffic(script):
    """A product with a vector reads its matrix and vector once, 30 words a cycle."""
    machines = importlib.import_module("answers.machines")
    assert machines.traffic_cycles("tpu_like.yaml", machines.VECTOR) == (11008 * 4096 + 4096) / 30
