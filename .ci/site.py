"""What the documentation site has beside docs/: the front page, notebooks, examples, pictures, options and the API.

Links that lead out of docs/, as they do where the repository is read, lead to these pages; the rest become text.
"""

import ast
import importlib
import inspect
import operator
import os
import posixpath
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter

ROOT = Path(__file__).parent.parent
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
NOTEBOOKS = sorted(ROOT.glob("experiments/*.ipynb"))
COPIED = [
    *ROOT.glob("experiments/results/*.png"),
    *ROOT.glob("experiments/*.yaml"),
    *ROOT.glob("examples/*.yaml"),
    *ROOT.glob("examples/cost_models/*.py"),
    *(ROOT / name for name in ("LICENSE", "CITATION.cff")),
]
EXTENSION_AS_TEXT = {"LICENSE": "LICENSE.txt", "CITATION.cff": "CITATION.cff.txt"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)]*)?\)")
OFFERED = {  # of the page of the API, by module
    "ruby_map.mapper.exploration": ("explore", "api.Request", "evaluate", "load", "why"),
    "ruby_map.mapper.search.options": ("SearchOptions",),
    "ruby_map.mapper.report": ("Result", "NetworkResult", "Why", "result_json"),
    "ruby_map.mapper.sweeps": ("sweep", "SweepResult"),
    "ruby_map.mapper.problem": ("Charges", "Problem", "Goal"),
    "ruby_map.arch": ("load_arch", "Architecture", "Storage", "Axis"),
    "ruby_map.workloads": ("load_workload", "shaped", "Workload", "Network", "Tensor", "InputError", "Fault"),
    "ruby_map.energy": ("energy_table", "EnergyTable"),
}


def _places() -> dict[str, str]:
    """Where files outside docs/ are in the site, by their paths from the root of the repository."""
    places = {f"docs/{path.relative_to(ROOT / 'docs')}": str(path.relative_to(ROOT / "docs")) for path in _docs()}
    places |= PAGES | {f"experiments/{path.name}": f"notebooks/{path.stem}.md" for path in NOTEBOOKS}
    places |= {str(path.relative_to(ROOT)): str(path.relative_to(ROOT)) for path in COPIED} | EXTENSION_AS_TEXT
    return places | {
        "examples": "examples.md",
        "examples/README.md": "examples.md",
        "examples/cost_models": "cost-models.md",
    }


def _docs() -> Iterator[Path]:
    return (path for path in (ROOT / "docs").rglob("*") if path.is_file())


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the notebooks and the decisions in the navigation."""
    lists = {
        "notebooks": [f"notebooks/{path.stem}.md" for path in NOTEBOOKS],
        "decisions": [
            "decisions/README.md",
            *(f"decisions/{path.name}" for path in sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))),
        ],
    }
    for part in config.nav or []:
        for entries in part.values() if isinstance(part, dict) else ():
            for entry in entries if isinstance(entries, list) else ():
                for name, inner in entry.items() if isinstance(entry, dict) else ():
                    entry[name] = [found for one in inner for found in lists.get(one, [one])]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files that docs/ does not hold."""
    texts = {place: (ROOT / path).read_text() for path, place in PAGES.items()}
    texts |= {"examples.md": _examples(), "options.md": _options(), "api.md": _api()}
    for path in NOTEBOOKS:
        text, pictures = MarkdownExporter().from_notebook_node(nbformat.read(path, as_version=4))
        texts[f"notebooks/{path.stem}.md"] = re.sub(r"!\[png\]\(([^)]+)\)", rf"![]({path.stem}/\1)", text)
        for name, content in pictures["outputs"].items():
            files.append(File.generated(config, f"notebooks/{path.stem}/{name}", content=content))
    for place, text in texts.items():
        files.append(File.generated(config, place, content=text))
    for path in COPIED:
        name = str(path.relative_to(ROOT))
        files.append(File.generated(config, EXTENSION_AS_TEXT.get(name, name), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links that lead out of docs/ to where the site has what they mean."""
    here, places = page.file.src_uri, _places()
    origins = {place: path for path, place in places.items()} | {"examples.md": "examples/README.md"}
    source = posixpath.dirname(origins.get(here, f"docs/{here}"))

    def turned(link: re.Match[str]) -> str:
        picture, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        if re.match(r"\w+:", target) or here.startswith("notebooks/") and picture:
            return link[0]
        place = places.get(posixpath.normpath(posixpath.join(source, target)))
        if place is None:
            return text  # a folder of the repository, or code
        return f"{picture}[{text}]({posixpath.relpath(place, posixpath.dirname(here) or '.')}{anchor})"

    parts = re.split(r"(^```.*?^```|`[^`\n]+`)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(LINK.sub(turned, part) if number % 2 == 0 else part for number, part in enumerate(parts))


def _examples() -> str:
    """The files of examples/, each shown whole."""
    parts = [(ROOT / "examples/README.md").read_text()]
    for path in sorted(ROOT.glob("examples/*.yaml")):
        parts.append(f"## {path.name}\n\n```yaml\n{path.read_text()}```\n")
    return "\n".join(parts)


def _options() -> str:
    """What every command prints for --help."""
    parts = ["# Every option\n\nWhat each command prints for `--help`; [commands](commands.md) explains them.\n"]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    environment = os.environ | {"COLUMNS": "110", "TERM": "dumb", "NO_COLOR": "1"}
    for name, place in scripts.items():
        module, function = place.split(":")
        code = f"from {module} import {function}; {function}()"
        done = subprocess.run(
            [sys.executable, "-c", code, "--help"], capture_output=True, text=True, env=environment, check=True
        )
        lines = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
        parts.append(f"## {name}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def _api() -> str:
    """The page of the Python interface, from its docstrings."""
    parts = ["# Functions and classes\n\nFrom their docstrings; [From Python](python.md) shows their use.\n"]
    for module, names in OFFERED.items():
        parts.append(f"## {module}\n")
        for name in names:
            parts += [f"::: {module}.{name}\n", _fields(operator.attrgetter(name)(importlib.import_module(module)))]
    return "\n".join(parts)


def _fields(offered: object) -> str:
    """The fields of a class as the source has them, with their comments; "" where it has none."""
    if not isinstance(offered, type):
        return ""
    lines = textwrap.dedent(inspect.getsource(offered)).splitlines()
    (body,) = ast.parse("\n".join(lines)).body
    fields = (
        [entry for entry in body.body if isinstance(entry, ast.AnnAssign)] if isinstance(body, ast.ClassDef) else []
    )
    if not fields:
        return ""
    shown = textwrap.dedent("\n".join(lines[fields[0].lineno - 1 : fields[-1].end_lineno]))
    return f"Fields of {offered.__name__}:\n\n```python\n{shown}\n```\n"
