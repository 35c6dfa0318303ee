"""The reading of input files: plain data out, every fault with its line, nothing executed."""

import json
import os
import pickle
import time
from pathlib import Path
from typing import Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from ruby_map.workloads import (
    FloatExpr,
    InputError,
    IntExpr,
    Section,
    check,
    near,
    option_fault,
    parse_yaml,
    read_yaml,
    unknown_choice,
)
from ruby_map.workloads.expressions import arithmetic, linear


class Axis(Section):
    size: IntExpr = Field(ge=1)
    name: str = "PE"
    share: FloatExpr = 1.0


class Level(Section):
    cls: Literal["DRAM", "SRAM"] = Field("DRAM", alias="class")
    fanout: tuple[Axis, ...] = ()
    keep: frozenset[str] = frozenset()
    depth: int | None = None


class Machine(Section):
    levels: tuple[Level, ...]
    limits: dict[str, IntExpr] = {}


def faults(text: str, **options: object) -> list[str]:
    """The faults of a text as printed, read from `f.yaml` and checked against Machine."""
    with pytest.raises(InputError) as caught:
        check(parse_yaml(text, "f.yaml", **options), Machine)  # type: ignore[arg-type]
    return str(caught.value).splitlines()


def test_surprises_of_yaml_1_1_are_gone() -> None:
    """N, Y, no and on are names, dates and 10:30 stay text, 1e3 is a number, keys are text."""
    text = "{N: 1, Y: 2, no: on, y: yes, t: true, d: 2020-01-01, m: 10:30, e: 1e3, i: 1_000, o: 010, 7: ~, x: 0x1F}"
    assert parse_yaml(text, "f").data == {
        **{"N": 1, "Y": 2, "no": "on", "y": "yes", "t": True, "d": "2020-01-01", "m": "10:30"},
        **{"e": 1000.0, "i": 1000, "o": 10, "7": None, "x": 31},
    }


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    scalars | st.text("abcNnYy:-#'\" é1e.", max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcNoy~1", max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(plain)
def test_json_is_read_as_json_means_it(value: object) -> None:
    """Whatever is written as JSON (which is YAML) is read back the same."""
    assert parse_yaml(json.dumps(value), "f").data == value


def test_two_escapes_of_json_are_one_character() -> None:
    """As other programs write it; half of one is a fault, in keys and values."""
    assert parse_yaml('{"a\\ud83d\\ude00": "\\ud83d\\ude00"}', "f").data == {"a\U0001f600": "\U0001f600"}
    with pytest.raises(InputError) as caught:
        parse_yaml('a: "\\ud83d"\n"\\ude00b": 1', "f")
    assert [(each.line, "has half of a character" in each.message) for each in caught.value.faults] == [
        (1, True), (2, True)
    ]  # fmt: skip


def test_lines_are_those_of_the_file() -> None:
    """A path has the line of its key; one that is not there has the nearest line around it."""
    document = parse_yaml("a: 1\n\nb:\n  - x\n  - y: 2\n", "f")
    assert [document.line(path) for path in [("a",), ("b",), ("b", 0), ("b", 1, "y"), ("b", 1, "z", 3)]] == [
        1,
        3,
        4,
        5,
        5,
    ]
    assert document.line(()) == 1


def test_aliases_and_merges_are_expanded() -> None:
    """`<<` brings in what the mapping does not say itself."""
    document = parse_yaml("base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\nlist: [*b]\n", "f")
    assert document.data["use"] == {"x": 1, "y": 3}
    assert document.data["list"] == [{"x": 1, "y": 2}]


def test_all_faults_at_once_with_lines() -> None:
    """Every fault of every kind is told in one go: line, path, rule, value, near name."""
    text = """
levels:
- class: DRAMM
  keep: [a]
  fanout:
  - {size: 0}
  - {sise: 3}
  - {size: "16"}
  - {size: abc, name: 5}
  - {size: 2 * pes}
  - {size: true, share: .nan}
  - {size: 1 / 2}
  - 5
- {depth: true, fanout: {}}
limits: {N: 1, Y: 2.5}
"""
    integer = "must be an integer or an arithmetic expression of one, got"
    assert faults(text) == [
        "f.yaml:3: levels[0].class: must be one of DRAM, SRAM; got 'DRAMM'; did you mean \"DRAM\"?",
        "f.yaml:6: levels[0].fanout[0].size: must be at least 1, got 0",
        'f.yaml:7: levels[0].fanout[1]: the key "size" is missing',
        'f.yaml:7: levels[0].fanout[1].sise: unknown key "sise"; did you mean "size"?',
        f"f.yaml:8: levels[0].fanout[2].size: {integer} '16'",
        f"f.yaml:9: levels[0].fanout[3].size: {integer} 'abc'",
        "f.yaml:9: levels[0].fanout[3].name: must be text, got 5",
        "f.yaml:10: levels[0].fanout[4].size: unknown name 'pes'",
        f"f.yaml:11: levels[0].fanout[5].size: {integer} true",
        "f.yaml:11: levels[0].fanout[5].share: must be a finite number or an arithmetic expression of one, got nan",
        f"f.yaml:12: levels[0].fanout[6].size: {integer} '1 / 2' = 0.5",
        "f.yaml:13: levels[0].fanout[7]: must be a mapping, got 5",
        "f.yaml:14: levels[1].fanout: must be a list, got {}",
        "f.yaml:14: levels[1].depth: must be an integer, got true",
        f"f.yaml:15: limits.Y: {integer} 2.5",
    ]


def test_expressions_and_names_serve_as_numbers() -> None:
    """A number may be arithmetic, with the names that the caller gives; whole floats are integers."""
    text = "levels: [{fanout: [{size: 16 * pes / 2, share: 1/4}, {size: pes}, {size: 1e3}], keep: [x, x]}]"
    machine = check(parse_yaml(text, "f"), Machine, names={"pes": 3})
    assert [axis.size for axis in machine.levels[0].fanout] == [24, 3, 1000]
    assert machine.levels[0].fanout[0].share == 0.25
    assert machine.levels[0].keep == {"x"}


def test_a_part_of_a_document_is_checked_in_place() -> None:
    """`at` checks a value inside a document and keeps its line and full path."""
    document = parse_yaml("other: 1\nparts:\n- {size: 1}\n- {size: -1}\n", "f")
    assert check(document, Axis, ("parts", 0)).size == 1
    with pytest.raises(InputError, match=r"^f:4: parts\[1\].size: must be at least 1, got -1$"):
        check(document, Axis, ("parts", 1))


BOMB = "a0: &a0 [1, 1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 100))

NOT_READ = {
    "": "f.yaml: the file is empty",
    "# words\n": "f.yaml: the file is empty",
    "a: [1\n": "f.yaml:2: not YAML: while parsing a flow sequence; expected ',' or ']', but got '<stream end>'",
    "a: b: c": "f.yaml:1: not YAML: mapping values are not allowed here",
    "a: \x01": "f.yaml:1: not YAML: the character 0x01 is not allowed",
    "a: 1\n---\na: 2": "f.yaml:2: not YAML: expected a single document in the stream; but found another document",
    "[" * 5000: "f.yaml: nested too deeply",
    BOMB: "f.yaml: at most 100000 values once aliases are expanded, got 1e+18",
    "x: 1\na: &a [*a]": "f.yaml:1: an alias stands inside the value that it names",
    "a: &a\n  <<: *a": "f.yaml:1: an alias stands inside the value that it names",
    "a: *b": "f.yaml:1: not YAML: found undefined alias 'b'",
    "x: 1\na: !!python/object/apply:os.system [ls]": (
        "f.yaml:2: a: unknown tag !!python/object/apply:os.system; only plain YAML is read"
    ),
    "a: !Thing {b: 1}": "f.yaml:1: a: unknown tag !Thing; only plain YAML is read",
    "a: !!binary aGk=": "f.yaml:1: a: unknown tag !!binary; only plain YAML is read",
    "a: !!int x": "f.yaml:1: a: 'x' is not the int that its tag says",
    "a: 1\nb: 2\na: 3": 'f.yaml:3: a: duplicate key "a", first on line 1',
    "a: {b: 1,\n b: 1}": 'f.yaml:2: a.b: duplicate key "b", first on line 1',
    "? [1, 2]\n: 3": "f.yaml:1: a key must be a plain word, not a list or mapping",
    "<<: 3": "f.yaml:1: only mappings can be merged with <<",
    "a: " + "9" * 400: "f.yaml:1: a: a number of at most 300 characters is expected, got 400",
    "- 1": "f.yaml:1: must be a mapping, got [1]",
    "~": "f.yaml:1: must be a mapping, got null",
}


@pytest.mark.parametrize("text", NOT_READ, ids=lambda text: repr(text[:20]))
def test_what_is_not_plain_yaml_is_refused(text: str) -> None:
    """Texts that are no plain YAML mapping end in one fault that says why, and quickly."""
    start = time.process_time()
    assert faults(text) == [NOT_READ[text]]
    assert time.process_time() - start < 5


@pytest.mark.parametrize("depth", [10, 99, 100, 102, 150, 200, 300, 500, 1000])
@pytest.mark.parametrize("brackets", ["[]", "{a: }"])
def test_nesting_is_bounded(depth: int, brackets: str) -> None:
    """Up to a hundred levels are read; more is a fault, never a RecursionError."""
    text = brackets[:-1] * depth + brackets[-1] * depth
    if depth <= 100:
        assert parse_yaml(text, "f").data
    else:
        with pytest.raises(InputError, match="nested too deeply"):
            parse_yaml(text, "f")


def test_known_tags_become_data() -> None:
    """A local tag that the caller names is kept as a key; its misspelling has a near name."""
    assert parse_yaml("!Container {name: x}", "f", tags=["Container"]).data == {"!tag": "Container", "name": "x"}
    assert parse_yaml("[!Nothing ]", "f", tags=["Nothing"]).data == [{"!tag": "Nothing"}]
    known = "f.yaml:1: unknown tag !Contaner; known are !Container"
    assert faults("!Contaner {}", tags=["Container"]) == [known + '; did you mean "!Container"?']
    assert faults("!Container [1]", tags=["Container"]) == ["f.yaml:1: a mapping must follow the tag !Container"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing files, directories, binary and huge files are all told at once."""
    binary, huge, pipe = tmp_path / "binary.yaml", tmp_path / "huge.yaml", tmp_path / "pipe"
    os.mkfifo(pipe)
    binary.write_bytes(b"a: \xff\xfe")
    huge.write_bytes(b"#" * (16 * 2**20 + 1))
    with pytest.raises(InputError) as caught:
        read_yaml(tmp_path / "none.yaml", tmp_path, binary, huge, pipe, "/dev/zero", tmp_path / ("x" * 300))
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/none.yaml: no such file",
        f"{tmp_path}: a file is expected, this is a directory",
        f"{binary}: not UTF-8 text: byte 3 is 0xff",
        f"{huge}: a file of at most 16777216 bytes is expected",
        f"{pipe}: a file is expected, this is a named pipe",
        "/dev/zero: a file is expected, this is a device",
        f"{tmp_path}/{'x' * 300}: cannot be read: File name too long",
    ]


def test_several_files_make_one_document(tmp_path: Path) -> None:
    """Root keys of several files are put together, each value with its own file and line."""
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("\ufefflevels: []\n", encoding="utf-8")
    two.write_text("\nlimits:\n  N: x\n")
    document = read_yaml(one, two)
    assert document.data == {"levels": [], "limits": {"N": "x"}}
    with pytest.raises(InputError) as caught:
        check(document, Machine)
    assert str(caught.value).startswith(f"{two}:3: limits.N: must be an integer")
    with pytest.raises(InputError, match=f'{one}:1: levels: duplicate key "levels", first in {one}:1'):
        read_yaml(one, one)
    two.write_text("[1]")
    with pytest.raises(InputError, match="two.yaml:1: a mapping at the root is expected"):
        read_yaml(one, two)


def test_an_input_error_survives_a_process_boundary() -> None:
    """Parallel workers hand the error back whole."""
    with pytest.raises(InputError) as caught:
        parse_yaml("a: 1\na: 2", "f")
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults


numbers = st.integers(0, 50).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "/"]), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=8,
)


@given(expressions)
def test_arithmetic_is_pythons(text: str) -> None:
    """The value of an expression is what Python makes of it; division by zero is a ValueError."""
    try:
        wanted = eval(text)
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="division by zero"):
            arithmetic(text)
        return
    assert arithmetic(text) == pytest.approx(wanted, rel=1e-12)


def test_exact_division_stays_exact() -> None:
    """A large size that divides evenly is not rounded through a float."""
    assert arithmetic("(2**61 + 2) / 2") == 2**60 + 1


REFUSED = {
    "__import__('os').system('ls')": "only numbers",
    "open('x')": "unknown function 'open'",
    "a.b": "only numbers",
    "[1, 2]": "only numbers",
    "'a' * 3": "only numbers",
    "True + 1": "only numbers",
    "1j * 2": "only numbers",
    "9**9**9**9": "a power of at most 200 bits",
    "2**-9999": "a power of at most 200 bits",
    "1e300 * 1e300": "a finite value",
    "1 / 0": "division by zero",
    "(-8) ** 0.5": "a root of a negative number",
    "log2(0)": "domain",
    "min()": "min with 0 arguments",
    "pes + 1": "unknown name 'pes'; known: PEs; did you mean \"PEs\"?",
    "1 +": "not an expression",
    "(" * 199: "not an expression",
    "1 + " * 100 + "1": "at most 200 characters",
    "a\x00b": "not an expression",
}


@pytest.mark.parametrize("text", REFUSED)
def test_arithmetic_refuses_everything_else(text: str) -> None:
    """Only numbers, known names and arithmetic of bounded size; anything else is a ValueError that says so."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        arithmetic(text, {"PEs": 3})
    assert REFUSED[text] in str(caught.value)


def test_linear_reads_index_expressions() -> None:
    """Coefficients come from numbers, names, sums, differences and parentheses."""
    names = {"stride": 2, "dilation": 3}
    assert linear("P*stride + R*dilation", ["P", "R"], names) == {"P": 2, "R": 3}
    assert linear("2 * (P + 3*R) - R", ["P", "R"]) == {"P": 2, "R": 5}
    assert linear("P * (2**3 // stride)", ["P"], names) == {"P": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P + Z", "unknown dim or coefficient 'Z'; known: P, R, stride"),
        ("P * R", "a product of two dims is no index expression"),
        ("P * (1 / 0)", "division by zero"),
        ("P * int(1e308 * 10)", "too large"),
        ("P - R", "the coefficient of R must be at least 1, got -1"),
        ("0 * P", "the coefficient of P must be at least 1, got 0"),
        ("P + 1", "a sum of dims without a constant"),
        ("stride", "a sum of dims without a constant"),
        ("P * 0.5", "integer coefficients"),
        ("", "not an expression"),
    ],
)
def test_linear_refuses_what_is_no_index(text: str, message: str) -> None:
    """An index is a sum of dims with positive integer coefficients."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        linear(text, ["P", "R"], {"stride": 2})
    assert message in str(caught.value)


def test_near_names() -> None:
    """A misspelling, also of case, brings the name that was meant; nonsense brings nothing."""
    assert near("resnet5O", ["resnet50", "vgg16"]) == '; did you mean "resnet50"?'
    assert near("WEIGHTS", ["Weights"]) == '; did you mean "Weights"?'
    assert near("zzz", ["resnet50"]) == ""


def test_faults_of_options_name_the_option_and_its_choices() -> None:
    """Without a file and a line; a near name follows the choices where there is one."""
    assert str(option_fault("jobs", "must be at least 1, got 0")) == "jobs: must be at least 1, got 0"
    fault = unknown_choice("mapspace", "rubys", (name for name in ("pfm", "ruby-s")))
    assert str(fault) == 'mapspace: must be one of pfm, ruby-s; got "rubys"; did you mean "ruby-s"?'


@given(plain)
def test_block_yaml_of_another_writer_is_read(value: object) -> None:
    """PyYAML's own dumper and our reader agree, but for the keys that we keep as text."""
    assert parse_yaml(yaml.safe_dump(value), "f").data == value
