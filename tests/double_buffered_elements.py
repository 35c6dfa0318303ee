"""A weight-stationary array of elements with two weight registers, clocked: what it computes, and when it ends.

Words of weights come down a column, the bit that says so a row a cycle, the word itself through a register between two
rows, a cycle later still. Inputs go right, sums go down, each with the number of its tile, which says whose register is
used. What sends the words counts those that it has sent: no number of cycles is written anywhere.
"""

import numpy as np

NONE = -1


def product_and_cycles(weights, inputs, rows, columns):
    """The product of `weights` (K x M), transposed, and `inputs` (K x N), and the cycles until the last element has
    taken the last word."""
    (k, m), n = weights.shape, inputs.shape[1]
    tiles = [(k0, m0) for m0 in range(0, m, columns) for k0 in range(0, k, rows)]
    weights = np.pad(weights, ((0, -k % rows), (0, -m % columns)))
    inputs = np.pad(inputs, ((0, -k % rows), (0, 0)))
    outputs = np.zeros((weights.shape[1], n), np.int64)
    shape = (rows, columns)
    register, between, sums, words = np.zeros((2, *shape), int), np.zeros(shape, int), np.zeros(shape, int), None
    loads = np.full(shape, NONE)
    words = np.zeros((3, *shape), int) + np.array([0, NONE, 0])[:, None, None]  # word, tile, its number in the stream
    streamed, loaded = [], []  # by cycle: the tile and the number of the word that enter at the first element
    while words[1, -1, -1] != len(tiles) - 1 or words[2, -1, -1] != n - 1:
        _send(streamed, loaded, rows, n, len(tiles))
        now = len(streamed) - 1
        # what each element sees of its neighbours
        left, above = np.roll(words, 1, axis=2), [np.roll(each, 1, axis=0) for each in (sums, loads, between)]
        for x in range(rows):
            tile, number = streamed[now - x] if now >= x else (NONE, 0)
            left[:, x, 0] = (inputs[tiles[tile][0] + x, number] if tile != NONE else 0), tile, number
        for y in range(columns):
            tile, number = loaded[now - y] if now >= y else (NONE, 0)
            k0, m0 = tiles[tile]
            above[0][0, y], above[1][0, y], above[2][0, y] = 0, tile, weights[k0 + rows - 1 - number, m0 + y]
        words, (sums, loads, arriving) = left, above
        sums = sums + words[0] * np.where(words[1] % 2, register[1], register[0])
        for which in (0, 1):
            here = (loads != NONE) & (loads % 2 == which)
            between = np.where(here, register[which], between)
            register[which] = np.where(here, arriving, register[which])
        for y in range(columns):
            _, tile, number = words[:, -1, y]
            if tile != NONE:
                outputs[tiles[tile][1] + y, number] += sums[-1, y]
    return outputs[:m], len(streamed)


def _send(streamed, loaded, rows, n, tiles):
    """Let a word of inputs and one of weights enter where it is their turn: a tile's weights once the register is free,
    its inputs once its weights have been sent."""
    used, sent = (sum(tile != NONE for tile, _ in each) for each in (streamed, loaded))
    stream, load = divmod(used, n), divmod(sent, rows)
    streamed.append(stream if stream[0] < load[0] else (NONE, 0))
    loaded.append(load if load[0] < min(tiles, stream[0] + 2) else (NONE, 0))
