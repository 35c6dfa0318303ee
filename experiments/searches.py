"""What the experiments on networks search, layer by layer, in parallel, each result kept on disk.

A task is one layer in one mapspace: many random searches, each with a seed of its own, or one with proof.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import ruby_map.arch
import ruby_map.energy
import ruby_map.mapper
import ruby_map.workloads
from joblib import Parallel, delayed
from ruby_map.arch import Architecture, load_arch
from ruby_map.energy import EnergyTable, energy_table
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.exploration import equal_layers
from ruby_map.workloads import Network, load_workload

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HERE = Path(__file__).parent
STORE = "searches"  # folder of what has been searched, in that of the results; ignored by git
VICTORY = 3000  # valid mappings in a row without improvement that end a random search
PROOF_SECONDS = 300.0  # for the proof of one layer; most need a few, on a core of their own
COLUMNS = ("energy_pj", "cycles", "utilization", "lower_bound")
PARTS = (ruby_map.workloads, ruby_map.arch, ruby_map.energy, ruby_map.mapper)

Json = dict[str, Any]
Measure = Literal["edp", "energy", "delay"]


@dataclass(frozen=True)
class Task:
    """All searches of one layer in one mapspace."""

    machine: str  # a name of the library, or of a file in this folder
    layer: str
    mapspace: str  # a preset, or PRESET+pad
    searches: int  # at random, seeds 0, 1...; 0: one, with proof
    objective: Measure = "edp"
    variables: tuple[tuple[str, int], ...] = ()  # of the machine


def jobs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=2, help="processes; the results do not depend on it")


def layers_of(network: str, quick: Iterable[str] = ()) -> dict[str, int]:
    """The layers of a network of the library, all or those of `quick`, of equal ones the first, with their counts."""
    loaded, only = load_workload(network), set(quick)
    assert isinstance(loaded, Network)
    groups = [[loaded.layers[number] for number in group] for group in equal_layers([own for own, _ in loaded.layers])]
    counts = {group[0][0].name: sum(count for _, count in group) for group in groups}
    return {f"{network}/{name}": count for name, count in counts.items() if not only or name in only}


def edition() -> str:
    """A digest of the sources that results depend on, so that none of another edition is ever taken for one of this."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    files = [path for part in PARTS for path in Path(part.__file__ or "").parent.rglob("*")]
    files = [path for path in files if path.suffix in (".py", ".yaml", ".csv")]
    for path in sorted([*files, *HERE.rglob("*.yaml")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@lru_cache(maxsize=4)
def machine_of(name: str, variables: tuple[tuple[str, int], ...]) -> tuple[Architecture, EnergyTable]:
    """The machine and its energies, which its layers share."""
    arch = load_arch(str(HERE / name) if name.endswith(".yaml") else name, dict(variables))
    return arch, energy_table(arch)


def search(task: Task) -> Json:
    """The searches of one task: COLUMNS, each a list by search. Raises RuntimeError where nothing valid is found."""
    arch, table = machine_of(task.machine, task.variables)
    mapspace, _, pad = task.mapspace.partition("+")
    every = [
        SearchOptions(strategy="random", objective=task.objective, victory=VICTORY, seed=seed)
        for seed in range(task.searches)
    ]
    every = every or [SearchOptions("optimal", task.objective, time_limit=PROOF_SECONDS)]
    outcomes = [explore(arch, task.layer, mapspace, options, pad=bool(pad), table=table) for options in every]
    results = [one for one in outcomes if isinstance(one, Result) and one.found]
    if len(results) < len(every):
        raise RuntimeError(f"no valid mapping of {task.layer} on {task.machine} {task.variables}, {task.mapspace}")
    return {name: [getattr(one, name) for one in results] for name in COLUMNS} | {"area_um2": results[0].area_um2}


def done(path: Path) -> list[Any]:
    """What the lines of a file say, which may be appended to; half a line, which a killed run may leave, is cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    lines = [line for line in lines if line.endswith("\n")]
    path.write_text("".join(lines), encoding="utf-8")
    return [json.loads(line) for line in lines]


def run(tasks: Iterable[Task], out: Path, name: str, jobs: int = 2) -> dict[Task, Json]:
    """The searches of all tasks, as `kept` keeps them."""
    return kept(search, tasks, out, name, jobs)


def kept[T: "DataclassInstance"](
    work: Callable[[T], Json], tasks: Iterable[T], out: Path, name: str, jobs: int = 2
) -> dict[T, Json]:
    """What `work` makes of each task; it is kept in OUT/searches once done, so that a killed run goes on from there."""
    path = out / STORE / f"{name}-{edition()}.jsonl"
    keys = {json.dumps(asdict(task)): task for task in tasks}
    known = dict(done(path))
    missing = [key for key in keys if key not in known]
    with path.open("a", encoding="utf-8") as file:
        results = Parallel(n_jobs=jobs, return_as="generator")(delayed(work)(keys[key]) for key in missing)
        for key, outcome in zip(missing, results, strict=True):
            file.write(json.dumps([key, outcome]) + "\n")
            file.flush()
            known[key] = outcome
    return {task: known[key] for key, task in keys.items()}
