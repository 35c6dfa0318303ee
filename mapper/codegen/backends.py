"""The table of back ends: what writes a nest as a program."""

from collections.abc import Mapping

from .c import CBackend
from .exo import ExoBackend
from .program import Backend
from .tvm import TvmBackend

BACKENDS: Mapping[str, Backend] = {backend.name: backend for backend in (CBackend(), ExoBackend(), TvmBackend())}
