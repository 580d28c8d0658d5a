"""Facts that a table reports about a play, one struct for each kind."""

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct

from broker.protocol.rulings import TableDecision
from broker.protocol.types import (
    Code,
    DeviceId,
    FineImp,
    HandValue,
    Hash,
    Name,
    PlayerId,
    PlayRef,
    Points,
    ProfileId,
    Reason,
    RiichiEvent,
    RiichiStanding,
    RulerRole,
    Score,
    SealedPin,
    Seat,
    Serial,
    SessionId,
    Text,
    Verifier,
    WinKind,
)


class Restored(PlayRef, frozen=True, tag="restored", kw_only=True):
    """All four trays match the deal. `verified` is false where a person confirmed it and no device read the tiles."""

    verified: bool
    by: Annotated[Verifier, Meta(description="the least reliable way in which one of the trays was checked")] = "camera"
    form: Annotated[Hash, Meta(description="of the serials as they lay; plays of one form are compared")]
    refusals: Annotated[int, Meta(ge=0, le=9999, description="number of checks in which a tray was found wrong")]


class Seated(PlayRef, frozen=True, tag="seated", kw_only=True):
    """Who sits where in this play, before a tile is touched: each player has pressed the button of their seat."""

    players: dict[Seat, PlayerId]


class Overridden(PlayRef, frozen=True, tag="overridden", kw_only=True):
    """The arbiter lets a play go on that the table had stopped, or lets one be played before its turn."""

    guards: Annotated[tuple[Code, ...], Meta(min_length=1, max_length=8)]
    reason: Text
    author: Annotated[Name | None, Meta(description="null: an older program")] = None
    session: SessionId | None = None


class Confirmed(PlayRef, frozen=True, tag="confirmed", kw_only=True):
    """All four players have confirmed their tiles; the play has begun."""


class Press(Struct, frozen=True, kw_only=True):
    """One hu press, timed by the kernel's edge timestamp."""

    seat: Seat
    after_ms: Annotated[int, Meta(ge=0, le=60_000, description="since the first press of the claim window")]


class Declared(PlayRef, frozen=True, tag="declared", kw_only=True):
    """The claim window has closed: who pressed, in the order of the edges at the table."""

    presses: Annotated[tuple[Press, ...], Meta(min_length=1, max_length=4)]


class Fine(Struct, frozen=True, kw_only=True):
    """IMPs taken off one seat by the arbiter, for instance for a false hu."""

    imp: FineImp
    reason: Text
    author: Annotated[Name | None, Meta(description="the arbiter; null: an older program")] = None
    session: SessionId | None = None


DeclaredOn = Annotated[
    dict[Seat, Seat], Meta(description="if several declared: the owner of the tile for each; oneself: self-drawn")
]


class Result(PlayRef, frozen=True, tag="result", kw_only=True):
    """A play's result, accepted by all four seats."""

    profile: ProfileId
    players: dict[Seat, PlayerId]
    win: WinKind
    winners: Annotated[dict[Seat, HandValue], Meta(description="HV; for riichi the han, 13 for a yakuman")]
    discarder: Seat | None
    points: Annotated[dict[Seat, Points], Meta(description="in hundreds for riichi")]
    fines: dict[Seat, Fine]
    hand: Annotated[RiichiEvent | None, Meta(description="how a hand of riichi ended; null at other tables")] = None
    declared_on: DeclaredOn | None = None


class Call(PlayRef, frozen=True, tag="call", kw_only=True):
    """The table calls the arbiter or cancels the call."""

    open: bool


class RiichiRecorded(PlayRef, frozen=True, tag="riichi_hand", kw_only=True):
    """An entry of a riichi session, accepted by all four seats or ruled by an arbiter. `deal` is the hand's number."""

    profile: ProfileId
    entry: Annotated[int, Meta(ge=1, le=9999, description="counted from 1 through the whole session")]
    event: RiichiEvent
    deltas: Annotated[dict[Seat, Score], Meta(description="the payments, including deposits")]
    standing: Annotated[RiichiStanding, Meta(description="after the entry")]
    declared_on: DeclaredOn | None = None


class RiichiTakenBack(PlayRef, frozen=True, tag="riichi_taken_back", kw_only=True):
    """The last entry of a riichi session is cancelled."""

    entry: Annotated[int, Meta(ge=1, le=9999)]


class Ruled(PlayRef, frozen=True, tag="ruled", kw_only=True):
    """A ruling that an arbiter made at the table. It holds for the play whatever the desk knew at that time."""

    decision: TableDecision
    author: Name
    role: RulerRole
    reason: Reason
    session: SessionId | None = None


InRiver = Annotated[int, Meta(ge=0, le=136, description="0: the gap left by a claimed tile")]
LaidRiver = Annotated[tuple[InRiver | None, ...], Meta(max_length=40, description="null: an unread tile")]
LaidMeld = Annotated[tuple[Serial | None, ...], Meta(max_length=4, description="null: an unread tile")]
LaidHand = Annotated[tuple[Serial | None, ...], Meta(max_length=40, description="null: an unread tile")]


class LaidSeat(Struct, frozen=True):
    """The tiles in front of one seat at the end of a play, by serial."""

    river: Annotated[LaidRiver, Meta(description="in the order of discarding, without claimed tiles")] = ()
    melds: Annotated[tuple[LaidMeld, ...], Meta(max_length=4)] = ()
    hand: Annotated[LaidHand | None, Meta(description="in any order; null: not read")] = None
    gaps: Annotated[bool, Meta(description="every claimed tile but the last ones left a gap in the river")] = False
    either_end: Annotated[bool, Meta(description="it is unknown which end of the river is the first")] = False


class TilesLaid(PlayRef, frozen=True, tag="laid", kw_only=True):
    """The tiles on the table after a play, read from their backs so that the play can be reconstructed.

    It does not affect the score.
    """

    seats: dict[Seat, LaidSeat]
    winning: Annotated[Serial | None, Meta(description="null: the last tile of its river, or drawn")] = None


class ArbiterFact(PlayRef, frozen=True, kw_only=True):
    """An arbiter's action at the table, or an attempt to act as one. It does not affect the score.

    It refers to the current play, or to the last one after a table has finished.
    """

    session: Annotated[
        SessionId | None, Meta(description="the arbiter's, or of the desk's order; null: an older program")
    ] = None


class Paused(ArbiterFact, frozen=True, tag="paused", kw_only=True):
    """An arbiter has paused or resumed the table, in person or by an order from the desk that the table carried out."""

    begin: bool
    author: Name
    reason: Annotated[Text, Meta(description="empty if the desk ordered it, or the table is resumed")] = ""


class TimeAdded(ArbiterFact, frozen=True, tag="time_added", kw_only=True):
    """An arbiter has added minutes to the play, at the table or by an order from the desk."""

    minutes: Annotated[int, Meta(ge=1, le=60)]
    author: Name
    reason: Annotated[Text, Meta(description="empty if the desk ordered it")]


class LetIn(ArbiterFact, frozen=True, tag="let_in", kw_only=True):
    """An arbiter may rule at the table from now on."""

    author: Name
    by: Annotated[Literal["pin", "desk"], Meta(description="by the PIN typed at the table, or by the desk's order")]
    sealed: Annotated[
        SealedPin | None, Meta(description="the PIN, if the scorer was offline; rulings count once it is verified")
    ] = None
    sealed_by: Annotated[
        DeviceId | None, Meta(description="the device at which it was typed, if another one signs this for it")
    ] = None


class Left(ArbiterFact, frozen=True, tag="left", kw_only=True):
    """The arbiter's access to the table has ended."""

    author: Name


class PinWrong(ArbiterFact, frozen=True, tag="pin_wrong", kw_only=True):
    """Somebody typed a wrong PIN. The PIN itself is never reported."""

    tries: Annotated[int, Meta(ge=1, le=9999, description="wrong PINs since the last right one, including this one")]


AnyArbiterFact = Paused | TimeAdded | LetIn | Left | PinWrong

ARBITER_FACTS: Final = (Paused, TimeAdded, LetIn, Left, PinWrong)


class NewerFact(PlayRef, frozen=True, kw_only=True):
    """A fact of a kind that this program does not know, reported by a newer one."""

    type: Annotated[str, Meta(pattern=r"^[a-z_]{1,64}$(?!\n)")]


Fact = (
    Restored
    | Seated
    | Overridden
    | Confirmed
    | Declared
    | Result
    | Call
    | Ruled
    | RiichiRecorded
    | RiichiTakenBack
    | TilesLaid
    | AnyArbiterFact
)

FACT_KINDS: Final = frozenset(kind.__struct_config__.tag for kind in get_args(Fact))
"""Their names in messages (`type`)."""
