"""Turns a recorded expression into a program for `_machine.c`, which runs it for many rows at once."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...mapping import Floats, Ints
from .symbols import OPERATIONS, Operation, Recording, UnknownOperationError

try:
    from . import _machine
except ImportError:  # no compiler where it was installed
    _machine = None  # type: ignore[assignment]

NUMBER = {name: i for i, name in enumerate(OPERATIONS)}
Engine = Literal["compiled", "plain"]
Load = Callable[[int, int], Any]  # (table, column) -> a symbol in place of an array
SWITCH = "RUBY_MAP_BOUNDS"  # environment variable; `plain`: bounds are computed by NumPy, the definition


def engine() -> Engine:
    """What computes bounds here: compiled programs, or NumPy where there was no compiler, or the switch says so."""
    return "plain" if _machine is None or os.environ.get(SWITCH) == "plain" else "compiled"


@dataclass(frozen=True, eq=False)
class Program:
    """An expression with some results. Its registers hold its constants, then what is computed."""

    code: NDArray[np.int32]  # (instruction, 4)
    registers: int
    constants: Floats  # (constant,)
    lookups: tuple[Floats, ...]
    columns: tuple[tuple[int, ...], ...]  # per table, those that it loads
    outputs: int

    @classmethod
    def of(cls, expression: Callable[[Load], Sequence[Any]], tables: int) -> "Program":
        """Record an expression of columns of so many tables. Raises UnknownOperationError."""
        recording = Recording()
        results = [recording.symbol(result) for result in expression(recording.load)]
        return _Assembly(recording, [result.number for result in results], tables).program()

    def packed(self, table: int, columns: Sequence[Floats] | Floats) -> Floats:
        """The columns # (row,) each that it loads from a table, row by row. # (row, column)"""
        return np.stack([columns[c] for c in self.columns[table]], axis=1) if self.columns[table] else np.empty((0, 0))

    def run(self, tables: Sequence[Floats], rows: Ints) -> Floats:
        """Its results for rows of each table # (set, table), each table `packed`. # (set, output)"""
        assert rows.shape[1] == len(tables) == len(self.columns), "a row of each table"
        out = np.empty((len(rows), self.outputs))
        given = tuple((table, table.shape[1]) for table in tables)
        rows = np.ascontiguousarray(rows, np.int64)
        _machine.run(self.code, self.registers, self.constants, self.lookups, given, rows, out)
        return out


def compiled(expression: Callable[[Load], Sequence[Any]], tables: int) -> Program | None:
    """The program of an expression; None where NumPy computes bounds, or operations of it are not recorded."""
    if engine() == "plain":
        return None
    try:
        return Program.of(expression, tables)
    except UnknownOperationError:
        return None


class _Assembly:
    """The choice of operations and registers of a program: only what results need, registers used again."""

    def __init__(self, recording: Recording, results: Sequence[int], tables: int) -> None:
        self.recording, self.results, self.tables = recording, results, tables

    def program(self) -> Program:
        """Choose them."""
        needed, last = self._needed()
        every = self.recording.operations
        place = {n: i for i, n in enumerate(n for n in needed if not isinstance(every[n], Operation))}
        constants = np.array([every[n] for n in place], float)
        columns: list[dict[int, int]] = [{} for _ in range(self.tables)]
        code, free, registers = list[tuple[int, int, int, int]](), list[int](), len(place)
        for n in needed:
            operation = every[n]
            if not isinstance(operation, Operation):
                continue
            if free:
                place[n] = free.pop()
            else:
                place[n], registers = registers, registers + 1
            code += self._instructions(operation, place[n], place, columns)
            for operand in set(_operands(operation)):
                if last[operand] == n and isinstance(every[operand], Operation):
                    free.append(place[operand])
        code += [(NUMBER["output"], i, place[result], 0) for i, result in enumerate(self.results)]
        return Program(
            np.array(code, np.int32).reshape(-1, 4),
            max(registers, 1),
            constants,
            tuple(self.recording.lookups),
            tuple(tuple(own) for own in columns),
            len(self.results),
        )

    def _needed(self) -> tuple[list[int], dict[int, int]]:
        """The operations that results need, in order, and of each the last that takes it."""
        every, last = self.recording.operations, dict.fromkeys(self.results, len(self.recording.operations))
        for n in range(len(every) - 1, -1, -1):
            operation = every[n]
            if n in last and isinstance(operation, Operation):
                for operand in _operands(operation):
                    last.setdefault(operand, n)
        return sorted(last), last

    def _instructions(
        self, operation: Operation, target: int, place: dict[int, int], columns: list[dict[int, int]]
    ) -> list[tuple[int, int, int, int]]:
        """Write an operation whose result goes to the register `target`."""
        name, operands = operation
        if name == "load":
            table, column = operands
            return [(NUMBER[name], target, table, columns[table].setdefault(column, len(columns[table])))]
        if name == "take":
            return [(NUMBER[name], target, place[operands[0]], operands[1])]
        registers = [place[operand] for operand in operands]
        first, second = registers[0], registers[1] if len(registers) > 1 else registers[0]
        more = [(NUMBER[name], target, registers[2], 0)] if len(registers) > 2 else []
        return [(NUMBER[name], target, first, second), *more]


def _operands(operation: Operation) -> tuple[int, ...]:
    """The symbols that an operation takes."""
    if operation.name == "load":
        return ()
    return operation.operands[:1] if operation.name == "take" else operation.operands
