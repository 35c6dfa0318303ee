"""Which nodes of ONNX are operators of the table, and how their attributes are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ....workloads.onnx import Node
from ..terms import Term
from . import arrangement, constants, elementwise, products, windows
from .reading import Reading

Read = Callable[[Reading, Node], Sequence[Term] | None]
FLOATS = ("float16", "float32", "float64")


@dataclass(frozen=True)
class Reader:
    """How a node becomes terms, one for each output: None where it is not exactly what operators of the table do. Only
    nodes with attributes that are known here are read, as others may change what is computed."""

    read: Read
    attributes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, read: Read, attributes: str = "") -> "Reader":
        """A reader of nodes with some attributes, written with blanks between them."""
        return cls(read, frozenset(attributes.split()))


_WINDOW = "auto_pad dilations kernel_shape pads strides"
READERS: Mapping[str, Reader] = {
    "Add": Reader.of(elementwise.add),
    "AveragePool": Reader.of(windows.average_pool, f"{_WINDOW} ceil_mode count_include_pad"),
    "BatchNormalization": Reader.of(elementwise.batch_norm, "epsilon momentum spatial training_mode"),
    "Concat": Reader.of(arrangement.concat, "axis"),
    "Conv": Reader.of(windows.conv, f"{_WINDOW} group"),
    "Gemm": Reader.of(products.gemm, "alpha beta transA transB"),
    "MatMul": Reader.of(products.matmul),
    "MaxPool": Reader.of(windows.max_pool, f"{_WINDOW} ceil_mode storage_order"),
    "Mul": Reader.of(elementwise.mul),
    "Relu": Reader.of(elementwise.relu),
    "Slice": Reader.of(arrangement.sliced, "axes ends starts"),
    "Split": Reader.of(arrangement.split, "axis num_outputs split"),
    "Sum": Reader.of(elementwise.summed),
    "Transpose": Reader.of(arrangement.transpose, "perm"),
}

# nodes that make no operator, of whatever types
ANY_TYPE: Mapping[str, Read] = {
    "Constant": constants.constant,
    "ConstantOfShape": constants.constant_of_shape,
    **dict.fromkeys(("Dropout", "Identity"), constants.handed_on),
    **dict.fromkeys(("Flatten", "Squeeze", "Unsqueeze"), constants.in_other_sizes),
    "Reshape": constants.reshape,
}


def read_node(reading: Reading, node: Node) -> Sequence[Term] | None:
    """The terms of what a node makes, of known types that the file does not contradict; None where the table of
    operators has nothing that computes exactly this."""
    if node.op in ANY_TYPE:
        return ANY_TYPE[node.op](reading, node)
    reader = READERS.get(node.op)
    if reader is None or not reader.attributes.issuperset(node.attributes):
        return None
    tensors = [reading.source.tensor(own) for own in reading.operands(node)]
    if not tensors or None in tensors or tensors[0] is None or tensors[0].dtype not in FLOATS:
        return None
    made = reader.read(reading, node)
    return made if made is not None and all(map(reading.agrees, node.outputs, made)) else None
