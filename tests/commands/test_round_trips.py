"""Files of other tools read back have the counts, cycles and energies of what was written, or say what they cannot."""

import pytest
from ruby_map.mapper.exploration import evaluate
from ruby_map.mapper.mapping import read_mapping
from ruby_map.workloads import Document

from ..conftest import DEEP
from ..round_trips import FORMATS, there_and_back, trip, written

PRODUCT = {"name": "w", "shape": "matmul", "sizes": {"M": 5, "N": 8, "K": 8}}
COMPUTE = {"name": "MAC", "class": "intmac", "word_bits": 16, "energy": {"compute_pj": 1}}


def level(name, read=2, write=13, update=13, **more):
    energy = {"read_pj": read, "write_pj": write, "update_pj": update}
    return {"name": name, "class": "SRAM", "word_bits": 16, "width_bits": 32, "energy": energy} | more


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(300) if DEEP else range(10))
def test_a_random_problem(tmp_path, form, seed):
    """Machines of any kind, layers of all shapes: equal after reading back, or refused with the reason."""
    made = trip(seed, form, tmp_path)
    assert made is None or not made.differences, made


def back(folder, form, levels, layer, mapping):
    """What becomes of a machine with these levels, and of a mapping in plain data."""
    arch, work = written(folder, {"name": "a", "levels": levels, "compute": COMPUTE}, layer)
    batch = read_mapping(Document("m", {"mapping": mapping}, {}), arch, work)
    return there_and_back(folder, form, evaluate(arch, work, batch))


def test_a_machine_without_axes(tmp_path):
    """Its accelerator is an array of a single MAC unit, which its memories serve."""
    levels = [level("L0", read_bandwidth=2, write_bandwidth=2), level("L1", capacity_bits=16000, read_bandwidth=1)]
    mapping = [{"target": "L0", "type": "temporal", "factors": "M=1 N=4 K=8", "permutation": "KMN"},
               {"target": "L1", "type": "temporal", "factors": "M=5 N=2 K=1", "permutation": "NMK"}]  # fmt: skip
    made = back(tmp_path, "zigzag", levels, PRODUCT, mapping)
    assert (made.compared, made.differences) == (True, ())


def test_a_spread_product(tmp_path):
    """Dims of matrix products have ZigZag's names in its mapping file too, where K means our M and C our K."""
    axes = [{"name": "rows", "size": 3}, {"name": "columns", "size": 2, "mesh": "Y"}]
    levels = [level("L0"), level("L1", capacity_bits=160, fanout=axes)]
    spread = {"target": "L1", "type": "spatial", "factors": "M=2 N=2 K=1", "permutation": "NMK", "split": 1}
    mapping = [{"target": "L0", "type": "temporal", "factors": "M=2 N=4 K=8", "permutation": "KMN"}, spread]
    layer = PRODUCT | {"sizes": {"M": 4, "N": 8, "K": 8}}
    made = back(tmp_path, "zigzag", levels, layer, mapping)
    assert (made.compared, made.differences) == (True, ())
    for bandwidth in (1.0, 0.5, None):  # at the MAC units, where ports have none unless they say so
        levels[1]["read_bandwidth"] = bandwidth
        (tmp_path / str(bandwidth)).mkdir()
        made = back(tmp_path / str(bandwidth), "zigzag", levels, layer, mapping)
        assert (made.compared, made.differences) == (True, ())


@pytest.mark.parametrize(
    ("levels", "layer", "reason"),
    [
        ([level("L0", update=20)], PRODUCT, "L0: a write of 13 pJ and an update of 20 pJ, which have one cost there"),
        ([level("L0", read_bandwidth=0.3)], PRODUCT, "L0: a bandwidth of 4.8 bits, ports have whole ones"),
        ([level("L0", word_bits=8, read_bandwidth=1)], PRODUCT, "L0: a bandwidth in words of 8 bits, those"),
        (
            [level("L0")],
            {"name": "w", "dims": {"A": 2, "B": 3, "D": 2}, "tensors": {
                "Weights": {"projection": ["A", "B"]}, "Inputs": {"projection": ["D + B"]},
                "Outputs": {"projection": ["A", "D"], "output": True}}},
            None,
        ),
        (
            [level("L0")],
            {"name": "w", "dims": {"A": 2, "B": 3, "C": 2, "D": 2}, "tensors": {
                "Weights": {"projection": ["A", "B", "C"]}, "Inputs": {"projection": ["B", "C", "D"]},
                "Outputs": {"projection": ["A", "D"], "output": True}}},
            "w is no convolution or matrix product of ZigZag: B and C index the same tensors",
        ),
    ],
)  # fmt: skip
def test_what_zigzag_has_no_word_for(tmp_path, levels, layer, reason):
    """Refused by name, or written with ZigZag's names whatever those of the dims are."""
    whole = " ".join(f"{dim}=0" for dim in layer.get("dims") or layer["sizes"])
    made = back(tmp_path, "zigzag", levels, layer, [{"target": "L0", "type": "temporal", "factors": whole}])
    if reason is None:
        assert (made.compared, made.differences) == (True, ())
    else:
        assert reason in made.refused
