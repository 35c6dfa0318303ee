"""The back end that writes schedules for TVM (apache-tvm), which makes machine code of them: imperfect ones, too."""

import sys
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

import numpy as np

from ...workloads import Fault
from .data_types import DataType
from .nest import Nest, separate_dims
from .plain import Plain, title
from .program import Measurement, measured, memory_faults, need, thread_faults

WIDEST = 64  # words of a vector: of longer ones LLVM makes endless code
SECONDS = 0.3  # the layer is repeated for so long, and the least time counts
_MAIN = '''

def compiled(sch):
    """The program of a schedule, for this processor."""
    return tvm.compile(sch.mod, target={"kind": "llvm", "mcpu": llvm_get_system_cpu()})["main"]


def main(paths):
    if paths:
        inputs = [np.fromfile(path, WORD).reshape(size) for path, size in zip(paths, INPUTS)]
    else:
        random = np.random.default_rng(0)
        inputs = [random.integers(-2, 3, size).astype(WORD) for size in INPUTS]
    output = tvm.runtime.tensor(np.zeros(OUTPUT, SUM))
    arrays = [tvm.runtime.tensor(each) for each in inputs]
    arrays.insert(PLACE, output)
    run = compiled(scheduled())
    run(*arrays)
    if paths:
        output.numpy().tofile(paths[-1])
    else:
        found = output.numpy().copy()
        compiled(tvm.s_tir.Schedule(layer))(*arrays)
        wrong = np.count_nonzero(found != output.numpy())
        print(f"{wrong} of {found.size} words wrong")
        if wrong:
            return 1
    total = runs = 0
    while runs < 1 or (total < SECONDS and runs < 1000):
        began = time.perf_counter()
        run(*arrays)
        seconds = time.perf_counter() - began
        total, runs = total + seconds, runs + 1
        print(f"{seconds:.9f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''


class TvmBackend:
    """TVM's schedules of tensor programs (TIR), compiled by LLVM."""

    name = "tvm"
    calibrated = False

    def faults(self, nest: Nest, kind: DataType) -> list[Fault]:
        """Say why it cannot write a nest: outputs add up along two dims, threads run two axes, memory is too small."""
        workload = nest.workload
        moving = {dim for dim, size in zip(workload.dims, workload.sizes, strict=True) if size > 1}
        separate = {workload.dims[d] for d in separate_dims(workload)}
        if shared := sorted({*workload.output.dims} & moving - separate):
            rule = "tvm writes layers whose outputs have a dim of their own along each rank"
            return [Fault(workload.name, None, workload.output.name, f"{rule}; not alone: {', '.join(shared)}")]
        return thread_faults(nest.arch) or memory_faults(workload, kind)

    def files(self, nest: Nest, kind: DataType) -> Mapping[str, str]:
        """Write schedule.py."""
        return {"schedule.py": _schedule(nest, kind)}

    def measured(self, folder: Path, nest: Nest, kind: DataType, seed: int) -> Measurement:
        """Let TVM schedule, compile and run it; compare and time that."""
        need("tvm", "tvm")
        return measured([sys.executable, "schedule.py"], folder, nest, kind, seed)


def _schedule(nest: Nest, kind: DataType) -> str:
    """The text of schedule.py."""
    plain = Plain(nest)
    names = ", ".join(plain.arrays[v] for v in plain.inputs)
    threads = prod(nest.loops[place].bound for place in _parallel(nest))
    lines = [
        f'"""{title(nest, kind)}, as a schedule for TVM.',
        "",
        "python3 schedule.py: compares the scheduled with the plain loops on small whole numbers, and times them.",
        f"python3 schedule.py FILES...: reads {names} from files, writes the output to the last, and times it.",
        "Prints the seconds of each run.",
        '"""',
        "",
        "import os",
        "import sys",
        "import time",
        "",
        *([f'os.environ.setdefault("TVM_NUM_THREADS", "{threads}")  # before it starts', ""] if threads > 1 else []),
        "import numpy as np",
        "import tvm",
        "from tvm.script import tirx as T",
        "from tvm.target.codegen import llvm_get_system_cpu",
        "",
        f"INPUTS = {[plain.sizes(v) for v in plain.inputs]}",
        f"OUTPUT = {plain.sizes(nest.output)}",
        f"PLACE = {nest.output}  # of the output among the arguments",
        f'WORD, SUM = "{np.dtype(kind.numpy).name}", "{np.dtype(kind.numpy_output).name}"',
        f'SECONDS = float(os.environ.get("SECONDS", "{SECONDS}"))  # it is repeated for so long',
        "",
        "",
        *_plain(plain, kind),
        "",
        "",
        "def scheduled():",
        '    """The loops of the mapping, outermost first: M_0 is the loop over M in place 0."""',
        *(f"    {line}" for line in _steps(plain)),
    ]
    return "\n".join([*lines, _MAIN])


def _plain(plain: Plain, kind: DataType) -> Iterator[str]:
    """The function that a schedule begins with: a loop for each dim, and one block inside."""
    nest = plain.nest
    output, added = np.dtype(kind.numpy_output).name, _summed(plain)
    yield "@T.prim_func(s_tir=True)"
    yield "def layer("
    for v, array in enumerate(plain.arrays):
        word = np.dtype(kind.numpy_output if v == nest.output else kind.numpy).name
        yield f'    {array}: T.Buffer({plain.sizes(v)}, "{word}"),'
    yield "):"
    names, sizes = [plain.loops[d] for d in plain.dims], [str(nest.workload.sizes[d]) for d in plain.dims]
    kinds = "".join("R" if d in added else "S" for d in plain.dims)
    yield f"    for {', '.join(names)} in T.grid({', '.join(sizes)}):"
    yield '        with T.sblock("layer"):'
    steps = ", ".join(f"v_{name}" for name in names)
    yield f'            {steps} = T.axis.remap("{kinds}", [{", ".join(names)}])'
    words = [plain.word(v, "v_") for v in plain.inputs]
    if kind.operand != kind.output:
        words = [f'T.Cast("{output}", {word})' for word in words]
    word = plain.word(nest.output, "v_")
    if added:
        yield "            with T.init():"
        yield f"                {word} = T.{output}(0)"
    yield plain.statement(f"{word} {'+=' if added else '='}", words or [f"T.{output}(1)"], 3)


def _summed(plain: Plain) -> list[int]:
    """The dims whose steps add up."""
    return [d for d in plain.dims if d not in plain.nest.relevant[plain.nest.output]]


def _steps(plain: Plain) -> Iterator[str]:
    """The steps of a schedule: dims split, loops reordered, vectors, threads, and zeros before the sums."""
    nest, names = plain.nest, dict[int, str]()
    yield "sch = tvm.s_tir.Schedule(layer)"
    yield 'block = sch.get_sblock("layer")'
    yield f"{', '.join(plain.loops[d] for d in plain.dims)}{',' * (len(plain.dims) == 1)} = sch.get_loops(block)"
    for d in plain.dims:
        places, name = plain.places(d), plain.loops[d]
        names |= {place: f"{name}_{place}" for place in places} if len(places) > 1 else dict.fromkeys(places, name)
        if len(places) > 1:
            bounds = [nest.loops[place].bound for place in places]
            yield f"{', '.join(names[place] for place in places)} = sch.split({name}, factors={bounds})"
    if len(names) > 1:
        yield f"sch.reorder({', '.join(names[place] for place in sorted(names))})"
    lanes, threads = _lanes(nest), _parallel(nest)
    if lanes is not None:
        yield f"sch.vectorize({names[lanes]})"
    if threads:
        run = ", ".join(names[place] for place in threads)
        yield f"sch.parallel(sch.fuse({run}))" if len(threads) > 1 else f"sch.parallel({run})"
    if _summed(plain):
        yield "sch.decompose_reduction(block, sch.get_loops(block)[0])"
    yield "return sch"


def _parallel(nest: Nest) -> list[int]:
    """The places of the loops that threads run as one: those of the axis that follow each other."""
    safe = separate_dims(nest.workload)
    able = [place for place, loop in enumerate(nest.loops) if loop.code == "threads" and loop.dim in safe]
    return [place for number, place in enumerate(able) if place == able[0] + number]


def _lanes(nest: Nest) -> int | None:
    """The place of the loop that becomes vectors: steps side by side, of different outputs, inside all threads.

    Of several it is the one along the last rank of the output, whose words lie side by side, else the longest.
    """
    safe, first = separate_dims(nest.workload), max(_parallel(nest), default=-1)
    able = [
        place
        for place, loop in enumerate(nest.loops)
        if loop.code == "lanes" and loop.stride == 1 and loop.dim in safe and place > first and loop.bound <= WIDEST
    ]
    last = {term.dim for rank in nest.workload.output.ranks[-1:] for term in rank}

    def rank(place: int) -> tuple[bool, int]:
        return nest.workload.dims[nest.loops[place].dim] in last, nest.loops[place].bound

    return max(able, key=rank, default=None)
