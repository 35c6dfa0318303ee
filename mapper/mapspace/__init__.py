"""Which mappings there are: counted, numbered, sampled."""

from .chain_tables import LISTED, chain_number, every_chain, numbered_chains
from .chains import ChainSpace
from .constraints import Rules, SharedLimit
from .construction import MapspaceTooLargeError
from .frame import Frame
from .holding import can_hold
from .inside import inside
from .integers import SAFE
from .keep_choices import KeepChoices
from .lazy_batch import LazyBatch
from .mapspace import Mapspace
from .orders import LevelOrder, Order
from .placement import inside_memories, sample_alike, sorted_placement
from .presets import BY_MACHINE, PRESETS, Preset, array_fill, perfect_rules, remainders
from .quotients import divisors
from .sub_mapspace import sub_mapspace
from .violations import violations

__all__ = [
    "ChainSpace",
    "Frame",
    "KeepChoices",
    "LISTED",
    "LazyBatch",
    "LevelOrder",
    "Mapspace",
    "MapspaceTooLargeError",
    "Order",
    "BY_MACHINE",
    "PRESETS",
    "Preset",
    "Rules",
    "SAFE",
    "SharedLimit",
    "array_fill",
    "can_hold",
    "chain_number",
    "divisors",
    "every_chain",
    "inside",
    "inside_memories",
    "numbered_chains",
    "perfect_rules",
    "remainders",
    "sample_alike",
    "sub_mapspace",
    "sorted_placement",
    "violations",
]
