"""The pages of a plan, and its other files."""

from .part_pages import part_folders
from .plan_folder import remove_other_parts, write_plan, write_plan_pages

__all__ = ["part_folders", "remove_other_parts", "write_plan", "write_plan_pages"]
