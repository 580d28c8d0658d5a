"""What was keyed from paper sheets where two people key each: who, when, and what; never changed, never shown early.

A keying is of a play as it stood then: whatever is entered or ruled on the play afterwards leaves it behind.
"""

from dataclasses import dataclass
from typing import Final

from broker.people.store import Store

SET_ASIDE: Final = b""
"""The body of a keying that takes an earlier one of the same person back."""

_COLUMNS: Final = "number, at, who, whose, round, table_no, after, body, reason"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keying:
    """One person's reading of one sheet."""

    number: int = 0
    """Grows with every keying; 0: not yet kept."""
    at: int
    """Wall clock, ms since 1970 (UTC)."""
    who: str
    """Login name of who did it."""
    whose: str
    """Login name of whose reading it is: another's where an arbiter sets it aside."""
    round: int
    table: int
    after: str
    """Id of what was said last on the play; empty: nothing."""
    body: bytes
    reason: str = ""


class Keyings:
    """All keyings of an event."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep(self, keying: Keying) -> None:
        """Keep one; it is given the next number. Raises PeopleStoreBroken."""
        with self._store.commit() as sql:
            (last,) = sql.execute("SELECT coalesce(max(number), 0) FROM keyings").fetchone()
            told = (keying.at, keying.who, keying.whose, keying.round, keying.table, keying.after)
            row = (last + 1, *told, keying.body, keying.reason)
            sql.execute("INSERT INTO keyings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def all(self) -> list[Keying]:
        """Give all, oldest first. Raises PeopleStoreBroken."""
        return [_keying(row) for row in self._store.rows(f"SELECT {_COLUMNS} FROM keyings ORDER BY number")]  # noqa: S608 - columns of ours


def _keying(row: tuple[object, ...]) -> Keying:
    number, at, who, whose, round_, table, after, body, reason = row
    return Keying(
        number=number,  # type: ignore[arg-type] # the tables hold these types
        at=at,  # type: ignore[arg-type] # as above
        who=str(who),
        whose=str(whose),
        round=round_,  # type: ignore[arg-type] # as above
        table=table,  # type: ignore[arg-type] # as above
        after=str(after),
        body=body,  # type: ignore[arg-type] # as above
        reason=str(reason),
    )
