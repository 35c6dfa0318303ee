"""The contents of a certificate of fused groups: what no group of some stages is below, and why (docs/fusion.md).

All groups of some tiles are bounded again by the checker. What it cannot rule out so must be named here, each with the
sums of its layers, which have proofs of their own.
"""

import gzip
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from ...workloads import write_whole
from .format import Certificate, CertifiedMapping, LayerProof, Part, parsed, read_unpacked

MOST_HEAD = 10_000  # bytes in which a file says what it is

GROUP_FORMAT: Literal[1] = 1

Shared = list[tuple[str, Annotated[int, Field(ge=1)]]]  # (dim of the last stage, tile), the outermost loop first


class CertifiedGroup(Part):
    """A group: what is shared, where tiles stay, and how long."""

    keeper: str
    shared: Shared
    retained: list[str]  # shared dims along which words between stages stay
    kept: list[tuple[int, str, Annotated[int, Field(ge=0)]]]  # (stage, tensor, how many shared loops stand outside it)


class CertifiedLayer(Part):
    """A layer that a stage is in steps, with what is proven of it for energy + slope x cycles, or for cycles.

    The proof is one of energy where the MAC units leak `slope` pJ per cycle together; of cycles where `slope` is null.
    """

    stage: int
    sizes: dict[str, Annotated[int, Field(ge=1)]]
    accumulates: bool  # whether its output holds sums before
    resident: list[str]  # the tensors that stand in the keeper
    keeper: str
    room_bits: int | None  # of the keeper for the other tensors; the proof holds for no more room, too
    slope: Annotated[float, Field(ge=0)] | None
    proof: LayerProof


class CertifiedSum(Part):
    """The least sum of a group at a slope: its layers, by their numbers in the certificate, each in how many steps."""

    slope: Annotated[float, Field(ge=0)] | None
    layers: list[tuple[int, Annotated[int, Field(ge=1)]]]


class SolvedGroup(Part):
    """A group that bounds alone do not rule out, with the sums that do."""

    group: CertifiedGroup
    sums: Annotated[list[CertifiedSum], Field(min_length=1)]


class BestLayer(Part):
    """A layer that a stage of the best group is in steps, with its mapping."""

    stage: int
    sizes: dict[str, Annotated[int, Field(ge=1)]]
    accumulates: bool
    mapping: CertifiedMapping


class GroupProof(Part):
    """The proof about the groups of some stages."""

    stages: Annotated[list[str], Field(min_length=2)]  # names of layers of the network, in turn
    sizes: list[dict[str, Annotated[int, Field(ge=1)]]]  # per stage, by dim
    keepers: list[str]  # every memory that may be the keeper
    tiles: dict[str, list[Annotated[int, Field(ge=1)]]]  # per dim of the last stage that may be shared, ascending
    remainders: list[str]  # the slots that may have them
    objective: str  # edp, energy or delay
    leakage: bool
    wire_pj_per_bit_mm: float
    tile_mm: float
    hop_pj: float
    drain_reads: bool
    energies: dict[str, list[float]]  # as in the proof of a layer
    best: CertifiedGroup
    best_layers: list[BestLayer]
    energy_pj: float  # of the best
    cycles: float
    lower_bound: float  # of the objective
    layers: list[CertifiedLayer]
    solved: list[SolvedGroup]


class GroupCertificate(Part):
    """The contents of a certificate file about fused groups."""

    format: Literal[1] = GROUP_FORMAT
    program: str
    arch: str
    group: GroupProof


def write_group_certificate(certificate: GroupCertificate, path: Path) -> None:
    """Write a certificate, as gzip where the name ends in `.gz`. Raises InputError on failure, with nothing changed."""
    content = certificate.model_dump_json().encode()
    write_whole(path, gzip.compress(content, 6) if ".gz" in path.suffixes else content)


def read_certificate(path: Path) -> Certificate | GroupCertificate:
    """Read a certificate, of layers or of groups, packed or not. Raises InputError where it is none."""
    content = read_unpacked(path)
    head = re.sub(rb"\s", b"", content[:MOST_HEAD])
    of_group = re.match(rb'{"format":\d,"program":"[^"]*","arch":"(?:[^"\\]|\\.)*","group":', head)
    return parsed(GroupCertificate, content, path) if of_group else parsed(Certificate, content, path)
