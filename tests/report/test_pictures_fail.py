"""A picture never costs a result: odd names, a user's settings of matplotlib, pictures that cannot be drawn."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ruby_map.mapper.commands import ruby_map, ruby_report, ruby_sweep
from ruby_map.mapper.report.pictures.palette import plain_power
from typer.testing import CliRunner

ODD = r"a$_{b\frac$50%#1&x^y~\$"
LAYERS = f"name: {json.dumps(ODD)}\nlayers:\n- {{name: {json.dumps(ODD)}, shape: rank1, sizes: {{D: 100}}}}\n"
SWEEP = "{architecture: toy_6pe_linear, workloads: [net.yaml], search: {strategy: random, victory: 20}}"
RC = "text.usetex: True\nfont.family: No Such Font\nbackend: nope\nsavefig.bbox: tight\nfigure.dpi: 10000\n"


def run(app, *arguments):
    return CliRunner().invoke(app.main, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.yaml").write_text(LAYERS)
    (tmp_path / "layer.yaml").write_text(f"{{name: {json.dumps(ODD)}, shape: rank1, sizes: {{D: 100}}}}")
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def test_odd_names_are_drawn_as_they_are(place, recwarn):
    """Of layers, networks, sweeps, comparisons: pictures of all, and the names in them as text."""
    searched = "--search", "random", "--samples", "200"
    assert run(ruby_map, "toy_6pe_linear", "net.yaml", *searched, "--out", "net").exit_code == 0
    layer = ("toy_6pe_linear", "layer.yaml", *searched, "--front", "energy,delay", "--out", "layer")
    assert run(ruby_map, *layer).exit_code == 0
    assert run(ruby_sweep, "sweep.yaml", "--out", "sweep").exit_code == 0
    assert run(ruby_report, "net", "net", "--files", "files", "--format", "svg", "--format", "pdf").exit_code == 0
    names = ("net/layers", "net/convergence", "layer/energy", "layer/convergence", "layer/front", "sweep/pareto")
    for name in names:
        assert Path(f"{name}.png").read_bytes().startswith(b"\x89PNG"), name
    assert r"a$_{b\frac$50%#1&amp;x^y~\$" in Path("files/energy.svg").read_text()


def test_a_users_settings_change_no_picture(place):
    """LaTeX asked for, a font and a back end that there are not, in a matplotlibrc and in MPLBACKEND."""
    (place / "matplotlibrc").write_text(RC)
    code = "from ruby_map.mapper.commands.entry import ruby_map; ruby_map()"
    command = [sys.executable, "-c", code, "toy_6pe_linear", "layer.yaml", "--search", "random", "--samples", "200"]
    plain = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"} | {"MATPLOTLIBRC": os.devnull}
    theirs = plain | {"MPLBACKEND": "nope", "MATPLOTLIBRC": str(place)}
    for settings, out in ((plain, "plain"), (theirs, "theirs")):
        done = subprocess.run([*command, "--out", out], capture_output=True, text=True, env=settings, check=False)
        assert done.returncode == 0, done.stderr
        assert "cannot be drawn" not in done.stderr
    for name in ("energy.png", "convergence.png"):
        assert (place / "theirs" / name).read_bytes() == (place / "plain" / name).read_bytes()


@pytest.mark.parametrize("error", [ValueError("no such glyph\nand more"), RuntimeError(), MemoryError("too large")])
def test_a_picture_that_cannot_be_drawn_is_a_warning(place, monkeypatch, error):
    """The result is printed first, the other files are there, and the status is 0."""
    from matplotlib.figure import Figure

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Figure, "savefig", fail)
    done = run(ruby_map, "toy_6pe_linear", "layer.yaml", "--search", "random", "--samples", "200", "--out", "found")
    assert done.exit_code == 0
    assert "EDP" in done.stdout
    why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    assert f"warning: energy cannot be drawn: {why}" in done.stderr
    assert f"warning: convergence cannot be drawn: {why}" in done.stderr
    assert {path.name for path in Path("found").iterdir()} == {
        "checkpoint.sqlite", "mapping.html", "mapping.yaml", "stats.json", "trace.csv",
    }  # fmt: skip
    assert run(ruby_sweep, "sweep.yaml", "--out", "sweep").exit_code == 0
    assert Path("sweep/report.html").exists()
    assert run(ruby_report, "found", "--out", "page.html", "--files", "files").exit_code == 0
    assert "<table>" in Path("page.html").read_text()
    assert Path("files/cases.csv").exists()


def test_the_result_is_printed_before_pictures_are_drawn(place, monkeypatch):
    """So that whatever becomes of them, it has been seen."""
    from ruby_map.mapper.commands import after_search, run_map

    order = []
    monkeypatch.setattr(run_map, "print_result", lambda text, nl=True: order.append("printed"))
    monkeypatch.setattr(after_search, "write_folder", lambda *_: order.append("written"))
    run(ruby_map, "toy_6pe_linear", "layer.yaml", "--search", "random", "--samples", "200", "--out", "found")
    assert order[:2] == ["printed", "written"]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (r"$\mathdefault{10^{15}}$", "10¹⁵"),
        (r"$\mathdefault{2\times10^{-3}}$", "2×10⁻³"),
        (r"$\mathdefault{10^{\N{MINUS SIGN}3}}$".replace(r"\N{MINUS SIGN}", "\N{MINUS SIGN}"), "10⁻³"),
        ("", ""),
    ],
)
def test_ticks_of_logarithmic_axes_are_text(label, text):
    assert plain_power(label) == text
