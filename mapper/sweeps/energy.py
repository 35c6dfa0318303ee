"""The key `energy` of SWEEP.yaml: where a sweep's energies come from, and what is charged beside the actions."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...arch import Architecture
from ...energy import ENGINES, EnergyTable, energy_table, read_art, read_ert
from ...workloads import Document, Fault, FloatExpr, Section, collect, expanded, unknown_choice
from ..problem import Charges


class EnergySection(Section):
    """As the options of ruby-map and ruby-energy."""

    engine: str = "default"
    ert: str | None = None
    art: str | None = None
    leakage: bool = False
    wire_pj_per_bit_mm: FloatExpr = 0.0
    tile_mm: FloatExpr = 0.0
    hop_pj: FloatExpr = 0.0
    drain_reads: bool = False


@dataclass(frozen=True)
class Energies:
    """How the designs of a sweep are charged."""

    engine: str = "default"
    ert: Path | None = None
    art: Path | None = None
    costs: Charges = Charges()  # noqa: RUF009  # frozen

    def table(self, arch: Architecture) -> EnergyTable:
        """The energies of a design. Raises InputError."""
        return energy_table(arch, self.ert, self.art, self.engine)

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """Plain values that differ where energies do: of files the text."""
        files = {
            name: path and path.read_text(encoding="utf-8") for name, path in (("ert", self.ert), ("art", self.art))
        }
        return {"engine": self.engine, **files, **asdict(self.costs)}


def read_energies(document: Document, section: EnergySection, folder: Path, faults: list[Fault]) -> Energies:
    """What the section says, files relative to `folder`; its faults go to `faults`."""
    costs = Charges(section.leakage, section.wire_pj_per_bit_mm, section.tile_mm, section.hop_pj, section.drain_reads)
    wrong = [(fault.source.replace("-", "_"), fault.message) for fault in costs.faults()]
    if section.engine not in ENGINES:
        wrong.append(("engine", unknown_choice("engine", section.engine, ENGINES).message))
    faults += [document.fault(("energy", key), message.replace("-per-bit-mm", "_per_bit_mm")) for key, message in wrong]
    ert = _table(document, "ert", section.ert, folder, read_ert, faults)
    art = _table(document, "art", section.art, folder, read_art, faults)
    return Energies(section.engine, ert, art, costs)


def _table(
    document: Document,
    key: str,
    name: str | None,
    folder: Path,
    read: Callable[[Path], object],
    faults: list[Fault],
) -> Path | None:
    """The file of a table, where one is named; those of its faults that have no line, at the line that names it."""
    if not name:
        return None
    own = list[Fault]()
    path = collect(own, lambda: folder / expanded(name))
    collect(own, lambda: path and read(path))
    faults += [
        document.fault(("energy", key), f"{path or name}: {fault.message}") if fault.line is None else fault
        for fault in own
    ]
    return path
