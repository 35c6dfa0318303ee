"""Enumerates graphs of few operators, each once, and groups those that make the same tensors (TASO, section 2).

A graph is a set of operators in which each stands with what it reads; its outputs are the tensors that none of its
operators reads. All pieces of a graph hang together, by an operator or by an input that they share: other graphs are
several smaller ones. The fingerprint of a graph is the sum of its outputs' marks, so their order does not matter.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .pool import Pool

Numbers = NDArray[np.int64]
Marks = NDArray[np.uint64]
FIRST = 32  # bits of a piece: the inputs that it reads, and from here the operators of a graph, in turn
MASK = 2**64 - 1
READ_BY_ONE = 2  # the most inputs of an operator


@dataclass(frozen=True)
class Block:
    """Operators that a graph may grow by. Arrays over them: what each reads as bits, the sum of the marks of what it
    makes, these marks (N, 2), a random number that names it, and by how much it changes a fingerprint."""

    nodes: Numbers
    reads: Numbers
    made: Marks
    marks: Marks
    names: Marks

    @classmethod
    def joined(cls, blocks: Sequence["Block"]) -> "Block":
        """Return blocks one after the other."""
        return cls(
            np.concatenate([block.nodes for block in blocks]),
            np.concatenate([block.reads for block in blocks]),
            np.concatenate([block.made for block in blocks]),
            np.concatenate([block.marks for block in blocks]),
            np.concatenate([block.names for block in blocks]),
        )

    def but(self, kept: NDArray[np.bool_]) -> "Block":
        """Return those that are kept."""
        return Block(self.nodes[kept], self.reads[kept], self.made[kept], self.marks[kept], self.names[kept])


@dataclass(frozen=True)
class Grown:
    """A graph that may grow: its operators, the tensors that it makes, its pieces as bits."""

    nodes: tuple[int, ...] = ()
    tensors: tuple[int, ...] = ()
    makers: tuple[int, ...] = ()  # of tensors: the places of their operators in `nodes`
    unread: frozenset[int] = frozenset()
    pieces: tuple[int, ...] = ()
    fingerprint: int = 0
    name: int = 0


@dataclass(frozen=True)
class Level:
    """The graphs of one number of operators: fingerprints, and the graph and the operator that each is made of."""

    fingerprints: Marks
    parents: Numbers
    nodes: Numbers


class Graphs:
    """All graphs up to a number of operators."""

    def __init__(self, pool: Pool, seed: int) -> None:
        self.pool = pool
        self.grown: list[list[Grown]] = [[Grown()]]  # by numbers of operators
        self.levels: list[Level] = []  # of graphs of 1, 2, ... operators
        self.equal: dict[int, int] = {}  # tensors that are tensors they are made of
        self._rng = np.random.default_rng(seed)
        self._names: dict[int, int] = {}
        self._beside: dict[int, Block] = {}
        self._groups = _groups(pool)
        self._marks = {pool.marks[tensor]: tensor for tensor in range(pool.inputs)}
        self._base = self._block(pool.of_inputs())

    def enumerate(self, most: int) -> None:
        """Enumerate all graphs up to `most` operators."""
        for left in reversed(range(most)):
            parts: list[tuple[Marks, Marks, Numbers, Numbers]] = []
            after: dict[int, Grown] = {}
            for number, own in enumerate(self.grown[-1]):
                parts.append(self._of(own, number, left, after))
            fingerprints, names, parents, nodes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            first = np.unique(names, return_index=True)[1]
            self.levels.append(Level(fingerprints[first], parents[first], nodes[first]))
            self.grown.append(list(after.values()))

    def graph(self, operators: int, place: int) -> tuple[int, ...]:
        """Return the operators of a graph by its place in its level."""
        level = self.levels[operators - 1]
        return (*self.grown[operators - 1][level.parents[place]].nodes, int(level.nodes[place]))

    def outputs(self, nodes: Sequence[int]) -> list[int]:
        """Return the tensors of a graph that nobody in it reads."""
        read = {operand for node in nodes for operand in self.pool.nodes[node].operands}
        return [one for node in nodes for one in self.pool.nodes[node].outputs if one not in read]

    def equals(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the graphs of each fingerprint that several have: their numbers of operators and places."""
        prints = np.concatenate([level.fingerprints for level in self.levels])
        operators = np.repeat(np.arange(1, len(self.levels) + 1), [len(level.nodes) for level in self.levels])
        places = np.concatenate([np.arange(len(level.nodes)) for level in self.levels])
        order = np.argsort(prints, kind="stable")
        ends = np.flatnonzero(np.diff(prints[order])) + 1
        for begin, end in zip([0, *ends], [*ends, len(order)], strict=True):
            if end - begin > 1:
                yield [(int(operators[at]), int(places[at])) for at in order[begin:end]]

    def _of(self, own: Grown, number: int, left: int, after: dict[int, Grown]) -> tuple[Marks, Marks, Numbers, Numbers]:
        """Return the graphs that one grows to, and add those that may grow further, `left` times more."""
        block = self._candidates(own)
        alone = sum((block.reads & piece) == 0 for piece in own.pieces)
        pieces = np.asarray(alone + 1)
        every = block.reads | np.int64(sum(own.pieces))
        missing = self._missing(every)
        prints = block.made + np.uint64(own.fingerprint)
        names = block.names + np.uint64(own.name)
        if left:
            for at in np.flatnonzero((pieces <= left + 1) & (missing <= READ_BY_ONE * left)):
                if (name := int(names[at])) not in after:
                    after[name] = self._grow(own, int(block.nodes[at]), int(block.reads[at]), int(prints[at]), name)
        counted = (pieces == 1) & (missing == 0)
        nodes = block.nodes[counted]
        return prints[counted], names[counted], np.full(len(nodes), number, dtype=np.int64), nodes

    def _candidates(self, own: Grown) -> Block:
        """Return the operators that a graph may grow by."""
        blocks = [self._base]
        for tensor, maker in zip(own.tensors, own.makers, strict=True):
            beside = self._of_tensor(tensor)
            taken = self.pool.marks[tensor] if tensor in own.unread else 0
            blocks.append(_reading(beside, 1 << FIRST + maker, taken))
        for at, one in enumerate(own.tensors):
            for other, maker in zip(own.tensors[:at], own.makers[:at], strict=True):
                both = list(self.pool.of_both(one, other))
                if both:
                    taken = sum(self.pool.marks[tensor] for tensor in {one, other} & own.unread)
                    bits = 1 << FIRST + maker | 1 << FIRST + own.makers[at]
                    blocks.append(_reading(self._block(both), bits, taken & MASK))
        block = Block.joined(blocks)
        new = ~np.isin(block.nodes, own.nodes)
        for tensor in own.tensors:
            again = (block.marks == np.uint64(self.pool.marks[tensor])).any(axis=1)
            for node in block.nodes[again & new]:
                self._is_equal(int(node), tensor)
            new &= ~again
        return block.but(new)

    def _is_equal(self, node: int, tensor: int) -> None:
        made = self.pool.nodes[node]
        if len(made.outputs) == 1 and made.operands == (tensor,):
            self.equal[made.outputs[0]] = tensor

    def _of_tensor(self, tensor: int) -> Block:
        if tensor not in self._beside:
            self._beside[tensor] = self._block(self.pool.of_tensor(tensor))
        return self._beside[tensor]

    def _block(self, nodes: Iterable[int]) -> Block:
        """Return operators but those that make what is an input."""
        rows = []
        for node in nodes:
            made = self.pool.nodes[node]
            marks = [self.pool.marks[tensor] for tensor in made.outputs]
            same = [self._marks[mark] for mark in marks if mark in self._marks]
            if same and len(marks) == 1:
                self.equal[made.outputs[0]] = same[0]
            if not same:
                reads = sum(1 << operand for operand in set(made.operands) if operand < self.pool.inputs)
                rows.append((node, reads, sum(marks) & MASK, marks[0], marks[-1], self._name(node)))
        columns = list(zip(*rows, strict=True)) or [()] * 6
        nodes_, reads_ = (np.array(columns[at], dtype=np.int64) for at in (0, 1))
        made_, one, other, names = (np.array(columns[at], dtype=np.uint64) for at in (2, 3, 4, 5))
        return Block(nodes_, reads_, made_, np.stack([one, other], axis=1), names)

    def _name(self, node: int) -> int:
        return self._names.setdefault(node, int(self._rng.integers(MASK, dtype=np.uint64)))

    def _grow(self, own: Grown, node: int, reads: int, fingerprint: int, name: int) -> Grown:
        made, place = self.pool.nodes[node], len(own.nodes)
        joined = [piece for piece in own.pieces if piece & reads]
        apart = tuple(piece for piece in own.pieces if not piece & reads)
        whole = reads | 1 << FIRST + place
        for piece in joined:
            whole |= piece
        return Grown(
            (*own.nodes, node),
            (*own.tensors, *made.outputs),
            (*own.makers, *(place for _ in made.outputs)),
            (own.unread - frozenset(made.operands)) | frozenset(made.outputs),
            (*apart, whole),
            fingerprint,
            name,
        )

    def _missing(self, reads: Numbers) -> Numbers:
        """Return how many inputs stand before one of their type that is read, and are not."""
        missing = np.zeros(len(reads), dtype=np.int64)
        for first, number in self._groups:
            own = (reads >> first) & (2**number - 1)
            for at in range(number - 1):
                missing += ((own >> at) & 1 == 0) & (own >> (at + 1) > 0)
        return missing


def _reading(block: Block, bits: int, taken: int) -> Block:
    """Return operators that read tensors of the graph, whose marks `taken` are no longer those of outputs."""
    made = block.made - np.uint64(taken)
    return Block(block.nodes, block.reads | np.int64(bits), made, block.marks, block.names)


def _groups(pool: Pool) -> list[tuple[int, int]]:
    """Return the first input of each type, and how many inputs have it."""
    groups: list[tuple[int, int]] = []
    for tensor in range(pool.inputs):
        if groups and pool.types[tensor] == pool.types[groups[-1][0]]:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((tensor, 1))
    return groups
