"""The closed form of groups against the executor."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from ruby_map.mapper.fusion import HeldWords, KeptTensor, boxes, execute, step_layers, whole

from ..conftest import DEEP
from .groups import drawn_inputs, groups


@settings(max_examples=5_000 if DEEP else 100)
@given(groups())
def test_steps_held_words_and_traffic_equal_the_executor(group):
    """What each stage computes in each step, what stands in the keeper meanwhile, and what moves for kept tensors."""
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


@settings(max_examples=5_000 if DEEP else 60)
@given(groups())
def test_values_are_those_of_the_stages_as_wholes(group):
    """Computed from words that are there alone: none that is needed is missing, none is added up twice."""
    inputs = drawn_inputs(group)
    np.testing.assert_array_equal(execute(group, inputs).output, whole(group, inputs))
