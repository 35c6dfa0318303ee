"""Words and values of stages under boxes, one by one: what the executor of groups needs, and whole layers in turn."""

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ....workloads import Tensor, Workload
from ..group import Group, Link

Array = NDArray[np.float64]
Word = tuple[int, ...]
Words = frozenset[Word]
Ends = dict[str, tuple[int, int]]  # per dim: start, end; empty where nothing is computed


def sees(link: Link, layer: Workload, row: int, key: int) -> bool:
    """Whether a query sees a key: the last query of a head the last key, the one before it the one before."""
    assert link.causal is not None, "there is a mask"
    return key <= row % link.causal.queries + layer.size(link.causal.key) - link.causal.queries


def with_mask(link: Link, layer: Workload, array: Array) -> Array:
    """What a layer reads over a link: zero where a mask hides it."""
    if link.causal is None:
        return array
    dims = [rank[0].dim for rank in tensor_named(layer, link.tensor).ranks]
    row, key = dims.index(link.causal.query), dims.index(link.causal.key)
    array = array.copy()
    for word in np.ndindex(*array.shape):
        if not sees(link, layer, word[row], word[key]):
            array[word] = 0.0
    return array


def tensor_named(layer: Workload, name: str) -> Tensor:
    return next(tensor for tensor in layer.tensors if tensor.name == name)


def extents_of(tensor: Tensor, layer: Workload) -> tuple[int, ...]:
    return tuple(sum(term.coef * (layer.size(term.dim) - 1) for term in rank) + 1 for rank in tensor.ranks)


def words_under(tensor: Tensor, box: Ends) -> Words:
    """The words of a tensor under a box: along each rank the whole interval between its ends."""
    if not box:
        return frozenset()
    sides = []
    for rank in tensor.ranks:
        low = sum(term.coef * box[term.dim][0] for term in rank)
        high = sum(term.coef * (box[term.dim][1] - 1) for term in rank)
        sides.append(range(low, high + 1))
    return frozenset(product(*sides))


def sums_over(layer: Workload, box: Ends, operands: list[Array | None]) -> dict[Word, float]:
    """The sums of a layer over a box, by word of its output."""
    grid = dict(zip(layer.dims, np.meshgrid(*(np.arange(*box[dim]) for dim in layer.dims), indexing="ij"), strict=True))

    def index(tensor: Tensor) -> tuple[NDArray[np.int64], ...]:
        return tuple(
            sum((term.coef * grid[term.dim] for term in rank), np.zeros((), np.int64)) for rank in tensor.ranks
        )

    factors = np.ones([box[dim][1] - box[dim][0] for dim in layer.dims])
    for tensor, operand in zip(layer.tensors, operands, strict=True):
        if operand is not None:
            factors = factors * operand[index(tensor)]
    made: dict[Word, float] = {}
    places = zip(*(axis.ravel().tolist() for axis in index(layer.output)), strict=True)
    for word, value in zip(places, factors.ravel().tolist(), strict=True):
        made[word] = made.get(word, 0.0) + value
    return made


def whole(group: Group, inputs: Mapping[tuple[int, str], Array]) -> Array:
    """Compute the output of a group stage by stage, each as a whole."""
    outputs: list[Array] = []
    for stage, layer in enumerate(group.stages):
        operands: list[Array | None] = []
        for tensor in layer.tensors:
            links = [link for link in group.links if link.consumer == stage and link.tensor == tensor.name]
            if tensor.output or not links:
                operands.append(None if tensor.output else inputs[stage, tensor.name])
            else:
                operand = padded(links[0], group, outputs[links[0].producer], extents_of(tensor, layer))
                operands.append(with_mask(links[0], layer, operand))
        ends = {dim: (0, size) for dim, size in zip(layer.dims, layer.sizes, strict=True)}
        output = np.zeros(extents_of(layer.output, layer))
        for word, value in sums_over(layer, ends, operands).items():
            output[word] = value
        outputs.append(output)
    return outputs[-1]


def padded(link: Link, group: Group, made: Array, extents: tuple[int, ...]) -> Array:
    """The output of a stage as another reads it, with zeros around."""
    producer, array = group.stages[link.producer], np.zeros(extents)
    ranks = [rank[0].dim for rank in producer.output.ranks]
    for word in np.ndindex(*made.shape):
        place = tuple(word[ranks.index(dim)] + zeros if dim is not None else 0 for dim, zeros in link.ranks)
        if all(0 <= i < extent for i, extent in zip(place, extents, strict=True)):
            array[place] = made[word]
    return array


def drawn_inputs(group: Group, seed: int = 0) -> dict[tuple[int, str], Array]:
    """Draw whole numbers for all tensors that no stage makes: their sums are exact."""
    random = np.random.default_rng(seed)
    return {
        (number, tensor.name): random.integers(1, 4, extents_of(tensor, stage)).astype(float)
        for number, stage in enumerate(group.stages)
        for tensor in stage.tensors
        if not tensor.output and not group.intermediate(number, tensor.name)
    }
