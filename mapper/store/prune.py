"""Removes mappings from a store."""

from .store import Store

_PLACE = "row_number() OVER (PARTITION BY problem ORDER BY value, next_value, key)"
_PLACED = f"SELECT id, date, {_PLACE} AS place FROM mapping"


def prune(store: Store, keep: int | None = None, before: str | None = None) -> int:
    """Remove all but the `keep` best mappings of each problem, and those held since a date before `before` (UTC).

    The best mapping of a problem always stays, as do the proofs. Returns how many are removed; the file becomes
    smaller.
    """
    with store.writing() as database:
        removed = 0
        for condition, value in (("place > ?", keep), ("place > 1 AND date < ?", before)):
            if value is not None:
                where = f"id IN (SELECT id FROM ({_PLACED}) WHERE {condition})"
                removed += database.execute(f"DELETE FROM mapping WHERE {where}", (value,)).rowcount
    if removed:
        with store.file.guarded():
            store.file.database.execute("VACUUM")
    return removed
