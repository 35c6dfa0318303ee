"""Matrix products on two GPUs: measured times beside the fastest mappings on machines of their figures.

`fitted`: a constant and a factor of each GPU, by least squares of relative errors over the products with 12,288 rows
and columns of weights; the other products are held out.
"""

import numpy as np
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.workloads import shaped

from .tables import HERE, Line, Row, Table, lines_of, numbers, ratio

FITTED_ON = 12288


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each product."""
    lines = lines_of("gpus.csv")
    every = [_row(line) for line in ([lines[0], lines[10]] if quick else lines)]
    for gpu in dict.fromkeys(row["gpu"] for row in every):
        _fit([row for row in every if row["gpu"] == gpu])
    return every


def _row(line: Line) -> Row:
    m, k, n = numbers(line, "MKN")
    machine = HERE / f"{line['gpu']}.yaml"
    options = SearchOptions(objective="delay", effort="quick")
    result = explore(machine, shaped("matmul", M=m, N=n, K=k), "ruby-s", options)
    assert isinstance(result, Result)
    return {
        "gpu": line["gpu"],
        "product": f"{m} x {k} x {n}",
        "held_out": k != FITTED_ON,
        "ms": float(line["ms"]),
        "ours": result.milliseconds,
        "gap": result.gap,
    }


def _fit(rows: list[Row]) -> None:
    """Put what a constant and a factor make of our times into the rows of one GPU."""
    measured, times = (np.array([row[key] for row in rows]) for key in ("ms", "ours"))
    terms = np.column_stack([np.ones(len(rows)), times])
    known = np.array([not row["held_out"] for row in rows])
    (constant, factor), *_ = np.linalg.lstsq((terms / measured[:, None])[known], np.ones(known.sum()), rcond=None)
    for row in rows:
        row |= {"constant": float(constant), "factor": float(factor), "fitted": float(constant + factor * row["ours"])}


TABLE = Table(
    "gpus",
    rows,
    {
        "GPU": lambda row: row["gpu"],
        "product": lambda row: row["product"],
        "ms: measured": lambda row: f"{row['ms']:.4g}",
        "here": lambda row: f"{row['ours']:.4g}",
        "here / measured": lambda row: ratio(row["ours"] / row["ms"]),
        "fitted": lambda row: f"{row['fitted']:.4g}",
        "fitted / measured": lambda row: ratio(row["fitted"] / row["ms"]) + (" (held out)" if row["held_out"] else ""),
    },
)
