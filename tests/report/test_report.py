"""The report: loop nests as text, JSON with the agreed keys, bounds that hold, pictures and folders that are whole."""

import csv
import json
import re
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import engine
from ruby_map.mapper.bounds.ideal import ideal
from ruby_map.mapper.exploration.diagnose import hint
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.model.figures import Mapped, plain
from ruby_map.mapper.model.nests.touched_words import touched_words
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.report import NetworkResult, Result, Searched, result_json
from ruby_map.mapper.report.folder import write_folder
from ruby_map.mapper.report.loop_nest import loop_nest
from ruby_map.mapper.report.pictures import bars as figures
from ruby_map.mapper.runtime.state_file import folder_faults
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.mapper.search.outcome.statistics import Statistics
from ruby_map.workloads import Tensor, Term, Workload, load_workload

from ..strategies import mappings


def flat_table(arch, top=100.0, inner=2.0, mac=1.0):
    """The same figures for reads, fills and updates: `top` pJ at level 0, `inner` at the others."""
    levels = [
        LevelEnergy(level.name, pj, pj, pj, 0.0, 1000.0, "test")
        for level, pj in zip(arch.levels, [top] + [inner] * len(arch.levels), strict=False)
    ]
    return EnergyTable(arch.name, tuple(levels), ComputeEnergy("MAC", mac, 0.0, 50.0, "test"))


def matmul(m, n, k):
    axes = {"A": "MK", "B": "KN", "Z": "MN"}
    tensors = tuple(Tensor(t, tuple((Term(d),) for d in dims), output=t == "Z") for t, dims in axes.items())
    return Workload("mm", ("M", "N", "K"), (m, n, k), tensors)


def machine(capacity_words=64, spread=3):
    return Architecture(
        "two",
        (
            Storage("DRAM", "DRAM"),
            Storage("Buffer", "SRAM", capacity_bits=capacity_words * 16, fanout=(Axis("PE", spread),)),
        ),
        Compute("MAC", "intmac"),
    )


def one(arch, workload, factors, order):
    keep = np.ones((1, len(arch.levels), len(workload.tensors)), bool)
    return MappingBatch.of(arch, workload, np.array([factors]), np.array([order]), keep)


@pytest.fixture
def example():
    """A 7 x 6 x 10 product, imperfect in M, searched."""
    arch, workload = machine(), matmul(7, 6, 10)
    batch = one(arch, workload, [[1, 3, 2], [3, 2, 5], [3, 1, 1]], [[2, 1, 0], [1, 2, 0]])
    table = flat_table(arch)
    statistics = Statistics(
        10, 4, {"capacity": 5, "fanout": 1, "utilization": 0}, 0.5, trace=[(2, 9.0)], ended=(Ended.VICTORY,)
    )
    searched = Searched(statistics, "ruby", seed=3)
    return Result(Problem(arch, workload, table), Mapped(batch, evaluate(batch, table)), searched)


def test_nest_shows_bounds_last_rounds_and_axes(example):
    """Unit loops are left out, residuals stand where they differ, parFor names its axis, headers say what is held."""
    assert loop_nest(example.batch) == "\n".join(
        [
            "DRAM [A: 70, B: 60, Z: 42 words]",
            "for K in 0:2",
            "  for N in 0:3",
            "    Buffer [A: 35, B: 10, Z: 14 words]",
            "    for N in 0:2",
            "      for K in 0:5",
            "        for M in 0:3",
            "          parFor M in 0:3, last round 1  # PE, X",
            "            Z[M, N] += A[M, K] * B[K, N]",
        ]
    )


def test_toy_reads_as_16_full_rounds_and_one_of_4():
    """The worked example: 100 points on 6 elements are 17 rounds, the last of 4."""
    arch, workload = load_arch("toy_6pe_linear"), load_workload("rank1_100")
    batch = one(arch, workload, [[1], [17], [6]], [[0], [0]])
    text = loop_nest(batch)
    assert "for D in 0:17\n" in text
    assert "parFor D in 0:6, last round 4" in text


def tight(batch):
    """The same mapping on a machine whose axes are just as large as its bounds, and that demands what it keeps."""
    arch, bounds = batch.arch, batch.factors[0].prod(axis=1).tolist()
    names = np.array([tensor.name for tensor in batch.workload.tensors])
    sizes = {slot.axis.name: bound for slot, bound in zip(arch.slots, bounds, strict=True) if slot.axis}
    levels = [
        replace(
            level,
            fanout=tuple(replace(axis, size=sizes[axis.name]) for axis in level.fanout),
            keep=frozenset(names[batch.keep[0, i]].tolist()),
        )
        for i, level in enumerate(arch.levels)
    ]
    return replace(batch, arch=replace(arch, levels=tuple(levels)))


@settings(deadline=None, max_examples=60)
@given(mappings(), st.sampled_from([1.0, 100.0]), st.sampled_from([0.5, 30.0]), st.booleans())
def test_ideal_is_never_beaten(batch, top, inner, drain_reads):
    """No mapping, perfect or not, windows and bypasses included, costs less than the ideal."""
    batch, options = tight(batch), Charges(drain_reads=drain_reads)
    table = flat_table(batch.arch, top, inner)
    costs, best = evaluate(batch, table, options), ideal(batch.arch, batch.workload, table, options)
    assert (costs.cycles >= best.cycles).all()
    assert (costs.energy_pj >= best.energy_pj * (1 - 1e-12)).all()


def test_ideal_is_reached_where_nothing_is_lost():
    """One word of everything, one MAC: the bound is the cost."""
    arch, workload = machine(spread=1), matmul(1, 1, 1)
    batch = one(arch, workload, [[1, 1, 1]] * 3, [[0, 1, 2]] * 2)
    table = flat_table(arch)
    costs = evaluate(batch, table)
    assert costs.cycles[0] == ideal(arch, workload, table).cycles == 1
    assert costs.energy_pj[0] >= ideal(arch, workload, table).energy_pj > 300


@given(terms=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 7)), min_size=1, max_size=4))
def test_touched_words_leave_out_the_gaps_of_a_stride(terms):
    """The words of a rank that some MAC uses are those of its index set, of windows and of any other sum of terms."""
    tensor, workload = indexed(terms)
    sums = {sum(place) for place in product(*([coef * x for x in range(size)] for coef, size in terms))}
    assert touched_words(workload, tensor) == len(sums)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[touched_words.__module__], "LISTED", 0)
        assert touched_words(workload, tensor) <= len(sums)
        assert touched_words(workload, tensor) == len(sums) or len(terms) > 2


def test_touched_words_of_huge_dims_need_no_arrays():
    """A dim of 10^12, alone and in a window: counted at once."""
    assert touched_words(*reversed(indexed([(1, 10**12)]))) == 10**12
    assert touched_words(*reversed(indexed([(4, 10**12), (1, 3)]))) == 3 * 10**12
    assert touched_words(*reversed(indexed([(4, 10**12), (6, 10**12)]))) == 5 * 10**12 - 6


def indexed(terms):
    """A tensor with one rank of these terms (coef, size), and a workload with it."""
    tensor = Tensor("I", (tuple(Term(f"D{n}", coef) for n, (coef, _) in enumerate(terms)),))
    names = tuple(f"D{n}" for n in range(len(terms)))
    out = Tensor("O", ((Term("D0"),),), output=True)
    return tensor, Workload("w", names, tuple(size for _, size in terms), (tensor, out))


@pytest.mark.parametrize(("stride", "words"), [(1, 199_999), (2, 299_998), (10**9 + 1, 10**10)])
def test_touched_words_of_many_pairs_of_indices(stride, words):
    """10^10 pairs are not listed."""
    tensor = Tensor("I", ((Term("P", stride), Term("R")),))
    assert touched_words(Workload("w", ("P", "R"), (10**5, 10**5), (tensor,)), tensor) == words


def test_json_has_the_agreed_keys(example):
    """Scripts rely on these keys, in this nesting."""
    found = result_json(example)
    assert list(found) == ["arch", "workload", "mapspace", "remainders", "reason", "objective", "seed", "cycles",
                           "energy_pj", "edp", "utilization", "macs", "ineffectual_macs", "area_um2", "network",
                           "ideal", "bound_by", "compute", "levels", "mapping", "search"]  # fmt: skip
    assert list(found["compute"]) == ["energy_pj"]
    assert list(found["levels"]["Buffer"]) == ["instances", "cycles", "energy_pj", "tensors"]
    assert list(found["levels"]["Buffer"]["tensors"]["A"]) == ["tile_words", "reads", "fills", "updates", "energy_pj"]
    assert found["search"] == {
        "strategy": None, "evaluated": 10, "valid": 4, "invalid": {"capacity": 5, "fanout": 1, "utilization": 0},
        "seconds": 0.5, "bounds": engine(), "ended_by": "victory", "steps": 0}  # fmt: skip


def test_json_adds_up(example):
    """EDP is energy times cycles, levels and MACs make the energy, areas count every instance built."""
    found = result_json(example)
    assert found["edp"] == found["energy_pj"] * found["cycles"]
    parts = [level["energy_pj"] for level in found["levels"].values()]
    assert sum(parts) + found["compute"]["energy_pj"] == pytest.approx(found["energy_pj"])
    assert found["area_um2"] == 1000 + 1000 + 3 * 50
    assert found["macs"] == 420
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_whole_numbers_are_integers():
    """420.0 prints as 420, a half stays."""
    assert [json.dumps(plain(value)) for value in (420.0, 0.5, np.float64(3.0))] == ["420", "0.5", "3"]


def test_json_without_a_mapping_has_nulls_and_the_hint(example):
    """Where nothing was found the costs are null, and the counts by reason and the hint remain."""
    none = Result(example.problem, None, Searched(example.statistics, "pfm", seed=0), hint="why")
    found = result_json(none)
    assert found["cycles"] is found["levels"] is found["mapping"] is None
    assert (found["search"]["invalid"]["capacity"], found["hint"]) == (5, "why")
    assert "why" in str(none)
    with pytest.raises(ValueError, match="no valid mapping"):
        _ = none.edp


def test_network_multiplies_by_counts_and_then_energy_by_delay(example):
    """Energies and cycles of layers add up with their counts; EDP is the product of the sums."""
    network = NetworkResult("net", ((example, 3), (example, 1)))
    assert network.edp == (4 * example.energy_pj) * (4 * example.cycles)
    assert network.utilization == pytest.approx(example.utilization)
    found = result_json(network)
    assert [layer["count"] for layer in found["layers"]] == [3, 1]
    assert found["search"]["evaluated"] == 20
    assert found["macs"] == 4 * 420


def test_text_tells_each_level_once_and_the_totals(example):
    """The report names every level and kept tensor, the totals and the search."""
    text = str(example)
    table = text[text.index("level ") :]
    assert table.count("Buffer") == 1
    for words in (
        "cycles       180",
        "MACs         420",
        "x the ideal",
        "10 mappings, 4 valid",
        "ended by: victory",
    ):
        assert words in text
    assert not [line for line in text.split("\n") if line != line.rstrip() or len(line) > 140]


def test_hint_names_the_level_that_overflows_and_by_how_little():
    """The binding level, what it holds and what the nearest mapping needs."""
    arch, workload = machine(capacity_words=40), matmul(7, 6, 10)
    near = one(arch, workload, [[1, 6, 1], [3, 1, 10], [3, 1, 1]], [[0, 1, 2]] * 2)  # 70 + 10 + 7 words
    text = hint(near, "--samples")
    assert text.startswith("capacity (100.0% of 1 looked at)")
    assert "Buffer overflows in 100.0% of these; it holds 640 bits, and the nearest needs 1,392" in text
    assert "A 70, B 10, Z 7" in text


def test_hint_lists_every_level_that_overflows_and_the_nearest_mapping():
    """By how often, how often alone, and the mapping whose worst overflow is the smallest share."""
    outer, inner = machine(capacity_words=60).levels[1], Storage("Reg", "regfile", capacity_bits=20 * 16)
    arch = Architecture("three", (Storage("DRAM", "DRAM"), replace(outer, fanout=()), inner), Compute("MAC", "intmac"))
    splits = [  # bounds of M, N, K at DRAM, Buffer, Reg; words in Buffer and Reg
        [[7, 6, 1], [1, 1, 5], [1, 1, 2]],  # 21 and 5
        [[1, 6, 1], [1, 1, 10], [7, 1, 1]],  # 87 and 15
        [[7, 1, 1], [1, 6, 1], [1, 1, 10]],  # 76 and 21
        [[7, 1, 1], [1, 1, 10], [1, 6, 1]],  # 76 and 13
        [[7, 6, 1], [1, 1, 1], [1, 1, 10]],  # 21 and 21
    ]
    keep = np.ones((5, 3, 3), bool)
    batch = MappingBatch.of(arch, matmul(7, 6, 10), np.array(splits), np.array([[[0, 1, 2]] * 3] * 5), keep)
    assert hint(batch, "--samples").splitlines() == [
        "1 of 5 mappings looked at is valid, the first of them number 1: search longer (--samples)",
        "capacity (80.0% of 5 looked at): Buffer overflows in 75.0% of these, alone in 50.0%; "
        "it holds 960 bits, and the nearest needs 1,216 (tile words: A 10, B 60, Z 6)",
        "  Reg overflows in 50.0% of these, alone in 25.0%; "
        "it holds 320 bits, and the nearest needs 336 (tile words: A 10, B 10, Z 1)",
        "  nearest to fit is a mapping that overflows Reg by 5.0%",
    ]


def test_hint_names_the_axis_that_is_too_small():
    """The axis, its size and the least that was wanted."""
    arch, workload = machine(spread=3), matmul(7, 6, 10)
    text = hint(one(arch, workload, [[1, 6, 10], [1, 1, 1], [7, 1, 1]], [[0, 1, 2]] * 2), "--samples")
    assert "Buffer.PE has 3 instances, and 100.0% of these want more, the nearest 7" in text


def test_folder_holds_mapping_statistics_picture_and_trace(example, tmp_path):
    """What --out writes: files that can be read back, and no traces of the writing."""
    folder = tmp_path / "deep" / "results"
    write_folder(example, folder)
    files = ["convergence.png", "energy.png", "mapping.html", "mapping.yaml", "stats.json", "trace.csv"]
    assert sorted(path.name for path in folder.iterdir()) == files
    assert json.loads((folder / "stats.json").read_text()) == result_json(example)
    assert yaml.safe_load((folder / "mapping.yaml").read_text())["mapping"] == result_json(example)["mapping"]
    assert list(csv.reader((folder / "trace.csv").open())) == [["mappings", "best_edp"], ["2", "9.0"]]
    assert (folder / "energy.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in folder.parent.iterdir()] == ["results"]


def test_a_failed_write_leaves_nothing(example, tmp_path, monkeypatch):
    """When a file cannot be written there is neither a folder nor a part of one."""
    monkeypatch.setattr("ruby_map.mapper.report.folder.mapping_html", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_folder(example, tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_refused(tmp_path):
    """Results are never mixed: an empty or new folder is free, any other is not."""
    assert faults_of(tmp_path) == faults_of(tmp_path / "a" / "b") == ""
    (tmp_path / "other").write_text("x")
    assert "already holds files" in faults_of(tmp_path)
    assert "must be a folder" in faults_of(tmp_path / "other")
    assert "cannot be made" in faults_of(tmp_path / "other" / "results")


def faults_of(folder):
    return "".join(map(str, folder_faults(folder, "state")))


def test_a_network_has_a_folder_per_layer(example, tmp_path):
    """The totals at the top, each layer's files below."""
    write_folder(NetworkResult("net", ((example, 2), (example, 1))), tmp_path / "net")
    names = ["01_mm", "02_mm", "convergence.png", "index.html", "layers.csv", "layers.png", "stats.json"]
    assert sorted(path.name for path in (tmp_path / "net").iterdir()) == names
    index = (tmp_path / "net" / "index.html").read_text()
    links = re.findall(r'(?:href|src)="([^"]*)"', index)
    assert {"01_mm/mapping.html", "02_mm/mapping.html", "layers.png", "stats.json"} <= set(links)
    assert all((tmp_path / "net" / link).is_file() for link in links)
    assert f"<td>{example.cycles:,}</td>" in index


def test_picture_shows_the_whole_energy(example, monkeypatch):
    """The widths of the bars add up to the energy of the result, by tensor and MACs; by level for a network."""
    drawn = []
    real = figures._bars
    monkeypatch.setattr(figures, "_bars", lambda axes, series, rows: drawn.append(series) or real(axes, series, rows))
    figures.draw_energy(example)
    figures.draw_energy(NetworkResult("net", ((example, 2),)))
    assert [list(series) for series in drawn] == [["A", "B", "Z", "MACs"], ["DRAM", "Buffer", "MACs"]]
    totals = [sum(map(sum, series.values())) * 1e3 for series in drawn]  # drawn in nJ
    assert totals == pytest.approx([example.energy_pj, 2 * example.energy_pj])
