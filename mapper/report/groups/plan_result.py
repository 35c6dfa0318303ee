"""A group that was written, not searched for: counted, costed, printed, and as the object of `ruby-model --json`."""

from dataclasses import dataclass
from typing import override

from ...fusion import GroupCosts, StepLayer
from ..tables import energy_unit
from .group_text import Json, group_json, group_lines, layer_text, nest_lines, stages_json
from .level_words import group_words_json, parts_table, words_table


@dataclass(frozen=True, eq=False)
class PlanResult:
    """A group with its costs, and what of the machine it exceeds."""

    costs: GroupCosts
    limits: tuple[str, ...]  # that it exceeds; none: it is valid
    fitted: frozenset[StepLayer]  # whose mapping was written for larger tiles

    @property
    def names(self) -> list[str]:
        """The stages."""
        return [stage.name for stage in self.costs.standing.group.stages]

    def json(self) -> Json:
        """Write it as the object of `ruby-model --json`."""
        costs = self.costs
        invalid = {"invalid": list(self.limits)} if self.limits else {}
        return {
            "arch": costs.standing.arch.name,
            "group": group_json(costs),
            "edp": costs.edp,
            "energy_pj": costs.energy_pj,
            "cycles": costs.cycles,
            "levels": group_words_json(costs),
            "transfers": {"energy_pj": costs.transfer_pj, "cycles": costs.transfer_cycles},
            "operators": {"energy_pj": costs.pass_pj, "cycles": costs.pass_cycles},
            "stages": stages_json(costs),
        } | invalid

    @override
    def __str__(self) -> str:
        """The group as nests, its words at each level, its costs by part, and what it exceeds."""
        costs = self.costs
        unit, size = energy_unit(costs.energy_pj)
        lines = [f"group        {' + '.join(self.names)} on {costs.standing.arch.name}", *group_lines(costs), ""]
        lines += [*nest_lines(costs), "", str(words_table(costs)), "", str(parts_table(costs)), ""]
        lines.append(f"cycles       {costs.cycles:,}")
        lines.append(f"energy       {costs.energy_pj / size:,.5g} {unit}")
        lines.append(f"EDP          {costs.edp:.5g} pJ cycles")
        cut = [layer_text(costs, layer, costs.layers[layer]) for layer in costs.layers if layer in self.fitted]
        lines += [f"{'' if i else 'cut':<12} {text}" for i, text in enumerate(cut)]
        lines += ["", "this group is not valid:", *self.limits] if self.limits else []
        return "\n".join(lines)
