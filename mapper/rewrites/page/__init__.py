"""The page of all shipped substitutions: pictures of both sides, texts, and what proves them."""

from .page import PAGE_HEAD, substitutions_html

__all__ = ["PAGE_HEAD", "substitutions_html"]
