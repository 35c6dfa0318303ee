"""--im2col and --pad: every output says which layer it is of, and commands read it back as that layer."""

import json

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands import ruby_check, ruby_map, ruby_model, ruby_report, ruby_store
from ruby_map.workloads import Network, load_workload, shaped
from typer.testing import CliRunner

MACHINE = """
name: a
levels:
- {name: DRAM, class: DRAM, width_bits: 64, energy: {read_pj: 512, write_pj: 512}}
- {name: buf, class: SRAM, capacity_words: 400, energy: {read_pj: 5, write_pj: 5}, fanout: [{name: PE, size: 4}]}
compute: {name: MAC, class: intmac, energy: {compute_pj: 1}}
"""
LAYER = "{name: conv, shape: conv2d, sizes: {M: 5, C: 3, P: 7, Q: 7, R: 3, S: 3}}"
SEARCH = ("--mapspace", "pfm", "--search", "optimal")
BOTH = ("--im2col", "--pad")


@pytest.fixture
def inputs(tmp_path):
    paths = tmp_path / "a.yaml", tmp_path / "conv.yaml"
    for path, text in zip(paths, (MACHINE, LAYER), strict=True):
        path.write_text(text)
    return paths


def run(command, *arguments):
    return CliRunner().invoke(command.main, list(map(str, arguments)))


@pytest.mark.parametrize(
    ("options", "names", "variant"),
    [
        (("--im2col",), ["im2col"], "im2col"),
        (("--pad",), ["pad"], "padded"),
        (BOTH, ["im2col", "pad"], "padded im2col"),
    ],
)
def test_the_result_and_the_mapping_read_back(inputs, tmp_path, options, names, variant):
    """Heading, proof, JSON, stats.json; ruby-model counts the same with the options that mapping.yaml names, and
    without them speaks of the layer as written, if it is a mapping of that at all."""
    found = run(ruby_map, *inputs, *SEARCH, *options, "--out", tmp_path / "o")
    assert found.stdout.startswith(f"conv, {variant} (N=1 M=5 C=")
    assert f"no mapping of pfm of the {variant} layer has a lower EDP" in found.stdout
    said = json.loads((tmp_path / "o" / "stats.json").read_text())
    assert said["transformations"] == names
    assert f"(N=1 M=5 C={said['sizes']['C']} P=" in found.stdout
    mapping = tmp_path / "o" / "mapping.yaml"
    assert mapping.read_text().startswith(f"# of conv, {variant}: ruby-model reads it with {' '.join(options)}\n")
    plain = run(ruby_model, *inputs, mapping)  # a mapping of the padded layer may be an imperfect one of the plain
    assert plain.exit_code == 2 if "--im2col" in options else plain.stdout.startswith("conv (N=1 M=5 C=3 ")
    again = json.loads(run(ruby_model, *inputs, mapping, *options, "--json").stdout)
    assert (again["edp"], again["transformations"]) == (said["edp"], names)


def test_layers_that_stay_have_no_mark(inputs):
    """Without an option, and where it changes nothing, no key: the object is that of the layer as written."""
    plain = json.loads(run(ruby_map, *inputs, "--json", "--quick").stdout)
    assert "transformations" not in plain
    assert not load_workload("resnet50/conv1").variant
    work = Network("net", ((shaped("conv2d", M=3, C=4, P=5, Q=5, R=3, S=3), 2), (shaped("matmul", M=2, N=3, K=4), 1)))
    result = explore("linear_8", work, "pfm", SearchOptions(strategy="random", samples=300), im2col=True)
    assert [layer.workload.transformations for layer, _ in result.layers] == [("im2col",), ()]
    assert str(result).splitlines()[0] == "net, layers im2col on linear_8"


def test_a_network_is_proven_of_padded_layers(inputs, tmp_path):
    """The sentence of a network's proof, and its JSON."""
    (tmp_path / "n.yaml").write_text("name: n\nlayers:\n  - {layer: ./conv.yaml, count: 2}\n")
    arguments = (inputs[0], tmp_path / "n.yaml", *SEARCH, "--pad")
    assert "no choice of mappings gives the network of padded layers a lower EDP" in run(ruby_map, *arguments).stdout
    said = json.loads(run(ruby_map, *arguments, "--json").stdout)
    assert (said["transformations"], said["layers"][0]["transformations"]) == (["pad"], ["pad"])


def test_results_compared_name_it(inputs, tmp_path):
    """ruby-report says in what the sides differ, as text and as JSON."""
    for name, more in (("a", ("--im2col",)), ("b", ())):
        assert run(ruby_map, *inputs, *SEARCH, *more, "--out", tmp_path / name).exit_code == 0
    assert "transformations: im2col | none\n" in run(ruby_report, tmp_path / "a", tmp_path / "b").stdout
    said = json.loads(run(ruby_report, tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert said["properties"]["transformations"] == {"a": "im2col", "b": "none"}


def test_a_certificate_is_of_that_layer(inputs, tmp_path):
    """ruby-check says optimal of no other layer: not of the plain one, nor of one transformed otherwise."""
    proof = tmp_path / "c.json"
    for options in ((), ("--im2col",), ("--pad",), BOTH):
        assert run(ruby_map, *inputs, *SEARCH, *options, "--certificate", proof).exit_code == 0
        for given in ((), ("--im2col",), ("--pad",), BOTH):
            checked = run(ruby_check, *inputs, proof, *given)
            assert checked.exit_code == (options != given), (options, given)
            assert checked.stdout.startswith("verified" if options == given else "refused")
        facts = json.loads(run(ruby_check, *inputs, proof, *options, "--json").stdout)["layers"][0]
        assert (facts["im2col"], facts["pad"]) == ("--im2col" in options, "--pad" in options)


def test_layers_that_become_equal_are_checked_once(inputs, tmp_path):
    """Two convolutions that im2col makes the same product are one layer of the certificate, and of its check."""
    (tmp_path / "n.yaml").write_text(
        "name: n\nlayers:\n  - {name: x, shape: conv2d, sizes: {M: 2, C: 2, P: 2, Q: 2, R: 3, S: 1}}\n"
        "  - {name: y, shape: conv2d, sizes: {M: 2, C: 2, P: 2, Q: 2, R: 1, S: 3}}\n"
    )
    work, proof = (inputs[0], tmp_path / "n.yaml"), tmp_path / "c.json"
    assert run(ruby_map, *work, *SEARCH, "--im2col", "--certificate", proof).exit_code == 0
    assert run(ruby_check, *work, proof, "--im2col").stdout.startswith("verified: x on a")


def test_a_store_lists_it(inputs, tmp_path):
    """`list` names the layer as it was searched; `best` shows it."""
    for more in (("--im2col",), ()):
        assert run(ruby_map, *inputs, *SEARCH, *more, "--store", tmp_path / "s").exit_code == 0
    assert "conv, im2col" in run(ruby_store, tmp_path / "s", "list").stdout
    rows = json.loads(run(ruby_store, tmp_path / "s", "list", "--workload", "conv", "--json").stdout)["problems"]
    assert sorted(row["title"] for row in rows) == ["conv", "conv, im2col"]
