"""Timeloop files beside ARCH: put together, checked by root key, mapper keys as options, constraints in ruby-model."""

import json

import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper.commands.ruby_energy import main as ruby_energy
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as model
from ruby_map.mapper.commands.timeloop_options import file_options
from typer.testing import CliRunner

ARCH = """
architecture:
  version: 0.3
  subtree:
  - name: toy
    local:
    - {name: DRAM, class: DRAM, attributes: {width: 16}}
    - {name: GLB, class: SRAM, attributes: {depth: rows, width: 16}}
    - {name: 'RF[0..3]', class: regfile, attributes: {depth: 8, width: 16, meshX: 4}}
    - {name: 'MAC[0..3]', class: intmac, attributes: {datawidth: 16, meshX: 4}}
"""
VARIABLES = "variables: {rows: 4096}\n"
PROBLEM = """
problem:
  shape:
    name: gemm
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 8, N: 4, K: 6}
"""
CONSTRAINTS = """
mapspace_constraints:
- {target: GLB, type: spatial, factors: N=1}
- {target: GLB, type: temporal, permutation: KMN, factors: M<=2}
- {target: RF, type: dataspace, keep_only: [A, Z]}
"""
MAPPER = "mapper: {optimization_metric: delay, algorithm: random, victory_condition: 50, live_status: true}\n"
MAPPING = """
mapping:
- {target: DRAM, type: temporal, factors: M=2 N=1 K=1, permutation: MNK}
- {target: GLB, type: temporal, factors: M=1 N=2 K=3, permutation: KMN}
- {target: GLB, type: spatial, factors: M=2 N=1 K=2, permutation: MNK, split: 3}
- {target: RF, type: temporal, factors: M=2 N=2 K=1, permutation: NMK}
- {target: GLB, type: bypass, keep: [A, B, Z]}
- {target: RF, type: bypass, keep: [A, Z], bypass: [B]}
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes files by name and goes there; gives back their names."""
    monkeypatch.chdir(tmp_path)

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        return [f"{name}.yaml" for name in texts]

    return write


def run(command, *args):
    return CliRunner().invoke(command, list(map(str, args)))


def test_one_file_may_hold_everything(files):
    """ARCH, WORKLOAD and MAPPING may be one file; constraints and mapper keys in it count."""
    (one,) = files(one=VARIABLES + ARCH + PROBLEM + CONSTRAINTS + MAPPER + MAPPING)
    result = run(model, one, one, one, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["macs"] == 192
    found = json.loads(run(ruby_map, one, one, "--json").stdout)
    assert found["objective"] == "delay"
    assert all(entry.get("keep") != ["B"] for entry in found["mapping"])
    assert run(ruby_energy, one).exit_code == 0  # keep_only is read with the problem beside it


SLIPS = (("width: 16", "widht: 16", "width"), ("meshX", "MESHx", "meshX"), ("datawidth", "datawidht", "datawidth"))
SLIPS += (("width: 16", "widtq: 16", "width"), ("depth: 8", "deptq: 8", "depth"))


@pytest.mark.parametrize(("right", "slip", "meant"), SLIPS)
def test_a_slip_in_an_attribute_is_told(files, right, slip, meant):
    """It would be left to the energy engines, and another value counted; an attribute of theirs is no slip."""
    arch = (VARIABLES + ARCH).replace("depth: 8", "depth: 8, latency: 3, own_attribute: 1")
    assert "did you mean" not in run(ruby_energy, *files(right=arch)).stderr
    told = run(ruby_energy, *files(slip=arch.replace(right, slip))).stderr
    assert f'attributes.{slip.split(":")[0]}: is left to the energy engines; did you mean "{meant}"?' in told


def test_several_files_are_read_together(files):
    """--with brings variables and constraints; a fault in one names that file and its line."""
    arch, problem, _, constraints = files(arch=ARCH, problem=PROBLEM, more=VARIABLES, constraints=CONSTRAINTS)
    assert run(ruby_energy, arch).exit_code == 2  # rows is nowhere
    result = run(ruby_map, arch, problem, "--with", "more.yaml", "--with", constraints, "--json")
    assert result.exit_code == 0, result.output
    files(constraints=CONSTRAINTS.replace("target: RF", "target: FR"))
    result = run(ruby_map, arch, problem, "--with", "more.yaml", "--with", constraints)
    assert result.exit_code == 2
    assert "constraints.yaml:5: mapspace_constraints[2].target: unknown target 'FR'" in result.stderr


def test_constraints_beside_an_architecture_of_ours(files):
    """Constraint files hold for a name of the library too."""
    (constraints,) = files(constraints="mapspace_constraints: [{target: PE_column, type: spatial, factors: Q<=5}]")
    arch = load_arch("eyeriss_like", more=[constraints])
    assert [str(rule) for rule in arch.levels[1].fanout[0].constraint.factors] == ["Q<=5"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("maper: {}", 'more.yaml:1: maper: unknown root key "maper"; did you mean "mapper"?'),
        ("layout: [x]", "layout is not supported"),
        ("sparse_optimizations: {targets: [x]}", "sparse_optimizations is not supported"),
        ("architecture: {}", "a second architecture beside eyeriss_like"),
        ("mapper: {algoritm: random}", 'unknown key "algoritm"; did you mean "algorithm"?'),
        ("mapper: {algorithm: annealing}", "unknown algorithm 'annealing'"),
        ("mapper: {optimization_metrics: [last_level_accesses]}", "unknown or unsupported metric"),
        ("mapper: {victory_condition: -1}", "must be at least 1, got -1"),
        ("mapper: {max_temporal_loops_in_a_mapping: -2}", "must be at least -1, got -2"),
        ("mapspace: {template: rubi}", "unknown template 'rubi'"),
        ("mapspace: {tmplate: ruby}", 'unknown key "tmplate"'),
    ],
)
def test_what_nobody_reads_is_refused(files, text, part):
    """Root keys and mapper keys without a counterpart are refused by name, before any search."""
    (more,) = files(more=text)
    result = run(ruby_map, "eyeriss_like", "resnet50/conv1", "--with", more, "--time-limit", 1)
    assert result.exit_code == 2
    assert part in result.stderr


def test_mapper_keys_become_options(files):
    """Each key that means the same here is an option; what the command line says wins."""
    text = "mapper: {algorithm: linear-pruned, num_threads: 3, victory_condition: 7, timeout: 9, search_size: 5}\n"
    (more,) = files(more=text + "mapspace: {template: ruby}\n")
    wanted = {"strategy": "exhaustive", "distinct": True, "jobs": 3, "victory": 7, "give_up": 9, "valid": 5}
    assert file_options("eyeriss_like", [more]).given == wanted | {"mapspace": "pfm"}
    taken = ("strategy", "victory", "mapspace", "distinct")
    assert file_options("eyeriss_like", [more], taken).given == {"jobs": 3, "give_up": 9, "valid": 5}
    (rules,) = files(more="mapper: {search_size: 5}\n")
    assert file_options("eyeriss_like", [rules]).given == {"strategy": "random", "valid": 5}


def test_metrics_and_notes(files):
    """Several metrics are taken in turn and hybrid as random, both with a note of the difference."""
    (more,) = files(more="mapper: {algorithm: hybrid, optimization_metrics: [delay, energy]}\n")
    found = file_options("eyeriss_like", [more])
    assert found.given == {"objective": "delay,energy", "strategy": "random"}
    assert len(found.notes) == 2


def test_ert_beside_the_architecture(files):
    """An ERT among the files tells the energies; a second one is refused."""
    tables = "\n".join(f"  - {{name: toy.{name}, actions: [{{name: {action}, energy: 3}}]}}" for name, action in
                       (("DRAM", "read"), ("DRAM2", "read")))  # fmt: skip
    ert = "ERT:\n  version: 0.4\n  tables:\n" + tables + "\n"
    arch, more = files(arch=VARIABLES + ARCH, more=ert)
    result = run(ruby_energy, arch, "--with", more)
    assert result.exit_code == 2
    assert "more.yaml" in result.stderr
    files(other=ert)
    result = run(ruby_energy, arch, "--with", more, "--ert", "other.yaml")
    assert "a second ERT beside other.yaml" in result.stderr


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("{target: GLB, type: spatial, factors: K=1}", "K=1 at GLB.RF_X must hold, got K=2"),
        ("{target: GLB, type: temporal, factors: N<=1}", "N<=1 at GLB must hold, got N=2"),
        ("{target: GLB, type: temporal, permutation: N}", "GLB: the innermost loops must be N, got N K"),
        ("{target: GLB, type: temporal, permutation: _K}", "GLB: the outermost loops must be K, got N K"),
        ("{target: RF, type: dataspace, keep: [B]}", "RF must keep B, and the mapping bypasses it there"),
        ("{target: GLB, type: dataspace, bypass: [A]}", "GLB must bypass A, and the mapping keeps it there"),
    ],
)
def test_ruby_model_names_each_violated_constraint(files, entry, part):
    """A mapping that breaks a constraint is costed all the same, status 1, the constraint by name."""
    arch, problem, mapping, constraints = files(
        arch=VARIABLES + ARCH,
        problem=PROBLEM,
        mapping=MAPPING,
        constraints=f"architecture_constraints: [{entry}]",
    )
    result = run(model, arch, problem, mapping, "--with", constraints)
    assert result.exit_code == 1, result.output
    assert f"violates the architecture's constraints: {part}" in " ".join(result.stdout.split())
    assert run(model, arch, problem, mapping).exit_code == 0
