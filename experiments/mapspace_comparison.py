"""Claim: 10,000 random mappings find with Ruby-S what they find with perfect factors, within 1 %, and 38 % less EDP
where the array misfits. Remainders in time have the best optima of all, but random search comes near them only in the
small mapspaces of the matmul. Full Ruby would gain nothing over Ruby-T even if the search were perfect.

Ruby paper (ISPASS 2022), Fig. 7: the EDP of the best mapping so far against mappings looked at, a mean over 100 random
searches of 10,000 mappings each: a 100 x 100 x 100 matmul on 5 (a) and 16 (b) processing elements in a row, a 3x3x64
convolution on 8 (c) and 15 (d), parallel over C and M alone. The paper's numbers stand in its plots only; what it says
of them is BELOW and NEAR. It leaves open what SETUPS vary, one or two things at a time, in 20 searches each. `base`, of
which the claim is, has those choices with which 10,000 mappings can exhaust the perfect mapspaces, as the paper says
they do: no padding, one loop order, 16-bit words, valid mappings counted. The certified optimum of each mapspace says
what a perfect search would find.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from common import LINES, Result, arguments, recorded, save, tell
from ruby_map.arch import Architecture, load_arch
from ruby_map.energy import EnergyTable, energy_table
from ruby_map.mapper import Result as Found
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.report.pictures import PALETTE
from ruby_map.workloads import Workload, load_workload

PANELS = {
    "a": ("matmul_100", "linear_5"),
    "b": ("matmul_100", "linear_16"),
    "c": ("conv_3x3x64", "linear_8_cm"),
    "d": ("conv_3x3x64", "linear_15_cm"),
}
PRESETS = ("pfm", "ruby-s", "ruby-t", "ruby")
DRAWN = 2**17  # mappings at a time; in the largest mapspaces one in a hundred is valid
COUNTED = 8192  # mappings evaluated at a time
LISTED = 200_000  # mappings of a mapspace whose valid ones are counted
MARKS = sorted({round(10 ** (i / 25)) for i in range(101)})  # where the traces are recorded, 1 to 10,000


@dataclass(frozen=True)
class Setup:
    """What the paper leaves open."""

    stays: str | None = "Outputs"  # one loop order: this tensor's dims outermost, the others inside; None: sampled
    valid: bool = True  # 10,000 valid mappings; else 10,000 drawn, valid or not
    padded: bool = False  # the convolution has 28 x 28 outputs, not 26 x 26
    bits: int = 16  # of a word: a scratchpad of 1 KiB holds 512 words of 16 bits
    dram: str = "LPDDR4"  # 8 pJ per bit
    runs: int = 20


SETUPS = {
    "base": Setup(runs=100),
    "orders sampled": Setup(stays=None),
    "weights stay": Setup(stays="Weights"),
    "inputs stay": Setup(stays="Inputs"),
    "invalid count too": Setup(valid=False),
    "28 x 28 outputs": Setup(padded=True),
    "28 x 28, orders sampled": Setup(padded=True, stays=None),
    "8-bit words": Setup(bits=8),
    "DDR3": Setup(dram="DDR3"),
}
PROVEN = ("base", "orders sampled", "8-bit words")  # whose optima are certified
# What the paper says of each panel, of the mean EDP at the end of the search: which mapspaces are below which, or near.
BELOW: dict[str, dict[str, tuple[str, str]]] = {
    "a": {"Ruby overtakes PFM": ("ruby", "pfm")},
    "b": {"Ruby and Ruby-T beat PFM and Ruby-S": ("ruby ruby-t", "pfm ruby-s")},
    "c": {
        "PFM is best": ("pfm", "ruby-s ruby-t ruby"),
        "Ruby and Ruby-T lose to both": ("pfm ruby-s", "ruby-t ruby"),
    },
    "d": {"Ruby-S is best": ("ruby-s", "pfm ruby-t ruby")},
}
NEAR: dict[str, dict[str, tuple[str, str, float]]] = {
    "a": {"PFM and Ruby-S end alike": ("ruby-s", "pfm", 0.005)},
    "c": {"Ruby-S comes near PFM": ("ruby-s", "pfm", 0.05)},
}


def problem(panel: str, setup: Setup) -> tuple[Architecture, Workload]:
    """The machine and the layer of one panel."""
    layer, machine = PANELS[panel]
    work, arch = load_workload(layer), load_arch(machine)
    assert isinstance(work, Workload)
    if setup.padded:
        sizes = tuple(28 if dim in "PQ" else size for dim, size in zip(work.dims, work.sizes, strict=True))
        work = replace(work, sizes=sizes)
    dram, pad = arch.levels
    dram = replace(dram, attributes=tuple((dict(dram.attributes) | {"type": setup.dram}).items()))
    dram, pad = (replace(one, word_bits=setup.bits) for one in (dram, pad))
    if setup.stays:
        relevant = next(tensor.dims for tensor in work.tensors if tensor.name == setup.stays)
        order = tuple(sorted(work.dims, key=lambda dim: dim not in relevant))
        dram, pad = (replace(one, temporal=replace(one.temporal, outermost=order)) for one in (dram, pad))
    return replace(arch, levels=(dram, pad), compute=replace(arch.compute, word_bits=setup.bits)), work


def valid_mappings(space: Mapspace) -> int | None:
    """How many mappings of a small mapspace are valid; None for a large one."""
    if space.size.total > LISTED:
        return None
    return sum(int((validity(batch) == 0).sum()) for batch in space.batches())


def draws(space: Mapspace, table: EnergyTable, rng: np.random.Generator, *, valid: bool) -> Iterator[np.ndarray]:
    """EDP of mapping after mapping, endlessly; invalid ones left out if `valid`, else infinite."""
    while True:
        batch = space.sample(rng, DRAWN)
        fits = np.flatnonzero(validity(batch) == 0)
        parts = [fits[start : start + COUNTED] for start in range(0, len(fits), COUNTED)]
        edp = np.concatenate([evaluate(batch.take(part), table).edp for part in parts])
        if not valid:
            edp, valid_edp = np.full(DRAWN, np.inf), edp
            edp[fits] = valid_edp
        yield edp


def trace(space: Mapspace, table: EnergyTable, runs: int, samples: int, seed: list[int], *, valid: bool) -> np.ndarray:
    """EDP of the best mapping so far. # (run, sample)"""
    edps, wanted = [], runs * samples
    for edp in draws(space, table, np.random.default_rng(seed), valid=valid):
        edps.append(edp)
        wanted -= len(edp)
        if wanted <= 0:
            break
    return np.minimum.accumulate(np.concatenate(edps)[: runs * samples].reshape(runs, samples), axis=1)


def compare(panel: str, number: int, setup: Setup, samples: int, seed: int) -> dict[str, Result]:
    """For each mapspace: its size, the mean trace where MARKS are, its end in all runs, and where it beats PFM."""
    arch, work = problem(panel, setup)
    table, outcomes, means = energy_table(arch), {}, {}
    for which, preset in enumerate(PRESETS):
        space = Mapspace(arch, work, preset)
        stream = [seed, ord(panel), number, which]
        runs_edp = trace(space, table, setup.runs, samples, stream, valid=setup.valid)
        means[preset] = mean = runs_edp.mean(axis=0)
        ahead = np.flatnonzero(mean >= means["pfm"])  # the samples at which it is not ahead of PFM
        outcomes[preset] = {
            "mappings": space.size.total,
            "valid_mappings": valid_mappings(space),
            "mean": [
                float(mean[mark - 1]) if np.isfinite(mean[mark - 1]) else None for mark in MARKS if mark <= samples
            ],
            "end": float(mean[-1]),
            "standard_error": float(runs_edp[:, -1].std() / setup.runs**0.5),
            "ahead_of_pfm_after": int(ahead[-1]) + 1 if len(ahead) and ahead[-1] + 1 < samples else None,
        }
    return outcomes


def optima(panel: str, setup: Setup) -> dict[str, float]:
    """The certified least EDP of each mapspace."""
    arch, work = problem(panel, setup)
    least_edps = {}
    for preset in PRESETS:
        result = explore(arch, work, preset, SearchOptions(strategy="optimal"))
        assert isinstance(result, Found)
        assert result.optimal, f"{panel} {preset}: not proven"
        least_edps[preset] = result.edp
    return least_edps


def below(outcomes: dict[str, Result], lower: str, higher: str) -> str:
    """Whether each mapspace of `lower` ends below each of `higher`; "even" where two standard errors cannot tell."""
    verdicts = set()
    for one, other in product(lower.split(), higher.split()):
        error = float(np.hypot(outcomes[one]["standard_error"], outcomes[other]["standard_error"]))
        difference = outcomes[other]["end"] - outcomes[one]["end"]
        verdicts.add("even" if abs(difference) <= 2 * error else "yes" if difference > 0 else "no")
    return next(verdict for verdict in ("no", "even", "yes") if verdict in verdicts)


def held(panel: str, outcomes: dict[str, Result]) -> dict[str, str]:
    """Whether what the paper says of this panel is so at the end of the search."""
    near = {
        text: "yes" if abs(outcomes[one]["end"] / outcomes[other]["end"] - 1) < least else "no"
        for text, (one, other, least) in NEAR.get(panel, {}).items()
    }
    return near | {text: below(outcomes, *names) for text, names in BELOW[panel].items()}


def report(panel: str, name: str, outcomes: dict[str, Result], seconds: float) -> None:
    ends = ", ".join(f"{preset} {outcomes[preset]['end']:.4g}" for preset in PRESETS)
    said = "; ".join(f"{text}: {verdict}" for text, verdict in held(panel, outcomes).items())
    tell(f"{panel} {name:<24} {ends} | {said} ({seconds:.0f} s)")


def draw_panel(axes, panel: str, outcomes: dict[str, Result], best: dict[str, float]) -> None:  # type: ignore[no-untyped-def]
    """EDP over the optimum of PFM; the optimum of each mapspace at the right edge."""
    for number, preset in enumerate(PRESETS):
        mean = outcomes[preset]["mean"]
        axes.plot(
            MARKS[: len(mean)],
            [np.nan if edp is None else edp / best["pfm"] for edp in mean],
            LINES[number],
            color=PALETTE[number],
            linewidth=1.5,
            label=preset,
        )
        edge = 1.1e4 * 1.3**number
        axes.plot([edge, 1.25 * edge], [best[preset] / best["pfm"]] * 2, color=PALETTE[number], linewidth=3)
    layer, machine = PANELS[panel]
    axes.set(xscale="log", xlim=(10, 3.2e4), ylim=(0.5 if panel == "d" else 0.75, 1.8))
    axes.set_title(f"({panel}) {layer} on {machine}", fontsize=9, loc="left")
    axes.tick_params(labelsize=8)


def draw(every, outcomes: dict[str, dict[str, Result]], best: dict[str, dict[str, float]]) -> None:  # type: ignore[no-untyped-def]
    """A panel for each problem of one set-up."""
    for axes, panel in zip(every, outcomes, strict=True):
        draw_panel(axes, panel, outcomes[panel], best[panel])
        axes.set_xlabel("valid mappings looked at; right of 10,000: optima", fontsize=8)
        axes.set_ylabel("best EDP so far / optimum of pfm", fontsize=8)
    every[0].legend(fontsize=8, frameon=False)


def compare_all(
    setups: dict[str, Setup], panels: str, samples: int, seed: int
) -> dict[str, dict[str, dict[str, Result]]]:
    """By set-up and panel, what `compare` finds; reported on the way. Padding concerns the convolutions alone."""
    outcomes: dict[str, dict[str, dict[str, Result]]] = {}
    for number, (name, setup) in enumerate(setups.items()):
        outcomes[name] = {}
        for panel in "cd" if setup.padded else panels:
            began = time.monotonic()
            outcomes[name][panel] = compare(panel, number, setup, samples, seed)
            report(panel, name, outcomes[name][panel], time.monotonic() - began)
            if name != "base":  # which alone is drawn
                for one in outcomes[name][panel].values():
                    del one["mean"]
    return outcomes


def main() -> None:
    options = arguments(__doc__, seed=1)
    result = recorded(__file__, options) or measured(options)
    outcomes, best = result["setups"]["base"], result["optimum"]["base"]
    grid = (1, 1) if options.quick else (2, 2)
    save(__file__, options.out, result, lambda *every: draw(every, outcomes, best), grid, (8, 6))


def measured(options: argparse.Namespace) -> Result:
    """Draw mappings in every set-up, and prove the optima."""
    panels, samples, setups = "abcd", 10_000, SETUPS
    if options.quick:
        panels, samples = "a", 200
        setups = {"base": replace(SETUPS["base"], runs=3)}
    outcomes = compare_all(setups, panels, samples, options.seed)
    best = {name: {panel: optima(panel, setups[name]) for panel in panels} for name in PROVEN if name in setups}
    for name, by_panel in best.items():
        for panel, edp in by_panel.items():
            tell(f"{panel} optimum, {name}: " + ", ".join(f"{preset} {value:.4g}" for preset, value in edp.items()))
    said = {name: {panel: held(panel, one) for panel, one in by_panel.items()} for name, by_panel in outcomes.items()}
    result = {"seed": options.seed, "samples": samples, "marks": [mark for mark in MARKS if mark <= samples]}
    return result | {"statements": said, "optimum": best, "setups": outcomes}


if __name__ == "__main__":
    main()
