"""Lemmas: what follows from properties by terms that stand on neither side, as a transpose of a transpose."""

from .property import LEFT, Property

LEMMAS: tuple[Property, ...] = (
    Property(
        "transpose of concat 1",
        "transpose(concat(x, y, axis=1))",
        "concat(transpose(x), transpose(y), axis=0)",
        "x:nc y:nd",
    ),
    Property("transpose of scale 1", "transpose(scale(x, b, axis=1))", "scale(transpose(x), b, axis=0)", "x:nc b:c"),
    Property("transpose of bias 1", "transpose(bias(x, b, axis=1))", "bias(transpose(x), b, axis=0)", "x:nc b:c"),
    Property(
        "matmul of ewadd on the left", "matmul(ewadd(x, z), y)", "ewadd(matmul(x, y), matmul(z, y))", "x:nc y:cd z:nc"
    ),
    Property(
        "matmul of concat on the left",
        "matmul(concat(x, z, axis=0), y)",
        "concat(matmul(x, y), matmul(z, y), axis=0)",
        "x:nc y:cd z:mc",
    ),
    Property("matmul of smul on the left", "smul(matmul(x, y), s)", "matmul(smul(x, s), y)", "x:nc y:cd s:"),
    Property(
        "matmul of scale on the left",
        "scale(matmul(x, y), b, axis=0)",
        "matmul(scale(x, b, axis=0), y)",
        "x:nc y:cd b:n",
    ),
    Property("identity of matmul on the left", "matmul(i_matmul(size=n), x)", "x", "x:nc", LEFT),
)
