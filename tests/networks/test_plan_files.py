"""Plans of networks as files: written, read, counted, executed and refused."""

import json
from dataclasses import replace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from ruby_map.mapper.exploration import evaluate_plan, executed_plan
from ruby_map.mapper.networks import Graph, Part, Plan, PlanCosts, Resident, execute_plan
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.report.plan_files import plan_yaml
from ruby_map.workloads import load_workload, parse_yaml
from typer.testing import CliRunner

from ..conftest import DEEP
from ..schema_files import faults, object_faults
from .networks import fused_one, networks, plans
from .test_counts import ARCH, TABLE, mapped_layers


@st.composite
def plans_with_kept(draw, graph):
    """Any plan; other tensors of its groups may stay in the keeper, too."""
    plan = draw(plans(graph))
    parts = list(plan.parts)
    for number, part in enumerate(parts):
        if len(part.layers) > 1:
            lasting = plan.placed(number).group(ARCH).lasting
            every = [(stage, own.name) for stage, layer in enumerate(part.group.stages) for own in layer.tensors]
            free = [key for key in every if key not in lasting and not part.group.intermediate(*key)]
            depths = st.integers(0, len(part.group.shared))
            kept = draw(st.dictionaries(st.sampled_from(free), depths, max_size=2)) if free else {}
            parts[number] = replace(part, group=replace(part.group, kept=tuple(sorted(kept.items()))))
    return replace(plan, parts=tuple(parts))


@settings(max_examples=2_000 if DEEP else 25)
@given(st.data(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_a_plan_is_read_as_it_was_written_and_equals_the_executor(data, random, drain_reads, leakage):
    """Any plan with any mappings: the same parts, and exactly the same energy, cycles and room; as executed."""
    network = data.draw(networks())
    plan = data.draw(plans_with_kept(Graph.of(network)))
    charges = Charges(drain_reads=drain_reads, leakage=leakage)
    costs = PlanCosts.of(plan, (ARCH, TABLE, charges), mapped_layers(plan, charges, lambda: random.getrandbits(32)))
    text = plan_yaml(costs)
    assert faults("network-plan", yaml.safe_load(text)) == []
    result = evaluate_plan(network, parse_yaml(text, "plan.yaml"), (ARCH, TABLE, charges))
    again = result.costs
    assert (again.plan.keeper, again.plan.parts, again.plan.residents) == (plan.keeper, plan.parts, plan.residents)
    assert (again.energy_pj, again.cycles) == (costs.energy_pj, costs.cycles)
    for number, (one, other) in enumerate(zip(again.parts, costs.parts, strict=True)):
        assert one.most_bits(again.plan.placed(number)) == other.most_bits(plan.placed(number))
    assert plan_yaml(again) == text
    assert result.limits == ()
    comparison = executed_plan(result)
    assert not comparison.different, str(comparison)
    assert comparison.values_equal


NET = """\
name: block
inputs: {x: [6, 4]}
layers:
  - {name: a, shape: matmul, sizes: {M: 8, N: 6, K: 4}, from: {Inputs: x}}
  - {name: norm, op: rms_norm, from: a}
  - {name: b, shape: matmul, sizes: {M: 4, N: 6, K: 8}, from: {Inputs: norm}}
  - {name: shown, op: relu, from: b}
  - {name: sum, op: add, from: [shown, x]}
  - {name: c, shape: matmul, sizes: {M: 8, N: 6, K: 4}, from: {Inputs: sum}}
  - {name: end, op: max_pool, from: c, sizes: [3, 8]}
"""
MACHINE = """\
name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}}
- {name: B0, class: SRAM, capacity_words: 150, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1},
   fanout: [{name: x, size: 2}]}
- {name: B1, class: regfile, capacity_words: 9, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1}}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10}}
"""
KEEP = "{target: B1, type: bypass, bypass: [Weights, Inputs, Outputs]}"
WHOLE = f"[{{target: DRAM, type: temporal, factors: M=0 N=0 K=0}}, {KEEP}]"
PLAN = f"""\
keeper: B0
parts:
- group:
    stages: [a, b]
    shared: [[N, 4]]
    life: {{a.Weights: group}}
  stages:
  - name: a
    layers: [{{mapping: {WHOLE}}}]
  - name: b
    layers: [{{mapping: {WHOLE}}}]
  between: [norm]
  operations: [sum]
- group: {{stages: [c]}}
  stages:
  - name: c
    layers: [{{mapping: {WHOLE}}}]
- operations: [end]
resident:
- {{tensor: sum, until: c}}
- {{tensor: c, until: end, copied: false}}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "arch.yaml").write_text(MACHINE)
    (tmp_path / "net.yaml").write_text(NET)
    return tmp_path


def counted(folder, plan, *options):
    """What ruby-model says of a plan."""
    (folder / "plan.yaml").write_text(plan)
    files = [str(folder / name) for name in ("arch.yaml", "net.yaml", "plan.yaml")]
    return CliRunner().invoke(ruby_model, [*files, *options])


def test_a_plan_by_hand(folder):
    """A fused part with a norm between its layers and a sum at its end, a layer alone, an operation."""
    done = counted(folder, PLAN, "--json", "--simulate", "--explain")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert object_faults("run_plan", said) == []
    assert said["simulated"]["equal"]
    assert said["simulated"]["values_equal"]
    fused, alone, last = said["parts"]
    assert (fused["layers"], fused["operations"], fused["shared"]) == (["a", "b"], ["norm", "sum"], [["N", 4]])
    # the sum stays; beside it the weights of a, and 4 rows of what a makes
    assert (fused["held_bits"], fused["room_bits"]) == (24 * 16, (24 + 32 + 4 * 8) * 16)
    assert fused["levels"]["B0"]["a.Weights"]["fills"] == 32
    assert [own["name"] for own in fused["moved"]] == ["sum"]
    assert fused["moved"][0]["words"] == [{"level": "DRAM", "written": False, "words": 24, "bits": 16}]
    assert "DRAM" not in alone["levels"] or "c.Inputs" not in alone["levels"]["DRAM"]
    assert (last["layers"], last["stages"], last["room_bits"]) == ([], [], 48 * 16)
    assert said["energy_pj"] == pytest.approx(sum(own["energy_pj"] for own in said["parts"]))
    assert said["explanation"][-1].startswith("cycles = ")
    assert any("c 48 words x 16 bits = 768 bits" in line for line in said["explanation"])


def test_the_printed_plan(folder):
    """Parts with their room, what stays, and which mappings are cut."""
    done = counted(folder, PLAN)
    assert done.exit_code == 0, done.output
    assert done.stdout == PRINTED


PRINTED = """\
plan         block on m

part by part, once; room: of B0, for what stays and what stands between layers
                                                        energy
part      count   tiles   stays in B0   room   cycles     [nJ]
──────────────────────────────────────────────────────────────
a+b+sum           N 4     sum            59%      384    32.85
c                         c, sum         48%      192    22.03
end                       c              32%        0    2.448

stays        sum until c
             c until end
cycles       576
energy       57.328 nJ
EDP          3.3021e+07 pJ cycles
cut          a: M=8 N=2 K=4  # in 1 step
             b: M=4 N=2 K=8  # in 1 step
"""


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ([("[a, b]", "[a, d]")], ['plan.yaml:4: parts[0].group.stages: no layer "d" in block']),
        ([("[a, b]", "[b, a]")], ["parts[0].group.stages: must be in the order of the network, a, b"]),
        ([("stages: [c]", "stages: [d]")], ['plan.yaml:14: parts[1].group.stages[0]: no layer "d" in block']),
        ([("[[N, 4]]", "[[X, 4], [N, 9]]")], ['shared[0]: no dim "X" of b', "parts[0].group.shared[1]: the tile must"]),
        ([("[[N, 4]]", "[[N]]")], ["plan.yaml:5: parts[0].group.shared[0]: entry 2"]),
        ([("stages: [c]", "stages: [c], shared: [[N, 3]]")], ["parts[1].group.shared: is of layers that are fused"]),
        ([("a.Weights", "a.Weihgts")], ['parts[0].group.life.a.Weihgts: no tensor "a.Weihgts"']),
        ([("keeper: B0", "keeper: B9")], ['plan.yaml:1: keeper: no memory "B9" inside DRAM']),
        ([("keeper: B0", "keeper: B1")], ["plan.yaml:1: keeper: B1 has 2 instances"]),
        (
            [("between: [norm]", "between: []")],
            ["plan.yaml:12: parts[0].between: must name the operations on rows between"],
        ),
        ([("operations: [end]", "operations: [ned]")], ['parts[2].operations[0]: no operation "ned"', "end is in no"]),
        ([("[sum]", "[shown, sum]")], ["parts[0].operations[0]: shown moves no words"]),
        ([("[end]", "[end, sum]")], ["plan.yaml:18: parts[2].operations[1]: sum is in two parts"]),
        ([("[end]", "[]")], ["parts[2]: part 3 has neither layers nor operations", "end is in no part"]),
        ([("tensor: sum, until: c", "tensor: b, until: c")], ["resident[0].tensor: b is no tensor that a part makes"]),
        (
            [("tensor: sum, until: c", "tensor: sum, until: end")],
            ["plan.yaml:20: resident[0].until: end does not read"],
        ),
        ([("tensor: sum, until: c", "tensor: c, until: end")], ["plan.yaml:21: resident[1].tensor: c stays twice"]),
        ([("tensor: sum,", "tensors: sum,")], ['the key "tensor" is missing', 'unknown key "tensors"']),
        ([("life: {a.W", "life: {b.Outputs: group, a.W")], ["life.b.Outputs: stays from part to part"]),
        ([("- name: c", "- name: d")], ['parts[1].stages[0].name: no stage "d"', "the mappings of c are missing"]),
        ([("M=0 N=0 K=0", "M=0 N=0 K=99")], [f"parts[{i}].stages[{j}].layers" for i, j in ((0, 0), (0, 1), (1, 0))]),
        (
            [("keeper: B0", "keeper: B9"), ("stages: [c]", "stages: [d]"), ("until: end", "until: sum")],
            ["keeper: no memory", 'no layer "d"', "resident[1].until: sum does not read c"],
        ),
    ],
)
def test_faults_of_plan_files(folder, changes, wanted):
    """Status 2, every fault with its line and path."""
    plan = PLAN
    for old, new in changes:
        assert old in plan
        plan = plan.replace(old, new)
    done = counted(folder, plan)
    assert done.exit_code == 2, done.output
    assert [text for text in wanted if text not in done.stderr] == [], done.stderr


JOINED = """\
name: joined
inputs: {x: [1, 1], y: [1, 1]}
layers:
- {name: a, shape: matmul, sizes: {M: 1, N: 1, K: 1}, from: {Inputs: x}}
- {name: both, op: concat, from: [a, y], sizes: [2, 1]}
- {name: z, shape: matmul, sizes: {M: 1, N: 2, K: 1}, from: {Inputs: both}}
"""


def test_what_is_joined_with_words_off_chip_needs_a_copy(folder):
    """It is read with them, off chip: no plan saves anything by keeping it."""
    (folder / "net.yaml").write_text(JOINED)
    graph = Graph.of(load_workload(str(folder / "net.yaml")))
    parts = tuple(Part((name,), group=fused_one(graph, name)) for name in ("a", "z"))
    plain = Plan(graph, "L1", parts, (Resident("a", "z"),))
    assert plain.faults() == ["z reads a joined with others that are not all in L1: it needs a copy"]
    assert replace(plain, residents=(Resident("a", "z", copied=True),)).faults() == []
    named = replace(plain, residents=(Resident("a", "both"),))
    assert named.faults() == ["both moves no words: name a layer or an operation that reads a"]
    before = replace(plain, residents=(Resident("z", "both"),))
    assert before.faults() == ["both does not read z"]
    wrong = replace(plain, residents=(Resident("a", "z"), Resident("z", "nobody")))
    assert wrong.faults() == [*plain.faults(), "nobody does not read z"]
    with pytest.raises(LookupError):
        execute_plan(plain)
    options = SearchOptions(strategy="optimal", objective="energy", effort="thorough")
    plan = explore(str(folder / "arch.yaml"), graph.network, "ruby-s", options, fuse="resident").plan
    assert plan.costs.plan.residents == ()


def test_one_reader_reads_a_tensor_on_chip_and_joined_with_others_off_chip(folder):
    """It stays with a copy for the second read: less energy than without."""
    twice = "{name: z, shape: matmul, sizes: {M: 2, N: 4, K: 3}, from: {Inputs: both, Weights: a}}"
    text = JOINED.replace("{x: [1, 1], y: [1, 1]}", "{x: [2, 3], y: [2, 3]}").replace("[2, 1]", "[4, 3]")
    text = text.replace("sizes: {M: 1, N: 1, K: 1}, from: {Inputs: x}", "sizes: {M: 3, N: 2, K: 3}, from: {Inputs: x}")
    lines = [f"- {twice}" if "name: z" in line else line for line in text.splitlines()]
    (folder / "net.yaml").write_text("\n".join(lines))
    options = SearchOptions(strategy="optimal", objective="energy", effort="thorough")
    network = load_workload(str(folder / "net.yaml"))
    plan = explore(str(folder / "arch.yaml"), network, "ruby-s", options, fuse="resident").plan
    assert plan.costs.plan.residents == (Resident("a", "z", copied=True),)
    assert plan.saved > 0


def test_mappings_that_let_pass_what_stays_are_not_executed(folder):
    """They are counted, and said to be invalid; nothing says where the words would come from."""
    passing = WHOLE.replace(KEEP, f"{KEEP}, {{target: B0, type: bypass, keep: [Weights, Outputs], bypass: [Inputs]}}")
    plan = PLAN.replace(f"- name: c\n    layers: [{{mapping: {WHOLE}", f"- name: c\n    layers: [{{mapping: {passing}")
    assert plan != PLAN
    done = counted(folder, plan)
    assert done.exit_code == 1, done.output
    said = "c with M=8 N=6 K=4: violates the architecture's constraints: B0 must keep Inputs"
    assert said in done.stdout
    done = counted(folder, plan, "--simulate")
    assert done.exit_code == 2, done.output
    assert "--simulate: c with M=8 N=6 K=4 cannot be executed: Inputs stays in B0, where it is bypassed" in done.stderr


def test_parts_in_the_wrong_order_are_refused(folder):
    """What is read before it is made."""
    head, fused, alone, last = PLAN.split("- group:\n")[0], *_parts()
    done = counted(folder, head + alone + fused + last)
    assert done.exit_code == 2
    assert "plan.yaml:3: parts[0].group.stages[0]: c is before sum, whose words it reads" in done.stderr


def _parts():
    lines = PLAN.splitlines(keepends=True)
    return "".join(lines[2:13]), "".join(lines[13:17]), "".join(lines[17:])


def test_what_exceeds_the_machine_is_counted_and_said(folder):
    """Status 1: the sum and all that stands beside it have no room, and a tensor that waits has none either."""
    small = MACHINE.replace("150", "40")
    (folder / "arch.yaml").write_text(small)
    done = counted(folder, PLAN)
    assert done.exit_code == 1, done.output
    said = done.stdout.split("this plan is not valid:\n")[1]
    assert "a: B0 is 768 bits too small for what stays in it" in said
    assert "end: B0 is 128 bits too small for what stays in it" in said


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--pad", "--set", "DRAM: P=2"], ["pad: is of one layer, not of a plan", "set: changes"]),
        (["other.yaml"], ["MAPPING_B: two plans are not compared"]),
    ],
)
def test_options_of_a_layer_do_not_go_with_a_plan(folder, options, wanted):
    """Each is refused by its name."""
    done = counted(folder, PLAN, *options)
    assert done.exit_code == 2, done.output
    assert [text for text in wanted if text not in done.stderr] == [], done.stderr


def test_networks_and_layers_that_have_no_plan(folder):
    """A layer, a network that does not say what its layers hand each other, and one too large to execute."""
    (folder / "plan.yaml").write_text(PLAN)
    done = CliRunner().invoke(ruby_model, ["eyeriss_like", "matmul_100", str(folder / "plan.yaml")])
    assert (done.exit_code, "parts: a plan is of layers of a network" in done.stderr) == (2, True), done.stderr
    (folder / "net.yaml").write_text("layers: [{name: a, shape: rank1, sizes: {D: 4}}]")
    done = counted(folder, PLAN)
    assert (done.exit_code, "net does not say what its layers hand each other" in done.stderr) == (2, True)
    (folder / "net.yaml").write_text(NET.replace("6", "60000"))
    done = counted(folder, PLAN.replace("[N, 4]", "[N, 30000]"), "--simulate")
    assert done.exit_code == 2
    assert "--simulate: the steps have" in done.stderr


def test_a_search_and_its_file_say_the_same(folder):
    """The plan that a search writes beside its figures, read again: not a bit of energy, cycles and room differs."""
    files = [str(folder / name) for name in ("arch.yaml", "net.yaml")]
    out = folder / "out"
    done = CliRunner().invoke(
        ruby_map, [*files, "--fuse", "auto", "--objective", "energy", "--out", str(out), "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    said = json.loads(counted(folder, (out / "plan.yaml").read_text(), "--json", "--simulate").stdout)
    assert same_figures(said, found, ("edp", "energy_pj", "cycles"))
    assert said["simulated"]["equal"]
    assert said["resident"] == found["plan"]["resident"]
    for own, other in zip(said["parts"], found["plan"]["groups"], strict=True):
        assert same_figures(own, other, other.keys() - {"alone", "saved", "gap"})


def same_figures(one, other, keys):
    """Whether two objects have the same values, to the last bit."""
    return [one[key] for key in keys] == [other[key] for key in keys]
