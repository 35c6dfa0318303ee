"""No character from a file makes a terminal do something, and no cell of a table is a formula."""

import csv
import json

import pytest
from ruby_map.mapper.commands import ruby_energy, ruby_map, ruby_model, ruby_report
from ruby_map.mapper.runtime.streams import shown
from typer.testing import CliRunner

ODD = {
    "ESC": "\x1b[2J",
    "bell": "\x07",
    "null": "\0",
    "8-bit CSI": "\x9b2J",
    "right to left": "\u202e",
    "mark": "\u200f",
    "no width": "\u200b",
    "tag": "\U000e0041",
}
ARCH = "{name: a, levels: [{name: DRAM, %s: 1}], compute: {name: MAC}}"


def run(app, *arguments):
    return CliRunner().invoke(app.main, list(map(str, arguments)), catch_exceptions=False)


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("where", ["name", "key", "value", "option", "file", "mapping"])
def test_what_a_terminal_obeys_is_refused_and_told_as_numbers(tmp_path, where, odd):
    """In names of layers, keys, values, options and file names: status 2, before a search, and nothing raw."""
    quoted = json.dumps(f"a{odd}b")
    (tmp_path / "layer.yaml").write_text(
        "{name: %s, shape: rank1, sizes: {D: 4}}" % (quoted if where == "name" else "l")
    )
    (tmp_path / "arch.yaml").write_text(ARCH % quoted)
    (tmp_path / "mapping.yaml").write_text(f"mapping: [{{target: {quoted}, type: temporal, factors: D=4}}]")
    layer, toy, out = tmp_path / "layer.yaml", "toy_6pe_linear", ("--out", tmp_path / "found")
    done = {
        "name": lambda: run(ruby_map, toy, layer, *out),
        "key": lambda: run(ruby_energy, tmp_path / "arch.yaml"),
        "value": lambda: run(ruby_map, toy, layer, "--objective", f"a{odd}b", *out),
        "option": lambda: run(ruby_map, toy, layer, "--fix", f"a{odd}b: C=1", *out),
        "file": lambda: run(ruby_map, toy, f"a{odd}b.yaml", *out),
        "mapping": lambda: run(ruby_model, toy, layer, tmp_path / "mapping.yaml"),
    }[where]()  # fmt: skip
    assert (done.exit_code, done.stdout) == (2, "")
    assert odd not in done.stderr
    assert not any(ord(letter) < 32 and letter != "\n" for letter in done.stderr)
    assert not (tmp_path / "found").exists()


def test_a_name_that_no_folder_can_have_is_refused_before_the_search(tmp_path):
    """300 letters, also of a layer within a network."""
    layer = "{name: %s, shape: rank1, sizes: {D: 4}}" % ("x" * 300)
    (tmp_path / "layer.yaml").write_text(layer)
    (tmp_path / "net.yaml").write_text(f"{{name: n, layers: [{layer}]}}")
    for file in ("layer.yaml", "net.yaml"):
        done = run(ruby_map, "toy_6pe_linear", tmp_path / file, "--out", tmp_path / "found")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "a name has at most 200 bytes, got 300" in done.stderr


def test_lines_tabs_and_letters_stay():
    text = "a\tb\nµ ×10⁻³ 层 \N{MINUS SIGN}"
    assert shown(text) == text


def test_no_cell_is_a_formula(tmp_path):
    """A layer's name that a spreadsheet would compute gets an apostrophe; numbers stay numbers."""
    names = "=1+1", "+a", "-b", "@c", "-1"
    layers = ", ".join(f'{{name: "{name}", shape: rank1, sizes: {{D: {size}}}}}' for size, name in enumerate(names, 4))
    (tmp_path / "net.yaml").write_text(f"{{name: n, layers: [{layers}]}}")
    searched = "--search", "random", "--samples", "20"
    assert run(ruby_map, "toy_6pe_linear", tmp_path / "net.yaml", *searched, "--out", tmp_path / "n").exit_code == 0
    assert run(ruby_report, tmp_path / "n", "--files", tmp_path / "f", "--format", "csv").exit_code == 0
    for file in (tmp_path / "n/layers.csv", tmp_path / "f/layers.csv"):
        cells = [cell for row in csv.reader(file.open(newline="")) for cell in row]
        assert {"'=1+1", "'+a", "'-b", "'@c"} <= set(cells)
        assert not [cell for cell in cells if cell[:1] in tuple("=+@") or (cell[:1] == "-" and cell != "-1")]
