"""Requests to value a hand or reconstruct a play from its tiles' serials, and the answers. No face is named."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.protocol.messages import Message, ToTable
from broker.protocol.types import Code, Count, DealNo, MessageId, RoundNo, Seat, Serial, TableNo, Wind

MOST_TILES = 18
"""Tiles of a winner with four kongs."""

SerialGroup = Annotated[tuple[Serial, ...], Meta(min_length=1, max_length=13)]
"""Serials of tiles that lie side by side, from the left."""

GroupNo = Annotated[int, Meta(ge=1, le=MOST_TILES, description="counted from 1 in the order of the groups")]

_ID = r"^[a-z][a-z0-9_]{1,47}$(?!\n)"

FanId = Annotated[str, Meta(pattern=_ID, description="as in fan.toml; tables have the names")]

YakuId = Annotated[str, Meta(pattern=_ID, description="as in names.toml; tables have the names")]

RiichiDeclared = Literal["riichi", "double_riichi", "open_riichi", "double_open_riichi"]
"""How riichi was declared: the id of the yaku."""

WinTiming = Literal["last_tile", "kan", "first_turn"]
"""When a hand was won: on the last tile of the wall or the discard after it; on a replacement tile or a robbed kan; in
the first turn."""


class HandLayout(Struct, frozen=True, kw_only=True):
    """How a hand lies, as a person enters it where the walls do not show it: walls confirmed by hand, or a common wall.

    The groups start with the concealed tiles; each further group is a meld.
    """

    self_drawn: Annotated[bool, Meta(description="the winner drew the winning tile")]
    concealed_kongs: Annotated[
        tuple[GroupNo, ...], Meta(max_length=4, description="numbers of these groups; every other meld was claimed")
    ] = ()


class WinDetails(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Facts about a win that the tiles cannot show and a person has to enter. One struct for each rule book."""


class McrWinDetails(WinDetails, frozen=True, tag="mcr", kw_only=True):
    """An MCR win. Where the walls were read the serials show who drew a tile, as each player has their own wall."""

    last_tile: Annotated[bool, Meta(description="the last tile of the wall was reached (OEDMC rules 3 to 5)")] = False
    kong: Annotated[bool, Meta(description="won on a replacement tile, or by robbing a kong")] = False
    last_of_kind: Annotated[bool, Meta(description="the three other tiles of this face were visible before")] = False
    laid: Annotated[HandLayout | None, Meta(description="null: the walls were read")] = None


class RiichiWinDetails(WinDetails, frozen=True, tag="riichi", kw_only=True):
    """A riichi win, where all draw from one wall. A win after eight counters is added by the session."""

    laid: HandLayout
    round_wind: Wind
    dealer: Seat
    riichi: RiichiDeclared | None = None
    ippatsu: bool = False
    moment: WinTiming | None = None
    red_fives: Annotated[int, Meta(ge=0, le=3, description="in the hand, if the set is registered without them")] = 0
    dora: Annotated[tuple[Serial, ...], Meta(max_length=5, description="the revealed indicators")] = ()
    ura: Annotated[tuple[Serial, ...], Meta(max_length=5, description="those under them, revealed after riichi")] = ()


AnyWinDetails = McrWinDetails | RiichiWinDetails


class CountRequest(Message, frozen=True, kw_only=True):
    """A table's request to value a declared hand. A repeated request keeps its `id`."""

    table: TableNo
    round: RoundNo
    deal: DealNo
    seat: Annotated[Seat, Meta(description="the seat that declared hu")]
    groups: Annotated[
        tuple[SerialGroup, ...],
        Meta(min_length=2, max_length=MOST_TILES, description="as they lie; the winning tile is last"),
    ]
    said: AnyWinDetails = McrWinDetails()


class CountAnswer(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all answers."""


class CountedFan(Struct, frozen=True, kw_only=True):
    """One fan of a hand and its value."""

    id: FanId
    fan: Annotated[int, Meta(ge=1, le=88)]


class McrValue(CountAnswer, frozen=True, tag="mcr", kw_only=True):
    """The value of a hand under MCR. A hand below the minimum cannot win."""

    fan: Annotated[int, Meta(ge=0, le=999)]
    minimum: Count
    elements: Annotated[tuple[CountedFan, ...], Meta(max_length=60, description="the highest first")]


class CountedYaku(Struct, frozen=True, kw_only=True):
    """One yaku of a hand, or its dora, with its value in han or yakuman."""

    id: YakuId
    han: Annotated[int, Meta(ge=1, le=99)]
    yakuman: Annotated[int, Meta(ge=0, le=6)] = 0


class CountedFu(Struct, frozen=True, kw_only=True):
    """One item of fu and its reason. The tiles are not named."""

    id: YakuId
    fu: Annotated[int, Meta(ge=0, le=99)]


class RiichiValue(CountAnswer, frozen=True, tag="riichi", kw_only=True):
    """The value of a hand under riichi rules. `fu` is rounded; 0 where fu are not counted."""

    han: Annotated[int, Meta(ge=1, le=99)]
    fu: Annotated[int, Meta(ge=0, le=999)]
    yakuman: Annotated[int, Meta(ge=0, le=6)]
    yaku: Annotated[tuple[CountedYaku, ...], Meta(min_length=1, max_length=40)]
    items: Annotated[tuple[CountedFu, ...], Meta(max_length=20, description="the items of the fu")] = ()


class NotCounted(CountAnswer, frozen=True, tag="refused", kw_only=True):
    """The reason why a hand was not valued."""

    code: Code


AnyCountAnswer = McrValue | RiichiValue | NotCounted


class PlayFound(CountAnswer, frozen=True, tag="found", kw_only=True):
    """A play reconstructed from its tiles: how many of its steps are proved, or why none was found."""

    round: RoundNo
    steps: Annotated[int, Meta(ge=0, le=999)] = 0
    proved: Annotated[int, Meta(ge=0, le=999)] = 0
    code: Annotated[Code | None, Meta(description="why no play was found")] = None


class Counted(ToTable, frozen=True, kw_only=True):
    """The answer to one request, addressed to the table that asked."""

    table: TableNo
    asked: Annotated[MessageId, Meta(description="id of the request, or of the fact with the tiles laid")]
    answer: AnyCountAnswer | PlayFound
