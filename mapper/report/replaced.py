"""The JSON object of a result with better mappings in place of its own: its search and its lower bounds stay."""

from typing import Any

from ..problem import ROUNDING, first_objective
from ..runtime import InternalError
from .network_result import NetworkResult
from .proof_text import gap_between
from .result import Result
from .result_json import Json, result_json

# of the search, not of its answer
STAY = (
    "mapspace",
    "remainders",
    "reason",
    "objective",
    "seed",
    "search",
    "lower_bound",
    "combinations",
    "count",
    "alike",
)


def with_mappings_of(before: Json, better: Result | NetworkResult, origin: str) -> Json:
    """Put the mappings of `better`, of the same layers and machine, in place of those in the object of `--json`.

    A layer that costs the same stays as it was; the others have the key `origin`. Lower bounds are of the mapspace, so
    they hold for these mappings; gaps are those of the new values.
    """
    old, new = dict[str, Any](before), dict[str, Any](result_json(better))
    if "layers" not in old:
        return _replaced(old, new) | {"origin": origin}
    pairs = zip(old["layers"], new["layers"], strict=True)
    layers = [
        layer if _equal_costs(layer, other) else _replaced(layer, other) | _alone(layer, other) | {"origin": origin}
        for layer, other in pairs
    ]
    return _replaced(old, new) | {"layers": layers}


def _equal_costs(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return all(old[name] == new[name] for name in ("cycles", "energy_pj"))


def _replaced(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The new figures beside the old search; what is proven by several objectives in turn is proven no more."""
    whole = new | {name: old[name] for name in STAY if name in old}
    if old.get("lower_bound") is None:
        return whole
    value = float(new[_column(old)])
    if value < old["lower_bound"] * (1 - ROUNDING):
        raise InternalError("internal error: a mapping is below its lower bound; please report it")
    gap = gap_between(value, old["lower_bound"])
    optimal = gap <= ROUNDING and "," not in old["objective"]
    return whole | {"gap": gap, "optimal": optimal} | ({"attained": optimal} if "attained" in old else {})


def _alone(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The best that is known of the layer alone, where the mapping that suits the network is worse."""
    known = old.get("alone", old[_column(old)])
    worse = known is not None and new[_column(old)] > known * (1 + ROUNDING)
    return {"alone": known} if worse else {}


def _column(old: dict[str, Any]) -> str:
    return first_objective(old["objective"]).column
