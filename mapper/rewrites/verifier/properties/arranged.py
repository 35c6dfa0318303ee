"""Properties of operators that arrange words."""

from .property import ANY, LEFT, MAPS, Property

ARRANGED = (
    Property("relu of concat", "relu(concat(x, y, axis=e))", "concat(relu(x), relu(y), axis=e)", "x:nchw y:nchw/e"),
    Property(
        "smul of concat",
        "smul(concat(x, y, axis=e), s)",
        "concat(smul(x, s), smul(y, s), axis=e)",
        "x:nchw y:nchw/e s:",
    ),
    Property(
        "ewadd of concats",
        "ewadd(concat(x, y, axis=e), concat(z, w, axis=e))",
        "concat(ewadd(x, z), ewadd(y, w), axis=e)",
        "x:nchw y:nchw/e z:nchw w:nchw/e",
    ),
    Property(
        "ewmul of concats",
        "ewmul(concat(x, y, axis=e), concat(z, w, axis=e))",
        "concat(ewmul(x, z), ewmul(y, w), axis=e)",
        "x:nchw y:nchw/e z:nchw w:nchw/e",
    ),
    Property(
        "concat of concats",
        "concat(concat(x, y, axis=f), concat(z, w, axis=f), axis=e)",
        "concat(concat(x, z, axis=e), concat(y, w, axis=e), axis=f)",
        "x:nchw y:nchw/f z:nchw/e w:nchw/ef",
        distinct=("e", "f"),
    ),
    Property("first part", "split0(concat(x, y, axis=e), axis=e)", "x", "x:nchw y:nchw/e", LEFT),
    Property("second part", "split1(concat(x, y, axis=e), axis=e)", "y", "x:nchw y:nchw/e", LEFT),
    Property("parts joined", "concat(split0(x, axis=e), split1(x, axis=e), axis=e)", "x", MAPS, LEFT),
    Property("transpose twice", "transpose(transpose(x))", "x", "x:nc", LEFT),
    Property(
        "transpose of concat",
        "transpose(concat(x, y, axis=0))",
        "concat(transpose(x), transpose(y), axis=1)",
        "x:nc y:mc",
    ),
    Property("transpose of ewadd", "transpose(ewadd(x, y))", "ewadd(transpose(x), transpose(y))", "x:nc y:nc"),
    Property("transpose of ewmul", "transpose(ewmul(x, y))", "ewmul(transpose(x), transpose(y))", "x:nc y:nc"),
    Property("transpose of relu", "transpose(relu(x))", "relu(transpose(x))", "x:nc"),
    Property("transpose of smul", "transpose(smul(x, s))", "smul(transpose(x), s)", "x:nc s:"),
    Property("transpose of scale", "transpose(scale(x, b, axis=0))", "scale(transpose(x), b, axis=1)", "x:nc b:n"),
    Property("transpose of bias", "transpose(bias(x, b, axis=0))", "bias(transpose(x), b, axis=1)", "x:nc b:n"),
    Property(
        "enlarge of ewadd",
        "enlarge(ewadd(x, y), kernel=k)",
        "ewadd(enlarge(x, kernel=k), enlarge(y, kernel=k))",
        ANY,
        LEFT,
    ),
    Property("enlarge of smul", "enlarge(smul(x, s), kernel=k)", "smul(enlarge(x, kernel=k), s)", f"{MAPS} s:"),
    *(
        Property(
            f"enlarge of concat {axis}",
            f"enlarge(concat(x, y, axis={axis}), kernel=k)",
            f"concat(enlarge(x, kernel=k), enlarge(y, kernel=k), axis={axis})",
            "x:nchw y:mchw" if axis == 0 else "x:nchw y:nmhw",
            LEFT,
        )
        for axis in (0, 1)
    ),
    *(
        Property(
            f"enlarge of scale {axis}",
            f"enlarge(scale(x, b, axis={axis}), kernel=k)",
            f"scale(enlarge(x, kernel=k), b, axis={axis})",
            f"{MAPS} b:{'nc'[axis]}",
        )
        for axis in (0, 1)
    ),
)
