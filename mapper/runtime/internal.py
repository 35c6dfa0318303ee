"""Faults of the program itself."""


class InternalError(RuntimeError):
    """The program gave a figure that no execution can give; carries the mapping where there is one."""
