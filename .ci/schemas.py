"""Records the JSON schemas in docs/schemas/: `make schemas`. A test compares what is recorded with what there is."""

import json
from pathlib import Path

from ruby_map.mapper.schemas import NAMES, schema

FOLDER = Path(__file__).parent.parent / "docs/schemas"


def recorded() -> dict[Path, str]:
    """What each file should hold."""
    return {FOLDER / f"{name}.json": json.dumps(schema(name), indent=1) + "\n" for name in NAMES}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.json"):
        old.unlink()
    for path, text in recorded().items():
        path.write_text(text)
