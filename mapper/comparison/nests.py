"""Loop nests of stored mappings as lines, and two of them side by side: which loops differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from ...workloads import Document, Keys
from ...workloads.timeloop import Factor, Reader
from .stored import Stored

INDENT = "  "


@dataclass(frozen=True)
class NestPair:
    """A line of each nest; "" where one has none there."""

    lines: tuple[str, ...]
    differ: bool


def nest_lines(layer: Stored, source: str) -> list[str]:
    """The nest of a layer with a mapping, outermost loop first; loops of a single round are left out.

    It is that of `ruby-map`, but for the names of axes: a mapping names the level above them and the mesh. `source`
    names the file in faults. Raises InputError where the entries are no mapping.
    """
    reader = Reader(Document(source, {"mapping": layer.mapping}, {}))
    lines: list[str] = []
    depth = 0
    for path in reader.items(("mapping",)):
        kind, target = (reader.text((*path, key), required=True) or "" for key in ("type", "target"))
        if kind == "temporal":
            lines.append(INDENT * depth + _header(layer, target, reader.text((*path, "tensor"))))
        if kind in ("temporal", "spatial"):
            below = f"below {target}" if target in (layer.levels or {}) else target  # or an axis
            for loop in _loops(reader, path, below if kind == "spatial" else ""):
                lines.append(INDENT * depth + loop)
                depth += 1
    reader.finish()
    return lines


def _loops(reader: Reader, path: Keys, below: str) -> list[str]:
    """The loops of an entry with more than one round, outermost first.

    Those spread over instances have what they are spread `below`, and the mesh, X first.
    """
    factors = [factor for factor in reader.factors((*path, "factors")) if factor.bound > 1]
    inner_first = reader.permutation((*path, "permutation"))
    if not below:
        return [f"for {_rounds(factor)}" for factor in sorted(factors, key=lambda one: -_place(one, inner_first))]
    split = reader.integer((*path, "split"), least=0)
    meshes = {factor.dim: "X" if split is None or _place(factor, inner_first) < split else "Y" for factor in factors}
    ordered = sorted(factors, key=lambda factor: meshes[factor.dim])
    return [f"parFor {_rounds(factor)}  # {below}, {meshes[factor.dim]}" for factor in ordered]


def _place(factor: Factor, inner_first: Sequence[str]) -> int:
    """Where a dim stands in a permutation, 0 innermost; one that it does not name stands outside all."""
    return inner_first.index(factor.dim) if factor.dim in inner_first else len(inner_first)


def _rounds(factor: Factor) -> str:
    last = "" if factor.residual in (None, factor.bound) else f", last round {factor.residual}"
    return f"{factor.dim} in 0:{factor.bound}{last}"


def _header(layer: Stored, target: str, tensor: str | None) -> str:
    """A level with the words that its instances hold, `tensor` alone where it has a place of its own."""
    held = (layer.levels or {}).get(target)
    tiles = {name: tile for name, tile in (held.tensors if held else {}).items() if tensor in (None, name)}
    shown = [name if tile.tile_words is None else f"{name}: {tile.tile_words:,}" for name, tile in tiles.items()]
    return f"{target} [{', '.join(shown) + ' words' if shown else 'bypassed'}]"


def side_by_side(a: Sequence[str], b: Sequence[str]) -> list[NestPair]:
    """Both nests with equal lines beside one another; indentation does not count, nor what a level holds."""
    return list(_paired(a, b))


def _paired(a: Sequence[str], b: Sequence[str]) -> Iterator[NestPair]:
    keys = [[_key(line) for line in lines] for lines in (a, b)]
    for _, a0, a1, b0, b1 in SequenceMatcher(a=keys[0], b=keys[1], autojunk=False).get_opcodes():
        for x, y in zip_longest(range(a0, a1), range(b0, b1)):
            lines = ("" if x is None else a[x], "" if y is None else b[y])
            same = x is not None and y is not None and a[x].strip() == b[y].strip()
            yield NestPair(lines, not same)


def _key(line: str) -> str:
    """What lines stand beside one another by: a level by its name, a loop by all of it."""
    return line.strip().split(" [")[0]
