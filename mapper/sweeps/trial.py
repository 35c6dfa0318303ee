"""The first designs of a sweep tried before anything runs: can they be made, are there energies, does anything fit."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from ...arch import check_fit
from ...arch.block_scales import with_scales
from ...workloads import Document, Fault, InputError, Keys, Network, Workload, collect
from ..designs import ExpressionError
from ..exploration import distinct_layers
from .energy import Energies
from .plan import Plan, design_values

TRIED = 100  # designs, to find one that can be used


def named(document: Document, at: Keys, name: str, faults: Iterable[Fault]) -> list[Fault]:
    """Faults of a name as a whole at the line that gives it; those inside the file it names where they are."""
    return [document.fault(at, f"{name}: {fault.message}") if fault.line is None else fault for fault in faults]


def nothing_fits(document: Document, plan: Plan) -> list[Fault]:
    """Faults of each workload that fits none of the first designs. One that fails later is recorded."""
    faults: list[Fault] = []
    for name, workload in plan.workloads.items():
        tries = (_fit_faults(document, plan, design, workload) for design in islice(plan.designs, TRIED))
        first = next(tries)
        if first and all(tries):
            faults += named(document, ("workloads", list(plan.workloads).index(name)), name, first)
    return faults


def not_charged(document: Document, plan: Plan) -> list[Fault]:
    """Why none of the first designs has energies; of files and engines that the sweep names, why the first has none."""
    built_in = plan.energies == Energies(costs=plan.energies.costs)
    first_faults: list[Fault] = []
    for design in islice(plan.designs, TRIED if built_in else 1):
        try:
            machine = plan.arch(design)
        except (ExpressionError, InputError):
            continue  # its points will say so
        faults: list[Fault] = []
        with warnings.catch_warnings(action="ignore"):  # its points will warn
            collect(faults, lambda machine=machine: plan.energies.table(machine))  # type: ignore[misc]
        if not faults:
            return []
        first_faults = first_faults or _of_design(plan, design, faults)
    return [document.fault(("energy",), fault.message) if fault.line is None else fault for fault in first_faults]


def _of_design(plan: Plan, design: int, faults: Iterable[Fault]) -> list[Fault]:
    """The faults with the design that has them."""
    values = ", ".join(f"{name} {value}" for name, value in design_values(plan, design).items())
    where = f" (design {design}: {values})" if values else ""
    return [replace(fault, message=fault.message + where) for fault in faults]


def _fit_faults(document: Document, plan: Plan, design: int, workload: Workload | Network) -> list[Fault]:
    """Why a workload cannot be mapped on a design."""
    try:
        machine = with_scales(plan.arch(design), distinct_layers(workload))
    except ExpressionError as error:
        return [document.fault(("parameters",), str(error))]
    except InputError as error:
        return _of_design(plan, design, error.faults)
    faults: list[Fault] = []
    for layer in distinct_layers(workload):
        collect(faults, lambda layer=layer: check_fit(machine, layer, machine.name))  # type: ignore[misc]
    return faults
