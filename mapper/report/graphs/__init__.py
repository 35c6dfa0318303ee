"""Graphs of networks: listed, and drawn."""

from .graph_folder import write_graph_folder
from .labels import cut
from .listing import graph_json, graph_text
from .picture import graph_svg

__all__ = ["cut", "graph_json", "graph_svg", "graph_text", "write_graph_folder"]
