"""The pictures that results have, and when they can be drawn."""

from .network_result import NetworkResult
from .pictures import (
    draw_convergence,
    draw_convergences,
    draw_cycles,
    draw_energy,
    draw_front,
    draw_roofline,
    draw_usage,
)
from .result import Result
from .show import Drawing, NoDrawing, Renderer


def _no_mapping(result: Result) -> str:
    return "" if result.found else "no valid mapping was found"


def _no_energy(result: Result) -> str:
    return _no_mapping(result) or ("" if result.table.counted else "energies are not known")


def _no_trace(result: Result) -> str:
    return _no_mapping(result) or ("" if result.statistics.trace else "this mapping was not searched for")


def _no_front(result: Result) -> str:
    asked = "" if result.front else 'no front was asked for, as SearchOptions(front="energy,delay")'
    return _no_mapping(result) or asked


def _layers_missing(network: NetworkResult) -> str:
    return "" if network.found else "not all layers have a mapping"


def _no_energies(network: NetworkResult) -> str:
    return _layers_missing(network) or ("" if network.layers[0][0].table.counted else "energies are not known")


OF_LAYER: tuple[Renderer[Result], ...] = (
    Drawing("energy", draw_energy, _no_energy),
    Drawing("convergence", draw_convergence, _no_trace),
    Drawing("usage", draw_usage, _no_mapping),
    Drawing("roofline", draw_roofline, _no_mapping),
    Drawing("front", draw_front, _no_front),
)
OF_NETWORK: tuple[Renderer[NetworkResult], ...] = (
    Drawing("energy", draw_energy, _no_energies),
    Drawing("cycles", draw_cycles, _layers_missing),
    Drawing("convergence", draw_convergences, _layers_missing),
    Drawing("roofline", draw_roofline, _layers_missing),
    NoDrawing("front", 'each layer has a front of its own: layers[0][0].plot("front")'),
)
