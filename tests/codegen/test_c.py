"""Programs in C compute what NumPy computes, for any mapping, and stay inside their arrays."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch, with_roles
from ruby_map.arch.spec import AXIS_CODES, LEVEL_CODES
from ruby_map.mapper.codegen import BACKENDS, DATA_TYPES, Nest, ProgramCounts, ProgramError
from ruby_map.mapper.codegen.c import plan, registers
from ruby_map.mapper.mapping import read_mapping
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import Document, InputError, Tensor, Term, Workload, shaped

from ..conftest import DEEP, needs_compiler
from ..small_problems import PRESETS, constrained_machines, small_machines, uneven_machines

pytestmark = needs_compiler
C = BACKENDS["c"]
ONCE = "-O1 -std=gnu11 -DSECONDS=0"
GUARDED = "-O0 -std=gnu11 -DSECONDS=0 -g -fsanitize=address,undefined -fno-sanitize-recover"  # at -O1 GCC takes 20 s


@pytest.fixture
def program(tmp_path_factory, monkeypatch):
    """Write, compile and run a nest; return how it did."""

    def measured(nest, kind="int32", flags=ONCE, seed=0):
        monkeypatch.setenv("CFLAGS", flags)
        folder = tmp_path_factory.mktemp("program")
        assert not C.faults(nest, DATA_TYPES[kind])
        for name, text in C.files(nest, DATA_TYPES[kind]).items():
            (folder / name).write_text(text)
        return C.measured(folder, nest, DATA_TYPES[kind], seed)

    return measured


def some_layers():
    """Products and convolutions of odd sizes: strides, dilations, groups, batches."""
    size = st.integers(1, 9)
    two = st.integers(1, 2)
    window = st.integers(1, 3)
    conv = {"M": size, "C": window, "P": size, "Q": st.integers(1, 20), "R": window, "S": window}
    return st.one_of(
        st.fixed_dictionaries({"M": st.integers(1, 40), "N": size, "K": size}).map(lambda s: shaped("matmul", **s)),
        st.fixed_dictionaries({"B": two, "M": size, "N": size, "K": size}).map(lambda s: shaped("batched_matmul", **s)),
        st.builds(
            lambda sizes, stride, dilation: shaped("conv2d", stride=stride, dilation=dilation, **sizes),
            st.fixed_dictionaries(conv | {"N": two, "G": two}),
            two,
            two,
        ),
    )


@st.composite
def processors(draw):
    """A machine like a processor: buffers, cores, registers, lanes; any part may be missing."""
    lanes = Axis("lane", draw(st.sampled_from([2, 4, 8, 16])), code="lanes")
    cores = Axis("core", draw(st.integers(1, 3)), code=draw(st.sampled_from(["threads", "loop"])))
    buffers = st.sampled_from(["buffer", "buffer", "cache"])
    outer = Storage("DRAM", "DRAM", fanout=(cores,) if draw(st.booleans()) else ())
    l2 = Storage("L2", "SRAM", code=draw(buffers), fanout=() if outer.fanout else (cores,))
    l1 = Storage("L1", "SRAM", code=draw(buffers))
    registers = Storage("Registers", "regfile", code=draw(st.sampled_from(["registers", "cache"])), fanout=(lanes,))
    middle = draw(st.sampled_from([(l2, l1), (l2,), (l1,), ()]))
    return Architecture("processor", (outer, *middle, registers), Compute("MAC", "intmac"))


def a_mapping(draw, arch, workload):
    """One mapping of any mapspace, drawn; None where the constraints leave none."""
    try:
        space = Mapspace(arch, workload, draw(st.sampled_from(PRESETS)))
    except InputError:
        return None
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return space.sample(rng, 1)


@settings(deadline=None, max_examples=1000 if DEEP else 6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_output_equals_numpy(program, monkeypatch, data):
    """Of any mapping on a machine like a processor, in whole numbers; floats come near enough.

    Where fewer threads are allowed than cores are used, they do the work in rounds.
    """
    monkeypatch.setenv("OMP_THREAD_LIMIT", data.draw(st.sampled_from(["64", "2", "1"])))
    batch = a_mapping(data.draw, data.draw(processors()), data.draw(some_layers()))
    if batch is None:
        return
    kind = data.draw(st.sampled_from(sorted(DATA_TYPES)))
    ran = program(Nest.of(batch), kind, data.draw(st.sampled_from([ONCE, ONCE, GUARDED])))
    assert ran.correct, ran


@settings(deadline=None, max_examples=500 if DEEP else 6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_machine_any_role(program, data):
    """Constraints, bypassed levels, stacks of uneven levels, roles given at random."""
    arch = data.draw(st.one_of(small_machines(), constrained_machines(), uneven_machines()))
    levels = [
        replace(
            level,
            code=data.draw(st.sampled_from(LEVEL_CODES)),
            fanout=tuple(replace(axis, code=data.draw(st.sampled_from(AXIS_CODES))) for axis in level.fanout),
        )
        for level in arch.levels
    ]
    batch = a_mapping(data.draw, replace(arch, levels=tuple(levels)), data.draw(some_layers()))
    if batch is None:
        return
    nest = Nest.of(batch)
    threads = [axis for level in levels for axis in level.fanout if axis.code == "threads"]
    if len(threads) > 1:
        assert "threads run one axis at most" in str(C.faults(nest, DATA_TYPES["int8"])[0])
        return
    assert program(nest, "int8", data.draw(st.sampled_from([ONCE, GUARDED]))).correct


THREE = {
    "eyeriss_like": ("eyeriss_like", {}),
    "simba_like": ("simba_like", {"GlobalBuffer": "buffer", "lane": "lanes", "PE": "threads"}),
    "processor": ("", {}),
}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", THREE)
def test_three_machines_in_all_mapspaces(program, name, preset):
    """In the deep setting 84 mappings of each: 1,008. By default one, of either layer in turn."""
    known, roles = THREE[name]
    arch = with_roles(load_arch(known), roles) if known else processor(16, "buffer")
    layers = shaped("matmul", M=37, N=12, K=29), shaped("conv2d", M=9, C=6, P=7, Q=11, R=3, S=2, stride=2)
    turn = (list(THREE).index(name) + PRESETS.index(preset)) % 2
    for layer in layers if DEEP else layers[turn:][:1]:
        batch = Mapspace(arch, layer, preset).sample(np.random.default_rng(5), 42 if DEEP else 1)
        for i in range(len(batch)):
            assert program(Nest.of(batch.take([i])), "int8").correct


def test_threads_wait_only_where_they_copy_together():
    """A buffer inside the axis is each core's own, copied where its loops change it, whatever the threads do."""
    cores = Axis("core", 2, code="threads")
    buffer, layer = Storage("B", "SRAM", code="buffer"), shaped("matmul", M=40, N=6, K=8)
    registers = Storage("RF", "regfile", code="registers")
    own = Architecture("m", (Storage("DRAM", "DRAM", fanout=(cores,)), buffer, registers), Compute("MAC", "intmac"))
    together = replace(own, levels=(Storage("DRAM", "DRAM"), replace(buffer, fanout=(cores,)), registers))
    for arch, waits in (own, 0), (together, 8):
        lines = [
            {"target": "DRAM", "type": "temporal", "factors": "N=3 K=1 M=1", "permutation": "NKM"},
            {"target": "core", "type": "spatial", "factors": "M=2"},
            {"target": "B", "type": "temporal", "factors": "M=20 N=2 K=8"},
        ]
        nest = Nest.of(read_mapping(Document("m", {"mapping": lines}, {}), arch, layer))
        text = C.files(nest, DATA_TYPES["int32"])["kernel.c"]
        assert text.count("barrier") == waits
        first, loop = text.index("WeightsTile1["), text.index("for (long N_")
        assert first < loop  # N leaves weights where they are
        words = ProgramCounts(nest, DATA_TYPES["int32"]).terms
        copied = words["copied word"] + words["transposed word"]
        assert copied == 40 * 8 + (2 if arch is own else 1) * 6 * 8 + 2 * 40 * 6


def einsum(dims, **tensors):
    """A workload of any tensors; the last is the output."""
    made = []
    for number, (name, ranks) in enumerate(tensors.items(), 1):
        terms = tuple(tuple(map(Term, [rank] if isinstance(rank, str) else rank)) for rank in ranks)
        made.append(Tensor(name, terms, output=number == len(tensors)))
    return Workload("einsum", tuple(dims), tuple(dims.values()), tuple(made))


ODD = {
    "three inputs": einsum({"i": 5, "j": 6, "k": 7}, A=["i", "k"], B=["k", "j"], D=["j"], Z=["i", "j"]),
    "one input": einsum({"i": 37}, A=["i"], Z=["i"]),
    "a sum": einsum({"i": 9, "j": 17}, A=["i", "j"], Z=[]),
    "windows of the output": einsum({"p": 9, "r": 3, "k": 4}, A=["p", "k"], W=["k", "r"], Z=[("p", "r")]),
    "a diagonal": einsum({"i": 7, "j": 5}, A=["i", "i"], B=["i", "j"], Z=["j"]),
    "a dim that no input has": einsum({"i": 6, "j": 5}, A=["i"], Z=["i", "j"]),
    "a dim that no tensor has": einsum({"i": 6, "j": 5}, A=["i"], Z=["i"]),
    "names of C": einsum({"int": 6, "MIN": 5, "z": 3}, double=["int", "z"], z0=["z", "MIN"], kernel=["int", "MIN"]),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("seed", range(2 if DEEP else 1))
def test_workloads_of_other_shapes(program, name, seed):
    arch = processor(4, "buffer")
    batch = Mapspace(arch, ODD[name], "ruby").sample(np.random.default_rng(seed), 1)
    assert program(Nest.of(batch), "int32", GUARDED).correct


def processor(lanes, code):
    """A memory, a cache or buffer, registers, lanes."""
    axis = Axis("lane", lanes, code="lanes")
    inner = (Storage("L1", "SRAM", code=code), Storage("RF", "regfile", code="registers", fanout=(axis,)))
    return Architecture("processor", (Storage("DRAM", "DRAM"), *inner), Compute("MAC", "intmac"))


def a_nest(code="cache"):
    """A product of odd sizes, with remainders."""
    space = Mapspace(processor(8, code), shaped("matmul", M=21, N=5, K=7), "ruby")
    return Nest.of(space.sample(np.random.default_rng(3), 1))


def noticed(program):
    """Whether the program of a nest crashes or computes something else than NumPy."""
    try:
        return not program(a_nest()).correct
    except ProgramError:
        return True


def test_a_broken_generator_is_noticed(program, monkeypatch):
    """A product too few, loops without their ends, a tile that is taken for whole."""
    assert not noticed(program)
    points = plan.Plan.points
    with monkeypatch.context() as broken:
        broken.setattr(plan.Plan, "points", lambda self, extents: list(points(self, extents))[:-1])
        assert noticed(program)
    with monkeypatch.context() as broken:
        broken.setattr(registers, "end_of", lambda plan, place: str(plan.nest.workload.macs))
        assert noticed(program)
    with monkeypatch.context() as broken:
        broken.setattr(plan.Plan, "cut", lambda self, d, place: False)
        assert noticed(program)


def test_the_program_checks_itself(program, tmp_path, monkeypatch):
    """Without files it compares with plain loops; what it prints of a wrong kernel."""
    from ruby_map.mapper.codegen.c import compile_c
    from ruby_map.mapper.codegen.program import run

    monkeypatch.setenv("CFLAGS", ONCE)
    for name, text in C.files(a_nest("buffer"), DATA_TYPES["float32"]).items():
        (tmp_path / name).write_text(text)
    compile_c(tmp_path)
    assert run(["./program"], tmp_path, "fails").startswith("0 of 105 words wrong\n")
    assert "0 of 105 words wrong" in run(["make", "check", f"CFLAGS={ONCE}"], tmp_path, "fails")
    kernel = (tmp_path / "kernel.c").read_text()
    (tmp_path / "kernel.c").write_text(kernel.replace(" += x", " -= x", 1))
    compile_c(tmp_path)
    with pytest.raises(ProgramError, match="status 1"):
        run(["./program"], tmp_path, "fails")


def test_a_compiler_that_fails_is_heard(tmp_path, monkeypatch):
    for name, text in C.files(a_nest(), DATA_TYPES["float32"]).items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("CFLAGS", "-Dkernel=1+")
    with pytest.raises(ProgramError, match=r"the compiler fails \(status 1\):\n(.|\n)*error"):
        C.measured(tmp_path, a_nest(), DATA_TYPES["float32"], 0)
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ProgramError, match="no C compiler: \\$CC is 'no-such-compiler', which is not found"):
        C.measured(tmp_path, a_nest(), DATA_TYPES["float32"], 0)


def test_roles_are_checked_all_at_once():
    arch = load_arch("eyeriss_like")
    with pytest.raises(InputError) as caught:
        with_roles(arch, {"glb": "buffer", "PE": "buffer", "shared_glb": "threads"})
    assert [fault.path for fault in caught.value.faults] == ["glb", "PE", "shared_glb"]
    assert with_roles(arch, {"PE": "lanes"}).levels[1].fanout[1].code == "lanes"


def test_too_large_for_memory():
    huge = shaped("matmul", M=2**20, N=2**20, K=1)
    arch = Architecture("m", (Storage("DRAM", "DRAM"),), Compute("MAC", "intmac"))
    nest = Nest.of(Mapspace(arch, huge, "pfm").sample(np.random.default_rng(0), 1))
    (fault,) = C.faults(nest, DATA_TYPES["float64"])
    assert "too large to run" in str(fault)
    assert "Outputs 8.19e+03 GiB" in str(fault)
