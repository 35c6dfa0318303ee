"""The keys of SWEEP.yaml."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from ...workloads import FloatExpr, IntExpr, Section
from ..exploration.sets import NONE
from .energy import EnergySection
from .plan import FILES, MAX_LIMIT


class SearchSection(Section):
    """As the options of ruby-map."""

    strategy: str = "auto"
    victory: IntExpr = 3000
    samples: IntExpr | None = None
    effort: str = ""
    time_limit: FloatExpr | None = None
    budget: Annotated[str, BeforeValidator(str)] = ""
    patience: Annotated[str, BeforeValidator(str)] = ""
    target: FloatExpr | None = None
    distinct: bool = False
    fuse: str = NONE


class SweepFile(Section):
    """The whole file."""

    name: Annotated[str, Field(min_length=1)] | None = None
    architecture: str = ""
    parameters: dict[str, Any] = {}
    linked: tuple[dict[str, Any], ...] = ()
    workloads: tuple[str, ...] = ()
    mapspaces: Annotated[tuple[str, ...], Field(min_length=1)] = ("ruby-s",)
    seeds: Annotated[tuple[Annotated[IntExpr, Field(ge=0)], ...], Field(min_length=1)] = (0,)
    objective: str = "edp"
    search: SearchSection = SearchSection()
    energy: EnergySection = EnergySection()
    transfer: bool = True
    designer: str | None = None
    minimize: Annotated[str, BeforeValidator(str)] | None = None
    subject_to: tuple[str, ...] | str = ()
    weights: dict[str, Annotated[FloatExpr, Field(gt=0)]] = {}
    gap: Annotated[FloatExpr, Field(ge=0, lt=1)] = 0.0
    proofs: Annotated[IntExpr, Field(ge=0)] | None = None
    side_by_side: Annotated[IntExpr, Field(ge=1)] = 1
    mapping_pages: Annotated[IntExpr, Field(ge=0)] = FILES
    sensitivity: bool = False
    pareto: Annotated[tuple[str, ...], Field(min_length=2, max_length=3)] = ("area", "edp")
    limit: Annotated[IntExpr, Field(ge=1, le=MAX_LIMIT)] | None = None
