"""Templates: YAML with Jinja's `{{...}}` and `{%...%}`, as Timeloop's front end reads it.

A template is rendered in a process of its own by Jinja's sandbox: it runs no code, reads no file outside the folders
given, and ends after a few seconds.
"""

from .render import Rendered, alike_rendered_once, folders_of, is_template, rendered, template_values

__all__ = [
    "Rendered",
    "alike_rendered_once",
    "folders_of",
    "is_template",
    "rendered",
    "template_values",
]
