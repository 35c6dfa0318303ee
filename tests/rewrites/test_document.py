"""docs/rewrites.md: its example prints what is shown, and its figures are those of the shipped substitutions."""

import re

import pytest
from ruby_map.mapper.commands.ruby_rewrite import main
from ruby_map.mapper.rewrites import rules
from ruby_map.mapper.rewrites.operators import OPERATORS
from ruby_map.mapper.rewrites.shipped import shipped
from ruby_map.mapper.rewrites.verifier import LEMMAS, PROPERTIES
from typer.testing import CliRunner

from ..house import ROOT
from .onnx_models import node, save

PAGE = (ROOT / "docs/rewrites.md").read_text()
COUNTS, EQUATIONS = shipped()


def test_the_example_prints_what_is_shown(tmp_path, monkeypatch):
    """Three products of one input, the model that the text describes."""
    monkeypatch.chdir(tmp_path)
    weights = {"query": "A", "key": "B", "value": "C"}
    nodes = [node("MatMul", ["X", weight], name.title(), name=name) for name, weight in weights.items()]
    inputs, outputs = {"X": (16, 32)}, [name.title() for name in weights]
    save(tmp_path / "heads.onnx", nodes, inputs, outputs, dict.fromkeys("ABC", (32, 32)))
    ((command, shown),) = re.findall(r"```console\n\$ ruby-rewrite ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    done = CliRunner().invoke(main, command.split())
    assert (done.exit_code, done.stdout) == (0, shown)


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("graphs", COUNTS["graphs"]),
        ("pairs that compute the same on random inputs", COUNTS["equal on more inputs"]),
        ("inputs renamed", COUNTS["inputs renamed"]),
        ("common subgraphs", COUNTS["common subgraphs"]),
        ("of both enumerations, each once", COUNTS["with each other"]),
        ("made by smaller ones in turn", COUNTS["of smaller ones in turn"]),
        ("not proven, so not used", COUNTS["not proven"]),
        ("shipped", len(EQUATIONS)),
    ],
)
def test_the_table_of_stages_has_the_counts_of_the_file(stage, number):
    assert re.search(rf"^\| {stage} \| {number:,} \|", PAGE, re.MULTILINE)


def test_the_numbers_in_the_text_are_those_of_the_code():
    lost = COUNTS["with each other"] - COUNTS["of smaller ones in turn"] - COUNTS["not proven"] - len(EQUATIONS)
    assert f"| said by a wider one | {lost:,} |" in PAGE
    assert f"from {len(PROPERTIES)} properties" in PAGE
    assert f"and {len(LEMMAS)} lemmas" in PAGE
    assert f"{len(rules()):,} in all" in PAGE


def test_every_operator_is_in_the_table():
    (table,) = re.findall(r"^\| operator \|.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    told = {name for row in table.strip().splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert {op if not op.startswith("split") else "split" for op in OPERATORS} == told
