"""A ranking of mappings by gradient-boosted trees, learnt from pairs: the cost model of AutoTVM (Chen et al. 2018).

Depth, rate and penalties are those of TVM's XGBoost tuner. The loss is equation 2 over all pairs: XGBoost's own
`rank:pairwise` takes a selection of pairs and normalises their gradients.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mapping import Floats, Ints

PARAMETERS = {"max_depth": 3, "eta": 0.3, "lambda": 1.0, "gamma": 1e-4, "min_child_weight": 0.1}
EXACT = {"nthread": 1, "verbosity": 0, "seed": 0, "base_score": 0.0, "disable_default_eval_metric": True}


@dataclass(frozen=True, eq=False)
class Ranking:
    """Predicts a number per mapping, lower for one that costs less. With a `prior` it is the sum of both (equation 4):
    a global model of other layers, and a local one that learns what that leaves."""

    booster: Any  # xgboost.Booster
    prior: "Ranking | None" = None

    def of(self, features: Floats) -> Floats:
        """Predict # (mapping,) from features # (mapping, feature)."""
        own: Floats = np.asarray(self.booster.inplace_predict(features, predict_type="margin"), np.float64)
        return own if self.prior is None else own + self.prior.of(features)


def learnt(
    features: Floats, ranks: Ints, layers: Ints | None = None, *, prior: Ranking | None = None, rounds: int = 50
) -> Ranking:
    """Learn a ranking of mappings from their features # (mapping, feature) and ranks # (mapping,), the best 0.

    `layers` # (mapping,) says which layer each mapping is of, where there are several: only mappings of one layer are
    compared. A `prior` must have learnt from the same features.
    """
    import xgboost

    data = xgboost.DMatrix(features, nthread=1)
    if prior is not None:
        data.set_base_margin(prior.of(features))
    order = pair_signs(ranks, layers)

    def objective(predicted: Floats, _: Any) -> tuple[Floats, Floats]:
        return pair_gradient(np.asarray(predicted, np.float64), order)

    return Ranking(xgboost.train({**PARAMETERS, **EXACT}, data, rounds, obj=objective), prior)


def pair_signs(ranks: Ints, layers: Ints | None = None) -> Floats:
    """Compute sign(c_i - c_j) of each pair; 0 for mappings of different layers. # (mapping, mapping)"""
    order = np.sign(ranks[:, None] - ranks[None, :]).astype(float)
    return order if layers is None else order * (layers[:, None] == layers[None, :])


def pair_gradient(predicted: Floats, order: Floats) -> tuple[Floats, Floats]:
    """Compute gradient and second derivative of equation 2, scaled by the pairs of a mapping. # (mapping,) each"""
    differs = order != 0
    wrong = 1 / (1 + np.exp(np.clip(order * (predicted[:, None] - predicted[None, :]), -50, 50)))
    number = np.maximum(1, differs.sum(axis=1))
    gradient: Floats = -(order * wrong).sum(axis=1) / number
    second: Floats = (differs * wrong * (1 - wrong)).sum(axis=1) / number
    return gradient, np.maximum(second, 1e-6)
