"""Mistakes that people make: each is told with the way out, with file and line where a file is concerned."""

import re
import sys
import time
import warnings

import pytest
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.commands.ruby_model import main as model
from ruby_map.mapper.search.options import read_budget
from ruby_map.workloads import library_workloads
from ruby_map.workloads.hints import with_unit
from ruby_map.workloads.timeloop import InputWarning
from typer.testing import CliRunner

from ruby_map import InputError, SearchOptions, explore, load_workload

MACHINE = """name: mine
technology: 45nm
levels:
  - {name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64, word_bits: 16}
  - name: buffer
    class: SRAM
    capacity_bytes: 64 * 1024
    width_bits: 64
    word_bits: 16
    temporal: {factors: [M=2]}
    keep: [Weights]
    fanout: [{name: PE, size: 4, dims: [C, M]}]
compute: {name: MAC, class: intmac, word_bits: 16}
"""
LAYER = "name: mine\nshape: conv2d\nsizes: {M: 64, C: 64, P: 56, Q: 56, R: 3, S: 3}\n"


def told(app, *arguments):
    """What a command with faults says; exit status 2, nothing on standard output."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert (done.exit_code, done.stdout) == (2, "")
    return done.stderr


@pytest.fixture
def files(tmp_path):
    """Writes a machine and a layer with a change each; returns their paths."""

    def write(*changes):
        for name, text in (("arch.yaml", MACHINE), ("layer.yaml", LAYER)):
            for before, after in changes:
                text = text.replace(before, after)
            (tmp_path / name).write_text(text)
        return tmp_path / "arch.yaml", tmp_path / "layer.yaml"

    return write


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("64 * 1024", "64KB"), "arch.yaml:7: levels[1].capacity_bytes", "got '64KB'; write 64 * 1024\n"),
        (("64 * 1024", "64 KiB"), "arch.yaml:7:", "got '64 KiB'; write 64 * 1024\n"),
        (("64 * 1024", "1.5MB"), "arch.yaml:7:", "; write 1.5 * 1024 * 1024\n"),
        (("64 * 1024", "512 Kb"), "arch.yaml:7:", "; write 512 * 1024 / 8\n"),
        (("bytes: 64 * 1024", "bits: 64KB"), "arch.yaml:7:", "; write 64 * 1024 * 8\n"),
        (("bytes: 64 * 1024", "words: 64KB"), "arch.yaml:7:", "; this key has no unit: write a number, as 64 * 1024\n"),
        (("bytes: 64 * 1024", "words: 64k"), "arch.yaml:7:", "; write 64 * 1024\n"),
        (("    word_bits: 16", "    word_bits: 16b"), "arch.yaml:9:", "got '16b'; write 16\n"),
        (("capacity_bytes", "capacity"), "arch.yaml:7:", 'unknown key "capacity"; did you mean "capacity_bytes"?'),
        (("M: 64", "K: 64"), "layer.yaml:3: sizes.K", 'R, S; did you mean "M"?'),
        (("Q: 56", "OX: 56"), "layer.yaml:3: sizes.OX", 'R, S; did you mean "Q"?'),
        (("P: 56", "OY: 56"), "layer.yaml:3: sizes.OY", 'R, S; did you mean "P"?'),
        (("S: 3", "FX: 3"), "layer.yaml:3: sizes.FX", 'R, S; did you mean "S"?'),
        (("R: 3", "FY: 3"), "layer.yaml:3: sizes.FY", 'R, S; did you mean "R"?'),
        (("P: 56", "H: 58"), "layer.yaml:3: sizes.H", "; the output has P = (58 + 2 * padding - 3) // 1 + 1\n"),
        (("Q: 56", "W: 58"), "layer.yaml:3: sizes.W", "; the output has Q = (58 + 2 * padding - 3) // 1 + 1\n"),
        (
            ("shape: conv2d", "shape: conv2d\npadding: 1"),
            "layer.yaml:3: padding",
            "P = (H + 2 * padding - R) // stride + 1",
        ),
        (
            ("shape: conv2d", "shape: conv2d\nkernel_size: 3"),
            "layer.yaml:3:",
            "sizes has the filter's rows R and columns S",
        ),
        (("M=2", "Z=2"), "arch.yaml:10: buffer: ", 'unknown dim "Z"; known: '),
        (("[C, M]", "[C, X]"), "arch.yaml:12: buffer.PE: ", 'unknown dim "X"; known: '),
        (("[Weights]", "[Wights]"), "arch.yaml:11: buffer.keep: ", 'did you mean "Weights"?'),
        (("M=2", "M=65"), "arch.yaml:10: buffer: ", "64 in workload mine; got M=65"),
        (("SRAM", "SRRAM"), "arch.yaml:5: buffer: ", "got 'SRRAM'"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_line_and_the_way_out(files, change, line, words):
    """Units, other tools' names, sizes of the input, names that the layer lacks."""
    said = told(main, *files(change))
    (found,) = [each for each in said.splitlines(keepends=True) if words in each]
    assert re.search(rf"(^|/){re.escape(line)}", found)


def test_the_output_size_is_computed_with_the_stride(files):
    """The layer's own numbers stand in the formula."""
    change = ("P: 56", "H: 58"), ("shape: conv2d", "shape: conv2d\nstride: 2")
    assert "the output has P = (58 + 2 * padding - 3) // 2 + 1" in told(main, *files(*change))


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        # a window has its own stride, and a dilation; what is no number stands by its name
        (
            "shape: conv2d\nstride: [2, 4]\nsizes: {M: 1, C: 1, P: 9, W: 56, R: 3, S: 5}",
            "Q = (56 + 2 * padding - 5) // 4 + 1",
        ),
        (
            "shape: conv2d\nstride: [2, 4]\nsizes: {M: 1, C: 1, H: 56, Q: 9, R: 3, S: x}",
            "P = (56 + 2 * padding - 3) // 2 + 1",
        ),
        (
            "shape: conv2d\ndilation: 2\nsizes: {M: 1, C: 1, H: 56, Q: 9, R: 3, S: 3}",
            "P = (56 + 2 * padding - 2 * (3 - 1) - 1) // 1 + 1",
        ),
        (
            "shape: conv2d\nstride: two\nsizes: {M: 1, C: 1, H: [], Q: 9, S: 3}",
            "P = (H + 2 * padding - R) // stride + 1",
        ),
        ("shape: conv2d\nstride: [1, 2, 3]\nsizes: {M: 1, H: true, Q: 9}", "P = (H + 2 * padding - R) // stride + 1"),
        ("shape: conv2d\nstride: {a: 1}\nsizes: {M: 1, H: -1, Q: 9}", "P = (H + 2 * padding - R) // stride + 1"),
        (
            "shape: transposed_conv2d\nstride: 2\nsizes: {M: 1, C: 1, H: 8, Q: 16, R: 4, S: 4}",
            "P = (8 - 1) * 2 - 2 * padding + 4",
        ),
        (
            "shape: transposed_conv2d\npadding: 1\nsizes: {M: 1, C: 1, P: 16, Q: 16, R: 4, S: 4}",
            "(H - 1) * stride - 2 * padding + R",
        ),
        (
            "shape: conv1d\nPadding: 1\nsizes: {M: 1, C: 1, P: 8, R: 3}",
            "sizes has the output's P, which padding is part of",
        ),
        ("shape: conv1d\nkernel_size: 3\nsizes: {M: 1, C: 1, P: 8}", "sizes has the filter's rows R"),
        (
            "shape: conv1d\nsizes: {padding: 1, M: 1, C: 1, P: 8, R: 3}",
            "sizes has the output's P, which padding is part of",
        ),
        (
            "shape: conv2d\ngroups: 4\nsizes: {M: 1, C: 1, P: 8, Q: 8, R: 3, S: 3}",
            "; sizes has the groups as G, and M and C",
        ),
        # a matrix product has a K, no padding, and its batch is N, with a B beside it B
        ("shape: matmul\nsizes: {M: 1, N: 1, k: 1}", 'did you mean "K"?'),
        ("shape: matmul\nsizes: {M: 1, batch: 1, K: 1}", 'did you mean "N"?'),
        ("shape: batched_matmul\nsizes: {batch: 2, M: 1, N: 1, K: 1}", 'did you mean "B"?'),
    ],
)
def test_a_hint_fits_the_layer(tmp_path, layer, words):
    """The shape, its windows and the numbers that the file has, whatever else it has in their place."""
    path = tmp_path / "layer.yaml"
    path.write_text(layer)
    assert words in told(main, "toy_6pe", path)


@pytest.mark.parametrize(
    ("layer", "fault"),
    [
        ("shape: conv2d\nsizes: {M: 8, K: 8, C: 1, P: 1, Q: 1, R: 1, S: 1}", 'unknown dim "K"; .*, S$'),  # M is there
        ("shape: matmul\npadding: 1\nsizes: {M: 1, N: 1, K: 1}", 'unknown key "padding"; known: name, '),
        ("shape: [conv2d]\npadding: 1\nsizes: {M: 1}", 'unknown key "padding"; known: name, '),
        ("dims: {M: 4, N: 4}\ntensors: {Out: {output: true, projection: [M, K]}}", "(?!.*did you mean).*K"),
    ],
)
def test_a_hint_that_would_not_help_is_left_out(tmp_path, layer, fault):
    """A dim that stands beside the wrong one, a formula of convolutions for a product, words for dims of one's own."""
    path = tmp_path / "layer.yaml"
    path.write_text(layer)
    assert re.search(
        f"^.*layer.yaml:[0-9]+: [a-zA-Z.0-9]*(\\[[0-9]\\])?:? ?{fault}", told(main, "toy_6pe", path), re.MULTILINE
    )


def test_units_are_read_at_once_in_plain_digits(files):
    """Other scripts' digits are no expression either; a text of blanks takes no minutes."""
    assert "; write" not in told(main, *files(("64 * 1024", "\N{ARABIC-INDIC DIGIT THREE}KB")))
    assert not with_unit("1" * 1_000_000 + "KB", "capacity_bytes")  # the message stays short
    began = time.monotonic()
    assert not with_unit("1" + " " * 100_000 + "x", "capacity_bytes")
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        # names of a machine, of two axes and of an axis and a level are the same
        ("  - name: a\n    fanout: [{name: X, size: 2, dims: [C]}]\n"
         "  - name: b\n    fanout: [{name: X, size: 2, dims: [C, Z]}]  # here", "b.X"),
        ("  - name: X\n    temporal: {dims: [C]}\n"
         "  - name: b\n    fanout: [{name: X, size: 2, dims: [Z]}]  # here", "b.X"),
        ("  - name: glb\n    placement: uneven\n    keep: [Wights]  # here", "glb.keep"),
        ("  - name: glb\n    placement: uneven\n    temporal: {dims: [M, Z]}  # here", "glb"),
        ("  - name: mine\n    temporal: {dims: [M, Z]}  # here", "mine"),
        ("  - name: glb\n    fanout:\n      - name: Z\n        size: 2\n        dims: [Z]  # here", "glb.Z"),
        # the loops of the level, not those below it; a factor, not the dim's other place
        ("  - name: glb\n    fanout: [{name: X, size: 2, dims: [C, M]}]\n    temporal:\n      dims: [M]\n"
         "      factors: [M=65]  # here", "glb"),
        ("  - name: glb\n    bypass: [Inputs]\n    keep: [Wights]  # here\n    attributes: {note: Wights}", "glb.keep"),
        ("  - name: glb\n    attributes: {note: Wights}\n    keep: [Wights]  # here", "glb.keep"),
    ],
)  # fmt: skip
def test_the_line_is_that_of_the_level_axis_or_list(files, lines, place):
    """Whatever else has its name, or has the wrong word."""
    arch, layer = files()
    each = "    class: SRAM\n    capacity_bytes: 65536\n    word_bits: 16\n    width_bits: 64\n"
    levels = re.sub(r"(  - name: (?:a|b|X|glb|mine)\n)", rf"\1{each}", lines)
    dram = "  - {name: DRAM, class: DRAM, type: LPDDR4, width_bits: 64, word_bits: 16}\n"
    compute = "compute: {name: MAC, class: intmac, word_bits: 16}\n"
    text = f"name: mine\ntechnology: 45nm\nlevels:\n{dram}{levels}\n{compute}"
    arch.write_text(text)
    here = 1 + next(number for number, line in enumerate(text.splitlines()) if "# here" in line)
    assert f"{arch}:{here}: {place}: " in told(main, arch, layer)


def test_lines_are_those_of_the_base(tmp_path):
    """The file in which a wrong name stands is named, also where another builds on it."""
    (tmp_path / "below.yaml").write_text(MACHINE.replace("[Weights]", "[Wights]"))
    (tmp_path / "above.yaml").write_text("base: below.yaml\nname: above\ncompute: {word_bits: 8}\n")
    (tmp_path / "layer.yaml").write_text(LAYER)
    assert "below.yaml:11: buffer.keep" in told(main, tmp_path / "above.yaml", tmp_path / "layer.yaml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--objective", "latency"], 'got "latency"; did you mean "delay"?'),
        (["--objective", "Runtime"], 'did you mean "delay"?'),
        (["--objective", "energy-delay"], 'did you mean "edp"?'),
        (["--front", "power,delay"], 'did you mean "energy"?'),
        (["--mapspace", "perfect"], 'did you mean "pfm"?'),
        (["--search", "annealing"], 'did you mean "anneal"?'),
        (["--budget", "1x"], "must be a number of mappings, as 1000000, or a time, as 60s or 5m"),
        (["--time-limit", "soon"], 'or a time, as 60s, 5m or 1h30m; got "soon"'),
    ],
)
def test_a_mistake_in_an_option_is_told_with_the_way_out(arguments, words):
    """Words of other tools, times that are none."""
    said = told(main, "toy_6pe", "rank1_100", *arguments)
    assert words in re.sub(r"\s*[\N{BOX DRAWINGS LIGHT VERTICAL}\n]\s*", " ", said).replace("  ", " ")


def test_times_have_units():
    """60s, 1m, 1h30m: in the budget, and in options that are a time."""
    for text, seconds in (
        ("60s", 60),
        ("1m", 60),
        ("1.5 min", 90),
        ("1h30m", 5400),
        ("2 hours", 7200),
        ("1e3s", 1000),
        ("1_000s", 1000),
        ("500ms", 0.5),
    ):
        assert read_budget(text) == (None, pytest.approx(seconds))
    for text in (
        "",
        "s",
        "1y",
        "m1",
        "60s!",
        "1m junk",
        "-1m",
        "0s",
        "nan",
        "infs",
        "5M",
        "\N{ARABIC-INDIC DIGIT THREE}s",
        "1__0s",
        "1mss",
    ):
        with pytest.raises(InputError):
            read_budget(text)
    words = ["toy_6pe", "rank1_100", "--search", "random", "--time-limit", "1m", "--samples", "9"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0
    assert "ended by: samples" in done.stdout


def test_inputs_in_the_wrong_place(files, tmp_path):
    """Names and files of the other kind: the right order is shown. A mapping is named as one."""
    arch, layer = files()
    rule = f"the architecture stands first: write {arch} {layer}"
    assert f"{layer} is a workload, {arch} an architecture; {rule}" in told(main, layer, arch)
    assert "write eyeriss_like resnet50/conv1" in told(main, "resnet50/conv1", "eyeriss_like")
    (tmp_path / "mapping.yaml").write_text("mapping: []\n")
    assert "mapping.yaml: is a mapping; ruby-model ARCH WORKLOAD MAPPING counts it" in told(
        main, arch, tmp_path / "mapping.yaml"
    )
    assert "write eyeriss_like alexnet/conv1" in told(model, "alexnet/conv1", "eyeriss_like", tmp_path / "mapping.yaml")


def test_inputs_in_the_wrong_place_by_other_names(files, tmp_path):
    """A layer of a network's file, and a path with a blank, which a shell takes in quotes."""
    _, layer = files()
    net, blank = tmp_path / "net.yaml", tmp_path / "my layer.yaml"
    net.write_text("layers:\n  - {layer: resnet50/conv1}\n")
    assert f"write eyeriss_like {net}/conv1\n" in told(main, f"{net}/conv1", "eyeriss_like")
    layer.rename(blank)
    assert f"write eyeriss_like '{blank}'\n" in told(main, blank, "eyeriss_like")


def test_a_mapping_as_workload_hides_no_fault_of_the_machine(files, tmp_path):
    """All faults of both inputs at once."""
    arch, _ = files(("64 * 1024", "64KB"))
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text("mapping: []\n")
    said = told(main, arch, mapping)
    assert "arch.yaml:7: levels[1].capacity_bytes" in said
    assert "mapping.yaml: is a mapping" in said


def test_all_channels_in_each_group_are_a_warning(tmp_path):
    """G: 96, M: 96, C: 96 has 9,216 channels, which may not be meant; the library means its own."""
    path = tmp_path / "dw.yaml"
    path.write_text("name: dw\nshape: conv2d\nsizes: {G: 96, M: 96, C: 96, P: 8, Q: 8, R: 3, S: 3}\n")
    with pytest.warns(InputWarning, match=r"dw.yaml:3: M and C are .* so it has 9,216 channels; .* M: 1, C: 1"):
        load_workload(path)
    path.write_text("name: dw\nshape: conv2d\nsizes: {G: 96, M: 1, C: 1, P: 8, Q: 8, R: 3, S: 3}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_workload(path)
        for name in library_workloads():
            load_workload(name)


def test_a_misspelt_keyword_of_python():
    """The near name, of explore's own keywords and of the options of the search."""
    python_hints = sys.version_info >= (3, 13)  # which tells the near name of a dataclass's field by itself
    with pytest.raises(TypeError, match="'stratgy'" + (". Did you mean 'strategy'" if python_hints else "$")):
        SearchOptions(stratgy="random")
    with pytest.raises(TypeError, match="'budgt'; did you mean \"budget\""):
        explore("toy_6pe", "rank1_100", budgt=1)
    with pytest.raises(TypeError, match="'stratgy'; did you mean \"strategy\""):
        explore("toy_6pe", "rank1_100", stratgy="random")


def test_the_seconds_of_a_run_are_shown():
    """From start to end, more than the search alone."""
    done = CliRunner().invoke(main, ["toy_6pe", "rank1_100"])
    whole, search = (float(re.search(pattern, done.stdout)[1]) for pattern in (r"([\d.]+) s from", r"; ([\d.]+) s,"))
    assert whole >= search
