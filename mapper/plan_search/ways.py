"""Dynamic programming over the states of a plan: the way with the least sum, at one slope."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from .states import Move, States

Weight = Callable[[Move], float]


@dataclass(frozen=True)
class Way:
    """Moves from the first state to the last."""

    sum_pj: float
    moves: tuple[Move, ...]


def least_way(states: States, weight: Weight) -> Way:
    """Find the way with the least sum of weights; of equal ones the first."""
    least, by = _least_to(states, weight)
    moves, at = list[Move](), states.end
    while at:
        move = by[at]
        if move is None:
            return Way(inf, ())
        moves.append(move)
        at = move.before
    return Way(least[states.end], tuple(reversed(moves)))


def _least_to(states: States, weight: Weight) -> tuple[list[float], list[Move | None]]:
    """The least sum of weights to each state, and the last move of such a way."""
    least, by = [inf] * len(states.states), list[Move | None]([None] * len(states.states))
    least[0] = 0.0
    for move in states.moves:
        total = least[move.before] + weight(move)
        if total < least[move.after]:
            least[move.after], by[move.after] = total, move
    return least, by


def least_through(states: States, weight: Weight) -> list[float]:
    """The least sum of weights of a way that has each move. # (move,)"""
    to, _ = _least_to(states, weight)
    on = [inf] * len(to)
    on[states.end] = 0.0
    weights = [weight(move) for move in states.moves]
    for move, own in zip(reversed(states.moves), reversed(weights), strict=True):
        on[move.before] = min(on[move.before], own + on[move.after])
    return [to[move.before] + own + on[move.after] for move, own in zip(states.moves, weights, strict=True)]
