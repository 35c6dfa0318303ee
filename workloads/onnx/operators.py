"""Nodes of ONNX that are no products: which operator of ours each of them is."""

from collections.abc import Collection, Mapping

# ours: those of ONNX; of functions without a name here the nearest. Others are `other`
_NAMES = {
    "abs": "Abs",
    "batch_norm": "BatchNormalization",
    "cast": "IsInf IsNaN Not Sign",
    "clip": "Clip",
    "dequantize": "DequantizeLinear",
    "elu": "Celu Elu Selu",
    "erf": "Erf",
    "exp": "Exp",
    "gelu": "Gelu com.microsoft.BiasGelu com.microsoft.FastGelu com.microsoft.Gelu com.microsoft.QuickGelu",
    "hard_sigmoid": "HardSigmoid",
    "hard_swish": "HardSwish",
    "leaky_relu": "LeakyRelu com.microsoft.QLinearLeakyRelu",
    "log": "Log",
    "negate": "Neg",
    "quantize": "Ceil DynamicQuantizeLinear Floor QuantizeLinear Round",
    "reciprocal": "Reciprocal",
    "relu": "Relu Shrink ThresholdedRelu",
    "scale": "Trilu",
    "sigmoid": "Sigmoid com.microsoft.QLinearSigmoid",
    "silu": "Mish Swish",
    "softplus": "Softplus",
    "sqrt": "Sqrt",
    "tanh": "Softsign Tanh",
    "reshape": "Flatten Reshape Squeeze Unsqueeze",
    "transpose": "DepthToSpace ReverseSequence SpaceToDepth Transpose",
    "concat": "Concat com.microsoft.QLinearConcat",
    "slice": "Gather GatherElements GatherND Slice Split",
    "expand": "Expand Tile",
    "pad": "CenterCropPad Pad",
    "layer_norm": "LayerNormalization",
    "rms_norm": "LpNormalization RMSNormalization SimplifiedLayerNormalization",
    "softmax": "Hardmax LogSoftmax Softmax com.microsoft.QLinearSoftmax",
    "cumulate": "CumProd CumSum",
    "group_norm": "GroupNormalization com.microsoft.GroupNorm",
    "instance_norm": "InstanceNormalization MeanVarianceNormalization",
    "local_response_norm": "LRN",
    "rotary": "RotaryEmbedding com.microsoft.RotaryEmbedding",
    "average_pool": "AveragePool LpPool com.microsoft.QLinearAveragePool",
    "global_pool": "GlobalAveragePool GlobalLpPool GlobalMaxPool com.microsoft.QLinearGlobalAveragePool",
    "max_pool": "MaxPool",
    "reduce": "ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
    "ReduceSum ReduceSumSquare",
    "top_k": "TopK",
    "embedding": "OneHot",
    "resize": "GridSample Resize Upsample",
}
_OPERATOR: Mapping[str, str] = {name: ours for ours, names in _NAMES.items() for name in names.split()}

# word by word with operands that are repeated along each other: on several tensors, and on one with constants
ELEMENTWISE: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("Add", "Sum", "com.microsoft.QLinearAdd"), ("add", "bias")),
    **dict.fromkeys(("Mul", "com.microsoft.QLinearMul"), ("multiply", "scale")),
    **dict.fromkeys(
        ("And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Or", "Xor"), ("other", "cast")
    ),
    "Div": ("divide", "scale"),
    "Max": ("maximum", "clip"),
    "Mean": ("add", "scale"),
    "Min": ("minimum", "clip"),
    "Mod": ("other", "scale"),
    "PRelu": ("multiply", "prelu"),
    "Pow": ("other", "power"),
    "Sub": ("subtract", "bias"),
    "Where": ("where", "bias"),
}
HANDED_ON = ("Cast", "CastLike", "Dropout", "Identity")  # their readers read their first input
# a tensor by what an operator made of it: mish, silu, hard_swish and gelu, in parts
_PARTS = {
    "softplus": "silu",
    "sigmoid": "silu",
    "hard_sigmoid": "hard_swish",
    "clip": "hard_swish",
    "erf": "gelu",
    "tanh": "gelu",
}


def operator_of(op: str, table: bool) -> str:
    """Our operator for one of ONNX that is not word by word; `table`: whether its first input belongs to the model."""
    return "embedding" if table and op in ("Gather", "GatherND") else _OPERATOR.get(op, "other")


def passing(op: str, between: Collection[str], by_itself: bool, constant: bool) -> str:
    """What an operator word by word does to one tensor.

    `between` has what else was done to the tensor before, on the way to some operand; `by_itself` says that all
    operands are the tensor, `constant` that the first belongs to the model.

    >>> passing("Mul", ["sigmoid"], by_itself=False, constant=False)
    'silu'
    """
    if op == "Mul" and between:
        return next((whole for part, whole in _PARTS.items() if part in between), "scale")
    if op == "Mul" and by_itself:
        return "power"
    return "reciprocal" if op == "Div" and constant else ELEMENTWISE[op][1]
