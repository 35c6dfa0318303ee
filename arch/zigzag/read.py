"""ZigZag's accelerator and mapping files: dense machines of one core read as architectures, and written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Literal
from warnings import warn

from pydantic import Field

from ...workloads import Document, Fault, InputError, Keys, Section, check, near
from ...workloads.timeloop import InputWarning
from ..spec import LARGEST

Positive = Annotated[int, Field(ge=1)]
Cost = Annotated[float, Field(ge=0, le=LARGEST)]
OPERANDS = {"I1": "Inputs", "I2": "Weights", "O": "Outputs"}
# ZigZag's dims of a convolution, and those of its matrix product, in the names of our shapes
DIMS = {
    "B": ("N",), "G": ("G", "B"), "K": ("M",), "C": ("C", "K"), "OY": ("P",), "OX": ("Q",), "FY": ("R",), "FX": ("S",),
    "OZ": ("O",), "FZ": ("T",), "D0": ("N",), "D1": ("M",), "D2": ("K",),
}  # fmt: skip
# How a port's name begins that has a bandwidth at the MAC units, where others have none, or none where others have one.
LIMITS = {True: "limited", False: "unlimited"}
RELEVANT = {"Inputs": "NGBCKPQRSOT", "Weights": "MGBCKRST", "Outputs": "NGBMPQO"}


class _Port(Section):
    name: str
    type: Literal["read", "write", "read_write"]
    bandwidth_min: Positive
    bandwidth_max: Positive
    allocation: tuple[str, ...]


class _Memory(Section):
    size: Positive
    r_cost: Cost | None = None
    w_cost: Cost | None = None
    area: Cost | None = None
    latency: int = 1
    mem_type: str = "sram"
    auto_cost_extraction: bool = False
    operands: tuple[Literal["I1", "I2", "O"], ...]
    ports: tuple[_Port, ...]
    served_dimensions: tuple[str, ...]
    force_double_buffering: bool = False


class _Array(Section):
    dimensions: tuple[str, ...]
    sizes: tuple[Positive, ...]
    is_imc: bool = False
    input_precision: tuple[int, ...] = ()
    unit_energy: Cost | None = None
    unit_area: Cost | None = None
    imc_type: str | None = None
    adc_resolution: float | None = None
    bit_serial_precision: float | None = None
    cells_size: int | None = None
    cells_area: float | None = None


class _Accelerator(Section):
    name: str
    memories: dict[str, _Memory]
    operational_array: _Array
    dataflows: dict[str, Any] | None = None


class _Mapping(Section):
    name: str
    spatial_mapping: dict[str, tuple[str, ...]] | None = None
    memory_operand_links: dict[str, str] = {}
    spatial_mapping_hint: dict[str, Any] | None = None
    temporal_ordering: tuple[tuple[Any, Any], ...] = ()


def is_zigzag_accelerator(document: Document) -> bool:
    """Whether a YAML file is an accelerator as ZigZag has it."""
    return isinstance(document.data, dict) and {"memories", "operational_array"} <= document.data.keys()


@dataclass(frozen=True)
class Spread:
    """What an array dimension may be spread over: our dims, and how far each."""

    dims: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()


def read_zigzag_mapping(document: Document, entry: str = "default") -> dict[str, Spread]:
    """The spatial mapping of one entry of a mapping file, by array dimension. Raises InputError with every fault."""
    if not isinstance(document.data, list):
        raise InputError(document.fault((), "a list of mappings is expected, each with a name"))
    faults: list[Fault] = []
    selected: dict[str, Spread] | None = None
    for index in range(len(document.data)):
        try:
            mapping = check(document, _Mapping, (index,))
            spreads = _spreads(document, (index, "spatial_mapping"), mapping.spatial_mapping or {})
            selected = spreads if mapping.name == entry else selected
        except InputError as error:
            faults += error.faults
    if not faults and selected is None:
        faults.append(document.fault((), f"no mapping named {entry} is there"))
    if faults or selected is None:
        raise InputError(faults)
    return selected


def _spreads(document: Document, at: Keys, spatial: Mapping[str, tuple[str, ...]]) -> dict[str, Spread]:
    spreads, faults = {}, []
    for dimension, texts in spatial.items():
        dims: list[str] = []
        factors = []
        for number, text in enumerate(texts):
            name, _, size = (part.strip() for part in text.partition(","))
            if name not in DIMS or not size.isdigit():
                known = ", ".join(DIMS)
                faults.append(
                    document.fault((*at, dimension, number), f'"K, 16" is expected, with {known}; got {text!r}')
                )
                continue
            dims += DIMS[name]
            factors += [f"{dim}<={size}" for dim in DIMS[name]]
        spreads[dimension] = Spread(tuple(dict.fromkeys(dims)), tuple(factors))
    if faults:
        raise InputError(faults)
    return spreads


def read_zigzag_accelerator(document: Document, spreads: Mapping[str, Spread] | None = None) -> dict[str, Any]:
    """An accelerator as the data of an architecture file. Raises InputError with all that is wrong or unknown here.

    A memory becomes a level, an array dimension an axis between the memories that serve it and those that do not. Where
    served dimensions of two memories are not inside one another, the inner one gets a copy for each element of the
    dimensions that are left out, each with its share of an access; `spreads` must say that all copies hold the same.
    """
    accelerator = check(document, _Accelerator)
    faults = list(_faults(document, accelerator))
    if faults:
        raise InputError(faults)
    word = max(accelerator.operational_array.input_precision, default=8)
    array = dict(zip(accelerator.operational_array.dimensions, accelerator.operational_array.sizes, strict=True))
    _warn_of_no_effect(document, spreads or {}, array)
    served, levels, inside = [], [], set(array)
    for number, (name, memory) in enumerate(_outer_first(accelerator.memories, array)):
        wanted = set(memory.served_dimensions)
        lost = [d for d in memory.served_dimensions if d in wanted - inside]
        faults += _copied(document, name, memory, lost, spreads)
        inside &= wanted
        served.append(set(inside))
        levels.append(_level(name, memory, number == 0, prod(array[d] for d in lost), word))
    if faults:
        raise InputError(faults)
    whole = prod(array.values())
    axes = {name: _axis(name, size, at, (spreads or {}).get(name)) for at, (name, size) in enumerate(array.items())}
    for level, level_dims, further in zip(levels, served, [*served[1:], set()], strict=True):
        if fanout := [axes[name] for name in array if name in level_dims - further and whole > 1]:
            level["fanout"] = fanout
    compute = _compute(word, accelerator.operational_array.unit_energy)
    return {"name": accelerator.name, "levels": levels, "compute": compute}


def _warn_of_no_effect(document: Document, dimensions: Iterable[str], array: Mapping[str, int]) -> None:
    """Warn of those `dimensions` of a mapping file that the array has not."""
    for dimension in (name for name in dimensions if name not in array):
        why = f"the array has {', '.join(array)}{near(dimension, array)}"
        warn(f"{document.source}: {dimension} of the mapping file has no effect: {why}", InputWarning, stacklevel=3)


def _outer_first(memories: Mapping[str, _Memory], array: Mapping[str, int]) -> list[tuple[str, _Memory]]:
    """The memories with their names, those that more of the array shares first; of equals the later in the file."""
    shared = {name: prod(array[d] for d in memory.served_dimensions) for name, memory in memories.items()}
    inner_first = enumerate(memories.items())
    return [named_memory for _, named_memory in sorted(inner_first, key=lambda pair: (-shared[pair[1][0]], -pair[0]))]


def _compute(word: int, energy: float | None) -> dict[str, Any]:
    """The MAC units, whose `energy` is in pJ."""
    compute: dict[str, Any] = {"name": "MAC", "class": "intmac", "word_bits": word}
    return compute if energy is None else compute | {"energy": {"compute_pj": energy}}


def _faults(document: Document, accelerator: _Accelerator) -> Iterable[Fault]:
    """What has no counterpart here, and names that are none."""
    array = accelerator.operational_array
    if array.is_imc or array.imc_type or array.cells_size:
        yield document.fault(("operational_array",), "computing in memory has no counterpart here")
    if len(array.dimensions) != len(array.sizes) or len(set(array.dimensions)) != len(array.dimensions):
        yield document.fault(("operational_array", "sizes"), "a size for each of the dimensions is expected, each once")
    for name, memory in accelerator.memories.items():
        yield from _memory_faults(document, name, memory, array)
    if not accelerator.memories:
        yield document.fault(("memories",), "a memory is expected")
        return
    yield from _outermost_faults(document, *list(accelerator.memories.items())[-1], array)


def _memory_faults(document: Document, name: str, memory: _Memory, array: _Array) -> Iterable[Fault]:
    """Dimensions of a memory that the array has not, and ports that are missing."""
    at: Keys = ("memories", name)
    for number, dimension in enumerate(memory.served_dimensions):
        if dimension not in array.dimensions:
            known = ", ".join(array.dimensions)
            yield document.fault((*at, "served_dimensions", number), f"unknown dimension {dimension!r}; known: {known}")
    if not memory.ports:
        yield document.fault((*at, "ports"), "a port is expected")


def _outermost_faults(document: Document, name: str, memory: _Memory, array: _Array) -> Iterable[Fault]:
    """What the outermost memory lacks to hold and serve all."""
    missing = [operand for operand in OPERANDS if operand not in memory.operands]
    if missing:
        rule = f"the outermost memory must hold all operands, {name} lacks {', '.join(missing)}"
        yield document.fault(("memories", name, "operands"), rule)
    beside = [d for d in array.dimensions if d not in memory.served_dimensions]
    if beside:
        rule = f"the outermost memory must serve the whole array, {name} does not serve {', '.join(beside)}"
        yield document.fault(("memories", name, "served_dimensions"), rule)


def _copied(
    document: Document, name: str, memory: _Memory, lost: list[str], spreads: Mapping[str, Spread] | None
) -> Iterable[Fault]:
    """What stands against copies of a memory over dimensions that it serves together."""
    tensors = [OPERANDS[operand] for operand in memory.operands]
    for dimension in lost:
        spread = None if spreads is None else spreads.get(dimension, Spread())
        moved = spread and sorted({dim for dim in spread.dims for tensor in tensors if dim in RELEVANT[tensor]})
        if spread is None or moved:
            why = (
                "give a mapping file that says so" if spread is None else f"it is spread over {', '.join(moved or [])}"
            )
            rule = f"stands beside another memory: copies are equal only where {dimension} has no dim of its operands"
            yield document.fault(("memories", name, "served_dimensions"), f"{rule}; {why}")


def _level(name: str, memory: _Memory, outermost: bool, copies: int, word: int) -> dict[str, Any]:
    """A memory as a level, its bandwidths in words of `word` bits; `copies` share the energies."""
    width = max(port.bandwidth_max for port in memory.ports)
    level: dict[str, Any] = {"name": name, "class": "DRAM" if "dram" in name.lower() else "SRAM"}
    level |= {} if outermost else {"capacity_bits": memory.size}
    level |= {"width_bits": width, "word_bits": next(n for n in (word, 8, width) if width % n == 0)}
    if memory.force_double_buffering:
        level["multiple_buffering"] = 2
    level |= _bandwidths(memory, word)
    tensors = [OPERANDS[operand] for operand in dict.fromkeys(memory.operands)]
    if not outermost:
        level["keep"] = tensors
        level["bypass"] = [tensor for tensor in OPERANDS.values() if tensor not in tensors]
    return level | _energy(memory, copies)


def _bandwidths(memory: _Memory, word: int) -> dict[str, Any]:
    """The keys of a level for what all its ports move in a cycle, in words; without a key where some have no limit.

    A port for both serves its reads and writes in turn. Where there are no others, that is the one limit; where there
    are none of these, reads and writes are limited apart.
    """
    kinds = {port.type for port in memory.ports}
    sides = {"read_bandwidth": {"read", "read_write"}, "write_bandwidth": {"write", "read_write"}}
    limits = sides if kinds != {"read_write"} else {}
    limits |= {"shared_bandwidth": {"read", "write", "read_write"}} if "read_write" in kinds else {}
    bandwidths = {}
    for key, serving in limits.items():
        ports = [port for port in memory.ports if port.type in serving]
        if ports and all(_limited(port, memory) for port in ports):
            bandwidths[key] = sum(port.bandwidth_max for port in ports) / word
    return bandwidths


def _energy(memory: _Memory, copies: int) -> dict[str, Any]:
    """The key of a level for the energies that its file gives, each a share of `copies`; empty where it gives none."""
    if memory.r_cost is None or memory.w_cost is None or memory.auto_cost_extraction:
        return {}
    read, write = memory.r_cost / copies, memory.w_cost / copies
    return {"energy": {"read_pj": read, "write_pj": write, "update_pj": write}}


def _limited(port: _Port, memory: _Memory) -> bool:
    """Whether a port is slower than what it serves may be: those at the MAC units are not, but by their name."""
    return not port.name.startswith(LIMITS[False]) and (
        bool(memory.served_dimensions) or port.name.startswith(LIMITS[True])
    )


def _axis(name: str, size: int, number: int, spread: Spread | None) -> dict[str, Any]:
    axis: dict[str, Any] = {"name": name, "size": size, "mesh": "XY"[number % 2]}
    if spread is not None:
        axis |= {"dims": list(spread.dims)}
        axis |= {"factors": list(spread.factors)} if spread.factors else {}
    return axis
