"""Results: printed, tabulated, drawn, written."""

from .compare import comparison, comparison_json
from .described import Searched
from .difference import difference_json, difference_text
from .folder import write_folder, write_proof
from .frames import layer_rows, level_rows
from .front import exact_front
from .index_page import index_html
from .layouts import Layout, Layouts
from .mapping_page import mapping_html
from .network_result import NetworkResult
from .proof_text import gap_between
from .renderers import OF_LAYER, OF_NETWORK
from .replaced import with_mappings_of
from .result import Result
from .result_json import Json, result_json, why_json
from .show import Drawing, Printable, Renderer, Rows, register
from .tables import TextTable, energy_unit
from .timeloop import beside_json, beside_text, compare_with_timeloop
from .why import Neighbour, Why

__all__ = [
    "gap_between",
    "Drawing",
    "Json",
    "Layout",
    "Layouts",
    "Neighbour",
    "NetworkResult",
    "Renderer",
    "Result",
    "Rows",
    "Searched",
    "Printable",
    "TextTable",
    "Why",
    "compare_with_timeloop",
    "beside_json",
    "beside_text",
    "comparison",
    "comparison_json",
    "difference_json",
    "difference_text",
    "energy_unit",
    "exact_front",
    "index_html",
    "mapping_html",
    "register",
    "result_json",
    "with_mappings_of",
    "write_folder",
    "write_proof",
]

register(Result, level_rows, OF_LAYER)
register(NetworkResult, layer_rows, OF_NETWORK)
register(Why, why_json, ())
