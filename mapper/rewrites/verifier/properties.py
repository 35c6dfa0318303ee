"""Properties of tensor operators, from which substitutions are proven. Each is checked by execution (`check.py`).

A property says that two terms are equal for all tensors and parameters. Its guard says which of the two terms have to
be computable for that: of an unguarded one either both are or none is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..terms import Term, unknowns
from ..text import term_of

# guards: which of both terms can be computed; ALIKE: both, and their types are equal
NO, LEFT, RIGHT, BOTH, ALIKE = "", "left", "right", "both", "alike"


@dataclass(frozen=True)
class Property:
    """Two equal terms. `inputs` has the sizes of inputs as letters, one size each in all of them: `y:nchw/e` has
    another size along the axis e, `b:x@e` is a vector of as many words as x has along it."""

    name: str
    left_text: str
    right_text: str
    inputs: str
    guard: str = NO
    distinct: tuple[str, ...] = ()  # unknown parameters that differ from each other

    @cached_property
    def left(self) -> Term:
        return term_of(self.left_text)

    @cached_property
    def right(self) -> Term:
        return term_of(self.right_text)

    @property
    def params(self) -> tuple[str, ...]:
        """Return the names of its unknown parameters, in their order."""
        return tuple(dict.fromkeys(own.name for own in unknowns((self.left, self.right))))

    def letters(self, params: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        """Return the letters of the sizes of each input, for values of parameters that say which axes are meant."""
        made: dict[str, tuple[str, ...]] = {}
        for one in self.inputs.split():
            name, _, letters = one.partition(":")
            if "@" in letters:
                other, _, axis = letters.partition("@")
                made[name] = made[other][params[axis] : params[axis] + 1]
                continue
            letters, _, axes = letters.partition("/")
            places = {params[axis] for axis in axes}
            made[name] = tuple(letter + "'" * (at in places) for at, letter in enumerate(letters))
        return made


def _of(window: str) -> str:
    """Return the parameters of a convolution, or those of a pool."""
    return f"stride=stride, pad=pad, {window}"


CONV, NONE, RELU = _of("act=act"), _of("act='none'"), _of("act='relu'")
POOL = "kernel=kernel, stride=stride, pad=pad"
ANY = "x:nchw y:nchw"
MAPS, KERNEL = "x:nchw", "y:mcrs"


def _p(name: str, left: str, right: str, inputs: str, guard: str = NO, distinct: tuple[str, ...] = ()) -> Property:
    return Property(name, left, right, inputs, guard, distinct)


def _of_convolutions(op: str, kernels: str) -> tuple[Property, ...]:
    """Return what convolutions have in common, whether dense or in groups."""
    x, y = "x:nchw", f"y:{kernels}"
    return (
        _p(f"smul of {op}", f"smul({op}(x, y, {NONE}), s)", f"{op}(smul(x, s), y, {NONE})", f"{x} {y} s:"),
        _p(f"smul into {op}", f"{op}(smul(x, s), y, {CONV})", f"{op}(x, smul(y, s), {CONV})", f"{x} {y} s:"),
        _p(f"relu of {op}", f"relu({op}(x, y, {NONE}))", f"{op}(x, y, {RELU})", f"{x} {y}"),
        _p(
            f"{op} adds kernels",
            f"{op}(x, ewadd(y, z), {NONE})",
            f"ewadd({op}(x, y, {NONE}), {op}(x, z, {NONE}))",
            f"{x} {y} z:{kernels}",
            LEFT,
        ),
        _p(
            f"{op} adds data",
            f"{op}(ewadd(x, z), y, {NONE})",
            f"ewadd({op}(x, y, {NONE}), {op}(z, y, {NONE}))",
            f"{x} {y} z:nchw",
            LEFT,
        ),
        _p(
            f"{op} of batches",
            f"concat({op}(x, y, {CONV}), {op}(z, y, {CONV}), axis=0)",
            f"{op}(concat(x, z, axis=0), y, {CONV})",
            f"{x} {y} z:bchw",
            RIGHT,
        ),
        _p(
            f"scale of {op}",
            f"scale({op}(x, y, {NONE}), b, axis=1)",
            f"{op}(x, scale(y, b, axis=0), {NONE})",
            f"{x} {y} b:m",
        ),
        _p(
            f"{op} enlarged",
            f"{op}(x, y, stride=stride, pad='same', act=act)",
            f"{op}(x, enlarge(y, kernel=kernel), stride=stride, pad='same', act=act)",
            f"{x} {y}",
            RIGHT,
        ),
    )


def _of_pools(op: str) -> tuple[Property, ...]:
    return tuple(
        _p(
            f"{op} along {name}",
            f"concat({op}(x, {POOL}), {op}(y, {POOL}), axis={axis})",
            f"{op}(concat(x, y, axis={axis}), {POOL})",
            inputs,
            RIGHT,
        )
        for name, axis, inputs in (("batches", 0, "x:nchw y:bchw"), ("channels", 1, "x:nchw y:nmhw"))
    )


def _linear(op: str, inner: str, params: str, inputs: str) -> Property:
    """Return that an operator of one operand commutes with a factor."""
    return _p(f"{op} of {inner}", f"{op}({inner}(x, {params}), s)", f"{inner}({op}(x, s), {params})", inputs)


ELEMENTWISE = (
    _p("ewadd in any order", "ewadd(x, ewadd(y, z))", "ewadd(ewadd(x, y), z)", "x:nchw y:nchw z:nchw"),
    _p("ewmul in any order", "ewmul(x, ewmul(y, z))", "ewmul(ewmul(x, y), z)", "x:nchw y:nchw z:nchw"),
    _p("ewmul of ewadd", "ewmul(ewadd(x, y), z)", "ewadd(ewmul(x, z), ewmul(y, z))", "x:nchw y:nchw z:nchw"),
    _p("smul turned", "smul(smul(x, s), t)", "smul(smul(x, t), s)", "x:nchw s: t:"),
    _p("smul of ewadd", "smul(ewadd(x, y), s)", "ewadd(smul(x, s), smul(y, s))", f"{ANY} s:"),
    _p("smul of ewmul", "smul(ewmul(x, y), s)", "ewmul(x, smul(y, s))", f"{ANY} s:"),
    _p("relu twice", "relu(relu(x))", "relu(x)", MAPS),
    _p("relu times itself", "ewmul(relu(x), relu(x))", "ewmul(x, relu(x))", MAPS),
    _p("ones", "ewmul(x, ones(sizes=sizes))", "x", MAPS, LEFT),
    _p("relu of ones", "relu(ones(sizes=sizes))", "ones(sizes=sizes)", ""),
)
ALONG_AN_AXIS = (
    _p(
        "scale turned",
        "scale(scale(x, a, axis=e), b, axis=f)",
        "scale(scale(x, b, axis=f), a, axis=e)",
        "x:nchw a:x@e b:x@f",
    ),
    _p(
        "scale by sums",
        "scale(x, ewadd(a, b), axis=e)",
        "ewadd(scale(x, a, axis=e), scale(x, b, axis=e))",
        "x:nchw a:x@e b:x@e",
    ),
    _p("scale of smul", "scale(smul(x, s), b, axis=e)", "smul(scale(x, b, axis=e), s)", "x:nchw s: b:x@e"),
    _p("smul into scale", "smul(scale(x, b, axis=e), s)", "scale(x, smul(b, s), axis=e)", "x:nchw s: b:x@e"),
    _p(
        "scale of ewadd",
        "scale(ewadd(x, y), b, axis=e)",
        "ewadd(scale(x, b, axis=e), scale(y, b, axis=e))",
        f"{ANY} b:x@e",
    ),
    _p("scale of ewmul", "scale(ewmul(x, y), b, axis=e)", "ewmul(scale(x, b, axis=e), y)", f"{ANY} b:x@e"),
    _p(
        "scale along an axis",
        "concat(scale(x, a, axis=e), scale(y, b, axis=e), axis=e)",
        "scale(concat(x, y, axis=e), concat(a, b, axis=0), axis=e)",
        "x:nchw y:nchw/e a:x@e b:y@e",
    ),
    _p(
        "scale across an axis",
        "concat(scale(x, a, axis=e), scale(y, a, axis=e), axis=f)",
        "scale(concat(x, y, axis=f), a, axis=e)",
        "x:nchw y:nchw/f a:x@e",
        distinct=("e", "f"),
    ),
    _p("bias twice", "bias(bias(x, a, axis=e), b, axis=e)", "bias(x, ewadd(a, b), axis=e)", "x:nchw a:x@e b:x@e"),
    _p(
        "bias turned",
        "bias(bias(x, a, axis=e), b, axis=f)",
        "bias(bias(x, b, axis=f), a, axis=e)",
        "x:nchw a:x@e b:x@f",
    ),
    _p("bias of ewadd", "bias(ewadd(x, y), b, axis=e)", "ewadd(bias(x, b, axis=e), y)", f"{ANY} b:x@e"),
    _p(
        "scale of bias",
        "scale(bias(x, a, axis=e), b, axis=e)",
        "bias(scale(x, b, axis=e), ewmul(a, b), axis=e)",
        "x:nchw a:x@e b:x@e",
    ),
    _p(
        "bias along an axis",
        "concat(bias(x, a, axis=e), bias(y, b, axis=e), axis=e)",
        "bias(concat(x, y, axis=e), concat(a, b, axis=0), axis=e)",
        "x:nchw y:nchw/e a:x@e b:y@e",
    ),
    _p(
        "bias across an axis",
        "concat(bias(x, a, axis=e), bias(y, a, axis=e), axis=f)",
        "bias(concat(x, y, axis=f), a, axis=e)",
        "x:nchw y:nchw/f a:x@e",
        distinct=("e", "f"),
    ),
)
ARRANGED = (
    _p("relu of concat", "relu(concat(x, y, axis=e))", "concat(relu(x), relu(y), axis=e)", "x:nchw y:nchw/e"),
    _p(
        "smul of concat",
        "smul(concat(x, y, axis=e), s)",
        "concat(smul(x, s), smul(y, s), axis=e)",
        "x:nchw y:nchw/e s:",
    ),
    _p(
        "ewadd of concats",
        "ewadd(concat(x, y, axis=e), concat(z, w, axis=e))",
        "concat(ewadd(x, z), ewadd(y, w), axis=e)",
        "x:nchw y:nchw/e z:nchw w:nchw/e",
    ),
    _p(
        "ewmul of concats",
        "ewmul(concat(x, y, axis=e), concat(z, w, axis=e))",
        "concat(ewmul(x, z), ewmul(y, w), axis=e)",
        "x:nchw y:nchw/e z:nchw w:nchw/e",
    ),
    _p(
        "concat of concats",
        "concat(concat(x, y, axis=f), concat(z, w, axis=f), axis=e)",
        "concat(concat(x, z, axis=e), concat(y, w, axis=e), axis=f)",
        "x:nchw y:nchw/f z:nchw/e w:nchw/ef",
        distinct=("e", "f"),
    ),
    _p("first part", "split0(concat(x, y, axis=e), axis=e)", "x", "x:nchw y:nchw/e", LEFT),
    _p("second part", "split1(concat(x, y, axis=e), axis=e)", "y", "x:nchw y:nchw/e", LEFT),
    _p("parts joined", "concat(split0(x, axis=e), split1(x, axis=e), axis=e)", "x", MAPS, LEFT),
    _p("transpose twice", "transpose(transpose(x))", "x", "x:nc", LEFT),
    _p(
        "transpose of concat",
        "transpose(concat(x, y, axis=0))",
        "concat(transpose(x), transpose(y), axis=1)",
        "x:nc y:mc",
    ),
    _p("transpose of ewadd", "transpose(ewadd(x, y))", "ewadd(transpose(x), transpose(y))", "x:nc y:nc"),
    _p("transpose of ewmul", "transpose(ewmul(x, y))", "ewmul(transpose(x), transpose(y))", "x:nc y:nc"),
    _p("transpose of relu", "transpose(relu(x))", "relu(transpose(x))", "x:nc"),
    _p("transpose of smul", "transpose(smul(x, s))", "smul(transpose(x), s)", "x:nc s:"),
    _p("transpose of scale", "transpose(scale(x, b, axis=0))", "scale(transpose(x), b, axis=1)", "x:nc b:n"),
    _p("transpose of bias", "transpose(bias(x, b, axis=0))", "bias(transpose(x), b, axis=1)", "x:nc b:n"),
    _p(
        "enlarge of ewadd",
        "enlarge(ewadd(x, y), kernel=k)",
        "ewadd(enlarge(x, kernel=k), enlarge(y, kernel=k))",
        ANY,
        LEFT,
    ),
    _p("enlarge of smul", "enlarge(smul(x, s), kernel=k)", "smul(enlarge(x, kernel=k), s)", f"{MAPS} s:"),
    *(
        _p(
            f"enlarge of concat {axis}",
            f"enlarge(concat(x, y, axis={axis}), kernel=k)",
            f"concat(enlarge(x, kernel=k), enlarge(y, kernel=k), axis={axis})",
            "x:nchw y:mchw" if axis == 0 else "x:nchw y:nmhw",
            LEFT,
        )
        for axis in (0, 1)
    ),
    *(
        _p(
            f"enlarge of scale {axis}",
            f"enlarge(scale(x, b, axis={axis}), kernel=k)",
            f"scale(enlarge(x, kernel=k), b, axis={axis})",
            f"{MAPS} b:{'nc'[axis]}",
        )
        for axis in (0, 1)
    ),
)
PRODUCTS = (
    _p("matmul in any order", "matmul(x, matmul(y, z))", "matmul(matmul(x, y), z)", "x:nc y:cd z:de"),
    _p("matmul of ewadd", "matmul(x, ewadd(y, z))", "ewadd(matmul(x, y), matmul(x, z))", "x:nc y:cd z:cd"),
    _p(
        "matmul of concat",
        "matmul(x, concat(y, z, axis=1))",
        "concat(matmul(x, y), matmul(x, z), axis=1)",
        "x:nc y:cd z:ce",
    ),
    _p(
        "matmul of parts",
        "matmul(concat(x, z, axis=1), concat(y, w, axis=0))",
        "ewadd(matmul(x, y), matmul(z, w))",
        "x:nc y:cd z:ne w:ed",
        LEFT,
    ),
    _p("matmul of smul", "smul(matmul(x, y), s)", "matmul(x, smul(y, s))", "x:nc y:cd s:"),
    _p("matmul of scale", "scale(matmul(x, y), b, axis=1)", "matmul(x, scale(y, b, axis=1))", "x:nc y:cd b:d"),
    _p("scale into matmul", "matmul(scale(x, b, axis=1), y)", "matmul(x, scale(y, b, axis=0))", "x:nc y:cd b:c"),
    _p("transpose of matmul", "transpose(matmul(x, y))", "matmul(transpose(y), transpose(x))", "x:nc y:cd"),
    _p("identity of matmul", "matmul(x, i_matmul(size=n))", "x", "x:nc", LEFT),
    _p("transpose of identity", "transpose(i_matmul(size=n))", "i_matmul(size=n)", ""),
    _p("scale of identity", "scale(i_matmul(size=n), b, axis=0)", "scale(i_matmul(size=n), b, axis=1)", "b:n"),
    *_of_convolutions("conv", "mcrs"),
    *_of_convolutions("gconv", "mgrs"),
    _p(
        "conv of outputs",
        f"conv(x, concat(y, z, axis=0), {CONV})",
        f"concat(conv(x, y, {CONV}), conv(x, z, {CONV}), axis=1)",
        f"{MAPS} {KERNEL} z:kcrs",
        LEFT,
    ),
    _p(
        "conv of channels",
        f"conv(concat(x, z, axis=1), concat(y, w, axis=1), {NONE})",
        f"ewadd(conv(x, y, {NONE}), conv(z, w, {NONE}))",
        f"{MAPS} {KERNEL} z:nghw w:mgrs",
        LEFT,
    ),
    _p(
        "scale into conv",
        f"conv(scale(x, b, axis=1), y, {CONV})",
        f"conv(x, scale(y, b, axis=1), {CONV})",
        f"{MAPS} {KERNEL} b:c",
    ),
    _p("one group", f"conv(x, y, {CONV})", f"gconv(x, y, {CONV})", f"{MAPS} {KERNEL}", BOTH),
    _p(
        "two groups",
        f"concat(conv(x, y, {CONV}), conv(z, w, {CONV}), axis=1)",
        f"gconv(concat(x, z, axis=1), concat(y, w, axis=0), {CONV})",
        f"{MAPS} {KERNEL} z:nghw w:kgrs",
        BOTH,
    ),
    _p(
        "groups joined",
        f"concat(gconv(x, y, {CONV}), gconv(z, w, {CONV}), axis=1)",
        f"gconv(concat(x, z, axis=1), concat(y, w, axis=0), {CONV})",
        "x:nchw y:mgrs z:ndhw w:kgrs",
        BOTH,
    ),
    _p("identity of conv", "conv(x, i_conv(size=n, kernel=k), stride=(1, 1), pad='same', act='none')", "x", MAPS, LEFT),
    _p(
        "scale of i_conv",
        "scale(i_conv(size=n, kernel=k), b, axis=0)",
        "scale(i_conv(size=n, kernel=k), b, axis=1)",
        "b:n",
    ),
    _p("average as gconv", f"gconv(x, c_pool(size=n, kernel=kernel), {NONE})", f"pool_avg(x, {POOL})", MAPS, ALIKE),
    *_of_pools("pool_avg"),
    *_of_pools("pool_max"),
    _p(
        "pool_avg of ewadd",
        f"pool_avg(ewadd(x, y), {POOL})",
        f"ewadd(pool_avg(x, {POOL}), pool_avg(y, {POOL}))",
        ANY,
        LEFT,
    ),
    _p("pool_avg of smul", f"smul(pool_avg(x, {POOL}), s)", f"pool_avg(smul(x, s), {POOL})", f"{MAPS} s:"),
    *(
        _p(
            f"pool_avg of scale {axis}",
            f"scale(pool_avg(x, {POOL}), b, axis={axis})",
            f"pool_avg(scale(x, b, axis={axis}), {POOL})",
            f"{MAPS} b:{'nc'[axis]}",
        )
        for axis in (0, 1)
    ),
    _p("pool_max of relu", f"pool_max(relu(x), {POOL})", f"relu(pool_max(x, {POOL}))", MAPS),
    *(
        _p(
            f"pool_max of bias {axis}",
            f"bias(pool_max(x, {POOL}), b, axis={axis})",
            f"pool_max(bias(x, b, axis={axis}), {POOL})",
            f"{MAPS} b:{'nc'[axis]}",
        )
        for axis in (0, 1)
    ),
)
PROPERTIES: tuple[Property, ...] = (*ELEMENTWISE, *ALONG_AN_AXIS, *ARRANGED, *PRODUCTS)

# what follows from properties by terms that stand on neither side, such as a transpose of a transpose
LEMMAS: tuple[Property, ...] = (
    _p(
        "transpose of concat 1",
        "transpose(concat(x, y, axis=1))",
        "concat(transpose(x), transpose(y), axis=0)",
        "x:nc y:nd",
    ),
    _p("transpose of scale 1", "transpose(scale(x, b, axis=1))", "scale(transpose(x), b, axis=0)", "x:nc b:c"),
    _p("transpose of bias 1", "transpose(bias(x, b, axis=1))", "bias(transpose(x), b, axis=0)", "x:nc b:c"),
    _p("matmul of ewadd on the left", "matmul(ewadd(x, z), y)", "ewadd(matmul(x, y), matmul(z, y))", "x:nc y:cd z:nc"),
    _p(
        "matmul of concat on the left",
        "matmul(concat(x, z, axis=0), y)",
        "concat(matmul(x, y), matmul(z, y), axis=0)",
        "x:nc y:cd z:mc",
    ),
    _p("matmul of smul on the left", "smul(matmul(x, y), s)", "matmul(smul(x, s), y)", "x:nc y:cd s:"),
    _p(
        "matmul of scale on the left",
        "scale(matmul(x, y), b, axis=0)",
        "matmul(scale(x, b, axis=0), y)",
        "x:nc y:cd b:n",
    ),
    _p("identity of matmul on the left", "matmul(i_matmul(size=n), x)", "x", "x:nc", LEFT),
)
