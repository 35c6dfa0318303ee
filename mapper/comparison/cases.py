"""The results of a folder as cases, one of a search and one per point of a sweep; two folders matched case by case."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...workloads import Fault, InputError
from .stored import Stored, Sweep, read_results

OTHERS = (MACS, NETWORK, LEAKAGE) = ("MACs", "network", "leakage")  # beside the levels


@dataclass(frozen=True)
class Case:
    """A layer or a network that was searched; `result` is None where the point of a sweep failed."""

    workload: str
    result: Stored | None
    mapspace: str = ""
    seed: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""

    def values(self) -> dict[str, str]:
        """What tells cases apart, by name."""
        parameters = {name: json.dumps(value) for name, value in self.parameters.items()}
        return {"workload": self.workload, "mapspace": self.mapspace, "seed": self.seed} | parameters

    @property
    def found(self) -> bool:
        """Whether there is a mapping."""
        return self.result is not None and self.result.found


@dataclass(frozen=True)
class Results:
    """What a folder holds."""

    path: Path
    name: str  # of the sweep, or the workload
    cases: tuple[Case, ...]
    label: str = ""  # of the user's; else the path stands for it

    @property
    def title(self) -> str:
        """What the folder is called where both are shown."""
        return self.label or str(self.path)

    @property
    def results(self) -> list[Stored]:
        """The results of the cases that have one."""
        return [case.result for case in self.cases if case.result is not None]


def read_folder(path: Path) -> Results:
    """Read a folder. Raises InputError where it holds no results, or nothing that was searched."""
    held = read_results(path)
    if isinstance(held, Sweep):
        if not held.points:
            raise InputError(Fault(str(path), None, "", "the sweep in it has no point"))
        cases = [
            Case(point.workload, point.result, point.mapspace, str(point.seed), point.parameters, point.message)
            for point in held.points
        ]
        return Results(path, held.sweep, tuple(cases))
    seed = "" if held.seed is None else str(held.seed)
    return Results(path, held.workload, (Case(held.workload, held, held.mapspace or "", seed),))


@dataclass(frozen=True)
class LayerPair:
    """A layer as each side maps it; of one folder alone a tuple of one."""

    name: str
    sides: tuple[Stored, ...]


@dataclass(frozen=True)
class CasePair:
    """A case of each side that are the same but for what the folders differ in; of one folder alone a tuple of one."""

    label: str  # what tells it from the other cases; "" where there is one
    sides: tuple[Case, ...]
    layers: tuple[LayerPair, ...]
    left_out: tuple[str, ...]  # layers that a side alone has, with the side's letter

    @property
    def found(self) -> bool:
        """Whether each side has a mapping."""
        return all(case.found for case in self.sides)

    @property
    def comparable(self) -> bool:
        """Whether each side has a mapping, and of the same layers."""
        return self.found and not self.left_out

    @property
    def parts(self) -> list[dict[str, float]]:
        """The energy of each side by part, of the layers that all sides have a mapping of."""
        layers = [layer for layer in self.layers if all(side.found for side in layer.sides)]
        return [summed_parts(layer.sides[side] for layer in layers) for side in range(len(self.sides))]

    @property
    def results(self) -> list[Stored]:
        """The result of each side. Raises ValueError where one has none."""
        results = [case.result for case in self.sides if case.result is not None]
        if len(results) < len(self.sides):
            raise ValueError(f"{self.label}: a side has no result")
        return results


@dataclass(frozen=True)
class Matched:
    """One or two folders, case by case."""

    folders: tuple[Results, ...]
    pairs: tuple[CasePair, ...]
    left_out: tuple[str, ...]  # cases that a side alone has, with the side's letter

    @property
    def letters(self) -> str:
        """A letter for each side."""
        return "AB"[: len(self.folders)]


def matched(folders: Sequence[Results]) -> Matched:
    """Match one or two folders.

    Cases match by their parameters, workload, mapspace and seed; what has one value in each folder, such as the
    mapspace of two searches, need not be equal. Layers match by name and MACs. Raises InputError where no case, or no
    layer of the cases, is in both.
    """
    names = _telling(folders)
    keys = [dict(_keyed(folder.cases, names)) for folder in folders]
    shared = {key: None for key in keys[0] if all(key in other for other in keys)}  # in the order of the first
    left_out = [
        _label(key, letter) for letter, own in zip("AB", keys, strict=False) for key in own if key not in shared
    ]
    if not shared:
        rule = f"no point of one folder is in the other: {'; '.join(left_out[:6])}"
        raise InputError(Fault(str(folders[-1].path), None, "", rule))
    pairs = tuple(_pair(_label(key), tuple(own[key] for own in keys)) for key in shared)
    if all(pair.found and not pair.layers for pair in pairs):
        what = "; ".join(pairs[0].left_out[:6])
        raise InputError(Fault(str(folders[-1].path), None, "", f"no layer of one folder is in the other: {what}"))
    return Matched(tuple(folders), pairs, tuple(left_out))


Key = tuple[tuple[str, str], ...]  # names and values


def _telling(folders: Sequence[Results]) -> list[str]:
    """The names whose values tell cases apart in a folder, in the order of the cases."""
    names = dict[str, None]()
    for folder in folders:
        for name in dict.fromkeys(name for case in folder.cases for name in case.values()):
            if len({case.values().get(name) for case in folder.cases}) > 1:
                names[name] = None
    return list(names)


def _keyed(cases: Sequence[Case], names: Sequence[str]) -> Iterator[tuple[Key, Case]]:
    """Yield each case by its values of `names`, and its number where others have the same."""
    seen = Counter[Key]()
    for case in cases:
        values = case.values()
        key = tuple((name, values[name]) for name in names if name in values)
        seen[key] += 1
        yield key if seen[key] == 1 else (*key, ("number", str(seen[key]))), case


def _label(key: Key, letter: str = "") -> str:
    """Name a case by what tells it apart, parameters by the last part of their paths."""
    texts = [
        value if name in ("workload", "mapspace") else f"{'.'.join(name.split('.')[-2:])} {value}"
        for name, value in key
    ]
    return f"{letter}: {', '.join(texts) or 'its case'}" if letter else ", ".join(texts)


def _pair(label: str, sides: tuple[Case, ...]) -> CasePair:
    """Pair the layers of two cases that have results."""
    if any(case.result is None for case in sides):
        return CasePair(label, sides, (), ())
    layers = [dict(_named(case.result.own_layers())) for case in sides if case.result is not None]
    shared = {key: None for key in layers[0] if all(key in own for own in layers)}
    left_out = [
        f"{letter}: {name} ({macs:,} MACs)"
        for letter, own in zip("AB", layers, strict=False)
        for name, macs, _, _ in (key for key in own if key not in shared)
    ]
    pairs = tuple(LayerPair(_layer_name(key[0], key[3], key[2]), tuple(own[key] for own in layers)) for key in shared)
    return CasePair(label, sides, pairs, tuple(left_out))


def _layer_name(name: str, number: int, count: int) -> str:
    again = f" ({number})" if number > 1 else ""
    return name + again + (f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else "")


def _named(layers: Sequence[Stored]) -> Iterator[tuple[tuple[str, int, int, int], Stored]]:
    """Yield each layer by its name, MACs without those of padding, count, and number among equals."""
    seen = Counter[tuple[str, int, int]]()
    for layer in layers:
        key = (layer.workload, layer.macs - layer.ineffectual_macs, layer.count)
        seen[key] += 1
        yield (*key, seen[key]), layer


def energy_parts(layer: Stored) -> dict[str, float]:
    """The energy of a layer in pJ, all occurrences, by level, MAC units, network and leakage, as far as there are any.

    Empty where energies are not known, or there is no mapping.
    """
    if layer.energy_pj is None or layer.levels is None:
        return {}
    parts = {name: level.energy_pj or 0.0 for name, level in layer.levels.items()}
    parts |= {MACS: (layer.compute and layer.compute.energy_pj) or 0.0}
    parts |= {NETWORK: hops} if (hops := (layer.network and layer.network.energy_pj) or 0.0) else {}
    rest = layer.energy_pj - sum(parts.values())
    parts |= {LEAKAGE: rest} if rest > 1e-9 * layer.energy_pj else {}
    return {name: layer.count * energy for name, energy in parts.items()}


def summed_parts(layers: Iterable[Stored]) -> dict[str, float]:
    """The energy by part of several layers together."""
    total = dict[str, float]()
    for layer in layers:
        for part, energy in energy_parts(layer).items():
            total[part] = total.get(part, 0.0) + energy
    return total
