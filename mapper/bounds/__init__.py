"""What no mapping of a set can be below, in energy and in cycles."""

from .charges import MovementCost, charges, distribution_costs, flows
from .dim_groups import DimGroup, grouped
from .geometric import Factors, Geometric
from .ideal import Ideal, ideal, least_between, least_outermost
from .innermost import InnermostLoops
from .kernels import Bounding, Program, engine
from .limits import ObjectiveLimit, exceeds
from .rank_words import RankTiles
from .relaxation import Bound, Relaxation
from .set_ascent import Ascended, SetAscent
from .terms import Terms
from .weighted_terms import ABSENT, WeightedTerms
from .wires import word_pj

__all__ = [
    "ABSENT",
    "Ascended",
    "Bound",
    "Bounding",
    "MovementCost",
    "DimGroup",
    "Factors",
    "Geometric",
    "Ideal",
    "InnermostLoops",
    "ObjectiveLimit",
    "Program",
    "RankTiles",
    "Relaxation",
    "SetAscent",
    "Terms",
    "WeightedTerms",
    "charges",
    "engine",
    "exceeds",
    "flows",
    "grouped",
    "distribution_costs",
    "ideal",
    "least_between",
    "least_outermost",
    "word_pj",
]
