"""Makes the shipped substitutions: generated, proven, and none of them another one, or a few smaller ones in turn."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from .equation import Equation, canonical
from .generator import CONVOLUTIONS, STANDARD, Alphabet, Deriver, generated, renamed
from .match import contains
from .terms import inputs_of
from .verifier import Prover, lifted

# what is enumerated: alphabets, each with its number of operators
SHIPPED: tuple[tuple[Alphabet, int], ...] = ((STANDARD, 3), (CONVOLUTIONS, 4))


@dataclass(frozen=True)
class Proven:
    """An equation, and the properties that prove it."""

    equation: Equation
    by: tuple[str, ...]


@dataclass
class Produced:
    """Proven equations, and how many there were at each stage."""

    proven: list[Proven] = field(default_factory=list)
    unproven: list[Equation] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def produced(parts: Sequence[tuple[Alphabet, int]] = SHIPPED, tell: Callable[[str], None] = lambda _: None) -> Produced:
    """Return the substitutions between graphs of few operators. Needs z3."""
    counts, every = Counter[str](), list[Equation]()
    for alphabet, operators in parts:
        made = generated(alphabet, operators)
        tell(f"{operators} operators: {made.counts}")
        counts.update(made.counts)
        every += made.equations
    result = _proven(renamed(every), tell)
    result.counts = dict(counts) | result.counts
    return result


def _said_by(own: Proven, every: Sequence[Proven]) -> bool:
    """Return whether a wider equation says what one does: it may have been met later."""
    return any(other is not own and contains(other.equation, own.equation) for other in every)


def _proven(equations: Iterable[Equation], tell: Callable[[str], None]) -> Produced:
    """Prove equations, the smallest first: what follows from those before is left out."""
    result, deriver, prover, counts = Produced(), Deriver(), Prover(), Counter[str]()
    ordered = sorted(equations, key=lambda own: (sum(own.operators), -len(inputs_of((*own.left, *own.right)))))
    for number, own in enumerate(ordered):
        if number % 100 == 0:
            tell(f"{number} of {len(ordered)} equations, {len(result.proven)} proven")
        if any(contains(wider.equation, own) for wider in result.proven):
            counts["of others"] += 1
        elif deriver.derives(own):
            counts["of smaller ones in turn"] += 1
        elif (wider := lifted(own, prover)) is None:
            result.unproven.append(own)
        else:
            made = canonical(wider[0])
            result.proven.append(Proven(made, wider[1]))
            deriver.add(made)
    result.proven = [own for own in result.proven if not _said_by(own, result.proven)]
    result.counts = {
        "with each other": len(ordered),
        **counts,
        "not proven": len(result.unproven),
        "proven": len(result.proven),
    }
    return result
