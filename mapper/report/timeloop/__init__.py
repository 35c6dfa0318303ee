"""Timeloop's statistics of a mapping beside our figures."""

from .comparison import Beside, compare_with_timeloop
from .text import beside_json, beside_text

__all__ = ["Beside", "compare_with_timeloop", "beside_json", "beside_text"]
