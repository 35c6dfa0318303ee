"""A small machine and small layers, in files, and sweeps of them."""

import pytest
from hypothesis import strategies as st

ARCH = """
name: small
clock_ns: 2
variables: {rows: 4, columns: 2, words: 24, inner: 6, rate: 4, bits: 16}
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16, read_bandwidth: rate}
  - name: GLB
    class: regfile
    capacity_words: words
    width_bits: bits
    keep: [Inputs, Weights, Outputs]
    fanout: [{name: column, size: columns}, {name: row, size: rows, mesh: Y}]
  - {name: spad, class: regfile, capacity_words: inner, width_bits: 16, keep: [Outputs], bypass: [Weights]}
compute: {name: MAC, class: intmac, word_bits: 16}
"""
PROVING = {"search": {"strategy": "optimal"}, "transfer": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("designs")
    (folder / "small.yaml").write_text(ARCH)
    (folder / "mm.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 4, N: 3, K: 5}\n")
    (folder / "conv.yaml").write_text("name: conv\nshape: conv2d\nsizes: {M: 3, C: 2, P: 4, Q: 1, R: 2, S: 1}\n")
    (folder / "net.yaml").write_text(
        "name: net\nlayers:\n"
        "  - {name: a, shape: matmul, sizes: {M: 3, N: 2, K: 5}, count: 2}\n"
        "  - {name: b, shape: matmul, sizes: {M: 2, N: 4, K: 3}}\n"
    )
    return folder


def in_folder(folder, given_sweep):
    """The sweep with the paths of its files."""
    whole = PROVING | given_sweep | {"architecture": str(folder / "small.yaml")}
    whole["workloads"] = [str(folder / f"{name}.yaml") for name in given_sweep["workloads"]]
    if "weights" in whole:
        whole["weights"] = {str(folder / f"{name}.yaml"): own for name, own in whole["weights"].items()}
    return whole


LISTS = {
    "rows": [1, 2, 3, 4, 6],
    "columns": [1, 2, 5],
    "words": [8, 16, 24, 48, 96],
    "inner": [3, 6, 12],
    "rate": [0.5, 1, 4],
    "bits": [16, 32],
    "levels.GLB.keep": [["Inputs", "Weights", "Outputs"], ["Inputs", "Outputs"]],
    "levels.spad.keep": [["Outputs"], ["Inputs", "Outputs"]],
    "levels.GLB.start_cycles": [0, 3],
}


@st.composite
def sweeps(draw):
    """Up to some forty designs, one workload or several, in one mapspace or two."""
    names = draw(st.lists(st.sampled_from(sorted(LISTS)), min_size=1, max_size=3, unique=True))
    parameters = {
        name: draw(st.lists(st.sampled_from(LISTS[name]), min_size=2, max_size=3, unique_by=str)) for name in names
    }
    works = draw(st.lists(st.sampled_from(["mm", "conv", "net"]), min_size=1, max_size=2, unique=True))
    energy = draw(st.sampled_from([{}, {}, {"leakage": True}, {"hop_pj": 0.7}, {"drain_reads": True}]))
    spaces = draw(st.sampled_from([["pfm"], ["ruby-s"], ["pfm", "ruby-s"], ["auto"], ["pfm", "pfm+pad"]]))
    given_sweep = {"parameters": parameters, "workloads": works, "mapspaces": spaces, "energy": energy}
    if len(works) > 1 and draw(st.booleans()):
        given_sweep["weights"] = {works[0]: draw(st.sampled_from([0.5, 3, 10]))}
    return given_sweep
