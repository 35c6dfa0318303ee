"""Which mappings there are: counted, numbered, sampled."""

from .chain_tables import LISTED, every_chain
from .chains import divisors
from .constraints import Shared
from .integers import SAFE
from .lazy_batch import LazyBatch
from .mapspace import Mapspace
from .orders import LevelOrder, Order
from .presets import PRESETS, Preset, array_fill, perfect_rules
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
    "divisors",
    "every_chain",
    "perfect_rules",
    "smaller",
    "violations",
]
