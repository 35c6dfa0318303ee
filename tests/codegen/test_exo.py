"""Schedules for Exo: its C computes what NumPy computes, for perfect mappings; others are refused by name."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, with_roles
from ruby_map.mapper.codegen import BACKENDS, DATA_TYPES, Nest, ProgramError, program
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import InputError, shaped

from ..conftest import DEEP, needs_compiler
from .test_c import ODD, einsum, processor, processors, some_layers

EXO = BACKENDS["exo"]
INT8 = DATA_TYPES["int8"]
GUARDED = "-O1 -std=gnu11 -DSECONDS=0 -g -fsanitize=address,undefined -fno-sanitize-recover"
NAMES = einsum(
    {"f32": 6, "M": 4, "M_0": 5, "p": 3, "layer": 2, "one": 1},
    M=["M", "f32"],
    v_M=["M_0", "p", "layer"],
    _q=["M_0", "one"],
    DRAM=["f32", "M_0"],
)


@pytest.fixture
def ran(tmp_path_factory, monkeypatch):
    """Write, schedule, compile and run a nest, see its loops; return how it did. `change`: of schedule.py."""
    pytest.importorskip("exo", reason="needs the extra exo")
    monkeypatch.setenv("CFLAGS", GUARDED)

    def measured(nest, kind="int8", change=lambda text: text):
        folder = tmp_path_factory.mktemp("program")
        assert not EXO.faults(nest, DATA_TYPES[kind])
        for name, text in EXO.files(nest, DATA_TYPES[kind]).items():
            (folder / name).write_text(change(text) if name == "schedule.py" else text)
        done = EXO.measured(folder, nest, DATA_TYPES[kind], 0)
        bounds = re.findall(r"for \(int_fast32_t \w+ = 0; \w+ < (\d+);", (folder / "layer.c").read_text())
        assert [int(bound) for bound in bounds if bound != "1"] == [loop.bound for loop in nest.loops]
        return done

    return measured


def drawn(arch, workload, seed=0, mapspace="pfm"):
    return Nest.of(Mapspace(arch, workload, mapspace).sample(np.random.default_rng(seed), 1))


@needs_compiler
@settings(deadline=None, max_examples=400 if DEEP else 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_output_equals_numpy(ran, data):
    """Of any perfect mapping: exactly in whole numbers, near enough in floats; threads included."""
    arch, layer = data.draw(processors()), data.draw(some_layers())
    try:
        nest = drawn(arch, layer, data.draw(st.integers(0, 2**32 - 1)))
    except InputError:
        assume(False)
    done = ran(nest, data.draw(st.sampled_from(["int8", "int8", "int32", "float32", "float64"])))
    assert done.correct, done


@needs_compiler
@pytest.mark.parametrize("name", [*ODD, "names"])
def test_workloads_of_other_shapes(ran, name):
    assert ran(drawn(processor(4, "buffer"), ODD.get(name, NAMES), 1)).correct


RACE = 'parallelize_loop(layer, "K_0")'


def small(mapspace="pfm", seed=5, **sizes):
    cores = Axis("core", 2, code="threads")
    arch = Architecture("pair", (Storage("DRAM", "DRAM", fanout=(cores,)), Storage("L1", "SRAM")), Compute("MAC", "m"))
    return drawn(arch, shaped("matmul", **{"M": 8, "N": 6, "K": 4} | sizes), seed, mapspace)


@needs_compiler
def test_a_broken_schedule_is_noticed(ran):
    """Exo refuses a step that computes something else; NumPy notices another sum."""
    nest = small()
    assert ran(nest).correct
    assert not ran(nest, change=lambda text: text.replace("Weights[M, K] *", "Weights[M, K] * Weights[M, K] *")).correct
    assert not ran(nest, change=lambda text: text.replace("+=", "=")).correct
    with pytest.raises(ProgramError, match=r"schedule.py fails \(status 1\):(.|\n)*data races"):
        ran(small(seed=4), change=lambda text: re.sub(r"parallelize_loop\(layer, .*", RACE, text))
    with pytest.raises(ProgramError, match="cannot perfectly divide"):
        ran(nest, change=lambda text: re.sub(r'"M", \d', '"M", 3', text))


def test_mappings_with_remainders_are_refused_by_name():
    nest = drawn(processor(8, "cache"), shaped("matmul", M=21, N=5, K=7), 3, "ruby")
    told = [str(fault) for fault in EXO.faults(nest, INT8)]
    assert len(told) == 3
    assert "M: exo writes perfect mappings alone (--mapspace pfm finds some); the loops over M run" in told[0]
    assert "its size is 21" in told[0]
    assert "N: exo" in told[1]
    assert "K: exo" in told[2]
    two = Axis("a", 2, code="threads"), Axis("b", 2, code="threads")
    arch = Architecture("m", (Storage("DRAM", "DRAM", fanout=two),), Compute("MAC", "intmac"))
    (fault,) = EXO.faults(drawn(arch, shaped("matmul", M=4, N=4, K=4)), INT8)
    assert "threads run one axis at most" in str(fault)
    assert not EXO.faults(drawn(with_roles(arch, {"b": "lanes"}), shaped("matmul", M=4, N=4, K=4)), INT8)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "find_spec", lambda name: None)
    with pytest.raises(ProgramError, match=r"needs the extra exo: pip install 'ruby-map\[exo\]'"):
        EXO.measured(tmp_path, small(), INT8, 0)


def test_the_text():
    """A schedule as it is written, and the function that check.c calls."""
    files = EXO.files(small(), INT8)
    assert files["schedule.py"] == SCHEDULE
    assert "    omp_set_num_threads(2);\n    layer(0, Weights, Inputs, Outputs);" in files["kernel.c"]
    assert "\nlayer.c: schedule.py\n\tpython3 schedule.py\n" in files["Makefile"]


SCHEDULE = '''\
"""matmul on pair, in int8, as a schedule for Exo.

python3 schedule.py: checks the schedule, prints its loops, and writes them as C to layer.c and layer.h.
"""

from __future__ import annotations  # Exo reads the types of arguments; Python need not

from pathlib import Path

from exo import DRAM, compile_procs_to_strings, proc
from exo.stdlib.scheduling import divide_loop, parallelize_loop, rename, reorder_loops


@proc
def plain(
    Weights: i8[8, 4] @ DRAM,
    Inputs: i8[6, 4] @ DRAM,
    Outputs: i32[6, 8] @ DRAM,
):
    for M in seq(0, 8):
        for N in seq(0, 6):
            for K in seq(0, 4):
                Outputs[N, M] += Weights[M, K] * Inputs[N, K]


# The loops of the mapping, outermost first: M_0 is the loop over M in place 0; M is what is left of it.
layer = rename(plain, "layer")
layer = divide_loop(layer, "M", 4, ["M_0", "M"], perfect=True)
layer = divide_loop(layer, "N", 2, ["N_1", "N"], perfect=True)
layer = reorder_loops(layer, "M N_1")
layer = divide_loop(layer, "M", 2, ["M_2", "M"], perfect=True)
layer = reorder_loops(layer, "M N")
layer = reorder_loops(layer, "M K")
layer = parallelize_loop(layer, "M_2")

if __name__ == "__main__":
    source, header = compile_procs_to_strings([layer], "layer.h")
    Path("layer.c").write_text(source)
    Path("layer.h").write_text(header)
    print(layer)
'''
