"""Which files a command may write over."""

from .inputs import inputs_noted, is_input, kind_of, note_input
from .owned import Manifest, OutputFile, begins_with, manifest_name, manifest_text, output_faults

__all__ = [
    "Manifest",
    "OutputFile",
    "begins_with",
    "inputs_noted",
    "is_input",
    "kind_of",
    "manifest_name",
    "manifest_text",
    "note_input",
    "output_faults",
]
