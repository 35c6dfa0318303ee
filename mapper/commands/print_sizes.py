"""What `ruby-map --size` prints: how many mappings there are."""

from dataclasses import asdict

from ..mapspace import Mapspace
from ..runtime import print_result
from .guard import echo_json


def print_sizes(mapspaces: list[Mapspace], mapspace: str, as_json: bool) -> None:
    """Print the number of mappings, valid or not, and of the choices that they combine."""
    if not as_json:
        for space in mapspaces:
            print_result(f"{space.workload.name} on {space.arch.name}, {mapspace}: {space.size} mappings")
            if mapspace == "auto":
                remainders = f"remainders at {space.reason}" if space.imperfect else f"no remainders: {space.reason}"
                print_result(f"  {remainders}")
            if not space.size.exact:
                print_result(
                    "  the number is known within limits: factorization and total are at most, least is at least"
                )
            for part, number in asdict(space.size).items():
                if part != "least" or not space.size.exact:
                    print_result(f"  {part:<14} {number:,}")
            print_result(f"  {'log10':<14} {space.size.log10:.2f}")
        return
    layers = [_size_json(space) for space in mapspaces]
    echo_json(layers[0] if len(layers) == 1 else {"layers": layers})


def _size_json(space: Mapspace) -> dict[str, object]:
    size = space.size
    figures = {"size": asdict(size), "log10": size.log10, "human": str(size)}
    return {"workload": space.workload.name} | figures | {"remainders": list(space.imperfect), "reason": space.reason}
