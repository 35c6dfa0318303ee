"""Time, power and throughput wherever a clock is given: by their definitions, in reports, JSON, rows and sweeps."""

import json
from dataclasses import replace

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import no_energies
from ruby_map.mapper import SearchOptions, explore, result_json, sweep
from ruby_map.mapper.model.figures import RATES, short
from ruby_map.mapper.problem import fingerprint
from ruby_map.mapper.report.frames import layer_rows
from ruby_map.workloads import InputError, Network, load_workload, shaped

FEW = SearchOptions(strategy="random", samples=60)
LAYER = shaped("matmul", M=12, N=6, K=10)
MODEL = Network("model", ((LAYER, 3),), tokens=6)
CLOCKED = replace(load_arch("toy_6pe"), clock_ns=2.5)


@pytest.fixture(scope="module")
def layer():
    """A layer on a machine with a clock."""
    return explore(CLOCKED, LAYER, "ruby-s", FEW)


@pytest.fixture(scope="module")
def network():
    """The network of a language model on the same."""
    return explore(CLOCKED, MODEL, "ruby-s", FEW)


def test_each_is_what_its_definition_says(layer, network):
    """In SI units: seconds from the clock, joules over seconds, two operations a MAC, tokens of a run."""
    for result, tokens in (layer, None), (network, 6):
        seconds, joules = result.cycles * 2.5e-9, result.energy_pj * 1e-12
        assert result.milliseconds == pytest.approx(1e3 * seconds)
        assert result.watts == pytest.approx(joules / seconds)
        assert result.tops == pytest.approx(2 * result.macs / seconds / 1e12)
        assert result.tops_per_watt == pytest.approx(result.tops / result.watts)
        assert result.tokens_per_second == (None if tokens is None else pytest.approx(tokens / seconds))
        assert result.joules_per_token == (None if tokens is None else pytest.approx(joules / tokens))
    assert network.macs == 3 * LAYER.macs


def test_zeros_of_padding_are_no_operations():
    """A padded layer does no more for the user than the layer itself."""
    odd = shaped("matmul", M=13, N=7, K=11)
    padded = explore(CLOCKED, odd, "pfm", FEW, pad=True)
    assert padded.macs > odd.macs
    assert padded.tops == pytest.approx(2 * odd.macs / (padded.cycles * 2.5e-9) / 1e12)
    assert padded.tops_per_watt == pytest.approx(2 * odd.macs / padded.energy_pj)


def test_the_report_has_them(layer, network):
    """A line each for latency, throughput and power; tokens only where a network names them."""
    lines = str(layer).splitlines()
    assert f"latency      {short(layer.milliseconds)} ms (clock 2.5 ns)" in lines
    assert f"throughput   {short(layer.tops)} TOPS" in lines
    assert f"power        {short(layer.watts)} W ({short(layer.tops_per_watt)} TOPS/W)" in lines
    tokens = f"{short(network.tokens_per_second)} tokens/s (6 a run)"
    assert f"throughput   {short(network.tops)} TOPS; {tokens}" in str(network).splitlines()
    assert f"; {short(network.joules_per_token)} J/token" in str(network)


def test_json_and_rows_have_them(layer, network):
    """The same figures; the network's rows are of its layers."""
    told = result_json(network)
    assert told["clock_ns"] == 2.5
    assert {name: told[name] for name in RATES} == {name: getattr(network, name) for name in RATES}
    assert not {"tokens_per_second", "joules_per_token"} & result_json(layer).keys()
    assert result_json(layer)["watts"] == told["layers"][0]["watts"] == layer_rows(network)[0]["watts"] == layer.watts


def test_without_a_clock_nothing_is_said():
    """No figure is made up for a machine whose cycle is not known."""
    result = explore("toy_6pe", LAYER, "ruby-s", FEW)
    assert [getattr(result, name) for name in RATES] == [None] * len(RATES)
    assert not {"clock_ns", *RATES} & result_json(result).keys()
    assert "latency" not in str(result)


def test_without_energies_there_is_no_power():
    """Time and throughput need none."""
    result = explore(CLOCKED, LAYER, "ruby-s", replace(FEW, objective="delay"), table=no_energies(CLOCKED))
    assert result.milliseconds is not None
    assert (result.watts, result.tops_per_watt) == (None, None)
    told = result_json(result)
    assert (told["watts"], told["tops_per_watt"]) == (None, None)


def test_a_clock_is_no_part_of_a_problem():
    """A checkpoint or a store of the machine without the clock goes on."""
    assert fingerprint(CLOCKED) == fingerprint(load_arch("toy_6pe"))


def test_a_sweep_has_them(tmp_path):
    """Rows have the figures of a point, tables of frontiers the medians over its seeds."""
    path = tmp_path / "sweep.yaml"
    path.write_text(
        "architecture: gemmini_like\nparameters: {clock_ns: [1, 2]}\nworkloads: [bert_base_128]\nseeds: [0, 1, 2]\n"
        "search: {strategy: random, samples: 20}\npareto: [energy, delay]\n"
    )
    swept = sweep(path, tmp_path / "out")
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["points"]
    for row in rows:
        assert row["milliseconds"] == pytest.approx(row["cycles"] * row["parameters"]["clock_ns"] * 1e-6)
        assert row["tokens_per_second"] == pytest.approx(128e3 / row["milliseconds"])
        assert row["joules_per_token"] == pytest.approx(row["energy_pj"] * 1e-12 / 128)
    front = swept.fronts[0].members[0]
    times = sorted(row["milliseconds"] for row in rows if row["design"] == front.design)
    head, line = (part.splitlines() for part in str(swept).split("latency [ms]"))
    assert all(unit in line[0] for unit in ("power [W]", "TOPS", "TOPS/W", "tokens/s"))
    assert f" {short(times[1])} " in line[2]
    assert head


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("llama3_8b_decode_4096", 1),
        ("llama3_8b_decode_4096_b64", 64),
        ("llama3_8b_prefill_2048", 2048),
        ("gpt2_small_1024", 1024),
        ("bert_base_128", 128),
    ],
)
def test_networks_of_the_library_name_their_tokens(name, tokens):
    """One of each sequence of a decode step, else the length in the name."""
    assert load_workload(name).tokens == tokens


def test_tokens_are_checked(tmp_path):
    """A count of at least 1."""
    path = tmp_path / "net.yaml"
    path.write_text("tokens: 0\nlayers:\n- {name: a, shape: matmul, sizes: {M: 2, N: 2, K: 2}}\n")
    with pytest.raises(InputError, match="tokens"):
        load_workload(path)
