"""How the terms of a graph are written as nodes of ONNX: which stand in one node together, and which are no tensors."""

from collections import Counter
from collections.abc import Iterator

from ..graphs import CONCAT, OUTPUT, PART, TensorGraph
from ..operators import NONE
from ..terms import INPUT, Term

RESHAPE = "Reshape"
FACTORS = {"bias": "Add", "scale": "Mul", "smul": "Mul"}  # operators on a tensor and what is repeated along it


class Plan:
    """Which terms of a graph become tensors of a file, with what each node reads. Constants are none of them."""

    def __init__(self, graph: TensorGraph) -> None:
        self.graph, self.source = graph, graph.source
        self._readers = Counter(operand for own in graph.terms for operand in own.operands)
        self._readers.update(graph.outputs.values())
        self.reads: dict[Term, tuple[Term, ...]] = {}
        waiting = [own for own in graph.outputs.values() if own not in graph.constants]
        while waiting:
            own = waiting.pop()
            if own not in self.reads:
                self.reads[own] = tuple(self._reads(own))
                waiting += [operand for operand in self.reads[own] if operand not in graph.constants]
        self.splits = dict(self._splits())

    def _reads(self, own: Term) -> Iterator[Term]:
        """The tensors that a node reads, where it stands for several terms."""
        if own.op == INPUT:
            return
        if (product := self.product_of_many_dims(own)) is not None:
            yield from product
        elif own.op == "bias" and self.biased(own):
            yield from (*map(turned, own.operands[0].operands), own.operands[1])
        elif own.op in FACTORS:
            yield from (own.operands[0], self.vector(own))
        elif own.op == CONCAT:
            yield from self.pieces(own)
        else:
            yield from own.operands

    def alone(self, own: Term) -> bool:
        """Whether a term is read once, and is no output."""
        return self._readers[own] == 1

    def biased(self, own: Term) -> bool:
        """Whether a bias is that of a node that multiplies: a Conv, or a Gemm, whose product nobody else reads."""
        product = own.operands[0]
        if own.params != (1,) or not self.alone(product) or product in self.graph.constants:
            return False
        return product.op == "matmul" or (product.op in ("conv", "gconv") and product.params[2] == NONE)

    def product_of_many_dims(self, own: Term) -> tuple[Term, Term] | None:
        """What is multiplied where a matrix product stands between two reshapes that a MatMul does without."""
        product = self.reshaped(own)
        if product is None or product.op != "matmul" or not self.alone(product):
            return None
        left, right = product.operands
        before, sizes = self.reshaped(left), self.source.sizes(own)
        known = None if before is None else self.source.tensor(before)
        fits = known is not None and known.sizes == (*sizes[:-1], self.source.sizes(left)[1])
        return (before, right) if before is not None and fits and sizes[-1] == self.source.sizes(right)[1] else None

    def reshaped(self, own: Term) -> Term | None:
        """What a Reshape reads; None of all else."""
        if own.op != OUTPUT or self.source.nodes[own.operands[0].name].op != RESHAPE:
            return None
        return own.operands[0].operands[0]

    def vector(self, own: Term) -> Term:
        """What a bias, a scale or an smul reads beside a tensor: what was reshaped to a vector, where its own sizes
        lie along the axis already."""
        whole, vector = own.operands
        before, rank = self.reshaped(vector), len(self.source.sizes(whole))
        known = None if before is None else self.source.tensor(before)
        if before is None or known is None:
            return vector
        return before if _padded(known.sizes, rank) == _padded(self.vector_sizes(own), rank) else vector

    def vector_sizes(self, own: Term) -> tuple[int, ...]:
        """The sizes of a vector that is repeated along all axes but that of a bias or a scale; none of a scalar."""
        if own.op == "smul":
            return ()
        rank, axis = len(self.source.sizes(own.operands[0])), int(str(own.params[0]))
        return (self.source.sizes(own.operands[1])[0], *(1,) * (rank - axis - 1))

    def pieces(self, own: Term) -> list[Term]:
        """What a Concat joins: what is joined before along the same axis, and read by nobody else, is part of it."""
        pieces: list[Term] = []
        waiting = [own]
        while waiting:
            top = waiting.pop()
            inside = top.op == CONCAT and top.params == own.params and top not in self.graph.constants
            if top is own or (inside and self.alone(top)):
                waiting += reversed(top.operands)
            else:
                pieces.append(top)
        return pieces

    def _splits(self) -> Iterator[tuple[Term, tuple[Term, ...]]]:
        """Parts that make up a tensor along an axis, for each of them: a Split makes them all."""
        groups: dict[tuple[object, ...], list[Term]] = {}
        for own in self.reads:
            if own.op == PART:
                groups.setdefault((own.operands[0], own.params[0]), []).append(own)
        for parts in groups.values():
            parts.sort(key=_begin)
            ends = [0, *(int(str(own.params[2])) for own in parts)]
            axis, whole = int(str(parts[0].params[0])), self.source.sizes(parts[0].operands[0])
            if [_begin(own) for own in parts] == ends[:-1] and ends[-1] == whole[axis]:
                yield from ((own, tuple(parts)) for own in parts)


def _begin(own: Term) -> int:
    return int(str(own.params[1]))


def _padded(sizes: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(sizes)) + sizes


def turned(own: Term) -> Term:
    """Return what a Gemm reads: of a transpose that of which it is one."""
    return own.operands[0] if own.op == "transpose" else own
