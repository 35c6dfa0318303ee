"""Certificates record a proof in a form that simple, independent code can check (docs/certificates.md)."""

from .format import (
    BOUNDED,
    EVALUATED,
    FRONT,
    WEIGHED,
    Certificate,
    CertifiedMapping,
    Choice,
    LayerProof,
    Stage,
    Tree,
    certified_energies,
    is_certificate,
    read_certificate,
    write_certificate,
)

__all__ = [
    "BOUNDED",
    "Certificate",
    "CertifiedMapping",
    "Choice",
    "EVALUATED",
    "FRONT",
    "LayerProof",
    "Stage",
    "Tree",
    "WEIGHED",
    "certified_energies",
    "is_certificate",
    "read_certificate",
    "write_certificate",
]
