"""The schema of a file with a layer or a network."""

from typing import Any

from ..block_scales import FORMATS
from ..load import CountedExplicit, CountedShaped, NetworkFile, Reference
from ..named_shapes import SHAPES
from ..operations import OperationEntry
from ..operators import OPERATORS
from ..shapes import ExplicitLayer, ShapedLayer
from .generate import DRAFT, EXPRESSION, Schema, schema_of

TOLD = {
    "ShapedLayer.name": "The layer's name, without blanks and slashes; else that of the file.",
    "ShapedLayer.shape": "What is computed, which says which dims and tensors there are.",
    "ShapedLayer.sizes": "The size of each dim. P and Q are rows and columns of the outputs, not of the inputs.",
    "ShapedLayer.stride": "By how many inputs a window moves: one number, or one for each window. 1 if left out.",
    "ShapedLayer.dilation": "By how many inputs weights stand apart: one number, or one per window. 1 if left out.",
    "ShapedLayer.word_bits": "The width of a tensor's words in bits, by its name; else the machine's.",
    "ShapedLayer.block_scaled": "Tensors in block-scaled formats, as {Weights: {format: mxfp4}}.",
    "ExplicitLayer.block_scaled": "Tensors in block-scaled formats, as {Weights: {format: mxfp4, along: K}}.",
    "BlockScaled.format": "The format: 32 elements share a scale of 8 bits.",
    "BlockScaled.along": "The dim along which blocks run; else the first of the tensor that is summed over.",
    "ExplicitLayer.name": "The layer's name, without blanks and slashes; else that of the file.",
    "ExplicitLayer.dims": "The size of each dim.",
    "ExplicitLayer.coefficients": "Numbers that projections may use by name, such as a stride.",
    "ExplicitLayer.tensors": "The tensors, by their names; exactly one is the output.",
    "TensorSection.projection": "An index per rank: a sum of dims with coefficients of at least 1, as P*stride + R.",
    "TensorSection.output": "Whether this is the output. Each of its ranks is a single dim.",
    "TensorSection.word_bits": "The width of its words in bits; else the machine's.",
    **{
        f"{entry}.{key}": text
        for entry in ("Reference", "CountedShaped", "CountedExplicit")
        for key, text in (
            ("from", "The layer or operation above that makes an input, by the input's name here."),
            ("pad", "Zeros around what other layers made, along the windows of these dims: one number, or two."),
            ("through", "By input the operator on rows of words between two layers, as softmax."),
            ("streaming", "Whether a softmax goes tile by tile, and its results are rescaled."),
            ("causal", "Whether a query sees no key after its own."),
        )
    },
    "CountedShaped.count": "How often the network has this layer.",
    "CountedExplicit.count": "How often the network has this layer.",
    "Reference.layer": "A layer of the library, as resnet50/fc, or the file of a layer beside this one.",
    "Reference.block_scaled": "Tensors in block-scaled formats, as {Weights: {format: mxfp4}}.",
    "Reference.count": "How often the network has this layer.",
    "NetworkFile.name": "The network's name; else that of the file.",
    "NetworkFile.tokens": "Of a language model: the tokens that a run takes in (a prompt) or makes, for tokens/s.",
    "NetworkFile.inputs": "Tensors that nobody in the network makes, and their sizes.",
    "OperationEntry.name": "The operation's name, without blanks and slashes.",
    "OperationEntry.op": "The operator: it moves words, and multiplies nothing.",
    "OperationEntry.from": "What it reads: layers and operations above, inputs of the network.",
    "OperationEntry.sizes": "The sizes of its output, where they are not those of its input.",
    "OperationEntry.count": "How often the network has this operation.",
    "NetworkFile.block_scaled": "Inputs of all layers in block-scaled formats, where nobody here makes them.",
    "NetworkFile.layers": "The layers and operations in their order.",
}
_STEP: Schema = {"anyOf": [{"type": "integer", "minimum": 1}, EXPRESSION]}
_ZEROS: Schema = {"anyOf": [{"type": "integer", "minimum": 0}, EXPRESSION]}
OTHER: dict[str, Schema] = {
    "_both_ends": {"anyOf": [*_ZEROS["anyOf"], {"type": "array", "items": _ZEROS, "minItems": 2, "maxItems": 2}]},
    "_name": {"type": "string", "pattern": r"^[^\s/]+$"},
    "word": {"type": "string", "pattern": r"^[A-Za-z_]\w*$"},
    "_one_or_more": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    "_steps": {"anyOf": [*_STEP["anyOf"], {"type": "array", "items": _STEP, "minItems": 1}]},
}


def workload_schema() -> Schema:
    """Make the schema: of a layer with a shape or with dims of its own, and of a network."""
    whole = {name: schema_of(model, name, TOLD, OTHER) for name, model in _MODELS.items()}
    parts: Schema = {}
    for schema in whole.values():
        parts |= schema.pop("$defs", {})
        schema.pop("$schema")
    parts |= whole
    for name in ("ShapedLayer", "CountedShaped"):
        parts[name] |= {"allOf": [_sizes_of(shape) for shape in SHAPES]}
        parts[name]["properties"]["shape"]["enum"] = list(SHAPES)
    layers = parts["NetworkFile"]["properties"]["layers"]
    parts["OperationEntry"]["properties"]["op"]["enum"] = list(OPERATORS)
    parts["BlockScaled"]["properties"]["format"]["enum"] = list(FORMATS)
    layers["items"] = _first(
        ("op", "OperationEntry"), ("layer", "Reference"), ("shape", "CountedShaped"), last="CountedExplicit"
    )
    chosen = _first(("layers", "NetworkFile"), ("shape", "ShapedLayer"), ("sizes", "ShapedLayer"), last="ExplicitLayer")
    return {"$schema": DRAFT, "title": "A layer or a network of ruby-map", "type": "object", **chosen, "$defs": parts}


def _first(*choices: tuple[str, str], last: str) -> Schema:
    """The part of the first choice whose key is there, else the last: faults are those of one part."""
    schema: Schema = {"$ref": f"#/$defs/{last}"}
    for key, part in reversed(choices):
        schema = {"if": {"type": "object", "required": [key]}, "then": {"$ref": f"#/$defs/{part}"}, "else": schema}
    return schema


def _sizes_of(name: str) -> Schema:
    """Which sizes a layer of a shape has."""
    shape: Any = SHAPES[name]
    needed = [dim for dim in shape.names if dim not in shape.one_by_default]
    sizes = {"propertyNames": {"enum": list(shape.names)}, "required": needed}
    given = {"properties": {"shape": {"const": name}}, "required": ["shape"]}
    return {"if": given, "then": {"properties": {"sizes": sizes}}}


_MODELS: dict[str, Any] = {
    one.__name__: one
    for one in (
        ShapedLayer,
        ExplicitLayer,
        NetworkFile,
        Reference,
        CountedShaped,
        CountedExplicit,
        OperationEntry,
    )
}
