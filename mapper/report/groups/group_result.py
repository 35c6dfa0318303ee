"""The result of a search of fused groups: printed, and as the object of `--json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import override

from ...certificate import GroupProof
from ...fusion import GroupCosts
from ...problem import ROUNDING, Goal, at_most
from ...search.outcome import Ended, Statistics
from .group_text import Json, group_json, group_lines, nest_lines, shared_over, stages_json
from .outer_words import why_not_fused, words_table


@dataclass(frozen=True)
class Alone:
    """The stages of a group as layers one by one, each at its best in the sum of all."""

    energy_pj: float
    cycles: int
    lower_bound: float | None  # no mappings of the layers are below it by the objective
    optimal: bool  # it is proven that no mappings of the layers are better
    words: Mapping[str, int]  # that the outermost level reads and takes, by stage.tensor

    @property
    def edp(self) -> float:
        """Energy-delay product, in pJ * cycles."""
        return self.energy_pj * self.cycles


@dataclass(frozen=True, eq=False)
class GroupResult:
    """The best group of some stages, what no group of them is below, and the stages one by one."""

    names: tuple[str, ...]  # of the stages
    arch: str
    goal: Goal
    mapspace: str
    seed: int
    costs: GroupCosts | None  # None: no group fits
    least: float  # no group is below it by the objective
    alone: Alone | None  # None: some layer has no mapping, or was not searched
    unmapped: bool  # it is proven that some layer alone has no mapping
    statistics: Statistics
    looked_at: int  # groups whose layers were bounded or solved
    tiles: int  # combinations of tiles, with choices of retained loops, that were bounded
    tried: tuple[tuple[str, int, int], ...]  # per shared dim, its size and how many of its tiles were tried
    proof: GroupProof | None = None  # for a certificate, where one was asked for
    no_proof: str = ""  # why there is none

    @property
    def value(self) -> float | None:
        """The objective of the best group."""
        if self.costs is None:
            return None
        return float(self.goal.minimised[0].value(self.costs.energy_pj, float(self.costs.cycles)))

    @property
    def gap(self) -> float | None:
        """The share by which some group may be below the best."""
        return None if self.value is None else max(0.0, 1 - self.least / self.value) if self.value else 0.0

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no group that was tried is better."""
        return self.gap is not None and self.gap <= ROUNDING

    @property
    def saved(self) -> float | None:
        """The share of the objective that fusing saves; below 0 where it costs more. None where alone costs none."""
        if self.value is None or self.alone is None:
            return None
        if not self._alone_value:
            return None if self.value else 0.0
        return 1 - self.value / self._alone_value

    @property
    def least_saved(self) -> float | None:
        """The share of the objective that fusing saves at least, whatever mappings the layers alone may have; below 0
        where they may be better. None where nothing is known of them."""
        if self.value is None or self.alone is None:
            return None
        if self.alone.optimal:
            return self.saved
        return 1 - self.value / self.alone.lower_bound if self.alone.lower_bound else None

    @property
    def verdict(self) -> str:
        """Whether fusing is better: fuse, alone, or undecided where that is not proven; without either, what there is.

        A group is better where it is below what the layers alone are proven not to be below, or the layers at their
        best; no group is better where none is below the layers as they are, or where none fits, in any tile.
        """
        if self.value is not None and self.alone is None:
            return "fuse" if self.unmapped else "undecided"
        if (self.least_saved or 0.0) > ROUNDING:
            return "fuse"
        return "alone" if self._none_better and not self._partly_tried else "undecided"

    @property
    def _none_better(self) -> bool:
        """Whether no group that was tried is below the layers as they are."""
        if self.alone is None:
            return False
        if self.value is None:
            return Ended.SEEN_ALL in self.statistics.ended
        return self.least >= self._alone_value * (1 - ROUNDING)

    @property
    def _alone_value(self) -> float:
        assert self.alone is not None, "the layers have mappings"
        return float(self.goal.minimised[0].value(self.alone.energy_pj, float(self.alone.cycles)))

    @property
    def outer_words(self) -> list[tuple[str, int, int | None]]:
        """By stage.tensor the words that the outermost level reads and takes: fused, and alone."""
        if self.costs is None:
            return []
        alone, listed = self.alone.words if self.alone is not None else {}, []
        for number, stage in enumerate(self.costs.standing.group.stages):
            for tensor in stage.tensors:
                name = f"{stage.name}.{tensor.name}"
                listed.append((name, self.costs.outer_words.get((number, tensor.name), 0), alone.get(name)))
        return listed

    def json(self) -> Json:
        """Write it as the object of `--json`; figures are null where no group fits."""
        costs, none = self.costs, self.costs is None
        return {
            "arch": self.arch,
            "group": None if costs is None else group_json(costs),
            "mapspace": self.mapspace,
            "objective": self.goal.text,
            "seed": self.seed,
            "edp": None if costs is None else costs.edp,
            "energy_pj": None if costs is None else costs.energy_pj,
            "cycles": None if costs is None else costs.cycles,
            "optimal": self.optimal,
            "lower_bound": None if none else self.least,
            "gap": self.gap,
            "alone": None if self.alone is None else self._alone_json(self.alone),
            "saved": self.saved,
            "verdict": self.verdict,
            "outer_words": {name: {"fused": own, "alone": alone} for name, own, alone in self.outer_words},
            "transfers": None if costs is None else {"energy_pj": costs.transfer_pj, "cycles": costs.transfer_cycles},
            "operators": None if costs is None else {"energy_pj": costs.pass_pj, "cycles": costs.pass_cycles},
            "stages": [] if costs is None else stages_json(costs),
            "search": {
                "seconds": self.statistics.seconds,
                "steps": self.statistics.steps,
                "groups": self.looked_at,
                "tiles": self.tiles,
                "tried": {dim: {"size": size, "tiles": tiles} for dim, size, tiles in self.tried},
                "stopped_by": self.statistics.stopped_by,
            },
        }

    @staticmethod
    def _alone_json(alone: Alone) -> Json:
        figures = {"edp": alone.edp, "energy_pj": alone.energy_pj, "cycles": alone.cycles}
        return figures | {"lower_bound": alone.lower_bound}

    @override
    def __str__(self) -> str:
        """The group as nests, its figures beside those of the layers alone, and what is proven."""
        lines = [f"group        {' + '.join(self.names)} on {self.arch}, {self.mapspace}", *self._shown_group()]
        return "\n".join([*lines, *self._figures(), *self._proof()])

    def _shown_group(self) -> list[str]:
        if self.costs is None:
            if Ended.SEEN_ALL not in self.statistics.ended:
                return ["", f"no group was solved; stopped by: {self.statistics.stopped_by}", ""]
            why = "what stands between the stages, or a stage beside it, finds no room"
            return ["", f"no group{self._loops} fits: {why}{self._partly_tried}", ""]
        return [*group_lines(self.costs), "", *nest_lines(self.costs), ""]

    def _figures(self) -> list[str]:
        if self.costs is None:
            return []
        rows = [("fused", self.costs.energy_pj, self.costs.cycles, self.costs.edp)]
        if self.alone is not None:
            rows.append(("alone", self.alone.energy_pj, self.alone.cycles, self.alone.edp))
        lines = [f"{'':<12} {'energy pJ':>14} {'cycles':>14} {'EDP':>12}"]
        lines += [f"{name:<12} {energy:>14,.6g} {cycles:>14,} {edp:>12.5g}" for name, energy, cycles, edp in rows]
        if self.saved is not None:
            title = self.goal.minimised[0].title
            saves, more = f"saves {self.saved:.1%} of the {title}", f"costs {-self.saved:.1%} more {title}"
            changes = f"changes nothing of the {title}" if abs(self.saved) <= ROUNDING else more
            lines.append(f"fusing       {saves if self.saved > ROUNDING else changes}{self._by_bound()}")
        return [*lines, *self._why_not(), "", *words_table(self.outer_words, self.costs.standing.arch.levels[0].name)]

    def _by_bound(self) -> str:
        """What may be said of saving where the layers alone may be better than those that were found."""
        if self.alone is None or self.alone.optimal or (self.saved or 0.0) <= ROUNDING:
            return ""
        least = self.least_saved
        if least is None or least <= ROUNDING:
            return " of the layers that were found; others may be as good alone"
        return f" of the layers that were found, and {least:.1%} of any"

    def _why_not(self) -> list[str]:
        if self.saved is None or self.saved > ROUNDING:
            return []
        more = self.least / self._alone_value - 1 if self._alone_value else 0.0
        than = f"{more:.1%} more than alone" if more > ROUNDING else "as much as alone"
        none = f"no group{self._loops} is below {self.least:.5g}, {than}{self._partly_tried}"
        return why_not_fused(self.outer_words, none if self._none_better else None)

    @property
    def _loops(self) -> str:
        """Which loops the groups have that were tried."""
        return shared_over(dim for dim, _, _ in self.tried)

    @property
    def _partly_tried(self) -> str:
        """The dims of which not every tile was tried, in brackets; empty where there are none."""
        partly = [f"{tiles:,} of {size:,} tiles of {dim}" for dim, size, tiles in self.tried if tiles < size]
        return f" (tried: {'; '.join(partly)})" if partly else ""

    def _proof(self) -> list[str]:
        if self.gap is None:
            return []
        what = f"no group{self._loops} is {'lower' if self.optimal else f'more than {at_most(self.gap)} lower'}"
        lines = [f"proof        {what}{self._partly_tried}"]
        went = self.statistics
        counted = f"{self.looked_at:,} groups looked at, {self.tiles:,} combinations of tiles bounded"
        return [*lines, f"search       {counted}, {went.seconds:.1f} s, stopped by: {went.stopped_by}"]
