"""Properties of operators that multiply and add up, and of pools."""

from .property import ALIKE, ANY, BOTH, LEFT, MAPS, RIGHT, Property


def _of(window: str) -> str:
    """Return the parameters of a convolution, or those of a pool."""
    return f"stride=stride, pad=pad, {window}"


CONV, NONE, RELU = _of("act=act"), _of("act='none'"), _of("act='relu'")
POOL = "kernel=kernel, stride=stride, pad=pad"
KERNEL = "y:mcrs"


def _of_convolutions(op: str, kernels: str) -> tuple[Property, ...]:
    """Return what convolutions have in common, whether dense or in groups."""
    x, y = "x:nchw", f"y:{kernels}"
    return (
        Property(f"smul of {op}", f"smul({op}(x, y, {NONE}), s)", f"{op}(smul(x, s), y, {NONE})", f"{x} {y} s:"),
        Property(f"smul into {op}", f"{op}(smul(x, s), y, {CONV})", f"{op}(x, smul(y, s), {CONV})", f"{x} {y} s:"),
        Property(f"relu of {op}", f"relu({op}(x, y, {NONE}))", f"{op}(x, y, {RELU})", f"{x} {y}"),
        Property(
            f"{op} adds kernels",
            f"{op}(x, ewadd(y, z), {NONE})",
            f"ewadd({op}(x, y, {NONE}), {op}(x, z, {NONE}))",
            f"{x} {y} z:{kernels}",
            LEFT,
        ),
        Property(
            f"{op} adds data",
            f"{op}(ewadd(x, z), y, {NONE})",
            f"ewadd({op}(x, y, {NONE}), {op}(z, y, {NONE}))",
            f"{x} {y} z:nchw",
            LEFT,
        ),
        Property(
            f"{op} of batches",
            f"concat({op}(x, y, {CONV}), {op}(z, y, {CONV}), axis=0)",
            f"{op}(concat(x, z, axis=0), y, {CONV})",
            f"{x} {y} z:bchw",
            RIGHT,
        ),
        Property(
            f"scale of {op}",
            f"scale({op}(x, y, {NONE}), b, axis=1)",
            f"{op}(x, scale(y, b, axis=0), {NONE})",
            f"{x} {y} b:m",
        ),
        Property(
            f"{op} enlarged",
            f"{op}(x, y, stride=stride, pad='same', act=act)",
            f"{op}(x, enlarge(y, kernel=kernel), stride=stride, pad='same', act=act)",
            f"{x} {y}",
            RIGHT,
        ),
    )


def _of_pools(op: str) -> tuple[Property, ...]:
    return tuple(
        Property(
            f"{op} along {name}",
            f"concat({op}(x, {POOL}), {op}(y, {POOL}), axis={axis})",
            f"{op}(concat(x, y, axis={axis}), {POOL})",
            inputs,
            RIGHT,
        )
        for name, axis, inputs in (("batches", 0, "x:nchw y:bchw"), ("channels", 1, "x:nchw y:nmhw"))
    )


PRODUCTS = (
    Property("matmul in any order", "matmul(x, matmul(y, z))", "matmul(matmul(x, y), z)", "x:nc y:cd z:de"),
    Property("matmul of ewadd", "matmul(x, ewadd(y, z))", "ewadd(matmul(x, y), matmul(x, z))", "x:nc y:cd z:cd"),
    Property(
        "matmul of concat",
        "matmul(x, concat(y, z, axis=1))",
        "concat(matmul(x, y), matmul(x, z), axis=1)",
        "x:nc y:cd z:ce",
    ),
    Property(
        "matmul of parts",
        "matmul(concat(x, z, axis=1), concat(y, w, axis=0))",
        "ewadd(matmul(x, y), matmul(z, w))",
        "x:nc y:cd z:ne w:ed",
        LEFT,
    ),
    Property("matmul of smul", "smul(matmul(x, y), s)", "matmul(x, smul(y, s))", "x:nc y:cd s:"),
    Property("matmul of scale", "scale(matmul(x, y), b, axis=1)", "matmul(x, scale(y, b, axis=1))", "x:nc y:cd b:d"),
    Property("scale into matmul", "matmul(scale(x, b, axis=1), y)", "matmul(x, scale(y, b, axis=0))", "x:nc y:cd b:c"),
    Property("transpose of matmul", "transpose(matmul(x, y))", "matmul(transpose(y), transpose(x))", "x:nc y:cd"),
    Property("identity of matmul", "matmul(x, i_matmul(size=n))", "x", "x:nc", LEFT),
    Property("transpose of identity", "transpose(i_matmul(size=n))", "i_matmul(size=n)", ""),
    Property("scale of identity", "scale(i_matmul(size=n), b, axis=0)", "scale(i_matmul(size=n), b, axis=1)", "b:n"),
    *_of_convolutions("conv", "mcrs"),
    *_of_convolutions("gconv", "mgrs"),
    Property(
        "conv of outputs",
        f"conv(x, concat(y, z, axis=0), {CONV})",
        f"concat(conv(x, y, {CONV}), conv(x, z, {CONV}), axis=1)",
        f"{MAPS} {KERNEL} z:kcrs",
        LEFT,
    ),
    Property(
        "conv of channels",
        f"conv(concat(x, z, axis=1), concat(y, w, axis=1), {NONE})",
        f"ewadd(conv(x, y, {NONE}), conv(z, w, {NONE}))",
        f"{MAPS} {KERNEL} z:nghw w:mgrs",
        LEFT,
    ),
    Property(
        "scale into conv",
        f"conv(scale(x, b, axis=1), y, {CONV})",
        f"conv(x, scale(y, b, axis=1), {CONV})",
        f"{MAPS} {KERNEL} b:c",
    ),
    Property("one group", f"conv(x, y, {CONV})", f"gconv(x, y, {CONV})", f"{MAPS} {KERNEL}", BOTH),
    Property(
        "two groups",
        f"concat(conv(x, y, {CONV}), conv(z, w, {CONV}), axis=1)",
        f"gconv(concat(x, z, axis=1), concat(y, w, axis=0), {CONV})",
        f"{MAPS} {KERNEL} z:nghw w:kgrs",
        BOTH,
    ),
    Property(
        "groups joined",
        f"concat(gconv(x, y, {CONV}), gconv(z, w, {CONV}), axis=1)",
        f"gconv(concat(x, z, axis=1), concat(y, w, axis=0), {CONV})",
        "x:nchw y:mgrs z:ndhw w:kgrs",
        BOTH,
    ),
    Property(
        "identity of conv", "conv(x, i_conv(size=n, kernel=k), stride=(1, 1), pad='same', act='none')", "x", MAPS, LEFT
    ),
    Property(
        "scale of i_conv",
        "scale(i_conv(size=n, kernel=k), b, axis=0)",
        "scale(i_conv(size=n, kernel=k), b, axis=1)",
        "b:n",
    ),
    Property(
        "average as gconv", f"gconv(x, c_pool(size=n, kernel=kernel), {NONE})", f"pool_avg(x, {POOL})", MAPS, ALIKE
    ),
    *_of_pools("pool_avg"),
    *_of_pools("pool_max"),
    Property(
        "pool_avg of ewadd",
        f"pool_avg(ewadd(x, y), {POOL})",
        f"ewadd(pool_avg(x, {POOL}), pool_avg(y, {POOL}))",
        ANY,
        LEFT,
    ),
    Property("pool_avg of smul", f"smul(pool_avg(x, {POOL}), s)", f"pool_avg(smul(x, s), {POOL})", f"{MAPS} s:"),
    *(
        Property(
            f"pool_avg of scale {axis}",
            f"scale(pool_avg(x, {POOL}), b, axis={axis})",
            f"pool_avg(scale(x, b, axis={axis}), {POOL})",
            f"{MAPS} b:{'nc'[axis]}",
        )
        for axis in (0, 1)
    ),
    Property("pool_max of relu", f"pool_max(relu(x), {POOL})", f"relu(pool_max(x, {POOL}))", MAPS),
    *(
        Property(
            f"pool_max of bias {axis}",
            f"bias(pool_max(x, {POOL}), b, axis={axis})",
            f"pool_max(bias(x, b, axis={axis}), {POOL})",
            f"{MAPS} b:{'nc'[axis]}",
        )
        for axis in (0, 1)
    ),
)
