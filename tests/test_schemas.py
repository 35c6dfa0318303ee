"""JSON schemas: what is recorded is what there is; they take what the readers take, and what the commands print."""

import copy
import importlib.util
import json
import random
import shutil
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from ruby_map.arch import load_arch
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.commands.ruby_store import main as store
from ruby_map.mapper.mapping.transforms import read_transforms, transforms_of
from ruby_map.mapper.report import write_folder
from ruby_map.mapper.schemas import INPUTS, NAMES, OUTPUTS, schema
from ruby_map.mapper.sweeps import sweep
from ruby_map.mapper.sweeps.file import read_sweep
from ruby_map.workloads import Document, InputError, load_workload, parse_yaml
from typer.testing import CliRunner

from .house import ROOT
from .schema_files import SCHEMAS, faults
from .strategies import paths

ARCHS = sorted(ROOT.glob("arch/*.yaml")) + [ROOT / "examples/machine.yaml"]
WORKLOADS = (
    sorted(ROOT.glob("workloads/*.yaml"))
    + [ROOT / name for name in ("examples/layer.yaml", "examples/network.yaml", "examples/block.yaml")]
    + [*ROOT.glob("experiments/groups/*.yaml"), ROOT / "experiments/kernels.yaml"]
)
SWEEPS = [ROOT / "examples/sweep.yaml", ROOT / "experiments/array_sizes.yaml"]
MAPPINGS = [
    *ROOT.glob("docs/examples/*mapping*.yaml"),
    *ROOT.glob("experiments/*.mapping.yaml"),
    ROOT / "examples/mapping.yaml",
]
READERS = {"architecture": load_arch, "workload": load_workload, "sweep": read_sweep}
SHIPPED = [
    (name, path)
    for name, files in (("architecture", ARCHS), ("workload", WORKLOADS), ("sweep", SWEEPS), ("mapping", MAPPINGS))
    for path in files
]


def data_of(path):
    """The plain data of a file."""
    return parse_yaml(path.read_text(), str(path)).data


def test_what_is_recorded_is_what_there_is():
    """`make schemas` after a change."""
    spec = importlib.util.spec_from_file_location("schemas", ROOT / ".ci/schemas.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {path.name: path.read_text() for path in SCHEMAS.iterdir()} == {
        path.name: text for path, text in module.recorded().items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_schema(name):
    """By the draft that it names; of an input, and of an object of ours, every key is told."""
    made = schema(name)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(made)
    parts = [made, *made.get("$defs", {}).values()]
    untold = [key for part in parts for key, value in part.get("properties", {}).items() if "description" not in value]
    assert not untold or name in ("certificate", "store-line")  # formats of ours, for our own checker and stores


@pytest.mark.parametrize(("name", "path"), SHIPPED, ids=lambda value: getattr(value, "stem", value))
def test_every_shipped_file_has_its_schema(name, path):
    assert faults(name, data_of(path)) == []


def test_an_example_names_its_schema():
    """So that an editor completes it."""
    for path in ROOT.glob("examples/*.yaml"):
        line = path.read_text().splitlines()[0]
        assert line.startswith("# yaml-language-server: $schema=")
        named = (path.parent / line.split("=", 1)[1]).resolve()
        assert faults(named.stem, data_of(path)) == []


SOME = {  # one file of each kind of section
    "architecture": ("eyeriss_like", "simba_like_9", "epyc_avx2", "toy_6pe", "machine"),
    "workload": ("alexnet", "matmul_100", "unet_572", "network", "layer", "alexnet_conv2_paper"),
    "sweep": ("sweep", "array_sizes"),
}
DAMAGES = {
    "key": lambda data, path: _renamed(data, path),
    "list": lambda data, path: _put(data, path, [[]]),
    "mapping": lambda data, path: _put(data, path, {"x": {}}),
    "text": lambda data, path: _put(data, path, "64KB"),
    "true": lambda data, path: _put(data, path, True),
    "null": lambda data, path: _put(data, path, None),
    "negative": lambda data, path: _put(data, path, -1),
    "fraction": lambda data, path: _put(data, path, 1.5),
    "gone": lambda data, path: _gone(data, path),
}


def _inner(data, path):
    for part in path[:-1]:
        data = data[part]
    return data


def _put(data, path, value):
    _inner(data, path)[path[-1]] = value


def _gone(data, path):
    del _inner(data, path)[path[-1]]


def _renamed(data, path):
    inner = _inner(data, path)
    if isinstance(inner, dict):
        inner[f"{path[-1]}_x"] = inner.pop(path[-1])


@pytest.mark.parametrize("name", SOME)
def test_schemas_refuse_nothing_that_readers_take(name, tmp_path):
    """Shipped files with one thing changed, anywhere: what a schema refuses the reader refuses too. Of what the reader
    refuses a schema misses less than half: names that are none, rules that contradict one another."""
    chance = random.Random(7)
    files = [path for kind, path in SHIPPED if kind == name and path.stem in SOME[name]]
    refused = missed = 0
    for path in files:
        whole = data_of(path)
        for beside in path.parent.glob("*.yaml"):  # files that it names
            shutil.copy(beside, tmp_path)
        places = list(paths(whole))
        for place in chance.sample(places, min(len(places), 60)):
            damage = chance.choice(list(DAMAGES))
            data = copy.deepcopy(whole)
            DAMAGES[damage](data, place)
            if data == whole:
                continue
            (tmp_path / path.name).write_text(json.dumps(data))
            try:
                READERS[name](str(tmp_path / path.name))
                taken = True
            except InputError:
                taken = False
            wrong = faults(name, data)
            assert not (taken and wrong), (path.name, damage, place, wrong)
            refused += not taken
            missed += not taken and not wrong
    assert refused > 30
    assert missed < 0.4 * refused


@pytest.mark.parametrize(
    ("name", "path", "change"),
    [
        ("architecture", "eyeriss_like", {"levels.1.capacity_byte": 4}),
        ("architecture", "eyeriss_like", {"levels.1.capacity_bytes": "64KB"}),
        ("architecture", "eyeriss_like", {"levels.1.fanout.0.size": 0}),
        ("architecture", "eyeriss_like", {"levels.0.placement": "odd"}),
        ("architecture", "eyeriss_like", {"levels.0.temporal": {"factors": ["M"]}}),
        ("architecture", "eyeriss_like", {"technology": "45um"}),
        ("architecture", "eyeriss_like", {"levels": []}),
        ("workload", "matmul_100", {"sizes.X": 3}),
        ("workload", "matmul_100", {"shape": "matmull"}),
        ("workload", "matmul_100", {"sizes.M": 0}),
        ("workload", "alexnet", {"layers.0.count": 0}),
        ("workload", "alexnet", {"layers.0.stride": [0]}),
        ("sweep", "array_sizes", {"mapspaces": ["rubi"]}),
        ("sweep", "array_sizes", {"pareto": ["area"]}),
        ("sweep", "array_sizes", {"search.strategy": "fast"}),
        ("sweep", "array_sizes", {"linked": [{}]}),
    ],
)
def test_both_refuse_what_is_told_apart_by_its_form(name, path, change, tmp_path):
    """Mistakes that an editor marks while they are typed."""
    (file,) = (one for kind, one in SHIPPED if kind == name and one.stem == path)
    data = data_of(file)
    for at, value in change.items():
        _put(data, [int(part) if part.isdigit() else part for part in at.split(".")], value)
    assert faults(name, data)
    (tmp_path / "x.yaml").write_text(json.dumps(data))
    with pytest.raises(InputError):
        READERS[name](str(tmp_path / "x.yaml"))


def test_an_architecture_on_another_says_what_differs():
    """Nothing but the level's name is needed there; a wrong key is one there too."""
    assert faults("architecture", {"base": "eyeriss_like", "levels": [{"name": "shared_glb", "banks": "2 * n"}]}) == []
    assert faults("architecture", {"base": "eyeriss_like", "compute": {"word_bits": 8}}) == []
    assert faults("architecture", {"base": "eyeriss_like", "levels": [{"banks": 2}]})
    assert faults("architecture", {"base": "eyeriss_like", "levels": [{"name": "DRAM", "bank": 2}]})


def test_transforms_have_theirs():
    result = explore("eyeriss_like", "alexnet/conv3", "pfm", SearchOptions(strategy="random", samples=50))
    data = json.loads(transforms_of(result.batch).model_dump_json())
    assert faults("transforms", data) == []
    data["transforms"][0]["lebel"] = "x"
    assert faults("transforms", data)
    with pytest.raises(InputError):
        read_transforms(Document("t.yaml", data, {}))


def test_files_of_results_have_theirs(tmp_path):
    """stats.json of a layer and a network, mapping.yaml, results.json, pareto.json, a certificate, a store's lines."""
    exact = SearchOptions(strategy="optimal", front="energy,delay", certify=True)
    write_folder(explore("toy_6pe_linear", "rank1_100", "ruby-s", exact), tmp_path / "layer")
    (tmp_path / "net.yaml").write_text("layers: [{layer: rank1_100, count: 2}]")
    write_folder(explore("toy_6pe_linear", tmp_path / "net.yaml", "pfm", exact), tmp_path / "net")
    (tmp_path / "s.yaml").write_text(
        "architecture: toy_6pe_linear\nworkloads: [rank1_100, ./net.yaml]\nseeds: [0, 1]\n"
    )
    sweep(tmp_path / "s.yaml", out=tmp_path / "sweep")
    files = {"layer/stats.json": "result", "net/stats.json": "result"}
    files |= {"sweep/results.json": "sweep-results", "sweep/pareto.json": "pareto"}
    for path, name in files.items():
        assert faults(name, json.loads((tmp_path / path).read_text())) == []
    assert faults("mapping", data_of(tmp_path / "layer/mapping.yaml")) == []
    arguments = [
        "toy_6pe_linear",
        "rank1_100",
        "--certificate",
        str(tmp_path / "proof.json"),
        "--store",
        str(tmp_path / "s.db"),
    ]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert faults("certificate", json.loads((tmp_path / "proof.json").read_text())) == []
    lines = CliRunner().invoke(store, [str(tmp_path / "s.db"), "export"]).stdout.splitlines()
    assert len(lines) > 3
    assert [fault for line in lines for fault in faults("store-line", json.loads(line))] == []


def test_the_command_prints_them():
    """One, all, none; a name that is none is told."""
    assert json.loads(CliRunner().invoke(main, ["--schema", "sweep"]).stdout) == schema("sweep")
    assert list(json.loads(CliRunner().invoke(main, ["--schema", "all"]).stdout)) == [*INPUTS, *OUTPUTS]
    wrong = CliRunner().invoke(main, ["--schema", "archtecture"])
    assert wrong.exit_code == 2
    assert 'did you mean "architecture"' in wrong.stderr


def test_no_command_makes_schemas_for_itself():
    """Their models are imported for --schema alone: `--list` begins as fast as before."""
    code = "import sys; from ruby_map.mapper.commands.ruby_map import main; main(['--list'], standalone_mode=False)"
    check = "; print([name for name in sys.modules if '.schemas' in name], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code + check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
