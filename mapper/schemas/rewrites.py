"""The object of `ruby-rewrite --json`, which `rewrites.json` holds, too."""

from typing import Literal

from .values import Amount, Count, Number, Output


class Priced(Output):
    """A network by its best known plan."""

    edp: Amount
    """pJ * cycles."""
    energy_pj: Amount
    """pJ."""
    cycles: Count
    """Cycles."""
    lower_bound: Amount
    """Of the objective: no plan of those that are tried is below."""


class Rewrite(Output):
    """A substitution that was used."""

    name: str
    """The operators before and after it."""
    nodes: list[list[str]]
    """By place: the nodes whose tensors are computed in another way."""
    saved: Number
    """The fall of the objective, as a share of that before all rewrites; below 0 where it rose. Of a network that was
    searched by its parts it is that of quick searches of plans."""


class Rewritten(Output):
    """A network that computes the same, and what it costs."""

    arch: str
    """The machine."""
    mapspace: str
    """Its name."""
    objective: Literal["edp", "energy", "delay"]
    """What is minimised."""
    before: Priced
    """The network as it was read."""
    after: Priced
    """The network that is written."""
    rewrites: list[Rewrite]
    """In turn; empty: it is written as it was."""
    tried: tuple[str, ...]
    """What the plans that were tried have in common, of both networks; none: all were. Bounds are of these."""
    regions: Count
    """Different parts of the network that were searched by themselves; 1: the whole was."""
    met: Count
    """Networks, or graphs of these parts, each once."""
    priced: Count
    """Of these, priced by a search of plans, and whole networks with parts that were rewritten."""
    bounded: Count
    """Of these, ruled out by a bound."""
    ended: str
    """Why the search ended."""
    unpriced: dict[str, Count]
    """Networks without a price, by the reason."""
