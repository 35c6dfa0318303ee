"""Which network to take mappings from: the choices of the source's tables, and classes of layers."""

import pytest
from ruby_map.mapper.exploration.source_choice import layer_class, source_scores
from ruby_map.workloads import load_workload

# Gibson's thesis, table 6.2: kernels of each class, and their share of the untuned time in percent
MODELS = {
    "ResNet50": "A4,17 B1,0 C1,0 D1,6 E16,67 G4,10",
    "AlexNet": "B3,0 D1,6 E5,14 H2,80 I1,0",
    "VGG-16": "B5,0 D1,1 E9,59 H2,40 I1,0",
    "MobileNetV2": "A7,15 C1,0 D1,24 J8,32 K5,15 L10,14",
    "EfficientNetB0": "A14,9 C11,4 D1,12 K5,9 M8,39 N12,27 O7,0",
    "EfficientNetB4": "A16,11 C13,3 D1,10 K7,14 M9,39 N14,23 O9,0",
    "GoogLeNet": "B10,1 C1,0 D1,4 E49,95",
    "MnasNet1.0": "A7,17 D1,25 E9,31 K5,15 P12,13",
    "BERT": "D1,0 Q3,98 R2,2 S1,0 T1,0 U1,0 V1,0",
    "MobileBERT": "D1,0 Q4,97 R2,3 S1,0",
}
CHOICES = {  # table 6.3, the first three
    "ResNet50": ["GoogLeNet", "MnasNet1.0", "VGG-16"],
    "AlexNet": ["VGG-16", "GoogLeNet", "ResNet50"],
    "VGG-16": ["GoogLeNet", "ResNet50", "MnasNet1.0"],
    "MobileNetV2": ["EfficientNetB4", "EfficientNetB0", "MnasNet1.0"],
    "EfficientNetB0": ["EfficientNetB4", "MobileNetV2", "MnasNet1.0"],
    "EfficientNetB4": ["EfficientNetB0", "MobileNetV2", "MnasNet1.0"],
    "GoogLeNet": ["ResNet50", "VGG-16", "MnasNet1.0"],
    "MnasNet1.0": ["GoogLeNet", "ResNet50", "VGG-16"],
    "BERT": ["MobileBERT"],
    "MobileBERT": ["BERT"],
}


def table(name):
    """Kernels and share of each class."""
    entries = (entry[0] + " " + entry[1:] for entry in MODELS[name].split())
    return {kind: tuple(map(int, rest.split(","))) for kind, rest in (entry.split() for entry in entries)}


@pytest.mark.parametrize("target", MODELS)
def test_the_choices_are_those_of_the_source(target):
    shares = {kind: percent / 100 for kind, (_, percent) in table(target).items()}
    sources = {
        name: [kind for kind, (number, _) in table(name).items() for _ in range(number)]
        for name in MODELS
        if name != target
    }
    scores = source_scores(shares, sources)
    assert list(scores)[: len(CHOICES[target])] == CHOICES[target]
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    if target == "BERT":
        assert scores["MobileBERT"] == pytest.approx(1.9214, abs=1e-4)


def test_layers_of_one_kind_are_in_a_class():
    """Sizes make no difference, strides and windows do."""
    network = {layer.name: layer for layer, _ in load_workload("resnet50").layers}
    kinds = {name: layer_class(layer) for name, layer in network.items()}
    assert kinds["conv2_x_3x3"] == kinds["conv4_x_3x3"] != kinds["conv1"]
    assert kinds["conv4_x_1x1a"] == kinds["conv2_x_1x1b"] != kinds["conv2_x_3x3"]
    depthwise = next(each for each, _ in load_workload("mobilenet_v2").layers if "depthwise" in each.name)
    assert layer_class(depthwise) not in kinds.values()
