"""JSON schemas: how they are made of models, and that of layers and networks."""

from .generate import DRAFT, EXPRESSION, Schema, schema_of
from .layers import workload_schema

__all__ = ["DRAFT", "EXPRESSION", "Schema", "schema_of", "workload_schema"]
