"""The library's machines with bandwidths: a layer that they slow down is proven, and the certificate verified."""

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.certificate.checker import verify
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import shaped

from ..searches import optimal

MACHINES = ["eyeriss_like_bandwidth", "simba_like_bandwidth", "toy_6pe_bandwidth", "linear_16_bandwidth"]


@pytest.mark.parametrize("name", MACHINES)
def test_a_product_limited_by_memory_is_proven(name):
    """A vector times a matrix takes longer than its MACs do; on the machine without bandwidths it takes no longer."""
    workload = shaped("matmul", M=64, N=1, K=96)
    arch = load_arch(name)
    space, table = Mapspace(arch, workload, "pfm"), energy_table(arch)
    found = optimal(space, table, SearchOptions(strategy="optimal", objective="delay", certify=True, time_limit=60))
    assert found.optimal
    assert verify(found.certificate, arch, workload, table).optimal
    cycles = int(evaluate(found.best, table).cycles[0])
    plain = load_arch(name.removesuffix("_bandwidth"))
    free = optimal(Mapspace(plain, workload, "pfm"), energy_table(plain), SearchOptions(objective="delay"))
    assert free.optimal
    assert cycles >= free.lower_bound
    if name != "toy_6pe_bandwidth":
        assert cycles > free.lower_bound
