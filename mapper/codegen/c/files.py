"""The files beside kernel.c: a header, a Makefile, and a program that checks and times the kernel."""

from dataclasses import dataclass

from ....workloads import Workload
from ..nest import extents
from .kernel import Kernel
from .text import Lines, dim_name, linear

# The mapping says what are lanes: the compiler makes no vectors of its own, so that idle lanes are idle.
FLAGS = "-O2 -march=native -std=gnu11 -fno-tree-vectorize -fno-tree-slp-vectorize"
SECONDS = 0.3  # the kernel is repeated for so long, and the least time counts; it ran once before


def c_files(kernel: Kernel) -> dict[str, str]:
    """The files of a kernel, by name."""
    return {"kernel.c": kernel.source(), **check_files(kernel, kernel.plan.threads)}


def check_files(kernel: Kernel, threads: int, made: str = "", command: str = "") -> dict[str, str]:
    """The files beside kernel.c; `made`: a file that it includes, by the `command`."""
    parallel = " -fopenmp" if threads > 1 else ""
    rule = f"\n{made}: schedule.py\n\t{command}\n" if made else ""
    needs = f"check.c kernel.c kernel.h {made}".rstrip()
    return {
        "kernel.h": _header(kernel),
        "check.c": _check(kernel),
        "Makefile": f"""# make check: compute with kernel.c and plainly, and compare; then time kernel.c
CFLAGS ?= {FLAGS}

check: program
\t./program

program: {needs}
\t$(CC) $(CFLAGS){parallel} -o $@ check.c kernel.c -lm
{rule}
clean:
\trm -f program

.PHONY: check clean
""",
    }


def _header(kernel: Kernel) -> str:
    workload = kernel.nest.workload
    lines = [
        "#pragma once",
        "#include <stdint.h>",
        "",
        "/* Adds the product of the inputs to the output. Arrays are row-major:",
    ]
    for tensor, array in zip(workload.tensors, kernel.arrays, strict=True):
        sizes = "".join(f"[{size}]" for size in extents(tensor, workload))
        lines.append(f" *   {array}{sizes}, indexed by {tensor.projection}")
    lines += [" * Returns 0, or 1 where there is no memory for its buffers. */", f"{kernel.signature()};", ""]
    return "\n".join(lines)


@dataclass(frozen=True)
class _Arrays:
    """The arrays of a program, in the order of its arguments."""

    names: list[str]
    types: list[str]
    words: list[int]
    output: int

    @classmethod
    def of(cls, kernel: Kernel) -> "_Arrays":
        tensors, kind = kernel.nest.workload.tensors, kernel.kind
        words = [kernel.nest.workload.tensor_words(tensor) for tensor in tensors]
        types = [kind.output if tensor.output else kind.operand for tensor in tensors]
        return cls(kernel.arrays, types, words, kernel.nest.output)

    @property
    def inputs(self) -> list[int]:
        return [v for v in range(len(self.names)) if v != self.output]

    def zeroed(self, v: int) -> str:
        return f"memset({self.names[v]}, 0, {self.words[v]} * sizeof({self.types[v]}));"


def _check(kernel: Kernel) -> str:
    """The program: it takes arrays from files, or fills them itself; it compares, then times."""
    arrays, out = _Arrays.of(kernel), Lines()
    out.add(
        "/* ./program: checks kernel.c on small whole numbers, and times it.",
        f" * ./program FILES...: reads {', '.join(arrays.names[v] for v in arrays.inputs)} from files,",
        " * writes the output to the last, and times it. Prints the seconds of each run. */",
        '#include "kernel.h"',
        *(f"#include <{name}.h>" for name in ("stdio", "stdlib", "string", "time")),
        "",
        "#ifndef SECONDS",
        f"#define SECONDS {SECONDS}",
        "#endif",
        "",
    )
    _helpers(out)
    _plainly(out, kernel.nest.workload, arrays)
    call = f"if (kernel({', '.join(arrays.names)})) return 3;"
    with out.block("int main(int argc, char **argv)"):
        for name, word, size in zip(arrays.names, arrays.types, arrays.words, strict=True):
            out.add(f"{word} *{name} = memory({size}, sizeof({word}));")
        with out.block(f"if (argc == {len(arrays.names) + 1})"):
            _from_files(out, arrays, call)
        with out.block("else"):
            _by_itself(out, arrays, call)
        out.add("double total = 0;")
        with out.block("for (int run = 0; run < 1 || (total < SECONDS && run < 1000); ++run)"):
            out.add(arrays.zeroed(arrays.output), "double began = now();", call, "double seconds = now() - began;")
            out.add("total += seconds;", 'printf("%.9f\\n", seconds);')
        out.add(*(f"free({name});" for name in arrays.names), "return 0;")
    return str(out)


def _helpers(out: Lines) -> None:
    """Write functions for memory, time and files; what fails ends the program with status 3."""
    with out.block("static void *memory(size_t words, size_t bytes)"):
        out.add(
            "void *found = aligned_alloc(64, (words * bytes + 63) / 64 * 64);",
            'if (!found) { fprintf(stderr, "no memory\\n"); exit(3); }',
            "memset(found, 0, words * bytes);",
            "return found;",
        )
    out.add("")
    with out.block("static double now(void)"):
        out.add("struct timespec t;", "clock_gettime(CLOCK_MONOTONIC, &t);", "return t.tv_sec + 1e-9 * t.tv_nsec;")
    out.add("")
    with out.block("static void file(const char *path, const char *mode, void *data, size_t words, size_t bytes)"):
        out.add(
            "FILE *f = fopen(path, mode);",
            "size_t done = !f ? 0 : mode[0] == 'r' ? fread(data, bytes, words, f) : fwrite(data, bytes, words, f);",
            'if (done != words || fclose(f)) { fprintf(stderr, "cannot read or write %s\\n", path); exit(3); }',
        )
    out.add("")


def _from_files(out: Lines, arrays: _Arrays, call: str) -> None:
    """Write what a program does with files."""
    for place, v in enumerate(arrays.inputs, 1):
        out.add(f'file(argv[{place}], "rb", {arrays.names[v]}, {arrays.words[v]}, sizeof({arrays.types[v]}));')
    v = arrays.output
    words, name = arrays.words[v], arrays.names[v]
    out.add(
        f"for (long i = 0; i < {words}; ++i) {name}[i] = 1;",
        call,
        f"for (long i = 0; i < {words}; ++i) {name}[i] -= 1;  /* what it added */",
        f'file(argv[{len(arrays.names)}], "wb", {arrays.names[v]}, {arrays.words[v]}, sizeof({arrays.types[v]}));',
    )


def _by_itself(out: Lines, arrays: _Arrays, call: str) -> None:
    """Write the comparison with plain loops, on numbers from -2 to 2 but 0, added to an output of 1, 2 and 3."""
    v = arrays.output
    for tensor in arrays.inputs:
        drawn = f"const int r = (i * 7 + i / 13 + {tensor}) % 4 - 2;"
        step = f"{{ {drawn} {arrays.names[tensor]}[i] = r + (r >= 0); }}"
        out.add(f"for (long i = 0; i < {arrays.words[tensor]}; ++i) {step}")
    begin = f"{arrays.names[v]}[i] = expected[i] = i % 3 + 1;"  # which the kernel adds to
    out.add(
        f"{arrays.types[v]} *expected = memory({arrays.words[v]}, sizeof({arrays.types[v]}));",
        f"for (long i = 0; i < {arrays.words[v]}; ++i) {begin}",
        f"plainly({', '.join([*(arrays.names[tensor] for tensor in arrays.inputs), 'expected'])});",
        call,
        "long wrong = 0;",
        f"for (long i = 0; i < {arrays.words[v]}; ++i) wrong += {arrays.names[v]}[i] != expected[i];",
        f'printf("%ld of {arrays.words[v]} words wrong\\n", wrong);',
        "free(expected);",
        "if (wrong) return 1;",
    )


def _plainly(out: Lines, workload: Workload, arrays: _Arrays) -> None:
    """Write the sums as the workload states them: a loop per dim, nothing else."""
    order = [*arrays.inputs, arrays.output]
    named = [f"{'' if v == arrays.output else 'const '}{arrays.types[v]} *{arrays.names[v]}" for v in order]

    def word(v: int) -> str:
        tensor = workload.tensors[v]
        sizes, terms, stride = extents(tensor, workload), list[tuple[int, str]](), 1
        for rank, size in zip(reversed(tensor.ranks), reversed(sizes), strict=True):
            terms += [(stride * term.coef, f"{dim_name(term.dim)}_") for term in rank]
            stride *= size
        return f"{arrays.names[v]}[{linear(terms)}]"

    with out.block(f"static void plainly({', '.join(named)})"), out.blocks(len(workload.dims)):
        for dim, size in zip(workload.dims, workload.sizes, strict=True):
            index = f"{dim_name(dim)}_"
            out.open(f"for (long {index} = 0; {index} < {size}; ++{index})")
        value = " * ".join(f"({arrays.types[arrays.output]}){word(v)}" for v in arrays.inputs) or "1"
        out.add(f"{word(arrays.output)} += {value};")
    out.add("")
