"""A folder is a network: each file a layer, in the order of their names, equal ones counted; every fault at once."""

import warnings

import pytest
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.workloads import InputError, load_workload
from ruby_map.workloads.faults import InputNote
from ruby_map.workloads.templates import render
from typer.testing import CliRunner

PROBLEM = """
problem:
  shape:
    dimensions: [M, K]
    data_spaces:
    - {name: A, projection: [M, K]}
    - {name: Z, projection: [M], read_write: true}
  instance: {M: %d, K: 4}
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with files of these texts."""

    def make(**texts):
        (tmp_path / "net").mkdir()
        for name, text in texts.items():
            (tmp_path / "net" / f"{name}.yaml").write_text(text)
        return tmp_path / "net"

    return make


def load(path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", InputNote)
        network = load_workload(path)
    return network, [str(warning.message) for warning in told]


def test_the_files_of_a_folder(folder):
    """Timeloop's problems and layers of ours side by side; 10 stands after 9; other files and folders say nothing."""
    ours = "name: other\nshape: matmul\nsizes: {M: 2, N: 3, K: 4}"
    path = folder(**{"9": PROBLEM % 6, "10": ours, "2": PROBLEM % 8, "11": PROBLEM % 6})
    (path / "notes.txt").write_text("x")
    (path / "more").mkdir()
    (path / "more" / "x.yaml").write_text(PROBLEM % 9)
    network, told = load(path)
    assert network.name == "net"
    assert [(layer.name, layer.sizes[0], count) for layer, count in network.layers] == [
        ("2", 8, 1), ("9", 6, 2), ("10", 2, 1)
    ]  # fmt: skip
    assert told == [f"{path}: a network of 4 files, 3 different layers: 2, 9 x 2, 10"]


def test_many_layers_are_named_in_part(folder):
    _, told = load(folder(**{f"l{n}": PROBLEM % (n + 1) for n in range(8)}))
    assert told[0].endswith("a network of 8 layers: l0, l1, l2, l3, l4, l5, and 2 more")


def test_every_fault_of_a_folder(folder):
    """Unreadable files, networks, and other files are faults with their names, all at once."""
    texts = {
        "a": PROBLEM % 0,
        "b": "{",
        "c": "layers: [{layer: resnet50/conv1}]",
        "d": "architecture: {}",
        "e": PROBLEM % 3,
    }
    path = folder(**texts)
    (path / "e.yml").write_text(PROBLEM % 3)
    (path / "f.yaml").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(InputError) as raised:
        load(path)
    faults = "\n".join(map(str, raised.value.faults))
    assert f"{path}/a.yaml:8: problem.instance.M: must be at least 1, got 0" in faults
    assert f"{path}/b.yaml:" in faults
    assert f"{path}/c.yaml: is a network: in a folder each file is a layer" in faults
    assert f"{path}/d.yaml:1: " in faults
    assert f"{path}/e.yml: is called as e.yaml: a layer has one file" in faults
    assert f"{path}/f.yaml: not UTF-8 text" in faults


def test_a_folder_without_layers(folder):
    with pytest.raises(InputError, match="a folder is a network of layers, each a file .* it has 0 such files"):
        load(folder())


def test_alike_templates_are_rendered_once(folder, monkeypatch):
    """A network has few different layers, and a rendering takes a process."""
    text = "{% set size = 6 %}" + (PROBLEM % 7).replace("7", "{{size}}")
    path = folder(a=text, b=text, c=text.replace("6", "5"))
    seen = []
    monkeypatch.setattr(render, "_answered", lambda *args, real=render._answered: seen.append(args) or real(*args))
    network, _ = load(path)
    assert [(layer.name, layer.sizes[0], count) for layer, count in network.layers] == [("a", 6, 2), ("c", 5, 1)]
    assert len(seen) == 2
    load_workload(path / "a.yaml")
    load_workload(path / "a.yaml")
    assert len(seen) == 4  # outside of folders a file may have changed


def test_a_search_of_a_folder(folder, monkeypatch):
    """The command says what it took as layers; a name of the library is that, and says so beside such a folder."""
    path = folder(a=PROBLEM % 4, b=PROBLEM % 6)
    done = CliRunner().invoke(command_map.main, ["toy_6pe", str(path), "--size"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert f"note: {path}: a network of 2 layers: a, b" in done.stderr
    path.rename(path.parent / "alexnet")
    monkeypatch.chdir(path.parent)
    network, told = load("alexnet")
    assert len(network.layers) > 2
    assert told == ["alexnet is that of the library; the folder is ./alexnet"]
    assert len(load("./alexnet")[0].layers) == 2
