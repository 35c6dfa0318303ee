"""Properties of operators that go word by word, and along an axis."""

from .property import ANY, LEFT, MAPS, Property

ELEMENTWISE = (
    Property("ewadd in any order", "ewadd(x, ewadd(y, z))", "ewadd(ewadd(x, y), z)", "x:nchw y:nchw z:nchw"),
    Property("ewmul in any order", "ewmul(x, ewmul(y, z))", "ewmul(ewmul(x, y), z)", "x:nchw y:nchw z:nchw"),
    Property("ewmul of ewadd", "ewmul(ewadd(x, y), z)", "ewadd(ewmul(x, z), ewmul(y, z))", "x:nchw y:nchw z:nchw"),
    Property("smul turned", "smul(smul(x, s), t)", "smul(smul(x, t), s)", "x:nchw s: t:"),
    Property("smul of ewadd", "smul(ewadd(x, y), s)", "ewadd(smul(x, s), smul(y, s))", f"{ANY} s:"),
    Property("smul of ewmul", "smul(ewmul(x, y), s)", "ewmul(x, smul(y, s))", f"{ANY} s:"),
    Property("relu twice", "relu(relu(x))", "relu(x)", MAPS),
    Property("relu times itself", "ewmul(relu(x), relu(x))", "ewmul(x, relu(x))", MAPS),
    Property("ones", "ewmul(x, ones(sizes=sizes))", "x", MAPS, LEFT),
    Property("relu of ones", "relu(ones(sizes=sizes))", "ones(sizes=sizes)", ""),
)
ALONG_AN_AXIS = (
    Property(
        "scale turned",
        "scale(scale(x, a, axis=e), b, axis=f)",
        "scale(scale(x, b, axis=f), a, axis=e)",
        "x:nchw a:x@e b:x@f",
    ),
    Property(
        "scale by sums",
        "scale(x, ewadd(a, b), axis=e)",
        "ewadd(scale(x, a, axis=e), scale(x, b, axis=e))",
        "x:nchw a:x@e b:x@e",
    ),
    Property("scale of smul", "scale(smul(x, s), b, axis=e)", "smul(scale(x, b, axis=e), s)", "x:nchw s: b:x@e"),
    Property("smul into scale", "smul(scale(x, b, axis=e), s)", "scale(x, smul(b, s), axis=e)", "x:nchw s: b:x@e"),
    Property(
        "scale of ewadd",
        "scale(ewadd(x, y), b, axis=e)",
        "ewadd(scale(x, b, axis=e), scale(y, b, axis=e))",
        f"{ANY} b:x@e",
    ),
    Property("scale of ewmul", "scale(ewmul(x, y), b, axis=e)", "ewmul(scale(x, b, axis=e), y)", f"{ANY} b:x@e"),
    Property(
        "scale along an axis",
        "concat(scale(x, a, axis=e), scale(y, b, axis=e), axis=e)",
        "scale(concat(x, y, axis=e), concat(a, b, axis=0), axis=e)",
        "x:nchw y:nchw/e a:x@e b:y@e",
    ),
    Property(
        "scale across an axis",
        "concat(scale(x, a, axis=e), scale(y, a, axis=e), axis=f)",
        "scale(concat(x, y, axis=f), a, axis=e)",
        "x:nchw y:nchw/f a:x@e",
        distinct=("e", "f"),
    ),
    Property("bias twice", "bias(bias(x, a, axis=e), b, axis=e)", "bias(x, ewadd(a, b), axis=e)", "x:nchw a:x@e b:x@e"),
    Property(
        "bias turned",
        "bias(bias(x, a, axis=e), b, axis=f)",
        "bias(bias(x, b, axis=f), a, axis=e)",
        "x:nchw a:x@e b:x@f",
    ),
    Property("bias of ewadd", "bias(ewadd(x, y), b, axis=e)", "ewadd(bias(x, b, axis=e), y)", f"{ANY} b:x@e"),
    Property(
        "scale of bias",
        "scale(bias(x, a, axis=e), b, axis=e)",
        "bias(scale(x, b, axis=e), ewmul(a, b), axis=e)",
        "x:nchw a:x@e b:x@e",
    ),
    Property(
        "bias along an axis",
        "concat(bias(x, a, axis=e), bias(y, b, axis=e), axis=e)",
        "bias(concat(x, y, axis=e), concat(a, b, axis=0), axis=e)",
        "x:nchw y:nchw/e a:x@e b:y@e",
    ),
    Property(
        "bias across an axis",
        "concat(bias(x, a, axis=e), bias(y, a, axis=e), axis=f)",
        "bias(concat(x, y, axis=f), a, axis=e)",
        "x:nchw y:nchw/f a:x@e",
        distinct=("e", "f"),
    ),
)
