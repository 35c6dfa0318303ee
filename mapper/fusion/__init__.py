"""Fused groups: layers that hand each other tiles in one memory, executed, counted and costed."""

from .build import stages_of
from .costs import GroupCosts, Transfer, outer_words, transfer_cycles
from .execute import Executed, NoBoxError, execute, whole
from .group import Group, Link
from .held_words import HeldWords, KeptTensor, LoopWords, OuterLoop
from .intervals import Between, Box, Interval, boxes
from .machine import Standing
from .steps import StepLayer, step_layers

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
    "Standing",
    "StepLayer",
    "Transfer",
    "boxes",
    "execute",
    "outer_words",
    "stages_of",
    "transfer_cycles",
    "step_layers",
    "whole",
]
