"""The notebooks: each runs from its first cell to its last, and what is stored in it is what today's code shows."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "experiments"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MISSING = [name for name in ("nbclient", "ipykernel", "pandas", "onnx") if importlib.util.find_spec(name) is None]
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs(cells):
    """What each code cell shows: texts without durations, pictures by their kind alone."""
    return [whole([shown(output) for output in cell["outputs"]]) for cell in cells if cell["cell_type"] == "code"]


def whole(shown_outputs):
    """The same with texts of one stream in one piece, whatever pieces a fast or slow machine sent them in."""
    joined = []
    for output in shown_outputs:
        if joined and isinstance(output, tuple) and isinstance(joined[-1], tuple) and joined[-1][0] == output[0]:
            joined[-1] = output[0], joined[-1][1] + output[1]
        else:
            joined.append(output)
    return joined


def test_a_text_sent_in_pieces_is_the_whole():
    """Two pieces of one stream are one text; another stream or a picture between them keeps them apart."""
    assert whole([("stdout", "1\n"), ("stdout", "2\n"), ("stderr", "!")]) == [("stdout", "1\n2\n"), ("stderr", "!")]
    assert len(whole([("stdout", "1\n"), {"text/plain": "x"}, ("stdout", "2\n")])) == 3


def shown(output):
    if output["output_type"] == "stream":
        return output["name"], timeless(output["text"])
    assert output["output_type"] in ("display_data", "execute_result"), output
    return {kind: timeless(text) for kind, text in output["data"].items()}


def timeless(text):
    """Text in one piece; how long a search took, and the bytes of a picture, are of the day they were made."""
    text = "".join(text)
    if re.fullmatch(r"[A-Za-z0-9+/=\s]{1000,}", text):
        return "picture"
    return re.sub(r"[\d.]+ s, [\d,]+ mappings/s", "TIME", text)


def test_the_notebooks_are_there():
    """Six, in the order in which they are read."""
    assert [path.name[:2] for path in NOTEBOOKS] == ["1_", "2_", "3_", "4_", "5_", "6_"]


@each_notebook
def test_a_notebook_is_stored_whole(path):
    """Run in order without a fault, with a picture in it, small, and without paths of the machine it was run on."""
    cells = json.loads(path.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not any(cell["metadata"] for cell in cells), "times of day and the state of an editor are not stored"
    stored = json.dumps(outputs(cells))
    assert '"image/png": "picture"' in stored
    assert not re.search(r"/(tmp|home|root|work|Users)/|Traceback|Warning", stored)
    assert path.stat().st_size < 300_000


@pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install 'ruby-map[notebook]'")
@each_notebook
def test_what_a_notebook_shows_is_what_todays_code_shows(path):
    """Run again, every cell shows what is stored; where it rightly differs, `make notebooks` stores it anew."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    stored = outputs(notebook.cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    for number, (old, new) in enumerate(zip(stored, outputs(notebook.cells), strict=True), 1):
        assert new == old, f"{path.name}, In [{number}]: look why it differs, then run `make notebooks`"
