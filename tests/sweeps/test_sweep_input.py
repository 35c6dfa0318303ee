"""SWEEP.yaml: what its values mean, and bad input, every fault at once and in the user's words."""

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table, write_ert
from ruby_map.mapper.designs import LinkedParameters, computed
from ruby_map.mapper.designs.linked import SteppedRange
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.sweeps.file import read_sweep
from ruby_map.workloads import InputError

ROOT = Path(__file__).parents[2]
WORK = "workloads: [alexnet/conv3]\n"


@pytest.fixture
def plan(tmp_path):
    """The plan of a text on eyeriss_like, alexnet/conv3 unless it says otherwise."""

    def read(text, limit=None):
        path = tmp_path / "s.yaml"
        path.write_text(text + ("" if "architecture" in text else "architecture: eyeriss_like\n")
                        + ("" if "workloads" in text else WORK))  # fmt: skip
        return read_sweep(path, limit)

    return read


@pytest.fixture
def faults(plan):
    """The faults of a text, as (line, path, message)."""

    def read(text, limit=None):
        with pytest.raises(InputError) as caught:
            plan(text, limit)
        return [(fault.line, fault.path, fault.message) for fault in caught.value.faults]

    return read


def designs(plan):
    return [plan.values(design) for design in plan.designs]


def test_the_shipped_sweep_and_the_one_in_the_docs_are_read(tmp_path):
    """experiments/array_sizes.yaml has 2 x 7 to 16 x 16 elements; every key of docs/sweeps.md is understood."""
    shipped = read_sweep(ROOT / "experiments/array_sizes.yaml")
    sizes = [(design["rows"], design["columns"]) for design in designs(shipped)]
    assert (sizes[0], sizes[-1], shipped.points) == ((2, 7), (16, 16), 8 * 2 * 3 * 3)
    text, more, plans = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/sweeps.md").read_text(), re.DOTALL)
    (tmp_path / "mine.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n")
    (tmp_path / "docs.yaml").write_text(text)
    found = read_sweep(tmp_path / "docs.yaml")
    assert found.limit == 500
    assert found.arch(0).levels[1].capacity_bits == 32 * 1024 * 8
    (tmp_path / "best.yaml").write_text(re.sub(r"(?m)^(seeds|pareto|objective):.*$", "", text) + more)
    question = read_sweep(tmp_path / "best.yaml").question
    assert (question.minimise.text, len(question.limits), question.weights) == ("edp", 3, (2.0, 1.0, 1.0))
    assert (question.gap, question.proofs, question.width, question.sensitivity) == (0.05, 2000, 4, True)
    (tmp_path / "plans.yaml").write_text(plans)
    found = read_sweep(tmp_path / "plans.yaml")
    assert (found.fuse, found.designer, found.points) == ("auto", "grid", 4)


def test_lists_ranges_single_values_and_expressions(plan):
    """Every combination, the last parameter fastest; whole numbers stay whole."""
    found = plan(
        "parameters:\n  rows: [2, 2**3]\n  columns: {from: 3, to: 12, times: 2}\n"
        "  glb_kib: max(16, rows * columns)\n  levels.DRAM.type: LPDDR4\n  clock_ns: {from: 0.1, to: 0.3, step: 0.1}\n"
    )
    wanted = [
        {"rows": rows, "columns": columns, "glb_kib": max(16, rows * columns), "levels.DRAM.type": "LPDDR4"}
        for rows, columns in itertools.product([2, 8], [3, 6, 12])
    ]
    every = designs(found)
    assert [{k: v for k, v in design.items() if k != "clock_ns"} for design in every[::3]] == wanted
    assert [design["clock_ns"] for design in every[:3]] == pytest.approx([0.1, 0.2, 0.3])
    assert all(isinstance(design["columns"], int) for design in every)


def test_linked_parameters_vary_together(plan):
    """Value i of one with value i of the others, crossed with the rest."""
    found = plan("linked:\n  - {rows: [1, 2], columns: {from: 4, to: 5, step: 1}}\nparameters: {glb_kib: [64, 128]}\n")
    pairs = {(design["rows"], design["columns"], design["glb_kib"]) for design in designs(found)}
    assert pairs == {(1, 4, 64), (1, 4, 128), (2, 5, 64), (2, 5, 128)}


def test_fields_by_path_reach_the_architecture(plan):
    """Variables, sizes of axes, capacities in another unit, lists, nested sections, the compute unit."""
    found = plan("""parameters:
  variables.rows: 5
  levels.shared_glb.fanout.PE_column.size: 9
  levels.shared_glb.capacity_words: 4096
  levels.shared_glb.bypass: [[]]
  levels.weights_spad.temporal.max_loops: 3
  levels.DRAM.energy.read_pj: 7.5
  levels.DRAM.energy.write_pj: 8
  compute.word_bits: 8
""").arch(0)
    glb, dram = found.levels[1], found.levels[0]
    assert [axis.size for axis in glb.fanout] == [9, 5]
    assert glb.capacity_bits == 4096 * 16
    assert glb.bypass == frozenset()
    assert next(level for level in found.levels if level.name == "weights_spad").temporal.max_loops == 3
    assert dict(dram.attribute("energy"))["read_pj"] == 7.5
    assert found.compute.word_bits == 8


def test_an_architecture_in_timeloops_form_is_swept_without_parameters(plan, tmp_path):
    """Its workloads, mapspaces and seeds may vary; a parameter is refused."""
    arch = """architecture:
  version: 0.3
  subtree:
    - name: system
      local: [{name: DRAM, class: DRAM, attributes: {width: 64, block-size: 4, word-bits: 16}}]
      subtree:
        - name: chip
          local:
            - {name: buf, class: SRAM, attributes: {depth: 8192, width: 64, block-size: 4, word-bits: 16}}
            - {name: mac, class: intmac, attributes: {datawidth: 16}}
"""
    (tmp_path / "t.yaml").write_text(arch)
    text = "architecture: ./t.yaml\nseeds: [0, 1]\n"
    assert (plan(text).points, plan(text).arch(0).levels[1].name) == (2, "buf")
    with pytest.raises(InputError, match="architectures of this project's own form; this one is not"):
        plan(text + "parameters: {rows: [1]}\n")


def test_every_fault_at_once(faults):
    """Unknown parameters with near names, empty and wrong values, unknown choices: each with its line."""
    found = faults("""architecture: eyeriss_like
parameters:
  colums: [2, 4]
  levels.shared_glb.capacity_byte: [1024]
  levels.shared_glb.fanout.PE_colum.size: [2]
  rows: []
  glb_kib: {from: 10, to: 2, step: 1}
linked:
  - {columns: [1, 2], levels.shared_glb.banks: [1, 2, 4]}
workloads: [resnet5, ./none.yaml]
mapspaces: [rubys]
seeds: [-1, 2]
search: {strategy: randm, victory: 0}
pareto: [area, speed]
limits: 3
""")
    told = {(line, path): message for line, path, message in found}
    near = {
        (3, "parameters.colums"): "columns",
        (4, "parameters.levels.shared_glb.capacity_byte"): "levels.shared_glb.capacity_bytes",
        (5, "parameters.levels.shared_glb.fanout.PE_colum.size"): "levels.shared_glb.fanout.PE_column.size",
        (10, "workloads[0]"): "resnet50",
        (11, "mapspaces[0]"): "ruby-s",
        (13, "search.strategy"): "random",
        (15, "limits"): "limit",
    }
    for place, name in near.items():
        assert told[place].endswith(f'did you mean "{name}"?')
    assert told[6, "parameters.rows"].endswith("the list is empty")
    assert "empty unless from <= to; got from 10 to 2" in told[7, "parameters.glb_kib"]
    assert told[9, "linked[0]"].endswith("got columns 2, levels.shared_glb.banks 3")
    assert told[10, "workloads[1]"] == "./none.yaml: no such file"
    assert told[12, "seeds[0]"] == "must be at least 0, got -1"
    assert told[13, "search.victory"] == "must be at least 1, got 0"
    assert told[14, "pareto[1]"].startswith("must be one of area, energy, delay, edp, power")
    assert len(found) == len(near) + 7
    assert [line for line, *_ in found] == sorted(line for line, *_ in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workloads: []\n", "must have at least 1 entry"),
        ("parameters: {rows: {}}\n", 'the key "from" is missing'),
        ("parameters: {rows: {from: 1, to: 3}}\n", "one of step (added) and times (multiplied)"),
        ("parameters: {rows: {from: 0, to: 3, times: 2}}\n", "must be above 0 with times"),
        ("parameters: {rows: [1], variables.rows: [2]}\n", "this one stands above too"),
        ("parameters: {rows: [1], glb_kib: row * 2}\n", "did you mean \"rows\"?"),
        ("parameters: {rows: columns + 1, columns: rows - 1}\n", "rows, columns are computed from each other"),
        ("parameters: {rows: [1, columns + 1], columns: rows * 2}\n", "rows, columns are computed from each other"),
        ("parameters: {rows: rows + 1}\n", "is computed from itself"),
        ("linked: [{}]\n", "must name at least 1 parameter"),
        ("mapspaces: [pfm, pfm]\n", "each entry once; twice: pfm"),
        ("pareto: [area, area_um2]\n", "each entry once"),
        ("pareto: [area]\n", "at least 2 entries"),
        ("architecture: eyeris_like\n", 'did you mean "eyeriss_like"?'),
        ("parameters: {columns: [0, -1]}\n", "must be at least 1, got 'columns' = 0 (design 0: columns 0)"),
        ("architecture: ''\n", "a name of the library or a path"),
    ],
)  # fmt: skip
def test_one_fault(faults, text, message):
    """Empty sweeps, broken ranges, doubles, unknown names in expressions, designs that are all impossible."""
    assert any(message in fault for *_, fault in faults(text)), faults(text)


def test_every_expression_that_cannot_be_computed_is_told_where_it_stands(faults):
    """Each with what it may use: no path, no variable that is no parameter; what waits for a wrong one says nothing."""
    found = faults("""parameters:
  rows: columns * 2
  columns: rows / 2
  levels.shared_glb.banks: rows * 2
  glb_kib: [32, word_bits * 2, foo + banks]
  levels.DRAM.width_bits: 64 / (clock_ns - clock_ns)
  clock_ns: [1, 2]
""")
    rule = (
        "an expression may use the other parameters that are bare names, clock_ns, columns, rows, and no other variable"
    )
    assert found == [
        (2, "parameters.rows", "rows, columns are computed from each other"),
        (5, "parameters.glb_kib", f"unknown name 'word_bits': {rule} of the architecture"),
        (5, "parameters.glb_kib", f"unknown name 'banks': {rule} of the architecture"),
        (6, "parameters.levels.DRAM.width_bits", "division by zero: '64 / (clock_ns - clock_ns)'"),
    ]


def test_an_unknown_key_of_an_option_hides_no_fault_of_its_neighbours(faults):
    """Under search and energy every option is judged, whatever is wrong with others."""
    found = faults(
        "search: {strategy: random, victory: 0, foo: 1}\nenergy: {engine: acelergy, hop_pj: x, leak: true}\n"
    )
    assert {path for _, path, _ in found} == {
        "search.victory", "search.foo", "energy.engine", "energy.hop_pj", "energy.leak"}  # fmt: skip


def test_an_astronomical_sweep_tells_its_size_and_how_to_limit_it(plan, faults):
    """Refused at once with its factors; with a limit, whole designs of it are run, and more of a larger one."""
    text = "parameters:\n  rows: {from: 1, to: 1e12, step: 1}\n  columns: {from: 1, to: 1e9, step: 1}\n"
    ((_, _, message),) = faults(text + "mapspaces: [pfm, ruby]\n")
    assert "this sweep has 2e+21 (rows 1,000,000,000,000 x columns 1,000,000,000 x mapspaces 2)" in message
    assert "limit: N" in message
    assert "--limit N" in message
    few, more = plan(text + "mapspaces: [pfm, ruby]\n", 7), plan(text + "mapspaces: [pfm, ruby]\nlimit: 40\n")
    assert (len(few.designs), few.points, more.points) == (3, 6, 40)
    assert set(few.designs) < set(more.designs)
    with pytest.raises(InputError, match="the points of one design, 2; got 1"):
        plan(text + "mapspaces: [pfm, ruby]\nlimit: 1\n")


@given(st.lists(st.integers(1, 4), max_size=3), st.integers(1, 3), st.integers(1, 3))
def test_points_are_numbered_without_gap_or_double(sizes, workloads, seeds):
    """Each combination of design, workload, mapspace and seed has one number."""
    from ruby_map.mapper import SearchOptions
    from ruby_map.mapper.sweeps.plan import Plan
    from ruby_map.workloads import Document

    groups = tuple(LinkedParameters((f"p{i}",), (SteppedRange(0, 1, size),)) for i, size in enumerate(sizes))
    names = {f"w{i}": None for i in range(workloads)}
    plan = Plan("s", Document("s", {}, {}), {}, groups, names, ("pfm", "ruby"), tuple(range(seeds)), SearchOptions(),
                False, (), None)  # fmt: skip
    points = [plan.point(number) for number in range(plan.points)]
    assert len(set(points)) == len(points) == plan.size
    assert len({tuple(plan.values(design).values()) for design in plan.designs}) == len(plan.designs)


def test_expressions_use_each_other_in_any_order():
    """A parameter may be computed from one below it; text that names nothing stays text."""
    assert computed({"a": "b + 1", "b": "c * 2", "c": 3, "t": "LPDDR4", "d": "c"}) == {
        "a": 7, "b": 6, "c": 3, "t": "LPDDR4", "d": 3}  # fmt: skip
    with pytest.raises(ValueError, match="a: unknown name 'x'"):
        computed({"a": "x * 2", "b": 1})


def test_search_has_the_stop_rules_of_ruby_map(plan):
    """Budget, patience and target as the command takes them."""
    options = plan("search: {strategy: random, budget: 50000, patience: 0.01:500, target: 1e9}\n").options
    assert (options.budget, options.patience, options.target) == ("50000", (0.01, 500), 1e9)
    assert plan("search: {budget: 60s}\n").options.budget == "60s"


def test_energy_has_the_options_of_ruby_map(plan, tmp_path):
    """Tables relative to the sweep's file, engine, leakage, hops, drained words; what is charged is its identity."""
    arch = load_arch("eyeriss_like")
    write_ert(energy_table(arch), tmp_path / "tables.yaml")
    found = plan("energy: {ert: tables.yaml, leakage: true, hop_pj: 2 / 4, drain_reads: true}\n")
    costs = Charges(True, hop_pj=0.5, drain_reads=True)
    assert (found.energies.ert, found.energies.costs) == (tmp_path / "tables.yaml", costs)
    texts = ("{}", "{leakage: true}", "{drain_reads: true}", "{ert: tables.yaml}")
    marks = {plan(f"energy: {text}\n").fingerprint for text in texts}
    text = (tmp_path / "tables.yaml").read_text()
    (tmp_path / "tables.yaml").write_text(text + "# as read again\n")
    assert len(marks | {plan("energy: {ert: tables.yaml}\n").fingerprint}) == 5


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("search: {budget: 0}\n", "search.budget", "must be a number of mappings, as 1000000, or a time, as 60s or 5m"),
        ("search: {budget: 9, victory: 3}\n", "search.victory", "leave this out: the budget says when to stop"),
        ("search: {strategy: exhaustive, victory: 3}\n", "search.victory", "an exhaustive search visits every mapping"),
        ("search: {strategy: optimal, victory: 3}\n", "search.victory", "an optimal search ends with a proof"),
        ("search: {strategy: random, patience: 7}\n", "search.patience", "FRACTION:N"),
        ("search: {strategy: random, target: 0}\n", "search.target", "must be more than 0, got 0"),
        ("energy: {engine: acelergy}\n", "energy.engine", 'got "acelergy"; did you mean "accelergy"?'),
        ("energy: {hop_pj: -1}\n", "energy.hop_pj", "must be a number from 0 to 1e+30, got -1"),
        ("energy: {tile_mm: 1}\n", "energy.wire_pj_per_bit_mm", "is missing: tile-mm charges"),
        ("energy: {leak: true}\n", "energy.leak", 'unknown key "leak"'),
        ("energy: {ert: none.yaml}\n", "energy.ert", "none.yaml: no such file"),
    ],
)
def test_bad_stop_rules_and_energies_are_faults_of_the_file(faults, text, path, words):
    """At the key that says it."""
    told = faults(text)
    assert any(at == path and words in message for _, at, message in told), told


def test_a_sweep_without_an_estimate_for_any_design_is_told_before_anything_runs(faults, plan):
    """Refused with the first design's reason where none has energies; where one has, the others fail on their own."""
    text = "parameters: {levels.shared_glb.ports: [PORTS]}\n"
    (told,) = faults(text.replace("PORTS", "3, 4"))
    assert "ports must be one of 1, 2" in told[2]
    assert told[2].endswith("(design 0: levels.shared_glb.ports 3)")
    assert plan(text.replace("PORTS", "3, 2")).points == 2


def test_a_table_that_lacks_a_component_is_told_before_anything_runs(faults, tmp_path):
    """An ERT of another machine."""
    write_ert(energy_table(load_arch("toy_6pe")), tmp_path / "other.yaml")
    assert "shared_glb" in str(faults("energy: {ert: other.yaml}\n"))
