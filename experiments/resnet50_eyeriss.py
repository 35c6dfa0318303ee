"""Claim: on a 14 x 12 array Ruby-S cuts the EDP of ResNet-50 by a seventh to a fifth: a fifth fewer cycles for the
same energy, the pointwise and dense layers most.

Ruby paper (ISPASS 2022), Fig. 10: ResNet-50 on the Eyeriss-like machine, EDP, energy and cycles of Ruby-S over those of
perfect factors (PFM), by layer and for the network; random search for EDP. The paper does not print its constraints:
`eyeriss_like` is our reading (docs/decisions/020-row-stationary.md), the other set keeps the whole height of a filter
on the array. Seeds 0, 1... for both mapspaces.
"""

import argparse

from common import Result, arguments, recorded
from networks import compare, flat, pairs, report
from searches import jobs_option, layers_of, run

NETWORK = "resnet50"
MACHINES = {"eyeriss_like": 72, "strip_mining_whole_filters.yaml": 24}  # searches at random
QUICK = ("fc",)


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    report(__file__, options.out, recorded(__file__, options) or measured(options))


def measured(options: argparse.Namespace) -> Result:
    """Search every layer in both mapspaces on both machines."""
    layers = layers_of(NETWORK, QUICK if options.quick else ())
    machines = {name: 2 if options.quick else many for name, many in MACHINES.items()}
    tasks = {machine: pairs(machine, layers, many) for machine, many in machines.items()}
    outcomes = run(flat(tasks.values()), options.out, "resnet50_eyeriss", options.jobs)
    results = {machine: compare(outcomes, own, layers.values()) for machine, own in tasks.items()}
    return {"network": NETWORK, "layers": layers, "searches": machines, "ruby_s_over_pfm": results}


if __name__ == "__main__":
    main()
