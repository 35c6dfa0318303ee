"""Settings are what one strategy alone has: fields of its dataclass, given as `chains=256,cooling=0.9`."""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Self

from ....workloads import Fault, InputError, option_fault, unknown_choice


def setting[Value: bool | int | float | str](
    default: Value, text: str, least: float | None = None, most: float | None = None, one_of: tuple[str, ...] = ()
) -> Value:
    """Declare a field of a strategy as a setting. Its default says its type; `text` is for users."""
    limits = {"kind": type(default), "least": least, "most": most, "one_of": one_of}
    value: Value = field(default=default, metadata={"text": text, **limits})
    return value


@dataclass(frozen=True)
class Configurable:
    """The common part of strategies and proposers: their settings, which may be none."""

    @classmethod
    def settings(cls) -> dict[str, Field[Any]]:
        """Return the fields that users may set, by name."""
        return {own_field.name: own_field for own_field in fields(cls) if "text" in own_field.metadata}

    def missing(self) -> list[str]:
        """List the packages to install, in the user's words; none for most."""
        return []

    def configured(self, settings: str) -> Self:
        """Return the same with these settings. Raises InputError with every fault of them."""
        known, values, faults = self.settings(), dict[str, Any](), list[Fault]()
        for entry in filter(None, (part.strip() for part in settings.split(","))):
            name, equals, text = (part.strip() for part in entry.partition("="))
            if not equals:
                faults.append(option_fault("settings", f'must be NAME=VALUE, several with commas; got "{entry}"'))
            elif name not in known:
                faults.append(_unknown(name, known))
            elif name in values:
                faults.append(option_fault("settings", f"gives {name} twice"))
            else:
                values[name], own = _read(known[name], text)
                faults += own
        if faults:
            raise InputError(faults)
        return replace(self, **values)


def as_text(settings: str | Mapping[str, object]) -> str:
    """Write settings as text, as the command line has them; entries in the order of their names."""
    if isinstance(settings, str):
        entries = [part.strip() for part in settings.split(",") if part.strip()]
        return ",".join(sorted("=".join(part.strip() for part in entry.split("=", 1)) for entry in entries))
    return ",".join(f"{name}={value}" for name, value in sorted(settings.items()))


def _unknown(name: str, known: Mapping[str, Field[Any]]) -> Fault:
    if not known:
        return option_fault("settings", f"the search has none; leave out {name}")
    return unknown_choice("settings", name, known)


def _read(own: Field[Any], text: str) -> tuple[Any, list[Fault]]:
    """Read the value of one setting; the default's type says how."""
    kind: type = own.metadata["kind"]
    try:
        value = {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        return None, [option_fault("settings", f'{own.name} must be {what}, got "{text}"')]
    rule = _rule(own, value)
    return value, [option_fault("settings", f"{own.name} must be {rule}, got {text}")] if rule else []


def _rule(own: Field[Any], value: Any) -> str:
    """Say what the value must be; empty where it is."""
    low, high, names = (own.metadata[key] for key in ("least", "most", "one_of"))
    if isinstance(value, str):
        return f"one of {', '.join(names)}" if names and value not in names else ""
    if not math.isfinite(value):
        return "finite"
    if (low is None or value >= low) and (high is None or value <= high):
        return ""
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"
