"""A cost model for `ruby-map --cost-model`: Timeloop's `timeloop-model`, where it is installed.

    ruby-map eyeriss_like alexnet/conv2 --cost-model \\
        "python examples/cost_models/timeloop.py eyeriss_like alexnet/conv2"

Architecture, problem and energies are written once in Timeloop's formats, the mapping for each line. The answer is
energy times cycles as Timeloop reports them; a mapping that it rejects is refused, with its reason on standard error.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from ruby_map.arch.timeloop import write_timeloop_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import load
from ruby_map.workloads.timeloop import write_timeloop_problem

BINARY, STATISTICS = "timeloop-model", "timeloop-model.stats.txt"


def energies(table):
    """Our energies as Timeloop reads them: an ERT. Each action is of a vector, in pJ."""

    def entry(name, actions):
        return {"name": name, "actions": [{"name": a, "arguments": {}, "energy": pj} for a, pj in actions.items()]}

    levels = [
        entry(level.name, {"read": level.read_pj, "fill": level.write_pj, "update": level.update_pj, "leak": 0.0})
        for level in table.levels
    ]
    compute = entry(table.compute.name, {"compute": table.compute.compute_pj, "leak": 0.0})
    return {"version": 0.3, "tables": [*levels, compute]}


def answer(folder, mapping):
    """Run Timeloop on a mapping; return energy in pJ times cycles, or "invalid"."""
    (folder / "mapping.yaml").write_text(yaml.safe_dump({"mapping": mapping}, sort_keys=False))
    inputs = [str(folder / f"{name}.yaml") for name in ("arch", "problem", "ERT", "mapping")]
    done = subprocess.run([BINARY, *inputs, "-o", str(folder)], capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
        return "invalid"
    text = (folder / STATISTICS).read_text()
    cycles = re.search(r"^Cycles: (\d+)$", text, re.MULTILINE)
    energy = re.search(r"^Energy: ([\d.e+]+) uJ$", text, re.MULTILINE)
    if cycles is None or energy is None:
        sys.exit(f"{STATISTICS} has no lines of cycles and energy")
    return int(cycles[1]) * float(energy[1]) * 1e6


def main():
    """Answer each line with a line."""
    if shutil.which(BINARY) is None:
        sys.exit(f"{BINARY} is not installed, or not on the PATH")
    machine, layer = load(sys.argv[1], sys.argv[2])
    with TemporaryDirectory() as name:
        folder = Path(name)
        documents = {
            "arch": write_timeloop_arch(machine),
            "problem": write_timeloop_problem(layer),
            "ERT": {"ERT": energies(energy_table(machine))},
        }
        for part, document in documents.items():
            (folder / f"{part}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        for line in sys.stdin:
            (folder / STATISTICS).unlink(missing_ok=True)
            print(json.dumps(answer(folder, json.loads(line)["mapping"])), flush=True)


if __name__ == "__main__":
    main()
