"""The result of a search of fused groups: printed, and as the object of `--json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, override

from ...certificate import GroupProof
from ...fusion import Group, GroupCosts, StepLayer
from ...mapping import write_mapping
from ...problem import ROUNDING, Goal
from ...search.outcome import Statistics
from ..loop_nest import loop_nest
from .outer_words import why_not_fused, words_table

Json = dict[str, Any]


@dataclass(frozen=True)
class Alone:
    """The stages of a group as layers one by one, each at its best in the sum of all."""

    energy_pj: float
    cycles: int
    lower_bound: float | None  # no mappings of the layers are below it by the objective
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
    alone: Alone | None  # None: some layer has no mapping
    statistics: Statistics
    solved: int  # groups whose layers were solved
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
        """The share of the objective that fusing saves; below 0 where it costs more."""
        if self.value is None or self.alone is None:
            return None
        return 1 - self.value / self._alone_value

    @property
    def verdict(self) -> str:
        """Whether fusing is better: fuse, alone, or undecided where that is not proven; without either, what there is.

        A group is better where it is below what the layers alone are proven not to be below, or the layers at their
        best; no group is better where none is below the layers as they are.
        """
        if self.value is None or self.alone is None:
            return "undecided" if self.value is None and self.alone is None else "alone" if self.alone else "fuse"
        if self.saved is not None and self.saved > 0:
            return "fuse"
        return "alone" if self.least >= self._alone_value * (1 - ROUNDING) else "undecided"

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
        for number, stage in enumerate(self._group.stages):
            for tensor in stage.tensors:
                name = f"{stage.name}.{tensor.name}"
                listed.append((name, self.costs.outer_words.get((number, tensor.name), 0), alone.get(name)))
        return listed

    @cached_property
    def _group(self) -> Group:
        assert self.costs is not None, "there is a group"
        return self.costs.standing.group

    def json(self) -> Json:
        """Write it as the object of `--json`; figures are null where no group fits."""
        costs, none = self.costs, self.costs is None
        return {
            "arch": self.arch,
            "group": None if none else self._group_json(),
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
            "stages": [] if none else [self._stage_json(stage) for stage in range(len(self.names))],
            "search": {
                "seconds": self.statistics.seconds,
                "steps": self.statistics.steps,
                "groups": self.solved,
                "tiles": self.tiles,
                "tried": {dim: {"size": size, "tiles": tiles} for dim, size, tiles in self.tried},
                "stopped_by": self.statistics.stopped_by,
            },
        }

    @staticmethod
    def _alone_json(alone: Alone) -> Json:
        figures = {"edp": alone.edp, "energy_pj": alone.energy_pj, "cycles": alone.cycles}
        return figures | {"lower_bound": alone.lower_bound}

    def _group_json(self) -> Json:
        return {
            "stages": list(self.names),
            "shared": [[dim, tile] for dim, tile in self._group.shared],
            "keeper": self._group.keeper,
            "halo": self.halo,
            "life": self.life,
            "held_words": {self.names[stage]: words for stage, words in self.held_words.items()},
        }

    @property
    def halo(self) -> dict[str, str]:
        """What is done with words between stages that later tiles of a shared dim need again, by the dim."""
        return {dim: "retain" if dim in self._group.retained else "recompute" for dim in self._group.loops}

    @property
    def life(self) -> dict[str, str]:
        """How long each tensor that is between no stages stays in the keeper.

        For its stage alone (it does not stay), for the group, or while the loops inside that of a shared dim run.
        """
        lives = {}
        for number, stage in enumerate(self._group.stages):
            for tensor in stage.tensors:
                if not self._group.intermediate(number, tensor.name):
                    depth = self._group.depths.get((number, tensor.name))
                    where = "stage" if depth is None else "group" if not depth else self._group.loops[depth - 1]
                    lives[f"{stage.name}.{tensor.name}"] = where
        return lives

    @property
    def held_words(self) -> dict[int, int]:
        """The most words of each tensor between stages that stand in the keeper, by the stage that makes it."""
        assert self.costs is not None, "there is a group"
        between, stages = self.costs.standing.between, range(len(self.names))
        return {producer: max(map(words.most, stages)) for producer, words in between.items()}

    def _layers(self, stage: int) -> list[tuple[StepLayer, int]]:
        """The layers that a stage is in steps, the most frequent first."""
        assert self.costs is not None, "there is a group"
        own = [(layer, number) for layer, number in self.costs.layers.items() if layer.stage == stage]
        return sorted(own, key=lambda entry: (-entry[1], entry[0].sizes, entry[0].accumulates))

    def _stage_json(self, stage: int) -> Json:
        assert self.costs is not None, "there is a group"
        dims, layers = self._group.stages[stage].dims, []
        for layer, number in self._layers(stage):
            mapped = self.costs.mapped[layer]
            layers.append(
                {
                    "steps": number,
                    "sizes": dict(zip(dims, layer.sizes, strict=True)),
                    "accumulates": layer.accumulates,
                    "energy_pj": mapped.energy_pj,
                    "cycles": int(mapped.cycles),
                    "mapping": write_mapping(mapped.batch),
                    "nest": loop_nest(mapped.batch).splitlines(),
                }
            )
        return {"name": self.names[stage], "layers": layers}

    @override
    def __str__(self) -> str:
        """The group as nests, its figures beside those of the layers alone, and what is proven."""
        lines = [f"group        {' + '.join(self.names)} on {self.arch}, {self.mapspace}", *self._shown_group()]
        return "\n".join([*lines, *self._figures(), *self._proof()])

    def _shown_group(self) -> list[str]:
        if self.costs is None:
            return ["", "no group fits: what stands between the stages, or a stage beside it, finds no room", ""]
        group, level = self._group, self._group.keeper
        shared = ", ".join(f"{dim} {tile:,}" for dim, tile in group.shared) or "none: each stage runs once, as a whole"
        lines = [f"shared       {shared}"]
        words = [f"{self.names[stage]} {number:,}" for stage, number in self.held_words.items()]
        lines.append(f"{level:<12} holds what is made by {', '.join(words)} words at most")
        if self.halo:
            lines.append(f"halo         {', '.join(f'{dim} {rule}' for dim, rule in self.halo.items())}")
        stays = [f"{name} ({'all steps' if life == 'group' else f'inside {life}'})" for name, life in self.life.items()
                 if life != "stage"]  # fmt: skip
        lines.append(f"kept         {', '.join(stays) or 'no other tensor'}")
        return [*lines, "", *self._nest(), ""]

    def _nest(self) -> list[str]:
        lines, depth = [], 0
        for dim, tile in self._group.shared:
            lines.append("  " * depth + f"for {dim} in tiles of {tile:,}  # {self._group.trips(dim):,} steps, shared")
            depth += 1
        for stage, name in enumerate(self.names):
            layers = self._layers(stage)
            for i, (layer, number) in enumerate(layers):
                dims = zip(self._group.stages[stage].dims, layer.sizes, strict=True)
                sizes = " ".join(f"{dim}={size}" for dim, size in dims if size > 1)
                adds = ", adding" if layer.accumulates else ""
                lines.append("  " * depth + f"{name}: {sizes}{adds}  # in {number:,} steps")
                if not i and self.costs is not None:  # the nest of the most frequent
                    nest = loop_nest(self.costs.mapped[layer].batch).splitlines()
                    lines += ["  " * (depth + 1) + line for line in nest]
        return lines

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
            lines.append(f"fusing       {saves if self.saved > 0 else more}")
        return [*lines, *self._why_not(), "", *words_table(self.outer_words, self.costs.standing.arch.levels[0].name)]

    def _why_not(self) -> list[str]:
        if self.saved is None or self.saved > 0:
            return []
        more = self.least / self._alone_value - 1
        return why_not_fused(self.outer_words, self.least, more if self.verdict == "alone" else None)

    def _proof(self) -> list[str]:
        if self.gap is None:
            return []
        tried = "; ".join(f"{tiles:,} of {size:,} tiles of {dim}" for dim, size, tiles in self.tried if tiles < size)
        what = f"no group is more than {self.gap:.2%} lower" if not self.optimal else "no group is lower"
        lines = [f"proof        {what}" + (f" (tried: {tried})" if tried else "")]
        went = self.statistics
        counted = f"{self.solved:,} groups solved, {self.tiles:,} combinations of tiles bounded"
        return [*lines, f"search       {counted}, {went.seconds:.1f} s, stopped by: {went.stopped_by}"]
