"""Results of fused groups."""

from .executed import Comparison, Figure, compared
from .explained import group_explanation
from .group_folder import write_group_folder
from .group_page import group_html
from .group_result import Alone, GroupResult
from .group_text import layer_text, shared_over, stages_json, values_yaml, written_stages
from .level_words import group_words_json
from .plan_result import PlanResult

__all__ = [
    "Alone",
    "Comparison",
    "Figure",
    "GroupResult",
    "PlanResult",
    "compared",
    "group_explanation",
    "group_html",
    "group_words_json",
    "layer_text",
    "shared_over",
    "stages_json",
    "values_yaml",
    "write_group_folder",
    "written_stages",
]
