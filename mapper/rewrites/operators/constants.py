"""Constant tensors: what is neither read nor given."""

from collections.abc import Mapping

import numpy as np

from .operator import Array, Operator, Params


def _centred(params: Params) -> Array:
    """The kernel of the convolution that changes nothing."""
    channels, (rows, columns) = params
    made = np.zeros((channels, channels, rows, columns))
    made[range(channels), range(channels), rows // 2, columns // 2] = 1.0
    return made


def _pool(params: Params) -> Array:
    """The kernels of the convolution, a group for each channel, that averages."""
    channels, (rows, columns) = params
    return np.full((channels, 1, rows, columns), 1.0 / (rows * columns))


def _odd(params: Params) -> bool:
    return all(one % 2 == 1 for one in params[1])


OPERATORS: Mapping[str, Operator] = {
    "i_matmul": Operator(
        ("size",),
        0,
        lambda params, _: (params[0],) * 2,
        lambda params, _, __: np.eye(params[0]),
    ),
    "i_conv": Operator(
        ("size", "kernel"),
        0,
        lambda params, _: (params[0], params[0], *params[1]) if _odd(params) else None,
        lambda params, _, __: _centred(params),
    ),
    "c_pool": Operator(
        ("size", "kernel"),
        0,
        lambda params, _: (params[0], 1, *params[1]),
        lambda params, _, __: _pool(params),
    ),
    "ones": Operator(
        ("sizes",), 0, lambda params, _: tuple(params[0]) or None, lambda params, _, __: np.ones(params[0])
    ),
}
