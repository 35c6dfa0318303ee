"""The schemas of files that a user writes, beside architectures and workloads: sweeps, mappings, transforms."""

from collections.abc import Mapping

from ...workloads.json_schemas import EXPRESSION, Schema, schema_of
from ..designs import DESIGNERS, RESULTS
from ..fusion.plans import FIGURES, PlanFile
from ..mapping.transforms import Transforms
from ..mapspace import PRESETS
from ..networks import NetworkPlanFile
from ..problem import OBJECTIVES
from ..searchers import STRATEGIES
from ..sweeps import SweepFile

WHOLE_LEVEL = r"^levels\.[^.]+$"  # the path of a level as a whole
SWEEP = {
    "SweepFile.name": "The sweep's name; else that of the file.",
    "SweepFile.architecture": "A name of the library, or a path relative to this file.",
    "SweepFile.parameters": "What varies: a variable of the architecture or a field by its path, levels.NAME.KEY.",
    "SweepFile.linked": "Parameters that vary together: value i of each with value i of the others.",
    "SweepFile.workloads": "Names of the library, or paths relative to this file; a network is one workload.",
    "SweepFile.mapspaces": "Which mappings there are; +pad and +im2col transform layers first.",
    "SweepFile.seeds": "Each point is searched once for each.",
    "SweepFile.objective": "What each search minimises; several with commas.",
    "SweepFile.search": "The options of ruby-map.",
    "SweepFile.energy": "Where energies come from, and what is charged beside the actions.",
    "SweepFile.transfer": "Whether a point takes the mapping of another design where that is better.",
    "SweepFile.designer": "Who chooses what is searched: grid, all points; branch-and-bound, few; random, optuna.",
    "SweepFile.minimize": "An expression of results: edp, energy * area_mm2. The best design is then searched for.",
    "SweepFile.subject_to": "Limits of designs: area_mm2 <= 4, tokens_per_s >= 30.",
    "SweepFile.weights": "By workload: what its results count in an expression; 1 where it is left out.",
    "SweepFile.gap": "The share of a figure that need not be proven.",
    "SweepFile.proofs": "Proofs of layers at most, about.",
    "SweepFile.side_by_side": "Sets of designs that are divided at a time.",
    "SweepFile.sensitivity": "Whether the designs one step beside the best are searched, and what binds it is said.",
    "SweepFile.pareto": "Two or three axes of the frontier; expressions where the designer is not grid.",
    "SweepFile.limit": "Points at most: whole designs, drawn at random.",
    "SweepFile.mapping_pages": "Files of pages of mappings at most, which report.html links.",
    "SearchSection.strategy": "The search.",
    "SearchSection.victory": "Valid mappings in a row without an improvement that end it.",
    "SearchSection.samples": "Mappings drawn, valid or not.",
    "SearchSection.effort": "quick, normal, thorough, or numbers, as mappings=100000,steps=2000000.",
    "SearchSection.time_limit": "Seconds; a cap.",
    "SearchSection.budget": "Mappings (1000000) or a time (60s) that all layers share.",
    "SearchSection.patience": "FRACTION:N: N valid mappings without an improvement by the fraction.",
    "SearchSection.target": "The value of the first objective at which it ends.",
    "SearchSection.distinct": "Whether orders that differ only in loops of bound 1 count once.",
    "SearchSection.fuse": "Plans of networks: auto fuses layers, resident lets tensors stay on chip; none by default.",
    "EnergySection.engine": "default, accelergy or hwcomponents.",
    "EnergySection.ert": "An energy reference table, relative to this file.",
    "EnergySection.art": "An area reference table, relative to this file.",
    "EnergySection.leakage": "Whether leakage is charged.",
    "EnergySection.wire_pj_per_bit_mm": "pJ per bit and millimetre of wire; with tile_mm.",
    "EnergySection.tile_mm": "Millimetres of a hop.",
    "EnergySection.hop_pj": "pJ per word and hop, in place of both.",
    "EnergySection.drain_reads": "Whether reads of outputs that move up are charged.",
}
TRANSFORMS = {
    "Transforms.transforms": "The decisions that make the mapping, in any order.",
    **{f"{one}.transform": "What it does." for one in ("Tile", "Spread", "Reorder", "Keep", "Pad")},
    **{f"{one}.level": "The level." for one in ("Tile", "Spread", "Reorder", "Keep")},
    **{f"{one}.dim": "The dim." for one in ("Tile", "Spread", "Pad")},
    **{f"{one}.bound": "The bound of its loop." for one in ("Tile", "Spread")},
    "Spread.axis": "The axis below the level.",
    "Reorder.dims": "The order, outermost first; dims left out stand outside.",
    "Keep.tensors": "The tensors that the level keeps.",
    "Pad.size": "The size to which the dim is rounded up.",
}
PLAN = {
    "PlanFile.group": "How the layers are executed together.",
    "PlanFile.stages": "The mappings of each layer.",
    "GroupShape.stages": "The layers, in the order of the network; the last makes the output of the group.",
    "GroupShape.shared": "The shared loops, the outermost first: a dim of the last layer, and its tile.",
    "PlanGroup.keeper": "The memory in which the tensors between layers stand.",
    "GroupShape.halo": "By shared dim: retain what later tiles need again, or recompute it, as where it is left out.",
    "GroupShape.life": "By layer.tensor: stage (it does not stay), group (it stays), or a dim, inside whose loop.",
    "PlanStage.name": "The name of the layer.",
    "PlanStage.layers": "Its mappings.",
    "PlanLayer.sizes": "The steps that the mapping is of, by the sizes of dims; dims left out are whole. "
    "Without it, it is the mapping of all steps without another, cut to their sizes.",
    "PlanLayer.accumulates": "Whether the output holds sums before these steps; without it, of both.",
    "PlanLayer.mapping": "Entries, as in a mapping file.",
}
NETWORK_PLAN = PLAN | {
    "NetworkPlanFile.keeper": "The memory in which tensors stay, between parts and between fused layers.",
    "NetworkPlanFile.parts": "The parts in the order in which they are executed.",
    "NetworkPlanFile.resident": "The tensors that stay in the keeper from one part to others.",
    "PlanFilePart.group": "Its layers: one, or several that are fused. Left out where an operation begins it.",
    "PlanFilePart.stages": "The mappings of each layer.",
    "PlanFilePart.between": "The operations on rows between its layers.",
    "PlanFilePart.operations": "The operations that end it, applied to its words as they pass; without layers the "
    "first of them makes these words.",
    "PlanFileResident.tensor": "The layer or operation that makes it, the last of its part.",
    "PlanFileResident.until": "The last layer or operation that reads it there.",
    "PlanFileResident.copied": "Whether it leaves the chip, too, for those that read it later.",
}
_WORDS: Schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_KEYS: Mapping[str, tuple[str, Schema]] = {
    "target": ("A level, or an axis.", {"type": "string"}),
    "type": (
        "Loops in time, loops spread over instances, or what the level keeps.",
        {"enum": ["temporal", "spatial", "bypass", "bypassing", "datatype", "dataspace"]},
    ),
    "tensor": ("Of a memory with uneven placement: the tensor above these loops.", {"type": "string"}),
    "factors": ("The bound of each dim: M=4, or M=4,2 where the last round is 2; M=0 is the whole dim.", _WORDS),
    "permutation": ("The dims, innermost first.", _WORDS),
    "split": ("So many dims of the permutation are spread over mesh X, the others over mesh Y.", {"type": "integer"}),
    "keep": ("The tensors that the level keeps.", _WORDS),
    "bypass": ("The tensors that go past it.", _WORDS),
    "no_link_transfer": ("Read and left out.", {}),
}


def sweep_schema() -> Schema:
    """Make the schema of SWEEP.yaml."""
    schema = schema_of(SweepFile, "A sweep of ruby-map", SWEEP, {"str": {"type": ["string", "number"]}})
    keys, search = schema["properties"], schema["$defs"]["SearchSection"]["properties"]
    keys["mapspaces"]["items"] = {"enum": [f"{name}{end}" for name in PRESETS for end in ("", "+pad", "+im2col")]}
    keys["pareto"]["examples"] = [["area", "edp"]]
    keys["designer"]["examples"] = list(DESIGNERS)
    keys["minimize"]["examples"] = list(RESULTS)
    keys["objective"]["examples"] = [*OBJECTIVES, "delay,energy"]
    search["strategy"]["enum"] = list(STRATEGIES)
    many = {"type": "array", "items": {"not": {"type": ["null", "object"]}}, "minItems": 1}
    number: Schema = {"anyOf": [{"type": "number"}, EXPRESSION]}
    steps = {"type": "object", "required": ["from", "to"], "additionalProperties": False,
             "properties": dict.fromkeys(("from", "to", "step", "times"), number)}  # fmt: skip
    values = {"anyOf": [{"type": ["number", "string", "boolean"]}, many, steps]}
    levels = {"type": "array", "items": {"type": ["object", "null"]}, "minItems": 1}
    either = {"patternProperties": {WHOLE_LEVEL: levels}, "additionalProperties": values}
    keys["parameters"] |= either
    keys["linked"]["items"] = {"type": "object", "minProperties": 1, **either}
    return schema | {"required": ["architecture", "workloads"]}


def transforms_schema() -> Schema:
    """Make the schema of a mapping as transforms."""
    return schema_of(Transforms, "A mapping as transforms, of ruby-map", TRANSFORMS)


def plan_schema() -> Schema:
    """Make the schema of a group with its mappings."""
    schema = _with_entries(schema_of(PlanFile, "A plan of fused layers, of ruby-map", PLAN))
    # figures of the object of ruby-map --group --json, which are passed over
    for name, keys in (("", FIGURES[""]), ("PlanGroup", FIGURES["group"]), ("PlanLayer", FIGURES["layers"])):
        properties = schema["$defs"][name]["properties"] if name else schema["properties"]
        properties |= {key: {"description": "A figure, passed over."} for key in sorted(keys)}
    return schema


def network_plan_schema() -> Schema:
    """Make the schema of a plan of a network."""
    return _with_entries(schema_of(NetworkPlanFile, "A plan of a network, of ruby-map", NETWORK_PLAN))


def _with_entries(schema: Schema) -> Schema:
    """Say what the mappings of layers have."""
    schema["$defs"]["PlanLayer"]["properties"]["mapping"]["items"] = {"$ref": "#/$defs/Entry"}
    schema["$defs"]["Entry"] = mapping_schema()["$defs"]["Entry"]
    return schema


def mapping_schema() -> Schema:
    """Make the schema of a mapping file of Timeloop's, which ruby-map reads and writes."""
    keys = {name: {**schema, "description": text} for name, (text, schema) in _KEYS.items()}
    entry = {"type": "object", "required": ["target", "type"], "additionalProperties": False, "properties": keys}
    entries = {"type": "array", "items": {"$ref": "#/$defs/Entry"}}
    whole = {"type": "object", "required": ["mapping"], "properties": {"mapping": entries}}
    head = {"$schema": schema_of(int, "")["$schema"], "title": "A mapping, of ruby-map"}
    return head | {"anyOf": [whole, entries], "$defs": {"Entry": entry}}
