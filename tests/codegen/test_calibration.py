"""Predicted seconds are sums of terms; the processor is read from what the system says."""

from dataclasses import replace

import pytest
from ruby_map.arch import parse_arch
from ruby_map.arch.calibration import Calibration
from ruby_map.mapper.codegen import (
    DATA_TYPES,
    ProgramCounts,
    ProgramError,
    described,
    machine_yaml,
    measured_machine,
    predicted,
    predicted_seconds,
)
from ruby_map.mapper.codegen.machine import Cache, Processor
from ruby_map.workloads import parse_yaml

from ..conftest import needs_compiler
from .test_c import a_nest


def test_predictions_are_sums_shared_by_threads():
    effort = ProgramCounts(a_nest(), DATA_TYPES["float32"])
    assert predicted({"statement": 2.0, "no such term": 5.0}, effort) == 2.0 * effort.terms["statement"]
    assert predicted_seconds(effort) is None
    known = Calibration("this", "float32", seconds=(("statement", 1e-9),))
    assert on(known, "float32") == pytest.approx(1e-9 * effort.terms["statement"])
    assert on(known, "int8") is None
    assert on(Calibration("this", "float32"), "float32") is None


def on(calibration, kind):
    """The predicted seconds of a nest on a machine with this calibration."""
    nest = a_nest()
    return predicted_seconds(
        ProgramCounts(replace(nest, arch=replace(nest.arch, calibration=calibration)), DATA_TYPES[kind])
    )


@pytest.fixture
def system(tmp_path):
    """Two caches of one core and one of four, as Linux shows them."""
    caches = (("1", "Data", "32K", "0", 8), ("1", "Instruction", "64K", "0", 8), ("2", "Unified", "1M", "0-1", 16))
    for number, (level, kind, size, shared, ways) in enumerate(caches):
        folder = tmp_path / f"cpu0/cache/index{number}"
        folder.mkdir(parents=True)
        told = {"level": level, "type": kind, "size": size, "shared_cpu_list": shared, "coherency_line_size": "64"}
        for name, text in (told | {"ways_of_associativity": str(ways)}).items():
            (folder / name).write_text(text + "\n")
    (tmp_path / "cpuinfo").write_text('processor : 0\nmodel name : A "fast" one\nflags : fpu avx2 fma\n')
    return tmp_path


def test_the_system_tells_of_its_caches(system):
    found = described(system, system / "cpuinfo")
    assert found.caches == (Cache("L1", 32 * 1024, 64, 1, 8), Cache("L2", 2**20, 64, 2, 16))
    assert (found.vector_bytes, found.registers, found.model) == (32, 16, 'A "fast" one')
    assert found.caches[0].sets == 64
    assert described(system, system / "cpuinfo", 64).vector_bytes == 64
    with pytest.raises(ProgramError, match="says nothing of caches"):
        described(system / "elsewhere", system / "cpuinfo")


def test_a_processor_is_an_ordinary_architecture(system):
    found = described(system, system / "cpuinfo")
    arch = parse_arch(parse_yaml(machine_yaml(found, "mine"), "text"))
    assert arch.calibration is None
    names = [(level.name, level.code, [axis.name for axis in level.fanout]) for level in arch.levels]
    assert names == [
        ("DRAM", "cache", []),
        ("L2", "cache", ["core"]),
        ("L1", "buffer", []),
        ("Registers", "registers", ["lane"]),
    ]
    assert arch.levels[3].fanout[0].size == 8
    assert arch.levels[3].capacity_bits == 16 * 8 * 32
    rates = Processor("m", 2, 32, 16, found.caches, 99.5, (("L1", 200.0), ("L2", 80.0), ("DRAM", 10.0)))
    known = parse_arch(parse_yaml(machine_yaml(rates, "mine"), "text")).calibration
    assert known == Calibration("m", "float32", 99.5, (("L1", 200.0), ("L2", 80.0), ("DRAM", 10.0)))


@needs_compiler
def test_this_processor_is_measured():
    found = measured_machine(described())
    assert found.peak_gflops > 0.1
    assert [name for name, _ in found.gb_per_second] == [*(cache.name for cache in found.caches), "DRAM"]
    assert all(rate > 0.01 for _, rate in found.gb_per_second)
    arch = parse_arch(parse_yaml(machine_yaml(found, "mine"), "text"))
    assert arch.calibration is not None
