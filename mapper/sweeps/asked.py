"""What a sweep's file asks for: the designer, what to minimise, which limits to keep, which frontier."""

from collections.abc import Callable, Collection, Mapping, Sequence

from ...workloads import Document, Fault, Keys, Network, Workload, near, unknown_choice
from ..designs import (
    DEFAULT,
    DESIGNERS,
    GRID,
    Constraint,
    Expression,
    Question,
    objective_asked,
    unsuited,
)
from ..exploration.sets import FUSE, NONE, has_graph
from ..problem import OBJECTIVES
from ..search.options import SearchOptions
from ..searchers import STRATEGIES, missing_package
from .fronts import AXES
from .keys import SweepFile


def read_question(
    document: Document, asked: SweepFile, parameters: Sequence[str], faults: list[Fault]
) -> tuple[str, Question]:
    """Return the designer and the question, whose expressions may use `parameters`; appends faults."""
    limits_given = asked.minimize is not None or bool(_limits(asked))
    designer = _designer(document, asked, faults, wanted=limits_given)
    grid = DESIGNERS[designer].make is None
    names = [name for name in parameters if name.isidentifier()]
    expressions = _read(document, _expressions(document, asked, grid=grid), names, Expression.read, faults)
    limits = _read(document, _limits(asked), names, Constraint.read, faults)
    objective = asked.objective if limits_given or not grid else asked.objective.split(",")[0]
    if "objective" not in _keys(document):
        objective = objective_asked([*expressions.values()], [*limits.values()]) or objective
    faults += _objective_faults(document, expressions, objective)
    axes = tuple(own for at, own in expressions.items() if at[0] == "pareto")
    faults += _sensitivity_faults(document, asked, expressions)
    return designer, Question(
        expressions.get(("minimize",)),
        tuple(limits.values()),
        axes,
        _weights(document, asked, faults),
        objective,
        asked.gap,
        asked.proofs,
        asked.side_by_side,
        limits_given or asked.sensitivity,
        asked.sensitivity,
        {own.text: _place(document, at) for at, own in (expressions | limits).items()},
    )


def _designer(document: Document, asked: SweepFile, faults: list[Fault], *, wanted: bool) -> str:
    """The designer that is named, else the one for what is `wanted`; appends the fault of a name that is none."""
    designer = asked.designer or (DEFAULT if wanted and asked.search.fuse == NONE else GRID)
    if designer in DESIGNERS:
        return designer
    faults.append(document.fault(("designer",), unknown_choice("designer", designer, DESIGNERS).message))
    return DEFAULT


def _place(document: Document, at: Keys) -> str:
    """Where something stands in the file, as faults say it."""
    return str(document.fault(at, "")).removesuffix(": ")


def _keys(document: Document) -> Collection[str]:
    return document.data if isinstance(document.data, dict) else {}


def _expressions(document: Document, asked: SweepFile, *, grid: bool) -> dict[Keys, str]:
    """What is to be minimised, and the axes of a frontier that is asked for, by their places."""
    axes = "pareto" in _keys(document) and not grid  # a grid draws its frontier of whatever it finds
    minimise = asked.minimize
    if minimise is None and not axes:
        minimise = asked.objective.split(",")[0]
    wanted: dict[Keys, str] = {} if minimise is None else {("minimize",): minimise}
    return wanted | ({("pareto", at): text for at, text in enumerate(asked.pareto)} if axes else {})


def _limits(asked: SweepFile) -> dict[Keys, str]:
    """The limits, by their places."""
    if isinstance(asked.subject_to, str):
        return {("subject_to",): asked.subject_to}
    return {("subject_to", at): text for at, text in enumerate(asked.subject_to)}


def _read[T](
    document: Document,
    texts: Mapping[Keys, str],
    names: Sequence[str],
    read: Callable[[str, Sequence[str]], T],
    faults: list[Fault],
) -> dict[Keys, T]:
    """Read texts; those with faults are left out."""
    every = dict[Keys, T]()
    for at, text in texts.items():
        try:
            every[at] = read(text, names)
        except ValueError as error:
            faults.append(document.fault(at, str(error)))
    return every


def _objective_faults(document: Document, expressions: Mapping[Keys, Expression], objective: str) -> list[Fault]:
    """List the expressions that are of another objective than the one that mappings are searched for."""
    if objective not in OBJECTIVES:
        rule = f"must be one of {', '.join(OBJECTIVES)}; got {objective}"
        return [document.fault(("objective",), rule)]
    places = {str(number): at for number, at in enumerate(expressions)}
    texts = {key: expressions[at] for key, at in places.items()}
    return [document.fault(places[key], rule) for key, rule in unsuited(texts, objective).items()]


def _sensitivity_faults(document: Document, asked: SweepFile, expressions: Collection[Keys]) -> list[Fault]:
    """List the fault of a sensitivity where no best design is asked for, but a frontier alone."""
    if not asked.sensitivity or asked.minimize is not None or not any(at[0] == "pareto" for at in expressions):
        return []
    return [document.fault(("sensitivity",), "is about the best design: it needs minimize, and there is none")]


def _weights(document: Document, asked: SweepFile, faults: list[Fault]) -> tuple[float, ...]:
    """The weight of each workload, 1 where none is given."""
    for name in asked.weights:
        if name not in asked.workloads:
            rule = f'no workload "{name}"{near(name, asked.workloads)}; workloads: {", ".join(asked.workloads)}'
            faults.append(document.fault(("weights", name), rule))
    return tuple(asked.weights.get(name, 1.0) for name in asked.workloads)


def optimising_faults(document: Document, designer: str, seeds: Sequence[int], options: SearchOptions) -> list[Fault]:
    """List what only a grid can do, where another designer is asked for, and what a grid cannot."""
    faults, row = [], DESIGNERS.get(designer)
    if row is None:
        return []
    if row.make is None:
        rule = f"goes with another designer: a {designer} searches every point"
        return [document.fault((key,), rule) for key in ("proofs", "side_by_side") if key in _keys(document)]
    if len(seeds) > 1:
        faults.append(document.fault(("seeds",), f"{designer} searches with one seed"))
    missing = missing_package(row.package) if row.package else []
    faults += [document.fault(("designer",), rule) for rule in missing]
    strategy = STRATEGIES.get(options.strategy)
    if row.by_bounds and strategy is not None and not strategy.proves:
        proving = ", ".join(name for name, own in STRATEGIES.items() if own.proves)
        rule = f"{designer} needs proofs, of a strategy that proves ({proving}); got {options.strategy}"
        faults.append(document.fault(("search", "strategy"), rule))
    return faults


def plan_faults(
    document: Document, asked: SweepFile, designer: str, workloads: Mapping[str, Workload | Network]
) -> list[Fault]:
    """List what does not go together with plans of networks, where they are asked for."""
    search, faults, at = asked.search, list[Fault](), ("search", "fuse")
    if search.fuse == NONE:
        return []
    if search.fuse not in FUSE:
        return [document.fault(at, unknown_choice("fuse", search.fuse, FUSE).message)]
    if designer in DESIGNERS and DESIGNERS[designer].by_bounds:
        suited = ", ".join(name for name, row in DESIGNERS.items() if not row.by_bounds)
        rule = f"no bound of plans holds for a set of designs, by which {designer} goes: name one of {suited}"
        faults.append(document.fault(("designer",), rule))
    if search.strategy in STRATEGIES and not STRATEGIES[search.strategy].proves:
        faults.append(document.fault(at, f"plans stand on what is proven of layers: {search.strategy} proves nothing"))
    if search.budget:
        faults.append(document.fault(at, "plans are searched without a budget"))
    changed = [name for name in asked.mapspaces if "+" in name]
    if changed:
        rule = f"plans are of layers as they are written, without transformations: {', '.join(changed)}"
        faults.append(document.fault(("mapspaces",), rule))
    if workloads and not any(map(has_graph, workloads.values())):
        rule = "plans are of networks whose file says what their layers hand each other, and no workload is one"
        faults.append(document.fault(at, f"{rule}: {', '.join(workloads)}"))
    return faults


IN_ORDER_OF = {"area_mm2": "area", "joules": "energy"}  # another unit of a measure


def column_of(text: str) -> str | None:
    """The column of a measure in whose order an expression has designs; None: of none, as far as is known."""
    measure = AXES.get(IN_ORDER_OF.get(text, text))
    return None if measure is None else measure.column


def axes_of(written: SweepFile, objective: str) -> tuple[str, ...]:
    """The columns of the axes; of a frontier of expressions those that are next to them."""
    columns = tuple(column for text in written.pareto if (column := column_of(text)))
    if len(columns) == len(written.pareto):
        return columns
    return AXES["area"].column, AXES[objective if objective in AXES else "edp"].column
