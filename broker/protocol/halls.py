"""Messages between a hall and the centre of an event that is played in several places.

A hall sends the rows of its journal in order, each with the links by which its chain is verified. The centre confirms
the last row that it has, so rows lost on the way are sent again and duplicates are skipped. The centre also tells all
halls which deals have been played at every table everywhere: only those are public.
"""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from broker.protocol.messages import FromScorer, Message, Version
from broker.protocol.types import Count, DealNo, Hash, Milliseconds, Seq, Signature, StoreId, TableNo

HallName = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,23}$(?!\n)", description="a level of topics, and part of the hall's user name"),
]

LONGEST_ROW: Final = 65_536
"""Characters of a row. Only a change of the plan can be longer, and it is not sent to the centre."""

MOST_ROWS: Final = 100
"""Rows in one message."""

MOST_COMPLETE: Final = 9_999

MOST_PASSED: Final = 1_000

MOST_LACKING: Final = 100


RowLink = Annotated[Hash, Meta(description="of this row (docs/store.md)")]
RowTime = Annotated[Milliseconds, Meta(description="when the hall stored it, by its wall clock")]
RowBody = Annotated[
    str,
    Meta(
        max_length=LONGEST_ROW,
        description="the stored JSON; empty: for this hall alone or, with a link of zeros, missing there",
    ),
]


class NextRow(Struct, frozen=True):
    """A row that follows another one in the journal."""

    link: RowLink
    at: RowTime
    body: RowBody


class HallRow(Message, frozen=True, kw_only=True):
    """A row of a hall's journal (a table's fact, a ruling of its desk, a device's admission) and those after it."""

    hall: HallName
    store: StoreId
    attempt: Annotated[Count, Meta(description="grows when the hall starts again from its first row")]
    height: Annotated[Seq, Meta(description="number of the row, without gaps")]
    before: Annotated[Hash, Meta(description="link of the row before it")]
    link: RowLink
    at: RowTime
    body: RowBody
    then: Annotated[
        tuple[NextRow, ...],
        Meta(max_length=MOST_ROWS - 1, description="the following rows, if more than one is sent"),
    ] = ()

    def each(self) -> "Iterator[HallRow]":
        """Yield the rows one by one."""
        last = replace(self, then=()) if self.then else self
        yield last
        for one in self.then:
            last = replace(last, height=last.height + 1, before=last.link, link=one.link, at=one.at, body=one.body)
            yield last


class HallState(Message, frozen=True, kw_only=True):
    """The state of a hall; its last will reports `gone`."""

    hall: HallName
    lifecycle: Literal["there", "gone"]
    height: Annotated[Count, Meta(description="rows in the hall's journal")]
    version: Version
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the hall; null: unknown")] = None
    passed_over: Annotated[
        tuple[tuple[TableNo, Seq], ...],
        Meta(
            max_length=MOST_PASSED, description="facts, by table, that the hall has refused and that nobody waits for"
        ),
    ] = ()


class HallReceipt(FromScorer, frozen=True, kw_only=True):
    """The last row of a hall's journal that the centre has stored."""

    hall: HallName
    store: Annotated[
        StoreId | None, Meta(description="the hall's store, to which the rows belong; null: none received")
    ] = None
    attempt: Count
    upto: Annotated[Count, Meta(description="number of the last row in the centre's store; 0: none")]
    link: Annotated[Hash | None, Meta(description="of that row")] = None
    refused: Annotated[Count, Meta(description="rows refused by the centre since it was started")] = 0
    lacks: Annotated[
        tuple[tuple[TableNo, Seq], ...],
        Meta(max_length=MOST_LACKING, description="facts, by table, that it has refused among these rows"),
    ] = ()
    revoked: Annotated[bool, Meta(description="the centre accepts nothing more from this hall")] = False
    signature: Annotated[Signature | None, Meta(description="by the event's key, over everything before it")] = None


class CentreState(FromScorer, frozen=True, kw_only=True):
    """The deals that every table of every hall has played, which are no longer under embargo."""

    complete: Annotated[tuple[DealNo, ...], Meta(max_length=MOST_COMPLETE)]
    halls: Annotated[Count, Meta(description="number of halls of the event")]
    store: Annotated[
        StoreId | None, Meta(description="the centre's store, whose height orders messages; null: unknown")
    ] = None
    signature: Annotated[Signature | None, Meta(description="by the event's key, over everything before it")] = None
