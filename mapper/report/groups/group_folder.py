"""The folder that `ruby-map --group --out` writes: the plan, its figures and its page."""

import json
from pathlib import Path

from ....workloads import written_together
from .group_page import group_html
from .group_result import GroupResult
from .group_text import plan_yaml


def write_group_folder(result: GroupResult, folder: Path) -> None:
    """Write a result that has a group: all files or none. Raises InputError where that fails."""
    assert result.costs is not None, "a group fits"
    with written_together(folder, "stats.json", "make room and run the same command again to write them") as part:
        (part / "plan.yaml").write_text(plan_yaml(result.costs), encoding="utf-8")
        (part / "mapping.html").write_text(group_html(result.costs), encoding="utf-8")
        (part / "stats.json").write_text(json.dumps(result.json(), indent=2, allow_nan=False) + "\n")
