"""The folder that `ruby-map --graph --out` writes: the graph as a picture."""

from pathlib import Path

from ....workloads import Network, written_together
from .picture import graph_svg


def write_graph_folder(network: Network, folder: Path) -> None:
    """Write the picture whole or not at all. Raises InputError where that fails."""
    with written_together(folder, "graph.svg", "make room and run the same command again to write it") as part:
        (part / "graph.svg").write_text(graph_svg(network), encoding="utf-8")
