"""`ruby-energy ARCH` prints energy and area per action of every component, each with its source."""

from dataclasses import asdict

from ...arch import Architecture, load_arch
from ...energy import ERT_HEADER, ComputeEnergy, EnergyTable, LevelEnergy, write_art, write_ert
from ...workloads import InputError
from ...workloads.outputs import OutputFile, begins_with, output_faults
from ..report import TextTable
from ..runtime import print_result
from .guard import FOUND, echo_json
from .ruby_energy import EnergyRequest
from .timeloop_options import energies


def run(request: EnergyRequest) -> int:
    """Energy per access of the full width, and area per instance, of every component of ARCH, with their sources.

    Exit status: 0 found, 2 bad input.
    """
    machine = load_arch(request.arch, more=request.more)
    table = energies(machine, request.arch, request.more, request.ert, request.art, request.engine)
    outputs = [("write-ert", request.to_ert), ("write-art", request.to_art)]
    own, kind = begins_with(ERT_HEADER), "a table that ruby-energy wrote"
    if faults := output_faults(OutputFile(option, path, kind, own, request.force) for option, path in outputs if path):
        raise InputError(faults)
    if request.to_ert:
        write_ert(table, request.to_ert)
    if request.to_art:
        write_art(table, request.to_art)
    if request.as_json:
        echo_json(table_json(table))
    else:
        print_result(table_text(machine, table))
    return FOUND


def table_json(table: EnergyTable) -> dict[str, object]:
    """Convert the table to JSON values: levels by name, and the compute units."""
    levels = {
        level.name: {key: value for key, value in asdict(level).items() if key != "name"} for level in table.levels
    }
    return {"levels": levels, "compute": asdict(table.compute)}


def table_text(arch: Architecture, table: EnergyTable) -> str:
    """Format the table as text, and below it the source of each line."""
    units = ("read [pJ]", "write [pJ]", "update [pJ]", "leak [pJ/cycle]", "area [um2]")
    rows = []
    for index, (level, energy) in enumerate(zip(arch.levels, table.levels, strict=True)):
        figures = (energy.read_pj, energy.write_pj, energy.update_pj, energy.leak_pj_per_cycle, energy.area_um2)
        rows.append([level.name, *_row(arch.instances(index), level.width_bits, figures)])
    mac = table.compute
    number, per_mac = arch.instances(len(arch.levels)), (mac.compute_pj, mac.leak_pj_per_cycle, mac.area_um2)
    instances, bits, compute, leak, area = _row(number, arch.compute.word_bits, per_mac)
    rows.append([f"{mac.name} (per MAC)", instances, bits, compute, "", "", leak, area])
    grid = TextTable(["component", "instances", "bits", *units], rows, left=(0,))
    parts: list[LevelEnergy | ComputeEnergy] = [*table.levels, mac]
    width = max(len(part.name) for part in parts)
    sources = [f"{part.name:<{width}}  {part.source}" for part in parts]
    return "\n".join([f"{arch.name}: energy per access of the full width, area per instance", str(grid), "", *sources])


def _row(instances: int, bits: int, figures: tuple[float, ...]) -> list[str]:
    return [f"{instances:,}", f"{bits}", *(f"{figure:,.7g}" for figure in figures)]
