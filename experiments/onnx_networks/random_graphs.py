"""Small random ONNX graphs of convolutions, products, pools and word-by-word operations, for tests of what reads them.

Graphs can be exact: words are multiples of a power of two, so few and small that float32 holds every sum of them in
any order. Two graphs that compute the same then give equal outputs, not near ones.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from onnx import ModelProto

from .building import Floats
from .drawing import Drawing, RandomOptions, Value
from .random_nodes import KINDS

MOST_INPUTS = 3
OWN_OUTPUTS = 2  # tensors that others read, too

DEFAULT = RandomOptions()


def random_graph(seed: int, options: RandomOptions = DEFAULT) -> ModelProto:
    """Return a model of 5 to 25 random nodes on one to three inputs; all tensors that no node reads are outputs.

    Up to two more tensors are outputs. Tensors are matrices, or N C H W, of a few words along each axis and at most 600
    in all. Equal seeds and options give equal models.
    """
    drawing = Drawing(seed, options)
    for number in range(int(drawing.rng.integers(1, MOST_INPUTS + 1))):
        drawing.input(f"x{number}")
    least, most = options.nodes
    for _ in range(int(drawing.rng.integers(least, most + 1))):
        next(made for made in _tries(drawing) if made)
    return drawing.model(OWN_OUTPUTS)


def _tries(drawing: Drawing) -> Iterator[list[Value]]:
    """Nodes of random kinds on random operands; nothing where a kind cannot be applied. A rectifier always can."""
    common = np.array([kind.common for kind in KINDS])
    while True:
        kind = KINDS[int(drawing.rng.choice(len(KINDS), p=common / common.sum()))]
        yield kind.add(drawing, drawing.operand())


def random_inputs(model: ModelProto, seed: int, options: RandomOptions = DEFAULT) -> Mapping[str, Floats]:
    """Return random words for every input of a model of `random_graph` with these options, or of a network."""
    rng = np.random.default_rng(seed)
    words = {}
    for value in model.graph.input:
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if options.exact:
            words[value.name] = rng.integers(-3, 4, sizes).astype(np.float32)
        else:
            words[value.name] = rng.uniform(-1, 1, sizes).astype(np.float32)
    return words
