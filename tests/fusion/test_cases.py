"""Groups that were once counted, proven or judged wrongly, each as the commands say it now."""

import json

import pytest
from ruby_map.mapper.commands.ruby_check import main as ruby_check
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from typer.testing import CliRunner

MACHINE = """\
name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}}
- {name: B0, class: SRAM, capacity_words: WORDS, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1}}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: MAC}}
"""
# what s0 makes is needed in the first step by s1, in none of the second, and in the third by s3
GAP = """\
layers:
- {name: s0, dims: {P: 6, K: 9}, tensors: {A: {projection: [P, K]}, W: {projection: [K]}, Z: OUTPUT}}
- {name: s1, dims: {P: 6, R: 3}, from: {A: s0}, pad: {P: 1}, tensors: {A: {projection: [P + R]}, Z: OUTPUT}}
- {name: s2, dims: {P: 4, R: 2}, from: {A: s1}, tensors: {A: {projection: [P + 2*R]}, Z: OUTPUT}}
- name: s3
  dims: {P: 6, R: 1, K: 5}
  from: {A: s1, B: s2}
  pad: {R: [2, 10]}
  tensors: {A: {projection: [P]}, B: {projection: [3*P + R]}, V: {projection: [P, K]}, Z: OUTPUT}
""".replace("OUTPUT", "{projection: [P], output: true}")
GAP_PLAN = """\
group:
  stages: [s0, s1, s2, s3]
  shared: [[P, 2]]
  keeper: B0
  halo: {P: retain}
stages:
- {name: s0, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 K=0}]]}
- {name: s1, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 R=0}]]}
- {name: s2, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 R=0}]]}
- {name: s3, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 K=0}]]}
"""


@pytest.fixture
def run(tmp_path):
    """Search a group by the command, of texts: its object, as written into a folder, and its text."""

    def searched(net, group, *options, words=60, mac=1, machine=MACHINE):
        machine = machine.replace("WORDS", str(words)).replace("MAC}", f"{mac}}}")
        (tmp_path / "arch.yaml").write_text(machine)
        (tmp_path / "net.yaml").write_text(net)
        files = [str(tmp_path / "arch.yaml"), str(tmp_path / "net.yaml")]
        out = ["--out", str(tmp_path / "out")]
        done = CliRunner().invoke(ruby_map, [*files, "--group", group, "--effort", "thorough", *options, *out])
        assert done.exit_code == 0, done.output
        return json.loads((tmp_path / "out" / "stats.json").read_text()), done.stdout

    return searched


def checked(tmp_path):
    """What `ruby-check` says of the proof that was written beside the texts."""
    files = [str(tmp_path / name) for name in ("arch.yaml", "net.yaml", "proof.json")]
    return CliRunner().invoke(ruby_check, files)


def simulated(tmp_path, plan):
    """What `ruby-model --simulate` says of a plan beside the texts."""
    (tmp_path / "plan.yaml").write_text(plan)
    files = [str(tmp_path / name) for name in ("arch.yaml", "net.yaml", "plan.yaml")]
    return CliRunner().invoke(ruby_model, [*files, "--simulate"]).stdout


def test_words_stay_over_steps_that_need_none(run, tmp_path):
    """They take room in these steps: ten words are too few for a group that was said to be best."""
    certificate = ("--certificate", str(tmp_path / "proof.json"))
    found, _ = run(GAP, "s0+s1+s2+s3", "--mapspace", "ruby", *certificate, words=10)
    assert (found["edp"], found["alone"]["edp"], found["verdict"]) == (1_693_880, 1_604_130, "alone")
    assert checked(tmp_path).exit_code == 0
    assert "all 46 figures are equal" in simulated(tmp_path, GAP_PLAN)


def test_ranks_that_no_loop_moves_are_as_long_as_without_loops(run, tmp_path):
    """Small tiles read zeros and one word of what b makes; how much a makes is not for c's loop to say."""
    net = """\
layers:
- {name: a, dims: {P: 8, K: 2}, tensors: {A: {projection: [P, K]}, W: {projection: [K]}, Z: OUTPUT}}
- {name: b, dims: {P: 2, R: 4}, from: {A: a}, tensors: {A: {projection: [4*P + R]}, Z: OUTPUT}}
- name: c
  dims: {P: 1, R: 3}
  from: {A: a, B: b}
  pad: {R: [2, 1]}
  tensors: {A: {projection: [8*P]}, B: {projection: [P + 2*R]}, Z: OUTPUT}
""".replace("OUTPUT", "{projection: [P], output: true}")
    certificate = ("--certificate", str(tmp_path / "proof.json"))
    found, _ = run(net, "a+b+c", "--mapspace", "ruby", *certificate, words=9)
    assert found["optimal"]
    assert checked(tmp_path).exit_code == 0
    said = simulated(
        tmp_path,
        "group: {stages: [a, b, c], shared: [[R, 1]], keeper: B0, halo: {R: retain}}\n"
        "stages:\n"
        "- {name: a, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 K=0}]]}\n"
        "- {name: b, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 R=0}]]}\n"
        "- {name: c, layers: [mapping: [{target: DRAM, type: temporal, factors: P=0 R=0}]]}\n",
    )
    assert "a: P=8 K=2  # in 1 step" in said
    assert "figures are equal" in said


def test_layers_alone_are_chosen_with_their_operators(run):
    """The best layers beside a softmax need not be the best by themselves."""
    machine = """\
name: m
levels:
- name: DRAM
  class: DRAM
  word_bits: 16
  read_bandwidth: 2
  write_bandwidth: 4
  energy: {read_pj: 0.1, write_pj: 1, update_pj: 5}
- name: B0
  class: SRAM
  capacity_words: 8
  word_bits: 16
  energy: {read_pj: 1, write_pj: 16, update_pj: 2}
  fanout: [{name: x, size: 2}]
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 0.1}}
"""
    net = """\
layers:
- {name: a, shape: matmul, sizes: {N: 2, K: 3, M: 4}}
- {name: b, shape: matmul, sizes: {N: 2, K: 4, M: 1}, from: {Inputs: a}, through: {Inputs: softmax}}
"""
    found, _ = run(net, "a+b", machine=machine)
    alone = found["alone"]
    assert (round(alone["energy_pj"], 6), alone["cycles"]) == (184.8, 28)
    assert alone["lower_bound"] == pytest.approx(alone["edp"])
    assert found["edp"] == pytest.approx(5183.2)
    assert found["verdict"] == "alone"


@pytest.mark.parametrize("channels", [4, 1])
def test_pooling_over_all_rows_is_shared_by_its_rows(run, tmp_path, channels):
    """Where a window has one place, the loop over its filter is shared, and the checker knows it."""
    net = f"""\
layers:
- {{name: a, shape: conv1d, sizes: {{M: {channels}, C: 2, P: 16, R: 1}}}}
- {{name: pool, dims: {{M: {channels}, P: 1, R: 16}}, from: {{Inputs: a}},
   tensors: {{Inputs: {{projection: [M, P + R]}}, Outputs: {{projection: [M, P], output: true}}}}}}
"""
    found, text = run(net, "a+pool", "--certificate", str(tmp_path / "proof.json"), words=12, mac=10)
    assert ["R", 1] in found["group"]["shared"]
    assert found["verdict"] == "fuse"
    assert "or R is lower" in text or "over R is lower" in text
    assert checked(tmp_path).exit_code == 0


def test_without_loops_that_says_the_proof(run, tmp_path):
    """A group none of whose dims is shared: what is proven names no loop."""
    net = "layers:\n- {name: a, shape: matmul, sizes: {N: 1, K: 3, M: 1}}\n"
    net += "- {name: b, shape: matmul, sizes: {N: 1, K: 1, M: 4}, from: {Inputs: a}}\n"
    _, text = run(net, "a+b", "--certificate", str(tmp_path / "proof.json"))
    assert "proof        no group without shared loops is lower" in text
    assert "no group without shared loops has a lower EDP" in checked(tmp_path).stdout


def test_tiles_left_out_leave_it_undecided(run):
    """No group of the tiles that were tried is better; one of another tile may be."""
    net = """\
layers:
- {name: a, shape: matmul, sizes: {N: 300, K: 30, M: 30}}
- {name: b, shape: matmul, sizes: {N: 300, K: 30, M: 30}, from: {Inputs: a}}
"""
    found, text = run(net, "a+b", words=12)
    assert found["saved"] < 0
    assert found["verdict"] == "undecided"
    assert "not fused    no group whose shared loops are over N or K is below" in text
    assert "of 300 tiles of N);" in text


def test_a_tie_is_no_reason_to_fuse(run):
    """Equal energies in another order of their sum differ by the last bit."""
    machine = MACHINE.replace("100", "0").replace(": 1,", ": 0,").replace(": 1}", ": 0}")
    net = """\
layers:
- {name: a, shape: matmul, sizes: {N: 7, K: 7, M: 3}}
- {name: b, shape: matmul, sizes: {N: 7, K: 3, M: 11}, from: {Inputs: a}}
"""
    found, text = run(net, "a+b", "--objective", "energy", words=30, mac=0.1, machine=machine)
    assert abs(found["saved"]) < 1e-12
    assert found["verdict"] == "alone"
    assert "fusing       changes nothing of the energy" in text
    assert "is below 37.8, as much as alone" in text


def test_what_is_known_of_a_group_at_other_slopes_stays(run, tmp_path):
    """A certificate holds all sums that its bound came from: one of them was left out, and the proof refused."""
    machine = """\
name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, write_bandwidth: 1, energy: {read_pj: 100, write_pj: 0, update_pj: 100}}
- name: B0
  class: SRAM
  capacity_words: 9
  word_bits: 16
  read_bandwidth: 1
  energy: {read_pj: 0, write_pj: 100, update_pj: 3}
  fanout: [{name: x, size: 2}]
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 1}}
"""
    net = """\
layers:
- {name: s0, dims: {P: 5}, tensors: {A: {projection: [P]}, Z: {projection: [P], output: true}}}
- {name: s1, dims: {R: 2, P: 4}, from: {A: s0}, tensors: {A: {projection: [P + R]}, Z: {projection: [P], output: true}}}
- name: s2
  dims: {P: 7, R: 3, S: 2}
  from: {A: s0, B: s1}
  pad: {R: [3, 3], S: [4, 0]}
  tensors: {A: {projection: [P + 2*R]}, B: {projection: [P + S]}, Z: {projection: [P], output: true}}
"""
    certificate = ("--certificate", str(tmp_path / "proof.json"))
    found, _ = run(net, "s0+s1+s2", "--mapspace", "pfm", *certificate, machine=machine)
    assert found["optimal"]
    done = checked(tmp_path)
    assert done.exit_code == 0, done.stdout
