"""A cost model for `ruby-map --cost-model`: energy-delay product by other energies, with bandwidths.

    ruby-map eyeriss_like resnet50/conv3_x_3x3 --cost-model "python examples/cost_models/other_energies.py"

It counts nothing itself: the words that each memory reads and writes are in the line. The first argument is how long it
takes for a mapping, in seconds (default 0.05), as a slow simulator would; the second the machine, `like` ours (the
default: outer memories cost more) or `unlike` (inner memories cost more, and bandwidths are scarce).
"""

import json
import sys
import time
from typing import NamedTuple


class Machine(NamedTuple):
    """Energies of a word in pJ, and bandwidths in words per cycle and instance; memories of one instance are shared."""

    outermost_pj: float
    shared_pj: float
    local_pj: float
    mac_pj: float
    outermost_rate: float
    rate: float


MACHINES = {
    "like": Machine(100.0, 5.0, 0.8, 0.5, 4.0, 2.0),
    "unlike": Machine(5.0, 1.0, 20.0, 0.5, 0.5, 0.6),
}


def edp(question, machine):
    """Energy in pJ times cycles."""
    figures, macs = question["figures"], 1
    for loop in question["nest"]:
        macs *= loop["bound"]  # last rounds are shorter, so these are at most a few too many
    energy, cycles = machine.mac_pj * macs, figures["cycles"]
    for number, level in enumerate(figures["levels"].values()):
        words = sum(tensor["reads"] + tensor["fills"] + tensor["updates"] for tensor in level["tensors"].values())
        inner_pj = machine.shared_pj if level["instances"] == 1 else machine.local_pj
        energy += words * (inner_pj if number else machine.outermost_pj)
        cycles = max(cycles, words / level["instances"] / (machine.rate if number else machine.outermost_rate))
    return energy * cycles


def main():
    """Answer each line with a line."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.05
    machine = MACHINES[sys.argv[2] if len(sys.argv) > 2 else "like"]
    for line in sys.stdin:
        time.sleep(seconds)
        print(json.dumps(edp(json.loads(line), machine)), flush=True)


if __name__ == "__main__":
    main()
