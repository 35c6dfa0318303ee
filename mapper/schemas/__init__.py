"""JSON schemas of every file that is read and every object that is written (docs/schemas.md)."""

from .table import INPUTS, NAMES, OUTPUTS, schema

__all__ = ["INPUTS", "NAMES", "OUTPUTS", "schema"]
