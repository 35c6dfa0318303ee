"""Makes a `Workload` of a layer in its explicit form, or of a named shape, which abbreviates that form."""

import keyword
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from .block_scales import BlockScaled, block_scaled
from .checking import IntExpr, Section
from .expressions import linear
from .hints import of_input, of_layer
from .named_shapes import SHAPES, Shape, transposed_faults, transposed_sizes
from .reading import Keys, near
from .spec import Rank, Tensor, Term, Workload

MOST_NAME = 200  # bytes; a layer's folder has its name, with a number before it
MAX_WORDS = 2**62  # MACs of a layer, words of a tensor, the size of a dim: all stay below


def _name(text: str) -> str:
    if not text or "/" in text or text != "".join(text.split()):
        raise ValueError(f"a name has no blanks and no slash (network/layer names a layer), got {text!r}")
    if not text.isprintable():  # control characters, marks that turn the direction of text
        raise ValueError(f"a name has printable characters alone, got {text!a}")
    if len(text.encode()) > MOST_NAME:
        raise ValueError(f"a name has at most {MOST_NAME} bytes, got {len(text.encode())}: {text[:20]}...")
    return text


def word(text: str) -> str:
    """`text`, the name of a dim, coefficient or tensor. Raises ValueError where expressions cannot contain it."""
    if not (text.isidentifier() and text.isascii()) or keyword.iskeyword(text):
        raise ValueError(f"the name of a dim, coefficient or tensor is letters, digits and _, got {text!r}")
    return text


def _steps(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


Size = Annotated[IntExpr, Field(ge=1, lt=MAX_WORDS)]
Bits = Annotated[IntExpr, Field(ge=1, le=1024)]
Name = Annotated[str, AfterValidator(_name)]
Word = Annotated[str, AfterValidator(word)]
Steps = Annotated[tuple[Size, ...], BeforeValidator(_steps)]  # one per window, or one for all

Located = tuple[Keys, str]  # the path to a value and what is wrong with it


class TensorSection(Section):
    """A tensor of an explicit layer, with an index expression per rank."""

    projection: tuple[str, ...]
    output: bool = False
    word_bits: Bits | None = None


class ExplicitLayer(Section):
    """A layer with every dim and tensor spelt out."""

    name: Name | None = None
    dims: dict[Word, Size]
    coefficients: dict[Word, Size] = {}
    tensors: dict[Word, TensorSection]
    block_scaled: dict[str, BlockScaled] | None = None


class ShapedLayer(Section):
    """A layer of one of `SHAPES`."""

    name: Name | None = None
    shape: str
    sizes: dict[str, Size]
    stride: Steps | None = None
    dilation: Steps | None = None
    word_bits: dict[str, Bits] = {}
    block_scaled: dict[str, BlockScaled] | None = None


def _shape_faults(layer: ShapedLayer) -> Iterator[Located]:
    shape = SHAPES.get(layer.shape)
    if shape is None:
        yield ("shape",), f"must be one of {', '.join(SHAPES)}; got {layer.shape!r}{near(layer.shape, SHAPES)}"
        return
    for dim in layer.sizes:
        if dim not in shape.names:
            hint = _meant(dim, layer, shape)
            yield ("sizes", dim), f'unknown dim "{dim}"; {layer.shape} has {", ".join(shape.names)}{hint}'
    missing = [dim for dim in shape.names if dim not in layer.sizes and dim not in shape.one_by_default]
    if missing:
        yield ("sizes",), f"the size of {', '.join(missing)} is missing; {layer.shape} has {', '.join(shape.names)}"
    for tensor in layer.word_bits:
        if tensor not in shape.projections:
            names = ", ".join(shape.projections)
            yield ("word_bits", tensor), f'unknown tensor "{tensor}"; {layer.shape} has {names}'
    for key in ("stride", "dilation"):
        has = shape.windows and not (shape.transposed and key == "dilation")
        if getattr(layer, key) is not None and not has:
            yield (key,), f"{layer.shape} has no {key}"


def _meant(dim: str, layer: ShapedLayer, shape: Shape) -> str:
    """What may be meant by a dim that the shape has not: a hint to add to its fault, or nothing."""
    hint = of_input(dim, layer.sizes, _window_steps(layer, shape), bool(shape.transposed))
    return hint or near(dim, shape.names, taken=layer.sizes) or of_layer(dim, layer.shape)


def _window_steps(layer: ShapedLayer, shape: Shape) -> dict[str, tuple[object, object]]:
    """The stride and dilation of P and Q where the shape has them, as written: of a file that may have other faults."""

    def step(given: object, axis: str) -> object:
        given = 1 if given is None else given
        per_axis = list(given) if isinstance(given, list | tuple) else [given]
        if len(per_axis) == 1:
            return per_axis[0]
        return per_axis[shape.windows.index(axis)] if len(per_axis) == len(shape.windows) else None

    axes = {"P": "h", "Q": "w"}
    return {
        dim: (step(layer.stride, axis), step(layer.dilation, axis))
        for dim, axis in axes.items()
        if axis in shape.windows
    }


def _steps_of(given: tuple[int, ...] | None, shape: Shape) -> tuple[int, ...]:
    """A stride or dilation for each window of a shape, of one for all or one for each."""
    given = given or (1,)
    return given * len(shape.windows) if len(given) == 1 else given


def _value_faults(layer: ShapedLayer) -> Iterator[Located]:
    """The faults of values that do not go together, in a layer without `_shape_faults`."""
    shape = SHAPES[layer.shape]
    for key, given in (("stride", layer.stride), ("dilation", layer.dilation)):
        if given is not None and len(given) not in (1, len(shape.windows)):
            wanted = f"one number, or {len(shape.windows)} are" if len(shape.windows) > 1 else "one number is"
            yield (key,), f"{wanted} expected for {layer.shape}, got {len(given)}"
            return
    for dim, message in transposed_faults(shape, layer.sizes, _steps_of(layer.stride, shape)):
        yield ("sizes", dim), message
    for dim, size in _nest_sizes(layer, shape).items():
        if size >= MAX_WORDS:
            yield ("sizes",), f"a size of {dim} below 2**62 is expected, got {size:.3g}"


def _nest_sizes(layer: ShapedLayer, shape: Shape) -> dict[str, int]:
    """The size of each dim of the nest; strides of a transposed convolution are within."""
    sizes = {dim: layer.sizes.get(dim, 1) for dim in shape.dims}
    for name, dim in shape.multiplies.items():
        sizes[dim] *= layer.sizes.get(name, 1)
    return transposed_sizes(shape, sizes, _steps_of(layer.stride, shape))


def key_faults(data: object) -> list[Located]:
    """The faults of missing and unknown keys in a shaped layer as it is written, whatever its values are."""
    if not isinstance(data, dict) or not isinstance(data.get("sizes"), dict):
        return []
    if not isinstance(data.get("shape"), str) or data["shape"] not in SHAPES:
        return []
    word_bits = data.get("word_bits")
    layer = ShapedLayer.model_construct(
        shape=data["shape"],
        sizes=data["sizes"],
        stride=data.get("stride"),
        dilation=data.get("dilation"),
        word_bits=word_bits if isinstance(word_bits, dict) else {},
    )
    return list(_shape_faults(layer))


def _expand(layer: ShapedLayer) -> ExplicitLayer:
    """The explicit form of a layer without `_shape_faults` and `_value_faults`."""
    shape = SHAPES[layer.shape]
    sizes = _nest_sizes(layer, shape)
    strides = _steps_of(None if shape.transposed else layer.stride, shape)
    dilations = _steps_of(layer.dilation, shape)
    absent = {dim for dim in shape.left_out_at_one if sizes[dim] == 1}
    coefficients = {f"stride_{axis}": step for axis, step in zip(shape.windows, strides, strict=True)}
    coefficients |= {f"dilation_{axis}": step for axis, step in zip(shape.windows, dilations, strict=True)}
    tensors = {
        tensor: TensorSection(
            projection=tuple(rank for rank in ranks if rank not in absent),
            output=tensor == "Outputs",
            word_bits=layer.word_bits.get(tensor),
        )
        for tensor, ranks in shape.projections.items()
    }
    dims = {dim: size for dim, size in sizes.items() if dim not in absent}
    return ExplicitLayer(name=layer.name, dims=dims, coefficients=coefficients, tensors=tensors)


def _ranks(layer: ExplicitLayer, tensor: str) -> Iterator[Rank | ValueError]:
    for text in layer.tensors[tensor].projection:
        try:
            coefs = linear(text, layer.dims, layer.coefficients)
            yield tuple(Term(dim, coef) for dim, coef in coefs.items())
        except ValueError as error:
            yield error


def _tensor_faults(layer: ExplicitLayer, tensor: str) -> Iterator[Located]:
    path: Keys = ("tensors", tensor, "projection")
    section = layer.tensors[tensor]
    if not section.projection:
        yield path, "at least one rank is expected; write a scalar as a dim of size 1"
    seen: set[str] = set()
    for index, rank in enumerate(_ranks(layer, tensor)):
        rank_path = (*path, index)
        if isinstance(rank, ValueError):
            yield rank_path, str(rank)
            continue
        for term in rank:
            if term.dim in seen:
                yield rank_path, f"the dim {term.dim} is used twice in {tensor}; a dim may index a tensor once"
            seen.add(term.dim)
        if section.output and (len(rank) > 1 or rank[0].coef > 1):
            text = section.projection[index]
            yield (
                rank_path,
                f"a rank of the output must be a single dim, so that partial sums have one place; got {text!r}",
            )


def _layer_faults(layer: ExplicitLayer) -> Iterator[Located]:
    if not layer.dims:
        yield ("dims",), "at least one dim is expected"
    for name in layer.dims.keys() & layer.coefficients.keys():
        yield ("coefficients", name), f"{name} is a dim already"
    outputs = [name for name, tensor in layer.tensors.items() if tensor.output]
    if len(outputs) != 1:
        got = ", ".join(outputs) or "none"
        yield ("tensors",), f"exactly one tensor must have `output: true`, got {got}"
    for tensor in layer.tensors:
        yield from _tensor_faults(layer, tensor)


def size_faults(workload: Workload, sizes_key: str) -> Iterator[Located]:
    """The faults of a layer with 2**62 MACs or words of a tensor: positions along a rank are 64-bit integers."""
    counts = {"MACs": workload.macs}
    counts |= {f"words of {tensor.name}": workload.tensor_words(tensor) for tensor in workload.tensors}
    for what, count in counts.items():
        if count >= MAX_WORDS:
            yield (sizes_key,), f"fewer than 2**62 {what} are expected, got {count:.3g}"


def make_workload(layer: ExplicitLayer | ShapedLayer, default_name: str = "") -> tuple[Workload | None, list[Located]]:
    """The workload of a layer, and the faults of the layer; None where there are any."""
    shape, sizes_key, scaled = "", "dims", layer.block_scaled
    if isinstance(layer, ShapedLayer):
        if faults := list(_shape_faults(layer)) or list(_value_faults(layer)):
            return None, faults
        shape, sizes_key, layer = layer.shape, "sizes", _expand(layer)
    if faults := list(_layer_faults(layer)):
        return None, faults
    tensors = tuple(
        Tensor(
            name,
            tuple(rank for rank in _ranks(layer, name) if not isinstance(rank, ValueError)),
            section.output,
            section.word_bits,
        )
        for name, section in layer.tensors.items()
    )
    dims = layer.dims
    workload = Workload(layer.name or default_name, tuple(dims), tuple(dims.values()), tensors, shape)
    if faults := list(size_faults(workload, sizes_key)):
        return None, faults
    divided, faults = block_scaled(workload, scaled or {})
    return divided, [(("block_scaled", *path), message) for path, message in faults]
