"""Spaces of designs, what no design of a set can be better than, and designers that choose what is searched next."""

from .designer import Designer, Finding, Settings, Trial, note
from .expressions import ExpressionError, Values, computed, numbers
from .linked import LinkedParameters
from .outdone import outdone
from .parameters import fields, with_values
from .question import Question, objective_asked, unsuited
from .relaxed import figures, kind_of
from .results import RESULTS, Constraint, Expression, Known
from .space import Kind, Space
from .standing import Score, Standing
from .table import DEFAULT, DESIGNERS, GRID
from .values import read_groups

__all__ = [
    "DEFAULT",
    "DESIGNERS",
    "GRID",
    "Constraint",
    "Designer",
    "ExpressionError",
    "Expression",
    "Kind",
    "Known",
    "LinkedParameters",
    "Question",
    "RESULTS",
    "Score",
    "Settings",
    "Space",
    "Standing",
    "Finding",
    "Trial",
    "Values",
    "computed",
    "fields",
    "figures",
    "kind_of",
    "note",
    "numbers",
    "objective_asked",
    "outdone",
    "read_groups",
    "unsuited",
    "with_values",
]
