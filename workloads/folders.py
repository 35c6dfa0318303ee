"""Networks that are folders: each file a layer, as Timeloop's users keep them."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from .faults import Fault, InputError, InputNote
from .networks import Network
from .spec import Workload

SUFFIXES = (".yaml", ".yml")
MOST = 10_000  # files
SHOWN = 6  # layers that the note names


def read_folder(path: Path, read: Callable[[Path], Workload | Network]) -> Network:
    """The network of the files `*.yaml` in a folder, each of which `read` makes a layer, in the order of their names.

    Layers have the names of their files; equal ones are counted, under the name of the first. A note says what was
    taken. Raises InputError with the faults of all files, and for those that are no layer.
    """
    files = sorted((file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file()), key=_in_order)
    if not files or len(files) > MOST:
        rule = f"a folder is a network of layers, each a file *.yaml in it; it has {len(files):,} such files"
        raise InputError(Fault(str(path), None, "", rule + (f", over {MOST:,}" if files else "")))
    faults: list[Fault] = []
    counts: dict[Workload, tuple[str, int]] = {}  # by the layer without a name
    names: dict[str, Path] = {}
    for file in files:
        before = names.setdefault(file.stem, file)
        if before is not file:
            faults.append(Fault(str(file), None, "", f"is called as {before.name}: a layer has one file"))
        try:
            layer = read(file)
        except InputError as error:
            faults += error.faults
            continue
        if isinstance(layer, Network):
            faults.append(Fault(str(file), None, "", "is a network: in a folder each file is a layer"))
            continue
        plain = replace(layer, name="", shape="")
        name, count = counts.get(plain, (file.stem, 0))
        counts[plain] = name, count + 1
    if faults:
        raise InputError(faults)
    layers = tuple((replace(plain, name=name), count) for plain, (name, count) in counts.items())
    _tell(path, len(files), layers)
    return Network(path.resolve().name, layers)


def _in_order(file: Path) -> tuple[list[tuple[bool, int, str]], str]:
    """Names with numbers in the order of these: 2 before 10."""
    parts = re.findall(r"\d+|\D+", file.stem)
    return [(part.isdecimal(), int(part[:50]) if part.isdecimal() else 0, part) for part in parts], file.suffix


def _tell(path: Path, files: int, layers: tuple[tuple[Workload, int], ...]) -> None:
    shown = ", ".join(f"{layer.name} x {count}" if count > 1 else layer.name for layer, count in islice(layers, SHOWN))
    more = f", and {len(layers) - SHOWN} more" if len(layers) > SHOWN else ""
    rule = f"{files} files, {len(layers)} different layers" if len(layers) < files else f"{files} layers"
    warnings.warn(f"{path}: a network of {rule}: {shown}{more}", InputNote, stacklevel=2)
