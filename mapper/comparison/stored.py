"""The results that a folder holds, read again: stats.json of `ruby-map --out`, results.json of `ruby-sweep --out`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...workloads import Fault, InputError, read_bytes

MOST = 1 << 30  # bytes of a file that is read
STATS, POINTS = "stats.json", "results.json"
TOLD = 10  # faults of one file

Figure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=0, le=10**300)]  # as a float it is finite


class _Part(BaseModel):
    """A JSON object. Keys that are not read are passed over: versions before and after this one have other ones."""

    model_config = ConfigDict(frozen=True, strict=True)


class TensorFigures(_Part):
    """What a level does for a tensor: words over all instances, energy in pJ (None: not known)."""

    reads: Whole
    fills: Whole
    updates: Whole
    tile_words: Whole | None = None
    energy_pj: Figure | None = None


class LevelFigures(_Part):
    """A storage level; `cycles` are those that its bandwidth needs, 0 without one."""

    tensors: dict[str, TensorFigures]
    instances: Whole | None = None
    cycles: Whole = 0
    energy_pj: Figure | None = None


class PartEnergy(_Part):
    """Of the MAC units, or the network, in pJ."""

    energy_pj: Figure | None = None


class IdealFigures(_Part):
    """What no mapping is below, by simple arguments."""

    cycles: Figure | None = None
    energy_pj: Figure | None = None
    edp: Figure | None = None


class Searched(_Part):
    """How a search went."""

    strategy: str | None = None
    ended_by: str | None = None
    evaluated: Whole = 0
    seconds: Figure = 0.0


class PartItem(_Part):
    """What a layer of a part of a plan costs in all its steps, or what moves beside the layers; energies in pJ."""

    component_pj: dict[str, Figure] | None = None


class PlanPart(_Part):
    """A part of a plan; figures are of one execution."""

    layers: list[str]
    operations: list[str]
    count: Annotated[int, Field(ge=1)]
    cycles: Whole
    costs: list[PartItem]


class StoredPlan(_Part):
    """The plan of a network, whose figures are then those of the network."""

    groups: list[PlanPart]


class Stored(_Part):
    """The object of `ruby-map --json`: a layer, or a network with its layers. Costs are None without a mapping."""

    arch: str
    workload: str
    macs: Whole
    cycles: Whole | None
    energy_pj: Figure | None = None
    edp: Figure | None = None
    utilization: Figure | None
    ineffectual_macs: Whole = 0
    transformations: list[str] = []
    mapspace: str | None = None
    objective: str | None = None
    seed: int | None = None
    area_um2: Figure | None = None
    bound_by: str | None = None  # of a layer: what sets its cycles
    optimal: bool | None = None
    gap: Figure | None = None
    lower_bound: Figure | None = None
    alone: Figure | None = None  # of a layer of a network: its own best, where another mapping suits the network
    ideal: IdealFigures | None = None
    count: Annotated[int, Field(ge=1)] = 1  # of a layer of a network: how often it occurs
    missing: Whole = 0  # layers of a network that an interrupted search did not reach
    compute: PartEnergy | None = None
    network: PartEnergy | None = None
    levels: dict[str, LevelFigures] | None = None
    mapping: list[dict[str, Any]] | None = None
    search: Searched | None = None
    layers: list["Stored"] | None = None
    alike: list[str] = []  # of a layer of a network: the names of equal layers, which count with it
    plan: StoredPlan | None = None

    @property
    def found(self) -> bool:
        """Whether there is a mapping, of a network one of each layer."""
        return self.cycles is not None

    def own_layers(self) -> list["Stored"]:
        """The layers of a network; a layer itself."""
        return [self] if self.layers is None else self.layers


class Point(_Part):
    """A point of a sweep; `result` is None where it failed."""

    workload: str
    mapspace: str
    seed: int
    parameters: dict[str, Any]
    status: str
    message: str = ""
    result: Stored | None


class Sweep(_Part):
    """The object of results.json."""

    sweep: str
    points: list[Point]


def read_results(folder: Path) -> Stored | Sweep:
    """Read what a folder holds. Raises InputError: no such files in it, damaged ones, figures of the wrong type."""
    held = [name for name in (STATS, POINTS) if (folder / name).exists()]
    if len(held) != 1:
        raise InputError(Fault(str(folder), None, "", _why_none(folder) if not held else _BOTH))
    path = folder / held[0]
    model: type[Stored] | type[Sweep] = Stored if held == [STATS] else Sweep
    try:
        return model.model_validate_json(read_bytes(path, MOST))
    except ValidationError as error:
        raise InputError(list(_faults(path, error))) from None


_BOTH = f"holds {STATS} and {POINTS}, of a search and of a sweep: which is meant? Move one of them"


def _why_none(folder: Path) -> str:
    """Say why a folder holds no results."""
    if not folder.is_dir():
        return "a folder that ruby-map --out or ruby-sweep --out wrote is expected"
    if any(folder.glob("*.sqlite")):
        return "its run has not ended: give the same command again, ruby-map with --resume"
    return f"holds no {STATS} and no {POINTS}, which ruby-map --out and ruby-sweep --out write"


def _faults(path: Path, error: ValidationError) -> Iterator[Fault]:
    """Yield the first faults of a file."""
    details = error.errors(include_url=False)
    for detail in details[:TOLD]:
        key = ".".join(map(str, detail["loc"]))
        yield Fault(str(path), None, key, f"is not what ruby-map writes: {detail['msg'][:200]}")
    if len(details) > TOLD:
        yield Fault(str(path), None, "", f"and {len(details) - TOLD} more")
