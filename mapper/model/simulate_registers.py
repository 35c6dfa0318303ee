"""The executor's elements with two registers: a clock that ticks while one register is used and the other exchanged."""

from collections.abc import Sequence


def cycles_of_two_registers(folds: Sequence[int], exchange: int, *, output: bool) -> int:
    """Count the cycles until all tiles have been used and exchanged, where fold i has `folds[i]` >= 1 steps and a tile
    takes `exchange` >= 1 cycles to come in before its fold, or with `output` to leave after it.

    A tile is in a register from the first cycle of its first stage to the last of its second. There are two.
    """
    exchanges = [exchange for _ in folds]
    lengths = (folds, exchanges) if output else (exchanges, folds)
    done, spent, cycles = [0, 0], [0, 0], 0  # tiles that have passed each stage, cycles of the tile in it
    while done[1] < len(folds):
        works = (done[0] < min(len(folds), done[1] + 2), done[1] < done[0])
        for stage, works_now in enumerate(works):
            spent[stage] += works_now
            if works_now and spent[stage] == lengths[stage][done[stage]]:
                done[stage], spent[stage] = done[stage] + 1, 0
        cycles += 1
    return cycles
