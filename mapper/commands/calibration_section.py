"""The section `calibration` put into the text of an architecture, whose comments and other keys stay."""

from pathlib import Path
from typing import Any

import yaml

from ...arch import parse_arch, with_base
from ...workloads import Fault, InputError, option_fault, parse_yaml


def with_section(text: str, source: str, section: dict[str, Any]) -> str:
    """Return the text of an architecture with another calibration at its end; comments and other keys stay.

    Raises InputError for a text that such lines cannot be added to: a mapping in braces, the end mark `...`.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        root = None  # told below, by the reader of all files
    lines = text.splitlines()
    for key, value in root.value if isinstance(root, yaml.MappingNode) else []:
        if key.value == "calibration":
            del lines[key.start_mark.line : _last_line(value) + 1]
    made = "\n".join(lines).rstrip() + "\n" + yaml.safe_dump({"calibration": section}, sort_keys=False, width=110)
    try:
        parse_arch(parse_yaml(made, source))
    except InputError as error:
        rule = "a calibration cannot be written at the end of this file: write it in block style, without braces"
        raise InputError([Fault(source, None, "calibration", rule), *error.faults]) from None
    return made


def _last_line(node: yaml.Node) -> int:
    """Return the line on which the last value within a node ends."""
    inside = [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else []
    inside = node.value if isinstance(node, yaml.SequenceNode) else inside
    if not inside or getattr(node, "flow_style", False):
        end = node.end_mark
        return int(end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line)
    return max(map(_last_line, inside))


def written(arch: str) -> str:
    """Return the text of a file of this project's form. Raises InputError for others, and for names of the library."""
    path = Path(arch)
    if not path.is_file():
        raise InputError(option_fault("ARCH", f"{arch} is no file; print one first: ruby-machine > {path.name}.yaml"))
    return path.read_text(encoding="utf-8-sig")


def own_section(text: str, source: str) -> dict[str, Any]:
    """Return the calibration of a machine's text as it is written, with what its base has of it."""
    data = with_base(parse_yaml(text, source)).data
    section = data.get("calibration") if isinstance(data, dict) else None
    return dict(section) if isinstance(section, dict) else {}
