"""Rewrites of tensor graphs by rules that are proven."""
