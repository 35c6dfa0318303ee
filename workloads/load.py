"""Loads layers and networks from files and from the library beside this module."""

import os
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field

from .block_scales import BlockScaled, scaled, scaled_by_default, unused_default
from .checking import IntExpr, Section, check
from .edges import EdgesReader, Linked, entry_name
from .faults import Fault, InputError, InputNote, InputWarning
from .files import expanded
from .folders import SUFFIXES, read_folder
from .hints import all_channels
from .networks import Network
from .operations import OperationEntry
from .reading import Document, Keys, near, path_text
from .shapes import ExplicitLayer, Name, ShapedLayer, Size, key_faults, make_workload
from .spec import Workload
from .templates import alike_rendered_once
from .timeloop import TIMELOOP_TAGS, read_timeloop, read_timeloop_problem
from .yaml_files import read_yaml

LIBRARY = Path(__file__).parent

Scaled = dict[str, BlockScaled]
Count = Annotated[IntExpr, Field(ge=1, lt=2**31)]


class Counted(Linked):
    """A layer of a network."""

    count: Count = 1


# the keys of an entry that say how a layer stands in its network, and not what it computes
_STANDING = {"name", *(field.alias or key for key, field in Counted.model_fields.items())}


class Reference(Counted):
    """A layer of a network that stands elsewhere: in a file relative to that of the network, or in the library."""

    layer: str
    block_scaled: Scaled | None = None


class NetworkFile(Section):
    """A network."""

    name: Name | None = None
    tokens: Annotated[IntExpr, Field(ge=1, lt=2**62)] | None = None
    inputs: dict[Name, Annotated[tuple[Size, ...], Field(min_length=1)]] = {}  # what nobody here makes: its sizes
    block_scaled: Scaled = {}  # of all layers that say nothing of it, where nobody here makes a tensor
    layers: Annotated[tuple[dict[str, Any], ...], Field(min_length=1)]


class CountedShaped(ShapedLayer, Counted):
    """A layer of a shape in a network."""


class CountedExplicit(ExplicitLayer, Counted):
    """A layer with dims of its own in a network."""


def _is_explicit(data: object) -> bool:
    return isinstance(data, dict) and "shape" not in data and not data.keys().isdisjoint({"dims", "tensors"})


def _is_network(document: Document) -> bool:
    return isinstance(document.data, dict) and "layers" in document.data


def _layer(document: Document, at: Keys, default_name: str, counted: bool = False) -> tuple[Workload, Counted]:
    """The layer at `at` and how it stands in its network. Raises InputError with its faults."""
    model: type[ExplicitLayer | ShapedLayer]
    if _is_explicit(document.get(at)):
        model = CountedExplicit if counted else ExplicitLayer
    else:
        model = CountedShaped if counted else ShapedLayer
    try:
        layer = check(document, model, at)
    except InputError as error:  # values of the wrong kind: missing and unknown keys are faults beside them
        named = (document.fault(at + path, message) for path, message in key_faults(document.get(at)))
        raise InputError(dict.fromkeys((*error.faults, *named))) from None
    workload, faults = make_workload(layer, default_name)
    if workload is None:
        raise InputError(document.fault(at + path, message) for path, message in faults)
    ours = Path(document.source).parent == LIBRARY  # which has layers of 16 groups of 16 channels, and means them
    if isinstance(layer, ShapedLayer) and document.places and not ours and (hint := all_channels(layer.sizes)):
        place = ":".join(str(part) for part in document.place((*at, "sizes")) if part is not None)
        warnings.warn(f"{place}: {hint}", InputWarning, stacklevel=2)
    return workload, layer if isinstance(layer, Counted) else Counted()


def _referenced(document: Document, at: Keys, folder: Path) -> tuple[Workload, Counted]:
    """The layer that a network refers to, and how it stands there. The file of a layer refers to none, so no circle
    arises."""
    reference = check(document, Reference, at)
    name, path = reference.layer, (*at, "layer")
    if _is_path(name):
        inner = read_yaml(folder / expanded(name))
        if not _is_network(inner):
            return _layer(inner, (), Path(name).stem)[0], reference
    else:
        try:
            entry = load_workload(name)
        except InputError as error:
            raise InputError(document.fault(path, fault.message) for fault in error.faults) from None
        if isinstance(entry, Workload):
            return entry, reference
    raise InputError(document.fault(path, f"a layer is expected, {name} is a network"))


def read_network(document: Document, folder: Path, default_name: str) -> Network:
    """The network in a document; files of layers are relative to `folder`. Raises InputError with every fault."""
    network = check(document, NetworkFile)
    layers: list[tuple[Keys, Workload, Counted] | tuple[Keys, str, OperationEntry]] = []
    faults: list[Fault] = []
    first: dict[str, Keys] = {name: ("inputs", name) for name in network.inputs}
    faulty = set[str]()
    for index in range(len(network.layers)):
        at: Keys = ("layers", index)
        try:
            entry = _entry(document, at, folder, network.block_scaled)
        except InputError as error:
            faults += error.faults
            faulty.add(entry_name(document, at))
            continue
        name = entry[1] if isinstance(entry[1], str) else entry[1].name
        before = first.setdefault(name, at)
        if before != at:
            faults.append(document.fault(at, f'the name "{name}" is that of {path_text(before)} already'))
        layers.append(entry)
    reader = EdgesReader(document, first, network.inputs, faulty)
    every: list[tuple[Workload, int]] = []
    for at, work, said in layers:
        if isinstance(said, OperationEntry):
            reader.operate(at, said, str(work))
        elif isinstance(work, Workload):
            reader.read(at, said, work, said.count)
            every.append((work, said.count))
    if not every and not faults:
        faults.append(document.fault(("layers",), "must have at least one layer beside operations"))
    if not faults:
        faults += unused_default(document, network.block_scaled, [work for work, _ in every])
    if faults := faults + reader.faults:
        raise InputError(faults)
    operations, inputs = tuple(reader.operations), tuple(network.inputs.items())
    name = network.name or default_name
    return Network(name, tuple(every), network.tokens, tuple(reader.edges), operations, inputs)


def _scaled(document: Document, at: Keys, entry: tuple[Workload, Counted], default: Scaled) -> Workload:
    """The layer at `at` with the scales that its entry or the network asks for. Raises InputError with its faults."""
    work, said = entry
    given: Scaled | None = getattr(said, "block_scaled", None)
    if given is None:
        return scaled_by_default(document, at, work, default, said.source)
    return scaled(document, at, work, given) if isinstance(said, Reference) else work  # others are as they were read


def _entry(
    document: Document, at: Keys, folder: Path, default: Scaled
) -> tuple[Keys, Workload, Counted] | tuple[Keys, str, OperationEntry]:
    """A layer at `at` and how it stands in its network; or an operation with its name. Raises InputError."""
    data = document.get(at)
    if isinstance(data, dict) and "op" in data:
        operation = check(document, OperationEntry, at)
        return at, entry_name(document, at), operation
    if isinstance(data, dict) and "layer" in data:
        work, said = _referenced(document, at, folder)
    else:
        work, said = _layer(document, at, entry_name(document, at), counted=True)
    return at, _scaled(document, at, (work, said), default), said


def read_workload(path: Path) -> Workload | Network:
    """The layer or network in the file `path`, in this project's form or a Timeloop problem (root key `problem`).

    Raises InputError with every fault.
    """
    document = read_yaml(path, tags=TIMELOOP_TAGS)
    if isinstance(document.data, dict) and "problem" in document.data:
        return read_timeloop_problem(read_timeloop(path))
    if _is_network(document):
        return read_network(document, path.parent, path.stem)
    return _layer(document, (), path.stem)[0]


def shaped(
    shape: str,
    name: str = "",
    /,
    *,
    stride: int | tuple[int, ...] | None = None,
    dilation: int | tuple[int, ...] | None = None,
    word_bits: Mapping[str, int] | None = None,
    **sizes: int,
) -> Workload:
    """A layer of a named shape, for programs that sweep sizes. Raises InputError as for a file.

    >>> shaped("conv2d", M=64, C=3, P=112, Q=112, R=7, S=7, stride=2).macs
    118013952
    """
    given = {"stride": stride, "dilation": dilation, "word_bits": word_bits and dict(word_bits)}
    data = {"shape": shape, "sizes": sizes} | {key: value for key, value in given.items() if value is not None}
    return _layer(Document(name or shape, data, {}), (), name or shape)[0]


@cache
def _from_library(name: str) -> Workload | Network:
    return read_workload(LIBRARY / f"{name}.yaml")


def _library_names() -> list[str]:
    return sorted(path.stem for path in LIBRARY.glob("*.yaml"))


def library_workloads() -> Mapping[str, tuple[str, ...]]:
    """The names in the library with the layers of each network, equal ones once, by the first; a single layer has none.

    Reads entries and checks nothing, by libyaml where it is there: checking all files takes seconds. The library's
    files are ours, and the tests check them.
    """
    return {name: tuple(own[0] for own in _names_of_layers(name).values()) for name in _library_names()}


@cache
def _names_of_layers(name: str) -> Mapping[str, list[str]]:
    """The names of the layers of a network of the library, by what they compute; operations are no layers."""
    data = yaml.load((LIBRARY / f"{name}.yaml").read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    names: dict[str, list[str]] = {}
    for entry in data.get("layers", ()):
        if "op" not in entry:
            computed = {key: value for key, value in entry.items() if key not in _STANDING}
            names.setdefault(repr(sorted(computed.items())), []).append(entry["name"])
    return names


def _is_path(spec: str) -> bool:
    return any(part.endswith(SUFFIXES) for part in spec.split("/")) or spec.startswith((".", "/", "~"))


def _split_file(spec: str) -> tuple[Path, str]:
    """The file and the name of the layer in `dir/FILE.yaml/LAYER`; the name is empty where none is given."""
    path = expanded(spec)
    if not os.path.exists(path) and path.parent.suffix in SUFFIXES and os.path.isfile(path.parent):
        return path.parent, path.name
    return path, ""


def _layer_of(entry: Workload | Network, source: str, layer: str) -> Workload | Network:
    """The layer called `layer` in `entry`; `entry` itself where the name is empty."""
    if not layer:
        return entry
    if isinstance(entry, Workload):
        raise InputError(Fault(f"{source}/{layer}", None, "", f"{source} is a single layer"))
    layers = {workload.name: workload for workload, _ in entry.layers}
    if layer not in layers:
        hint = near(layer, layers) or f"; it has {', '.join(layers)}"
        raise InputError(Fault(f"{source}/{layer}", None, "", f'no layer "{layer}" in {source}{hint}'))
    return layers[layer]


def load_workload(spec: str | Path) -> Workload | Network:
    """A layer or network by file (`FILE.yaml`, `FILE.yaml/LAYER`) or library name (`resnet50`, `resnet50/conv1`).

    A folder is the network of the layers in its files.

    Raises InputError with every fault of a file, or with near names for one that the library does not have.
    """
    text = str(spec)
    name, _, layer = text.partition("/")
    if isinstance(spec, str) and not _is_path(text) and name in _library_names():
        if os.path.isdir(text):
            warnings.warn(f"{text} is that of the library; the folder is ./{text}", InputNote, stacklevel=2)
        return _layer_of(_from_library(name), name, layer)
    if isinstance(spec, Path) or _is_path(text) or os.path.exists(text):
        path, layer = _split_file(text)
        with alike_rendered_once():
            entry = read_folder(path, read_workload) if path.is_dir() else read_workload(path)
        return _layer_of(entry, str(path), layer)
    raise InputError(Fault(text or '""', None, "", f"neither a file nor a name of the library{_hint(text)}"))


def _hint(name: str) -> str:
    library = library_workloads()
    inside = {network: [name for names in _names_of_layers(network).values() for name in names] for network in library}
    full = [*library, *(f"{network}/{layer}" for network, layers in inside.items() for layer in layers)]
    ending = [choice for choice in full if choice.endswith(f"/{name}")]
    if ending and name:
        return f'; did you mean "{ending[0]}"?'
    return near(name, full) or f"; it has {', '.join(library)}"
