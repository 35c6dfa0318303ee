"""ruby-map: finds good mappings of tensor computations onto accelerators.

What most programs need is offered here; the parts `ruby_map.workloads`, `.arch`, `.energy` and `.mapper` have the rest.
A name is imported when it is first used.
"""

from importlib import import_module, metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arch import Architecture, load_arch
    from .mapper import (
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

if not TYPE_CHECKING:  # which would take any name for one of ours
    _HOME = dict.fromkeys(("InputError", "Network", "Workload", "load_workload"), "workloads")
    _HOME |= dict.fromkeys(("Architecture", "load_arch"), "arch")

    def __getattr__(name):
        if name == "__version__":
            globals()[name] = metadata.version("ruby-map")
        elif name in __all__:
            globals()[name] = getattr(import_module(f".{_HOME.get(name, 'mapper')}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals()[name]

    def __dir__():
        return sorted({*globals(), *__all__})
