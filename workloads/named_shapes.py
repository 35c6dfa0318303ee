"""The named shapes of layers: their dims, their tensors, and the sizes that stand for others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType


@dataclass(frozen=True)
class Shape:
    """The dims and projections that all layers of one shape share; the output is the tensor Outputs."""

    dims: tuple[str, ...]
    projections: Mapping[str, tuple[str, ...]]
    one_by_default: frozenset[str] = frozenset()
    left_out_at_one: frozenset[str] = frozenset()  # dims that only some layers have: no loops for the others
    windows: str = ""  # an axis per window: d, h, w for depth, height, width; each has a stride and a dilation
    multiplies: Mapping[str, str] = MappingProxyType({})  # a size that is no dim: it multiplies that of a dim
    transposed: tuple[tuple[str, str], ...] = ()  # per axis the dims of output and filter that its stride divides

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that a layer of this shape may give."""
        return (*self.dims, *self.multiplies)


def _convolution(windows: str, outputs: str, filters: str) -> Shape:
    """A grouped convolution with a window along each axis; M and C are per group."""
    axes = zip(outputs, filters, windows, strict=True)
    slid = tuple(f"{p}*stride_{axis} + {r}*dilation_{axis}" for p, r, axis in axes)
    return Shape(
        dims=("N", "G", "M", "C", *outputs, *filters),
        projections={
            "Weights": ("G", "M", "C", *filters),
            "Inputs": ("N", "G", "C", *slid),
            "Outputs": ("N", "G", "M", *outputs),
        },
        one_by_default=frozenset("NG"),
        left_out_at_one=frozenset("G"),
        windows=windows,
    )


_CONV2D = _convolution("hw", "PQ", "RS")
_PRODUCTS = Shape(
    dims=("B", "M", "N", "K"),
    projections={"Weights": ("B", "M", "K"), "Inputs": ("B", "N", "K"), "Outputs": ("B", "N", "M")},
)
_ATTENTION = replace(_PRODUCTS, one_by_default=frozenset("BH"), multiplies=MappingProxyType({"H": "N"}))

# In every shape Weights is the operand that belongs to the model, Inputs the one that comes with the data; M counts
# output features and N the batch, so that constraints written for convolutions mean the same for matrix products.
# attention_scores: queries (Inputs) by keys (Weights); attention_context: scores (Inputs) by values (Weights). B counts
# the heads of keys and values in the batch. H query heads share each of them (grouped queries): they are so many more
# queries, so the layer is a batched_matmul with H N in place of N.
SHAPES: Mapping[str, Shape] = {
    "conv2d": _CONV2D,
    "matmul": Shape(
        dims=("M", "N", "K"),
        projections={"Weights": ("M", "K"), "Inputs": ("N", "K"), "Outputs": ("N", "M")},
    ),
    "batched_matmul": _PRODUCTS,
    "attention_scores": _ATTENTION,
    "attention_context": _ATTENTION,
    "conv1d": _convolution("h", "P", "R"),
    "conv3d": _convolution("dhw", "OPQ", "TRS"),
    "transposed_conv2d": replace(_CONV2D, transposed=(("P", "R"), ("Q", "S"))),
    "rank1": Shape(dims=("D",), projections={"Inputs": ("D",), "Outputs": ("D",)}),
}


def transposed_sizes(shape: Shape, sizes: Mapping[str, int], stride: tuple[int, ...]) -> dict[str, int]:
    """The sizes of the plain convolution that a transposed one is; others stay as they are.

    A transposed convolution of stride s adds each input word, times the filter, to the outputs from s times its
    place on. Seen from the outputs, those at one remainder modulo s (a phase) take every s-th row of the filter
    only: each phase is a convolution of stride 1 with a filter of R / s rows, and the phases read the same inputs.
    So with strides s_h and s_w the layer is a convolution of stride 1 with

        M s_h s_w output channels (phase by phase), P / s_h by Q / s_w outputs, a filter of R / s_h by S / s_w,

    with the words of weights and outputs of the transposed one. MACs are N G M C P Q R S / (s_h s_w), a part of the
    filter per output, zeros beyond the edges of the inputs among them, as in every convolution here; where P and Q are
    s_h and s_w times the inputs, that is each input word times the whole filter. P, Q are the outputs, R, S the filter,
    as the layer is published; the strides must divide them (`transposed_faults`), as phases with unlike filters or
    outputs are no single loop nest.
    """
    plain_sizes = dict(sizes)
    for (output, window), step in zip(shape.transposed, stride, strict=False):  # none where it is not transposed
        plain_sizes["M"] *= step
        plain_sizes[output] //= step
        plain_sizes[window] //= step
    return plain_sizes


def transposed_faults(shape: Shape, sizes: Mapping[str, int], stride: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """The dims that the strides of a transposed convolution do not divide, each with what is wrong."""
    for dims, step in zip(shape.transposed, stride, strict=False):  # none where it is not transposed
        for dim in dims:
            if sizes[dim] % step:
                why = "or the outputs of one remainder have filters and numbers of their own"
                yield dim, f"a multiple of the stride {step} is expected, {why}; got {sizes[dim]}"
