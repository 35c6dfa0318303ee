"""`maximize_dims` of Timeloop's front end: the factors that it comes to for the sizes of one workload.

The rule is that of its `constraint_macro.py` (timeloop-python, April 2025): spatial constraints before temporal ones,
inner nodes before outer ones, and in each the groups of dims in turn. A group shares the instances that are left among
its dims so that the utilization is highest; of equal ways the first one found holds, earlier dims before later ones.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ...workloads import Keys, Workload
from ..loop_constraint import FactorRule
from .loops import factor_rules
from .scope import GREEDY, Scope

MAX_STATES = 100_000  # of a search for the best way to share instances


def maximized(
    scope: Scope, loops: Mapping[Keys, int | None], lists: Sequence[Keys]
) -> dict[Keys, tuple[FactorRule, ...]]:
    """The factors of each constraint with `maximize_dims`, by its path.

    `loops` has the path of every constraint on loops, outermost first, with its instances where it is spatial;
    `lists` the paths of further constraints, whose factors count too. Faults stay in the reader of `scope`.
    """
    asking = [path for path in loops if scope.reader.value((*path, GREEDY[0])) not in (None, [])]
    workload = scope.needed((*asking[0], GREEDY[0])) if asking else None
    if workload is None:
        return {}
    remaining = _remaining(scope, workload, [*loops, *lists])
    spatial = [path for path in asking if loops[path] is not None]
    temporal = [path for path in asking if loops[path] is None]
    factors = {}
    for path in (*reversed(spatial), *reversed(temporal)):
        capacity = scope.reader.integer((*path, GREEDY[1])) or loops[path]
        if capacity is None:
            scope.reader.fault(path, f"{GREEDY[0]} of temporal loops needs {GREEDY[1]}")
        else:
            factors[path] = tuple(_factors(scope, path, workload, remaining, capacity))
    return factors


def _remaining(scope: Scope, workload: Workload, paths: Sequence[Keys]) -> dict[str, int]:
    """What the factors at `paths` leave of the size of each dim."""
    remaining = dict(zip(workload.dims, workload.sizes, strict=True))
    for path in paths:
        rules, _ = factor_rules(scope, path, scope.reader.mapping(path))
        for rule in rules:
            if rule.op == "=" and rule.dim in remaining:
                remaining[rule.dim] = -(-remaining[rule.dim] // (rule.value or workload.size(rule.dim)))
    return remaining


def _factors(
    scope: Scope, path: Keys, workload: Workload, remaining: dict[str, int], capacity: int
) -> list[FactorRule]:
    """The factors that the constraint at `path` comes to, which are taken from what is `remaining` of each dim."""
    rules, dims = factor_rules(scope, path, scope.reader.mapping(path))
    for rule in rules:
        if rule.op != "<=":
            capacity //= rule.value or workload.size(rule.dim)
    taken = {rule.dim for rule in rules} | (set() if dims is None else set(workload.dims) - set(dims))
    factors = list[FactorRule]()
    for group in _groups(scope, (*path, GREEDY[0])):
        unfit = list(_unfit(group, remaining, taken))
        for fault in unfit:
            scope.reader.fault((*path, GREEDY[0]), fault)
        if unfit:
            return []
        bounds = _shared(tuple(remaining[dim] for dim in group), capacity)
        if bounds is None:
            scope.reader.fault((*path, GREEDY[0]), f"over {MAX_STATES:,} ways to share {capacity:,} instances")
            return []
        for dim, bound in zip(group, bounds, strict=True):
            factors.append(FactorRule(dim, "=", bound))
            remaining[dim] = -(-remaining[dim] // bound)
            capacity //= bound
        taken |= set(group)
    return factors


def _unfit(group: Iterable[str], remaining: Mapping[str, int], taken: Collection[str]) -> Iterator[str]:
    """Why dims of a group can get no factor: the workload has no such dim, or they are `taken`."""
    for dim in group:
        if dim not in remaining:
            yield f"{dim} is no dim of the workload: {', '.join(remaining)}"
        elif dim in taken:
            yield f"{dim} has a factor already"


def _groups(scope: Scope, path: Keys) -> list[tuple[str, ...]]:
    """The groups of dims at `path`: a list of lists, or one list of dims."""
    items = scope.reader.items(path)
    if all(isinstance(scope.reader.value(item), list) for item in items):
        return [scope.reader.words(item) for item in items]
    return [scope.reader.words(path)]


def _shared(sizes: tuple[int, ...], capacity: int) -> tuple[int, ...] | None:
    """The bound of each dim of `sizes`, their product at most `capacity`; None where too many ways are to be tried."""
    from sympy import primefactors  # noqa: PLC0415  # a second, and few files ask for it

    known: dict[tuple[tuple[int, ...], int], tuple[float, tuple[int, ...]]] = {}

    def best(sizes: tuple[int, ...], capacity: int) -> tuple[float, tuple[int, ...]]:
        if (sizes, capacity) in known or len(known) > MAX_STATES:
            return known.get((sizes, capacity), (1.0, ()))
        used, bounds = 1.0, (1,) * len(sizes)
        for d, size in enumerate(sizes if capacity > 1 else ()):
            if size > capacity:  # the last of `rounds` has what remains: nothing, where it divides, in Timeloop
                rounds = -(-size // capacity)
                bound = -(-size // rounds)
                if (mean := (bound * (rounds - 1) + size % bound) / rounds) > used:
                    used, bounds = mean, _with((1,) * len(sizes), d, bound)
            for prime in set(primefactors(size)):  # the order of a set decides among equals, as in Timeloop
                if prime <= capacity:
                    inner, inside = best(_with(sizes, d, size // prime), capacity // prime)
                    if inside and inner * prime > used:
                        used, bounds = inner * prime, _with(inside, d, inside[d] * prime)
        known[sizes, capacity] = used, bounds
        return used, bounds

    bounds = best(sizes, capacity)[1]
    return None if len(known) > MAX_STATES else bounds


def _with(numbers: tuple[int, ...], at: int, number: int) -> tuple[int, ...]:
    """The same numbers with another at one place."""
    return (*numbers[:at], number, *numbers[at + 1 :])
