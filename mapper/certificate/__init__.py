"""Certificates record a proof in a form that simple, independent code can check (docs/certificates.md)."""

from .format import (
    BOUNDED,
    EVALUATED,
    WEIGHED,
    Certificate,
    CertifiedMapping,
    Choice,
    Layer,
    Tree,
    read_certificate,
    write_certificate,
)
from .problem import Refused
from .verify import Verified, certified_energies, verify

__all__ = [
    "BOUNDED",
    "EVALUATED",
    "WEIGHED",
    "Certificate",
    "Choice",
    "Layer",
    "CertifiedMapping",
    "Refused",
    "Tree",
    "Verified",
    "certified_energies",
    "read_certificate",
    "verify",
    "write_certificate",
]
