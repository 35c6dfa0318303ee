"""Which mappings there are: counted, numbered, sampled."""

from .chain_tables import LISTED, every_chain
from .chains import divisors
from .constraints import Shared
from .holding import can_hold
from .integers import SAFE
from .lazy_batch import LazyBatch
from .mapspace import Mapspace
from .orders import LevelOrder, Order
from .presets import PRESETS, Preset, array_fill, perfect_rules, remainders
from .smaller import smaller
from .violations import violations

__all__ = [
    "LazyBatch",
    "LISTED",
    "LevelOrder",
    "Mapspace",
    "Order",
    "PRESETS",
    "Preset",
    "SAFE",
    "Shared",
    "array_fill",
    "can_hold",
    "divisors",
    "every_chain",
    "perfect_rules",
    "remainders",
    "smaller",
    "violations",
]
