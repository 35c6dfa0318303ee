"""A layer or a network, from two inputs to a result."""
