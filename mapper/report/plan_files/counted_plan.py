"""A plan of a network that was written, not searched for: counted, costed, printed, and as the object of `ruby-model
--json`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import override

from ...fusion import StepLayer
from ...networks import Movement, PartCosts, PlacedPart, PlanCosts
from ...problem import Json
from ..groups import group_words_json, layer_text, stages_json
from ..plans import part_json, part_name, resident_json, resident_names, room_text, tiles_text
from ..tables import TextTable, energy_unit


@dataclass(frozen=True, eq=False)
class CountedPlan:
    """A plan with its costs, and what of the machine it exceeds."""

    costs: PlanCosts
    limits: tuple[str, ...]  # that it exceeds; none: it is valid
    fitted: Mapping[int, frozenset[StepLayer]]  # by part, whose mapping was written for larger tiles

    @property
    def parts(self) -> Iterator[tuple[PlacedPart, int, PartCosts]]:
        """The parts in turn, each with its count and its costs."""
        costs = self.costs
        for number, (count, own) in enumerate(zip(costs.counts, costs.parts, strict=True)):
            yield costs.plan.placed(number), count, own

    def json(self) -> Json:
        """Write it as the object of `ruby-model --json`."""
        costs, plan = self.costs, self.costs.plan
        return {
            "arch": costs.parts[0].arch.name,
            "network": plan.graph.network.name,
            "edp": costs.edp,
            "energy_pj": costs.energy_pj,
            "cycles": costs.cycles,
            "keeper": plan.keeper,
            "parts": [part_json(*own) | _inside_json(*own) for own in self.parts],
            "resident": resident_json(plan),
        } | ({"invalid": list(self.limits)} if self.limits else {})

    @override
    def __str__(self) -> str:
        """The parts with what stays, the totals, and what the plan exceeds."""
        costs = self.costs
        name, arch = costs.plan.graph.network.name, costs.parts[0].arch.name
        unit, size = energy_unit(costs.energy_pj)
        lines = [f"plan         {name} on {arch}", "", str(self._table()), "", *self._resident_lines()]
        lines.append(f"cycles       {costs.cycles:,}")
        lines.append(f"energy       {costs.energy_pj / size:,.5g} {unit}")
        lines.append(f"EDP          {costs.edp:.5g} pJ cycles")
        lines += [f"{'' if i else 'cut':<12} {text}" for i, text in enumerate(self._cut())]
        lines += ["", "this plan is not valid:", *self.limits] if self.limits else []
        return "\n".join(lines)

    def _table(self) -> TextTable:
        """Tabulate the parts: room is the most that stands in the keeper at once, for the part or longer."""
        unit, size = energy_unit(max(own.energy_pj for own in self.costs.parts))
        arch, rows = self.costs.parts[0].arch, []
        level = arch.levels[arch.number_of(self.costs.plan.keeper)]
        for placed, count, own in self.parts:
            most = own.most_bits(placed)
            rows.append(
                [
                    part_name(placed),
                    str(count) if count > 1 else "",
                    tiles_text(placed),
                    resident_names(placed),
                    room_text(level, most) if most else "",
                    f"{own.cycles:,}",
                    f"{own.energy_pj / size:,.4g}",
                ]
            )
        head = ["part", "count", "tiles", f"stays in {level.name}", "room", "cycles", f"energy\n[{unit}]"]
        title = f"part by part, once; room: of {level.name}, for what stays and what stands between layers"
        return TextTable(head, rows, left=(0, 2, 3), title=title)

    def _resident_lines(self) -> Iterator[str]:
        for i, own in enumerate(self.costs.plan.residents):
            copied = ", and leaves the chip, too" if own.copied else ""
            yield f"{'' if i else 'stays':<12} {own.tensor} until {own.until}{copied}"

    def _cut(self) -> Iterator[str]:
        for number, own in enumerate(self.costs.parts):
            if own.layers is not None:
                fitted = (layer for layer in own.layers.layers if layer in self.fitted.get(number, ()))
                yield from (layer_text(own.layers, layer, own.layers.layers[layer]) for layer in fitted)


def _inside_json(placed: PlacedPart, _: int, costs: PartCosts) -> Json:
    """Write what a part takes of the keeper, its words, what moves beside its layers, and their mappings."""
    layers = costs.layers
    return {
        "room_bits": costs.most_bits(placed),
        "levels": {} if layers is None else group_words_json(layers),
        "moved": [_movement_json(own, costs) for own in costs.movements],
        "stages": [] if layers is None else stages_json(layers),
    }


def _movement_json(own: Movement, costs: PartCosts) -> Json:
    levels = costs.arch.levels
    words = [
        {"level": levels[flow.level].name, "written": flow.written, "words": flow.words, "bits": flow.bits}
        for flow in own.flows
    ]
    energy_pj, cycles = own.energy_pj(costs.arch, costs.energies), own.cycles(costs.arch)
    return {"name": own.name, "words": words, "energy_pj": energy_pj, "cycles": cycles}
