"""The files of a plan in the folder that `--out` writes: its page, its tables, and a page for each part with layers."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..groups import group_html
from ..plans import NetworkPlan, front_file, levels_file, levels_table, plan_file, plan_table
from ..table_files import TABLES, csv_text
from .part_pages import part_folders
from .plan_page import plan_html


def write_plan(plan: NetworkPlan, folder: Path) -> None:
    """Write the pages of a plan, and the tables of the plan and its front."""
    write_plan_pages(plan, folder)
    for file, table in ((plan_file(plan), plan_table(plan)), (levels_file(plan), levels_table(plan))):
        (folder / f"{file.name}.csv").write_text(csv_text(file), encoding="utf-8")
        for suffix in ("md", "tex"):
            (folder / f"{file.name}.{suffix}").write_text(TABLES[suffix](table), encoding="utf-8")
    if plan.front:
        (folder / "plan_front.csv").write_text(csv_text(front_file(plan)), encoding="utf-8")


def write_plan_pages(plan: NetworkPlan, folder: Path, facts: Mapping[str, str] | None = None) -> None:
    """Write plan.html, and parts/NN_first_last/mapping.html of parts with layers; `facts` stand on the first."""
    (folder / "plan.html").write_text(plan_html(plan, facts or {}), encoding="utf-8")
    for number, own in part_folders(plan).items():
        layers = plan.costs.parts[number].layers
        assert layers is not None, "the part has layers"
        (folder / own).mkdir(parents=True)
        page = group_html(layers, above=f"part {number + 1} of the plan", link="../../plan.html")
        (folder / own / "mapping.html").write_text(page, encoding="utf-8")


def remove_other_parts(plan: NetworkPlan, folder: Path) -> None:
    """Remove the pages of parts that an interrupted run wrote, and its plan had; all other files stay."""
    own = {folder / part for part in part_folders(plan).values()}
    for page in (folder / "parts").glob("*/mapping.html"):
        if page.parent not in own:
            page.unlink()
            with suppress(OSError):  # it holds other files
                page.parent.rmdir()
