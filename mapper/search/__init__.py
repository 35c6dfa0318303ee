"""Mappings proposed, scored and recorded until a rule ends the search."""
