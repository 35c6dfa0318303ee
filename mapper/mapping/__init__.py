"""Mappings as arrays, and as Timeloop's files."""
