"""Templates are rendered as Timeloop's front end does, within limits, and never reach what they were not given."""

import pytest
from ruby_map.workloads import InputError, load_workload, read_yaml
from ruby_map.workloads.templates import template_values

BASE = """
problem_base_ignore: &problem_base
  instance: {N: 1, C: 1, M: 1, P: 1, Q: 1, R: 1, S: 1, HStride: 1}
  shape:
    name: conv
    dimensions: [N, C, M, P, Q, R, S]
    coefficients: [{name: HStride, default: 1}]
    data_spaces:
    - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}
    - {name: Inputs, projection: [[[N]], [[C]], [[R], [P, HStride]], [[S], [Q]]]}
    - {name: Outputs, projection: [[[N]], [[M]], [[P]], [[Q]]], read_write: true}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files, inside one that holds more; the current folder is elsewhere."""
    inner, elsewhere = tmp_path / "above" / "inner", tmp_path / "elsewhere"
    inner.mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    def written(text, name="file.yaml", where=inner):
        (where / name).write_text(text)
        return where / name

    written.above, written.root = tmp_path / "above", tmp_path
    return written


def faults(path, **values):
    with template_values(values), pytest.raises(InputError) as caught:
        read_yaml(path)
    return "\n".join(str(fault) for fault in caught.value.faults)


def test_a_layer_of_a_published_form(folder):
    """A text of the folder above is included, and merged deeply; what the layer says holds."""
    folder(BASE, "base.yaml", folder.above)
    text = "{{include_text('../base.yaml')}}\nproblem:\n  <<<: *problem_base\n  instance: {C: 3, M: 8, HStride: 2}\n"
    layer = load_workload(str(folder(text)))
    assert layer.sizes == (1, 3, 8, 1, 1, 1, 1)
    assert {term.coef for rank in layer.tensors[1].ranks for term in rank} == {1, 2}


def test_what_templates_may_say(folder):
    folder("inner: {key: [1, 2]}\n", "other.yaml")
    folder("inner: {key: [3]}\n", "third.yaml")
    text = """
{% set number = 4 %}{{add_to_path('..')}}
a: {{number * size}}
b: {{include('other.yaml', 'inner.key')}}
c: {{include_all('*r*d.yaml', 'inner.key')}}
d: {{path_exists('none.yaml')}} {{path_exists('other.yaml')}}
{% for i in range(2) %}
e{{i}}: {{name}}
{% endfor %}
"""
    with template_values({"size": 3, "name": "x"}):
        document = read_yaml(folder(text))
    assert document.data == {"a": 12, "b": [1, 2], "c": [[3]], "d": "False True", "e0": "x", "e1": "x"}
    assert document.place(("b", 1))[0].endswith("other.yaml")


def test_merges_of_both_kinds(folder):
    text = "base: &b {x: {p: 1, q: 2}, l: [1]}\ndeep: {<<<: *b, x: {q: 3}, l: [0]}\nflat: {<<: *b, x: {q: 3}}\n"
    data = read_yaml(folder(text)).data
    assert data["deep"] == {"x": {"p": 1, "q": 3}, "l": [0, 1]}
    assert data["flat"] == {"x": {"q": 3}, "l": [1]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: {{include_text('../../secret.yaml')}}", "outside the folders that a template may read"),
        ("a: {{include('../../secret.yaml')}}", "outside the folders that a template may read"),
        ("a: {{include_text('/etc/hostname')}}", "outside the folders that a template may read"),
        ("a: {{find_path('../../elsewhere')}}", "outside the folders that a template may read"),
        ("a: {{path_exists('/etc/passwd')}}", "outside the folders that a template may read"),
        ("{{add_to_path('/etc')}}", "outside the folders that a template may read"),
        ("{% include '/etc/passwd' %}", "outside the folders that a template may read"),
        ("a: {{include_text('link.yaml')}}", "outside the folders that a template may read"),
        ("x: 1\na: {{missing}}", "file.yaml:2: 'missing' is undefined: give it a value with --template NAME=VALUE"),
        ("a: {{include('file.yaml')}}", "a template includes itself"),
        ("a: {{include_text('file.yaml')}}", "a template includes itself"),
        ("a: {{include('no.yaml')}}", "no such file: 'no.yaml'"),
        ("a: {{include('plain.yaml', 'b.c')}}", 'has no "b.c", which'),
        ("a: {{", "not a template"),
        ("a: {{1 / 0}}", "the template fails: division by zero"),
        ("a: {{''.__class__.__mro__}}", "not a template: access to attribute '__class__'"),
        ("a: {{cwd.__globals__}}", "not a template: access to attribute '__globals__'"),
        ("a: {{'x' * 10**10}}", "too large"),
        ("a: {{range(10**9) | list}}", "range"),
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "takes too much time or memory",
        ),
        ("{% for i in range(99999) %}{{'0123456789' * 1000}}{% endfor %}", "too large"),
        ("{% macro m() %}{{m()}}{% endmacro %}a: {{m()}}", "too large: recursion error"),
    ],
)
def test_what_they_may_not(folder, text, said):
    """Nothing is run, nothing read outside, and all ends soon."""
    (folder.root / "elsewhere").mkdir(exist_ok=True)
    folder("secret: 1\n", "secret.yaml", folder.root)
    folder("b: 1\n", "plain.yaml")
    path = folder(text)
    (path.parent / "link.yaml").symlink_to(folder.root / "secret.yaml")
    assert said in faults(path)


def test_limits_of_size(folder, monkeypatch):
    monkeypatch.setattr("ruby_map.workloads.yaml_files.MAX_INCLUDED", 10)
    assert "a template of at most 1048576 bytes is expected" in faults(folder("{{1}}" + " " * 10_000_000))
    for number in range(9):
        names = f"{{{{include('{number + 1}.yaml')}}}}"
        folder(f"a: {names}\nb: {names}\n", f"{number}.yaml")
    folder("{{1}}", "9.yaml")
    assert "over 10 files are included" in faults(folder("x: {{include('0.yaml')}}"))


def test_a_circle_of_two(folder):
    folder("a: {{include('two.yaml')}}", "one.yaml")
    said = faults(folder("a: {{include('one.yaml')}}", "two.yaml"))
    assert "a template includes itself" in said
    assert "one.yaml" in said
