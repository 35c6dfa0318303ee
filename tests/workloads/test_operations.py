"""Operations of network files: what they make, where they stand, and what hands tiles on through them."""

from contextlib import suppress
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.workloads import InputError, Network, load_workload
from ruby_map.workloads.networks import split_alike
from ruby_map.workloads.operations import SizesError, output_sizes
from ruby_map.workloads.operators import OPERATORS, Makes, Moves, Operation

BLOCK = """
inputs: {{x: [16, 8, 8]}}
layers:
  - {{name: expand, shape: conv2d, sizes: {{M: 96, C: 16, P: 8, Q: 8, R: 1, S: 1}}, from: {{Inputs: x}}}}
  - {{name: clip, op: relu6, from: expand}}
  - {{name: depthwise, shape: conv2d, sizes: {{G: 96, M: 1, C: 1, P: 8, Q: 8, R: 3, S: 3}}, from: {{Inputs: clip}},
     pad: {{P: 1, Q: 1}}}}
  - {{name: project, shape: conv2d, sizes: {{M: 16, C: 96, P: 8, Q: 8, R: 1, S: 1}}, from: {{Inputs: depthwise}}}}
{more}
"""


def network(tmp_path: Path, text: str) -> Network:
    path = tmp_path / "net.yaml"
    path.write_text(text)
    loaded = load_workload(path)
    assert isinstance(loaded, Network)
    return loaded


def block(tmp_path: Path, *more: str) -> Network:
    return network(tmp_path, BLOCK.format(more="\n".join(f"  - {entry}" for entry in more)))


def faults(tmp_path: Path, *more: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        block(tmp_path, *more)
    return [str(fault).split(": ", 1)[1] for fault in caught.value.faults]


def test_operations_stand_after_what_they_read(tmp_path: Path) -> None:
    """The order is that of the file; sizes follow from inputs, but for a pooling's; layers are counted as before."""
    net = block(
        tmp_path,
        "{name: add, op: add, from: [project, x]}",
        "{op: max_pool, from: add, sizes: [16, 4, 4]}",
        "{name: next, shape: conv2d, sizes: {M: 4, C: 16, P: 4, Q: 4, R: 1, S: 1}, from: {Inputs: max_pool_6}}",
    )
    assert net.order == ("expand", "clip", "depthwise", "project", "add", "max_pool_6", "next")
    assert net.operations[1:] == (
        Operation("add", "add", ("project", "x"), (1, 16, 8, 8)),
        Operation("max_pool_6", "max_pool", ("add",), (16, 4, 4)),
    )
    assert net.operations[2].words == 256
    assert [layer.name for layer, _ in net.layers] == ["expand", "depthwise", "project", "next"]
    assert net.readers["x"] == ("expand", "add")
    assert net.sources("add") == ("project", "x")


def test_what_passes_words_on_stands_between_no_layers(tmp_path: Path) -> None:
    """A relu is nothing between tiles, a softmax is one operator; an addition ends what is handed on."""
    net = block(tmp_path, "{name: add, op: add, from: [project, x]}")
    assert [(edge.producer, edge.consumer) for edge in net.handed] == [
        ("expand", "depthwise"),
        ("depthwise", "project"),
    ]
    assert net.handed[0].ranks == (("N", 0), ("M", 0), (None, 0), ("P", 1), ("Q", 1))
    assert net.outside("expand", ["depthwise"]) == []
    assert net.outside("project", ["depthwise"]) == ["add"]
    attention = network(
        tmp_path,
        """
layers:
  - {name: scores, shape: matmul, sizes: {M: 8, N: 4, K: 3}}
  - {name: rows, op: softmax, from: scores}
  - {name: half, op: scale, from: rows}
  - {name: context, shape: matmul, sizes: {M: 3, N: 4, K: 8}, from: {Inputs: half}}
  - {name: twice, op: rms_norm, from: half}
  - {name: other, shape: matmul, sizes: {M: 2, N: 4, K: 8}, from: {Inputs: twice}}
  - {name: end, op: relu, from: half}
""",
    )
    (edge,) = attention.handed
    assert (edge.producer, edge.consumer, edge.through) == ("scores", "context", "softmax")
    assert edge.ranks == (("N", 0), ("M", 0))
    assert sorted(attention.outside("scores", ["context"])) == ["end", "other"]


def test_groups_of_channels_are_read_as_channels(tmp_path: Path) -> None:
    """Of both sides: the words are the same in turn, and nothing is said of tiles."""
    net = network(
        tmp_path,
        """
layers:
  - {name: a, shape: conv2d, sizes: {M: 12, C: 3, P: 6, Q: 6, R: 1, S: 1}}
  - {name: b, shape: conv2d, sizes: {G: 4, M: 3, C: 3, P: 6, Q: 6, R: 3, S: 3}, from: {Inputs: a}, pad: {P: 1, Q: 1}}
  - {name: c, shape: conv2d, sizes: {M: 2, C: 12, P: 6, Q: 6, R: 1, S: 1}, from: {Inputs: b}}
  - {name: d, shape: matmul, sizes: {M: 5, N: 1, K: 72}, from: {Inputs: c}}
""",
    )
    assert [(edge.producer, edge.whole, edge.ranks) for edge in net.edges] == [(own, True, ()) for own in "abc"]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("{op: addd, from: [project, x]}", 'unknown operator "addd"; did you mean "add"?'),
        ("{op: add, from: [project, y]}", 'layers[4].from: no layer "y" in this network'),
        ("{name: z, op: add, from: [project, z]}", "layers[4].from: z would read what it makes itself"),
        ("{op: relu, from: [project, x]}", "layers[4]: relu reads one tensor, got 2"),
        ("{op: max_pool, from: project}", "layers[4]: max_pool needs sizes: those of its output do not follow"),
        ("{op: add, from: [project, depthwise]}", "layers[4]: add reads 1 x 16 x 8 x 8 beside 1 x 96 x 1 x 8 x 8"),
        ("{op: max_pool, from: project, sizes: [32, 8, 8]}", "reads 1,024 words, and sizes 32 x 8 x 8 are 2,048"),
        ("{op: concat, from: [project, x], sizes: [33, 8, 8]}", "reads 2,048 words, and sizes 33 x 8 x 8 are 2,112"),
        ("{op: relu, from: project, sizes: [8, 16, 8]}", "makes 1 x 16 x 8 x 8 of what it reads, and sizes says"),
        ("{op: add, from: [project, x], count: 2}", "project is there 1 times and add_5 2 times"),
        ("{op: add}", 'layers[4]: the key "from" is missing'),
        ("{name: x, op: relu, from: project}", 'layers[4]: the name "x" is that of inputs.x already'),
        ("{op: relu, from: project, stride: 2}", 'layers[4].stride: unknown key "stride"'),
    ],
)
def test_operations_that_do_not_fit_are_faults(tmp_path: Path, entry: str, fault: str) -> None:
    """With their line and path."""
    (told,) = faults(tmp_path, entry)
    assert fault in told


def test_a_network_has_a_layer(tmp_path: Path) -> None:
    """Operations alone are none."""
    with pytest.raises(InputError, match="must have at least one layer beside operations"):
        network(tmp_path, "inputs: {x: [4]}\nlayers:\n  - {op: relu, from: x}\n")


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@given(SIZES, st.data())
def test_ranks_that_are_joined_are_the_same_words(sizes, data):
    """Both ways; other ranks of as many words are not, unless their ends are among these."""
    cut = data.draw(st.integers(0, len(sizes)))
    joined = [prod(sizes[:cut]), *sizes[cut:]]
    assert split_alike(sizes, joined)
    assert split_alike(joined, sizes)
    assert not split_alike(sizes, [*sizes, 2])
    assert split_alike((4, 9), (36,))
    assert not split_alike((4, 9), (9, 4))


@given(st.lists(SIZES, min_size=1, max_size=3), st.one_of(st.none(), SIZES))
def test_every_operator_makes_sizes_or_says_why_not(inputs, given):
    """Whatever it reads: what it makes is of no more words than its kind allows."""
    for operator in OPERATORS.values():
        made = ()
        with suppress(SizesError):
            made = output_sizes(operator, list(map(tuple, inputs)), None if given is None else tuple(given))
        words = sum(map(prod, inputs))
        most = max(map(prod, inputs))
        limits = {Makes.SAME: prod(inputs[0]), Makes.LARGEST: most, Makes.AS_MANY: words, Makes.FEWER: words}
        assert prod(made) <= limits.get(operator.makes, prod(made))


def test_the_table_of_operators() -> None:
    """Views and what passes move nothing, what goes together reads the others, all else reads and writes."""
    moves = {name: operator.moves for name, operator in OPERATORS.items()}
    assert {moves[name] for name in ("relu", "reshape", "concat", "slice", "pad")} == {Moves.NONE}
    assert moves["add"] is Moves.OTHERS
    assert moves["max_pool"] is moves["softmax"] is Moves.ALL
    assert [name for name, operator in OPERATORS.items() if operator.rows] == ["layer_norm", "rms_norm", "softmax"]
