"""What the tables share: cases, lines of a file that keeps what was measured, and measuring in a process of its own."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from common import markdown
from searches import HERE, Json, edition

from .known import Answer, Known

Case = Json  # plain values: what is measured; "limit" in it are seconds that a proof may end before
Line = Json  # "table", "case", "found", "edition"
Row = Json  # the figures of a row of a table


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    quick: bool  # one or two small cases of each table
    limit: float  # seconds of each proof


@dataclass(frozen=True)
class Table:
    """A table: what is measured for it, and what its rows say."""

    name: str
    title: str  # a sentence; what stands before its first comma or colon is bold
    cases: Callable[[Size], list[Case]]
    measure: Callable[[Case], Json]  # "answers", each as an Answer, and the figures of this table
    rows: Callable[[Sequence[Line], Known], list[Row]]
    columns: Mapping[str, Callable[[Row], str]]  # headings, and the text of a cell

    def markdown(self, rows: Sequence[Row]) -> str:
        """The rows below the title."""
        subject, sign, rest = re.split("([:,])", self.title, maxsplit=1)
        return f"**{subject}**{sign}{rest}\n\n{markdown(self.columns, rows)}"


def spec(name: str) -> str:
    """A machine or workload as commands and `explore` take it: a name of the library, or a file of the experiments."""
    return str(HERE / name) if ".yaml" in name else name


def shown(name: str) -> str:
    """A machine or workload as tables name it: without the file of the experiments that it is in."""
    return name.removesuffix(".yaml").removeprefix("kernels.yaml/")


class Store:
    """The lines of a file; several processes may append to it.

    A line stands for its case as long as the sources of the program are those that measured it. With `any_edition`
    lines of other sources stand, too.
    """

    def __init__(self, path: Path, any_edition: bool = False) -> None:
        self.path, self.any_edition, self.edition = path, any_edition, edition()

    def lines(self) -> Iterator[Line]:
        """The measurements that stand. Leaves out what a killed run wrote in part."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for written in text.splitlines():
            try:
                line: Line = json.loads(written)
            except json.JSONDecodeError:
                continue
            if self.any_edition or line["edition"] == self.edition:
                yield line

    def append(self, table: str, case: Case, measurement: Json) -> None:
        """Write a line at once. Ends a line that a killed run left open."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(
            {"table": table, "case": case, "found": measurement, "edition": self.edition}, allow_nan=False
        )
        with self.path.open("a+b") as file:
            file.seek(max(0, file.tell() - 1))
            ended = file.read() in (b"", b"\n")
            file.write(b"" if ended else b"\n")
            file.write(line.encode() + b"\n")

    def line_of(self, table: str, case: Case) -> Line | None:
        """The measurement of a case; of several, which differ in their time limits, the one with the longest."""
        same = [line for line in self.lines() if line["table"] == table and _question(line["case"]) == _question(case)]
        return max(same, key=lambda line: line["case"].get("limit", 0.0), default=None)

    def known(self) -> Known:
        """What all lines together say of the optima."""
        return Known([Answer(**answer) for line in self.lines() for answer in line["found"]["answers"]])


def stands(line: Line | None, case: Case) -> bool:
    """Whether a case need not be measured again: a line has as long a limit, or everything in it is proven."""
    if line is None:
        return False
    proven = all(answer["optimal"] for answer in line["found"]["answers"])
    return proven or line["case"].get("limit", 0.0) >= case.get("limit", 0.0)


def alone(measure: Callable[[Case], Json], case: Case) -> Json:
    """Measure in a process of its own, so that memory and warm caches are its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure, case).result()


def percent(share: float) -> str:
    """A gap as a cell.

    >>> percent(0.0034), percent(0.0), percent(0.123), percent(1.0)
    ('0.34 %', '0', '12 %', '100 %')
    """
    return f"{100 * share:{'.2g' if share < 0.995 else '.4g'}} %" if share > 1e-9 else "0"


def proven(gap: float | None) -> str:
    """What is proven of an answer, as a cell."""
    return f"{percent(gap)} open" if gap else "certified"


def gaps(named: Mapping[str, float], most: int = 8) -> str:
    """Open proofs as a cell: the widest by name, or, where they are many, how many and how wide."""
    if not named:
        return ""
    if len(named) > most:
        return f"{len(named)} of {percent(min(named.values()))} to {percent(max(named.values()))}"
    return ", ".join(f"{name} {percent(gap)}" for name, gap in sorted(named.items(), key=lambda item: -item[1]))


def _question(case: Case) -> dict[str, Any]:
    return {name: value for name, value in case.items() if name != "limit"}
