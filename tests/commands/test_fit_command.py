"""`ruby-model ARCH --fit MEASURED.csv`: what is planted in measurements is found, written, and predicted by."""

import csv
import json

import pytest
import yaml
from ruby_map.arch import load_arch
from ruby_map.mapper import evaluate, explore
from ruby_map.mapper.calibration import cycle_terms_of, energy_terms_of
from ruby_map.mapper.commands.ruby_map import main as map_main
from ruby_map.mapper.commands.ruby_model import main
from ruby_map.mapper.exploration import draw_valid, load
from ruby_map.mapper.report import result_json
from typer.testing import CliRunner

MACHINE = """\
# measured
name: mine
clock_ns: 2
levels:
  - {name: DRAM, class: DRAM, word_bits: 8, read_bandwidth: 4}
  - {name: Buffer, class: SRAM, capacity_bytes: 1024, word_bits: 8, fanout: [{name: PE, size: 4}]}
compute: {name: MAC, class: intmac, word_bits: 8}
"""
LAYERS = """\
name: net
layers:
  - {name: one, shape: matmul, sizes: {M: 12, N: 10, K: 8}}
  - {name: two, shape: matmul, sizes: {M: 9, N: 16, K: 5}, count: 2}
  - {name: three, shape: conv2d, sizes: {M: 6, C: 5, P: 7, Q: 6, R: 3, S: 1}}
"""
EACH = 12  # mappings of a layer
CYCLES, ENERGIES = {"cycles": 1.1, "Buffer tiles": 40.0}, {"DRAM energy": 0.5, "cycles": 3.0}


def planted(weights, terms):
    """A measurement that is this sum of terms."""
    return sum(weight * terms[name] for name, weight in weights.items())


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with a machine, layers, and measurements of mappings: two as files, the others as text."""
    folder = tmp_path_factory.mktemp("fit")
    (folder / "mine.yaml").write_text(MACHINE)
    (folder / "net.yaml").write_text(LAYERS)
    arch = load_arch(str(folder / "mine.yaml"))
    with (folder / "measured.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["workload", "mapping", "cycles", "energy_pj"])
        file.write("# from a simulator, of which nobody knows what it does\n")
        for name in ("one", "two", "three"):
            _, layer = load(arch, str(folder / f"net.yaml/{name}"))
            batch = draw_valid(arch, layer, "ruby-s", EACH)
            for i in range(EACH):
                result = evaluate(arch, layer, batch.take([i]))
                mapping = json.dumps(result_json(result)["mapping"])
                if i == 0:
                    (folder / f"{name}_map.yaml").write_text(f"mapping: {mapping}")
                    mapping = f"{name}_map.yaml"
                cycles = planted(CYCLES, cycle_terms_of(result.mapped, arch))
                pj = planted(ENERGIES, energy_terms_of(result.mapped, arch))
                lines.writerow([f"net.yaml/{name}", mapping, cycles, pj])
    return folder


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture(scope="module")
def fitted(measured):
    """The file with the fit, beside the machine's."""
    done = run(measured / "mine.yaml", "--fit", measured / "measured.csv")
    assert done.exit_code == 0, done.output
    (measured / "fitted.yaml").write_text(done.stdout)
    return done


def test_what_was_planted_is_found_and_written_at_the_end_of_the_file(measured, fitted):
    assert fitted.stdout.startswith(MACHINE.rstrip())
    known = load_arch(str(measured / "fitted.yaml")).calibration
    assert dict(known.cycles) == pytest.approx(CYCLES, rel=1e-3)
    assert dict(known.energy_pj) == pytest.approx(ENERGIES, rel=1e-3)
    assert [(own.figure, own.half < 1e-3, own.nine_tenths < 1e-3) for own in known.held_out] == [
        ("cycles", True, True),
        ("energy_pj", True, True),
    ]
    assert known.origin[0][1].startswith("36 measurements of 3 layers; measured.csv, ")
    assert "cycles: 36 measurements of 3 layers; the model's own are within" in fitted.stderr
    assert "Buffer tiles" in fitted.stderr


def test_the_same_as_an_object(measured):
    """The schema of the object is checked by what prints it."""
    done = run(measured / "mine.yaml", "--fit", measured / "measured.csv", "--json")
    shown = json.loads(done.stdout)
    assert {entry["term"]: entry["weight"] for entry in shown["cycles"]["terms"][:2]} == pytest.approx(CYCLES, rel=1e-3)
    assert shown["energy_pj"]["held_out"]["half"] < 1e-3 < shown["energy_pj"]["model"]["half"]
    assert (shown["cycles"]["measurements"], shown["cycles"]["layers"]) == (36, 3)


def test_a_search_reports_what_is_predicted_of_its_mapping(measured, fitted):
    """Of a layer, and of a network as the sum of its layers; seconds by the clock."""
    machine, own = load_arch(str(measured / "fitted.yaml")), f"{measured}/net.yaml"
    done = CliRunner().invoke(map_main, [str(measured / "fitted.yaml"), own, "--fuse", "none", "--json"])
    shown = json.loads(done.stdout)
    total, pj = 0.0, 0.0
    for layer in shown["layers"]:
        _, work = load(machine, f"{own}/{layer['workload']}")
        path = measured / "again.yaml"
        path.write_text(yaml.safe_dump({"mapping": layer["mapping"]}))
        mapped = evaluate(machine, work, path).mapped
        expected = planted(CYCLES, cycle_terms_of(mapped, machine))
        assert layer["predicted"]["cycles"] == pytest.approx(expected, rel=2e-3)
        total += layer["count"] * expected
        pj += layer["count"] * planted(ENERGIES, energy_terms_of(mapped, machine))
    assert shown["predicted"]["cycles"] == pytest.approx(total, rel=2e-3)
    assert shown["predicted"]["milliseconds"] == pytest.approx(total * 2e-6, rel=2e-3)
    assert shown["predicted"]["energy_pj"] == pytest.approx(pj, rel=2e-3)
    assert shown["predicted"]["held_out"]["cycles"]["half"] < 1e-3
    text = str(explore(machine, f"{own}/one"))
    assert text.count("\npredicted    ") == 2
    assert "half of those not seen by the fit within 0.0%" in text


def test_without_a_calibration_nothing_is_predicted(measured):
    result = explore(str(measured / "mine.yaml"), f"{measured}/net.yaml/one")
    assert "predicted" not in str(result)
    assert "predicted" not in result_json(result)


def test_a_second_fit_takes_the_place_of_the_first_and_keeps_the_rest(measured, fitted, tmp_path):
    """What was measured of programs stays; seconds are cycles by the clock."""
    (tmp_path / "net.yaml").write_text(LAYERS)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}_map.yaml").write_text((measured / f"{name}_map.yaml").read_text())
    rows = list(csv.DictReader(line for line in (measured / "measured.csv").open() if line[0] != "#"))
    with (tmp_path / "other.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["mapping", "seconds", "workload"])
        lines.writerows([row["mapping"], float(row["cycles"]) * 3 * 2e-9, row["workload"]] for row in rows)
    text = fitted.stdout.replace(
        "  measured_on: measurements\n", "  measured_on: my board\n  gb_per_second: {DRAM: 3}\n"
    )
    (tmp_path / "machine.yaml").write_text(text)
    done = run(tmp_path / "machine.yaml", "--fit", tmp_path / "other.csv")
    assert done.exit_code == 0, done.output
    (tmp_path / "again.yaml").write_text(done.stdout)
    known = load_arch(str(tmp_path / "again.yaml")).calibration
    assert dict(known.cycles) == pytest.approx({name: 3 * weight for name, weight in CYCLES.items()}, rel=1e-3)
    assert dict(known.energy_pj) == pytest.approx(ENERGIES, rel=1e-3)
    assert (known.measured_on, known.gb_per_second) == ("my board", (("DRAM", 3.0),))
    assert "other.csv" in dict(known.origin)["cycles"]
    assert "measured.csv" in dict(known.origin)["energy_pj"]


def test_every_fault_of_a_file_is_told_by_its_line(measured, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("workload,mappin,cycles,seconds\n")
    heads = run("eyeriss_like", "--fit", path)
    assert (heads.exit_code, heads.stdout) == (2, "")
    assert heads.stderr.splitlines() == [
        f'{path}:1: unknown column "mappin"; known: workload, mapping, cycles, seconds, energy_pj; '
        'did you mean "mapping"?',
        f"{path}:1: column mapping is missing",
        f"{path}:1: has both cycles and seconds: leave one out",
    ]
    path.write_text('workload,mapping,cycles\n# one\na,,3\n\n"b","[\n]",x\nc,d\ne,f,\ng,h,inf\n')
    rows = run("eyeriss_like", "--fit", path)
    assert rows.stderr.splitlines() == [
        f"{path}:3: mapping is empty",
        f"{path}:5: cycles must be a number from 1e-20 to 1e+20, got x",
        f"{path}:7: has 2 cells, the header 3",
        f"{path}:8: has no figure",
        f"{path}:9: cycles must be a number from 1e-20 to 1e+20, got inf",
    ]
    path.write_text('workload,mapping,cycles\nresnet50/conv1,"[{target: DRAM}]",3\nresnet50,x.yaml,2\n')
    few = run("eyeriss_like", "--fit", path)
    assert few.stderr == f"{path}: cycles: a fit needs at least 4 measurements, got 2\n"
    path.write_text(path.read_text() + "resnet50/conv99,y.yaml,2\nresnet50/conv1,z.yaml,7\n")
    inside = run("eyeriss_like", "--fit", path).stderr.splitlines()
    assert inside[0] == f"{path}:2: [0].type: must be text, got nothing"
    assert inside[1] == f"{path}:3: workload: is a network; name a layer, as NETWORK/LAYER"
    assert inside[2].startswith(f'{path}:4: resnet50/conv99: no layer "conv99" in resnet50')
    assert inside[3] == f"{path}:5: z.yaml: no such file"


def test_options_that_do_not_go_together(measured):
    path = measured / "measured.csv"
    clashes = run(measured / "mine.yaml", "net.yaml", "--fit", path, "--set", "x", "--explain")
    assert clashes.exit_code == 2
    assert [line.partition(":")[0] for line in clashes.stderr.splitlines()] == ["WORKLOAD", "--set", "--explain"]
    assert run(measured / "mine.yaml", "--seed", 3).stderr.splitlines() == [
        "WORKLOAD: is missing",
        "MAPPING: is missing",
        "seed: goes with --fit",
    ]
    none = run(measured / "mine.yaml", "--fit", path, "--no-energy")
    assert none.stderr == f"{path}: energy_pj: cannot be fitted with --no-energy: leave one out\n"


def test_seconds_need_a_clock(measured, tmp_path):
    (tmp_path / "net.yaml").write_text(LAYERS)
    (tmp_path / "slow.yaml").write_text(MACHINE.replace("clock_ns: 2\n", ""))
    path = tmp_path / "seconds.csv"
    mapping = json.dumps(json.dumps([{"target": "Buffer", "type": "temporal", "factors": "M=12 N=10 K=8"}]))
    path.write_text("workload;mapping;seconds\n".replace(";", ","))
    with path.open("a", newline="") as file:
        csv.writer(file).writerows([["net.yaml/one", json.loads(mapping), 1e-3]] * 4)
    done = run(tmp_path / "slow.yaml", "--fit", path)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        2,
        f"{path}: seconds: needs the clock of mine: clock_ns, nanoseconds of a cycle",
    )


def test_a_machine_of_timeloop_holds_no_calibration(measured, tmp_path):
    path = tmp_path / "timeloop.yaml"
    parts = "{name: DRAM, class: DRAM}, {name: MAC, class: intmac}"
    text = f"architecture: {{version: 0.3, subtree: [{{name: s, local: [{parts}]}}]}}"
    path.write_text(text)
    done = run(path, "--fit", measured / "measured.csv")
    assert done.exit_code == 2
    assert "is of Timeloop's form, which holds no calibration" in done.stderr


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ("cycles: {Bufer words: 1}", "calibration.cycles.Bufer words: unknown term; known: layer, steps, cycles, "),
        ("energy_pj: {MAC energy: 1, layer: 2}", "calibration.energy_pj.layer: unknown term; known: DRAM energy, "),
        ("cycles: {steps: 0}", "calibration.cycles: all are 0: such a fit predicts nothing"),
        ("held_out: {cycles: {half: 0.1, nine_tenths: 1}}", "calibration.held_out.cycles: goes with cycles, which"),
        ("seconds: {statement: 1}", "calibration.seconds: goes with dtype, the type of the words of the programs"),
        ("cycles: {steps: -1}", "calibration.cycles.steps: must be"),
        ("held_out: {cycles: {half: 0.1}}", 'calibration.held_out.cycles: the key "nine_tenths" is missing'),
    ],
)
def test_a_calibration_of_other_terms_is_refused_by_its_line(tmp_path, section, fault):
    path = tmp_path / "machine.yaml"
    path.write_text(MACHINE + f"calibration:\n  measured_on: x\n  {section}\n")
    done = CliRunner().invoke(map_main, [str(path), "resnet50/conv1"])
    assert done.exit_code == 2
    assert f"{path}:10: {fault}" in done.stderr


# What an attack found


def predicted(text, *arguments):
    """What ruby-model predicts of a mapping with this machine."""
    folder = arguments[0]
    (folder / "own.yaml").write_text(text)
    done = run(folder / "own.yaml", folder / "net.yaml/one", folder / "one_map.yaml", "--json", *arguments[1:])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout).get("predicted")


def test_no_energy_is_predicted_of_other_energies_than_those_of_the_fit(measured, fitted):
    """Nor where none are known."""
    assert {"cycles", "energy_pj"} <= predicted(fitted.stdout, measured).keys()
    for others in (["--no-energy"], ["--hop-pj", 2], ["--drain-reads"], ["--leakage"]):
        shown = predicted(fitted.stdout, measured, *others)
        assert "cycles" in shown
        assert "energy_pj" not in shown
    text = run(measured / "own.yaml", measured / "net.yaml/one", measured / "one_map.yaml", "--no-energy").stdout
    assert text.count("predicted ") == 1


def test_a_base_has_its_calibration_and_a_byte_order_mark_is_none(measured, fitted):
    """What a machine inherits is written with the new fit."""
    (measured / "parent.yaml").write_text(fitted.stdout.replace("measured_on: measurements", "measured_on: a board"))
    (measured / "child.yaml").write_bytes("\ufeffbase: parent.yaml\nname: child\n".encode())
    only_cycles = (measured / "measured.csv").read_text().splitlines()
    with (measured / "cycles.csv").open("w", newline="") as file:
        for cells in csv.reader(only_cycles):
            csv.writer(file).writerow(cells[:3])
    done = run(measured / "child.yaml", "--fit", measured / "cycles.csv")
    assert done.exit_code == 0, done.output
    (measured / "fitted_child.yaml").write_text(done.stdout)
    known = load_arch(str(measured / "fitted_child.yaml")).calibration
    assert known.measured_on == "a board"
    assert dict(known.energy_pj) == pytest.approx(ENERGIES, rel=1e-3)
    assert "cycles.csv" in dict(known.origin)["cycles"]


def test_comments_blanks_and_layers_by_other_names(measured):
    """A quote in a comment opens nothing; a layer is one whatever it is called; numbers are plain."""
    lines = (measured / "measured.csv").read_text().splitlines()
    text = "\n".join([lines[0].replace(",", ", "), '# old,"unbalanced', "   ", *lines[2:]])
    other = text.replace("net.yaml/one", "./net.yaml/one", 5)
    (measured / "other.csv").write_text(other)
    shown = json.loads(run(measured / "mine.yaml", "--fit", measured / "other.csv", "--json").stdout)
    assert (shown["cycles"]["measurements"], shown["cycles"]["layers"]) == (36, 3)
    for wrong in ("1_000", "1e-300", "1e30"):
        (measured / "wrong.csv").write_text(f"workload,mapping,cycles\nnet.yaml/one,one_map.yaml,{wrong}\n")
        refused = run(measured / "mine.yaml", "--fit", measured / "wrong.csv")
        assert refused.exit_code == 2
        assert f":2: cycles must be a number from 1e-20 to 1e+20, got {wrong}" in refused.stderr
    long_name = "x" * 5000
    (measured / "wrong.csv").write_text("workload,mapping,cycles\n" + f"net.yaml/one,{long_name},1\n" * 4)
    assert f"{measured}/wrong.csv:2: " in run(measured / "mine.yaml", "--fit", measured / "wrong.csv").stderr
