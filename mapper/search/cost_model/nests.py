"""Which mappings are the same loop nest: they get one answer."""

from hashlib import blake2b

import numpy as np

from ...mapping import Mappings

KEY_BYTES = 16  # two of a billion nests share a key with a chance of 1e-21


def nest_keys(mappings: Mappings) -> list[str]:
    """Return a key of each mapping; the same where only loops of bound 1 stand in another order."""
    batch = mappings.arranged()
    slots = [slot for slot, place in enumerate(batch.arch.slots) if not place.spatial]
    bounds = batch.factors
    running = (
        np.take_along_axis(bounds[:, slots], batch.order.astype(np.int64), axis=2) > 1
    )  # (mapping, level, position)
    last = np.argsort(~running, axis=2, kind="stable")  # those of bound 1 go to the end
    order = np.take_along_axis(np.where(running, batch.order, -1), last, axis=2).astype(np.int8)
    return [
        blake2b(own.tobytes() + loops.tobytes() + keep.tobytes(), digest_size=KEY_BYTES).hexdigest()
        for own, loops, keep in zip(np.ascontiguousarray(bounds), order, batch.keep, strict=True)
    ]
