"""A cost model for `ruby-map --cost-model`: our executor, which walks the loop nest step by step, on small layers.

    ruby-map toy_6pe_linear rank1_100 --cost-model "python examples/cost_models/executor.py toy_6pe_linear rank1_100"

It reads the mapping from the line, executes it, and answers the energy-delay product of what it counted. A nest with
too many steps is refused.
"""

import json
import sys

from ruby_map.energy import energy_table, stacked_table
from ruby_map.mapper import load
from ruby_map.mapper.mapping import read_mapping
from ruby_map.mapper.model import TooLarge, evaluate, simulate
from ruby_map.workloads import Document


def main():
    """Answer each line with a line."""
    machine, layer = load(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        mapping = read_mapping(Document("mapping", json.loads(line)["mapping"], {}), machine, layer)
        table = stacked_table(energy_table(machine), mapping.arch)
        try:
            answer = float(evaluate(mapping, table, counts=simulate(mapping)).edp[0])
        except TooLarge:
            answer = "invalid"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
