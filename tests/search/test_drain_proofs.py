"""Proofs where reads of drained words decide: loop orders, ideal bounds, and each part of a certificate."""

from dataclasses import replace

import numpy as np
import pytest
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import charges, ideal
from ruby_map.mapper.certificate.checker import Refused, columns, orders, verify
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.proof.best_orders import best_orders
from ruby_map.mapper.search.options import SearchOptions

from ..model.test_cost import machine, mapping, matmul
from ..searches import a_poor_beginning, optimal

DRAINS = Charges(drain_reads=True)


def table(*levels):
    """Read, write and update energies of two levels, or three."""
    names = ("DRAM", "GLB", "RF")
    rows = [LevelEnergy(name, *pj, 0.0, 1.0, "given") for name, pj in zip(names, levels, strict=False)]
    return EnergyTable("given", tuple(rows), ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))


def test_the_best_loop_order_passes_up_few_words():
    """All loops outside the buffer: with dear reads there K is innermost, so that Z stays; else M, so that B does."""
    arch = machine(fanout=())
    space = Mapspace(arch, matmul(4, 3, 2), "pfm", distinct=True)
    batch = mapping(arch, space.workload, [[4, 3, 2], [1, 1, 1]])
    figures = table((1.0, 0.0, 0.0), (5.0, 0.0, 0.0))
    innermost = {}
    for costs in (Charges(), DRAINS):
        charged = charges(arch, space.workload, figures, batch.keep[0], costs)
        order = best_orders(batch, charged, space.orders.levels)
        innermost[costs] = "MNK"[order[0, 0, -1]]
        every = [
            replace(batch, order=np.array([[middle, (0, 1, 2)]], np.int8))
            for middle in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
        ]
        least = min(evaluate(each, figures, costs).energy_pj[0] for each in every)
        assert evaluate(replace(batch, order=order), figures, costs).energy_pj[0] == pytest.approx(least)
    assert innermost == {Charges(): "M", DRAINS: "K"}


def test_the_ideal_is_reached_where_every_word_moves_once():
    """One MAC: its output is updated, read and updated again, which is all that the ideal has of it."""
    tensors = frozenset("ABZ")
    arch = machine(fanout=(), keep=tensors)
    batch, figures = mapping(arch, matmul(1, 1, 1), [[1, 1, 1], [1, 1, 1]]), table((3.0, 5.0, 7.0), (11.0, 13.0, 17.0))
    for costs in (Charges(), DRAINS):
        found = evaluate(batch, figures, costs).energy_pj[0]
        assert ideal(arch, batch.workload, figures, costs).energy_pj == pytest.approx(found)


def certified(sizes, axes, objective, figures, **bandwidths):
    """A layer on a machine of two levels whose proof counts drained words, with its certificate."""
    glb = Storage("GLB", "SRAM", capacity_bits=16 * bandwidths.pop("words"), keep=frozenset("ABZ"), fanout=axes)
    dram = Storage("DRAM", "DRAM", read_bandwidth=bandwidths.get("dram"))
    return certified_on((dram, replace(glb, read_bandwidth=bandwidths["glb"])), sizes, objective, figures)


def certified_on(levels, sizes, objective, figures):
    """The same on a machine of these levels."""
    arch = Architecture("given", levels, Compute("MAC", "intmac"))
    space = Mapspace(arch, matmul(*sizes), "pfm", distinct=True)
    options = SearchOptions(strategy="optimal", objective=objective, certify=True)
    with a_poor_beginning():
        found = optimal(space, figures, options, DRAINS)
    assert verify(found.certificate, arch, space.workload, figures).optimal
    return found.certificate, arch, space.workload, figures


def test_a_certificate_needs_the_drained_words_of_each_flow(monkeypatch):
    """Without them the checker's bounds of cycles are too low to rule out what they ruled out."""
    proof = certified((4, 3, 3), (), "delay", table((0.0, 10.0, 3.0), (10.0, 3.0, 3.0)), glb=0.5, words=5)
    own = columns.flows
    monkeypatch.setattr(columns, "flows", lambda problem, keep: own(replace(problem, costs=Charges()), keep))
    with pytest.raises(Refused, match="leave room for something better"):
        verify(*proof)


def test_a_certificate_needs_the_drained_words_of_each_loop_order(monkeypatch):
    """Without them single combinations are no slower than the best in every order."""
    keep = frozenset("ABZ")
    levels = (
        Storage("DRAM", "DRAM", read_bandwidth=0.5),
        Storage("GLB", "SRAM", capacity_bits=16 * 12, keep=keep, read_bandwidth=1.0),
        Storage("RF", "regfile", capacity_bits=16 * 4, keep=keep, read_bandwidth=2.0),
    )
    figures = table((10.0, 3.0, 10.0), (0.0, 10.0, 10.0), (0.0, 0.0, 3.0))
    proof = certified_on(levels, (3, 3, 4), "edp", figures)
    own = orders.evaluate
    without = lambda batch, table, costs, counts: replace(own(batch, table, costs, counts), counts=counts)  # noqa: E731
    monkeypatch.setattr(orders, "evaluate", without)
    with pytest.raises(Refused, match="its loop orders of the set"):
        verify(*proof)


def test_a_certificate_of_other_costs_is_refused():
    """Its mapping then costs something else."""
    certificate, *rest = certified(
        (4, 3, 2), (Axis("X", 4),), "edp", table((10.0, 10.0, 1.0), (1.0, 1.0, 10.0)), glb=0.5, words=3
    )
    with pytest.raises(Refused, match="its mapping takes"):
        verify(certificate.model_copy(update={"drain_reads": False}), *rest)
    without = certificate.model_dump(exclude={"drain_reads"})
    with pytest.raises(Refused, match="its mapping takes"):
        verify(type(certificate).model_validate(without), *rest)
