"""Claim: for AlexNet's second layer on 14 x 12 elements, Ruby-S finds by itself a mapping that beats the best one made
by hand (strip-mined, a whole output row on the array), at the same utilisation; perfect factors use less of the array.

Ruby paper (ISPASS 2022), Fig. 9: strip-mined by hand 85 % of the elements; PFM 71 %, 9 groups of outputs per row;
Ruby-S 85 %, 4 groups of 7, 7, 7 and 6, with 16 % less EDP and 10 % less energy than by hand. By geometry both are
27 * 5 / 168 = 80.4 %. The paper does not print its constraints. `whole filters` (all 5 filter rows on the array) are
those under which its figures come about; `eyeriss_like` lets filter rows be a loop as well. Everything is proven best
(`optimal`), except the random searches, which stop as the paper's do, after 3,000 valid mappings without a better one.
"""

import argparse
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from common import Result, arguments, recorded, save, tell
from ruby_map.arch import Architecture, FactorRule, load_arch
from ruby_map.energy import EnergyTable, energy_table
from ruby_map.mapper import Result as Found
from ruby_map.mapper import SearchOptions, evaluate, explore
from ruby_map.mapper.report.pictures import GREY, HATCHES, PALETTE

HERE = Path(__file__).parent
LAYER = "alexnet_conv2_paper"
ROWS = str(HERE / "strip_mining_rows.yaml")
ROW_BY_ROW = "row by row"
MACHINES = {"whole filters": str(HERE / "strip_mining_whole_filters.yaml"), "eyeriss_like": "eyeriss_like"}
PAPER = {"by hand": 0.85, "pfm, whole filters": 0.71, "ruby-s, whole filters": 0.85}  # utilisation
GEOMETRY = 27 * 5 / 168
# Valid mappings in a row without a better one: the paper's 3,000, as a count of all 24 threads or of each.
VICTORY = {"3000": 3000, "24 x 3000": 72_000}
BUFFER = "shared_glb"
BUFFER_FACTORS = (1.0, 1.5, 2.0, 4.0)  # what if a word of the global buffer costs so many times more


@cache
def machine(name: str) -> Architecture:
    """A machine of the library or of this folder; ROW_BY_ROW: ROWS, all channels of a row before the next row."""
    if name != ROW_BY_ROW:
        return load_arch(name)
    arch = load_arch(ROWS)
    dram, buffer = (replace(one, temporal=replace(one.temporal, outermost=("P",))) for one in arch.levels[:2])
    whole = replace(dram.temporal, factors=(*dram.temporal.factors, FactorRule("C", "=", 1)))
    return replace(arch, name=ROW_BY_ROW, levels=(replace(dram, temporal=whole), buffer, *arch.levels[2:]))


def dearer(table: EnergyTable, factor: float) -> EnergyTable:
    """With `factor` times the energy per access of the global buffer."""

    def scaled(pj: float, name: str) -> float:
        return pj * factor if name == BUFFER else pj

    levels = tuple(
        replace(
            one,
            read_pj=scaled(one.read_pj, one.name),
            write_pj=scaled(one.write_pj, one.name),
            update_pj=scaled(one.update_pj, one.name),
        )
        for one in table.levels
    )
    return replace(table, levels=levels)


def best(arch: str, preset: str, factor: float = 1.0) -> Found:
    """The mapping with the least EDP, proven."""
    table = dearer(energy_table(machine(arch)), factor)
    result = explore(machine(arch), LAYER, preset, SearchOptions(strategy="optimal"), table=table)
    assert isinstance(result, Found)
    assert result.optimal, f"{arch} {preset}: not proven"
    return result


def groups(result: Found) -> int:
    """How many times the array is filled anew for one output row: the trip counts of the loops over Q in time."""
    assert result.batch is not None
    slots, q = result.arch.slots, result.workload.dims.index("Q")
    factors = result.batch.factors[0, :, q]  # (slot,)
    return int(np.prod([bound for slot, bound in zip(slots, factors, strict=True) if not slot.spatial]))


def figures(result: Found) -> Result:
    """What the result records of one mapping."""
    costs = result.costs
    assert costs is not None
    levels = [level.name for level in result.arch.levels]
    counts, at = costs.counts, levels.index(BUFFER)
    words = sum(float(moved[0, at].sum()) for moved in (counts.reads, counts.fills, counts.updates))
    energy = {name: float(costs.level_energy_pj[0, number].sum()) for number, name in enumerate(levels)}
    return {
        "utilization": result.utilization,
        "groups_per_row": groups(result),
        "cycles": result.cycles,
        "energy_pj": result.energy_pj,
        "edp": result.edp,
        "buffer_words": words,
        "level_energy_pj": energy | {result.arch.compute.name: costs.compute_energy_pj},
    }


def searched(arch: str, preset: str, seeds: int, rules: dict[str, int]) -> dict[str, list[float]]:
    """The EDP that random search finds, seed by seed, for each stop rule."""
    by_rule: dict[str, list[float]] = {}
    for rule, victory in rules.items():
        by_rule[rule] = []
        for seed in range(seeds):
            one = explore(machine(arch), LAYER, preset, SearchOptions(strategy="random", seed=seed, victory=victory))
            assert isinstance(one, Found)
            by_rule[rule].append(one.edp)
    return by_rule


def by_buffer_energy(factors: tuple[float, ...]) -> list[Result]:
    """Ruby-S against the best strip-mined mapping if words of the global buffer cost more."""
    ratios = []
    for factor in factors:
        ours, hand = (best(arch, "ruby-s", factor) for arch in (MACHINES["whole filters"], ROWS))
        ratios.append({"factor": factor, "energy": ours.energy_pj / hand.energy_pj, "edp": ours.edp / hand.edp})
    return ratios


def show(name: str, one: Result, hand: Result) -> None:
    less = ", ".join(
        f"{what} {one[key] / hand[key] - 1:+.1%}" for what, key in (("EDP", "edp"), ("energy", "energy_pj"))
    )
    words = f"{one['buffer_words']:,.0f} words at {BUFFER}"
    tell(f"{name:<24} {one['utilization']:.1%}, {one['groups_per_row']} groups per row, {words}; to by hand: {less}")


def rows(axes, designs: dict[str, Result], *, named: bool) -> range:  # type: ignore[no-untyped-def]
    """A row for each design, the first on top."""
    axes.set_yticks(range(len(designs)), list(designs) if named else [""] * len(designs), fontsize=8)
    axes.set_ylim(len(designs) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=8)
    return range(len(designs))


def draw_utilization(axes, designs: dict[str, Result]) -> None:  # type: ignore[no-untyped-def]
    percent = [100 * one["utilization"] for one in designs.values()]
    axes.barh(rows(axes, designs, named=True), percent, 0.6, color=PALETTE[0])
    for row, one in enumerate(percent):
        axes.text(3, row, f"{one:.1f}", color="white", va="center", fontsize=8)
    said = [(100 * PAPER[name], row) for row, name in enumerate(designs) if name in PAPER]
    axes.plot(
        *zip(*said, strict=True), "D", color=PALETTE[5], markersize=6, markeredgecolor="white", label="the paper's"
    )
    axes.set_xlim(0, 105)
    axes.set_xlabel("utilisation [%]", fontsize=8)
    axes.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(-0.03, 1))


def draw_energy(axes, designs: dict[str, Result]) -> None:  # type: ignore[no-untyped-def]
    left = np.zeros(len(designs))
    for number, level in enumerate(next(iter(designs.values()))["level_energy_pj"]):
        uj = np.array([one["level_energy_pj"][level] / 1e6 for one in designs.values()])
        colour, hatch = (GREY, "") if level == "MAC" else (PALETTE[number], HATCHES[number])
        axes.barh(
            rows(axes, designs, named=False), uj, 0.6, left, color=colour, hatch=hatch, edgecolor="white", label=level
        )
        left += uj
    axes.set_xlabel("energy [\N{MICRO SIGN}J]", fontsize=8)
    where = {"loc": "lower left", "bbox_to_anchor": (-0.03, 1)}
    axes.legend(fontsize=7, frameon=False, ncols=3, columnspacing=0.8, handlelength=1.4, **where)


def draw_edp(axes, designs: dict[str, Result], random: dict[str, dict[str, list[float]]]) -> None:  # type: ignore[no-untyped-def]
    hand = designs["by hand"]["edp"]
    axes.barh(rows(axes, designs, named=False), [one["edp"] / hand for one in designs.values()], 0.6, color=PALETTE[2])
    for row, name in enumerate(designs):
        axes.text(0.03, row, f"{designs[name]['edp'] / hand:.2f}", color="white", va="center", fontsize=8)
        for shift, (rule, edps) in zip((-0.15, 0.15), random.get(name, {}).items(), strict=False):
            colour, label = ("black", PALETTE[5])[shift > 0], f"random, {rule}" if name == next(iter(random)) else None
            at = [edp / hand for edp in edps]
            axes.plot(at, [row + shift] * len(at), "|", color=colour, markersize=8, markeredgewidth=0.9, label=label)
    axes.axvline(1, color="0.5", linewidth=0.8)
    axes.set_xlabel("EDP / EDP by hand (bars: proven best)", fontsize=8)
    where = {"loc": "lower left", "bbox_to_anchor": (-0.03, 1)}
    axes.legend(fontsize=7, frameon=False, ncols=2, columnspacing=0.8, handlelength=1, **where)


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), (1, 3), (10, 3.2))


def draw(result: Result, left, middle, right) -> None:  # type: ignore[no-untyped-def]
    """Draw utilisation, energy and EDP of every design."""
    draw_utilization(left, result["designs"])
    draw_energy(middle, result["designs"])
    draw_edp(right, result["designs"], result["random"])


def measured(options: argparse.Namespace) -> Result:
    """Prove and search every design."""
    seeds, rules, factors = (1, {"3000": VICTORY["3000"]}, ()) if options.quick else (20, VICTORY, BUFFER_FACTORS)
    machines = list(MACHINES.items())[: 1 if options.quick else None]
    names = {f"{preset}, {name}": (arch, preset) for name, arch in machines for preset in ("pfm", "ruby-s")}
    designs = {"by hand": figures(evaluate(ROWS, LAYER, HERE / "strip_mining.mapping.yaml"))}
    designs |= {name: figures(best(arch, preset)) for name, (arch, preset) in names.items()}
    other_designs = {"whole_rows": figures(best(ROWS, "ruby-s")), "row_by_row": figures(best(ROW_BY_ROW, "ruby-s"))}
    random = {name: searched(arch, preset, seeds, rules) for name, (arch, preset) in names.items()}
    buffer = by_buffer_energy(factors)
    for name, one in (designs | other_designs).items():
        show(name, one, designs["by hand"])
    for name, by_rule in random.items():
        for rule, edp in by_rule.items():
            ratios = np.array(edp) / designs[name]["edp"]
            spread = f"{ratios.min():.2f} to {ratios.max():.2f} x the best, mean {ratios.mean():.2f}"
            won = sum(one < designs["by hand"]["edp"] for one in edp)
            tell(f"{name:<24} EDP by random search, {rule}: {spread}; below by hand: {won} of {seeds}")
    for one in buffer:
        less = f"EDP {one['edp'] - 1:+.1%}, energy {one['energy'] - 1:+.1%}"
        tell(f"energy of {BUFFER} x {one['factor']:g}: Ruby-S, whole filters, to whole rows: {less}")

    result: Result = {"layer": LAYER, "geometry": GEOMETRY, "paper": PAPER, "designs": designs, "random": random}
    return result | other_designs | {"buffer_energy": buffer}


if __name__ == "__main__":
    main()
