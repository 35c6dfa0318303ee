"""The contents of a certificate, and its file: JSON, compressed where its name ends in `.gz` (docs/certificates.md).

A certificate covers one or more layers. For each it has the problem, the best mapping with its value, a lower bound,
and, for every choice of kept tensors, how the sets of chains were divided and why no part holds a better mapping.
"""

import gzip
import re
import zlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...energy import EnergyTable
from ...workloads import Fault, InputError, read_bytes, write_whole

FORMAT: Literal[3] = 3  # files of formats 1, without stages, and 2, without objectives asked for, are read too
MAX_BYTES = 1 << 30  # of the file, unpacked
# The verdict on a set of chains: a letter from "a" on divides it, along the group of that number
BOUNDED, WEIGHED, EVALUATED = "C", "W", "E"  # ruled out by columns; by weighted products; one combination, evaluated
FRONT = "front"  # in place of an objective: the certificate is about a front
TOLERANCE = 1e-9  # relative: nothing is lower by more


class Part(BaseModel):
    """A part of a certificate: it has all its fields and no others, and is not changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class CertifiedMapping(Part):
    """A mapping with its cost."""

    bounds: dict[str, list[int]]  # per dim, a bound per slot, the outermost first
    orders: dict[str, list[str]]  # per level its temporal loops, the outermost first; of a stack RF/1, RF/2, ...
    keep: dict[str, list[str]]  # per memory the tensors kept; with uneven placement the outermost first
    energy_pj: float
    cycles: float


class Tree(Part):
    """Sets of the chains of a group of dims: a tree whose every node is an interval of `chains`."""

    chains: list[int]  # numbers of combinations of chains; those left out are ruled out by the weights
    parts: list[int]  # per node, level by level, into how many intervals it is divided; 0: one chain


class Choice(Part):
    """The proof for a choice of kept tensors: how the sets of chains are divided and ruled out."""

    keep: dict[str, list[str]]  # per memory; with uneven placement a sequence, the outermost first
    weights: list[
        dict[str, Annotated[float, Field(ge=0)]]
    ]  # of weighted products, in turn: the trees leave out the chains that they rule out
    trees: list[Tree]  # per group of dims; none: one set of all chains
    verdicts: str  # a letter for every set, level by level


class Stage(Part):
    """The proof by a further objective, about the mappings that equal the best by those before."""

    objective: str
    best: CertifiedMapping
    lower_bound: float  # of the objective
    choices: list[Choice]


class LayerProof(Part):
    """The proof of a layer."""

    workload: str
    sizes: dict[str, Annotated[int, Field(ge=1)]]  # per dim
    pad: bool = False  # of formats 1 and 2: whether dims were rounded up; now that is among
    transformations: list[str] = []  # those that changed the layer as it is written, in turn
    remainders: list[str]  # the slots that may have them
    objective: str  # edp, energy, delay or front
    objectives: list[str] = []  # all that were asked for, in turn: the one above, those of `stages`, those not proven
    leakage: bool
    wire_pj_per_bit_mm: float
    tile_mm: float
    hop_pj: float
    drain_reads: bool = False  # files from before it was there have none
    energies: dict[str, list[float]]  # per memory read, write, update pJ, leakage per cycle; of compute: MAC, leakage
    best: list[CertifiedMapping]  # one; of a front all
    lower_bound: float  # of the objective; of a front 0
    corners: list[tuple[float, float]]  # of a front: (cycles, pJ) below all mappings not ruled out
    choices: list[Choice]  # none: the bound is that of the compulsory cycles
    stages: list[Stage] = []  # of several objectives: by those after the first, in turn


class Certificate(Part):
    """The contents of a certificate file."""

    format: Literal[1, 2, 3] = FORMAT
    program: str
    arch: str
    layers: Annotated[list[LayerProof], Field(min_length=1)]


def is_certificate(head: bytes) -> bool:
    """Whether a file that begins so is a certificate, packed or not."""
    with suppress(zlib.error):
        head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head)
    return re.match(rb'{"format":\d,"program":', head) is not None


def write_certificate(certificate: Certificate, path: Path) -> None:
    """Write a certificate, as gzip where the name ends in `.gz`. Raises InputError on failure, with nothing changed."""
    content = certificate.model_dump_json().encode()
    write_whole(path, gzip.compress(content, 6) if ".gz" in path.suffixes else content)


def certified_energies(table: EnergyTable) -> dict[str, list[float]]:
    """Return the energies of a table, by level, in the form of a certificate."""
    figures = {
        level.name: [level.read_pj, level.write_pj, level.update_pj, level.leak_pj_per_cycle] for level in table.levels
    }
    return figures | {table.compute.name: [table.compute.compute_pj, table.compute.leak_pj_per_cycle]}


def read_unpacked(path: Path) -> bytes:
    """Read a file, packed or not, of at most MAX_BYTES unpacked. Raises InputError where it cannot be read."""
    content = read_bytes(path, MAX_BYTES)
    try:
        if ".gz" in path.suffixes:
            with gzip.open(BytesIO(content)) as file:
                content = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(Fault(str(path), None, "", f"cannot be unpacked: {error}")) from None
    if len(content) > MAX_BYTES:
        raise InputError(Fault(str(path), None, "", f"at most {MAX_BYTES} bytes are expected, unpacked"))
    return content


def parsed[T: BaseModel](model: type[T], content: bytes, path: Path) -> T:
    """Read the contents of a certificate. Raises InputError where it is none."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        raise InputError(_faults(path, error)) from None


def _faults(path: Path, error: ValidationError) -> list[Fault]:
    """List the first few faults of a file."""
    return [
        Fault(str(path), None, ".".join(map(str, detail["loc"])), f"is no certificate: {detail['msg']}")
        for detail in error.errors(include_url=False)[:5]
    ]
