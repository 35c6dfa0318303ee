"""Every schema by its name."""

from collections.abc import Callable, Mapping

from ...arch.json_schemas import architecture_schema
from ...workloads.json_schemas import Schema, schema_of, workload_schema
from ..certificate import Certificate
from ..store import Line
from .commands import (
    Checked,
    Energies,
    Imported,
    Library,
    MapspaceSize,
    MapspaceSizes,
    Problems,
    Program,
    Refused,
    Removed,
)
from .comparisons import Compared
from .differences import Difference
from .fits import Fits
from .graphs import Graph
from .groups import CheckedGroup, Group, GroupModel
from .inputs import mapping_schema, network_plan_schema, plan_schema, sweep_schema, transforms_schema
from .network_plans import PlanModel
from .pipelines import Pipeline
from .results import Best, Layer, Model, Network
from .rewrites import Rewritten
from .sweeps import Pareto, Results, Summary

INPUTS: Mapping[str, Callable[[], Schema]] = {
    "architecture": architecture_schema,
    "workload": workload_schema,
    "sweep": sweep_schema,
    "mapping": mapping_schema,
    "transforms": transforms_schema,
    "plan": plan_schema,
    "network-plan": network_plan_schema,
}
OUTPUTS: Mapping[str, object] = {
    "result": Network | Layer,  # ruby-map --json, stats.json
    "group": Group,  # ruby-map --group --json
    "pipeline": Pipeline,  # ruby-map --pipeline --json
    "graph": Graph,  # ruby-map --graph --json
    "size": MapspaceSizes | MapspaceSize,  # ruby-map --size --json
    "library": Library,  # ruby-map --list --json
    "group-model": GroupModel,  # ruby-model ARCH NETWORK PLAN --json
    "plan-model": PlanModel,  # ruby-model ARCH NETWORK PLAN --json
    "model": Model,  # ruby-model --json
    "fit": Fits,  # ruby-model ARCH --fit MEASURED --json
    "difference": Difference,  # ruby-model A B --json, --set
    "energy": Energies,
    "check": Checked | CheckedGroup | Refused,
    "sweep-summary": Summary,
    "pareto": Pareto,
    "sweep-results": Results,
    "store": Problems | Best | Imported | Removed,
    "program": Program,
    "rewrite": Rewritten,  # ruby-rewrite --json, rewrites.json
    "comparison": Compared,
    "certificate": Certificate,
    "store-line": Line,
}
NAMES = (*INPUTS, *OUTPUTS)


def schema(name: str) -> Schema:
    """Make the schema of that name, one of NAMES."""
    if name in INPUTS:
        return INPUTS[name]()
    return schema_of(OUTPUTS[name], f"{name.replace('-', ' ').capitalize()}, of ruby-map")
