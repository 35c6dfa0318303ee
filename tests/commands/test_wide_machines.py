"""Machines with axes of tens of thousands of places: mapped by default, sizes within limits, exhaustive refused."""

import json

import pytest
from ruby_map.mapper.commands.ruby_map import main
from typer.testing import CliRunner

MACHINE = """
name: wide
technology: 16nm
levels:
  - {name: DRAM, class: DRAM, type: HBM2, width_bits: 128, word_bits: 8, fanout: [{name: chip, size: 65536}]}
  - name: buf
    class: SRAM
    capacity_bytes: 2**20
    width_bits: 128
    word_bits: 8
    fanout: [{name: column, size: 65536, mesh: X}, {name: row, size: 65536, mesh: Y}]
  - {name: reg, class: regfile, capacity_words: 16, width_bits: 8, word_bits: 8}
compute: {name: MAC, class: intmac, word_bits: 8}
"""
LAYER = "{name: vocabulary, shape: matmul, sizes: {M: 152064, N: 256, K: 509}}"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "wide.yaml").write_text(MACHINE)
    (tmp_path / "layer.yaml").write_text(LAYER)
    return str(tmp_path / "wide.yaml"), str(tmp_path / "layer.yaml")


def run(*args):
    return CliRunner().invoke(main, [str(arg) for arg in args])


def test_a_wide_machine_maps_a_large_vocabulary(files):
    """A search finds mappings and says how far they may be from the best."""
    result = run(*files, "--search", "random", "--samples", 3000, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["search"]["valid"] > 0


def test_exhaustive_says_that_there_are_too_many(files):
    """It goes by numbers, of which some have no mapping here: exit status 2 and another search named."""
    result = run(*files, "--search", "exhaustive", "--samples", 100)
    assert result.exit_code == 2
    assert "exhaustive visits every mapping by its number; this mapspace has too many" in result.output
