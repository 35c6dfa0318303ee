from collections.abc import Buffer

def run(
    code: Buffer,
    registers: int,
    constants: Buffer,
    lookups: tuple[Buffer, ...],
    tables: tuple[tuple[Buffer, int], ...],
    rows: Buffer,
    out: Buffer,
    /,
) -> None: ...
