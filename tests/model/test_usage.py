"""How a mapping uses the machine: the map of the array counted one by one, the roofline and its ceilings."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Axis, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.model.figures import Mapped
from ruby_map.mapper.model.usage import active_steps, array_usage
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.report import pictures as machine_figures
from ruby_map.mapper.report.network_result import NetworkResult
from ruby_map.mapper.report.result import Result
from ruby_map.mapper.report.roofline import roofline_point
from ruby_map.workloads import load_workload

from ..strategies import machines, mappings


def fitted(batch, spare):
    """The same mapping on a machine whose axes are as large as its bounds, and `spare` more; every other axis on Y."""
    bounds = iter(batch.factors[0].prod(axis=1).tolist())
    levels = []
    for level in batch.arch.levels:
        next(bounds)
        axes = [Axis(axis.name, next(bounds) + spare, "XY"[i % 2]) for i, axis in enumerate(level.fanout)]
        levels.append(replace(level, fanout=tuple(axes)))
    return replace(batch, arch=replace(batch.arch, levels=tuple(levels)))


def result(batch):
    levels = [LevelEnergy(level.name, 1.0, 1.0, 1.0, 0.0, 0.0, "test") for level in batch.arch.levels]
    table = EnergyTable("t", tuple(levels), ComputeEnergy("MAC", 1.0, 0.0, 0.0, "test"))
    return Result(Problem(batch.arch, batch.workload, table), Mapped(batch, evaluate(batch, table)))


@settings(deadline=None, max_examples=80)
@given(batch=mappings(), data=st.data())
def test_steps_of_a_dim_are_those_of_its_elements(batch, data):
    """Each element of a dim is one combination of loops; places in the array have as many steps as elements."""
    d = data.draw(st.integers(0, len(batch.tables) - 1))
    table, row = batch.tables[d], int(batch.rows[0, d])
    spatial = [s for s, slot in enumerate(batch.arch.slots) if slot.spatial]
    found = active_steps(table, row, spatial)
    counted = np.zeros(tuple(table.bounds[row, s] for s in spatial), np.int64)
    for element in range(table.size):
        digits = element // table.strides[row] % table.bounds[row]
        counted[tuple(digits[spatial])] += 1
    assert found.tolist() == counted.tolist()


@settings(deadline=None, max_examples=80)
@given(batch=mappings(most_spatial=24), spare=st.integers(0, 2))
def test_the_map_of_the_array_holds_every_mac(batch, spare):
    """The mean over the array is MACs / (steps * units), which is the utilisation; every unit has a place."""
    batch = fitted(batch, spare)
    if batch.arch.instances(len(batch.arch.levels)) > 10**5:
        return
    share = array_usage(batch)
    assert share.size == batch.arch.instances(len(batch.arch.levels))
    costs = result(batch).costs  # nothing runs where tiles begin
    assert share.mean() == pytest.approx(
        costs.utilization[0] * costs.cycles[0] / (costs.cycles - costs.counts.starts)[0]
    )
    assert share.max() == share[0, 0] == 1  # the origin works in every step
    assert share.min() >= 0


def test_27_columns_of_output_on_14_columns_of_elements():
    """27 in rounds of 14: thirteen columns work in both rounds, the last in one."""
    arch, workload = load_arch("eyeriss_like"), load_workload("alexnet_conv2_paper")
    factors = np.ones((1, len(arch.slots), len(workload.dims)), np.int64)
    names = [slot.name for slot in arch.slots]
    factors[0, 0] = workload.sizes
    factors[0, 0, workload.dims.index("Q")] = 2
    factors[0, names.index("shared_glb.PE_column"), workload.dims.index("Q")] = 14
    order = np.tile(np.arange(len(workload.dims)), (1, len(arch.levels), 1))
    keep = np.ones((1, len(arch.levels), len(workload.tensors)), bool)
    share = array_usage(MappingBatch.of(arch, workload, factors, order, keep))
    assert share.shape == (12, 14)
    assert share[0].tolist() == [1.0] * 13 + [0.5]
    assert not share[1:].any()


@settings(deadline=None, max_examples=80)
@given(
    mappings(arch=machines(bandwidths=True)),
    st.floats(0.01, 100),
    st.sampled_from([("read",), ("read", "write"), ("shared",), ("write", "shared")]),
)
def test_no_point_is_above_the_roofline(batch, rate, kinds):
    """MACs per cycle stay below the peak and below intensity x bandwidth, on which a point bound by that level lies."""
    batch = fitted(batch, 0)
    rates = {f"{kind}_bandwidth": rate if kind in kinds else None for kind in ("read", "write", "shared")}
    outer = replace(batch.arch.levels[0], **rates)
    batch = replace(batch, arch=replace(batch.arch, levels=(outer, *batch.arch.levels[1:])))
    found = result(batch)
    point, starts = roofline_point(found), found.costs.counts.starts[0]
    assert point.macs_per_cycle <= batch.arch.instances(len(batch.arch.levels))
    assert point.macs_per_cycle <= point.intensity * rate * (1 + 1e-9)
    if point.binds == outer.name:
        needed = found.macs / (point.intensity * rate) + 1 + starts
        assert point.macs_per_cycle >= found.macs / needed * (1 - 1e-9)
    names = [batch.arch.compute.name, *(level.name for level in batch.arch.levels)]
    assert point.binds in names
    if point.binds == batch.arch.compute.name:
        assert found.cycles == found.costs.counts.cycles[0]
    else:
        assert found.cycles == found.costs.level_cycles[0, names.index(point.binds) - 1] + starts


def test_pictures_show_what_was_computed(tmp_path, monkeypatch):
    """The map is that of array_usage, the roofline has a marker for each layer under the level that binds it."""
    from matplotlib.axes import Axes

    shown, drawn = [], []
    show, plot = Axes.imshow, Axes.plot
    monkeypatch.setattr(Axes, "imshow", lambda self, data, **k: shown.append(data) or show(self, data, **k))
    monkeypatch.setattr(Axes, "plot", lambda self, *a, **k: drawn.append((k.get("label"), a)) or plot(self, *a, **k))
    arch, workload = load_arch("toy_6pe_linear"), load_workload("rank1_100")
    keep, order = np.ones((1, 2, 2), bool), np.zeros((1, 2, 1))
    batch = MappingBatch.of(arch, workload, np.array([[[17], [1], [6]]]), order, keep)
    slow = replace(arch, levels=(replace(arch.levels[0], read_bandwidth=0.5, write_bandwidth=2.0), arch.levels[1]))
    found, bound = result(batch), result(replace(batch, arch=slow))
    machine_figures.draw_usage(found).savefig(tmp_path / "usage.png")
    assert shown[0].tolist() == array_usage(batch).tolist() == [[1.0] * 4 + [16 / 17] * 2]
    machine_figures.draw_roofline(found).savefig(tmp_path / "one.png")
    machine_figures.draw_roofline(NetworkResult("net", ((bound, 1), (found, 2)))).savefig(tmp_path / "net.png")
    markers = {label: a[0] for label, a in drawn if label and label.startswith("bound")}
    assert {label: len(spots) for label, spots in markers.items()} == {
        f"bound by {arch.compute.name}": 1,
        f"bound by {arch.levels[0].name}": 1,
    }
    assert [label for label, _ in drawn if label and "words" in label] == [
        f"{arch.levels[0].name} reads: 0.5 words per cycle",
        f"{arch.levels[0].name} writes: 2 words per cycle",
    ]
    assert all((tmp_path / f"{name}.png").stat().st_size > 5000 for name in ("usage", "one", "net"))
