"""Certificates: what a proof did, written so that simple code of its own can check it (docs/certificates.md)."""

from .format import (
    BOUNDED,
    EVALUATED,
    WEIGHED,
    Certificate,
    Choice,
    Layer,
    MappingSaid,
    Tree,
    read_certificate,
    write_certificate,
)
from .problem import Refused
from .verify import Verified, energies_said, verify

__all__ = [
    "BOUNDED",
    "EVALUATED",
    "WEIGHED",
    "Certificate",
    "Choice",
    "Layer",
    "MappingSaid",
    "Refused",
    "Tree",
    "Verified",
    "energies_said",
    "read_certificate",
    "verify",
    "write_certificate",
]
