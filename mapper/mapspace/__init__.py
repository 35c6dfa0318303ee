"""Which mappings there are: counted, numbered, sampled."""

from .chains import SAFE
from .lazy_batch import LazyBatch
from .mapspace import LISTED, Mapspace, every_chain
from .orders import LevelOrder, Order
from .presets import PRESETS, Preset, array_fill, perfect_rules
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
    "array_fill",
    "every_chain",
    "perfect_rules",
    "violations",
]
