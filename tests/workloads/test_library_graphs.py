"""The networks of the library as graphs: nothing but edges and operations came to the layers that they had."""

import hashlib
import re
from collections import Counter

import pytest
from ruby_map.workloads import InputError, Network, library_workloads, load_workload
from ruby_map.workloads.operators import Operation

# name: distinct layers, all layers, and a digest of them all with their counts, of the lists that came before graphs
LAYERS = {
    "alexnet": (8, 8, "d59511e59b40"),
    "bert_base_128": (5, 96, "96ea6aa8ece1"),
    "bert_base_256": (5, 96, "6b17f4e7f2cb"),
    "deepbench": (63, 63, "a904fac5e4e1"),
    "deepseek_v3_decode_4096": (16, 904, "30311ab5f97b"),
    "deepseek_v3_decode_4096_b64": (16, 904, "8cefac38128d"),
    "deepseek_v3_prefill_4096": (15, 843, "49265f42c9e4"),
    "dlrm_mlperf": (8, 9, "61ce59dbbaaf"),
    "efficientnet_b0": (47, 82, "b3116e0bce7d"),
    "gemma2_9b_decode_8192": (10, 379, "8d429d37f1b4"),
    "gnmt_32": (9, 682, "d8664ab04c46"),
    "gpt2_small_1024": (7, 73, "745d3e1b46a4"),
    "llama3_8b_decode_4096": (7, 289, "30a7415c53db"),
    "llama3_8b_decode_4096_b64": (7, 289, "79921f07a08a"),
    "llama3_8b_decode_4096_b8": (7, 289, "4af6ac356147"),
    "llama3_8b_prefill_2048": (7, 289, "0570908c6a35"),
    "llama3_8b_prefill_4096": (7, 289, "9f58d34f1bcc"),
    "mistral_7b_decode_16384": (7, 289, "73509a79d634"),
    "mixtral_8x7b_decode_4096": (8, 321, "bae768acd66c"),
    "mixtral_8x7b_decode_4096_b64": (8, 321, "81add4dfab32"),
    "mixtral_8x7b_prefill_4096": (8, 321, "91df256ff614"),
    "mobilebert_128": (6, 409, "b7c8d89120ca"),
    "mobilebert_256": (6, 409, "47ccb253011e"),
    "mobilenet_v2": (31, 53, "a09b923a75ad"),
    "mobilenet_v2_g1": (31, 53, "a6b169d14a46"),
    "mobilenet_v2_g16": (31, 53, "0c8a223c28d7"),
    "mobilenet_v2_g2": (31, 53, "9e2316f16637"),
    "mobilenet_v2_g4": (31, 53, "2e94afdf8b58"),
    "mobilenet_v2_g8": (31, 53, "38b32699ab66"),
    "mobilenet_v3_large": (46, 64, "b7f58ea88565"),
    "qwen3_30b_a3b_decode_4096": (9, 481, "d814001b3397"),
    "qwen3_30b_a3b_decode_4096_b64": (9, 481, "a0fe6e18de5c"),
    "qwen3_30b_a3b_prefill_4096": (9, 481, "4117aaa3840c"),
    "resnet18": (13, 22, "ae7786953fb8"),
    "resnet34": (12, 37, "18fe05c5f3d0"),
    "resnet34_g16": (19, 69, "3a79e62b0575"),
    "resnet34_g2": (19, 69, "b26125f44323"),
    "resnet34_g4": (19, 69, "fd0dda67c052"),
    "resnet34_g8": (19, 69, "5ddbd2dbb81b"),
    "resnet34_gn": (19, 69, "7a5509b83aa5"),
    "resnet3d_18": (12, 21, "4da77f1dc96f"),
    "resnet50": (24, 54, "669025787e55"),
    "resnext50_32x4d": (25, 54, "486f76fc4305"),
    "stable_diffusion_1_unet": (70, 346, "0a9974bbf398"),
    "unet_572": (23, 23, "4cbec9d72280"),
    "vgg16": (12, 16, "3658b1688510"),
    "vit_b16": (7, 98, "2eb2001e0090"),
    "wrn_40_2": (11, 41, "4f7ed7a1379f"),
    "wrn_40_2_g16": (16, 77, "ce78b0b87d2c"),
    "wrn_40_2_g2": (16, 77, "33cd1ce46e17"),
    "wrn_40_2_g4": (16, 77, "6d0fd87d1abb"),
    "wrn_40_2_g8": (16, 77, "a7a1f6b62577"),
    "wrn_40_2_gn": (16, 77, "5a8af33c7bb1"),
}
GRAPHS = [name for name in LAYERS if name != "deepbench"]  # which has kernels that hand each other nothing

# the operations of each network, of a block once; of a series those of its first name, as `series` gives it
OPERATIONS = {
    "alexnet": "local_response_norm 2, max_pool 3",
    "bert_base": "add 3, embedding 2, gelu 1, layer_norm 3, transpose 4",
    "deepseek_v3_decode_4096": "add 5, concat 2, embedding 1, expand 1, multiply 4, other 1, reduce 1, rms_norm 9, "
    "rotary 4, sigmoid 1, silu 3, slice 10, top_k 1, transpose 2",
    "deepseek_v3_decode_4096_b": "add 5, concat 2, embedding 1, multiply 4, other 2, reduce 1, rms_norm 9, rotary 4, "
    "sigmoid 1, silu 3, slice 10, top_k 1, transpose 12",
    "deepseek_v3_prefill_4096": "add 5, concat 4, embedding 1, expand 2, multiply 4, other 2, reduce 1, rms_norm 9, "
    "rotary 4, sigmoid 1, silu 3, slice 13, top_k 1, transpose 10",
    "dlrm_mlperf": "concat 2, embedding 1, slice 1",
    "efficientnet_b0": "add 9, global_pool 17, multiply 16",
    "gemma2_9b_decode_8192": "add 4, embedding 1, gelu 2, multiply 2, rms_norm 9, rotary 4, tanh 3",
    "gnmt_32": "add 14, concat 8, embedding 2, other 9, tanh 1, top_k 1, transpose 1",
    "gpt2_small_1024": "add 3, embedding 1, gelu 1, layer_norm 3, slice 3, transpose 4",
    "llama3_8b_decode_4096": "add 2, embedding 1, multiply 1, rms_norm 3, rotary 2, silu 1",
    "llama3_8b_decode_4096_b": "add 2, embedding 1, multiply 1, reshape 2, rms_norm 3, rotary 2, silu 1",
    "llama3_8b_prefill": "add 2, embedding 1, multiply 1, rms_norm 3, rotary 2, silu 1, slice 1, transpose 4",
    "mistral_7b_decode_16384": "add 2, embedding 1, multiply 1, rms_norm 3, rotary 2, silu 1",
    "mixtral_8x7b_decode_4096": "add 2, embedding 1, expand 1, multiply 2, reduce 1, rms_norm 3, rotary 2, silu 1, "
    "softmax 1, top_k 1",
    "mixtral_8x7b_decode_4096_b": "add 2, embedding 1, multiply 2, other 1, reduce 1, reshape 2, rms_norm 3, rotary 2, "
    "silu 1, softmax 1, top_k 1, transpose 2",
    "mixtral_8x7b_prefill_4096": "add 2, embedding 1, multiply 2, other 1, reduce 1, rms_norm 3, rotary 2, silu 1, "
    "slice 1, softmax 1, top_k 1, transpose 6",
    "mobilebert": "add 7, concat 1, embedding 2, relu 4, scale 9, transpose 4",
    "mobilenet_v2": "add 10, global_pool 1",
    "mobilenet_v3_large": "add 10, global_pool 9, multiply 8",
    "qwen3_30b_a3b_decode_4096": "add 2, embedding 1, expand 1, multiply 2, reduce 1, rms_norm 5, rotary 2, silu 1, "
    "softmax 1, top_k 1",
    "qwen3_30b_a3b_decode_4096_b": "add 2, embedding 1, multiply 2, other 1, reduce 1, reshape 2, rms_norm 5, "
    "rotary 2, silu 1, softmax 1, top_k 1, transpose 2",
    "qwen3_30b_a3b_prefill_4096": "add 2, embedding 1, multiply 2, other 1, reduce 1, rms_norm 5, rotary 2, silu 1, "
    "slice 1, softmax 1, top_k 1, transpose 6",
    "resnet18": "add 8, global_pool 1, max_pool 1",
    "resnet34": "add 16, global_pool 1, max_pool 1",
    "resnet3d_18": "add 8, global_pool 1",
    "resnet50": "add 16, global_pool 1, max_pool 1",
    "resnext50_32x4d": "add 16, global_pool 1, max_pool 1",
    "stable_diffusion_1_unet": "add 108, concat 12, gelu 16, group_norm 61, layer_norm 48, multiply 16, resize 3, "
    "slice 32, transpose 160",
    "unet_572": "concat 4, max_pool 4, reshape 4, slice 4",
    "vgg16": "max_pool 5",
    "vit_b16": "add 3, concat 1, gelu 1, layer_norm 3, slice 1, transpose 5",
    "wrn_40_2": "add 18, global_pool 1",
}

# what nobody reads: the end of the network, where it is no fc or the like; of a block, and of what stands before it
ENDS = {
    "bert_base": "embedding_norm ffn_norm",
    "deepseek_v3_decode_4096": "embedding latent_norm key_rotary ffn_add dense_latent_norm dense_key_rotary "
    "dense_ffn_add lm_head",
    "deepseek_v3_decode_4096_b": "embedding latent_norm key_rotary ffn_add dense_latent_norm dense_key_rotary "
    "dense_ffn_add lm_head",
    "deepseek_v3_prefill_4096": "embedding ffn_add dense_ffn_add lm_head",
    "dlrm_mlperf": "top5",
    "gemma2_9b_decode_8192": "embedding key_rotary value ffn_add global_key_rotary global_value global_ffn_add "
    "lm_head_cap",
    "gnmt_32": "encoder_inputs encoder_backward_inputs encoder2_inputs encoder3_inputs encoder4_inputs encoder5_inputs "
    "encoder6_inputs encoder7_inputs encoder8_inputs encoder_lstm attention_keys next_word",
    "gpt2_small_1024": "embedding_add ffn_add lm_head",
    "llama3_8b_decode_4096": "embedding key_rotary value ffn_add lm_head",  # the rows of the cache among them
    "llama3_8b_decode_4096_b": "embedding key_rotary value ffn_add lm_head",
    "llama3_8b_prefill": "embedding ffn_add lm_head",
    "mistral_7b_decode_16384": "embedding key_rotary value ffn_add lm_head",
    "mixtral_8x7b_decode_4096": "embedding key_rotary value ffn_add lm_head",
    "mixtral_8x7b_decode_4096_b": "embedding key_rotary value ffn_add lm_head",
    "mixtral_8x7b_prefill_4096": "embedding ffn_add lm_head",
    "mobilebert": "embedding_norm block_norm",
    "mobilenet_v3_large": "fc2",
    "qwen3_30b_a3b_decode_4096": "embedding key_rotary value ffn_add lm_head",
    "qwen3_30b_a3b_decode_4096_b": "embedding key_rotary value ffn_add lm_head",
    "qwen3_30b_a3b_prefill_4096": "embedding ffn_add lm_head",
    "stable_diffusion_1_unet": "conv_out",
    "unet_572": "classes",
    "vit_b16": "embedding_add mlp_add head",
}


WEIGHED = "experts_|(dense_)?(query_latent|value_up)"  # batched products of data with weights


def network(name: str) -> Network:
    found = load_workload(name)
    assert isinstance(found, Network)
    return found


def series(name: str) -> str:
    """The network of which this one is an edition: of other groups or another length, or of another batch above 1.

    >>> series("wrn_40_2_g16"), series("bert_base_256"), series("llama3_8b_decode_4096_b64")
    ('wrn_40_2', 'bert_base', 'llama3_8b_decode_4096_b')
    """
    own = re.sub(r"_g(\d+|n)$", "", re.sub(r"(_\d+_b)\d+$", r"\1", name))
    return re.sub(r"_\d+$", "", own) if own.startswith(("bert", "mobilebert", "llama3_8b_prefill")) else own


def layers(of: Network) -> Counter[str]:
    """What the layers of a network compute, with how often each is there."""
    counts: Counter[str] = Counter()
    for layer, count in of.layers:
        sizes = dict(zip(layer.dims, layer.sizes, strict=True))
        tensors = (f"{own.name}{own.projection}{own.word_bits or ''}{'=' * own.output}" for own in layer.tensors)
        counts[f"{sizes} {' '.join(tensors)}"] += count
    return counts


def test_every_network_is_known() -> None:
    """With operations and ends."""
    assert list(LAYERS) == [name for name, inside in library_workloads().items() if inside]
    assert OPERATIONS.keys() == {series(name) for name in GRAPHS}
    assert ENDS.keys() <= OPERATIONS.keys()


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_those_of_the_lists(name: str) -> None:
    """Each as often, and listed once, by the first of those that are equal."""
    own = layers(network(name))
    text = "\n".join(sorted(f"{count} {layer}" for layer, count in own.items()))
    assert (len(own), own.total(), hashlib.sha256(text.encode()).hexdigest()[:12]) == LAYERS[name]
    assert len(library_workloads()[name]) == len(own)


@pytest.mark.parametrize("name", GRAPHS)
def test_all_data_that_layers_read_come_from_somewhere(name: str) -> None:
    """From another layer, an operation or an input of the network; weights from nobody, but keys and values do.

    Batched products have weights where these are of experts or of heads.
    """
    own = network(name)
    for layer, _ in own.layers:
        of_data = layer.shape.startswith(("attention", "batched")) and not re.match(WEIGHED, layer.name)
        read = {"Inputs", "Weights"} if of_data else {"Inputs"}
        assert {edge.tensor for edge in own.inputs_of(layer.name)} == read, layer.name
    assert all(own.readers[tensor] for tensor, _ in own.inputs)


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_made_is_read(name: str) -> None:
    """Of all but the ends."""
    ends = [maker for maker, readers in network(name).readers.items() if not readers]
    assert ends == ENDS.get(series(name), "fc8" if name in ("alexnet", "vgg16") else "fc").split()


@pytest.mark.parametrize("name", GRAPHS)
def test_operations_are_those_of_the_architecture(name: str) -> None:
    """As often as published: an addition for each residual, a pooling for each squeeze, and so on."""
    counts = Counter(operation.op for operation in network(name).operations)
    assert ", ".join(f"{op} {count}" for op, count in sorted(counts.items())) == OPERATIONS[series(name)]


def test_additions_read_what_goes_around_a_block() -> None:
    """In MobileNetV2 from the second block of a width on; in ResNet-50 through a convolution where a stage begins."""
    read = {own.name: own.inputs for own in network("mobilenet_v2").operations}
    assert read["block3_add"] == ("block3_project", "block2_project")
    assert read["block6_add"] == ("block6_project", "block5_add")
    assert [int(re.sub(r"\D", "", own)) for own in read if own != "pool"] == [3, 5, 6, 8, 9, 10, 12, 13, 15, 16]
    read = {own.name: own.inputs for own in network("resnet50").operations}
    assert read["conv2_x_add"] == ("conv2_x_1x1b", "conv2_x_shortcut")
    assert read["conv5_x_add_3"] == ("conv5_x_1x1b_3", "conv5_x_add_2")
    assert network("resnet50").sources("conv2_x_shortcut") == ("max_pool",)


def test_maps_of_the_contracting_path_stand_beside_those_of_the_other() -> None:
    """Cropped, in the original U-Net; in that of Stable Diffusion the last first, those of downsampling among them."""
    unet = network("unet_572")
    for level in (1, 2, 3, 4):
        concat = unet.by_name[f"up{level}_concat"]
        assert isinstance(concat, Operation)
        assert concat.inputs == (f"up{level}_crop", f"up{level}_map")
        assert unet.sources(f"up{level}_crop") == (f"down{level}_b",)
    unet = network("stable_diffusion_1_unet")
    concats = [own.inputs[1] for own in unet.operations if own.op == "concat"]
    made = ["down4_2_add", "down4_1_add", "down3_downsample", "down3_2_attention_add", "attention16_add"]
    made += ["down2_downsample", "down2_2_attention_add", "attention32_add", "down1_downsample"]
    assert concats == [*made, "down1_2_attention_add", "attention64_add", "conv_in"]


TRANSFORMERS = r"bert|mobilebert|gpt2|vit|llama|mistral|gemma|mixtral|qwen|deepseek|stable"


@pytest.mark.parametrize("name", [name for name in GRAPHS if re.match(TRANSFORMERS, name)])
def test_attention_reads_scores_through_a_softmax(name: str) -> None:
    """Under a causal mask where a model reads from left to right more than one token at a time."""
    own = network(name)
    masked = name == "gpt2_small_1024" or "prefill" in name
    contexts = [edge for edge in own.handed if edge.through not in ("", "rms_norm")]  # as between latent queries
    assert {edge.through for edge in contexts} == {"softmax"}
    for edge in contexts:
        assert edge.producer == edge.consumer.replace("context", "scores")
        assert (edge.causal is not None) is masked
        assert not edge.whole
    kinds = {"stable": 32, "gemma2": 2, "deepseek": 2}  # of blocks that are written down
    assert len(contexts) == kinds.get(name.split("_")[0], 1)


def test_depthwise_convolutions_read_tiles_of_the_layer_before() -> None:
    """Ranks run along each other, so that they may be fused, with zeros around; the projection reads them in turn."""
    edges = {edge.consumer: edge for edge in network("mobilenet_v2").handed}
    assert edges["block2_depthwise"].ranks == (("N", 0), ("M", 0), (None, 0), ("P", 1), ("Q", 1))
    assert edges["block6_project"].ranks == (("N", 0), ("G", 0), ("P", 0), ("Q", 0))


def test_equal_layers_have_names_of_their_own() -> None:
    """By which they are loaded, and meant; the list has the first. An operation is no layer."""
    inside = library_workloads()["mobilenet_v2"]
    assert "block5_expand" in inside
    assert not {"block6_expand", "block5_add", "pool"}.intersection(inside)
    first, other = (load_workload(f"mobilenet_v2/block{block}_expand") for block in (5, 6))
    assert first.macs == other.macs
    assert other.name == "block6_expand"
    with pytest.raises(InputError, match='did you mean "mobilenet_v2/block17_expand"'):
        load_workload("block17_expand")
    with pytest.raises(InputError, match='no layer "block5_add" in mobilenet_v2'):
        load_workload("mobilenet_v2/block5_add")
