"""mapping.html: a mapping to look at, step by step; the page is mapping_page.html beside this module."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ...arch import Axis, unstacked
from ...workloads import Tensor
from ..mapping import Ints, MappingBatch
from ..model.nests import NestAnalysis, TileSizes
from ..problem import at_most
from .loop_nest import loop_nest
from .pictures import GREY, PALETTE
from .result import Result
from .result_json import Json
from .tables import energy_unit, heading

_EXACT = 2**53 - 1  # the largest whole number that a script has exactly


def mapping_html(result: Result, facts: Mapping[str, str] | None = None) -> str:
    """Fill the page with the mapping of `result`: one file, which asks for no other.

    `facts` are names and texts that stand before the totals.

    The page has the loops and works out by itself what each step does, as `mapper/model/simulate.py` does. Raises
    ValueError where there is no mapping.
    """
    if result.batch is None:
        raise ValueError(f"no valid mapping of {result.workload.name} was found, so there is none to show")
    page = (files(__package__) / "mapping_page.html").read_text(encoding="utf-8")
    # inside a script element only its end tag and comments could be misread
    whole = _data(result, result.batch, facts or {})
    data = json.dumps(whole, allow_nan=False).replace("<", "\\u003c")
    return page.replace(">DATA<", f">{data}<", 1)


def _data(result: Result, batch: MappingBatch, facts: Mapping[str, str]) -> Json:
    workload, slots = batch.workload, batch.arch.slots
    bounds = batch.factors[0]  # (slot, dim)
    strides = [table.strides[row] for table, row in zip(batch.tables, batch.rows[0], strict=True)]  # by dim, (slot,)
    first = [next(s for s, slot in enumerate(slots) if slot.level == c) for c in range(len(batch.arch.levels))]
    tiles = [[int(strides[d][s] * bounds[s, d]) for d in range(len(workload.dims))] for s in first]
    unit, size = energy_unit(result.energy_pj)
    steps = _steps(result)
    return {
        "title": heading(batch.arch, workload),
        "facts": [*map(list, facts.items()), *_facts(result)],
        "dims": list(workload.dims),
        "sizes": list(workload.sizes),
        "tensors": [_tensor(batch, tensor) for tensor in workload.tensors],
        "levels": _levels(result, batch, size),
        "lines": _lines(batch, strides),
        "tiles": [*tiles, [1 for _ in workload.dims]],  # extents of an unclipped tile, by level, of a MAC last
        "axes": [_axis(axis, slot.level) for slot in slots if (axis := slot.axis)],
        "statement": loop_nest(batch).splitlines()[-1].strip(),
        "steps": steps,
        "left_out": f"; the {steps - _EXACT:,} after these are left out" if steps > _EXACT else "",
        "macs": workload.macs,
        "energies": result.table.counted,
        "unit": unit.replace("u", "\N{MICRO SIGN}"),
        "palette": list(PALETTE),
        "grey": GREY,
    }


def _lines(batch: MappingBatch, strides: list[Ints]) -> list[Json]:
    """The lines of the nest, outermost first: of levels, and of loops over 1; `strides` by dim # (slot,)."""
    bounds, residuals = batch.factors[0], batch.residuals[0]  # (slot, dim)
    lines: list[Json] = []
    for s, slot in enumerate(batch.arch.slots):
        if not slot.spatial and batch.stands(slot.level):
            lines.append({"level": slot.level})
        for d in range(len(strides)) if slot.spatial else batch.order[0, slot.level].tolist():
            if bounds[s, d] > 1:
                loop = {"at": slot.level, "dim": int(d), "bound": int(bounds[s, d]), "last": int(residuals[s, d])}
                loop |= {"stride": int(strides[d][s]), "axis": _axis_number(batch, s), "slot": s}
                lines.append({"loop": loop})
    return lines


def _steps(result: Result) -> int:
    """The steps in which some element works: cycles without those that fill, drain, begin tiles or are stalled."""
    return int(result.valid_costs.counts.cycles[0]) - (result.fill_drain or (0, 0))[0] - (result.starts or 0)


def _facts(result: Result) -> list[list[str]]:
    """The totals as name and text."""
    facts = [["cycles", f"{result.cycles:,}"], ["utilisation", f"{result.utilization:.1%}"]]
    if result.fill_drain:
        facts.append(["of these to fill and drain", f"{result.fill_drain[0]:,}"])
    if result.starts:
        facts.append(["of these to begin tiles", f"{result.starts:,}"])
    if waits := result.cycles - int(result.valid_costs.counts.cycles[0]):
        facts.append(["of these stalled", f"{waits:,}"])
    if result.table.counted:
        unit, size = energy_unit(result.energy_pj)
        facts.append(["energy", f"{result.energy_pj / size:,.5g} {unit}".replace("u", "\N{MICRO SIGN}")])
        facts.append(["EDP", f"{result.edp:.5g} pJ cycles"])
    if result.gap is not None:
        below = f"the best of {result.mapspace} is at most {at_most(result.gap)} below"
        facts.append(["proven", f"optimal of {result.mapspace}" if result.optimal else below])
    return facts


def _tensor(batch: MappingBatch, tensor: Tensor) -> Json:
    index = {dim: d for d, dim in enumerate(batch.workload.dims)}
    projection = tensor.projection.strip("[]").split(", ")
    ranks = [
        {
            "name": name,
            "terms": [[index[term.dim], term.coef] for term in rank],
            "size": 1 + sum(term.coef * (batch.workload.sizes[index[term.dim]] - 1) for term in rank),
        }
        for name, rank in zip(projection, tensor.ranks, strict=True)
    ]
    return {"name": tensor.name, "output": tensor.output, "ranks": ranks}


def _levels(result: Result, batch: MappingBatch, size: float) -> list[Json]:
    """The levels of the nest, each with the tensors that it keeps; counts and energies are of all instances.

    They are text: a script would round counts above 2^53.
    """
    costs, memories = result.valid_costs, [level.name for level in unstacked(batch.arch).levels]
    counts, words = costs.counts, TileSizes(NestAnalysis(batch)).kept_words()[0]
    rows = list[Json]()
    for c, level in enumerate(batch.arch.levels):
        memory = memories.index(level.of_memory)
        kept = [
            {
                "tensor": v,
                "words": f"{int(words[c, v]):,}",
                "reads": f"{int(counts.reads[0, memory, v]):,}",
                "fills": f"{int(counts.fills[0, memory, v]):,}",
                "updates": f"{int(counts.updates[0, memory, v]):,}",
                "energy": f"{costs.level_energy_pj[0, memory, v] / size:,.4g}",
            }
            for v in range(len(batch.workload.tensors))
            if batch.keep[0, c, v]
        ]
        rows.append({"name": level.of_memory, "instances": f"{int(counts.instances[0, memory]):,}", "kept": kept})
    return rows


def _axis_number(batch: MappingBatch, s: int) -> int:
    """The number of the axis that a slot is, outermost first; -1 for a temporal slot."""
    return sum(slot.spatial for slot in batch.arch.slots[:s]) if batch.arch.slots[s].spatial else -1


def _axis(axis: Axis, level: int) -> dict[str, Any]:
    return {"name": axis.name, "size": axis.size, "mesh": axis.mesh, "at": level}
