"""Systolic axes in files, commands, stores and sweeps; machines without them say nothing new."""

import csv
import json

import pytest
from ruby_map.arch import load_arch
from ruby_map.arch.timeloop import write_timeloop_arch
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from ruby_map.mapper.commands.ruby_sweep import main as ruby_sweep
from ruby_map.mapper.problem.plain import plain
from ruby_map.workloads import InputError
from typer.testing import CliRunner

LEVELS = """
levels:
  - {{name: DRAM, class: DRAM, width_bits: 16, word_bits: 16{outer}}}
  - name: buffer
    class: SRAM
    capacity_words: 4096
    keep: [Weights, Inputs, Outputs]
    fanout:
      - {{name: column, size: 3, mesh: X, dims: [M]{systolic}}}
      - {{name: row, size: 4, mesh: Y, dims: [K]{systolic}}}
  - {{name: register, class: regfile, depth: 1, word_bits: 16, keep: [Weights], bypass: [Inputs, Outputs]}}
compute: {{name: MAC, class: intmac, word_bits: 16}}
"""
OUTER = ", fanout: [{name: array, size: 2, systolic: true}]"
LAYER = "name: mm\nshape: matmul\nsizes: {M: 7, N: 9, K: 12}\n"  # 3 x 3 folds of 9 words: 81 steps, 9 x (2 x 4 + 3 - 2)


@pytest.fixture
def folder(tmp_path):
    """Two machines that differ in `systolic`, and a product."""
    for name, systolic in (("systolic", ", systolic: true"), ("plain", "")):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}" + LEVELS.format(systolic=systolic, outer=""))
    (tmp_path / "mm.yaml").write_text(LAYER)
    return tmp_path


def run(command, folder, *arguments):
    arguments = [str(folder / each) if (folder / str(each)).exists() else str(each) for each in arguments]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


OPTIONS = ("--search", "evolve", "--samples", "3000", "--objective", "delay")


def test_the_array_of_a_file(folder):
    """Rows are the axes of mesh Y, columns those of X; none where no axis is systolic."""
    array = load_arch(str(folder / "systolic.yaml")).systolic
    assert (array.level, array.rows, array.columns, array.skew) == (1, 4, 3, 5)
    assert load_arch(str(folder / "plain.yaml")).systolic is None


def test_below_one_level_alone(folder):
    """Arrays inside arrays are a fault of the file."""
    (folder / "two.yaml").write_text("name: two" + LEVELS.format(systolic=", systolic: true", outer=OUTER))
    with pytest.raises(InputError, match="systolic axes stand below one level; those of DRAM above are systolic, too"):
        load_arch(str(folder / "two.yaml"))


def test_true_or_false(folder):
    """Anything else is a fault."""
    (folder / "odd.yaml").write_text("name: odd" + LEVELS.format(systolic=", systolic: 2", outer=""))
    with pytest.raises(InputError, match="systolic"):
        load_arch(str(folder / "odd.yaml"))


def test_two_registers(folder):
    """One axis says it for the array; without `systolic: true` beside it it is a fault at its key."""
    doubled = LEVELS.replace("mesh: X, dims: [M]{systolic}", "mesh: X, dims: [M]{systolic}, double_buffered: true")
    for name, systolic in (("doubled", ", systolic: true"), ("none", "")):
        (folder / f"{name}.yaml").write_text(f"name: {name}" + doubled.format(systolic=systolic, outer=""))
    assert load_arch(str(folder / "doubled.yaml")).systolic.double_buffered
    assert not load_arch(str(folder / "systolic.yaml")).systolic.double_buffered
    with pytest.raises(InputError, match="double_buffered.*it goes with systolic: true"):
        load_arch(str(folder / "none.yaml"))
    with pytest.raises(ValueError, match="buffer: systolic axes"):
        write_timeloop_arch(load_arch(str(folder / "doubled.yaml")))


def test_loads_beside_the_folds(folder):
    """9 folds of 9 steps hide loads of 4 cycles: 4 + 3 + 2 are left of 81, and the executor of ruby-model agrees."""
    (folder / "doubled.yaml").write_text(
        "name: doubled" + LEVELS.format(systolic=", systolic: true, double_buffered: true", outer="")
    )
    text = run(ruby_map, folder, "doubled.yaml", "mm.yaml", *OPTIONS, "--out", str(folder / "out"))
    assert "fill, drain  9 of the 90 cycles of the array" in text
    assert "figures are equal" in run(ruby_model, folder, "doubled.yaml", "mm.yaml", "out/mapping.yaml", "--simulate")


def test_results_tell_it(folder):
    """A line of the text and a field of the JSON: 81 of 162 cycles; no word of it without systolic axes."""
    text = run(ruby_map, folder, "systolic.yaml", "mm.yaml", *OPTIONS)
    assert "fill, drain  81 of the 162 cycles of the array" in text
    said = json.loads(run(ruby_map, folder, "systolic.yaml", "mm.yaml", *OPTIONS, "--json"))
    assert (said["cycles"], said["fill_drain_cycles"]) == (162, 81)
    assert "fill, drain" not in run(ruby_map, folder, "plain.yaml", "mm.yaml", *OPTIONS)
    plain_json = json.loads(run(ruby_map, folder, "plain.yaml", "mm.yaml", *OPTIONS, "--json"))
    assert plain_json["cycles"] == 81
    assert "fill_drain_cycles" not in plain_json


def test_a_mapping_evaluated_and_executed(folder):
    """ruby-model counts it and its executor agrees; a proof is refused in plain words."""
    run(ruby_map, folder, "systolic.yaml", "mm.yaml", *OPTIONS, "--out", str(folder / "out"))
    told = run(ruby_model, folder, "systolic.yaml", "mm.yaml", "out/mapping.yaml", "--simulate")
    assert "figures are equal" in told
    assert "162" in told
    text = run(ruby_map, folder, "systolic.yaml", "mm.yaml", "--time-limit", "0.3")
    assert "no proof: the cycles of a systolic array depend on loop orders" in text


def test_descriptions_without_it_are_as_before(folder):
    """Digests in stores do not know the field at its default."""
    assert "systolic" not in json.dumps(plain(load_arch("eyeriss_like")))
    assert json.dumps(plain(load_arch(str(folder / "systolic.yaml")))).count('"systolic": true') == 2


def test_timeloop_has_no_such_array(folder):
    """It would count other cycles, so nothing is written."""
    with pytest.raises(ValueError, match="buffer: systolic axes"):
        write_timeloop_arch(load_arch(str(folder / "systolic.yaml")))


def test_a_sweep_varies_it(folder):
    """With and without, by its path: 162 and 81 cycles where both axes are, or neither is."""
    axes = [f"levels.buffer.fanout.{name}.systolic" for name in ("column", "row")]
    (folder / "sweep.yaml").write_text(
        f"architecture: ./plain.yaml\nparameters: {{{axes[0]}: [true, false], {axes[1]}: [true, false]}}\n"
        "workloads: [./mm.yaml]\nsearch: {strategy: evolve, samples: 3000}\n"
    )
    run(ruby_sweep, folder, "sweep.yaml", "--out", str(folder / "swept"))
    with (folder / "swept" / "results.csv").open() as file:
        cycles = {(row[axes[0]], row[axes[1]]): float(row["cycles"]) for row in csv.DictReader(file)}
    assert (cycles["True", "True"], cycles["False", "False"]) == (162, 81)
    assert 81 < cycles["True", "False"] < 162
