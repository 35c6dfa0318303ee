"""Fused groups: layers that hand each other tiles in one memory, executed, counted and costed."""

from .execute import Executed, NoBoxError, execute, whole
from .group import Group, Link
from .held_words import HeldWords, KeptTensor
from .intervals import Between, Box, Interval, boxes
from .machine import Standing
from .steps import StepLayer, step_layers

__all__ = [
    "Between",
    "Box",
    "Executed",
    "Group",
    "HeldWords",
    "Interval",
    "KeptTensor",
    "Link",
    "NoBoxError",
    "Standing",
    "StepLayer",
    "boxes",
    "execute",
    "step_layers",
    "whole",
]
