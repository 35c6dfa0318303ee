"""Claim: the default answer is certified for most layers within its ten seconds, near-optimal for all, and never wrong.

The measured tables of docs/optimal.md, section 6: whole networks by the default search, on the library's machines too,
proofs of ResNet-50 in every mapspace, other machines and the largest mapspaces, uneven placement, evolution alone, time
limits on hard problems, layers beside Timeloop. Each measurement is a run in a process of its own, and a line of
OUT/default_answers.jsonl as it ends; what stands there is not run again, so that the full size, many CPU-hours, can be
run in pieces, also by several processes (`--part 1/2` and `--part 2/2`). Lines hold for the sources that measured them;
other sources begin anew.

"Best known" is the least EDP that any line has of the problem, in a mapspace inside it too. A lower bound above it is a
contradiction: it is told, and the exit status is 1. Times depend on the machine.
"""

import argparse
import sys
import traceback

from answers import evolution, golden, library, limits, machines, networks, proofs, spaces, timeloop, uneven
from answers.measurements import Case, Size, Store, Table, alone, stands
from common import Result, arguments, tell, write

TABLES = {
    module.TABLE.name: module.TABLE
    for module in (networks, library, proofs, machines, spaces, uneven, evolution, limits, timeloop, golden)
}  # in the order of the page


def main() -> None:
    options = arguments(__doc__, more=_more)
    tables, size = [TABLES[name] for name in options.tables], Size(options.quick, options.limit)
    store = Store(options.out / "default_answers.jsonl", options.any_edition)
    part, parts = options.part
    todo = [(table, case) for table in tables for case in table.cases(size)][part - 1 :: parts]
    failed = [] if options.print_only else [case for table, case in todo if not _measured(store, table, case)]
    result, text = summary(store, tables, size)
    write(__file__, options.out, result)
    (options.out / "default_answers.md").write_text(text, encoding="utf-8")
    tell(text)
    for wrong in result["contradictions"]:
        tell(f"contradiction: {wrong}")
    for case in failed:
        tell(f"failed: {case}")
    sys.exit(bool(result["contradictions"] or failed))


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", type=_names, default=list(TABLES), help=f"some of {','.join(TABLES)}")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each proof, at most")
    parser.add_argument("--part", type=_part, default=(1, 1), help="I/N: every N-th run from the I-th on")
    parser.add_argument("--any-edition", action="store_true", help="take lines that other sources measured, too")
    parser.add_argument("--print-only", action="store_true", help="the tables of what has been measured")


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in TABLES]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; the tables are {', '.join(TABLES)}")
    return names


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"must be I/N with I from 1 to N, as 1/2; got {text}")
    return int(part), int(parts)


def _measured(store: Store, table: Table, case: Case) -> bool:
    """Measure a case unless a line stands for it; False where that fails, which ends no other measurement."""
    if stands(store.line_of(table.name, case), case):
        return True
    try:
        measurement = alone(table.measure, case)
    except Exception:  # told at once and at the end; the next run tries it again
        traceback.print_exc()
        return False
    store.append(table.name, case, measurement)
    tell(f"{table.name}: {', '.join(str(value) for value in case.values())}")
    return True


def summary(store: Store, tables: list[Table], size: Size) -> tuple[Result, str]:
    """The tables of what has been measured, as figures and as markdown."""
    known = store.known()
    result: Result = {"edition": store.edition, "tables": {}, "contradictions": known.contradictions()}
    texts = []
    for table in tables:
        every = [store.line_of(table.name, case) for case in table.cases(size)]
        lines = [line for line in every if line is not None]
        rows = table.rows(lines, known)
        result["tables"][table.name] = {"measured": len(lines), "of": len(every), "rows": rows}
        note = f"\nMeasured so far: {len(lines)} of {len(every)}.\n" if len(lines) < len(every) else ""
        texts.append(table.markdown(rows) + note)
    return result, "\n".join(texts)


if __name__ == "__main__":
    main()
