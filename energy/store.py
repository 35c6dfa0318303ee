"""The store of estimates of slow engines on disk: a small file for each, written whole or not at all.

The folder is that of RUBY_MAP_CACHE, else ruby-map below XDG_CACHE_HOME or ~/.cache; an empty RUBY_MAP_CACHE means that
nothing is stored. Several processes may use the folder at once: each writes a file of its own and puts it in place in
one step, and all write the same.
"""

import hashlib
import json
import math
import os
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..workloads import ToldWarning

FORMAT = 1  # of the files; others are not looked at


class CacheWarning(ToldWarning):
    """Says that a stored estimate could not be read or written."""


def cache_folder() -> Path | None:
    """The folder of the store; None: nothing is stored."""
    own = os.environ.get("RUBY_MAP_CACHE")
    if own is not None:
        return Path(own) if own else None
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ruby-map"
    except RuntimeError:  # no home
        return None


@dataclass(frozen=True)
class Entry:
    """What identifies an estimate: the engine and its version, the class and the attributes of the component."""

    engine: str
    version: str
    cls: str
    attributes: Mapping[str, object]  # of JSON's values

    def _key(self) -> dict[str, object]:
        # through JSON and back: a key read from a file compares equal
        key: dict[str, object] = json.loads(json.dumps(asdict(self) | {"format": FORMAT}, sort_keys=True))
        return key

    def path(self) -> Path | None:
        """The path of the file, whether it exists or not; None where nothing is stored."""
        folder = cache_folder()
        text = json.dumps(self._key(), sort_keys=True, separators=(",", ":"))
        return folder and folder / self.engine / f"{hashlib.sha256(text.encode()).hexdigest()}.json"

    def read(self) -> dict[str, float] | None:
        """The stored figures by name; None where there are none. A damaged file is a CacheWarning, and None too."""
        path = self.path()
        if path is None:
            return None
        try:
            return self._checked(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            why = getattr(error, "strerror", None) or error
            warnings.warn(
                f"kept estimate {path} is not readable and is computed anew: {why}", CacheWarning, stacklevel=2
            )
            return None

    def _checked(self, content: object) -> dict[str, float]:
        figures = content.get("figures") if isinstance(content, dict) else None
        if not isinstance(content, dict) or content.get("key") != self._key() or not isinstance(figures, dict):
            raise ValueError("not the estimate that its name says")
        if not all(type(value) in (int, float) and 0 <= value < math.inf for value in figures.values()):
            raise ValueError("a figure is no number from 0")
        return {str(name): float(value) for name, value in figures.items()}

    def write(self, figures: Mapping[str, float]) -> None:
        """Store `figures`. A failure is a CacheWarning, as the figures are good all the same."""
        path = self.path()
        if path is None:
            return
        text = json.dumps({"key": self._key(), "figures": dict(figures)}, indent=1)
        part = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(prefix=f".{path.stem[:8]}-", suffix=".part", dir=path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, path)
        except OSError as error:
            warnings.warn(f"estimate not kept in {path}: {error.strerror}", CacheWarning, stacklevel=2)
            if part:
                Path(part).unlink(missing_ok=True)
