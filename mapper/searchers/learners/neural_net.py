"""A small neural network that predicts log2 of a cost, and the gradient of its prediction by its inputs."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mapping import Floats

SMALL_BATCH = 64  # mappings of a step of Adam


@dataclass(frozen=True, eq=False)
class NeuralNet:
    """Layers of rectified units and a linear one, over standardised inputs and targets."""

    weights: tuple[Floats, ...]  # (input, output) each
    biases: tuple[Floats, ...]  # (output,) each
    scaling: tuple[Floats, Floats]  # centre and scale of each input # (input,) each
    target: tuple[float, float]  # centre and scale of targets

    def of(self, points: Floats) -> Floats:
        """Predict # (mapping,) from inputs # (mapping, input)."""
        return self.target[0] + self.target[1] * self._layers(points)[-1][:, 0]

    def gradient(self, points: Floats) -> Floats:
        """Compute the derivative of the prediction by each input. # (mapping, input)"""
        layers = self._layers(points)
        back = np.broadcast_to(self.weights[-1][:, 0], (len(points), len(self.weights[-1])))
        for values, weights in zip(layers[-2:0:-1], self.weights[-2::-1], strict=True):
            back = (back * (values > 0)) @ weights.T
        derivative: Floats = back * self.target[1] / self.scaling[1]
        return derivative

    def _layers(self, points: Floats) -> list[Floats]:
        """Compute the values of all layers, the inputs first."""
        layers: list[Floats] = [(points - self.scaling[0]) / self.scaling[1]]
        for i, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = layers[-1] @ weights + biases
            layers.append(values if i == len(self.weights) - 1 else np.maximum(values, 0.0))
        return layers

    def plain(self) -> dict[str, Any]:
        """Convert to plain values for a state on disk; `of_plain` reads them."""
        parts = {"weights": self.weights, "biases": self.biases, "scaling": self.scaling}
        return {name: [part.tolist() for part in own] for name, own in parts.items()} | {"target": list(self.target)}

    @classmethod
    def of_plain(cls, state: Mapping[str, Any]) -> "NeuralNet":
        """Read the values of `plain`."""
        weights, biases = (tuple(np.array(part) for part in state[name]) for name in ("weights", "biases"))
        centre, scale = (np.array(part) for part in state["scaling"])
        return cls(weights, biases, (centre, scale), (state["target"][0], state["target"][1]))


def trained(points: Floats, targets: Floats, epochs: int, seed: int, start: NeuralNet | tuple[int, ...]) -> NeuralNet:
    """Train a network on inputs # (mapping, input) and targets # (mapping,).

    `start` is a network to go on from, or the widths of the hidden layers of a new one. Call it within `one_thread`.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    scaling = (points.mean(axis=0), np.where(points.std(axis=0) > 1e-9, points.std(axis=0), 1.0))
    target = (float(targets.mean()), float(targets.std()) or 1.0)
    widths = start
    if isinstance(start, NeuralNet):
        scaling, target, widths = start.scaling, start.target, tuple(len(biases) for biases in start.biases[:-1])
    inputs, outputs = (points - scaling[0]) / scaling[1], (targets - target[0]) / target[1]
    few = min(SMALL_BATCH, len(points))
    model = MLPRegressor(
        hidden_layer_sizes=widths, batch_size=few, max_iter=epochs, n_iter_no_change=epochs, warm_start=True,
        random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # all epochs were run, as asked
        if isinstance(start, NeuralNet):
            model.partial_fit(inputs[:few], outputs[:few])  # makes the layers, whose weights are then replaced
            model.coefs_, model.intercepts_ = [w.copy() for w in start.weights], [b.copy() for b in start.biases]
        model.fit(inputs, outputs)
    return NeuralNet(tuple(model.coefs_), tuple(model.intercepts_), scaling, target)
