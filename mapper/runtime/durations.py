"""Times as people write them."""

import re

_UNITS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86400,
    "day": 86400,
}
_PART = r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*"


def seconds_in(text: str) -> float | None:
    """The seconds in `60s`, `1m`, `1h30m`, `90 min`; None for another text.

    >>> seconds_in("90s"), seconds_in("1h 30m"), seconds_in("2 minutes"), seconds_in("90")
    (90.0, 5400.0, 120.0, None)
    """
    text = text.strip().lower()
    parts = re.findall(_PART, text)
    units = [unit if unit in _UNITS else unit.removesuffix("s") for _, unit in parts]
    if not parts or not re.fullmatch(f"(?:{_PART})+", text) or not {*units} <= _UNITS.keys():
        return None
    return sum(float(number) * _UNITS[unit] for (number, _), unit in zip(parts, units, strict=True))
