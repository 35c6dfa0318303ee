"""Fused groups: layers that hand each other tiles in one memory, executed, counted and costed."""

from .build import stages_of
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
    "Group",
    "GroupCosts",
    "HeldWords",
    "Interval",
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
    "layer_passes",
    "outer_words",
    "pass_costs",
    "passes",
    "stages_of",
    "statistics_words",
    "step_layers",
    "transfer_cycles",
    "transfer_flows",
]
