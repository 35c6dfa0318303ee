"""Architecture files: what is read, and the library."""

import re
from dataclasses import replace
from functools import cache
from math import prod
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import FactorRule, LoopConstraint, check_fit, library_archs, load_arch, parse_arch
from ruby_map.workloads import InputError, Network, library_workloads, load_workload, parse_yaml

DOCS = Path(__file__).parents[2] / "docs" / "architectures.md"
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(), re.DOTALL)


def arch_of(text):
    return parse_arch(parse_yaml(text, "a.yaml"))


library_arch = cache(load_arch)  # each is read once for all layers, and each layer for all machines


@cache
def layers_of(name):
    loaded = load_workload(name)
    return [layer for layer, _ in loaded.layers] if isinstance(loaded, Network) else [loaded]


@pytest.mark.parametrize(
    ("name", "instances"),
    [
        ("eyeriss_like", [1, 1, 168, 168, 168, 168]),
        ("eyeriss_like_free", [1, 1, 168, 168, 168, 168]),
        ("simba_like", [1, 1, 15, 60, 60, 240, 240]),
        ("simba_like_9", [1, 1, 9, 27, 27, 81, 81]),
        ("eyeriss_like_bandwidth", [1, 1, 168, 168, 168, 168]),
        ("simba_like_bandwidth", [1, 1, 15, 60, 60, 240, 240]),
        ("toy_6pe_bandwidth", [1, 1, 6]),
        ("linear_16_bandwidth", [1, 16, 16]),
        ("toy_6pe", [1, 1, 6]),
        ("epyc_avx512", [1, 1, 2, 2, 2, 32]),
        ("epyc_avx2", [1, 1, 2, 2, 2, 16]),
        ("toy_6pe_linear", [1, 1, 6]),
        *(
            (f"linear_{n}{kind}", [1, n, n])
            for n, kind in [(5, ""), (8, ""), (15, ""), (16, ""), (8, "_cm"), (15, "_cm")]
        ),
    ],
)
def test_instances(name, instances):
    """The library's machines have the published numbers of elements and MACs."""
    arch = load_arch(name)
    assert arch.name == name
    assert [arch.instances(level) for level in range(len(arch.levels) + 1)] == instances
    assert all(part.attribute("technology_nm") == 45 for part in (*arch.levels, arch.compute))


@pytest.mark.parametrize("name", ["eyeriss_like", "simba_like", "toy_6pe", "linear_16"])
def test_machines_with_bandwidths_differ_in_nothing_else(name):
    """Each is the machine of its name, with a DRAM that is slow both ways."""
    plain, slow = load_arch(name), load_arch(f"{name}_bandwidth")
    assert all(level.bandwidths for level in slow.levels[:1])
    assert not any(level.bandwidths for level in plain.levels)
    unlimited = tuple(replace(level, read_bandwidth=None, write_bandwidth=None) for level in slow.levels)
    assert (unlimited, slow.compute) == (plain.levels, plain.compute)


def test_library_is_complete():
    """Every shipped file is a named architecture that loads."""
    assert len(library_archs()) == 27
    assert [load_arch(name).name for name in library_archs()] == library_archs()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("eyeriss_like", [65536, 12, 224, 16]),
        ("simba_like", [65536, 65536, 8192, 128, 1]),
        ("toy_6pe", [512]),
        ("linear_5", [512]),
    ],
)
def test_capacities(name, words):
    """Capacities in words below the outermost level, which has none."""
    levels = load_arch(name).levels
    assert levels[0].capacity_bits is None
    assert [level.capacity_bits // level.word_bits for level in levels[1:]] == words


def test_free_differs_only_in_loops():
    """eyeriss_like_free is eyeriss_like with nothing said about loops."""
    bound, free = load_arch("eyeriss_like"), load_arch("eyeriss_like_free")
    assert all(slot.constraint == LoopConstraint() for slot in free.slots)
    storage = [(one.name, one.capacity_bits, one.width_bits, one.keep, one.bypass) for one in bound.levels]
    assert storage == [(one.name, one.capacity_bits, one.width_bits, one.keep, one.bypass) for one in free.levels]
    assert [slot.name for slot in bound.slots] == [slot.name for slot in free.slots]


def allowed(constraint, dim, size):
    rules = [rule for rule in constraint.factors if rule.dim == dim]
    if any(rule.op != ">=" and rule.value is not None and rule.value < size for rule in rules):
        return False
    return constraint.dims is None or dim in constraint.dims


def outermost_places(arch, workload):
    """For each dim the outermost temporal slot that takes all of it; `full` rules first."""
    places = {}
    for dim, size in zip(workload.dims, workload.sizes, strict=True):
        temporal = [slot for slot in arch.slots if not slot.spatial]
        full = [slot for slot in temporal if FactorRule(dim, "=", None) in slot.constraint.factors]
        fitting = [slot.level for slot in full or temporal if size == 1 or allowed(slot.constraint, dim, size)]
        places[dim] = fitting[0]  # IndexError: no place for this dim
    return places


def tile_words(workload, tensor, places, level):
    inside = {dim: size if places[dim] >= level else 1 for dim, size in zip(workload.dims, workload.sizes, strict=True)}
    return prod(sum(term.coef * (inside[term.dim] - 1) for term in rank) + 1 for rank in tensor.ranks)


@pytest.mark.parametrize("work", library_workloads())
@pytest.mark.parametrize("name", library_archs())
def test_every_layer_has_a_valid_mapping(name, work):
    """Each layer fits each machine: with every dim as far out as its constraints let it, the tiles fit."""
    arch = library_arch(name)
    for layer in layers_of(work):
        check_fit(arch, layer, name)
        places = outermost_places(arch, layer)
        for index, level in enumerate(arch.levels[1:], 1):
            kept = [tensor for tensor in layer.tensors if tensor.name not in level.bypass]
            words = sum(tile_words(layer, tensor, places, index) for tensor in kept)
            assert words * level.word_bits <= level.capacity_bits, (layer.name, level.name)


@pytest.mark.parametrize(
    ("slot", "bounds"),
    [
        ("shared_glb.PE_column", {"Q": 7, "M": 2}),
        ("shared_glb.PE_column", {"Q": 3, "M": 4}),
        ("shared_glb.PE", {"S": 5, "M": 2}),
        ("shared_glb.PE", {"S": 5, "C": 2}),
        ("shared_glb", {"C": 4, "P": 27}),
        ("DRAM", {"C": 6, "M": 8, "Q": 2}),
        ("weights_spad", {"R": 5, "C": 2}),
        ("psum_spad", {"M": 16}),
    ],
)
def test_alexnet_layer_2_has_its_nests(slot, bounds):
    """The bounds of the Ruby paper's nests for AlexNet's second layer may stand in eyeriss_like."""
    found = next(one for one in load_arch("eyeriss_like").slots if one.name == slot)
    assert all(allowed(found.constraint, dim, bound) for dim, bound in bounds.items())
    size = found.axis.size if found.axis else 10**9
    assert prod(bounds.values()) <= size


def test_simba_spreads_channels_and_outputs_alone():
    """The elements of simba_like work in parallel over C (K) and M, its lanes over C, its vector MACs over M."""
    axes = {slot.axis.name: slot.constraint.dims for slot in load_arch("simba_like").slots if slot.spatial}
    assert axes == {"PE": ("C", "K", "M"), "distributed_vector_mac": ("M",), "lane": ("C", "K")}


def test_documented_example():
    """Everything that docs/architectures.md shows is read as it says."""
    arch = arch_of(EXAMPLES[0])
    dram, buffer, spad = arch.levels
    assert (dram.capacity_bits, dram.read_bandwidth, dram.attribute("type")) == (None, 4.0, "LPDDR4")
    assert (buffer.capacity_bits, buffer.banks, buffer.multiple_buffering) == (16 * 1024 * 8, 4, 2)
    assert (buffer.bits("Outputs", None), buffer.bits("Inputs", None)) == (24, 16)
    assert (buffer.keep, buffer.bypass) == ({"Inputs", "Outputs"}, {"Weights"})
    rules = (FactorRule("R", "=", None), FactorRule("C", "<=", 8), FactorRule("M", ">=", 2))
    assert buffer.temporal == LoopConstraint(rules, None, False, ("M",), ("C", "R"), 3)
    assert [(axis.name, axis.size, axis.mesh) for axis in buffer.fanout] == [("column", 8, "X"), ("row", 4, "Y")]
    assert buffer.fanout[0].constraint.min_utilization == 0.5
    assert (spad.width_bits, spad.capacity_bits, spad.attribute("cell")) == (16, 64 * 16, "fast")
    assert dict(spad.attribute("energy")) == {"read_pj": 0.9, "write_pj": 1.1}
    assert spad.attribute("clock_ns") == 1.0


def test_documented_base(tmp_path):
    """A file on a base keeps what it does not mention."""
    (tmp_path / "mine.yaml").write_text(EXAMPLES[1])
    mine, base = load_arch(str(tmp_path / "mine.yaml")), load_arch("eyeriss_like")
    assert (mine.name, mine.instances(2), mine.levels[0].read_bandwidth) == ("eyeriss_like_8x8", 64, 4.0)
    assert mine.levels[2:] == base.levels[2:]
    assert mine.levels[0].temporal == base.levels[0].temporal


@pytest.mark.parametrize(
    ("form", "bits"),
    [
        ("capacity_bytes: 1.5 * 1024", 12288),
        ("capacity_words: 2**4", 256),
        ("capacity_bits: 100", 100),
        ("depth: n", 7 * 64),
    ],
)
def test_capacity_forms(form, bits):
    """Each way to give a capacity, all as expressions, in bits."""
    level = f"{{name: M, class: SRAM, width_bits: 64, {form}}}"
    assert (
        arch_of(f"name: a\nvariables: {{n: 7}}\nlevels: [{level}]\ncompute: {{name: c}}").levels[0].capacity_bits
        == bits
    )


@pytest.mark.parametrize("written", ["45nm", "45", "'45 nm'", "45.0"])
def test_technology(written):
    """A technology is nanometres, with or without the unit."""
    text = f"name: a\ntechnology: {written}\nlevels: [{{name: M, class: DRAM}}]\ncompute: {{name: c}}"
    assert arch_of(text).levels[0].attribute("technology_nm") == 45


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 1024))
def test_variables_scale_the_machine(columns, rows, kib):
    """Variables given from outside set the array and the buffer, whatever their values."""
    arch = load_arch("eyeriss_like", {"columns": columns, "rows": rows, "glb_kib": kib})
    assert arch.instances(2) == columns * rows
    assert arch.levels[1].capacity_bits == kib * 8192


def test_variables_use_those_above():
    """A variable may be an expression of earlier ones, and follows one that is set from outside."""
    document = parse_yaml(
        "name: a\nvariables: {n: 2, m: n + 1}\nlevels: [{name: M, class: DRAM, banks: m * n}]\ncompute: {name: c}", "a"
    )
    assert parse_arch(document).levels[0].banks == 6
    assert parse_arch(document, {"n": 4}).levels[0].banks == 20


@given(st.permutations(["N", "M", "C", "P"]), st.integers(0, 4))
def test_order_reads_back(dims, cut):
    """Any split of a loop order into outermost and innermost is kept as written."""
    temporal = f"{{outermost: [{', '.join(dims[:cut])}], innermost: [{', '.join(dims[cut:])}]}}"
    arch = arch_of(f"name: a\nlevels: [{{name: M, class: DRAM, temporal: {temporal}}}]\ncompute: {{name: c}}")
    assert arch.levels[0].temporal.outermost + arch.levels[0].temporal.innermost == tuple(dims)


def test_unknown_name_is_an_input_error():
    """A name near one of the library is told so."""
    with pytest.raises(InputError, match='did you mean "eyeriss_like"'):
        load_arch("eyeris_like")
