"""Orders to tables: who gave them, when, to whom and why. Kept before they are sent, and never changed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Final, get_args

import msgspec
from msgspec import Meta, Struct

from broker.contract.messages import Command
from broker.contract.words import LAST_TABLE, Count, Name, TableNo
from broker.people.errors import BadOrder, OrderGivenBefore, PeopleStoreBroken
from broker.people.store import Store

COMMANDS: Final[tuple[Command, ...]] = get_args(Command)
LONGEST_REASON: Final = 200
MOST_MINUTES: Final = 60

OF_ID: Final = "SELECT body FROM orders WHERE id = ?"


class Given(Struct, frozen=True, forbid_unknown_fields=True):
    """One order, to one or more tables."""

    tables: Annotated[tuple[TableNo, ...], Meta(min_length=1, max_length=LAST_TABLE)]
    command: Command
    minutes: Count
    reason: Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON)]
    author: Name
    """The full name of who gave it."""


@dataclass(frozen=True, slots=True)
class KeptOrder:
    """An order in the store. `seq` grows with every order; the messages of all its tables carry it."""

    seq: int
    id: str
    at: int
    who: str
    given: Given

    def id_at(self, table: int) -> str:
        """Give the id of the message to one of its tables, by which the table says that it carried the order out."""
        return f"{self.id}-{table}"


def order_of(
    tables: Collection[int], known: Collection[int], command: str, minutes: str, reason: str, author: str
) -> Given:
    """Make an order from what somebody has typed. Raises BadOrder."""
    kind = next((one for one in COMMANDS if one == command), None)
    if kind is None:
        raise BadOrder(f"an order is one of {', '.join(COMMANDS)}")
    if not tables or not set(tables) <= set(known):
        raise BadOrder("an order goes to tables of this event")
    return Given(tuple(sorted(set(tables))), kind, _minutes(kind, minutes), reason_of(reason), author)


def reason_of(typed: str) -> str:
    """Give a reason as it is kept. Raises BadOrder."""
    reason = " ".join(typed.split())
    if not 1 <= len(reason) <= LONGEST_REASON or not reason.isprintable():
        raise BadOrder(f"a reason has 1 to {LONGEST_REASON} printable characters")
    return reason


def _minutes(command: Command, text: str) -> int:
    if command != "extra_time":
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and 1 <= int(text) <= MOST_MINUTES):  # noqa: PLR2004 - digits
        raise BadOrder(f"extra time is 1 to {MOST_MINUTES} minutes")
    return int(text)


class Orders:
    """All orders of an event's folder."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def keep(self, id_: str, given: Given, who: str, now: int, *, above: int = 0) -> KeptOrder:
        """Keep an order; when this returns it is durable. `above`: the highest number that a table has obeyed.

        Tables obey nothing that is not newer than what they obeyed. This store may be another than the one that
        counted up to there (a copy, another machine whose clock is behind), so its own last number is not enough.
        Seconds of the wall clock are, for what a table that was never heard has obeyed, the best guess.

        Raises OrderGivenBefore where there is one of this id: a form that is sent twice gives one order.
        """
        with self._store.commit() as sql:
            _refuse_again(sql.execute(OF_ID, (id_,)).fetchall(), given)
            (last,) = sql.execute("SELECT coalesce(max(number), 0) FROM orders").fetchone()
            seq = max(last + 1, above + 1, now // 1000)
            row = (seq, id_, now, ",".join(map(str, given.tables)), who, msgspec.json.encode(given))
            sql.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", row)
        return KeptOrder(seq, id_, now, who, given)

    def refuse_again(self, id_: str, given: Given) -> None:
        """Raise OrderGivenBefore where there is an order of this id, PeopleStoreBroken."""
        _refuse_again(self._store.rows(OF_ID, id_), given)

    def newest(self, count: int) -> list[KeptOrder]:
        """Give the last orders, newest first. Raises PeopleStoreBroken."""
        query = "SELECT number, id, at, who, body FROM orders ORDER BY number DESC LIMIT ?"
        return [_kept(row) for row in self._store.rows(query, count)]


def _refuse_again(before: Iterable[tuple[object, ...]], given: Given) -> None:
    for (body,) in before:
        raise OrderGivenBefore(same=bytes(body) == msgspec.json.encode(given))  # type: ignore[call-overload] # a BLOB


def _kept(row: tuple[object, ...]) -> KeptOrder:
    seq, id_, at, who, body = row
    try:
        given = msgspec.json.decode(body, type=Given)  # type: ignore[call-overload] # a BLOB: the table is STRICT
    except msgspec.DecodeError as error:
        raise PeopleStoreBroken(f"an order cannot be read: {error}") from None
    return KeptOrder(seq, id_, at, who, given)  # type: ignore[arg-type] # as above
