"""Whether an answer depends on the load of the machine: ten commands alone, and with eight busy processes beside them.

    python benchmarks/bench_load.py [--effort mappings=8192,steps=500000] [--busy 8]

Prints a line a command: its seconds alone and beside the others, and whether the two outputs are the same to the byte
but for seconds. Exit status 1 where one is not. Effort is counted (docs/decisions/107-counted-effort.md), so all are.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

COMMANDS = (
    "eyeriss_like resnet50/conv3_x_3x3",
    "simba_like resnet50/conv5_x_3x3 --mapspace ruby",
    "gemmini_like vgg16/conv3_2 --jobs 2",
    "simba_like bert_base_128",
    "eyeriss_like bert_base_128 --jobs 2",
    "eyeriss_like alexnet/conv2 --objective delay,energy",
    "linear_16 matmul_100 --front energy,delay",
    "tpu_v1_like bert_base_256/ffn_up --objective energy",
    "simba_like resnet50/conv1 --mapspace ruby --seed 3",
    "nvdla_small_like mobilenet_v2/conv1 --search evolve",
)
PROGRAM = "from ruby_map.mapper.commands.entry import ruby_map; ruby_map()"
SECONDS = re.compile(r'"seconds": [0-9.e+-]+')
BUSY = "while True: sum(i * i for i in range(100_000))"


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep so many processes busy."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(number)]
    try:
        yield
    finally:
        for other in processes:
            other.kill()
            other.wait()


def answer(command: str, effort: str) -> tuple[str, float]:
    """Run a command; return its output without seconds, and how long it took."""
    words = [*command.split(), "--effort", effort, "--json"]
    began = perf_counter()
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return SECONDS.sub('"seconds": 0', done.stdout), perf_counter() - began


def main() -> int:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--effort", default="mappings=8192,steps=500000")
    parser.add_argument("--busy", type=int, default=8)
    options = parser.parse_args()
    alone = [answer(command, options.effort) for command in COMMANDS]
    with busy(options.busy):
        beside = [answer(command, options.effort) for command in COMMANDS]
    differ = 0
    for command, (first, short), (second, long) in zip(COMMANDS, alone, beside, strict=True):
        differ += first != second
        same = "the same" if first == second else "ANOTHER ANSWER"
        sys.stdout.write(f"{command:58} {short:6.1f} s {long:6.1f} s  {same}\n")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
