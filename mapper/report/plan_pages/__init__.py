"""The page of a plan."""

from .plan_page import plan_html

__all__ = ["plan_html"]
