"""`ruby-map --list`: what the library has."""

from contextlib import suppress

from ...arch import library_archs
from ...workloads import library_workloads
from ..runtime import UnreadError, print_result
from .guard import FOUND, echo_json
from .ruby_map import MapRequest


def run(request: MapRequest) -> int:
    """Print the names of the library, or as many as are read."""
    with suppress(UnreadError):
        _print(request)
    return FOUND


def _print(request: MapRequest) -> None:
    archs, workloads = sorted(library_archs()), library_workloads()
    if request.as_json:
        echo_json({"archs": archs, "workloads": {name: list(layers) for name, layers in workloads.items()}})
        return
    print_result("\n".join(["architectures", *(f"  {name}" for name in archs), "workloads"]))
    for name, layers in workloads.items():
        print_result(f"  {name}" + (f" ({len(layers)} layers)" if layers else ""))
        for layer in layers:
            print_result(f"    {name}/{layer}")
