"""The first TPU: operations per second of its networks of products, beside the library's machine of that name.

The paper gives layers, weights and batches of an application, not the sizes of its layers: here they are square and
equal. `padded`: products of whole tiles of the array, 256 x 256, as weights are loaded.
"""

from math import ceil, sqrt

from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.workloads import shaped

from .tables import Line, Row, Table, lines_of, numbers, ratio

MACHINE, SIDE = "tpu_v1_like", 256


def tops(line: Line, side: int) -> float:
    """Compute 10^12 operations a second of the fastest mapping of products with `side` x `side` weights."""
    layers, millions, batch = numbers(line, ("layers", "million_weights", "batch"))
    product = shaped("matmul", line["application"], M=batch, N=side, K=side)
    result = explore(MACHINE, product, "ruby-s", SearchOptions(objective="delay,energy", effort="quick"))
    assert isinstance(result, Result)
    assert result.milliseconds is not None
    return 2e6 * millions * batch / (layers * result.milliseconds * 1e-3) / 1e12


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each application."""
    return [_row(line) for line in lines_of("tpu.csv")[: 1 if quick else None]]


def _row(line: Line) -> Row:
    layers, millions, batch = numbers(line, ("layers", "million_weights", "batch"))
    side = round(sqrt(1e6 * millions / layers))
    return {
        "application": line["application"],
        "side": side,
        "layers": layers,
        "batch": batch,
        "published": float(line["tops"]),
        "ours": tops(line, side),
        "padded": tops(line, SIDE * ceil(side / SIDE)),
    }


TABLE = Table(
    "tpu",
    rows,
    {
        "application": lambda row: row["application"],
        "layers": lambda row: f"{row['layers']} of {row['side']} x {row['side']}, batch {row['batch']}",
        "TOPS: paper": lambda row: f"{row['published']:g}",
        "here": lambda row: f"{row['ours']:.1f}",
        "ratio": lambda row: ratio(row["ours"] / row["published"]),
        "whole tiles": lambda row: f"{row['padded']:.1f}",
        "ratio ": lambda row: ratio(row["padded"] / row["published"]),
    },
)
