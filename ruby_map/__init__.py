"""ruby-map: finds good mappings of tensor computations onto accelerators.

What most programs need is offered here; the parts `ruby_map.workloads`, `.arch`, `.energy` and `.mapper` have the rest.
A name is imported when it is first used.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arch import Architecture, load_arch
    from .mapper import (
        DesignStudy,
        Effort,
        NetworkResult,
        Result,
        SearchOptions,
        SweepResult,
        evaluate,
        explore,
        load,
        result_json,
        sweep,
        why,
    )
    from .workloads import InputError, Network, Workload, load_workload

    __version__: str

__all__ = [
    "Architecture",
    "DesignStudy",
    "Effort",
    "InputError",
    "Network",
    "NetworkResult",
    "Result",
    "SearchOptions",
    "SweepResult",
    "Workload",
    "__version__",
    "evaluate",
    "explore",
    "load",
    "load_arch",
    "load_workload",
    "result_json",
    "sweep",
    "why",
]

# In the root of the repository Python finds this folder before an installed package; the parts are then beside it.
if not os.path.isdir(os.path.join(__path__[0], "mapper")):
    __path__.append(os.path.dirname(__path__[0]))

if not TYPE_CHECKING:  # which would take any name for one of ours
    _PARTS = ("arch", "energy", "mapper", "workloads")
    _HOME = dict.fromkeys(("InputError", "Network", "Workload", "load_workload"), "workloads")
    _HOME |= dict.fromkeys(("Architecture", "load_arch"), "arch")

    def __getattr__(name):
        if name == "__version__":
            globals()[name] = import_module("importlib.metadata").version("ruby-map")
        elif name in _PARTS:
            return import_module(f".{name}", __name__)
        elif name in __all__:
            globals()[name] = getattr(import_module(f".{_HOME.get(name, 'mapper')}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals()[name]

    def __dir__():
        return sorted({*__all__, *_PARTS, *(name for name in globals() if name.startswith("__"))})
