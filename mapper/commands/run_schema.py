"""`ruby-map --schema NAME`: the JSON schema of a file that is read, or of an object that is written."""

from ...workloads import InputError, unknown_choice
from ..schemas import NAMES, schema
from .guard import FOUND, echo_json
from .ruby_map import MapRequest

ALL = "all"


def run(request: MapRequest) -> int:
    """Print a schema; of `all` an object with each by its name. Raises InputError for another name."""
    if request.schema == ALL:
        echo_json({name: schema(name) for name in NAMES})
        return FOUND
    if request.schema not in NAMES:
        raise InputError(unknown_choice("schema", request.schema, (*NAMES, ALL)))
    echo_json(schema(request.schema))
    return FOUND
