"""Claim: Ruby-S cuts the EDP of DeepBench's layers on a 14 x 12 array by a sixth on average at the optimum, and their
latency, where that is the aim, as well; face recognition and vision, whose sizes share factors with it, gain least.

Ruby paper (ISPASS 2022), Fig. 11: a selection of DeepBench's layers (vision, face recognition, speaker identification,
speech to text) on the Eyeriss-like machine, Ruby-S over perfect factors (PFM), once in a search for the least EDP, once
for the least latency. The selection is not printed: here are all 63 inference kernels at batch 1, by domain. Means are
arithmetic, of the ratios. Seeds 0, 1... for both mapspaces.
"""

import argparse
from functools import partial

import numpy as np
from common import Result, arguments, recorded, save, tell
from networks import compare, draw_columns, flat, pairs
from searches import Measure, jobs_option, layers_of, run

NETWORK, MACHINE = "deepbench", "eyeriss_like"
SEARCHES: dict[Measure, int] = {"edp": 12, "delay": 6}  # at random, by objective
PAPER = ("vision", "face", "speaker", "speech")  # the domains that the paper names
QUICK = ("speech_4",)


def means(names: list[str], layers: list[list[float]]) -> Result:
    """By domain, of those that the paper names, and of all: mean, least and most of the layers' ratios."""
    ratio, domain = np.array(layers)[:, 0], np.array([name.split("_")[0] for name in names])
    rows = {str(one): domain == one for one in dict.fromkeys(domain)}
    rows |= {"of the paper": np.isin(domain, PAPER), "all": np.full(len(names), True)}
    return {
        name: {"layers": int(own.sum()), "mean": ratio[own].mean(), "least": ratio[own].min(), "most": ratio[own].max()}
        for name, own in rows.items()
    }


def rows(domains: Result, results: Result) -> list[str]:
    """A table: the mean over the layers of each domain, by objective and search, and the layers' extremes."""
    names = list(domains["edp"]["proven"])
    lines = [f"| searched for | search | {' | '.join(names)} | from | to |", "|---" * (len(names) + 4) + "|"]
    for objective, readings in domains.items():
        sure, every = results[objective]["proven"]["certified"]
        for reading, means_of in readings.items():
            search = f"proven, {sure} of {every}" if reading == "proven" else f"3000 {reading}"
            cells = [f"{means_of[name]['mean']:.3f}" for name in names]
            ends = [f"{means_of['all'][end]:.3f}" for end in ("least", "most")]
            lines.append(f"| {' | '.join([objective, search, *cells, *ends])} |")
    return lines


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), (2, 1), (10, 6.2))


def measured(options: argparse.Namespace) -> Result:
    """Search every layer in both mapspaces, for EDP and for latency."""
    layers = layers_of(NETWORK, QUICK if options.quick else ())
    names = [layer.removeprefix(NETWORK + "/") for layer in layers]
    searches = {objective: 2 if options.quick else many for objective, many in SEARCHES.items()}
    tasks = {objective: pairs(MACHINE, layers, many, objective=objective) for objective, many in searches.items()}
    outcomes = run(flat(tasks.values()), options.out, NETWORK, options.jobs)
    results = {objective: compare(outcomes, own, layers.values()) for objective, own in tasks.items()}
    domains = {
        objective: {reading: means(names, one["layers"]) for reading, one in readings.items()}
        for objective, readings in results.items()
    }
    tell("\n".join(rows(domains, results)))

    return {
        "machine": MACHINE,
        "layers": names,
        "searches": searches,
        "domains": domains,
        "ruby_s_over_pfm": results,
    }


def draw(result: Result, *panels) -> None:  # type: ignore[no-untyped-def]
    """Draw a panel for each objective, the layers side by side: there are too many for rows."""
    by_objective = result["ruby_s_over_pfm"]
    draw_columns(
        panels,
        result["layers"],
        {"searched for EDP": by_objective["edp"], "searched for latency": by_objective["delay"]},
    )
    panels[0].set_ylabel("EDP of Ruby-S / EDP of PFM", fontsize=9)
    panels[1].set_ylabel("cycles of Ruby-S / cycles of PFM", fontsize=9)


if __name__ == "__main__":
    main()
