"""Energy and area reference tables (ERT, ART): Accelergy's files, versions 0.2, 0.3 and 0.4."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from ..arch import LARGEST, Architecture
from ..workloads import Document, Fault, InputError, Keys, near, read_yaml, write_whole
from ..workloads.timeloop import TIMELOOP_TAGS
from .spec import ComputeEnergy, EnergyTable, LevelEnergy

VERSIONS = ("0.2", "0.3", "0.4")

# The energy of an access is that of the first of these actions that a table has, in the order in which Timeloop looks
# them up; `access` is the only action of the exercises' registers.
ACTIONS = {
    "read": ("random_read", "read", "access"),
    "fill": ("random_fill", "random_write", "fill", "write", "access"),
    "update": ("random_update", "random_write", "update", "write", "access"),
    "compute": ("mac_random", "mult_random", "mac", "mult", "compute"),
    "leak": ("leak",),
}

ERT_HEADER = "# Written by ruby-energy.\n"  # by which its files are recognised
Energies = dict[str, dict[str, float]]  # component -> action -> pJ
Areas = dict[str, float]  # component -> um^2


def component_name(name: str) -> str:
    """The component that a table speaks of.

    >>> component_name("system.eyeriss.PE[0..167].mac")
    'mac'
    >>> component_name("system_top_level.mac[1..168]")
    'mac'
    """
    return re.sub(r"\[[^\]]*\]", "", name).rpartition(".")[2]


class _Tables:
    """Reads the tables of an ERT or ART in `document` and collects their faults; `done` raises them."""

    def __init__(self, document: Document, root: str):
        self.document, self.root = document, root
        self.faults: list[Fault] = []
        self.first: dict[str, Keys] = {}

    def fault(self, path: Keys, message: str) -> None:
        self.faults.append(self.document.fault(path, message))

    def content(self) -> dict[str, Any]:
        """The mapping below the root key, of a version we read. Raises InputError where there is none."""
        data = self.document.data
        if not isinstance(data, dict) or not isinstance(data.get(self.root), dict):
            raise InputError(self.document.fault((), f"a mapping with the key {self.root} is expected"))
        content: dict[str, Any] = data[self.root]
        version = content.get("version")
        if isinstance(version, bool) or str(version) not in VERSIONS:
            rule = f"the version must be one of {', '.join(VERSIONS)}"
            raise InputError(self.document.fault((self.root, "version"), f"{rule}; got {version!r}"))
        return content

    def rows(self) -> Iterator[tuple[str, Keys, Any]]:
        """Component, path and value of each table: of a list (0.3, 0.4) or of a mapping by name (0.2)."""
        tables, path = self.content().get("tables"), (self.root, "tables")
        if isinstance(tables, dict):
            named = [(name, (*path, name), value) for name, value in tables.items()]
        elif isinstance(tables, list):
            named = []
            for index, value in enumerate(tables):
                if isinstance(value, dict) and isinstance(value.get("name"), str):
                    named.append((value["name"], (*path, index), value))
                else:
                    self.fault((*path, index), "a mapping with a name is expected")
        else:
            raise InputError(self.document.fault(path, "tables must be a list, or a mapping by component"))
        for name, at, value in named:
            component = component_name(name)
            if component in self.first:
                line = self.document.line(self.first[component])
                self.fault(at, f"a second table for {component}, first on line {line}")
                continue
            self.first[component] = at
            yield component, at, value

    def figure(self, path: Keys, holder: Any, name: str) -> float:
        """The number `name` of the mapping `holder`: finite, from 0."""
        value = holder.get(name) if isinstance(holder, dict) else holder
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(path, f"{name} must be a number, got {value!r}" if value is not None else f"{name} is missing")
            return math.nan
        if not 0 <= value <= LARGEST:
            self.fault((*path, name), f"{name} must be from 0 to {LARGEST:g}, got {value!r}")
        return float(value)

    def done(self) -> None:
        if self.faults:
            raise InputError(self.faults)


def _actions(value: Any) -> Iterator[tuple[Any, tuple[str | int, ...], Any]]:
    """Action name, path below the table, and holder of `energy`, for every row of a table of any version."""
    actions = value.get("actions", value) if isinstance(value, dict) else None
    if isinstance(actions, list):
        for index, row in enumerate(actions):
            yield (row.get("name") if isinstance(row, dict) else None), ("actions", index), row
    elif isinstance(actions, dict):
        above = ("actions",) if actions is not value else ()
        for name, rows in actions.items():
            if isinstance(rows, list):
                for index, row in enumerate(rows):
                    yield name, (*above, name, index), row
            else:
                yield name, (*above, name), rows
    else:
        yield None, (), value


def read_ert(path: Path | str) -> Energies:
    """The energies of an ERT file: of an action with several rows of arguments, the maximum.

    Raises InputError for what is no ERT of version 0.2 to 0.4, and for energies that are missing, negative or not
    finite.
    """
    tables = _Tables(read_yaml(path, tags=TIMELOOP_TAGS), "ERT")
    energies: Energies = {}
    for component, at, value in tables.rows():
        actions = energies.setdefault(component, {})
        for name, below, holder in _actions(value):
            if not isinstance(name, str):
                tables.fault((*at, *below), "actions with a name and an energy are expected")
                continue
            energy = tables.figure((*at, *below), holder, "energy")
            actions[name] = max(actions.get(name, 0.0), energy)
    tables.done()
    return energies


def has_art(path: Path | str) -> bool:
    """Whether the file has areas too: an ERT and an ART often share one file."""
    data = read_yaml(path, tags=TIMELOOP_TAGS).data
    return isinstance(data, dict) and "ART" in data


def read_art(path: Path | str) -> Areas:
    """The areas of an ART file. Raises InputError as `read_ert`."""
    tables = _Tables(read_yaml(path, tags=TIMELOOP_TAGS), "ART")
    areas = {component: tables.figure(at, value, "area") for component, at, value in tables.rows()}
    tables.done()
    return areas


def blank_table(arch: Architecture) -> EnergyTable:
    """The names of an architecture's components without a figure: what an ERT and an ART are applied to."""
    levels = tuple(LevelEnergy(level.name, 0.0, 0.0, 0.0, 0.0, 0.0, "") for level in arch.levels)
    return EnergyTable(arch.name, levels, ComputeEnergy(arch.compute.name, 0.0, 0.0, 0.0, ""))


def _missing(names: Sequence[str], known: Collection[str], path: Path | str, root: str) -> None:
    """Raise InputError where `known`, the tables of a file, lacks one of the architecture's `names`."""
    absent = [name for name in names if component_name(name) not in known]
    it_has = f"it has {', '.join(known) or 'nothing'}"
    if 2 * len(absent) > len(names):  # most machines have a DRAM in common
        messages = [f"this {root} is for another architecture: {it_has}; no table for {', '.join(absent)}"]
    else:
        messages = [f"no table for {name}{near(name, known) or '; ' + it_has}" for name in absent]
    if absent:
        raise InputError(Fault(str(path), None, f"{root}.tables", message) for message in messages)


def apply_ert(table: EnergyTable, energies: Energies, path: Path | str, source: str) -> EnergyTable:
    """`table` with the energies of an ERT; areas stay. An ERT without leakage says that there is none.

    Raises InputError, with `path` as the place, for each component or action that the ERT lacks.
    """
    names = [level.name for level in table.levels] + [table.compute.name]
    _missing(names, energies, path, "ERT")
    faults: list[Fault] = []

    def energy(component: str, access: str) -> float:
        actions = energies[component_name(component)]
        action = next((action for action in ACTIONS[access] if action in actions), None)
        if action is None and access != "leak":
            rule = f"{component} needs one of the actions {', '.join(ACTIONS[access])}"
            faults.append(Fault(str(path), None, "ERT.tables", f"{rule}; it has {', '.join(actions) or 'none'}"))
        return 0.0 if action is None else actions[action]

    levels = tuple(
        replace(
            level,
            read_pj=energy(level.name, "read"),
            write_pj=energy(level.name, "fill"),
            update_pj=energy(level.name, "update"),
            leak_pj_per_cycle=energy(level.name, "leak"),
            source=_joined(source, level),
        )
        for level in table.levels
    )
    mac = table.compute.name
    compute = replace(
        table.compute,
        compute_pj=energy(mac, "compute"),
        by_bits=None,
        leak_pj_per_cycle=energy(mac, "leak"),
        source=_joined(source, table.compute),
    )
    if faults:
        raise InputError(faults)
    return EnergyTable(table.arch, levels, compute)


def _joined(source: str, component: LevelEnergy | ComputeEnergy) -> str:
    return f"{source}; area: {component.source or 'unknown, taken as 0'}"


def apply_art(
    table: EnergyTable, areas: Areas, path: Path | str, source: str, energies: str | None = None
) -> EnergyTable:
    """`table` with the areas of an ART. `energies` is the source of all energies; None: what each component says.

    Raises InputError, with `path` as the place, for each component that the ART lacks.
    """
    _missing([level.name for level in table.levels] + [table.compute.name], areas, path, "ART")

    def area[T: (LevelEnergy, ComputeEnergy)](component: T) -> T:
        both = f"{energies or component.source}; area: {source}"
        return replace(component, area_um2=areas[component_name(component.name)], source=both)

    return EnergyTable(table.arch, tuple(map(area, table.levels)), area(table.compute))


def _write(path: Path | str, data: object) -> None:
    """YAML at `path`, whole or not at all. Raises InputError where it cannot be written."""
    write_whole(Path(path), ERT_HEADER + yaml.safe_dump(data, sort_keys=False))


def _top(name: str) -> str:
    return f"system_top_level.{name}"


def write_ert(table: EnergyTable, path: Path | str) -> None:
    """The energies of `table` as an ERT file of version 0.4, which `read_ert` and Timeloop read."""

    def row(component: str, **energies: float) -> dict[str, object]:
        actions = [{"name": name, "arguments": {}, "energy": energy} for name, energy in energies.items()]
        return {"name": _top(component), "actions": actions}

    tables = [
        row(level.name, read=level.read_pj, write=level.write_pj, update=level.update_pj, leak=level.leak_pj_per_cycle)
        for level in table.levels
    ]
    mac = table.compute
    tables.append(row(mac.name, compute=mac.compute_pj, leak=mac.leak_pj_per_cycle))
    _write(path, {"ERT": {"version": "0.4", "tables": tables}})


def write_art(table: EnergyTable, path: Path | str) -> None:
    """The areas of `table` as an ART file of version 0.4."""
    parts: list[LevelEnergy | ComputeEnergy] = [*table.levels, table.compute]
    tables = [{"name": _top(part.name), "area": part.area_um2} for part in parts]
    _write(path, {"ART": {"version": "0.4", "tables": tables}})
