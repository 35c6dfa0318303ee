"""A sweep given as a mapping is that of a file with the same keys."""

import json
from pathlib import Path

import numpy as np
import pytest
from ruby_map.mapper import sweep
from ruby_map.workloads import InputError

GIVEN = {
    "architecture": "linear_5",
    "parameters": {"pes": [2, 4]},
    "workloads": ["rank1_100"],
    "search": {"strategy": "random", "samples": 50},
    "pareto": ["area", "edp"],
}


def test_the_same_as_its_file(tmp_path):
    """Points, values and frontiers; the same points, so that one goes on where the other stopped."""
    path = tmp_path / "sweep.yaml"
    path.write_text(json.dumps(GIVEN))
    written, given = sweep(path, tmp_path / "out"), sweep(GIVEN)
    assert given.pareto_json() == written.pareto_json()
    assert given.plan.name == "sweep"
    assert sweep(GIVEN, tmp_path / "out").pareto_json() == written.pareto_json()


def test_arrays_ranges_and_paths_are_values(tmp_path):
    """What a program has at hand."""
    layer = tmp_path / "layer.yaml"
    layer.write_text("{name: layer, shape: rank1, sizes: {D: 20}}")
    more = GIVEN | {"parameters": {"pes": np.array([2, 4])}, "seeds": range(2), "workloads": (Path(layer),)}
    swept = sweep(more)
    assert swept.plan.points == len(swept.outcomes) == 4
    assert [values["pes"] for values in swept.values.values()] == [2, 4]


def test_faults_name_their_paths():
    """Every one, by the path of its key."""
    wrong = GIVEN | {"parameters": {"pe": [1]}, "seeds": [-1], "objectiv": "edp"}
    with pytest.raises(InputError) as error:
        sweep(wrong)
    assert {fault.path for fault in error.value.faults} == {"parameters.pe", "seeds[0]", "objectiv"}
    assert all(fault.source == "sweep" for fault in error.value.faults)
