"""Results: printed, tabulated, drawn, written."""
