"""Times as people write them."""

import re

_UNITS = {
    "ms": 0.001,
    "s": 1,
    "sec": 1,
    "secs": 1,
    "second": 1,
    "seconds": 1,
    "m": 60,
    "min": 60,
    "mins": 60,
    "minute": 60,
    "minutes": 60,
    "h": 3600,
    "hour": 3600,
    "hours": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
}
# Numbers as Python writes them, 1_000 and 1e3 too, in its digits alone: \d would take those of all scripts.
_PART = r"([0-9](?:_?[0-9])*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+)\s*([a-zA-Z]+)\s*"


def seconds_in(text: str) -> float | None:
    """The seconds in `60s`, `1m`, `1h30m`, `90 min`, `1e3s`; None for another text, `5M` too, which may be 5 million.

    >>> seconds_in("90s"), seconds_in("1h 30m"), seconds_in("2 minutes"), seconds_in("500ms"), seconds_in("90")
    (90.0, 5400.0, 120.0, 0.5, None)
    """
    text = text.strip()
    if not re.fullmatch(f"(?:{_PART})+", text):
        return None
    parts = [(number, "" if unit == "M" else unit.lower()) for number, unit in re.findall(_PART, text)]
    if not {unit for _, unit in parts} <= _UNITS.keys():
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
