"""The schema of an architecture file, whole or what differs from its base, with a word on every key."""

from copy import deepcopy

from ...workloads.json_schemas import DRAFT, EXPRESSION, Schema, schema_of
from ..components import ClassSection
from ..schema import Machine

_LOOPS = {
    "Loops.factors": "Rules on the bounds of dims: C=2, S<=3, M>=2, R=full (the whole dim); values may be expressions.",
    "Loops.dims": "The dims that may have a bound over 1 here; all if left out.",
    "Loops.remainders": "Whether bounds may leave remainders; the mapspace decides if left out.",
    "TemporalLoops.outermost": "The order of the loops begins with these dims, outermost first.",
    "TemporalLoops.innermost": "The order of the loops ends with these dims; the last is the innermost.",
    "TemporalLoops.max_loops": "At most so many loops with a bound over 1.",
    "Fanout.name": "The axis's name.",
    "Fanout.mesh": "X: columns of the array, Y: rows.",
    "Fanout.size": "How many copies there are of everything further inside.",
    "Fanout.min_utilization": "The share of the copies that a mapping must use, 0 to 1.",
    "Fanout.code": "What ruby-code makes of it: a loop, threads, or lanes of vectors.",
    "Fanout.systolic": "Whether words pass along it from element to element.",
    "Fanout.double_buffered": "Whether elements of the systolic array take in the next tile while they compute.",
}
_ENERGIES = {
    "LevelEnergies.read_pj": "pJ per read of the full width.",
    "LevelEnergies.write_pj": "pJ per write of the full width.",
    "LevelEnergies.update_pj": "pJ per update of the full width; that of a write if left out.",
    "LevelEnergies.leak_pj_per_cycle": "pJ per cycle and instance.",
    "LevelEnergies.area_um2": "Square micrometres per instance.",
    "ComputeEnergies.compute_pj": "pJ per MAC.",
    "ComputeEnergies.leak_pj_per_cycle": "pJ per cycle and unit.",
    "ComputeEnergies.area_um2": "Square micrometres per unit.",
}
_LEVEL = {
    "Part.name": "Its name, in mappings and reports.",
    "Part.class": "DRAM, SRAM, regfile, intmac..., or any class whose energies you give.",
    "Part.type": "Of a DRAM its kind: LPDDR4, DDR3...",
    "Part.technology": "Nanometres, as 45nm; that of the machine if left out.",
    "Part.word_bits": "Bits of a word; 16 if left out.",
    "Part.attributes": "Any further keys, for energy engines; an expression becomes a number.",
    "Part.energy": "Energies that win over every estimate.",
    "Level.width_bits": "Bits of an access, a multiple of word_bits; one word if left out.",
    "Level.capacity_bytes": "Capacity of an instance in bytes, as 64 * 1024. The outermost level may have none.",
    "Level.capacity_words": "Capacity of an instance in words, in place of capacity_bytes.",
    "Level.capacity_bits": "Capacity of an instance in bits, in place of capacity_bytes.",
    "Level.depth": "Capacity of an instance in accesses of the full width, in place of capacity_bytes.",
    "Level.tensor_bits": "Bits of a tensor's words where they are others here.",
    "Level.banks": "Banks of an SRAM; 1 if left out.",
    "Level.ports": "Ports of an SRAM; 2 if left out.",
    "Level.read_bandwidth": "Words read per cycle and instance; unbounded if left out.",
    "Level.write_bandwidth": "Words written per cycle and instance; unbounded if left out.",
    "Level.row_bandwidth": "Rows of a dram that are opened per cycle; unbounded if left out.",
    "Level.dram": "Bursts and rows of the outermost level, which are then counted.",
    "DramTiming.burst_bits": "Bits that a burst moves.",
    "DramTiming.row_bits": "Bits of a row, of all its chips; rows are not counted if left out.",
    "DramTiming.activate_pj": "pJ of opening a row and closing it.",
    "DramTiming.refresh_pj_per_cycle": "pJ of refresh, in every cycle.",
    "DramTiming.layout": "Per tensor the dims of the ranks that lie innermost, the innermost first.",
    "Level.start_cycles": "Cycles in which each of its tiles begins; nothing else runs in them.",
    "Level.shared_bandwidth": "Words read and written per cycle and instance, together; unbounded if left out.",
    "Level.multiple_buffering": "Mappings may use the capacity divided by this; 1 if left out.",
    "Level.placement": "uneven: each tensor stands below loops of its own.",
    "Level.code": "What ruby-code makes of it: nothing (a cache), a buffer, registers.",
    "Level.keep": "Tensors that must be kept here.",
    "Level.bypass": "Tensors that must not be kept here; the mapper chooses for the others.",
    "Level.temporal": "Rules on the loops of this level.",
    "Level.fanout": "Copies of everything further inside, the outer axis first.",
}
_MACHINE = {
    "Machine.name": "The architecture's name.",
    "Machine.technology": "Nanometres, as 45nm; needed where energies are estimated.",
    "Machine.clock_ns": "Nanoseconds per cycle, for times, powers and leakage.",
    "Machine.variables": "Numbers and expressions that any number of the file may use by name.",
    "Machine.components": "Compound classes of your own, by name.",
    "Machine.levels": "The storage levels, the outermost first.",
    "Machine.compute": "The MAC units below the last level.",
    "Machine.max_loops": "At most so many temporal loops with a bound over 1, of all levels together.",
    "Machine.calibration": "What was measured on a real machine, and fitted to it; no count or cost depends on it.",
    "Measured.measured_on": "The processor, or where the measurements are from.",
    "Measured.dtype": "The type of the words of the programs.",
    "Measured.peak_gflops": "The highest rate that was measured, GFLOP/s.",
    "Measured.gb_per_second": "Bandwidths by level, GB/s.",
    "Measured.fitted_on": "The layers whose programs were timed.",
    "Measured.seconds": "Of programs: seconds per unit of each term of the fit.",
    "Measured.cycles": "Of mappings: cycles per unit of each term of the fit.",
    "Measured.energy_pj": "Of mappings: the factor of each part of the model's energy, and pJ per cycle.",
    "Measured.held_out": "The relative errors of these fits on what they did not see.",
    "Measured.origin": "What these fits are to: a file, its measurements, the day.",
    "Measured.energies": "A digest of the energies and charges that energy_pj was fitted with.",
    "HeldOutErrors.cycles": "Those of cycles.",
    "HeldOutErrors.energy_pj": "Those of energies.",
    "Errors.half": "Half of them are at most this.",
    "Errors.nine_tenths": "Nine of ten are.",
    "PartSection.class": "The class of the part.",
    "PartSection.count": "How many there are; a number or an expression of attributes.",
    "PartSection.attributes": "Values of the part's attributes, numbers or expressions.",
    "ClassSection.attributes": "The attributes of a component of this class, with their values if left out.",
    "ClassSection.parts": "What a component of this class is made of.",
    "ClassSection.actions": "Of each action, how often each part's action happens: PART.ACTION: number or expression.",
}
TOLD = _LOOPS | _ENERGIES | _LEVEL | _MACHINE
BASE = "Another architecture, of the library or beside this file: this one says only what differs."


_VALUE: Schema = {"type": ["number", "string"]}
OTHER: dict[str, Schema] = {
    "checked_name": {"type": "string", "pattern": r"^[A-Za-z_][\w-]*$"},
    "_no_twice": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "_factor_rule": {"type": "string", "pattern": r"^\s*[A-Za-z_]\w*\s*(<=|>=|=)\s*[^<>=]+$"},
    "_technology": {"anyOf": [{"type": "number", "exclusiveMinimum": 0},
                              {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(nm)?\s*$"}]},
    "_attribute": {"type": ["number", "string", "boolean"]},
    "_expression": _VALUE,
    "_default": {"type": ["number", "string", "null"]},
}  # fmt: skip


def architecture_schema() -> Schema:
    """Make the schema of a file in this project's form. One with a `base` lacks what the base has."""
    whole, classes = schema_of(Machine, "Machine", TOLD, OTHER), schema_of(ClassSection, "Class", TOLD, OTHER)
    parts = {**whole.pop("$defs"), **classes.pop("$defs"), "Class": classes, "Machine": whole}
    for schema in (whole, classes):
        del schema["$schema"]
    names = {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, EXPRESSION]}}
    whole["properties"]["variables"] |= names
    whole["properties"]["components"] |= {"type": "object", "additionalProperties": {"$ref": "#/$defs/Class"}}
    changed = {f"Changed{name}": _changed(parts[name]) for name in ("Machine", "Level", "ComputeUnit")}
    changed["ChangedLevel"]["required"] = ["name"]
    keys = changed["ChangedMachine"]["properties"]
    keys["base"] = {"type": "string", "description": BASE}
    keys["levels"]["items"] = {"$ref": "#/$defs/ChangedLevel"}
    keys["compute"]["$ref"] = "#/$defs/ChangedComputeUnit"
    parts |= changed
    given = {"type": "object", "required": ["base"]}
    choice = {"if": given, "then": {"$ref": "#/$defs/ChangedMachine"}, "else": {"$ref": "#/$defs/Machine"}}
    return {"$schema": DRAFT, "title": "An architecture of ruby-map", "type": "object", **choice, "$defs": parts}


def _changed(schema: Schema) -> Schema:
    """The same where nothing is needed."""
    return {key: deepcopy(value) for key, value in schema.items() if key != "required"}
