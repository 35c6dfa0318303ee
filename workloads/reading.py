"""Reads YAML: every value with its file and line, every fault at once, nothing executed.

The grammar is that of YAML without the surprises of version 1.1: only `true` and `false` are booleans (a dim may be
called N, Y or no), `1e3` is a number, keys are always text, and a date stays text.
"""

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from .aliases import written_out
from .faults import Fault, InputError, option_fault
from .hints import meant

MAX_NODES = 100_000  # values in one file once its aliases are written out
MAX_DEPTH = 100

Keys = tuple[str | int, ...]  # the way to a value: ("levels", 1, "fanout")


def path_text(path: Keys) -> str:
    """A path as a user writes it: `levels[1].fanout` for `("levels", 1, "fanout")`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def near(name: str, choices: Iterable[str], taken: Collection[str] = ()) -> str:
    """The end of a message about an unknown `name`: `; did you mean "resnet50"?`, or nothing; never one of `taken`."""
    choices = list(choices)
    if (known := meant(name, choices)) is not None:
        return "" if known in taken else f'; did you mean "{known}"?'
    by_lower = {choice.lower(): choice for choice in choices if choice not in taken}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f'; did you mean "{by_lower[matches[0]]}"?' if matches else ""


def unknown_choice(option: str, value: str, choices: Iterable[str]) -> Fault:
    """The fault of an option whose value is none of `choices`, with a near one where there is one."""
    choices = list(choices)
    return option_fault(option, f'must be one of {", ".join(choices)}; got "{value}"{near(str(value), choices)}')


@dataclass(frozen=True)
class Document:
    """The plain data of a YAML text (dict, list, str, int, float, bool, None) and where each value stands."""

    source: str
    data: Any
    places: Mapping[Keys, tuple[str, int]]  # path -> file, line
    at: Keys = ()  # of a part of another document: its path there, which faults name

    def place(self, path: Keys) -> tuple[str, int | None]:
        """The file and line of `path`, or of the nearest known value around it."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.places:
                return self.places[path[:end]]
        return self.source, None

    def line(self, path: Keys) -> int | None:
        """The line of `path`, or of the nearest known value around it."""
        return self.place(path)[1]

    def location(self, path: Keys) -> tuple[str, int | None, str]:
        """The file and line of `path` as `place` gives them, and `path` as text."""
        return *self.place(path), path_text((*self.at, *path))

    def fault(self, path: Keys, message: str) -> Fault:
        """A fault of the value at `path`."""
        return Fault(*self.location(path), message, (*self.at, *path))

    def named(self, name: str) -> Iterator[Keys]:
        """The paths of the mappings whose `name` is `name`, or a Timeloop name such as `name[0..15]`."""
        for path, value in _entries(self.data, ()):
            if path and path[-1] == "name" and isinstance(value, str) and value.split("[")[0] == name:
                yield path[:-1]

    def mentions(self, at: Keys, word: str) -> Iterator[Keys]:
        """The paths below `at` of the keys and texts that have a word in them."""
        for path, value in _entries(self.get(at), at):
            if path[-1:] == (word,) or (isinstance(value, str) and word in re.findall(r"\w+", value)):
                yield path

    def get(self, path: Keys) -> Any:
        """The value at `path`; KeyError, IndexError or TypeError where there is none."""
        value = self.data
        for part in path:
            value = value[part]
        return value


def _entries(data: object, at: Keys) -> Iterator[tuple[Keys, object]]:
    """Every value below `data`, which stands at `at`, with its path, in the order of the text."""
    items = enumerate(data) if isinstance(data, list) else data.items() if isinstance(data, dict) else ()
    for key, value in items:
        yield (*at, key), value
        yield from _entries(value, (*at, key))


Included = Callable[[int], Document]


class _Loader(yaml.SafeLoader):
    """Composes YAML nodes, with the plain scalars of this module's docstring."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9][0-9_]*|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
    ("int", _INT.pattern, "-+0123456789"),
    ("float", _FLOAT.pattern, "-+.0123456789"),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(rf"(?:{_pattern})\Z"), list(_first))


class _Builder:
    """Turns composed nodes into plain data, and collects places and faults."""

    def __init__(self, source: str, tags: Collection[str], included: Included | None):
        self.source, self.tags, self.included = source, tags, included
        self.places: dict[Keys, tuple[str, int]] = {}
        self.faults: list[Fault] = []

    def fault(self, node: yaml.Node, path: Keys, message: str) -> None:
        self.faults.append(Fault(self.source, node.start_mark.line + 1, path_text(path), message))

    def build(self, node: yaml.Node, path: Keys) -> Any:
        """The plain data of a node, which stands at `path`; None with a fault."""
        if len(path) > MAX_DEPTH:
            return self.fault(node, (), "nested too deeply")
        self.places.setdefault(path, (self.source, node.start_mark.line + 1))
        if node.tag.startswith("!"):
            return self.local(node, path)
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, path)
        return self.unknown_tag(node, path)

    def unknown_tag(self, node: yaml.Node, path: Keys) -> None:
        """Adds the fault of a tag that is not read."""
        tag = node.tag.replace(_TAG, "!!")
        known = sorted(f"!{name}" for name in self.tags)
        rule = f"known are {', '.join(known)}" if known else "only plain YAML is read"
        self.fault(node, path, f"unknown tag {tag}; {rule}{near(tag, known)}")

    def local(self, node: yaml.Node, path: Keys) -> Any:
        """The value of a node with a local tag: `{"!tag": Name, ...}` for `!Name {...}` with Name among `tags`."""
        name = node.tag.removeprefix("!")
        if name == "included" and self.included and isinstance(node, yaml.ScalarNode) and node.value.isdigit():
            return self.grafted(self.included, int(node.value), path)
        if name not in self.tags:
            return self.unknown_tag(node, path)
        if isinstance(node, yaml.MappingNode):
            return {"!tag": name} | self.mapping(node, path)
        if isinstance(node, yaml.ScalarNode) and not node.value:
            return {"!tag": name}
        return self.fault(node, path, f"a mapping must follow the tag !{name}")

    def grafted(self, included: Included, number: int, path: Keys) -> Any:
        """What other files hold in place of a mark."""
        try:
            document = included(number)
        except InputError as error:
            self.faults += error.faults
            return None
        for inside, place in document.places.items():
            self.places[(*path, *inside)] = place
        return document.data

    def mapping(self, node: yaml.MappingNode, path: Keys) -> dict[str, Any]:
        """The data of a mapping; keys that occur twice are faults.

        `<<<: *base`, of Timeloop's front end, also merges mappings inside the mapping, and puts lists together.
        """
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        deep = False
        first_line: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fault(key, path, "a key must be a plain word, not a list or mapping")
                continue
            if key.tag == _TAG + "merge" or key.value == "<<<":
                merged, deep = self.merge(value, path) | merged, key.value == "<<<"
                continue
            name, line = self.text(key, path), key.start_mark.line + 1
            if name in first_line:
                self.fault(key, (*path, name), f'duplicate key "{name}", first on line {first_line[name]}')
                continue
            first_line[name] = line
            self.places[(*path, name)] = (self.source, line)
            values[name] = self.build(value, (*path, name))
        return _deeply(merged, values) if deep else merged | values

    def merge(self, node: yaml.Node, path: Keys) -> dict[str, Any]:
        """The keys that `<<: *base` brings in; of several bases the first wins."""
        bases = node.value if isinstance(node, yaml.SequenceNode) else [node]
        values: dict[str, Any] = {}
        for base in bases:
            if isinstance(base, yaml.MappingNode):
                values = self.mapping(base, path) | values
            else:
                self.fault(base, path, "only mappings can be merged with <<")
        return values

    def text(self, node: yaml.ScalarNode, path: Keys) -> str:
        r"""The text of a scalar, in which two escapes may stand for one character, as `"\ud83d\ude00"` in JSON."""
        text: str = node.value
        try:
            return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fault(node, path, f"{ascii(text)} has half of a character")
            return text.encode(errors="backslashreplace").decode()

    def scalar(self, node: yaml.ScalarNode, path: Keys) -> Any:
        """The value of a scalar by its tag; None with a fault where the two do not agree."""
        text = node.value.replace("_", "")
        match node.tag.removeprefix(_TAG):
            case "str":
                return self.text(node, path)
            case "null":
                return None
            case "bool" if text.lower() in ("true", "false"):
                return text.lower() == "true"
            case "int" | "float" if len(text) > 300:
                return self.fault(node, path, f"a number of at most 300 characters is expected, got {len(text)}")
            case "int" if _INT.fullmatch(node.value):
                return int(text, 16 if text.startswith("0x") else 10)
            case "float" if _FLOAT.fullmatch(node.value):
                return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
            case "bool" | "int" | "float" as tag:
                return self.fault(node, path, f"{node.value!r} is not the {tag} that its tag says")
        return self.unknown_tag(node, path)


def _compose(text: str, source: str) -> yaml.Node:
    def failed(line: int | None, message: str) -> InputError:
        return InputError(Fault(source, line, "", message))

    try:
        node = _Loader(text).get_single_node()
        count = 0 if node is None else written_out(node, {})
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = "; ".join(part for part in (error.context, error.problem) if part)
        raise failed(mark.line + 1 if mark else None, f"not YAML: {problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise failed(line, f"not YAML: the character 0x{error.character:02x} is not allowed") from None
    except RecursionError:
        raise failed(None, "nested too deeply") from None
    if node is None:
        raise failed(None, "the file is empty")
    if math.isinf(count):
        raise failed(node.start_mark.line + 1, "an alias stands inside the value that it names")
    if count > MAX_NODES:
        raise failed(None, f"at most {MAX_NODES} values once aliases are expanded, got {count:.6g}")
    return node


def _deeply(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Both mappings; where both have a mapping it is put together as well, own lists come before those of the base."""
    values = base | own
    for key in base.keys() & own.keys():
        if isinstance(base[key], dict) and isinstance(own[key], dict):
            values[key] = _deeply(base[key], own[key])
        elif isinstance(base[key], list) and isinstance(own[key], list):
            values[key] = own[key] + base[key]
    return values


def parse_yaml(text: str, source: str, tags: Collection[str] = (), included: Included | None = None) -> Document:
    """The data of a YAML text; local tags in `tags` (`!Name {...}`) become `{"!tag": "Name", ...}`.

    `included` gives what stands for a mark `!included N`, which a template leaves where it includes a file.

    Raises InputError for text that is not YAML or empty, duplicate keys, unknown tags and alias bombs.
    """
    if not text.strip():
        raise InputError(Fault(source, None, "", "the file is empty"))
    builder = _Builder(source, tags, included)
    data = builder.build(_compose(text, source), ())
    if builder.faults:
        raise InputError(builder.faults)
    return Document(source, data, builder.places)
