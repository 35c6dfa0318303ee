"""The table of back ends: what writes a nest as a program."""

from collections.abc import Mapping

from .c import CBackend
from .program import Backend

BACKENDS: Mapping[str, Backend] = {backend.name: backend for backend in (CBackend(),)}
