"""The networks of the library have the totals that are published for them."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from ruby_map.workloads import Network, library_workloads, load_workload

DOCS = Path(__file__).parents[2] / "docs" / "workloads.md"


def network(name: str) -> Network:
    found = load_workload(name)
    assert isinstance(found, Network)
    return found


def weights(name: str) -> int:
    """The words of all weights, which products of data with data (attention, interactions) have none of."""
    own = network(name)
    return sum(
        count * layer.tensor_words(layer.tensors[0])
        for layer, count in own.layers
        if "Weights" not in {edge.tensor for edge in own.inputs_of(layer.name)}
    )


# name: distinct layers; GMACs as torchvision publishes them ("_ops" in the meta of its weights), to the digits given
TORCHVISION = {
    "efficientnet_b0": (47, "0.386"),
    "mobilenet_v3_large": (46, "0.217"),
    "resnet34": (12, "3.664"),
    "resnet3d_18": (12, "40.697"),  # r3d_18
    "resnext50_32x4d": (25, "4.230"),
    "vit_b16": (7, "17.564"),
}


@pytest.mark.parametrize("name", TORCHVISION)
def test_networks_have_the_macs_that_torchvision_gives(name: str) -> None:
    """Sizes and counts together, to the last digit."""
    layers, gmacs = TORCHVISION[name]
    assert len(library_workloads()[name]) == layers
    assert f"{network(name).macs / 1e9:.3f}" == gmacs


# name: MACs of the paper, the tolerance, and where the figure is
PAPERS = {
    "efficientnet_b0": (0.39e9, 0.015, "Tan and Le 2019, Table 2"),
    "mobilenet_v3_large": (219e6, 0.015, "Howard et al. 2019, Table 3; it rounds some widths otherwise"),
    "resnext50_32x4d": (4.2e9, 0.01, "Xie et al. 2017, Table 1"),
    "vit_b16": (17.5e9, 0.005, "Liu et al. 2021, Swin Transformer, Table 1: DeiT-B, the same layers"),
    "mobilebert_128": (5.7e9 / 2, 0.06, "Sun et al. 2020, Table 4: 5.7 G operations, two per MAC, more than products"),
    "bert_base_128": (22.5e9 / 2, 0.01, "the same table"),
}


@pytest.mark.parametrize("name", PAPERS)
def test_networks_have_the_macs_of_their_papers(name: str) -> None:
    """Within the tolerance beside the figure, most of which is its rounding."""
    published, tolerance, _ = PAPERS[name]
    assert network(name).macs == pytest.approx(published, rel=tolerance)


# words of the embedding, where lm_head is another; of norms and biases; all parameters of the published weight files
PARAMETERS = {
    "llama3_8b": (128256 * 4096, 65 * 4096, 8_030_261_248),
    "mistral_7b": (32000 * 4096, 65 * 4096, 7_241_732_096),
    "gemma2_9b": (0, 169 * 3584, 9_241_705_984),
    "mixtral_8x7b": (32000 * 4096, 65 * 4096, 46_702_792_704),
    "qwen3_30b_a3b": (151936 * 2048, 97 * 2048 + 48 * 2 * 128, 30_532_122_624),
    "deepseek_v3": (129280 * 7168, 123 * 7168 + 61 * (1536 + 512) + 58 * 256, 671_026_419_200),
}


def of(name: str) -> str:
    """The model of a network.

    >>> of("llama3_8b_decode_4096_b8")
    'llama3_8b'
    """
    return re.split("_prefill|_decode", name)[0]


def attention(name: str) -> int:
    """The MACs of products of data with data."""
    return sum(layer.macs * count for layer, count in network(name).layers if layer.shape.startswith("attention"))


LANGUAGE_MODELS = [name for name in library_workloads() if of(name) in PARAMETERS]
# models with experts: parameters of which a token is computed, as published, the tolerance, whether the embedding is
# among them, and where the figure is
ACTIVE = {
    "mixtral_8x7b": (12.9e9, 0.005, True, "Mistral AI, Mixtral of experts, 2023; the paper has 13 B"),
    "qwen3_30b_a3b": (3.3e9, 0.017, True, "the model card; 3.35 without its rounding"),
    "deepseek_v3": (36.6e9, 0.005, False, "README_WEIGHTS.md of the model; the paper has 37 B"),
}
EXPERTS = {"mixtral_8x7b": (8, 2), "qwen3_30b_a3b": (128, 8), "deepseek_v3": (256, 8)}  # of a block, and of a token
ALONE = [f"{model}_decode_4096" for model in ACTIVE]  # one token, which reads the weights of its own experts


@pytest.mark.parametrize("name", [name for name in LANGUAGE_MODELS if name not in ALONE])
def test_language_models_have_the_parameters_of_their_weight_files(name: str) -> None:
    """To the last one: the embedding, norms and the weights of the products."""
    embedding, norms, parameters = PARAMETERS[of(name)]
    assert weights(name) + embedding + norms == parameters


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_a_token_takes_a_mac_for_each_weight_that_it_reads(name: str) -> None:
    """Of a prefill the last token alone takes those of the vocabulary; attention comes on top.

    With experts, the weights are those that a token reads alone.
    """
    own = network(name)
    assert own.tokens is not None
    vocabulary = next(layer for layer, _ in own.layers if layer.name == "lm_head")
    in_blocks = weights(f"{of(name)}_decode_4096" if of(name) in ACTIVE else name)
    in_blocks -= vocabulary.tensor_words(vocabulary.tensors[0])
    assert own.macs - attention(name) == own.tokens * in_blocks + vocabulary.macs
    assert vocabulary.size("N") == (1 if "prefill" in name else own.tokens)


@pytest.mark.parametrize("name", ALONE)
def test_a_token_reads_the_active_parameters(name: str) -> None:
    """As many as are published."""
    embedding, norms, _ = PARAMETERS[of(name)]
    published, tolerance, embedded, _ = ACTIVE[of(name)]
    assert weights(name) + embedding * embedded + norms == pytest.approx(published, rel=tolerance)


@pytest.mark.parametrize("name", [name for name in LANGUAGE_MODELS if of(name) in ACTIVE])
def test_experts_have_the_tokens_that_are_sent_to_them(name: str) -> None:
    """Each its part of all, and no expert is there that has none."""
    own = network(name)
    everyone, chosen = EXPERTS[of(name)]
    layers = [layer for layer, _ in own.layers if layer.name.startswith("experts_")]
    assert [layer.name for layer in layers] == ["experts_gate_and_up", "experts_up", "experts_down"]
    assert own.tokens is not None
    for layer in layers:
        assert layer.size("B") == min(everyone, own.tokens * chosen)
        assert layer.size("B") * layer.size("N") == own.tokens * chosen
        assert next(layer.size("M") for layer, _ in own.layers if layer.name == "router") == everyone


def test_attention_is_that_of_the_context() -> None:
    """Of each sequence all positions, or those of the window; a mask saves nothing here."""
    a_key = 2 * 32 * 32 * 128  # of a query: products, blocks, heads, their size
    for length in (2048, 4096):
        assert attention(f"llama3_8b_prefill_{length}") == a_key * length**2
    for batch, name in ((1, ""), (8, "_b8"), (64, "_b64")):
        assert attention(f"llama3_8b_decode_4096{name}") == a_key * 4096 * batch
    assert attention("mistral_7b_decode_16384") == a_key * 4096
    assert attention("mixtral_8x7b_prefill_4096") == a_key * 4096**2
    assert attention("qwen3_30b_a3b_decode_4096_b64") == 2 * 48 * 32 * 128 * 4096 * 64
    assert attention("gemma2_9b_decode_8192") == 2 * 21 * 16 * 256 * (4096 + 8192)


def test_latent_attention_is_absorbed_where_it_decodes() -> None:
    """A token reads 576 words of each position, once for all 128 heads; a prefill has keys of 192 and values of 128."""
    assert attention("deepseek_v3_prefill_4096") == 61 * 128 * (192 + 128) * 4096**2
    for batch, suffix in ((1, ""), (64, "_b64")):
        name = f"deepseek_v3_decode_4096{suffix}"
        assert attention(name) == 61 * 128 * (576 + 512) * 4096 * batch
        for layer, _ in network(name).layers:
            if layer.shape.startswith("attention"):
                size = 576 if layer.name.endswith("scores") else 512
                assert layer.tensor_words(layer.tensors[0]) == batch * 4096 * size


def test_llama3_reads_keys_and_values_of_eight_heads() -> None:
    """A block's keys of 4,096 positions are 4,096 x 1,024 words: a quarter of what 32 heads would have.

    Those of a batch are as many for each sequence.
    """
    for batch, suffix in ((1, ""), (8, "_b8"), (64, "_b64")):
        layers = {layer.name: layer for layer, _ in network(f"llama3_8b_decode_4096{suffix}").layers}
        for name in ("scores", "context"):
            assert layers[name].tensor_words(layers[name].tensors[0]) == batch * 4096 * 1024
            assert layers[name].macs == batch * 32 * 128 * 4096


def test_gpt2_has_the_operations_of_nanogpt() -> None:
    """karpathy/nanoGPT, transformer_sizing.ipynb: 291,648,307,200 operations forward at 1,024, two per MAC."""
    assert 2 * network("gpt2_small_1024").macs == 291_648_307_200
    positions, biases, norms = 1024 * 768, 12 * (2304 + 768 + 3072 + 768), 25 * 2 * 768
    assert weights("gpt2_small_1024") + positions + biases + norms == 124_439_808  # the model card; tied embedding


def test_stable_diffusion_has_its_published_total() -> None:
    """BK-SDM (Kim et al. 2023) counts 339 G for convolutions and linear layers; 859,520,964 parameters (diffusers).

    What is no weight of a product is 0.05 % of the parameters: biases and norms.
    """
    layers = network("stable_diffusion_1_unet").layers
    plain = sum(layer.macs * count for layer, count in layers if not layer.shape.startswith("attention"))
    assert round(plain / 1e9) == 339
    assert weights("stable_diffusion_1_unet") == pytest.approx(859_520_964, rel=0.0006)


def test_the_unet_has_the_layers_and_parameters_of_the_original() -> None:
    """23 convolutions (section 2 of the paper), 388 x 388 outputs, 31.03 M parameters; the paper has no MACs.

    The first and last up-convolutions are written out: inputs times filter.
    """
    layers = network("unet_572").layers
    assert sum(count for _, count in layers) == 23
    assert (layers[-1][0].size("P"), layers[-1][0].size("Q")) == (388, 388)
    assert f"{weights('unet_572') / 1e6:.2f}" == "31.02"  # 31.03 with 6,850 biases
    assert weights("unet_572") + 6850 == 31_030_658
    up = {layer.name: layer.macs for layer, _ in layers if layer.shape == "transposed_conv2d"}
    assert list(up) == ["up4", "up3", "up2", "up1"]
    assert up["up4"] == 28 * 28 * 1024 * 512 * 4
    assert up["up1"] == 196 * 196 * 128 * 64 * 4


def test_resnet3d_has_the_parameters_of_torchvision() -> None:
    """33,371,472 with a scale and a shift per channel of 20 normalizations and 400 biases."""
    normalized = 64 * 5 + 128 * 5 + 256 * 5 + 512 * 5
    assert weights("resnet3d_18") + 2 * normalized + 400 == 33_371_472


def test_gnmt_has_the_operations_per_word_that_are_published() -> None:
    """214 M multiply-adds per word (Shazeer et al. 2017, Outrageously Large Neural Networks, Table 2), within 1 %."""
    assert network("gnmt_32").macs / 32 == pytest.approx(214e6, rel=0.01)
    steps = {layer.name: count for layer, count in network("gnmt_32").layers}
    assert steps["encoder_recurrent"] == 9 * 32
    assert [steps[f"decoder{number}"] for number in ("", *range(2, 9))] == [32] * 8


def test_dlrm_has_the_widths_of_its_configuration() -> None:
    """Both MLPs, spelt as in MLPerf's scripts; the interactions and the bottom's output are the inputs of the top."""
    mlps = ("13-512-256-128", "479-1024-1024-512-256-1")
    widths = [[int(width) for width in mlp.split("-")] for mlp in mlps]
    wanted = sum(before * after for mlp in widths for before, after in pairwise(mlp))
    assert weights("dlrm_mlperf") == wanted == 2_365_184
    assert network("dlrm_mlperf").macs == 2048 * (wanted + 27 * 27 * 128)
    assert widths[1][0] == 27 * 26 // 2 + widths[0][-1]


def test_mobilebert_grows_with_its_length() -> None:
    """24 blocks: weights once per position, attention with the square; 20.25 M of its 25.3 M parameters, 4 M embed."""
    assert weights("mobilebert_128") == weights("mobilebert_256") == 24 * (835_584) + 384 * 512
    for length in (128, 256):
        assert network(f"mobilebert_{length}").macs == weights("mobilebert_128") * length + 24 * 2 * 128 * length**2


# Gibson et al., tables of S and G(2) to G(N): MACs in units of M as printed. They count a MAC for each word that is
# normalized: with those, WRN agrees to the last digit, and the others within 1 %.
GROUPED = {
    "wrn_40_2{}": (328.30, 198.15, 118.52, 78.71, 58.80, 44.83),
    "resnet34{}": (3670.0, 2250.0, 1390.0, 970.0, 750.0, 560.0),
    "mobilenet_v2{}": (5560.0, 2920.0, 1600.0, 950.0, 620.0, 310.0),
}
NORMALIZED = {"wrn_40_2{}": 704_512, "resnet34{}": 3_738_112, "mobilenet_v2{}": 6_678_112}
SUFFIXES = ("", "_g2", "_g4", "_g8", "_g16", "_gn")


def series(pattern: str) -> list[str]:
    """The names of the standard model and of its groups; of MobileNetV2 the published one is G(N)."""
    if pattern.startswith("mobilenet"):
        return [pattern.format(suffix) for suffix in ("_g1", *SUFFIXES[1:-1], "")]
    return [pattern.format(suffix) for suffix in SUFFIXES]


@pytest.mark.parametrize("pattern", GROUPED)
def test_grouped_series_have_the_macs_of_their_table(pattern: str) -> None:
    """Shapes that follow from the definitions of the networks give the published totals."""
    for name, published in zip(series(pattern), GROUPED[pattern], strict=True):
        total = (network(name).macs + NORMALIZED[pattern]) / 1e6
        assert total == pytest.approx(published, rel=0.01), name
        assert pattern != "wrn_40_2{}" or f"{total:.2f}" == f"{published:.2f}", name


@pytest.mark.parametrize("pattern", GROUPED)
def test_a_group_divides_the_work_of_the_grouped_convolutions(pattern: str) -> None:
    """MACs are N C_in C_out R S P Q / g: twice the groups are half of them, and all other layers stay."""

    def grouped(name: str) -> int:
        return sum(layer.macs * count for layer, count in network(name).layers if layer.name.endswith("_grouped"))

    twice = series(pattern)[1:5]
    for name, next_one in pairwise(twice):
        assert grouped(name) == 2 * grouped(next_one) > 0
    rest = {network(name).macs - grouped(name) for name in twice}
    assert len(rest) == 1


def test_the_page_on_workloads_lists_the_library() -> None:
    """Every name with its MACs, and no other."""
    rows = re.findall(r"^\| (`.*) \| .* \| ([\d., ]+) \|$", DOCS.read_text(), re.MULTILINE)
    listed = {}
    for names, figures in rows:
        listed |= dict(zip(re.findall(r"`(.*?)`", names), map(float, figures.split(", ")), strict=True))
    assert listed.keys() == library_workloads().keys()
    for name, gmacs in listed.items():
        assert load_workload(name).macs / 1e9 == pytest.approx(gmacs, rel=0.005), name
