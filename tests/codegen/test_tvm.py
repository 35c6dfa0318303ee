"""Schedules for TVM: their programs compute what NumPy computes, for any mapping."""

import re
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.codegen import BACKENDS, DATA_TYPES, Nest, ProgramError, program
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import shaped

from ..conftest import DEEP
from .test_c import ODD, a_mapping, processor, processors, some_layers
from .test_exo import NAMES

TVM = BACKENDS["tvm"]
INT8 = DATA_TYPES["int8"]


@pytest.fixture
def ran(tmp_path_factory, monkeypatch):
    """Write, schedule, compile and run a nest, see its loops; return how it did. `change`: of schedule.py."""
    pytest.importorskip("tvm", reason="needs the extra tvm")
    monkeypatch.setenv("SECONDS", "0")

    def measured(nest, kind="int8", change=lambda text: text):
        folder = tmp_path_factory.mktemp("program")
        assert not TVM.faults(nest, DATA_TYPES[kind])
        bounds = [loop.bound for loop in nest.loops]
        seen = rf"\1    assert [int(sch.get(loop).extent) for loop in sch.get_loops(block)] == {bounds}\n"
        for name, text in TVM.files(nest, DATA_TYPES[kind]).items():
            (folder / name).write_text(re.sub(r"(    sch\.reorder\(.*\)\n)", seen, change(text)))
        return TVM.measured(folder, nest, DATA_TYPES[kind], 0)

    return measured


def drawn(arch, workload, seed=0, mapspace="ruby"):
    return Nest.of(Mapspace(arch, workload, mapspace).sample(np.random.default_rng(seed), 1))


@settings(deadline=None, max_examples=400 if DEEP else 10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_output_equals_numpy(ran, data):
    """Of any mapping of any mapspace: exactly in whole numbers, near enough in floats; threads and vectors included."""
    batch = a_mapping(data.draw, data.draw(processors()), data.draw(some_layers()))
    assume(batch is not None)
    done = ran(Nest.of(batch), data.draw(st.sampled_from(["int8", "int8", "int32", "float32", "float64"])))
    assert done.correct, done


SOME = ("three inputs", "a sum", "windows of the output", "a dim that no tensor has", "names")


@pytest.mark.parametrize("name", [*ODD, "names"] if DEEP else SOME)
def test_workloads_of_other_shapes(ran, name):
    nest = drawn(processor(4, "buffer"), ODD.get(name, NAMES), 1)
    if name == "windows of the output":
        (fault,) = TVM.faults(nest, INT8)
        assert "outputs have a dim of their own along each rank; not alone: p, r" in str(fault)
        return
    assert ran(nest).correct


def small():
    """A product with remainders in all dims, threads over two dims, vectors."""
    cores, lanes = Axis("core", 6, code="threads"), Axis("lane", 4, code="lanes")
    inner = Storage("L1", "SRAM", fanout=(lanes,))
    arch = Architecture("pair", (Storage("DRAM", "DRAM", fanout=(cores,)), inner), Compute("MAC", "m"))
    return drawn(arch, shaped("matmul", M=13, N=7, K=5), 19)


def test_a_broken_schedule_is_noticed(ran):
    """Sums that begin with one, a step too few, a loop that TVM may not spread over threads."""
    nest = small()
    assert ran(nest).correct
    assert not ran(nest, change=lambda text: text.replace("T.int32(0)", "T.int32(1)")).correct
    with pytest.raises(ProgramError, match=r"the program fails \(status 1\)"):
        ran(nest, change=lambda text: re.sub(r"sch\.parallel\(.*\)", "sch.parallel(sch.get_loops(block)[0])", text))


def test_the_schedule_checks_itself(ran, tmp_path):
    """Without files it compares with the plain loops; a wrong output is status 1."""
    path = tmp_path / "schedule.py"
    path.write_text(TVM.files(small(), INT8)["schedule.py"])
    assert program.run([sys.executable, path], tmp_path, "fails").startswith("0 of 91 words wrong\n")
    path.write_text(path.read_text().replace("output.numpy().copy()", "output.numpy() + 1"))
    with pytest.raises(ProgramError, match=r"fails \(status 1\)"):
        program.run([sys.executable, path], tmp_path, "fails")


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "find_spec", lambda name: None)
    with pytest.raises(ProgramError, match=r"needs the extra tvm: pip install 'ruby-map\[tvm\]'"):
        TVM.measured(tmp_path, small(), INT8, 0)


def test_the_text():
    """A schedule as it is written: remainders, threads over two dims, vectors."""
    text = TVM.files(small(), INT8)["schedule.py"]
    assert text.startswith(SCHEDULE)
    compile(text, "schedule.py", "exec")


SCHEDULE = '''\
"""matmul on pair, in int8, as a schedule for TVM.

python3 schedule.py: compares the scheduled with the plain loops on small whole numbers, and times them.
python3 schedule.py FILES...: reads Weights, Inputs from files, writes the output to the last, and times it.
Prints the seconds of each run.
"""

import os
import sys
import time

os.environ.setdefault("TVM_NUM_THREADS", "4")  # before it starts

import numpy as np
import tvm
from tvm.script import tirx as T
from tvm.target.codegen import llvm_get_system_cpu

INPUTS = [(13, 5), (7, 5)]
OUTPUT = (7, 13)
PLACE = 2  # of the output among the arguments
WORD, SUM = "int8", "int32"
SECONDS = float(os.environ.get("SECONDS", "0.3"))  # it is repeated for so long


@T.prim_func(s_tir=True)
def layer(
    Weights: T.Buffer((13, 5), "int8"),
    Inputs: T.Buffer((7, 5), "int8"),
    Outputs: T.Buffer((7, 13), "int32"),
):
    for M, N, K in T.grid(13, 7, 5):
        with T.sblock("layer"):
            v_M, v_N, v_K = T.axis.remap("SSR", [M, N, K])
            with T.init():
                Outputs[v_N, v_M] = T.int32(0)
            Outputs[v_N, v_M] += (
                T.Cast("int32", Weights[v_M, v_K])
                * T.Cast("int32", Inputs[v_N, v_K])
            )


def scheduled():
    """The loops of the mapping, outermost first: M_0 is the loop over M in place 0."""
    sch = tvm.s_tir.Schedule(layer)
    block = sch.get_sblock("layer")
    M, N, K = sch.get_loops(block)
    M_2, M_4 = sch.split(M, factors=[2, 11])
    N_1, N_3, N_6 = sch.split(N, factors=[2, 2, 3])
    K_0, K_5 = sch.split(K, factors=[2, 3])
    sch.reorder(K_0, N_1, M_2, N_3, M_4, K_5, N_6)
    sch.vectorize(N_6)
    sch.parallel(sch.fuse(M_2, N_3))
    sch.decompose_reduction(block, sch.get_loops(block)[0])
    return sch
'''
