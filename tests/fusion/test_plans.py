"""Plans: groups written in files, counted, executed and refused."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from ruby_map.mapper.exploration import evaluate_plan, executed_plan
from ruby_map.mapper.fusion import GroupCosts, Standing, boxes, group_items
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model.figures import Mapped
from ruby_map.mapper.problem import Charges, Problem
from ruby_map.mapper.report.groups.group_text import plan_yaml
from ruby_map.mapper.report.groups.level_words import level_words
from ruby_map.workloads import Network, parse_yaml
from ruby_map.workloads.networks import Edge
from typer.testing import CliRunner

from ..conftest import DEEP
from ..schema_files import object_faults
from .groups import groups

LEVELS = (
    Storage("L0", "DRAM", read_bandwidth=2.0),
    Storage("L1", "SRAM", fanout=(Axis("x", 2), Axis("y", 3)), write_bandwidth=1.0),
    Storage("L2", "regfile"),
)
ARCH = Architecture("m", LEVELS, Compute("MAC", "intmac"))
PJ = tuple(LevelEnergy(level.name, 7.0 - i, 5.0 - i, 6.0 - i, 0.1, 1.0, "given") for i, level in enumerate(LEVELS))
TABLE = EnergyTable("m", PJ, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))


def network_of(group):
    """The network with the layers and links of a group."""
    names = [stage.name for stage in group.stages]
    edges = tuple(
        Edge(
            *(names[own.producer], names[own.consumer], own.tensor, own.ranks, own.through, own.streaming, own.causal),
        )
        for own in group.links
    )
    return Network("net", tuple((stage, 1) for stage in group.stages), edges=edges)


def mapped_layers(group, charges, seed):
    """The layers that stages are in steps, with their numbers and any mapping of each."""
    standing, mapped = Standing(group, ARCH), {}
    numbers = standing.layers
    for layer in numbers:
        machine, work = standing.machine(layer), layer.workload(group)
        batch = Mapspace(machine, work, "ruby").sample(np.random.default_rng(seed()), 1)
        mapped[layer] = Mapped.of(Problem(batch.arch, work, TABLE, charges), batch)
    return numbers, mapped


def check_levels(costs):
    """The energy of a group at each level is that of its words there, and with MACs and leakage all that it costs."""
    tensors = {(own.name, tensor.name): tensor for own in costs.standing.group.stages for tensor in own.tensors}
    expected, items = dict.fromkeys(("L0", "L1", "L2"), 0.0), list(group_items(costs))
    for (level, stage, name), (reads, fills, updates) in level_words(costs).items():
        i = ARCH.number_of(level)
        share = LEVELS[i].bits(name, tensors[stage, name].word_bits) / LEVELS[i].width_bits
        expected[level] += share * (reads * PJ[i].read_pj + fills * PJ[i].write_pj + updates * PJ[i].update_pj)
    for level, pj in expected.items():
        assert sum(own.energies_pj.get(level, 0.0) for own in items) == pytest.approx(pj, rel=1e-12)
    assert sum(own.energy_pj for own in items) == pytest.approx(costs.energy_pj, rel=1e-12)
    assert sum(own.cycles for own in items) == costs.cycles


@settings(max_examples=1_000 if DEEP else 40)
@given(groups(most_steps=12), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_a_plan_is_read_as_it_was_written_and_equals_the_executor(group, random, drain_reads, leakage):
    """Any group with any mappings of its layers: figures as summed here, words at every level as executed."""
    try:
        boxes(group)
    except ValueError:
        return
    charges = Charges(drain_reads=drain_reads, leakage=leakage)
    numbers, mapped = mapped_layers(group, charges, lambda: random.getrandbits(32))
    costs = GroupCosts(Standing(group, ARCH), TABLE, charges, numbers, mapped)
    check_levels(costs)
    text = plan_yaml(costs)
    result = evaluate_plan(network_of(group), parse_yaml(text, "plan.yaml"), (ARCH, TABLE, charges))
    assert (result.costs.energy_pj, result.costs.cycles) == (pytest.approx(costs.energy_pj), costs.cycles)
    assert plan_yaml(result.costs) == text
    assert result.limits == ()
    comparison = executed_plan(result)
    assert not comparison.different, str(comparison)
    assert comparison.values_equal
    words = {(own.place, own.of, own.name): own.executor for own in comparison.figures}
    priced = 0.0
    for level, own in zip(LEVELS, PJ, strict=True):
        pj = {"reads": own.read_pj, "fills": own.write_pj, "updates": own.update_pj}
        priced += sum(
            pj[name] * number for (place, _, name), number in words.items() if place == level.name and name in pj
        )
    macs = sum(number * layer.workload(group).macs for layer, number in numbers.items())
    leak = charges.leak_pj_per_cycle(ARCH, TABLE) * costs.cycles
    assert priced + macs + leak == pytest.approx(costs.energy_pj)


NET = """\
layers:
  - {name: a, shape: conv2d, sizes: {M: 4, C: 2, P: 8, Q: 1, R: 3, S: 1}}
  - {name: b, shape: conv2d, sizes: {M: 3, C: 4, P: 8, Q: 1, R: 3, S: 1}, from: {Inputs: a}, pad: {P: 1}}
"""
LOOPS = "[{target: DRAM, type: temporal, factors: M=0 C=0 P=0}, {target: weights_spad, type: temporal, factors: R=0}]"
PLAN = f"""\
group:
  stages: [a, b]
  shared: [[P, 3]]
  keeper: shared_glb
  halo: {{P: retain}}
  life: {{a.Inputs: group}}
stages:
- {{name: a, layers: [{{mapping: {LOOPS}}}]}}
- name: b
  layers:
  - sizes: {{P: 3}}
    mapping: {LOOPS}
  - sizes: {{P: 2}}
    mapping: {LOOPS}
"""


def counted(tmp_path, plan, *options, net=NET):
    """What ruby-model says of a plan."""
    (tmp_path / "net.yaml").write_text(net)
    (tmp_path / "plan.yaml").write_text(plan)
    files = [str(tmp_path / name) for name in ("net.yaml", "plan.yaml")]
    return CliRunner().invoke(ruby_model, ["eyeriss_like", *files, *options])


def test_a_plan_by_hand(tmp_path):
    """Steps of 4, 3 and 1 rows of the first stage by one mapping, those of the second by two."""
    done = counted(tmp_path, PLAN, "--json", "--simulate", "--explain")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert not object_faults("run_plan", said)
    assert said["simulated"]["equal"]
    assert said["simulated"]["values_equal"]
    first, second = ({(layer["sizes"]["P"], layer["steps"]) for layer in stage["layers"]} for stage in said["stages"])
    assert (first, second) == ({(4, 1), (3, 1), (1, 1)}, {(3, 2), (2, 1)})
    assert said["group"]["held_words"] == {"a": 4 * 5}
    assert said["levels"]["shared_glb"]["a.Inputs"]["fills"] == 2 * 10
    assert any("a.Inputs stays in shared_glb, 20 words at most, 20 come in" in line for line in said["explanation"])


def test_the_printed_group(tmp_path):
    """Shared loops outside, stages inside, and which mappings are cut."""
    done = counted(tmp_path, PLAN)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(NEST)
    assert done.stdout.rstrip().endswith(CUT)


CUT = """\
cut          a: M=4 C=2 R=3  # in 1 step
             a: M=4 C=2 P=3 R=3  # in 1 step"""
NEST = """\
group        a + b on eyeriss_like
shared       P 3
shared_glb   holds what is made by a 20 words at most
halo         P retain
kept         a.Inputs (all steps)

for P in tiles of 3  # 3 steps, shared
  a: M=4 C=2 R=3  # in 1 step
"""


def test_a_search_and_its_plan_say_the_same(tmp_path):
    """The object of ruby-map --group --json is a plan, too."""
    (tmp_path / "net.yaml").write_text(NET)
    done = CliRunner().invoke(ruby_map, ["eyeriss_like", str(tmp_path / "net.yaml"), "--group", "a+b", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    said = json.loads(counted(tmp_path, done.stdout, "--json").stdout)
    assert [said[key] for key in ("edp", "energy_pj", "cycles", "group", "stages")] == [
        found[key] for key in ("edp", "energy_pj", "cycles", "group", "stages")
    ]


def test_what_exceeds_the_machine_is_counted_and_said(tmp_path):
    """Status 1: a keeper that is too small for what stays, and a mapping that overflows."""
    net = NET.replace("M: 4, C: 2", "M: 40000, C: 2").replace("C: 4,", "C: 40000,")
    plan = PLAN.replace("[[P, 3]]", "[]").replace("halo: {P: retain}", "halo: {}").replace("P: 3", "P: 8")
    done = counted(tmp_path, plan.replace(f"  - sizes: {{P: 2}}\n    mapping: {LOOPS}\n", ""), net=net)
    assert done.exit_code == 1, done.output
    assert "this group is not valid:" in done.stdout
    assert "bits too small for what stays in it" in done.stdout


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (("[a, b]", "[a, c]"), ['plan.yaml:2: group.stages: no layer "c" in net']),
        (("[a, b]", "[b, a]"), ["plan.yaml:2: group.stages: must be in the order of the network, a, b"]),
        (
            ("[[P, 3]]", "[[X, 3], [P, 9], [P, 2]]"),
            ['shared[0]: no dim "X" of b', "size of P, 8; got 9", "second loop over P"],
        ),
        (("keeper: shared_glb", "keeper: shared_gbl"), ['plan.yaml:4: group.keeper: no memory "shared_gbl"']),
        (("keeper: shared_glb", "keeper: psum_spad"), ["plan.yaml:4: group.keeper: psum_spad has 168 instances"]),
        (("{P: retain}", "{Q: retain}"), ["plan.yaml:5: group.halo.Q: no shared loop over Q"]),
        (("{P: retain}", "{P: keep}"), ["plan.yaml:5: group.halo.P: must be one of retain, recompute"]),
        (("a.Inputs: group", "a.Imputs: group"), ["plan.yaml:6", 'no tensor "a.Imputs"; did you mean "a.Inputs"?']),
        (("a.Inputs: group", "b.Inputs: group"), ["plan.yaml:6", "is between stages"]),
        (("a.Inputs: group", "a.Inputs: M"), ["plan.yaml:6", 'must be one of stage, group, P; got "M"']),
        (
            ("sizes: {P: 2}", "sizes: {P: 5}"),
            ["layers[1].sizes: no step has these; there are P=2 (1 step), P=3 (2 steps)"],
        ),
        (("sizes: {P: 2}", "sizes: {P: 3}"), ["layers[1]: a second mapping of the same steps"]),
        (("sizes: {P: 2}", "sizes: {X: 2}"), ['layers[1].sizes.X: no dim "X" of b']),
        (("name: b", "name: d"), ['stages[1].name: no stage "d" in the group', "the mappings of b are missing"]),
        ((f"  - sizes: {{P: 2}}\n    mapping: {LOOPS}\n", ""), ["plan.yaml:9: stages[1]: no mapping of P=2 (1 step)"]),
        (("M=0 C=0 P=0", "M=0 C=0 P=99"), ["stages[0].layers[0].mapping", "stages[1].layers[0].mapping"]),
        (
            ("layers: [{mapping", "layers: [{accumulates: true, mapping"),
            ["plan.yaml:8: stages[0].layers[0]: no step that adds to sums is without a mapping: leave this one out"],
        ),
        (("[[P, 3]]", "[[P]]"), ['plan.yaml:3: group.shared[0]: entry 2 of ["P"] is missing']),
        (("keeper: shared_glb", "keepers: shared_glb"), ['the key "keeper" is missing', 'unknown key "keepers"']),
    ],
)
def test_faults_of_plans(tmp_path, change, wanted):
    """Status 2, every fault with its line."""
    assert change[0] in PLAN
    done = counted(tmp_path, PLAN.replace(*change))
    assert done.exit_code == 2, done.output
    assert [text for text in wanted if text not in done.stderr] == [], done.stderr


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--pad", "--transforms", "--set", "DRAM: P=2"], ["pad: is of one layer", "transforms: is", "set: changes"]),
        (["other.yaml"], ["MAPPING_B: two groups are not compared"]),
    ],
)
def test_options_of_a_layer_do_not_go_with_a_plan(tmp_path, options, wanted):
    """Each is refused by its name."""
    done = counted(tmp_path, PLAN, *options)
    assert done.exit_code == 2, done.output
    assert [text for text in wanted if text not in done.stderr] == [], done.stderr


def test_files_of_the_wrong_kind(tmp_path):
    """A mapping of a network, and a plan of a layer."""
    done = counted(tmp_path, f"mapping: {LOOPS}")
    assert done.exit_code == 2
    assert "a mapping is of one layer; name one, as NETWORK/LAYER, or give a plan" in done.stderr
    (tmp_path / "plan.yaml").write_text(PLAN)
    done = CliRunner().invoke(ruby_model, ["eyeriss_like", "matmul_100", str(tmp_path / "plan.yaml")])
    assert done.exit_code == 2
    assert "a plan is of layers of a network; matmul_100 is one layer" in done.stderr


def test_too_large_to_execute(tmp_path):
    """Said before it begins."""
    done = counted(tmp_path, PLAN, "--simulate", net=NET.replace("C: 2", "C: 200000"))
    assert done.exit_code == 2
    assert "--simulate: the steps have" in done.stderr
