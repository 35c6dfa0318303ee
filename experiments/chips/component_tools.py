"""What Accelergy and hwcomponents say of the components: their lines of the file of energies, written anew.

Accelergy with its plug-ins is asked through the engine `accelergy`, as primitive classes. Of hwcomponents CACTI tells
SRAM, its DRAM the interface, and Aladdin's units of hwcomponents-library registers and MACs.
"""

import csv
import importlib
import io
from collections.abc import Callable
from typing import Any

from common import tell
from ruby_map.energy.grid import Sram
from ruby_map.energy.hwcomponents import cacti_memory
from ruby_map.workloads import InputError

from .components import COMPONENTS, ENERGIES, Pair, energies
from .tables import HERE, Line, lines_of

ACCELERGY, HWCOMPONENTS = "Accelergy 0.4", "hwcomponents"
PICO, NANO = 1e12, 1e-9


def accelergy(sizes: Line) -> Pair:
    """Return the figures of Accelergy. Raises InputError where none of its plug-ins has any."""
    return energies(sizes, "accelergy")


def hwcomponents(sizes: Line) -> Pair | None:
    """Return the figures of hwcomponents' models, None where it has none. Raises InputError where CACTI fails."""
    cls, width, node = sizes["class"], int(sizes["width_bits"]), int(sizes["node_nm"])
    if cls == "SRAM":
        capacity = int(sizes["depth"]) * width / 8
        figures = cacti_memory("hwcomponents")(Sram(node, capacity, width, int(sizes["ports"]), int(sizes["banks"])))
        return figures.read_pj, figures.write_pj
    if cls == "DRAM":
        return _pair(_module("hwcomponents_cacti").LPDDR4(width=width))
    library = _module("hwcomponents_library")
    if cls == "reg":
        return _pair(library.AladdinRegister(tech_node=node * NANO, width=width))
    if cls == "intmac":
        mac = library.AladdinIntMAC(tech_node=node * NANO, multiplier_width=width, adder_width=width)
        return float(mac.compute().energy) * PICO, None
    return None


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _pair(model: Any) -> Pair:
    return float(model.read().energy) * PICO, float(model.write().energy) * PICO


TOOLS: dict[str, Callable[[Line], Pair | None]] = {ACCELERGY: accelergy, HWCOMPONENTS: hwcomponents}


def write_tools() -> None:
    """Ask each tool for each component, and write what it says in place of its line; where it fails the line stays."""
    text = (HERE / ENERGIES).read_text(encoding="utf-8").splitlines()
    heading = [line for line in text if line.startswith("#")]
    every = {(line["component"], line["source"]): line for line in lines_of(ENERGIES)}
    lines = [line for line in every.values() if line["source"] not in TOOLS]
    for sizes in lines_of(COMPONENTS):
        for source, tool in TOOLS.items():
            try:
                pair = tool(sizes)
            except (InputError, ImportError) as error:
                tell(f"{source}, {sizes['name']}: {error}")
                lines += [every[key] for key in [(sizes["name"], source)] if key in every]
                continue
            if pair is not None:
                lines.append(_line(sizes["name"], source, pair))
    out = io.StringIO()
    writer = csv.DictWriter(out, lines[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    (HERE / ENERGIES).write_text("\n".join([*heading, out.getvalue()]), encoding="utf-8")


def _line(component: str, source: str, pair: Pair) -> Line:
    read, write = pair
    pj = {"read_pj": f"{read:.6g}", "write_pj": "" if write is None else f"{write:.6g}"}
    return {"component": component, "source": source, **pj}
