"""The engine `accelergy` runs the program of that name in a folder of its own and reads the tables that it writes.

Classes go to Accelergy as the primitive ones (SRAM, regfile, reg, intmac, DRAM), so its buffers come without the two
address generators that the built-in estimates add.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from ..arch import Architecture, Component, Compute, Storage
from ..workloads import Fault, InputError, read_yaml
from .ert import Areas, Energies, apply_art, apply_ert, blank_table, component_name, read_art, read_ert
from .estimate import CLOCK_NS, NODE_NM, cluster_size, estimate_compute, estimate_level
from .given import GIVEN
from .primitives import COMPUTE, STORAGE
from .spec import EnergyTable
from .store import Entry

PROGRAM = "accelergy"
CONFIG = Path(".config") / "accelergy" / "accelergy_config.yaml"  # in the home
EXPONENTS = {16: 5, 32: 8, 64: 11}  # bits of the exponent of floats (IEEE 754)
TIMEOUT_S = 1800  # CACTI takes seconds for each new memory
AREA = "area_um2"  # of a stored entry, beside the actions
OUTPUTS = ("ERT", "ART", "ERT_summary", "ART_summary")


def _fault(message: str) -> InputError:
    return InputError(Fault(PROGRAM, None, "", message))


def _program() -> str:
    path = shutil.which(PROGRAM)
    if path is None:
        raise _fault(f"no program {PROGRAM} on PATH; use the engine default, or give an ERT file")
    return path


def program_version(program: str) -> str:
    """The version of Accelergy, `0.3` or `0.4`, by the options in its help: no version prints its number.

    Raises InputError for other programs.
    """
    try:
        done = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _fault(f"{program} --help does not run: {error}") from None
    text = done.stdout + done.stderr
    if "--suppress_version_errors" in text:
        return "0.4"
    if "--output_files" in text:
        return "0.3"
    raise _fault(f"{program} is no Accelergy 0.3 or 0.4: its help has no option --output_files")


def _sizes(component: Component) -> dict[str, object]:
    """The attributes of a component in Accelergy's words."""
    if isinstance(component, Storage):
        sizes: dict[str, object] = {"width": component.width_bits, "datawidth": component.word_bits}
        if component.capacity_bits is not None:
            sizes["depth"] = -(-component.capacity_bits * cluster_size(component) // component.width_bits)
            sizes |= {"n_banks": component.banks, "n_rdwr_ports": component.ports, "n_rw_ports": component.ports}
        return sizes
    if not isinstance(component, Compute):
        return {}
    bits = component.word_bits  # `width` is what the Aladdin plug-in asks of integer units, the others of floats
    exponent = EXPONENTS.get(bits, max(2, bits // 4))
    return {"datawidth": bits, "width": bits, "exponent": exponent, "mantissa": bits - exponent}


def _component(component: Component, instances: int, version: str) -> dict[str, object]:
    known = STORAGE if isinstance(component, Storage) else COMPUTE
    clock = component.attribute("clock_ns", CLOCK_NS)
    attributes = _sizes(component) | {
        "technology": f"{component.attribute('technology_nm', NODE_NM):g}nm",
        "latency": f"{clock:g}ns",
    }
    kind = component.attribute("type")
    if kind is not None or known.get(component.cls.lower()) == "DRAM":
        attributes["type"] = kind or "LPDDR4"
    if version == "0.4":
        attributes["global_cycle_seconds"] = float(f"{clock:g}e-9")
    first = 0 if version == "0.3" else 1
    entry: dict[str, object] = {
        "name": component.name if instances == 1 else f"{component.name}[{first}..{instances - 1 + first}]",
        "class": known.get(component.cls.lower(), component.cls),
        "attributes": attributes,
    }
    if version == "0.4":
        access = ["read", "write", "leak"] if isinstance(component, Storage) else ["compute", "leak"]
        entry["required_actions"] = access
    return entry


def description(arch: Architecture, version: str, known: Collection[str] = ()) -> dict[str, Any]:
    """`arch` as Accelergy's input of `version` 0.3 or 0.4.

    Components with figures of their own and those named in `known` are left out.
    Raises InputError for components of a class that `arch` defines: Accelergy takes its classes from elsewhere.
    """
    parts: list[tuple[Component, int]] = [(level, arch.instances(index)) for index, level in enumerate(arch.levels)]
    parts.append((arch.compute, arch.instances(len(arch.levels))))
    asked = [(part, number) for part, number in parts if part.attribute("energy") is None]
    own = {definition.name.value for definition in arch.components}
    ways = "the engine default knows it, or define it among Accelergy's classes"
    refused = [
        Fault(arch.name, None, part.name, f"the class {part.cls} of this architecture is not passed on; {ways}")
        for part, _ in asked
        if part.cls in own
    ]
    if refused:
        raise InputError(refused)
    local = [_component(part, number, version) for part, number in asked if part.name not in known]
    system: dict[str, object] = {"name": "system"}
    if version == "0.4":  # which asks each node for them, though every component has its own
        system["attributes"] = {"technology": f"{NODE_NM:g}nm", "global_cycle_seconds": float(f"{CLOCK_NS:g}e-9")}
    return {"architecture": {"version": float(version), "subtree": [{**system, "local": local}]}}


class _Quoted(yaml.SafeDumper):
    """Writes text in quotes and numbers without: Accelergy 0.4 evaluates a bare word."""


_Quoted.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def quoted(data: object) -> str:
    """`data` as YAML in which all text stands in quotes."""
    return yaml.dump(data, Dumper=_Quoted, sort_keys=False)


def _config(program: str, version: str, folder: Path) -> None:
    """Writes a configuration into `folder`, as parallel first runs of Accelergy race to make the one in the home."""
    path, users = folder / CONFIG, Path.home() / CONFIG
    path.parent.mkdir(parents=True)  # some plug-ins look in the home, which `folder` is; Accelergy where it runs
    path.symlink_to(folder / CONFIG.name)
    if users.is_file():
        shutil.copyfile(users, folder / CONFIG.name)
        return
    share = Path(program).resolve().parent.parent / "share" / "accelergy"
    paths = {
        "version": float(version),
        "estimator_plug_ins": [str(share / "estimation_plug_ins")],
        "primitive_components": [str(share / "primitive_component_libs")],
    }
    (folder / CONFIG.name).write_text(quoted(paths), encoding="utf-8")


def _run(program: str, task: dict[str, Any], folder: Path) -> None:
    """Runs Accelergy on `task`, a `description`, so that its tables stand in `folder`/out.

    Raises InputError with the end of the log where it fails.
    """
    (folder / "arch.yaml").write_text(quoted(task), encoding="utf-8")
    (folder / "out").mkdir()
    log = folder / "log.txt"
    packages = os.environ.get("PYTHONUSERBASE", str(Path.home() / ".local"))  # where pip install --user puts them
    own = {**os.environ, "HOME": str(folder), "PYTHONUSERBASE": packages}
    command = [program, "arch.yaml", "-o", "out", "-p", "6", "-f", *OUTPUTS]
    try:
        with log.open("wb") as file:
            done = subprocess.run(
                command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False, env=own
            )
    except subprocess.TimeoutExpired:
        raise _fault(f"not done after {TIMEOUT_S} s; its log: {log}") from None
    missing = [name for name in OUTPUTS if not (folder / "out" / f"{name}.yaml").is_file()]
    if done.returncode or missing:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
        reasons = [line.split("ERROR")[-1].strip() for line in lines if "Can not find an e" in line]  # ...stimator for
        ending = f"; its last words: {' / '.join(reasons[:1] or lines[-3:])}" if lines else ""
        what = f"exit status {done.returncode}" if done.returncode else f"no {', '.join(missing)} written"
        raise _fault(f"{program}: {what}; its log: {log}{ending}")


def _estimators(value: Any, inside: bool = False) -> Iterator[str]:
    """The names of the estimators in a table of a summary of version 0.3 or 0.4, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _estimators(item, key == "estimator" or key.startswith("primitive_estimation"))
    elif isinstance(value, list):
        for item in value:
            yield from _estimators(item, inside)
    elif inside:
        yield str(value)


def _refuse_dummies(out: Path) -> None:
    """Raise InputError where a component's figures come from a dummy: Accelergy falls back to one and says nothing."""
    faults = []
    for root in ("ERT_summary", "ART_summary"):
        document = read_yaml(out / f"{root}.yaml")
        summary = document.data.get(root) if isinstance(document.data, dict) else None
        tables = summary.get("table_summary") if isinstance(summary, dict) else None
        if not isinstance(tables, list):  # without it a dummy would pass unseen
            raise InputError(document.fault((root,), "a mapping with the list table_summary is expected"))
        for table in tables:
            name = component_name(str(table.get("name"))) if isinstance(table, dict) else "a table without a name"
            dummies = sorted({name for name in _estimators(table) if re.match("dummy", name, re.IGNORECASE)})
            if dummies:
                message = f"no estimator for {name}, only {', '.join(dummies)} ({root})"
                faults.append(Fault(PROGRAM, None, "", message))
    if faults:
        raise InputError(faults)


def _given(arch: Architecture) -> tuple[Energies, Areas]:
    """The figures that the architecture itself gives, by component as in an ERT and an ART."""
    energies: Energies = {}
    areas: Areas = {}
    for level in arch.levels:
        if level.attribute("energy") is not None:
            level_energy = estimate_level(arch, level)
            accesses = {"read": level_energy.read_pj, "write": level_energy.write_pj, "update": level_energy.update_pj}
            energies[component_name(level.name)] = accesses | {"leak": level_energy.leak_pj_per_cycle}
            areas[component_name(level.name)] = level_energy.area_um2
    if arch.compute.attribute("energy") is not None:
        mac = estimate_compute(arch, arch.compute)
        energies[component_name(mac.name)] = {"compute": mac.compute_pj, "leak": mac.leak_pj_per_cycle}
        areas[component_name(mac.name)] = mac.area_um2
    return energies, areas


def _installed(program: str, version: str, folder: Path) -> str:
    """A text that changes with the installation: the program, its configuration and the files that this names.

    Files are compared by size and time: estimators come with large tables.
    """
    config = read_yaml(folder / "accelergy_config.yaml").data
    named = [path for paths in config.values() if isinstance(paths, list) for path in paths]
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode())
    for root in [program, *map(str, named)]:
        for path in sorted({Path(root), *Path(root).rglob("*")}):
            if path.is_file() and path.suffix != ".pyc":
                status = path.stat()
                digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return f"{version} {digest.hexdigest()}"


def _entries(arch: Architecture, version: str, installed: str) -> dict[str, Entry]:
    """The entry of the store for each component, by its name: its name and number are no part of it."""
    entries: dict[str, Entry] = {}
    for part in description(arch, version)["architecture"]["subtree"][0]["local"]:
        attributes = part["attributes"] | {"actions": part.get("required_actions")}
        entries[component_name(part["name"])] = Entry(PROGRAM, installed, part["class"], attributes)
    return entries


def _estimates(program: str, version: str, arch: Architecture, folder: Path) -> tuple[Energies, Areas]:
    """The energies and areas of all components without figures of their own, from the store or else from Accelergy."""
    _config(program, version, folder)
    entries = _entries(arch, version, _installed(program, version, folder))
    stored = {
        name: figures for name, entry in entries.items() if (figures := entry.read()) is not None and AREA in figures
    }
    areas = {name: figures.pop(AREA) for name, figures in stored.items()}
    energies: Energies = dict(stored)
    if len(stored) < len(entries):
        _run(program, description(arch, version, stored), folder)
        _refuse_dummies(folder / "out")
        fresh, sizes = read_ert(folder / "out" / "ERT.yaml"), read_art(folder / "out" / "ART.yaml")
        for name in entries.keys() & fresh.keys() & sizes.keys() - stored.keys():
            entries[name].write(fresh[name] | {AREA: sizes[name]})
        energies, areas = fresh | energies, sizes | areas
    return energies, areas


def accelergy_table(arch: Architecture) -> EnergyTable:
    """The table of an architecture by Accelergy, or by the store; a component's own `energy` wins.

    Raises InputError where the program is not on PATH, is of another version, fails (the message has the end of its
    log and the path of the whole), falls back to a dummy, or leaves a component out.
    """
    program = _program()
    version = program_version(program)
    folder = Path(tempfile.mkdtemp(prefix="accelergy-"))
    out = folder / "out"
    estimated, sizes = _estimates(program, version, arch, folder)
    energies, areas = _given(arch)
    source = f"Accelergy {version}"
    table = apply_ert(blank_table(arch), estimated | energies, out / "ERT.yaml", source)
    table = apply_art(table, sizes | areas, out / "ART.yaml", source)
    shutil.rmtree(folder)  # it stays where anything above failed: the messages point into it
    levels = tuple(
        replace(figures, source=source if level.attribute("energy") is None else GIVEN)
        for figures, level in zip(table.levels, arch.levels, strict=True)
    )
    mac = replace(table.compute, source=source if arch.compute.attribute("energy") is None else GIVEN)
    return replace(table, levels=levels, compute=mac)
