"""The systolic array of a machine, as its axes say it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SystolicArray:
    """The systolic axes of an architecture: all below one level, those of mesh Y its rows, those of X its columns."""

    level: int
    rows: int  # of hardware, whatever a mapping uses of them
    columns: int
    row_slots: tuple[int, ...]
    column_slots: tuple[int, ...]
    double_buffered: bool = False  # where one of the axes says so

    @property
    def skew(self) -> int:
        """Cycles from the first word at the first element to the last one's result, beyond one for each step."""
        return self.rows + self.columns - 2
