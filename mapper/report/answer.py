"""What a cost model of the user said, beside the figures of our model and never among them."""

from ..model.figures import plain
from ..problem import COST_MODEL, first_objective
from ..search.outcome import Answer


def minimised(objective: str) -> tuple[str, str]:
    """Return the key and the label of what a search minimised first."""
    if objective == COST_MODEL:
        return COST_MODEL, "answer of the cost model"
    return first_objective(objective).column, first_objective(objective).label


def answer_text(answer: Answer) -> str:
    """Say in one line what the model answers for the best mapping by it."""
    value = "no mapping valid by it" if answer.value is None else f"{answer.value:.6g}"
    return f"cost model   {value} ({answer.command}); the figures above are those of our model"


def answer_json(answer: Answer) -> dict[str, object]:
    """Return the key `cost_model` of `--json`."""
    value = None if answer.value is None else plain(answer.value)
    failure: dict[str, object] = {"failure": answer.failure} if answer.failure else {}
    return {"command": answer.command, "value": value} | failure
