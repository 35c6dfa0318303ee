"""Claim: on 15 elements, whose number has no factor in common with the channels, Ruby-S cuts the EDP of ResNet-50 by a
quarter in random searches and by more than a third at the optimum; on 9 elements of three by three by more than half.

Ruby paper (ISPASS 2022), Fig. 12: ResNet-50 on the Simba-like machine with 15 elements of four 4-wide vector MACs, and
with 9 elements of three 3-wide ones: EDP of Ruby-S over that of perfect factors (PFM), by layer and for the network.
The paper has parallelism over C and M, which leaves PFM 8 of the 15 elements. Seeds 0, 1... for both mapspaces.
"""

import argparse

from common import Result, arguments, recorded
from networks import compare, flat, pairs, report
from searches import jobs_option, layers_of, run

NETWORK = "resnet50"
SMALL = (("pes", 9), ("vectors", 3), ("lanes", 3))
MACHINES = {  # and their variables
    "simba_like": ("simba_like", ()),
    "simba_like_9": ("simba_like", SMALL),
}
SEARCHES = 24  # at random
QUICK = ("fc",)


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    report(__file__, options.out, recorded(__file__, options) or measured(options))


def measured(options: argparse.Namespace) -> Result:
    """Search every layer in both mapspaces on both machines."""
    layers = layers_of(NETWORK, QUICK if options.quick else ())
    searches = 2 if options.quick else SEARCHES
    tasks = {name: pairs(machine, layers, searches, variables) for name, (machine, variables) in MACHINES.items()}
    outcomes = run(flat(tasks.values()), options.out, "resnet50_simba", options.jobs)
    results = {name: compare(outcomes, own, layers.values()) for name, own in tasks.items()}
    return {"network": NETWORK, "layers": layers, "searches": searches, "ruby_s_over_pfm": results}


if __name__ == "__main__":
    main()
