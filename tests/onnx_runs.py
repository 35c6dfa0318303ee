"""Runs of ONNX models under onnxruntime, for tests."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")


def run(model: Any, words: Mapping[str, np.ndarray], *, plain: bool = True) -> list[np.ndarray]:
    """The outputs that onnxruntime computes on one core; `plain`: node by node, without its own rewrites."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_DISABLE_ALL if plain else levels.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, dict(words))


def declared(value: Any) -> tuple[int, ...]:
    return tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
