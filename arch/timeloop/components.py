"""Makes levels and compute units of Timeloop's components: aliases of attributes, sizes, meshes, what is refused."""

import difflib
import re
from math import prod
from typing import Any

from ...workloads import Keys
from ...workloads.timeloop import Names, Reader, Siblings
from ..spec import SMALLEST, Compute, Storage

STORAGE_CLASSES = ("DRAM", "SRAM", "regfile", "smartbuffer", "storage")  # a class that contains one of these
COMPUTE_CLASSES = ("mac", "compute")
NETWORK_CLASSES = ("XY_NoC", "Legacy", "ReductionTree", "SimpleMulticast")

_WORD = ("word_bits", "word_width", "datawidth")
_BLOCK = ("block_size", "n_words")
_CLUSTER = ("cluster_size",)
_WIDTH = ("width", "memory_width", "data_storage_width")
_DEPTH = ("depth", "memory_depth", "data_storage_depth")
_BANKS = ("num_banks", "n_banks")
_PORTS = ("num_ports", "n_ports", "nports")
_USED = {
    *_WORD,
    *_BLOCK,
    *_CLUSTER,
    *_WIDTH,
    *_DEPTH,
    *_BANKS,
    *_PORTS,
    *("entries", "sizeKB", "multiple_buffering"),
    *("read_bandwidth", "write_bandwidth", "shared_bandwidth", "bandwidth"),
    *("instances", "meshX", "meshY", "technology"),
}
# Attributes that change Timeloop's counts, cycles or energies in ways that this model does not know, each with the
# values that change nothing; an attribute without such values is always refused.
_REFUSED: dict[str, tuple[object, ...]] = {
    "min_utilization": (0, 0.0),
    "per_dataspace_bandwidth_consumption_scale": ({},),
    "network_fill_latency": (0,),
    "network_drain_latency": (0,),
    "network_read": (),
    "network_fill": (),
    "network_drain": (),
    "network_update": (),
    "network_type": ("1:1", "1:N"),
    "allow_overbooking": (False,),
    "vector_access_energy": (),
    "addr_gen_energy": (0, 0.0, -1),
}

# What an array of metadata is like, and what it may do: nothing without sparse optimizations, which decide.
_SPARSE = (
    *("metadata_block_size", "metadata_datawidth", "metadata_storage_width", "metadata_storage_depth"),
    *("concordant_compressed_tile_traversal", "tile_partition_supported"),
    *("decompression_supported", "compression_supported"),
)

_ENGINES = ("type", "technology_nm", "global_cycle_seconds", "latency", "action_latency_cycles")  # which engines read
NEARLY = 0.87  # how like one of these a name is that is a slip: one letter of seven; see _nearly


class Attributes:
    """The attributes of a component, its own and those inherited, each with its path."""

    def __init__(self, reader: Reader, paths: list[Keys]):
        self.reader = reader
        self.paths: dict[str, Keys] = {}  # the later (inner) paths win
        self.names: dict[Keys, Siblings] = {}  # what the attributes at a path may use
        around: Names = reader.names
        for path in paths:
            own = {key: value for key, value in reader.mapping(path).items() if key not in ("name", "class")}
            self.paths |= {key: (*path, key) for key in own}
            around = self.names[path] = Siblings(own, around)
        self.inside = around  # the names that what stands beside the attributes may use

    def path(self, names: tuple[str, ...]) -> Keys | None:
        """The path of the first of the aliases `names` that is given.

        Two that disagree are a fault; of the width of a word Timeloop takes the first, and so do we, with a warning.
        """
        given = [name for name in names if name in self.paths and self.value(name) is not None]
        if len({str(self.value(name)) for name in given}) > 1 and names == _WORD:
            rule = f"{given[0]} is {self.value(given[0])}, which holds, as in Timeloop"
            self.reader.warn(self.paths[given[1]], f"has no effect: {rule}")
        elif len({str(self.value(name)) for name in given}) > 1:
            self.reader.fault(self.paths[given[1]], f"{' and '.join(given)} mean the same; give one")
        return self.paths[given[0]] if given else None

    def value(self, name: str) -> Any:
        """The value of an attribute, a number where its text computes one; None where it is not given."""
        return self.names[self.paths[name][:-1]].plain(name) if name in self.paths else None

    def integer(self, *names: str, least: int = 1) -> int | None:
        """The integer under one of the aliases `names`; None where none is given, or with a fault."""
        path = self.path(names)
        return None if path is None else self.reader.integer(path, least, self._usable(path))

    def number(self, *names: str) -> float | None:
        """The number under one of the aliases `names`; None where none is given, or with a fault."""
        path = self.path(names)
        return None if path is None else self.reader.number(path, names=self._usable(path))

    def _usable(self, path: Keys) -> Names:
        """The names that the attribute at `path` may use."""
        return self.names[path[:-1]].beside(str(path[-1]))

    def refuse(self) -> None:
        """Adds a fault for each attribute of _REFUSED that changes something."""
        for name, path in self.paths.items():
            value = self.value(name)
            if name in _REFUSED and value is not None and value not in _REFUSED[name]:
                self.reader.fault(path, f"{name} is not supported, got {value!r}")

    def rest(self) -> tuple[tuple[str, object], ...]:
        """The attributes that no field of a component holds, sorted: `type`, `technology_nm`... for energy engines.

        Warns of names that are nearly ours; engines have names of their own.
        """
        for name, path in self.paths.items():
            if meant := _nearly(name):
                self.reader.warn(path, f'is left to the energy engines; did you mean "{meant}"?')
        values = {
            name: self.value(name)
            for name in self.paths
            if name not in _USED and name not in _REFUSED and name not in _SPARSE and self.value(name) is not None
        }
        technology = self.value("technology")
        digits = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(nm)?\s*", str(technology))
        if digits:
            size = float(digits[1])
            values["technology_nm"] = int(size) if size.is_integer() else size
        elif technology not in (None, "DRAM", "SRAM", -1):
            values["technology"] = technology
        return tuple(sorted((name, _hashable(value)) for name, value in values.items()))


def _nearly(name: str) -> str:
    """The name of ours that `name` may be a slip of; empty where it is one, or like none."""
    known = {own.lower(): own for own in (*_USED, *_REFUSED, *_SPARSE, *_ENGINES)}
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=NEARLY)
    near += [own for own in known if sorted(own) == sorted(name.lower()) or _one_letter_off(own, name.lower())]
    return "" if name in known.values() or not near else known[near[0]]


def _one_letter_off(own: str, name: str) -> bool:
    """Whether one letter of a word of five or more is another, not the first."""
    comparable = len(own) == len(name) >= 5 and own[0] == name[0]
    return comparable and sum(a != b for a, b in zip(own, name, strict=True)) == 1


def _hashable(value: Any) -> object:
    """`value` with tuples for lists and mappings: attributes are part of a frozen value."""
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return tuple((key, _hashable(item)) for key, item in value.items())
    return value


def kind(cls: str) -> str | None:
    """`storage`, `compute`, `network`, `nothing`, or None for a class that is none of them."""
    if cls in NETWORK_CLASSES:
        return "network"
    if cls == "nothing":
        return "nothing"
    if any(word in cls for word in STORAGE_CLASSES):
        return "storage"
    return "compute" if any(word in cls.lower() for word in COMPUTE_CLASSES) else None


def class_kind(reader: Reader, path: Keys, cls: str) -> str | None:
    """The `kind` of a class; explicit networks and unknown classes are faults."""
    meant = kind(cls)
    if meant == "network":
        reader.fault(path, f"explicit networks are not supported, got class {cls}")
    elif meant is None:
        known = ", ".join(STORAGE_CLASSES + COMPUTE_CLASSES)
        reader.fault(path, f"unknown class {cls!r}; a class contains one of {known}")
    return meant


def is_dummy(level: Storage) -> bool:
    """Whether a storage can keep nothing."""
    return level.cls == "dummy_storage" or level.capacity_bits == 0


def enabled(reader: Reader, path: Keys) -> None:
    """Adds a fault where a component is switched off."""
    if reader.value((*path, "enabled")) not in (None, True):
        reader.fault((*path, "enabled"), f"enabled must be true, got {reader.value((*path, 'enabled'))!r}")


def storage(reader: Reader, path: Keys, name: str, cls: str, attributes: Attributes) -> Storage:
    """A storage level. The sizes follow Timeloop: a word has word_bits, a vector block_size words.

    One of depth 0 holds nothing: it only carries loops, as a dummy storage does (`is_dummy`).
    """
    attributes.refuse()
    dram = "DRAM" in cls or attributes.value("technology") == "DRAM"
    word = attributes.integer(*_WORD) or 16
    block, cluster = _block(attributes, word)
    words = _words(attributes, word, block)
    own = attributes.rest() if cluster == 1 else tuple(sorted((*attributes.rest(), ("cluster_size", cluster))))
    if not dram and all(attributes.path(names) is None for names in (_DEPTH, ("entries",), ("sizeKB",))):
        reader.fault(path, f"{name}: one of depth, entries, sizeKB is missing; only a DRAM may be unbounded")
    read, write = _bandwidths(attributes)
    return Storage(
        name,
        cls,
        attributes=own,
        capacity_bits=None if words is None else words * word,
        word_bits=word,
        width_bits=cluster * block * word,
        banks=attributes.integer(*_BANKS) or 1,
        ports=attributes.integer(*_PORTS) or 2,
        read_bandwidth=_positive(attributes, "read_bandwidth", read),
        write_bandwidth=_positive(attributes, "write_bandwidth", write),
        shared_bandwidth=_positive(attributes, "shared_bandwidth", attributes.number("shared_bandwidth")),
        multiple_buffering=attributes.integer("multiple_buffering") or 1,
    )


def _bandwidths(attributes: Attributes) -> tuple[float | None, float | None]:
    """The bandwidths of reads and of writes, which may be given as their sum; None where there is no limit."""
    both = attributes.number("bandwidth")
    if both is None:
        return attributes.number("read_bandwidth"), attributes.number("write_bandwidth")
    if attributes.value("read_bandwidth") or attributes.value("write_bandwidth"):
        rule = "bandwidth and read_bandwidth or write_bandwidth: give one kind"
        attributes.reader.fault(attributes.paths["bandwidth"], rule)
    return both / 2, both / 2


def _positive(attributes: Attributes, name: str, bandwidth: float | None) -> float | None:
    if bandwidth is not None and bandwidth < SMALLEST:
        rule = f"must be at least {SMALLEST:g}" if bandwidth else "must be over 0"
        attributes.reader.fault(attributes.paths.get(name, attributes.paths.get("bandwidth", ())), rule)
    return None if bandwidth is None else float(bandwidth)


def _block(attributes: Attributes, word: int) -> tuple[int, int]:
    """Words of one vector access of an instance, and how many instances share one memory of the given width.

    As in Timeloop the energies of a level are those of an access to the whole memory, and an instance pays its share.
    """
    block, cluster = attributes.integer(*_BLOCK), attributes.integer(*_CLUSTER)
    width, known_block, known_cluster = attributes.integer(*_WIDTH), block or 1, cluster or 1
    if width is None:
        return known_block, known_cluster
    at = attributes.path(_WIDTH) or ()
    known = word * known_block * known_cluster
    if width % known or (block and cluster and width != known):
        rule = "a multiple of " if block is None or cluster is None else ""
        attributes.reader.fault(
            at, f"must be {rule}word_bits * block_size * cluster_size = {_product(word, block, cluster)}, got {width}"
        )
        return known_block, known_cluster
    if block is None:
        return width // known, known_cluster
    return block, cluster or width // known


def _product(word: int, block: int | None, cluster: int | None) -> str:
    known = [number for number in (word, block, cluster) if number is not None]
    return " * ".join(map(str, known)) + (f" = {prod(known)}" if len(known) > 1 else "")


def _words(attributes: Attributes, word: int, block: int) -> int | None:
    """The words of an instance; None: no attribute gives them."""
    entries, depth = attributes.integer("entries", least=0), attributes.integer(*_DEPTH, least=0)
    size = attributes.number("sizeKB")
    given = {
        "entries": entries,
        "depth": None if depth is None else depth * block,
        "sizeKB": None if size is None else int(size * 8192 // word),
    }
    sizes = {name: words for name, words in given.items() if words is not None}
    if len(set(sizes.values())) > 1:
        text = ", ".join(f"{name} gives {words} words" for name, words in sizes.items())
        at = next(path for name, path in attributes.paths.items() if name in ("entries", "sizeKB"))
        attributes.reader.fault(at, f"sizes must agree: {text}")
    return next(iter(sizes.values()), None)


def compute(name: str, cls: str, attributes: Attributes) -> Compute:
    """The MAC units with these attributes."""
    word = attributes.integer(*_WORD) or attributes.integer("multiplier_width") or 16
    return Compute(name, cls, attributes=attributes.rest(), word_bits=word)
