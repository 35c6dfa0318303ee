"""The closed form of groups against the executor."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from ruby_map.mapper.fusion import HeldWords, KeptTensor, boxes, layer_passes, statistics_words, step_layers
from ruby_map.mapper.fusion.executor import NoBoxError, drawn_inputs, execute, whole

from ..conftest import DEEP
from .groups import groups


def refused(group):
    """Whether no group is like this; the executor says the same of rows that are cut.

    It executes some groups in which a stage finds words in some of its steps and not in others.
    """
    try:
        boxes(group)
    except ValueError as error:
        known = "goes back", "several ranks", "stands inside", "no step needs", "no stage reads"
        if not any(reason in str(error) for reason in known):
            with pytest.raises(NoBoxError):
                execute(group, drawn_inputs(group))
        return True
    return False


@settings(max_examples=5_000 if DEEP else 150)
@given(groups())
def test_steps_held_words_and_traffic_equal_the_executor(group):
    """What each stage computes in each step, what stands in the keeper meanwhile, and what moves for kept tensors."""
    if refused(group):
        return
    found = execute(group, drawn_inputs(group))
    computed, between = boxes(group)
    layers = Counter()
    for stage, box in enumerate(computed):
        layers += step_layers(group, stage, box)
    assert layers == found.layers
    for producer, needed in between.items():
        held = HeldWords.of(group, needed)
        for stage in range(len(group.stages)):
            assert held.most(stage) == found.between[producer, stage], (producer, stage)
    for key in group.depths:
        kept = KeptTensor.of(group, *key, computed[key[0]])
        assert (kept.most, kept.moved, kept.distinct) == (found.most[key], found.moved[key], found.distinct[key]), key


@settings(max_examples=5_000 if DEEP else 150)
@given(groups())
def test_values_are_those_of_the_stages_as_wholes(group):
    """Computed from words that are there alone: none that is needed is missing, none is added up twice."""
    if refused(group):
        return
    inputs = drawn_inputs(group)
    np.testing.assert_array_equal(execute(group, inputs).output, whole(group, inputs))


@settings(max_examples=5_000 if DEEP else 400)
@given(groups())
def test_passes_of_operators_equal_the_executor(group):
    """Words that a softmax passes over, rows that stream and words that are rescaled; and the statistics that stay."""
    if refused(group):
        return
    found = execute(group, drawn_inputs(group))
    last, made, rows, rescaled = len(group.stages) - 1, Counter(), Counter(), 0
    for layer, number in found.layers.items():
        sizes = dict(zip(group.stages[layer.stage].dims, layer.sizes, strict=True))
        for own in layer_passes(group, 1, layer):
            output = own.tensor == group.stages[layer.stage].output
            if output and layer.stage < last:
                made[layer.stage] += number * own.words(sizes)
            elif output:
                rescaled += number * own.words(sizes)
            else:
                assert (own.reads, own.writes) == (2 * layer.accumulates, 2)
                rows[layer.accumulates] += number * own.words(sizes)
    assert (+made, +rows, rescaled) == (+found.passed, +found.rows, found.rescaled)
    assert sum(words for _, words in statistics_words(group, boxes(group)[0][last])) == 2 * found.most_rows
