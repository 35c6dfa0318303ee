"""Block-scaled formats: dims are divided in blocks, scales are a tensor; faults."""

import numpy as np
import pytest
from ruby_map.mapper.codegen.data_types import DATA_TYPES
from ruby_map.mapper.codegen.reference import expected, operands
from ruby_map.workloads import InputError, load_workload, shaped
from ruby_map.workloads.block_scales import FORMATS, BlockScaled, block_scaled

MATMUL = "shape: matmul\nsizes: {M: 8, N: 2, K: 64}\n"
CONV = "shape: conv2d\nsizes: {M: 8, C: 64, P: 4, Q: 4, R: 3, S: 3}\n"
FREE = "dims: {A: 32, B: 4}\ntensors:\n  X: {projection: [A + B]}\n  W: {projection: [A, B]}\n"
OUT = "  Y: {projection: [A], output: true}\n"


def read(tmp_path, text):
    path = tmp_path / "layer.yaml"
    path.write_text(text)
    return load_workload(path)


def tensors(layer):
    return {tensor.name: (tensor.projection, tensor.word_bits, tensor.scale_of) for tensor in layer.tensors}


@pytest.mark.parametrize("name", FORMATS)
def test_a_matrix_product(tmp_path, name):
    layer = read(tmp_path, MATMUL + f"block_scaled: {{Weights: {{format: {name}}}}}")
    assert dict(zip(layer.dims, layer.sizes, strict=True)) == {"M": 8, "N": 2, "K_blocks": 2, "K": 32}
    bits = {"mxfp4": 4, "mxfp6": 6, "mxfp8": 8, "mxint8": 8}[name]
    assert tensors(layer) == {
        "Weights": ("[M, K_blocks, K]", bits, ""),
        "WeightsScales": ("[M, K_blocks]", 8, "Weights"),
        "Inputs": ("[N, K_blocks, K]", None, ""),
        "Outputs": ("[N, M]", None, ""),
    }
    assert layer.macs == 8 * 2 * 64
    assert [own.name for own in layer.factors] == ["Weights", "Inputs"]
    assert layer.block_dims == {"K"}


def test_a_convolution_has_blocks_of_channels_and_both_inputs_may_have_scales(tmp_path):
    layer = read(tmp_path, CONV + "block_scaled: {Weights: {format: mxfp4}, Inputs: {format: mxfp8, along: C}}")
    got = tensors(layer)
    assert got["WeightsScales"] == ("[M, C_blocks, R, S]", 8, "Weights")
    assert got["Inputs"] == ("[N, C_blocks, C, P + R, Q + S]", 8, "")
    assert got["InputsScales"] == ("[N, C_blocks, P + R, Q + S]", 8, "Inputs")


def test_a_dim_of_the_output_and_one_of_a_window(tmp_path):
    layer = read(tmp_path, FREE + OUT + "block_scaled: {W: {format: mxfp8, along: A}}")
    got = tensors(layer)
    assert got["W"] == ("[A_blocks, A, B]", 8, "")
    assert got["WScales"] == ("[A_blocks, B]", 8, "W")
    assert got["X"] == ("[A_blocks*32 + A + B]", None, "")  # the same words as before
    assert got["Y"] == ("[A_blocks, A]", None, "")


def test_each_element_is_multiplied_by_the_scale_of_its_block():
    """Against a matrix product in which the element at k has the scale number k // 32."""
    plain = shaped("matmul", M=3, N=2, K=96)
    layer, _ = block_scaled(plain, {"Weights": BlockScaled(format="mxfp4")})
    arrays = operands(layer, DATA_TYPES["float64"])
    at = np.arange(96)
    weights, inputs = arrays["Weights"].reshape(3, 96), arrays["Inputs"].reshape(2, 96)
    scaled = weights * arrays["WeightsScales"][:, at // 32]
    np.testing.assert_array_equal(expected(layer, arrays), inputs @ scaled.T)


LAYERS = """\
    inputs: {x: [2, 64], keys: [8, 64]}
    layers:
      - {name: first, shape: matmul, sizes: {M: 64, N: 2, K: 64}, from: {Inputs: x}}
      - {name: scores, shape: matmul, sizes: {M: 8, N: 2, K: 64}, from: {Inputs: first, Weights: keys}}
      - {name: wide, shape: matmul, sizes: {M: 8, N: 2, K: 64}, word_bits: {Weights: 16}}
      - {name: own, shape: matmul, sizes: {M: 8, N: 2, K: 64}, block_scaled: {Inputs: {format: mxfp8}}}
      - {name: none, shape: matmul, sizes: {M: 8, N: 2, K: 65}, block_scaled: {}}
      - {layer: layer.yaml, block_scaled: {Inputs: {format: mxfp6}}}
      - {layer: other.yaml}
"""


def test_a_network_says_it_of_all_inputs_that_nobody_in_it_makes(tmp_path):
    for name in ("layer", "other"):
        (tmp_path / f"{name}.yaml").write_text(MATMUL)
    path = tmp_path / "net.yaml"
    path.write_text("block_scaled: {Weights: {format: mxfp4}}\n" + LAYERS.replace("\n    ", "\n").lstrip())
    network = load_workload(path)
    scales = {layer.name: [own.name for own in layer.tensors if own.scale_of] for layer, _ in network.layers}
    assert scales == {
        "first": ["WeightsScales"],
        "scores": [],
        "wide": [],
        "own": ["InputsScales"],
        "none": [],
        "layer": ["InputsScales"],
        "other": ["WeightsScales"],
    }
    assert [(edge.consumer, edge.whole) for edge in network.edges if edge.consumer == "scores"][0] == ("scores", False)


HANDED = """\
inputs: {values: [8, 8, 4]}
block_scaled: {Weights: {format: mxfp4}}
layers:
  - {name: context, shape: attention_context, sizes: {B: 8, H: 1, N: 1, M: 8, K: 4}, from: {Weights: values}}
  - {name: output, shape: matmul, sizes: {M: 4, N: 1, K: 64}, from: {Inputs: context}}
  - {name: conv, shape: conv2d, sizes: {M: 32, C: 64, P: 3, Q: 3, R: 3, S: 3}}
  - {name: last, shape: conv2d, sizes: {M: 2, C: 32, P: 3, Q: 3, R: 3, S: 3}, from: {Inputs: conv}, pad: {P: 1, Q: 1}}
"""


def test_layers_are_handed_tensors_whose_dims_they_divide(tmp_path):
    """As without scales: heads and their words joined, zeros around windows; a wrong size is told by the old dim."""
    network = read(tmp_path, HANDED)
    edges = {edge.consumer: edge for edge in network.edges}
    assert edges["output"].whole
    assert edges["last"].whole
    with pytest.raises(InputError, match=r"output reads Inputs\[N=1 x K=96\], and context makes"):
        read(tmp_path, HANDED.replace("K: 64", "K: 96"))


BAD = {
    MATMUL + "block_scaled: {Weights: {format: mxfp5}, Weight: {format: mxfp4}}": [
        "3: block_scaled.Weights.format: must be one of mxfp4, mxfp6, mxfp8, mxint8; "
        "got 'mxfp5'; did you mean \"mxfp8\"?",
        '3: block_scaled.Weight: unknown tensor "Weight"; layer reads Weights, Inputs',
    ],
    MATMUL + "block_scaled: {Outputs: {format: mxfp4}}": [
        "3: block_scaled.Outputs: Outputs is the output: only what is read has scales, "
        "as a layer makes a single tensor",
    ],
    MATMUL + "word_bits: {Weights: 8}\nblock_scaled: {Weights: {format: mxfp4, along: N}}": [
        "4: block_scaled.Weights: Weights has word_bits of its own already; the format says how wide its elements are",
        "4: block_scaled.Weights.along: N is no dim of the tensor; blocks run along a dim "
        "of a rank of its own: Weights has M, K",
    ],
    MATMUL.replace("64", "65") + "block_scaled: {Weights: {format: mxfp4}}": [
        "3: block_scaled.Weights: K must be a multiple of 32, got 65: pad it with zeros to 96",
    ],
    FREE + OUT + "block_scaled: {X: {format: mxfp4, along: A}}": [
        "6: block_scaled.X.along: A is of a window; blocks run along a dim of a rank of its own: X has windows alone",
    ],
    "dims: {A: 32, A_blocks: 2}\ntensors:\n  W: {projection: [A]}\n  WScales: {projection: [A]}\n"
    "  Y: {projection: [A], output: true}\nblock_scaled: {W: {format: mxfp4}}": [
        "6: block_scaled.W: WScales, the name of the scales, is that of another tensor",
        "6: block_scaled.W: along is expected, a dim whose blocks share a scale: no dim is summed over; W has A",
    ],
    "dims: {A: 32, A_blocks: 2}\ntensors:\n  W: {projection: [A]}\n  Y: {projection: [A_blocks], output: true}\n"
    "block_scaled: {W: {format: mxfp4}}": [
        "5: block_scaled.W: A_blocks, the name for the number of blocks, is that of another dim",
    ],
    "name: t\nshape: transposed_conv2d\nstride: 2\nsizes: {M: 8, C: 3, P: 4, Q: 4, R: 4, S: 2}\n"
    "block_scaled: {Weights: {format: mxfp8, along: M}}": [
        "5: block_scaled.Weights.along: M has the channels of all phases of a transposed convolution: "
        "no block runs along it",
    ],
    "block_scaled: {Weight: {format: mxfp4}}\nlayers:\n  - {shape: rank1, sizes: {D: 32}}": [
        "1: block_scaled.Weight: no layer reads a tensor of this name that nobody in the network makes and that has "
        "no width of its own",
    ],
    "block_scaled: {Inputs: {format: mxfp4, along: D}}\nlayers:\n  - {name: one, shape: rank1, sizes: {D: 31}}": [
        "3: layers[0]: block_scaled of the network: D must be a multiple of 32, got 31: pad it with zeros to 32; "
        "or write block_scaled: {} at one, which leaves it without scales",
    ],
}


@pytest.mark.parametrize("text", BAD)
def test_faults_are_told_all_at_once(tmp_path, text):
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert [str(fault).partition("layer.yaml:")[2] for fault in error.value.faults] == BAD[text]
