"""Fused groups: layers that hand each other tiles in one memory, executed, counted and costed."""

from .build import stages_of
from .cost_items import CostItem, ItemKind, group_items, moved_energies
from .costs import GroupCosts, Transfer, outer_words, transfer_cycles, transfer_flows
from .group import STAGE, Group, Link
from .held_words import HeldWords, KeptTensor, LoopWords, OuterLoop
from .intervals import Between, Box, Interval, boxes
from .machine import Standing
from .passes import Pass, layer_passes, pass_costs, passes, statistics_words
from .steps import StepLayer, step_layers

__all__ = [
    "Between",
    "Box",
    "CostItem",
    "Group",
    "GroupCosts",
    "HeldWords",
    "Interval",
    "ItemKind",
    "KeptTensor",
    "Link",
    "LoopWords",
    "OuterLoop",
    "STAGE",
    "Pass",
    "Standing",
    "StepLayer",
    "Transfer",
    "boxes",
    "group_items",
    "layer_passes",
    "moved_energies",
    "outer_words",
    "pass_costs",
    "passes",
    "stages_of",
    "statistics_words",
    "step_layers",
    "transfer_cycles",
    "transfer_flows",
]
