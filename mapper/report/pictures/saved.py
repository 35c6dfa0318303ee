"""Pictures as files: PNG, and SVG and PDF whose words are text; the same picture gives the same bytes."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....workloads import ToldWarning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200  # of a PNG
# what is written into a file beside the picture, by its suffix: no date and no program's version
PICTURES: Mapping[str, Mapping[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


class PictureWarning(ToldWarning):
    """Says that a picture could not be drawn; all else is written."""


def drawn_bytes(
    name: str, draw: Callable[[], "Figure"], formats: Iterable[str], dpi: int = DPI
) -> Iterator[tuple[str, bytes]]:
    """Draw a picture: yield each of `formats` (of PICTURES) with the content of its file.

    matplotlib runs by its own settings, not by the user's. Where it fails nothing more comes, and a PictureWarning says
    why: a result is worth more than its picture.
    """
    try:
        from .style import own_settings

        with own_settings():
            figure = draw()
            contents = [(suffix, _content(figure, suffix, dpi)) for suffix in formats]
    except Exception as error:  # of any kind: fonts, names, settings, memory
        why = (str(error).strip().splitlines() or [""])[0]
        warnings.warn(PictureWarning(f"{name} cannot be drawn: {type(error).__name__}: {why}"), stacklevel=2)
        return
    yield from contents


def save_picture(
    draw: Callable[[], "Figure"], path: Path, formats: Iterable[str] = ("png",), dpi: int = DPI
) -> list[Path]:
    """Write a picture as `path` with the suffix of each of `formats`; returns the paths. See `drawn_bytes`."""
    written = []
    for suffix, content in drawn_bytes(path.name, draw, formats, dpi):
        written.append(path.with_name(f"{path.name}.{suffix}"))
        written[-1].write_bytes(content)
    return written


def _content(figure: "Figure", suffix: str, dpi: int) -> bytes:
    out = BytesIO()
    figure.savefig(out, format=suffix, dpi=dpi, metadata=dict(PICTURES[suffix]))
    return out.getvalue()
