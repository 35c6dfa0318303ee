"""Rounds: mappings that a search asks a cost model about, some at a time, with their values as the reply.

A round is small, as an answer may take seconds. The same replies bring the same rounds.
"""

from collections.abc import Generator

from ..mapping import Floats, Mappings
from ..mapspace import Mapspace
from .options import SearchOptions
from .outcome import Ended
from .proposer import Proposer, Scored
from .recorder import EMPTY

PIECE = 512  # mappings of a round, of a chunk that needs no values

# Yields mappings, and is sent their values # (mapping,), inf where invalid or refused; returns why it ends.
Rounds = Generator[Mappings, Floats, Ended]


def rounds_of[M](proposer: Proposer[M], space: Mapspace, options: SearchOptions) -> Rounds:
    """Propose the chunks of `proposer`: the same mappings as a search by our model, if they get the same values.

    The chunks of a proposer that learns nothing come in pieces; those of another are as small as it makes them.
    """
    seed, scored = options.seed, list[Scored]()
    memory, empty = proposer.begin(space, seed), 0
    for chunk in proposer.chunks(space, options):
        batch = proposer.propose(space, seed, memory, chunk)
        empty = 0 if len(batch) else empty + 1
        if empty == EMPTY:
            return Ended.NOTHING_PROPOSED
        if proposer.generation is None:
            for start in range(0, len(batch), PIECE):
                yield batch.take(slice(start, start + PIECE))
            continue
        values = yield batch
        scored.append(Scored(chunk, batch, values[:, None]))
        if len(scored) == proposer.generation:
            memory, scored = proposer.learn(space, memory, scored), []
    return Ended.ALL_VISITED
