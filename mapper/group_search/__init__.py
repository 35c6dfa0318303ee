"""Searches fused groups: tiles, loops, what stays, and the mappings of all stages, with what is proven."""
