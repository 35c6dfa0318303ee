"""A small machine and small layers, in files, and sweeps of them."""

import pytest

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
