"""Other problems that compute the same as the one given."""
