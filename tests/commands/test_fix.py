"""ruby-map --fix searches the mappings that have some decisions."""

import json

import pytest
from ruby_map.mapper.commands.ruby_check import main as checker
from ruby_map.mapper.commands.ruby_map import main as search
from typer.testing import CliRunner

LAYER = ["eyeriss_like", "resnet50/conv4_x_1x1a"]


def run(*args):
    return CliRunner().invoke(search, [*LAYER, *map(str, args)])


def test_the_answer_and_the_size_are_of_what_is_left(tmp_path):
    """Decisions from texts and from a file go together."""
    path = tmp_path / "some.yaml"
    path.write_text("transforms:\n- {transform: tile, level: psum_spad, dim: M, bound: 8}\n")
    fixed = ("--fix", "PE: C=6 M=2", "--fix", "shared_glb: order=C,M keep=Inputs,Outputs", "--fix", path)
    found = run(*fixed, "--samples", 500, "--search", "random", "--json")
    assert found.exit_code == 0, found.output
    every = {(each["target"], each["type"]): each for each in json.loads(found.stdout)["mapping"]}
    assert "M=8" in every["psum_spad", "temporal"]["factors"].split()
    assert every["shared_glb", "temporal"]["permutation"].startswith("MC")  # innermost first
    assert "6" in found.stdout
    sizes = [json.loads(run(*some, "--size", "--json").stdout)["size"]["total"] for some in ((), fixed)]
    assert sizes[1] * 100 < sizes[0]


def test_every_fault_is_told(tmp_path):
    """With the text that it is about, or the file and its line; two decisions of one loop, too."""
    path = tmp_path / "some.yaml"
    path.write_text("transforms:\n- {transform: tile, level: psum_spad, dim: M, bound: 800}\n")
    long = "PEx: C=8" + " " * 5000
    texts = [long, "PE: Z=8", "PE: M=2 M=3", "shared_glb.PE: M=2", "DRAM: C=3", "PE order", "missing.yaml"]
    found = run("--fix", path, *(each for text in texts for each in ("--fix", text)))
    assert found.exit_code == 2
    form = "must be LEVEL: DIM=BOUND, or AXIS: DIM=BOUND; also order=DIMS, keep=TENSORS; or a file, which this is not"
    assert set(found.stderr.splitlines()) == {
        f"{path}:2: transforms[0].bound: M is 256 in conv4_x_1x1a, got 800",
        f'fix "{long}": unknown level or axis "PEx"; did you mean "PE"?',
        "fix \"PE: Z=8\": unknown dimension 'Z'; known: N, M, C, P, Q, R, S",
        'fix "PE: M=2 M=3": a second decision of M at shared_glb.PE: keep one of them',
        'fix "shared_glb.PE: M=2": a second decision of M at shared_glb.PE: keep one of them',
        'fix "DRAM: C=3": DRAM is outermost and takes what the others leave of each dim: leave this out',
        f'fix "PE order": {form}',
        f'fix "missing.yaml": {form}',
    }


@pytest.mark.parametrize("mapspace", ["pfm", "ruby"])
def test_a_bound_that_no_mapping_has(mapspace):
    """Seven does not divide 256: none of pfm has it."""
    found = run("--fix", "psum_spad: M=7", "--mapspace", mapspace, "--samples", 100, "--search", "random")
    assert found.exit_code == (2 if mapspace == "pfm" else 0), found.output
    if mapspace == "pfm":
        assert "M" in found.stderr
        assert "7" in found.stderr


def test_a_certificate_is_of_what_is_left(tmp_path):
    """The checker needs the same decisions; with others, or none, it refuses it."""
    fixed, path = ("--fix", "PE: C=8"), tmp_path / "c.json"
    found = run(*fixed, "--search", "optimal", "--certificate", path)
    assert "optimal: no mapping of ruby-s has a lower EDP" in found.stdout
    assert "note: only mappings with PE: C=8" in found.stderr

    def check(*more):
        return CliRunner().invoke(checker, [*LAYER, str(path), *more])

    assert check(*fixed).exit_code == 0, check(*fixed).output
    assert check().exit_code == check("--fix", "PE: C=6").exit_code == 1


def test_with_uneven_placement():
    """A decision of a memory is of all its levels together."""
    found = run("--fix", "shared_glb: M=4", "--placement", "uneven", "--samples", 3000, "--search", "random", "--json")
    assert found.exit_code == 0, found.output
    every = [each for each in json.loads(found.stdout)["mapping"] if each["target"].startswith("shared_glb")]
    bounds = [f.split("=") for each in every if each["type"] == "temporal" for f in each["factors"].split()]
    product = 1
    for dim, bound in bounds:
        product *= int(bound.split(",")[0]) if dim == "M" else 1
    assert product == 4
