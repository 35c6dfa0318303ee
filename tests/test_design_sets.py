"""The script that runs published design sets puts sets together and tells outcomes apart."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "experiments" / "design_sets.py"
ARCH = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM}
  - !Component {name: RF, class: regfile, attributes: {depth: 16, width: 16, datawidth: 16}}
  - !Component {name: MAC, class: intmac}
"""
PROBLEM = """
problem:
  shape:
    dimensions: [P, R]
    data_spaces:
    - {name: W, projection: [R]}
    - {name: I, projection: [[[P], [R]]]}
    - {name: O, projection: [P], read_write: true}
  instance: {P: 4, R: 3}
"""
MAPPING = """
mapping:
- {target: DRAM, type: temporal, factors: P=2 R=1}
- {target: RF, type: temporal, factors: P=2 R=3}
"""


def test_sets_of_a_folder(tmp_path):
    """A set with a mapping beside it, a sparse one, one with a network, all in one file."""
    files = {
        "one/arch/a.yaml": ARCH,
        "one/prob/p.yaml": PROBLEM,
        "one/map/m.yaml": MAPPING,
        "one/map/n.yaml": MAPPING.replace("P=2 R=3", "P=2 R=2"),
        "two/whole.yaml": ARCH + PROBLEM,
        "two/sparse.yaml": ARCH + PROBLEM.replace("R: 3}", "R: 3, densities: {W: 0.5}}"),
        "two/network.yaml": ARCH.replace("class: DRAM}", "class: XY_NoC}") + PROBLEM,
    }
    for name, text in files.items():
        path = tmp_path / "clones" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, str(SCRIPT), str(tmp_path / "clones"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    found = json.loads((tmp_path / "design_sets.json").read_text())
    assert found["counts"] == {
        "one, dense": {"runs": 1, "refused": 1},
        "two, dense": {"runs": 1, "refused": 1},
        "two, sparse": {"refused": 1},
    }
    faults = [row["fault"] for row in found["refused"]]
    assert "the factors of R must make its size 3, but 2 makes 2" in faults[0]
    assert any("explicit networks are not supported" in fault for fault in faults)
    assert any("--ignore-sparsity counts the dense part" in fault for fault in faults)
