"""Fused groups: layers that hand each other tiles in one memory, executed, counted and costed."""

from .build import stages_of
from .costs import GroupCosts, Transfer, outer_words, transfer_cycles, transfer_flows
from .execute import Executed, NoBoxError, execute
from .group import Group, Link
from .held_words import HeldWords, KeptTensor, LoopWords, OuterLoop
from .intervals import Between, Box, Interval, boxes
from .machine import Standing
from .passes import Pass, layer_passes, pass_costs, passes, statistics_words
from .steps import StepLayer, step_layers
from .word_values import drawn_inputs, whole

__all__ = [
    "Between",
    "Box",
    "Executed",
    "Group",
    "GroupCosts",
    "HeldWords",
    "Interval",
    "KeptTensor",
    "Link",
    "LoopWords",
    "NoBoxError",
    "OuterLoop",
    "Pass",
    "Standing",
    "StepLayer",
    "Transfer",
    "boxes",
    "drawn_inputs",
    "execute",
    "layer_passes",
    "outer_words",
    "pass_costs",
    "passes",
    "stages_of",
    "statistics_words",
    "step_layers",
    "transfer_cycles",
    "transfer_flows",
    "whole",
]
