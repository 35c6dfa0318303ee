"""The judge of programs: one product too few shows, however long the sums; a program that does nothing is wrong."""

import numpy as np
import pytest
from ruby_map.arch import Architecture, Axis, Compute, Storage, placed
from ruby_map.arch.calibration import Calibration
from ruby_map.mapper.codegen import (
    BACKENDS,
    DATA_TYPES,
    Nest,
    ProgramCounts,
    ProgramError,
    described,
    expected,
    machine_yaml,
    operands,
    predicted_seconds,
)
from ruby_map.mapper.codegen.c import compile_c
from ruby_map.mapper.codegen.program import compared, memory_faults, run
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import InputError, Tensor, Term, Workload, shaped

from ..conftest import DEEP, needs_compiler

FLAT = Architecture("flat", (Storage("DRAM", "DRAM"),), Compute("MAC", "intmac"))


def a_nest(layer, arch=FLAT):
    return Nest.of(Mapspace(arch, layer, "pfm").sample(np.random.default_rng(0), 1))


def product(sizes, *factors):
    """A product of any tensors; each is given by its dims."""
    made = [Tensor(f"A{number}", tuple((Term(dim),) for dim in dims)) for number, dims in enumerate(factors[:-1])]
    made.append(Tensor("Z", tuple((Term(dim),) for dim in factors[-1]), output=True))
    return Workload("product", tuple(sizes), tuple(sizes.values()), tuple(made))


SIZES = [(kind, size) for kind in DATA_TYPES for size in (6000, 100_000)]
LONG = list(DATA_TYPES) if DEEP else ["float32"]  # a float32 counts to 2**24


@pytest.mark.parametrize(("kind", "size"), [*SIZES, *((kind, 2**24 + 5) for kind in LONG)])
def test_a_product_too_few_is_noticed(kind, size):
    """In sums that a rounding error per product would hide it in."""
    layer, of = shaped("matmul", M=1, N=1, K=size), DATA_TYPES[kind]
    inputs = operands(layer, of, 3)
    sums = expected(layer, inputs).astype(of.numpy_output)
    nest = a_nest(layer)
    assert compared(sums, inputs, [1.0], nest, of).correct
    weights, data = (array.astype(np.float64).ravel() for array in inputs.values())
    short = (sums.astype(np.float64) - weights[-1] * data[-1]).astype(of.numpy_output)
    assert not compared(short, inputs, [1.0], nest, of).correct
    wrong = np.array([np.nan if of.numpy_output(0.5) else 0], of.numpy_output)
    assert not compared(wrong, inputs, [1.0], nest, of).correct


@pytest.mark.parametrize("kind", DATA_TYPES)
def test_sums_are_exact(kind):
    """Of many factors, too: no sum of magnitudes is over what the type holds."""
    of = DATA_TYPES[kind]
    layers = [product({"i": 50, "k": 900}, *["ik"] * 6, "i"), shaped("conv2d", M=4, C=64, P=8, Q=8, R=3, S=3)]
    for layer in layers:
        inputs = operands(layer, of)
        assert all((array != 0).all() for array in inputs.values())
        magnitudes = expected(layer, {name: np.abs(array) for name, array in inputs.items()})
        assert magnitudes.max() < 2**of.exact_bits


def test_many_dims():
    names = [f"d{number}" for number in range(30)]
    layer = product(dict.fromkeys(names, 1) | {"k": 3, "m": 2}, [*names, "k"], ["k", "m"], ["m"])
    inputs = operands(layer, DATA_TYPES["int32"])
    assert expected(layer, inputs).tolist() == (inputs["A0"].reshape(3) @ inputs["A1"]).tolist()


def test_the_check_counts_as_memory():
    """An einsum has an axis for each dim of a window."""
    layer = shaped("conv2d", N=2**16, M=8, C=64, P=224, Q=224, R=3, S=3)
    assert "NumPy's check" in str(memory_faults(layer, DATA_TYPES["int8"])[0])


@needs_compiler
@pytest.mark.parametrize(
    ("layer", "broken"),
    [
        (shaped("matmul", M=5, N=4, K=6), "return 0;"),
        (product({"m": 8, "k": 1}, "mk", "k", "m"), "return 0;"),  # an input of one word
        (shaped("matmul", M=5, N=4, K=6), "for (int i = 0; i < 20; ++i) Outputs[i] = 0;"),  # assigns, does not add
    ],
)
def test_a_kernel_that_does_not_add_up_is_noticed(tmp_path, monkeypatch, layer, broken):
    """By its own check, and beside NumPy."""
    monkeypatch.setenv("CFLAGS", "-O1 -std=gnu11 -DSECONDS=0")
    nest, kind = a_nest(layer), DATA_TYPES["float32"]
    for name, text in BACKENDS["c"].files(nest, kind).items():
        (tmp_path / name).write_text(text)
    assert BACKENDS["c"].measured(tmp_path, nest, kind, 0).correct
    text = (tmp_path / "kernel.c").read_text()
    head = text.index("int kernel(")
    at = text.index("{", head) + 1
    (tmp_path / "kernel.c").write_text(f"{text[:at]}\n    {broken}{text[at:]}")
    assert not BACKENDS["c"].measured(tmp_path, nest, kind, 0).correct
    compile_c(tmp_path)
    with pytest.raises(ProgramError, match="words wrong"):
        run(["./program"], tmp_path, "fails")


@needs_compiler
def test_names_that_headers_have(tmp_path, monkeypatch):
    """Of tensors and dims: functions, macros, macros of the compiler."""
    monkeypatch.setenv("CFLAGS", "-O1 -std=gnu11 -DSECONDS=0")
    dims = {"__LINE_": 3, "__FILE_": 4, "linux": 2, "EOF": 2}
    tensors = [("printf", ["__LINE_", "linux"]), ("unix", ["__FILE_", "linux"]), ("EOF", ["__LINE_", "EOF"])]
    made = [Tensor(name, tuple((Term(dim),) for dim in ranks)) for name, ranks in tensors]
    made.append(Tensor("INT8_MAX", tuple((Term(dim),) for dim in ("__LINE_", "__FILE_", "EOF")), output=True))
    nest = a_nest(Workload("odd", tuple(dims), tuple(dims.values()), tuple(made)))
    for name, text in BACKENDS["c"].files(nest, DATA_TYPES["int8"]).items():
        (tmp_path / name).write_text(text)
    assert BACKENDS["c"].measured(tmp_path, nest, DATA_TYPES["int8"], 0).correct


@needs_compiler
def test_an_old_program_is_not_run(tmp_path, monkeypatch):
    nest, kind = a_nest(shaped("matmul", M=5, N=4, K=6)), DATA_TYPES["float32"]
    for name, text in BACKENDS["c"].files(nest, kind).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "program").write_text("#!/bin/sh\nexit 0\n")
    monkeypatch.setenv("CC", "true")
    with pytest.raises(ProgramError, match="program"):
        BACKENDS["c"].measured(tmp_path, nest, kind, 0)


def memories(seconds):
    """A machine with times, a cache, and uneven placement if it is asked for."""
    buffer = Storage("L1", "SRAM", capacity_bits=2**15, fanout=(Axis("lane", 4, code="lanes"),))
    times = Calibration("here", "float32", seconds=tuple(seconds.items()))
    return Architecture("m", (Storage("DRAM", "DRAM"), buffer), Compute("MAC", "intmac"), calibration=times)


def test_uneven_placement_has_the_lines_of_its_memory():
    layer, kind = shaped("matmul", M=8, N=6, K=9), DATA_TYPES["float32"]
    arch = memories({"statement": 1e-9, "L1 line": 1e-8})
    for each in (arch, placed(arch, "uneven")):
        effort = ProgramCounts(a_nest(layer, each), kind)
        assert [name for name in effort.terms if name.endswith(" line")] == ["L1 line"]
        assert predicted_seconds(effort) > 0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ({"statment": 1e-9}, "calibration.seconds.statment: unknown term; known: statement"),
        ({"statement": 0.0}, "a program would take 0 s"),
        ({"statement": 1.7e308}, "a program would take inf s"),
    ],
)
def test_times_that_say_nothing_are_faults(seconds, said):
    with pytest.raises(InputError, match=said):
        predicted_seconds(
            ProgramCounts(a_nest(shaped("matmul", M=8, N=6, K=9), memories(seconds)), DATA_TYPES["float32"])
        )


def test_hardware_threads_are_one_core(tmp_path, monkeypatch):
    """Two threads a core: caches of a core are its own; odd entries are left out."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 4, 5})
    for number in (0, 1, 4, 5):
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{number % 4},{number % 4 + 4}\n")
    caches = [("1", "32K", "0,4"), ("2", "512K", "0,4"), ("3", "8M", "0-1,4-5"), ("4", "0K", "0"), ("", "1M", "0")]
    for number, (level, size, shared) in enumerate(caches):
        folder = tmp_path / "cpu0" / "cache" / f"index{number}"
        folder.mkdir(parents=True)
        told = {"type": "Data", "size": size, "shared_cpu_list": shared, "coherency_line_size": "" if number else "64"}
        for name, text in (told | ({"level": level} if level else {})).items():
            (folder / name).write_text(text + "\n")
    found = described(tmp_path, tmp_path / "none")
    assert found.cores == 2
    assert [(cache.name, cache.cores, cache.line) for cache in found.caches] == [
        ("L1", 1, 64),
        ("L2", 1, 64),
        ("L3", 2, 64),
    ]
    assert "code: buffer" in machine_yaml(found, "cpu")
