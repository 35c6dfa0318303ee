"""Claim: published Timeloop design sets run as they are, or are refused by name.

    python experiments/design_sets.py FOLDER [--ignore-sparsity]

FOLDER holds clones of public repositories, of which nothing is kept here. A set is an architecture file; a problem, in
the file itself or the nearest one in the folders around; each of the constraint files and of the mappings beside it in
turn; the mapper file beside it. It runs with `ruby-model` where there is a mapping, else with `ruby-map` for a second.
Sets with sparse optimizations or densities are counted apart. Recorded are counts by outcome, and the first fault of
each set that does not run.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from common import arguments, tell, write
from joblib import Parallel, delayed

KEY = re.compile(r"^([A-Za-z_][\w-]*)\s*:", re.M)
CONSTRAINTS = {"constraints", "architecture_constraints", "mapspace_constraints", "arch_constraints", "mapspace"}
ROLES = {"problem": {"problem"}, "mapping": {"mapping"}, "mapper": {"mapper"}, "constraints": CONSTRAINTS}
SECONDS = 60.0
OUTCOMES = {0: "runs", 1: "nothing valid", 2: "refused"}


@dataclass(frozen=True)
class Design:
    """An architecture and the files read with it."""

    repository: Path
    arch: Path
    problem: Path | None = None
    mapping: Path | None = None
    more: tuple[Path, ...] = ()
    sparse: bool = False
    extra: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """The command that runs it."""
        problem = self.problem or self.arch
        tool = Path(sys.executable).parent / ("ruby-model" if self.mapping else "ruby-map")
        words = [tool, self.arch, problem, *([self.mapping] if self.mapping else [])]
        words += [word for path in self.more for word in ("--with", path)]
        if not self.mapping:
            words += ["--time-limit", "1", "--jobs", "1"]
        return [*map(str, words), *self.extra]


def roots(path: Path) -> set[str]:
    """The root keys of a YAML file, templates included."""
    return {key.replace("-", "_") for key in KEY.findall(path.read_text(errors="replace"))}


def distance(one: Path, other: Path) -> int:
    """Steps from the folder of one file to that of another."""
    a, b = one.parent.parts, other.parent.parts
    common = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return len(a) + len(b) - 2 * common


def beside(arch: Path, path: Path, role: str) -> bool:
    """Whether a file stands in the folder of an architecture, or in one beside it that is named after its role."""
    return path.parent == arch.parent or (
        distance(arch, path) == 2 and path.parent.parent == arch.parent.parent and path.parent.name.startswith(role[:3])
    )


def designs(repository: Path) -> Iterator[Design]:
    """The design sets of a clone."""
    files = sorted(path for path in repository.rglob("*.y*ml") if ".git" not in path.parts and path.is_file())
    keys = {path: roots(path) for path in files}
    by_role = defaultdict[str, list[Path]](list)
    for path in files:
        own = keys[path]
        for role, known in ROLES.items():
            if own & {"architecture", "arch"} or (role != "problem" and "problem" in own):
                continue
            if own & known and not (role == "mapper" and own & CONSTRAINTS):
                by_role[role].append(path)
    for arch in files:
        if not keys[arch] & {"architecture", "arch"} or arch.name.endswith("flattened_architecture.yaml"):
            continue
        text = arch.read_text(errors="replace")
        sparse = "sparse_optimizations" in text or "densit" in text
        if "problem" in keys[arch]:
            mapping = arch if "mapping" in keys[arch] and "mapper" not in keys[arch] else None
            yield Design(repository, arch, None, mapping, (), sparse)
            continue
        near = {role: sorted(paths, key=lambda path: distance(arch, path)) for role, paths in by_role.items()}
        problem = next(iter(near.get("problem", [])), None)
        if problem is None:
            continue
        close = {role: [path for path in paths if beside(arch, path, role)] for role, paths in near.items()}
        mapper = tuple(close.get("mapper", [])[:1])
        sparse = sparse or "densit" in problem.read_text(errors="replace")
        own_mapping = [arch] if "mapping" in keys[arch] else close.get("mapping", [])
        for mapping in own_mapping or [None]:
            if mapping is not None:
                yield Design(repository, arch, problem, mapping, (), sparse)
            else:
                for constraints in close.get("constraints", []) or [None]:
                    more = (*mapper, *([constraints] if constraints else []))
                    yield Design(repository, arch, problem, None, more, sparse)


def outcome(design: Design) -> dict[str, object]:
    """Run a set: its status, and the first of its faults."""
    try:
        done = subprocess.run(design.command(), capture_output=True, text=True, timeout=SECONDS, check=False)
        status, said = done.returncode, [line for line in done.stderr.splitlines() if line.strip()]
    except subprocess.TimeoutExpired:
        status, said = 124, [f"not done after {SECONDS} s"]
    faults = [line for line in said if not line.startswith(("warning:", "note:"))] if status else []
    return {
        "set": str(design.arch.relative_to(design.repository)),
        "repository": design.repository.name,
        "kind": "sparse" if design.sparse else "dense",
        "outcome": OUTCOMES.get(status, "fails"),
        "fault": re.sub(r"\S*/", "", faults[0])[:200] if faults else "",
    }


def options(parser: argparse.ArgumentParser) -> None:
    """The folder of clones, and whether the dense part of sparse designs is run."""
    parser.add_argument("folder", type=Path, help="a folder of clones")
    parser.add_argument("--ignore-sparsity", action="store_true", help="as of ruby-map")


def main() -> None:
    given = arguments(__doc__ or "", more=options)
    extra = ("--ignore-sparsity",) if given.ignore_sparsity else ()
    clones = [clone for clone in sorted(given.folder.iterdir()) if clone.is_dir()]
    all_designs = [replace(design, extra=extra) for clone in clones for design in designs(clone)]
    rows = Parallel(n_jobs=2)(delayed(outcome)(design) for design in all_designs)
    table = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        table[f"{row['repository']}, {row['kind']}"][row["outcome"]] += 1
    for name, counts in table.items():
        tell(f"{name}: " + ", ".join(f"{number} {what}" for what, number in counts.most_common()))
    refused = [row for row in rows if row["fault"]]
    write(__file__, given.out, {"counts": table, "ignore_sparsity": given.ignore_sparsity, "refused": refused})


if __name__ == "__main__":
    main()
