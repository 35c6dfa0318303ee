"""Do two checkouts print and write the same? Over 200 commands run in both; every output is compared, but for seconds.

    python benchmarks/frozen_outputs.py record BEFORE before
    python benchmarks/frozen_outputs.py record AFTER after --jobs 2
    python benchmarks/frozen_outputs.py compare before after

BEFORE and AFTER are checkouts with a `.venv` made by `make .venv/.dev`. It is for changes of the code that no user
should see: status 1, and the first lines that differ, if anything does. The commands stand in the YAML file beside
this one; record both checkouts with the same edition of the two, on one machine. Databases are compared by their rows,
compressed files by what is in them, all others as they are. What is left out: seconds and what is computed from them,
dates, paths of the checkout and of the folder, checksums of rows that have seconds, compiled programs.
"""

import argparse
import csv
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
LIST = HERE / "frozen_outputs.yaml"
RECORD = "record.json"
INPUTS = "inputs"
MOST = 1200.0  # seconds for a command, which none needs
SHOWN = 3  # lines of a difference
FOLDERS = {"examples": "examples", "docs/examples": "docs", "experiments": "experiments", "benchmarks": "benchmarks"}
FOLDERS |= {"tests/golden": "golden"}
WORDS = {
    "GOLD": "$IN/golden",
    "MORE": "$IN/more",
    "MAP": "ruby-map eyeriss_like resnet50/conv2_x_3x3",
    "COST": "python $IN/examples/cost_models/other_energies.py 0",
    "EX": "$IN/examples/machine.yaml $IN/examples/layer.yaml $IN/examples/mapping.yaml",
}
FIXED = {"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "0"}
FIXED |= {"OMP_NUM_THREADS": "1", "CFLAGS": "-O1 -std=gnu11 -DSECONDS=0", "JAX_PLATFORMS": "cpu"}
TIMED = {"seconds", "mappings_per_second", "gflops"}  # columns and keys
CHANGING = [  # what two runs of one checkout may differ in
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+]\d\d:?\d\d)?", "DATE"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (rf'("({"|".join(sorted(TIMED))})": ?)[-+.e\d]+', r"\1SECONDS"),
    (r'(\["[\da-f]{32}", [-+.e\d]+, )[-+.e\d]+', r"\1SECONDS"),  # answers of a cost model in a checkpoint
    (r"\b[\d,]+/s\b", "RATE/s"),
    (r"\b[\d.,]+ (s|ms|us|mappings/s|GFLOP/s)(?![\w/])", r"SECONDS \1"),
]


def inputs(texts: dict[str, str], more: Path | None, folder: Path) -> None:
    """Write what the commands read, from this checkout, whichever is recorded."""
    own = f"{Path(__file__).stem}*"
    ignored = shutil.ignore_patterns("results", "__pycache__", "answers", "*.ipynb", "*.md", "bench_*", own)
    for source, name in FOLDERS.items():
        shutil.copytree(HERE.parent / source, folder / name, ignore=ignored)
    if more is not None:
        shutil.copytree(more, folder / "more", ignore=ignored)
    for name, text in texts.items():
        (folder / name).write_text(text + "\n")


def perform(commands: list[str], folder: Path, checkout: Path) -> tuple[list[int], float]:
    """Run commands one after the other in a new folder, and keep there what they print: their statuses, and seconds."""
    folder.mkdir()
    inside = os.environ | FIXED | {"IN": f"../{INPUTS}"}
    inside |= {name: text.replace("$IN", inside["IN"]) for name, text in WORDS.items()}
    inside["PATH"] = f"{checkout / '.venv/bin'}{os.pathsep}{inside['PATH']}"
    statuses, began = [], perf_counter()
    for number, command in enumerate(commands, 1):
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=inside, capture_output=True, stdin=subprocess.DEVNULL, timeout=MOST
        )
        (folder / f"{number}.out").write_bytes(done.stdout)
        (folder / f"{number}.err").write_bytes(done.stderr)
        (folder / f"{number}.status").write_text(f"{done.returncode}\n")
        statuses.append(done.returncode)
    return statuses, perf_counter() - began


def record(options: argparse.Namespace) -> int:
    """Run the list in a checkout; a line for each entry with its seconds and the statuses of its commands."""
    given = yaml.safe_load(LIST.read_text())
    checkout, out = options.checkout.resolve(), options.out.resolve()
    lines = [line.split(" = ", 1) for line in given["commands"].splitlines() if not line.startswith("#")]
    entries = {name: text.split(" ;; ") for name, text in lines if re.search(options.only, name)}
    if options.more is None:
        entries = {name: commands for name, commands in entries.items() if "$MORE" not in "".join(commands)}
    out.mkdir(parents=True)
    (out / INPUTS).mkdir()
    inputs(given["inputs"], options.more, out / INPUTS)
    (out / RECORD).write_text(json.dumps({"checkout": str(checkout), "out": str(out)}))
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = {name: pool.submit(perform, commands, out / name, checkout) for name, commands in entries.items()}
        for name, future in waiting.items():
            statuses, seconds = future.result()
            print(f"{name:<20} {seconds:6.1f} s  {' '.join(map(str, statuses))}", flush=True)  # noqa: T201
    used = os.times()
    spent = (used.children_user + used.children_system) / 60
    print(f"{len(entries)} entries, {sum(map(len, entries.values()))} commands, {spent:.1f} CPU minutes")  # noqa: T201
    return 0


def rows(path: Path) -> Iterator[str]:
    """The contents of a database, without checksums, which are also of seconds."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        for name, made in database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall():
            yield str(made)
            if str(made).startswith("CREATE TABLE"):
                cursor = database.execute(f'SELECT * FROM "{name}"')
                columns = [column for column, *_ in cursor.description]
                for row in cursor:
                    cells = zip(columns, row, strict=True)
                    yield " | ".join(plain(cell) for column, cell in cells if column != "checksum")


def plain(cell: object) -> str:
    """A cell of a database; of an object in JSON the keys in one order, as nobody reads it but the program."""
    if isinstance(cell, str) and cell.startswith(("{", "[")):
        return json.dumps(json.loads(cell), sort_keys=True)
    return str(cell)


def without_seconds(text: str) -> str:
    """A table without its columns of seconds."""
    head, *_ = lines = list(csv.reader(text.splitlines()))
    kept = [column for column, name in enumerate(head) if name not in TIMED]
    return "\n".join(",".join(cells[column] for column in kept if column < len(cells)) for cells in lines)


def content(path: Path, places: dict[str, str]) -> list[str]:
    """What is compared of a file, as lines."""
    data = path.read_bytes()
    if data.startswith(b"\x7fELF"):
        return ["a program"]
    if data.startswith(b"SQLite format 3"):
        text = "\n".join(rows(path))
    else:
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8", "backslashreplace")
    for name, place in places.items():
        text = text.replace(place, name.upper())
    if path.suffix == ".csv" and text:
        text = without_seconds(text)
    if b"\0" not in data or data.startswith((b"SQLite", b"\x1f\x8b")):
        for pattern, instead in CHANGING:
            text = re.sub(pattern, instead, text)
    return text.splitlines()


def differing(name: str, folders: list[Path]) -> list[str]:
    """The lines of a file that one folder has and the other has not."""
    missing = [folder for folder in folders if not (folder / name).exists()]
    if missing:
        return [f"not in {missing[0]}"]
    one, two = (content(folder / name, json.loads((folder / RECORD).read_text())) for folder in folders)
    pairs = enumerate(zip_longest(one, two, fillvalue=""), 1)
    lines = [f"line {number}: {clipped(a, b)}\n        and {clipped(b, a)}" for number, (a, b) in pairs if a != b]
    return lines or ([] if len(one) == len(two) else [f"{len(one)} and {len(two)} lines"])


def clipped(line: str, other: str) -> str:
    """A line where it begins to differ from another."""
    begin = max(len(os.path.commonprefix([line, other])) - 40, 0)
    return ("..." if begin else "") + line[begin : begin + 160]


def compare(options: argparse.Namespace) -> int:
    """Print each file that differs, with its first lines that do; 1 if there is one."""
    folders = [options.out1, options.out2]
    files = {str(path.relative_to(root)) for root in folders for path in root.rglob("*") if path.is_file()} - {RECORD}
    different = 0
    for name in sorted(files):
        if lines := differing(name, folders):
            different += 1
            print(name, *(f"    {line}" for line in lines[:SHOWN]), sep="\n")  # noqa: T201
    print(f"{len(files)} files, {different} differ")  # noqa: T201
    return int(different > 0)


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions: Any = parser.add_subparsers(required=True)
    recording = actions.add_parser("record", help="run the commands of a checkout; OUT is a new folder")
    recording.add_argument("checkout", type=Path)
    recording.add_argument("out", type=Path)
    recording.add_argument("--only", default="", help="a regular expression: entries with such a name")
    recording.add_argument("--jobs", type=int, default=1, help="entries side by side")
    recording.add_argument("--more", type=Path, help="a folder of further inputs, for the entries that need it")
    recording.set_defaults(action=record)
    comparing = actions.add_parser("compare", help="compare two folders of record")
    comparing.add_argument("out1", type=Path)
    comparing.add_argument("out2", type=Path)
    comparing.set_defaults(action=compare)
    options = parser.parse_args()
    return int(options.action(options))


if __name__ == "__main__":
    sys.exit(main())
