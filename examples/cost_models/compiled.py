"""A cost model for `ruby-map --cost-model`: the time of the mapping as a program in C, measured here, or predicted.

    ruby-machine > cpu.yaml
    ruby-map cpu.yaml layer.yaml --cost-model "python examples/cost_models/compiled.py cpu.yaml layer.yaml"

It compiles the mapping, runs it, compares with NumPy, and answers the seconds of the fastest run; a program that is
wrong ends it. With `predicted` as the third argument it answers the seconds by the calibration of the machine, in
milliseconds. Do not give `--jobs` with measured times: programs that run side by side slow each other down.
"""

import json
import sys

from ruby_map.mapper import load
from ruby_map.mapper.codegen import BACKENDS, DATA_TYPES, Nest, ProgramCounts, measured_nest, predicted_seconds
from ruby_map.mapper.mapping import read_mapping
from ruby_map.workloads import Document

BACKEND, KIND = BACKENDS["c"], DATA_TYPES["float32"]


def seconds(nest, predicted):
    """The seconds of a program, or "invalid" where it cannot be written."""
    if predicted:
        return predicted_seconds(ProgramCounts(nest, KIND))
    if faults := BACKEND.faults(nest, KIND):
        sys.stderr.write("\n".join(map(str, faults)) + "\n")
        return "invalid"
    ran = measured_nest(BACKEND, nest, KIND)
    if not ran.correct:
        sys.exit("the program computes something else than NumPy")
    return ran.seconds


def main():
    """Answer each line with a line."""
    machine, layer = load(sys.argv[1], sys.argv[2])
    predicted = sys.argv[3:] == ["predicted"]
    if predicted and not (machine.calibration and machine.calibration.seconds):
        sys.exit(f"{machine.name} has no fitted times: ruby-machine {sys.argv[1]} LAYER... fits them")
    for line in sys.stdin:
        mapping = read_mapping(Document("mapping", json.loads(line)["mapping"], {}), machine, layer)
        print(json.dumps(seconds(Nest.of(mapping), predicted)), flush=True)


if __name__ == "__main__":
    main()
