"""ZigZag's workload files: convolutions and matrix products read as layers of named shapes, and written."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from ..checking import Section, check
from ..faults import Fault, InputError
from ..named_shapes import SHAPES, Shape
from ..onnx import Imported
from ..reading import Document, Keys
from ..spec import Rank, Workload

_OPERAND = r"(\w)((?:\[\w+\])+)"
_EQUATION = re.compile(rf"O((?:\[\w+\])+)\s*\+?\s*=\s*{_OPERAND}\s*\*\s*{_OPERAND}\s*")
_RELATION = re.compile(r"(\w+)\s*=\s*(?:(\d+)\s*\*\s*)?(\w+)\s*\+\s*(?:(\d+)\s*\*\s*)?(\w+)")
MULTIPLIES = ("Conv", "Gemm", "Conv_downsample")
SHAPE_OF = {0: "matmul", 1: "conv1d", 2: "conv2d", 3: "conv3d"}  # by the number of windows
WINDOWED = (("", ""), ("P", "R"), ("PQ", "RS"), ("OPQ", "TRS"))  # our dims of outputs and of filters, likewise
TENSORS = {"W": "Weights", "I": "Inputs", "O": "Outputs"}
# what ZigZag calls dims, by the tensors that they index, and the axes of windows, by the number of them
NAMES = {"OWI": "G", "OW": "K", "OI": "B", "WI": "C"}
AXES = ("", "Y", "YX", "ZYX")

Positive = Annotated[int, Field(ge=1)]


class _Layer(Section):
    id: int
    name: str | None = None
    operator_type: str
    equation: str
    dimension_relations: tuple[str, ...] = ()
    loop_dims: tuple[str, ...]
    loop_sizes: tuple[Positive, ...]
    operand_precision: dict[str, int]
    operand_source: dict[str, int] = {}
    pr_loop_dims: tuple[str, ...] | None = None
    pr_loop_sizes: tuple[int, ...] | None = None
    padding: tuple[tuple[int, ...], ...] | None = None


def is_zigzag_workload(document: Document) -> bool:
    """Whether a YAML file is a list of layers as ZigZag has them."""
    data = document.data
    return isinstance(data, list) and any(isinstance(layer, dict) and "operator_type" in layer for layer in data)


def read_zigzag_workload(document: Document, name: str) -> Imported:
    """The convolutions and matrix products of a workload, equal ones counted; what else there is is left out.

    Dims get the names of our shapes by their part in the equation, whatever they are called. Raises InputError with
    every fault: values of the wrong kind, and products that are neither.
    """
    faults: list[Fault] = []
    layers: dict[str, tuple[str, dict[str, Any], int]] = {}
    left_out: Counter[str] = Counter()
    for index, data in enumerate(document.data):
        at: Keys = (index,)
        if not isinstance(data, dict) or data.get("operator_type") not in MULTIPLIES:
            kind = data.get("operator_type") if isinstance(data, dict) else None
            left_out[str(kind)] += 1
            continue
        try:
            layer = check(document, _Layer, at)
            made = _made(document, at, layer)
        except InputError as error:
            faults += error.faults
            continue
        first, _, count = layers.get(str(made), (layer.name or f"layer_{layer.id}", made, 0))
        layers[str(made)] = (first, made, count + 1)
    if not faults and not layers:
        faults.append(document.fault((), "no convolution and no matrix product is there"))
    if faults:
        raise InputError(faults)
    why = {"that are no convolution or matrix product": dict(left_out)} if left_out else {}
    return Imported(name, document.source, tuple(layers.values()), why)


def _made(document: Document, at: Keys, layer: _Layer) -> dict[str, Any]:
    """A layer as a network file has it."""
    sizes = dict(zip(layer.loop_dims, layer.loop_sizes, strict=False))
    equation = _EQUATION.fullmatch(layer.equation)
    faults = []
    if len(layer.loop_dims) != len(layer.loop_sizes) or len(sizes) != len(layer.loop_dims):
        faults.append(document.fault((*at, "loop_sizes"), "a size for each of the loop_dims is expected, each once"))
    if equation is None or {equation[2], equation[4]} != {"W", "I"}:
        rule = "an equation O[..] += W[..] * I[..] is expected for a product"
        raise InputError([*faults, document.fault((*at, "equation"), f"{rule}, got {layer.equation!r}")])
    operands = {"O": equation[1], equation[2]: equation[3], equation[4]: equation[5]}
    indices = {op: [dim.upper() for dim in re.findall(r"\w+", text)] for op, text in operands.items()}
    windows = []
    for number, text in enumerate(layer.dimension_relations):
        relation = _RELATION.fullmatch(text.strip())
        if relation is None:
            faults.append(
                document.fault((*at, "dimension_relations", number), f"ix=2*ox+1*fx is expected, got {text!r}")
            )
        else:
            windows.append(_Window(relation))
    if faults:
        raise InputError(faults)
    return _shaped(document, at, layer, indices, sizes, windows)


class _Window:
    """`ix = 2*ox + 1*fx`: an output's step and a filter's make an input's."""

    def __init__(self, relation: "re.Match[str]") -> None:
        self.input, first, second = (relation[number].upper() for number in (1, 3, 5))
        self.dims = {first: int(relation[2] or 1), second: int(relation[4] or 1)}

    def dim_among(self, indices: list[str]) -> str | None:
        """The first of its dims that is one of the indices of an operand."""
        return next((d for d in self.dims if d in indices), None)


def _shaped(
    document: Document,
    at: Keys,
    layer: _Layer,
    indices: dict[str, list[str]],
    sizes: dict[str, int],
    windows: list[_Window],
) -> dict[str, Any]:
    """The named shape of an equation, with sizes by the part that each dim has in it."""
    slid = _of_inputs(windows, indices["I"])
    parts = _parts(indices, {d for window in slid for d in window.dims})
    outs, filters = ([window.dim_among(indices[op]) for window in slid] for op in "OW")
    sized = sizes.keys() | {window.input for window in windows}
    wrong = [*_without_size(indices, sized), *_of_one_part(parts)]
    if None in (*outs, *filters) or len(slid) >= len(WINDOWED):
        wrong.append("an output and a filter dim make each input dim")
    if wrong:
        raise InputError(
            document.fault((*at, "equation"), f"is no convolution or product of ours: {problem}") for problem in wrong
        )
    shape = "batched_matmul" if not slid and parts["G"] else SHAPE_OF[len(slid)]
    sizes = _ones(SHAPES[shape]) | _own_sizes(parts, outs, filters, sizes)
    steps = {"stride": _steps(slid, outs), "dilation": _steps(slid, filters)}
    bits = _word_bits(layer.operand_precision)
    return (
        {"shape": shape, "sizes": sizes} | {key: axis_steps for key, axis_steps in steps.items() if axis_steps} | bits
    )


def _of_inputs(windows: list[_Window], inputs: list[str]) -> list[_Window]:
    """The windows that make a dim of the inputs, in the order of these."""
    return [window for d in inputs for window in windows if window.input == d]


def _without_size(indices: dict[str, list[str]], sized: Collection[str]) -> Iterator[str]:
    """The dims of an equation that are neither `sized` loops nor made by a window."""
    for dim in sorted({d for dims in indices.values() for d in dims}.difference(sized)):
        yield f"{dim} has no size"


def _of_one_part(parts: dict[str, list[str]]) -> Iterator[str]:
    """The dims that our shapes could not tell apart."""
    for part, dims in parts.items():
        if len(dims) > 1:
            yield f"several dims have one part: {', '.join(dims)} (as {part})"


def _own_sizes(
    parts: dict[str, list[str]], outs: list[str | None], filters: list[str | None], sizes: dict[str, int]
) -> dict[str, int]:
    """The sizes of the dims that an equation has, in the names of our shapes; `outs` and `filters` by window."""
    renamed = {} if outs else {"G": "B", "C": "K"}
    own = {renamed.get(part, part): sizes[dims[0]] for part, dims in parts.items() if dims}
    for names, dims in zip(WINDOWED[len(outs)], (outs, filters), strict=True):
        own |= {name: sizes[str(dim)] for name, dim in zip(names, dims, strict=True)}
    return own


def _ones(shape: Shape) -> dict[str, int]:
    """Size 1 for each dim that a layer of the shape must name, where the equation has no such dim."""
    return {dim: 1 for dim in shape.dims if dim not in shape.one_by_default}


def _steps(slid: list[_Window], dims: list[str | None]) -> list[int]:
    """By how much each window moves with one of its `dims`; empty where all by one, as they do without a word."""
    steps = [window.dims[str(dim)] for window, dim in zip(slid, dims, strict=True)]
    return steps if any(step != 1 for step in steps) else []


def _word_bits(precision: dict[str, int]) -> dict[str, Any]:
    """The key of a layer for the bits of its tensors, where the file has some."""
    bits = {TENSORS[op]: n for op, n in precision.items() if op in TENSORS and n > 0}
    return {"word_bits": bits} if bits else {}


def _parts(indices: dict[str, list[str]], windowed: set[str]) -> dict[str, list[str]]:
    """The dims without a window by their part: in all operands G, in outputs and weights M, ..."""
    every = dict.fromkeys(d for op in "OWI" for d in indices[op] if d not in windowed)
    where = {"OWI": "G", "OW": "M", "OI": "N", "WI": "C"}
    parts: dict[str, list[str]] = {part: [] for part in where.values()}
    for d in every:
        owners = "".join(op for op in "OWI" if d in indices[op])
        if owners in where:
            parts[where[owners]].append(d)
    return parts


def zigzag_names(workload: Workload) -> dict[str, str]:
    """What ZigZag calls each dim, by its part in the product. Raises ValueError with all that is no product of ours."""
    named = {tensor.name: tensor for tensor in workload.tensors}
    if set(named) != set(TENSORS.values()):
        raise ValueError(f"{workload.name}: tensors other than {', '.join(TENSORS.values())}")
    owned = {op: named[tensor].dims for op, tensor in TENSORS.items()}
    windows = [rank for rank in named["Inputs"].ranks if len(rank) > 1]
    slid = {term.dim for rank in windows for term in rank}
    wrong = _strange_ranks(workload, windows)
    names = _window_names(owned, windows, wrong)
    names |= _plain_names(owned, [dim for dim in workload.dims if dim not in slid], wrong)
    if wrong:
        raise ValueError(f"{workload.name} is no convolution or matrix product of ZigZag: {'; '.join(wrong)}")
    return names


def _strange_ranks(workload: Workload, windows: list[Rank]) -> list[str]:
    """The indices that no operand of ZigZag has, beside `windows` of the inputs, and more of those than it has axes."""
    ranks = [(tensor.name, rank) for tensor in workload.tensors for rank in tensor.ranks if rank not in windows]
    wrong = [f"{name} steps by {rank[0].coef} of {rank[0].dim}" for name, rank in ranks if rank[0].coef != 1]
    wrong += [f"a window in {name}" for name, rank in ranks if len(rank) > 1]
    return wrong + [f"{len(windows)} windows"] * (len(windows) >= len(AXES))


def _window_names(owned: Mapping[str, Collection[str]], windows: list[Rank], wrong: list[str]) -> dict[str, str]:
    """OY and FY, ... of the dims of windows, given those that each operand has. Adds to `wrong`."""
    names: dict[str, str] = {}
    for axis, rank in zip(AXES[min(len(windows), len(AXES) - 1)], windows, strict=False):
        outs, filters = (
            [term.dim for term in rank if term.dim in owned[op] and term.dim not in owned[other]]
            for op, other in ("OW", "WO")
        )
        if len(rank) == 2 and len(outs) == len(filters) == 1:
            names |= {outs[0]: f"O{axis}", filters[0]: f"F{axis}"}
        else:
            wrong.append(f"a window over {', '.join(term.dim for term in rank)}")
    return names


def _plain_names(owned: Mapping[str, Collection[str]], dims: list[str], wrong: list[str]) -> dict[str, str]:
    """The names of `dims`, which are in no window, by the operands that have them. Adds to `wrong`."""
    names: dict[str, str] = {}
    first: dict[str, str] = {}
    for dim in dims:
        name = NAMES.get("".join(op for op in "OWI" if dim in owned[op]))
        if name is None:
            wrong.append(f"{dim} indexes one tensor alone")
            continue
        if (before := first.setdefault(name, dim)) != dim:
            wrong.append(f"{before} and {dim} index the same tensors")
        names[dim] = name
    return names


def write_zigzag_workload(workload: Workload, bits: dict[str, int]) -> list[dict[str, Any]]:
    """A layer in ZigZag's form; `bits` are those of each tensor. Raises ValueError for what is no such product."""
    names = zigzag_names(workload)
    named = {tensor.name: tensor for tensor in workload.tensors}
    relations: list[str] = []
    terms = {op: "".join(_indices(named[tensor].ranks, names, relations)) for op, tensor in TENSORS.items()}
    return [
        {
            "id": 0,
            "name": workload.name,
            "operator_type": "Conv" if relations else "Gemm",
            "equation": f"O{terms['O']}+=W{terms['W']}*I{terms['I']}",
            "dimension_relations": relations,
            "loop_dims": [names[dim] for dim in workload.dims],
            "loop_sizes": list(workload.sizes),
            "operand_precision": {op: bits[tensor] for op, tensor in TENSORS.items()} | {"O_final": bits["Outputs"]},
            "operand_source": {"I": 0, "W": 0},
        }
    ]


def _indices(ranks: Any, names: dict[str, str], relations: list[str]) -> Iterator[str]:
    """`[k][iy]`, and the relations of windows."""
    for rank in ranks:
        index = names[rank[0].dim].lower()
        if len(rank) == 2:
            out, window = sorted(rank, key=lambda term: names[term.dim][0], reverse=True)  # oy before fy
            index = f"i{names[out.dim][1:].lower()}"
            relations.append(f"{index}={out.coef}*{names[out.dim].lower()}+{window.coef}*{names[window.dim].lower()}")
        yield f"[{index}]"
