"""The JSON schema of an architecture file."""

from .machine import architecture_schema

__all__ = ["architecture_schema"]
