"""Networks as ONNX inference graphs with random weights, built from their papers; and small random graphs.

Widths can be divided for fast tests. Every tensor is float32, of known sizes; images are N C H W.
"""

from .bert import bert_encoder
from .building import Options
from .convolutional import googlenet, squeezenet
from .drawing import RandomOptions
from .nasnet import nasnet_a_cell, nasnet_a_cifar, nasnet_a_mobile
from .random_graphs import random_graph, random_inputs
from .residual import resnet50, resnext50

__all__ = [
    "Options",
    "RandomOptions",
    "bert_encoder",
    "googlenet",
    "nasnet_a_cell",
    "nasnet_a_cifar",
    "nasnet_a_mobile",
    "random_graph",
    "random_inputs",
    "resnet50",
    "resnext50",
    "squeezenet",
]
