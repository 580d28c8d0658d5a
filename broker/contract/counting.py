"""Counting a winner's hand from the backs of its tiles: what a table asks, and what it is told. Never a face."""

from typing import Annotated

from msgspec import Meta, Struct

from broker.contract.messages import FromScorer, Message
from broker.contract.words import Code, Count, DealNo, MessageId, RoundNo, Seat, Serial, TableNo

MOST_TILES = 18
"""Of a winner with four kongs."""

Group = Annotated[tuple[Serial, ...], Meta(min_length=1, max_length=13)]
"""Tiles that lie side by side, from the left."""

FanId = Annotated[
    str,
    Meta(pattern=r"^[a-z][a-z0-9_]{1,47}$(?!\n)", description="of fan.toml; tables have the names"),
]


class Said(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """What somebody has to say of a win because the tiles cannot: one struct a rule book."""


class SaidOfMcr(Said, frozen=True, tag="mcr", kw_only=True):
    """Of a win under MCR. Who drew a tile the serials tell: everybody has a wall of their own."""

    last_tile: Annotated[bool, Meta(description="the last tile of the wall was reached (OEDMC rules 3 to 5)")] = False
    kong: Annotated[bool, Meta(description="a replacement tile, or the tile of a robbed kong")] = False
    last_of_kind: Annotated[bool, Meta(description="the three other tiles like it lay open before")] = False


class CountRequest(Message, frozen=True, kw_only=True):
    """A table asks what a declared hand is worth. Asked again, it keeps its `id`."""

    table: TableNo
    round: RoundNo
    deal: DealNo
    seat: Annotated[Seat, Meta(description="who has declared")]
    groups: Annotated[
        tuple[Group, ...], Meta(min_length=2, max_length=MOST_TILES, description="as they lie; last the winning tile")
    ]
    said: SaidOfMcr = SaidOfMcr()


class Answer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """One kind of answer."""


class CountedFan(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One fan of a hand, and what it is worth."""

    id: FanId
    fan: Annotated[int, Meta(ge=1, le=88)]


class McrValue(Answer, frozen=True, tag="mcr", kw_only=True):
    """What a hand is worth; under the minimum it cannot win."""

    fan: Annotated[int, Meta(ge=0, le=999)]
    minimum: Count
    elements: Annotated[tuple[CountedFan, ...], Meta(max_length=60, description="the greatest first")]


class NotCounted(Answer, frozen=True, tag="refused", kw_only=True):
    """Why nothing was counted."""

    code: Code


AnyAnswer = McrValue | NotCounted


class Counted(FromScorer, frozen=True, kw_only=True):
    """The answer to one request, for the table that asked."""

    table: TableNo
    asked: Annotated[MessageId, Meta(description="id of the request")]
    answer: AnyAnswer
