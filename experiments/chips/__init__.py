"""Measured and published figures of chips, beside what our model says of them: a module for each."""
