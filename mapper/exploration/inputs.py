"""Reads and checks the two inputs of every command, and makes their mapspaces."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from ...arch import Architecture, arch_documents, check_fit, library_archs, load_arch, with_base
from ...arch.block_scales import with_scales
from ...workloads import (
    Fault,
    InputError,
    Network,
    Workload,
    collect,
    expanded,
    library_workloads,
    load_workload,
    read_yaml,
    size_faults,
)
from ...workloads.timeloop import TIMELOOP_TAGS

Spec = str | os.PathLike[str]  # a name of the library or a path


def load(
    arch: Architecture | Spec, workload: Workload | Network | Spec, more: Sequence[Path] = ()
) -> tuple[Architecture, Workload | Network]:
    """Read both inputs where they are names or paths, and check them together. Raises InputError with all faults.

    `more` are Timeloop files (constraints, variables...) to read together with the file `arch`.
    """
    faults: list[Fault] = []
    workload_faults: list[Fault] = []
    work = collect(workload_faults, lambda: _workload(workload))
    machine = collect(faults, lambda: _arch(arch, _common(work), more))
    if machine is None and work is None and (swapped := _swapped(arch, workload)):
        raise InputError(swapped)
    if work is None and _kind(workload) == "mapping":
        workload_faults = [Fault(str(workload), None, "", _IS_MAPPING)]
    faults += workload_faults
    if machine is None or work is None:
        raise InputError(dict.fromkeys(faults))  # a file may be both inputs
    machine = with_scales(_of_all_layers(machine, arch, work, more), layers_of(work))
    source = arch.name if isinstance(arch, Architecture) else os.fspath(arch)
    for layer in distinct_layers(work):
        faults += [Fault(layer.name, None, "", message) for _, message in size_faults(layer, "")]
        collect(faults, lambda layer=layer: _check_fit(machine, layer, source, arch, more))  # type: ignore[misc]
    if faults:
        raise InputError(dict.fromkeys(faults))
    return machine, work


def load_without_machine(workload: Spec) -> Workload | Network:
    """Read a layer or a network where no architecture is asked for. Raises InputError with all faults."""
    faults: list[Fault] = []
    work = collect(faults, lambda: _workload(workload))
    if work is not None:
        return work
    kind = _kind(workload)
    if kind in _ROOTS and kind != "workload":
        rule = f"is {'an' if kind == 'architecture' else 'a'} {kind}; a network is expected"
        faults = [Fault(os.fspath(workload), None, "", rule)]
    raise InputError(faults)


def _of_all_layers(
    machine: Architecture, arch: Architecture | Spec, work: Workload | Network, more: Sequence[Path]
) -> Architecture:
    """Return the machine of all layers of a network. Raises InputError where its file makes another one of a layer."""
    if isinstance(arch, Architecture) or isinstance(work, Workload):
        return machine
    spec, layers = os.fspath(arch), distinct_layers(work)
    for document in [document for document in arch_documents(spec, more) if document is not None]:
        for keys in document.mentions((), "maximize_dims"):
            made = [load_arch(spec, workload=layer, more=more) for layer in layers]
            if differing := [layer.name for layer, one in zip(layers, made, strict=True) if one != made[0]]:
                rule = f"has other factors for {differing[0]} than for {layers[0].name}, but a network has one machine"
                raise InputError(document.fault(keys, f"{rule}; search the layers one by one, as NETWORK/LAYER"))
            return made[0]
    return machine


def _check_fit(
    machine: Architecture, layer: Workload, source: str, arch: Architecture | Spec, more: Sequence[Path]
) -> None:
    try:
        check_fit(machine, layer, source)
    except InputError:
        if isinstance(arch, Architecture):
            raise
        documents = (with_base(document) for document in arch_documents(os.fspath(arch), more) if document is not None)
        check_fit(machine, layer, source, list(documents))  # with the lines, which are looked up only now


# The root keys by which a file shows what it is.
_ROOTS = {
    "architecture": {"levels", "architecture", "arch", "base"},
    "workload": {"shape", "sizes", "tensors", "layers", "problem"},
    "mapping": {"mapping"},
}
_IS_MAPPING = "is a mapping; ruby-model ARCH WORKLOAD MAPPING counts it, ruby-map --start-from MAPPING begins with it"


def _kind(spec: object) -> str:
    """What a name or a file is: one of `_ROOTS`, or empty for anything else."""
    if not isinstance(spec, str | os.PathLike):
        return ""
    text = os.fspath(spec)
    if text in library_archs():
        return "architecture"
    if text.partition("/")[0] in library_workloads():
        return "workload"
    try:
        path = expanded(text)
        if path.parent.is_file():  # FILE.yaml/LAYER
            path = path.parent
        data = read_yaml(path, tags=TIMELOOP_TAGS).data
    except InputError:
        return ""
    keys = data.keys() if isinstance(data, dict) else set()
    return next((kind for kind, roots in _ROOTS.items() if roots & keys), "")


def _swapped(arch: object, workload: object) -> Fault | None:
    """The fault of inputs that stand in each other's place."""
    if (_kind(arch), _kind(workload)) != ("workload", "architecture"):
        return None
    rule = f"the architecture stands first: write {quote(str(workload))} {quote(str(arch))}"
    return Fault("ARCH", None, "", f"{arch} is a workload, {workload} an architecture; {rule}")


def _workload(workload: Workload | Network | Spec) -> Workload | Network:
    if isinstance(workload, Network) and not workload.layers:
        raise InputError(Fault(workload.name, None, "layers", "must have at least one layer"))
    if isinstance(workload, Workload | Network):
        return workload
    path = _path(workload, "workload", "a layer or a network")
    if Path(path).suffix.lower() == ".onnx":
        rule = f"is an ONNX model: ruby-import {path} --out net.yaml makes a network of it, to be searched as net.yaml"
        raise InputError(Fault(path, None, "", rule))
    return load_workload(path if isinstance(workload, str) else Path(path))


def _arch(arch: Architecture | Spec, common: Workload | None, more: Sequence[Path]) -> Architecture:
    if isinstance(arch, Architecture):
        return arch
    return load_arch(_path(arch, "arch", "an architecture"), workload=common, more=more)


def _path(given: Spec, what: str, kind: str) -> str:
    """Convert a name or path to text. Raises InputError for other types."""
    try:
        return os.fspath(given)
    except TypeError:
        rule = f"must be a library name, a path or {kind}; got {type(given).__name__} {given!r}"
        raise InputError(Fault(what, None, "", rule)) from None


def _common(workload: Workload | Network | None) -> Workload | None:
    """Return a layer if all layers have its dims and tensors, for constraints on all dims or tensors; else None.

    Its sizes are the largest of all, as a constraint over the size of a dim in every layer has no effect.
    """
    layers = layers_of(workload) if workload else []
    same = {(layer.dims, tuple((tensor.name, tensor.dims) for tensor in layer.tensors)) for layer in layers}
    if len(same) != 1:
        return None
    return replace(layers[0], sizes=tuple(map(max, zip(*(layer.sizes for layer in layers), strict=True))))


def layers_of(workload: Workload | Network) -> list[Workload]:
    """List the layers of a network, in turn; a single layer is listed alone."""
    return [workload] if isinstance(workload, Workload) else [layer for layer, _ in workload.layers]


def distinct_layers(workload: Workload | Network) -> list[Workload]:
    """List the layers of a network, of equal ones the first."""
    layers = layers_of(workload)
    return [layers[numbers[0]] for numbers in equal_layers(layers)]


def equal_layers(layers: Sequence[Workload]) -> list[list[int]]:
    """Group the indices of layers that are equal but for their names, in the order of each group's first layer.

    The cost of a layer depends only on its dims, its tensors and the zeros of its padding.
    """
    groups: dict[Workload, list[int]] = {}
    for number, layer in enumerate(layers):
        groups.setdefault(layer.nameless, []).append(number)
    return list(groups.values())
