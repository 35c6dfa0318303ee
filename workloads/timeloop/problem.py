"""Reads Timeloop's problems (shape and instance) as workloads, and writes them."""

from pathlib import Path
from typing import Any

from ..reading import Document, Keys, near
from ..shapes import size_faults, word
from ..spec import Rank, Tensor, Term, Workload
from .roots import warn_idle
from .values import Reader, choices

_SHAPE = ("name", "version", "dimensions", "coefficients", "data_spaces")
_PROBLEM = ("version", "name", "shape", "instance")
_NOTES = ("notes", "dnn_name")  # for readers
_INPUT = ("H", "W", "Hpad", "Wpad")  # of a convolution, which its front end's problems have beside the shape's dims
_DENSITY = ("densities", "common_densities", "commonDensity", "common_density")
# What Timeloop takes when a problem names no shape: dims, coefficients, and the ranks of each tensor.
CNN_LAYER: dict[str, Any] = {
    "name": "cnn_layer",
    "dimensions": ["R", "S", "P", "Q", "C", "K", "N"],
    "coefficients": [{"name": name, "default": 1} for name in ("Wstride", "Hstride", "Wdilation", "Hdilation")],
    "data_spaces": [
        {"name": "Weights", "projection": ["C", "K", "R", "S"]},
        {
            "name": "Inputs",
            "projection": ["N", "C", [["R", "Wdilation"], ["P", "Wstride"]], [["S", "Hdilation"], ["Q", "Hstride"]]],
        },
        {"name": "Outputs", "projection": ["N", "K", "Q", "P"], "read_write": True},
    ],
}


class _Problem:
    """Reads the parts of a problem; faults stay in `reader`."""

    def __init__(self, document: Document):
        self.reader = Reader(document)
        self.shape_path: Keys = ("problem", "shape")
        self.dims: tuple[str, ...] = ()
        self.coefs: dict[str, int] = {}

    def shape(self) -> None:
        """Checks the mapping of the shape, or puts that of cnn_layer in its place."""
        shape = self.reader.value(self.shape_path)
        if isinstance(shape, dict):
            self.reader.mapping(self.shape_path, (*_SHAPE, "flatten"))
            if shape.get("flatten") is not None:
                self.reader.fault((*self.shape_path, "flatten"), "flatten is not supported")
            return
        if shape is not None and str(shape).replace("-", "_") not in ("cnn_layer", "cnn_layer.yaml"):
            self.reader.fault(
                self.shape_path, f"of the named shapes only cnn_layer is known, got {shape!r}; write it out"
            )
        self.reader.mapping(("problem",))["shape"] = CNN_LAYER  # our own copy of the data: `underscored` made it

    def bounds(self) -> dict[str, Keys]:
        """The paths of the sizes and coefficients by name: under `instance`, or beside `shape`."""
        problem = self.reader.mapping(("problem",))
        if "instance" in problem:
            self.reader.mapping(("problem",), (*_PROBLEM, *_NOTES))
            return {key: ("problem", "instance", key) for key in self.reader.mapping(("problem", "instance"))}
        return {key: ("problem", key) for key in problem if key not in _PROBLEM}

    def declared(self) -> None:
        """Reads the dims, and the coefficients with their defaults."""
        at = (*self.shape_path, "dimensions")
        self.dims = self.reader.words(at)
        if not self.dims:
            self.reader.fault(at, "at least one dimension is expected")
        for dim in self.dims:
            self.name(at, dim)
        for dim in dict.fromkeys(dim for dim in self.dims if self.dims.count(dim) > 1):
            self.reader.fault(at, f"dimension {dim!r} is declared twice")
        for path in self.reader.items((*self.shape_path, "coefficients")):
            self.reader.mapping(path, ("name", "default"))
            name = self.reader.text((*path, "name"), required=True)
            default = self.reader.integer((*path, "default"), least=0)
            if name is not None:
                self.coefs[self.name((*path, "name"), name)] = 1 if default is None else default

    def sizes(self) -> tuple[int, ...]:
        """The size of each dim; the coefficients that an instance gives replace the defaults."""
        sizes: dict[str, int] = {}
        idle = list[str]()
        for name, path in self.bounds().items():
            if name in _DENSITY:
                _dense(self.reader, path)
            elif name in self.dims or name in self.coefs:
                (sizes if name in self.dims else self.coefs)[name] = self.number(name, path)
            elif name in _INPUT:
                self.reader.integer(path, least=0)
            elif meant := near(name, (*self.dims, *self.coefs)):
                self.reader.fault(path, f"unknown dimension or coefficient {name!r}{meant}")
            else:
                idle.append(f"problem.instance.{name}, which the shape does not use")
        for dim in self.dims:
            if dim not in sizes:
                self.reader.fault(("problem", "instance"), f"the size of dimension {dim} is missing")
        if idle and not self.reader.faults:
            warn_idle(self.reader.document.source, idle)
        return tuple(sizes.get(dim, 1) for dim in self.dims)

    def number(self, name: str, path: Keys) -> int:
        """The size of a dim, or the value of a coefficient, that stands at `path`; 1 where it is none."""
        if name in self.dims and self.reader.value(path) is None:
            self.reader.fault(path, "must be an integer, got nothing")
        value = self.reader.integer(path, least=1 if name in self.dims else 0)
        return 1 if value is None else value

    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors of the shape, of which one is the output."""
        at = (*self.shape_path, "data_spaces")
        tensors = []
        for path in self.reader.items(at):
            self.reader.mapping(path, ("name", "projection", "read_write"))
            written = self.reader.value((*path, "read_write"))
            if written not in (None, True, False):
                self.reader.fault((*path, "read_write"), f"must be true or false, got {written!r}")
            ranks = tuple(self.rank(rank) for rank in self.reader.items((*path, "projection")))
            name = self.name((*path, "name"), self.reader.text((*path, "name"), required=True))
            self.indexed((*path, "projection"), ranks, output=written is True)
            tensors.append(Tensor(name, ranks, written is True))
        outputs = [tensor.name for tensor in tensors if tensor.output]
        if len(outputs) != 1:
            self.reader.fault(at, f"one data space must be read_write: true, got {', '.join(outputs) or 'none'}")
        names = [tensor.name for tensor in tensors]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            self.reader.fault(at, f"two data spaces are called {name!r}")
        return tuple(tensors)

    def name(self, path: Keys, name: str | None) -> str:
        """The name of a dim, coefficient or tensor, checked."""
        try:
            return word(name) if name is not None else ""
        except ValueError as error:
            self.reader.fault(path, str(error))
            return ""

    def indexed(self, path: Keys, ranks: tuple[Rank, ...], output: bool) -> None:
        """Adds faults where a dim is in two ranks of a tensor, or the output has windows."""
        if not ranks:
            self.reader.fault(path, "at least one rank is expected")
        dims = [term.dim for rank in ranks for term in rank]
        for dim in dict.fromkeys(dim for dim in dims if dims.count(dim) > 1):
            self.reader.fault(path, f"dimension {dim} is used in two ranks; it may index a tensor once")
        if output and any(len(rank) > 1 or (rank and rank[0].coef > 1) for rank in ranks):
            self.reader.fault(
                path, "a rank of the output must be a single dimension, so that partial sums have one place"
            )

    def rank(self, path: Keys) -> Rank:
        """The rank at `path`: `[[R, Wdilation], [P, Wstride]]`, `[[C]]`, or just `C`."""
        value = self.reader.value(path)
        terms = [path] if isinstance(value, str) else self.reader.items(path)
        summed: dict[str, int] = {}
        for at in terms:
            parts = self.reader.value(at)
            parts = parts if isinstance(parts, list) else [parts]
            if not 1 <= len(parts) <= 2 or isinstance(parts[0], list):
                self.reader.fault(at, f"a term is [DIM] or [DIM, COEFFICIENT], got {parts!r}")
                continue
            dim, coef = str(parts[0]), self.coef(at, parts[1]) if len(parts) == 2 else 1
            if dim not in self.dims:
                self.reader.fault(at, f"unknown dimension {dim!r}{choices(dim, self.dims)}")
            summed[dim] = summed.get(dim, 0) + coef
        if not terms:
            self.reader.fault(path, "a rank has at least one term")
        for dim in [dim for dim, coef in summed.items() if not coef]:
            if len(summed) > 1:
                del summed[dim]  # as Timeloop counts it: the dim moves nothing here
                self.reader.warn(path, f"{dim} has the coefficient 0 and is left out; without dilation write 1")
            else:
                self.reader.fault(path, f"the only dim, {dim}, has the coefficient 0")
        return tuple(Term(dim, coef) for dim, coef in summed.items())

    def coef(self, path: Keys, given: Any) -> int:
        """The value of a coefficient, given as a number or by its name."""
        if isinstance(given, int) and not isinstance(given, bool):
            if given < 0:
                self.reader.fault(path, f"a coefficient must be at least 0, got {given}")
            return max(0, given)
        if str(given) not in self.coefs:
            self.reader.fault(path, f"unknown coefficient {given!r}{choices(str(given), self.coefs)}")
        return self.coefs.get(str(given), 1)


def _dense(reader: Reader, path: Keys) -> None:
    """Adds a fault where a density is not 1: a number, a mapping by tensor, or the `density` of a distribution."""
    value = reader.value(path)
    if isinstance(value, dict):
        for key in value:
            if key != "distribution":
                _dense(reader, (*path, key))
    elif value not in (None, 1, 1.0):
        rule = "densities below 1 are not supported: this model is of dense workloads"
        reader.sparse(path, f"{rule}, got {value!r}")


def read_timeloop_problem(document: Document) -> Workload:
    """The workload of a Timeloop `problem`; without a shape it is Timeloop's cnn_layer.

    Tensors keep their names. Raises InputError with every fault: unknown dims, missing sizes, densities below 1,
    flattened dims, coefficients below 1, named shapes other than cnn_layer.
    """
    problem = _Problem(document)
    reader = problem.reader
    if not isinstance(reader.value(("problem",)), dict):
        reader.fault((), 'the key "problem" with a mapping is expected')
        reader.finish()
    problem.shape()
    problem.declared()
    sizes = problem.sizes()  # before the tensors: an instance may change their coefficients
    tensors = problem.tensors()
    name = reader.text(("problem", "name")) or Path(document.source).stem
    shape = reader.text((*problem.shape_path, "name")) or ""
    workload = Workload(name, problem.dims, sizes, tensors, shape=shape)
    for _, message in size_faults(workload, ""):
        reader.fault(("problem",), message)
    reader.finish()
    return workload


def write_timeloop_problem(workload: Workload) -> dict[str, Any]:
    """The workload as a Timeloop `problem`, coefficients by name (`Inputs_2_P`), as Timeloop wants them.

    Raises ValueError for what its binaries refuse: dims of several letters, sizes and coefficients beyond an int.
    """
    if faults := _unwritable(workload):
        raise ValueError(f"{workload.name} cannot be written for Timeloop: {'; '.join(faults)}")
    coefs: dict[str, int] = {}
    spaces = []
    for tensor in workload.tensors:
        space = {"name": tensor.name, "projection": _projection(tensor, coefs)}
        spaces.append(space | ({"read_write": True} if tensor.output else {}))
    shape: dict[str, Any] = {"name": workload.shape or workload.name, "dimensions": list(workload.dims)}
    if coefs:
        shape["coefficients"] = [{"name": name, "default": coef} for name, coef in coefs.items()]
    shape["data_spaces"] = spaces
    return {"problem": {"shape": shape, "instance": dict(zip(workload.dims, workload.sizes, strict=True))}}


def _unwritable(workload: Workload) -> list[str]:
    """What Timeloop's binaries would refuse of a workload."""
    faults = [f"{dim}: the name of a dim is one letter" for dim in workload.dims if len(dim) > 1 or not dim.isalpha()]
    given = [*zip(workload.dims, workload.sizes, strict=True)]
    given += [(tensor.name, term.coef) for tensor in workload.tensors for rank in tensor.ranks for term in rank]
    return faults + [f"{name}: {number} is over 2^31 - 1" for name, number in given if number >= 1 << 31]


def _projection(tensor: Tensor, coefs: dict[str, int]) -> list[list[list[str]]]:
    """The terms of each rank of a tensor, with coefficients other than 1 by name, which are added to `coefs`."""
    ranks = []
    for number, rank in enumerate(tensor.ranks):
        terms: list[list[str]] = []
        for term in rank:
            name = f"{tensor.name}_{number}_{term.dim}"
            coefs |= {name: term.coef} if term.coef != 1 else {}
            terms.append([term.dim] if term.coef == 1 else [term.dim, name])
        ranks.append(terms)
    return ranks
