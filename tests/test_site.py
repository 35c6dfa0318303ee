"""The documentation site: it builds without a warning, its links lead somewhere, and it asks no other host."""

import logging
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from .house import PROJECT, ROOT

pytest.importorskip("material", reason="needs the extra docs")


class Links(HTMLParser):
    """The links and anchors of a page, and what a browser fetches for it by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if "src" in values or (tag == "link" and values.get("rel") != "canonical"):
            self.fetched.append(values.get("src") or values.get("href", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does; a warning is a failure."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert logging.getLevelName(logging.WARNING) not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    """Every page with its links."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        found[path] = Links()
        found[path].feed(path.read_text())
    return found


def test_every_document_notebook_and_option_has_its_page(site: Path) -> None:
    """All of docs/, the decisions, the notebooks; every command with its options; every example."""
    for path in (ROOT / "docs").rglob("*.md"):
        page = path.with_name("index.md") if path.name == "README.md" else path
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists()
    for path in ROOT.glob("experiments/*.ipynb"):
        assert (site / "notebooks" / f"{path.stem}.html").exists()
    options, examples = (site / "options.html").read_text(), (site / "examples.html").read_text()
    assert all(f'id="{name}"' in options for name in PROJECT["scripts"])
    assert all(path.name in examples for path in ROOT.glob("examples/*.yaml"))
    assert "explore" in (site / "api.html").read_text()


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Links]) -> None:
    """Pages, files and anchors within the site exist; nothing points out of it into the repository."""
    wrong = []
    for page, found in pages.items():
        for link in (*found.links, *found.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or (page.name == "404.html" and parts.path.startswith("/")):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            known = pages[target].anchors if target in pages else set()
            if not target.exists() or (anchor and target in pages and anchor not in known and anchor != "__skip"):
                wrong.append(f"{page.relative_to(site)}: {link}")
    assert not wrong


def test_the_site_asks_no_other_host_for_anything(pages: dict[Path, Links]) -> None:
    """Fonts, scripts, pictures and styles are its own."""
    for page, found in pages.items():
        assert not [link for link in found.fetched if urlsplit(link).netloc], page
    styles = [path.read_text() for path in next(iter(pages)).parent.rglob("*.css")]
    assert not [style for style in styles if re.search(r"url\(['\"]?(?:https?:)?//", style)]
