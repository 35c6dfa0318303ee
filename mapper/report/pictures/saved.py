"""Pictures as files: PNG, and SVG and PDF whose words are text; the same picture gives the same bytes."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200  # of a PNG
# what is written into a file beside the picture, by its suffix: no date and no program's version
PICTURES: Mapping[str, Mapping[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "ruby-map", "pdf.fonttype": 42}


def figure_bytes(figure: "Figure", suffix: str) -> bytes:
    """A figure as the content of a file with `suffix`, one of PICTURES."""
    from matplotlib import rc_context  # not before it is needed

    out = BytesIO()
    with rc_context(SETTINGS):
        figure.savefig(out, format=suffix, dpi=DPI, metadata=dict(PICTURES[suffix]))
    return out.getvalue()


def save_figure(figure: "Figure", path: Path, formats: Iterable[str] = ("png",)) -> list[Path]:
    """Write a figure as `path` with the suffix of each of `formats` (of PICTURES); returns the paths."""
    written = [path.with_name(f"{path.name}.{suffix}") for suffix in formats]
    for one in written:
        one.write_bytes(figure_bytes(figure, one.suffix[1:]))
    return written
