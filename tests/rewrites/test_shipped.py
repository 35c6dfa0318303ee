"""The shipped substitutions: proven, true, none of them another one, and those that a new generation makes."""

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import pytest
from ruby_map.mapper.rewrites.apply import Rule
from ruby_map.mapper.rewrites.equation import Equation, canonical, holds
from ruby_map.mapper.rewrites.generator import CONVOLUTIONS, STANDARD, Deriver, generated
from ruby_map.mapper.rewrites.match import Match, contains, filled
from ruby_map.mapper.rewrites.production import Produced, Proven, produced
from ruby_map.mapper.rewrites.shipped import FILE, rules, shipped, written
from ruby_map.mapper.rewrites.terms import inputs_of, unknowns
from ruby_map.mapper.rewrites.text import term_of
from ruby_map.mapper.rewrites.types import sizes
from ruby_map.mapper.rewrites.verifier import PROPERTIES, VALUES, Prover
from ruby_map.mapper.rewrites.verifier.properties import LEMMAS

from ..conftest import DEEP

COUNTS, EQUATIONS = shipped()
SOME = EQUATIONS if DEEP else EQUATIONS[::5]


def _values(name: str, own: Equation) -> list[object]:
    """Values of an unknown parameter that an equation may be tried with."""
    name = name.rstrip("_")
    if name == "axis":
        return [0, 1]
    if name == "size":
        return list(range(1, 9))
    if name == "sizes":
        return [sizes(made) for made in own.inputs.values() if made] or [(2, 4)]
    return [(3, 3)] if name == "kernel" else list(VALUES[name])


def _instances(own: Equation) -> Iterator[Equation]:
    """An equation with all values of its unknown parameters, where both sides can be computed."""
    names = list(dict.fromkeys(value.name for value in unknowns((*own.left, *own.right))))
    for values in product(*(_values(name, own) for name in names)):
        match = Match({}, dict(zip(names, values, strict=True)))
        yield Equation(filled(own.left, match), filled(own.right, match), own.inputs)


def _with_sizes(own: Equation, become: Mapping[int, int]) -> Equation:
    """An equation of tensors with other sizes, but for those of kernels."""
    inputs = {
        name: tuple(become.get(size, size) if at < 2 else size for at, size in enumerate(sizes(made)))
        for name, made in own.inputs.items()
    }
    return Equation(own.left, own.right, inputs)


@pytest.mark.parametrize("named", SOME, ids=lambda named: named[0])
def test_equations_hold_whatever_their_unknown_parameters_are(named: tuple[str, Proven]) -> None:
    from ruby_map.mapper.rewrites.evaluate import types_of

    own, rng, tried = named[1].equation, np.random.default_rng(11), 0
    for instance in _instances(own):
        for become in ({}, {2: 3}, {2: 1, 4: 6}):
            other = _with_sizes(instance, become)
            types = types_of((*other.left, *other.right), other.inputs)
            pairs = list(zip(other.left, other.right, strict=True))
            if None in types.values() or any(types[one] != types[two] for one, two in pairs):
                continue  # there the rule is not used
            assert holds(other, rng), (instance.texts(), other.inputs)
            tried += 1
    assert tried


@pytest.mark.parametrize("named", SOME if DEEP else EQUATIONS[::20], ids=lambda named: named[0])
def test_equations_follow_from_the_properties_that_they_name(named: tuple[str, Proven]) -> None:
    own = named[1]
    known = {one.name: one for one in (*PROPERTIES, *LEMMAS)}
    assert Prover([known[name] for name in own.by if name in known]).proof(own.equation) is not None
    assert all(name in known or name.endswith(" turned") for name in own.by)


def test_names_are_of_one_equation_or_rule_each() -> None:
    assert len({name for name, _ in EQUATIONS}) == len(EQUATIONS)
    every = rules()
    assert len({rule.name for rule in every}) == len(every)
    assert all(rule.usable for rule in every)


def test_no_equation_is_another_one() -> None:
    rng = np.random.default_rng(12)
    every = [own.equation for _, own in EQUATIONS]
    for at in rng.permutation(len(every))[: len(every) if DEEP else 60]:
        own = every[at]
        assert canonical(own).sides == own.sides
        assert not any(contains(other, own) for place, other in enumerate(every) if place != at), own.texts()


def test_equations_of_two_operators_are_those_that_are_generated_anew() -> None:
    """All that small graphs say is shipped, or is said by shipped equations in turn, or was not proven."""
    deriver, prover = Deriver(), Prover()
    every = [own.equation for _, own in EQUATIONS]
    for own in every:
        deriver.add(own)
    for alphabet in (STANDARD, CONVOLUTIONS):
        for own in generated(alphabet, 2).equations:
            known = any(contains(other, own) for other in every) or deriver.derives(own)
            assert known or prover.proof(own) is None, own.texts()


@pytest.mark.deep
def test_the_shipped_file_is_the_one_that_is_made() -> None:
    assert written(produced()) == FILE.read_text()


def test_a_file_that_is_written_is_read_again() -> None:
    made = Produced([own for _, own in EQUATIONS], [], dict(COUNTS))
    assert written(made) == FILE.read_text()


def test_wrong_rules_are_not_shipped() -> None:
    """Rules that hold for some words, or some sizes, alone."""
    wrong = [
        ("smul(relu(x1), x2)", "relu(smul(x1, x2))"),
        ("conv(x1, x2, stride=stride, pad=pad, act=act)", "gconv(x1, x2, stride=stride, pad=pad, act='none')"),
    ]
    for left, right in wrong:
        sides = (term_of(left),), (term_of(right),)
        assert not any(contains(own.equation, Equation(*sides, {})) for _, own in EQUATIONS)


def test_rules_have_all_inputs_of_their_targets() -> None:
    unusable = Rule("", (term_of("split0(concat(x, y, axis=0), axis=0)"),), (term_of("x"),))
    assert unusable.usable
    assert not Rule("", unusable.target, unusable.source).usable
    for rule in rules():
        names = {own.name for own in inputs_of(rule.source)}
        assert names.issuperset(own.name for own in inputs_of(rule.target))
