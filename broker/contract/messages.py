"""Every message, one struct each. Unknown fields are refused: a newer sender says so in `schema`.

`decode` (beside this file) is the only way in from the wire.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from broker.contract.riichi import RiichiEvent, RiichiStanding, Score
from broker.contract.rulings import AnyDecision, AtTable
from broker.contract.words import (
    LONGEST_PROFILE,
    Code,
    Count,
    DealNo,
    DeviceId,
    EventName,
    FineImp,
    HandValue,
    Hash,
    Imp,
    Lifecycle,
    MessageId,
    Milliseconds,
    Name,
    PlayerId,
    Points,
    ProfileId,
    PublicState,
    Reason,
    RoundNo,
    RulerRole,
    Seat,
    Seq,
    Serial,
    SetNo,
    StoreId,
    TableNo,
    Text,
    Verifier,
    Wind,
    WinKind,
)

SCHEMA: Literal[1] = 1


class Message(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every message carries."""

    schema: Literal[1] = SCHEMA
    id: MessageId
    event: EventName


# ---- from a table -------------------------------------------------------------------------------


class PlayRef(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which play a fact is about: one table playing one deal in one round."""

    round: RoundNo
    deal: DealNo


class Restored(PlayRef, frozen=True, tag="restored", kw_only=True):
    """All four trays lie as the deal wants them; `verified` is false where a person says so and no device has read."""

    verified: bool
    by: Annotated[Verifier, Meta(description="the least sure way by which one of the trays was found right")] = "camera"
    form: Annotated[Hash, Meta(description="of the serials as they lay: plays of one form are compared")]
    refusals: Annotated[int, Meta(ge=0, le=9999, description="looks in which a tray was found wrong")]


class Seated(PlayRef, frozen=True, tag="seated", kw_only=True):
    """Who really sits where in this play, before a player has touched a tile: each has pressed the own button."""

    players: dict[Seat, PlayerId]


class Overridden(PlayRef, frozen=True, tag="overridden", kw_only=True):
    """The arbiter lets a play go on that the table had stopped, or that was not its turn."""

    guards: Annotated[tuple[Code, ...], Meta(min_length=1, max_length=8)]
    reason: Text


class Confirmed(PlayRef, frozen=True, tag="confirmed", kw_only=True):
    """All four players have confirmed their tiles; the play has begun."""


class Press(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One hu press, by the kernel's edge time."""

    seat: Seat
    after_ms: Annotated[int, Meta(ge=0, le=60_000, description="since the first press of the claim window")]


class Declared(PlayRef, frozen=True, tag="declared", kw_only=True):
    """The claim window has closed: who pressed, in the order of the edges at the table."""

    presses: Annotated[tuple[Press, ...], Meta(min_length=1, max_length=4)]


class Fine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """IMPs taken off one seat by the arbiter, for instance for a false hu."""

    imp: FineImp
    reason: Text


class Result(PlayRef, frozen=True, tag="result", kw_only=True):
    """A play's result, accepted by all four seats."""

    profile: ProfileId
    players: dict[Seat, PlayerId]
    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None
    points: dict[Seat, Points]
    fines: dict[Seat, Fine]


class Call(PlayRef, frozen=True, tag="call", kw_only=True):
    """The table calls the arbiter, or takes the call back."""

    open: bool


class RiichiHand(PlayRef, frozen=True, tag="riichi_hand", kw_only=True):
    """What happened in a riichi session, accepted by all four seats or ruled by the arbiter. `deal` is the hand."""

    profile: ProfileId
    entry: Annotated[int, Meta(ge=1, le=9999, description="counted from 1 through the session")]
    event: RiichiEvent
    deltas: Annotated[dict[Seat, Score], Meta(description="what it pays, deposits included")]
    standing: Annotated[RiichiStanding, Meta(description="after it")]


class RiichiTakenBack(PlayRef, frozen=True, tag="riichi_taken_back", kw_only=True):
    """The last entry of a riichi session does not stand."""

    entry: Annotated[int, Meta(ge=1, le=9999)]


class Ruled(PlayRef, frozen=True, tag="ruled", kw_only=True):
    """An arbiter has ruled at the table. What it says of the play holds whatever the desk knew by then."""

    decision: AtTable
    author: Name
    role: RulerRole
    reason: Reason


Fact = Restored | Seated | Overridden | Confirmed | Declared | Result | Call | Ruled | RiichiHand | RiichiTakenBack


class LogMessage(Message, frozen=True, kw_only=True):
    """One accepted fact of one table."""

    table: TableNo
    seq: Seq
    at: Annotated[Milliseconds, Meta(description="wall clock of the table, for people; order comes from seq")]
    fact: Fact


class TableState(Message, frozen=True, kw_only=True):
    """How a table and its device stand."""

    table: TableNo
    seq: Annotated[Count, Meta(description="last fact accepted at the table")]
    device: DeviceId
    start: Annotated[Count, Meta(description="how often the device's program has been started")]
    count: Annotated[Count, Meta(description="of this start's states; an older state may arrive later")]
    lifecycle: Lifecycle
    state: PublicState
    round: RoundNo | None
    deal: DealNo | None
    unsent: Annotated[Count, Meta(description="facts for which no receipt has come")]
    calling: bool
    paused: bool = False
    ordered: Annotated[Count, Meta(description="seq of the last order that was carried out; 0: none")] = 0
    health: Annotated[
        dict[Annotated[str, Meta(max_length=64)], Text],
        Meta(max_length=16, description="what is wrong, by device; empty: all well"),
    ]


# ---- from the scorer ----------------------------------------------------------------------------


class FromScorer(Message, frozen=True, kw_only=True):
    """What the scorer's messages carry."""

    seq: Annotated[Count, Meta(description="height of the scorer's journal when this was said")]


class Refusal(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A fact that the scorer did not take, and why."""

    seq: Seq
    id: MessageId
    code: Code


class Taken(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A fact that is in the scorer's store."""

    seq: Seq
    id: MessageId


class Receipt(FromScorer, frozen=True, kw_only=True):
    """What of a table's facts is in the scorer's store: all up to `upto` but the `gaps`, and nothing beyond.

    `taken` names the last ones by id, so that a device never takes another device's fact of the same number
    for its own.
    """

    table: TableNo
    store: StoreId
    upto: Count
    gaps: Annotated[tuple[Seq, ...], Meta(max_length=1000)]
    taken: Annotated[tuple[Taken, ...], Meta(max_length=100)]
    refused: Annotated[tuple[Refusal, ...], Meta(max_length=100)]


class Player(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who sits there."""

    id: PlayerId
    name: Name


Row13 = Annotated[tuple[Serial, ...], Meta(min_length=13, max_length=13)]
Row11 = Annotated[tuple[Serial, ...], Meta(min_length=11, max_length=11)]
Row10 = Annotated[tuple[Serial, ...], Meta(min_length=10, max_length=10)]
Tray = tuple[Row13, Row11, Row10]
"""One seat's 34 serials: the hand, then the wall in two rows, each from the player's left."""


class PlannedPlay(PlayRef, frozen=True, kw_only=True):
    """One play that a table is to do: never a face, only serials."""

    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    players: dict[Seat, Player]
    order: dict[Seat, Tray]


class PlannedSession(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A riichi session at one table: hands are dealt there, one after the other.

    `standing` and `entries`: where it stands and how many entries the scorer has of it, for a device that has none.
    """

    round: RoundNo
    players: dict[Seat, Player]
    standing: RiichiStanding | None = None
    entries: Count = 0


class Assignment(FromScorer, frozen=True, kw_only=True):
    """All plays of one table, so that it can go on offline."""

    table: TableNo
    store: StoreId
    profile: ProfileId
    rules: (
        Annotated[
            str, Meta(max_length=LONGEST_PROFILE, description="the profile itself, as TOML, where it does not ship")
        ]
        | None
    ) = None
    plays: Annotated[tuple[PlannedPlay, ...], Meta(max_length=200)]
    session: Annotated[PlannedSession | None, Meta(description="with it the table plays riichi, by that profile")] = (
        None
    )
    recorded: Annotated[tuple[RoundNo, ...], Meta(max_length=200, description="rounds whose result is stored")]
    repeats: Annotated[
        dict[RoundNo, Annotated[tuple[PlayerId, ...], Meta(max_length=4)]],
        Meta(max_length=200, description="in rounds to come: who has played that deal already, at any table"),
    ] = {}


class ComparedSeat(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One player's line in a traveller."""

    player: PlayerId
    points: int
    imp: Imp | None
    fine: int


class ComparedPlay(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One play of a deal, beside the others."""

    table: TableNo
    round: RoundNo
    form: Hash | None
    seats: dict[Seat, ComparedSeat]


class Traveller(FromScorer, frozen=True, kw_only=True):
    """All plays of a deal side by side."""

    deal: DealNo
    complete: bool
    expected: Count
    plays: tuple[ComparedPlay, ...]


class PublicTraveller(Traveller, frozen=True, kw_only=True):
    """The same for everybody, said once all tables have played the deal."""


class Standing(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One player's line."""

    place: Annotated[int, Meta(ge=1)]
    player: PlayerId
    name: Name
    imp: Imp
    fines: int
    plays: Count


class TeamStanding(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One team's line."""

    place: Annotated[int, Meta(ge=1)]
    team: Name
    imp: Imp
    fines: int
    deals: Count


class Standings(FromScorer, frozen=True, kw_only=True):
    """Who leads; `seq` is its version."""

    final: bool
    plays_in: Count
    plays_expected: Count
    rows: tuple[Standing, ...]
    teams: tuple[TeamStanding, ...] = ()


class PublicStandings(Standings, frozen=True, kw_only=True):
    """Who leads by the deals that all their tables have played, for everybody."""


class Ruling(Message, frozen=True, kw_only=True):
    """An arbiter's ruling from the desk, as the scorer has stored it. It never erases: see rulings.py.

    `table`, `round` and `deal` say which play it is about; a deal alone: all plays of the deal; none: the event.
    """

    number: Annotated[Seq, Meta(description="order of the desk's rulings, without gaps")]
    after: Annotated[
        MessageId | None,
        Meta(description="the last word on this (a result, a ruling) that its author had before them; null: none"),
    ]
    table: TableNo | None = None
    round: RoundNo | None = None
    deal: DealNo | None = None
    decision: AnyDecision
    author: Name
    account: Annotated[str, Meta(max_length=64, description="login name of the author")]
    role: RulerRole
    reason: Reason
    at: Milliseconds


class Alert(FromScorer, frozen=True, kw_only=True):
    """Something that an arbiter must know."""

    code: Code
    table: TableNo | None
    topic: Annotated[str, Meta(max_length=200)] | None
    text: Text
    at: Milliseconds


# ---- from the desk ------------------------------------------------------------------------------


Command = Literal["clear_call", "pause", "resume", "extra_time", "reopen", "admit"]


class Order(Message, frozen=True, kw_only=True):
    """What the arbiter tells a table to do. Why is kept at the desk: a table reads no free text.

    An order whose `seq` is not above that of the last one carried out is an old one, and is not obeyed.
    """

    table: TableNo
    seq: Annotated[Seq, Meta(description="grows with every order of the desk, with gaps")]
    command: Command
    minutes: Annotated[int, Meta(ge=0, le=60, description="of extra time; 0 with other commands")] = 0
    author: Name
