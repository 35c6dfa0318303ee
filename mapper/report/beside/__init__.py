"""Timeloop's statistics of a mapping beside our figures."""

from .comparison import Beside, beside
from .text import beside_json, beside_text

__all__ = ["Beside", "beside", "beside_json", "beside_text"]
