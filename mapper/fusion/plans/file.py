"""A group as a file: what `ruby-map --group` writes and `ruby-model` counts; read.py reads its mappings."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from ....arch import Architecture
from ....workloads import Document, Fault, InputError, Keys, Network, Section, Workload, check, collect, near
from ..build import stages_of
from ..group import GROUP, RETAIN, STAGE, Group
from ..machine import Standing

ROOT = "group"  # the key by which a file is one of a group
Name = Annotated[str, Field(min_length=1)]
# keys of the object of `ruby-map --group --json` that a plan passes over: what they say is counted anew
FIGURES: Mapping[str, frozenset[str]] = {
    "": frozenset(
        (
            *("arch", "mapspace", "objective", "seed", "edp", "energy_pj", "cycles", "optimal", "lower_bound", "gap"),
            *("alone", "saved", "verdict", "outer_words", "transfers", "operators", "search"),
        )
    ),
    ROOT: frozenset(("held_words",)),
    "layers": frozenset(("steps", "energy_pj", "cycles", "nest")),
}


class GroupShape(Section):
    """How the layers are executed together."""

    stages: tuple[Name, ...] = Field(min_length=1)
    shared: tuple[tuple[Name, Annotated[int, Field(ge=1)]], ...] = ()
    halo: dict[Name, Literal["retain", "recompute"]] = {}
    life: dict[Name, Name] = {}


class PlanGroup(GroupShape):
    """The same, in a memory."""

    keeper: Name


class PlanLayer(Section):
    """The mapping of a stage in the steps in which it has these sizes."""

    sizes: dict[Name, Annotated[int, Field(ge=1)]] | None = None
    accumulates: bool | None = None
    mapping: tuple[Any, ...]


class PlanStage(Section):
    """The mappings of a stage."""

    name: Name
    layers: tuple[PlanLayer, ...] = Field(min_length=1)


class PlanFile(Section):
    """A group and the mappings of its stages."""

    group: PlanGroup
    stages: tuple[PlanStage, ...]


def is_plan(document: Document) -> bool:
    """Whether a file has a group."""
    return isinstance(document.data, dict) and ROOT in document.data


def read_group(document: Document, network: Network, arch: Architecture) -> tuple[Document, PlanFile, Group]:
    """Read a group of layers of a network, without the mappings; returns also what was read, without figures.

    Raises InputError with every fault, each with its line.
    """
    document = replace(document, data=_without_figures(document.data))
    file = check(document, PlanFile)
    keeper = file.group.keeper
    faults = list(keeper_faults(document, (ROOT, "keeper"), keeper, arch))
    group = collect(faults, lambda: shaped_group(document, file.group, keeper, network))
    if group is None or faults:
        raise InputError(faults)
    if faults := group_faults(document, group, arch, (ROOT, "keeper")):
        raise InputError(faults)
    return document, file, group


def keeper_faults(document: Document, at: Keys, keeper: str, arch: Architecture) -> Iterator[Fault]:
    """Yield what is wrong with the name of a keeper: it must be that of a memory inside the outermost."""
    levels = [level.name for level in arch.levels[1:]]
    if keeper not in levels:
        rule = f'no memory "{keeper}" inside {arch.levels[0].name}{near(keeper, levels)}'
        yield document.fault(at, f"{rule}; there are {', '.join(levels)}")


def _without_figures(data: Any) -> Any:
    """Return the data of a file without the figures of a result."""
    data = _less(data, FIGURES[""])
    data[ROOT] = _less(data[ROOT], FIGURES[ROOT])
    if isinstance(data.get("stages"), list):
        data["stages"] = [_without_layer_figures(stage) for stage in data["stages"]]
    return data


def _without_layer_figures(stage: Any) -> Any:
    if not isinstance(stage, dict) or not isinstance(stage.get("layers"), list):
        return stage
    return stage | {"layers": [_less(layer, FIGURES["layers"]) for layer in stage["layers"]]}


def _less(entry: Any, keys: frozenset[str]) -> Any:
    """Return an entry without some keys; what is no mapping stays as it is."""
    return {key: value for key, value in entry.items() if key not in keys} if isinstance(entry, dict) else entry


def shaped_group(document: Document, shape: GroupShape, keeper: str, network: Network) -> Group:
    """Make the group that stands at the key `group` of a document. Raises InputError with every fault.

    Whether a machine can execute it is for `group_faults`.
    """
    stages, links = stages_of(network, shape.stages, lambda message: document.fault((ROOT, "stages"), message))
    names, faults = [stage.name for stage in stages], list[Fault]()
    if names != list(shape.stages):
        rule = f"must be in the order of the network, {', '.join(names)}"
        faults.append(document.fault((ROOT, "stages"), rule))
    faults += _loop_faults(document, shape, stages[-1])
    kept = _kept(document, shape, Group(stages, links, keeper), faults)
    if faults:
        raise InputError(faults)
    retained = frozenset(dim for dim, rule in shape.halo.items() if rule == RETAIN)
    return Group(stages, links, keeper, shape.shared, retained, kept)


def _loop_faults(document: Document, group: GroupShape, last: Workload) -> list[Fault]:
    """List what is wrong with the shared loops and the dims of halos."""
    faults, shared = [], [dim for dim, _ in group.shared]
    for i, (dim, tile) in enumerate(group.shared):
        at = (ROOT, "shared", i)
        if dim not in last.dims:
            rule = f'no dim "{dim}" of {last.name}, the last stage{near(dim, last.dims)}'
            faults.append(document.fault(at, f"{rule}; it has {', '.join(last.dims)}"))
        elif tile > last.size(dim):
            faults.append(
                document.fault(at, f"the tile must be at most the size of {dim}, {last.size(dim)}; got {tile}")
            )
        if dim in shared[:i]:
            faults.append(document.fault(at, f"a second loop over {dim}"))
    for dim in group.halo:
        if dim not in shared:
            known = f"; there are {', '.join(shared)}" if shared else ""
            faults.append(document.fault((ROOT, "halo", dim), f"no shared loop over {dim}{known}"))
    return faults


def _kept(
    document: Document, group: GroupShape, plain: Group, faults: list[Fault]
) -> tuple[tuple[tuple[int, str], int], ...]:
    """Read which tensors stay, and inside how many loops; adds to `faults`."""
    own = {f"{stage.name}.{tensor.name}": (number, tensor.name)
           for number, stage in enumerate(plain.stages) for tensor in stage.tensors}  # fmt: skip
    free = [name for name, key in own.items() if not plain.intermediate(*key)]
    shared, kept = [dim for dim, _ in group.shared], list[tuple[tuple[int, str], int]]()
    for name, life in group.life.items():
        at = (ROOT, "life", name)
        if name not in own:
            faults.append(document.fault(at, f'no tensor "{name}"{near(name, free)}; there are {", ".join(free)}'))
        elif name not in free:
            faults.append(document.fault(at, "is between stages: it stays as long as it is needed"))
        elif life not in (STAGE, GROUP, *shared):
            words = ", ".join((STAGE, GROUP, *shared))
            faults.append(document.fault(at, f'must be one of {words}; got "{life}"{near(life, [STAGE, GROUP])}'))
        elif life != STAGE:
            kept.append((own[name], 0 if life == GROUP else shared.index(life) + 1))
    return tuple(sorted(kept))


def group_faults(document: Document, group: Group, arch: Architecture, at_keeper: Keys) -> list[Fault]:
    """List why no group has these loops, and what the keeper may not have of what stays in it."""
    faults, standing = [], Standing(group, arch)
    plain = replace(group, kept=())
    for stage in range(len(group.stages)):
        try:
            arch.with_resident(standing.level, plain.resident(stage))
        except ValueError as error:
            faults.append(document.fault(at_keeper, str(error)))
            continue
        try:
            arch.with_resident(standing.level, group.resident(stage))
        except ValueError as error:
            faults.append(document.fault((ROOT, "life"), str(error)))
    try:
        assert standing.boxes, "a group has stages"
    except ValueError as error:
        faults.append(document.fault((ROOT, "shared"), str(error)))
    return list(dict.fromkeys(faults))
