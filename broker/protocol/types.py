"""The types that messages are made of, each with one meaning (RULES.md, "Words").

They cover numbers and names, sessions, and planned plays.
"""

import time
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct

Seat = Literal["east", "south", "west", "north"]
"""A chair at the table, in turn order."""

SEATS: Final[tuple[Seat, ...]] = get_args(Seat)

Wind = Literal["east", "south", "west", "north"]
"""A prevalent wind or a seat's wind; never called just "wind" in a message."""

WinKind = Literal["discard", "self_drawn", "draw"]
"""How a play ended; a draw is a play that nobody won."""

Lifecycle = Literal["init", "ready", "alert", "disconnected", "lost"]
"""State of a table's device, as in the Homie convention; `lost` is sent by its last will."""

PublicState = Literal[
    "waiting", "restoring", "seating", "confirming", "playing", "declared", "accepting", "recorded", "finished"
]
"""The state that a table publishes. An open claim window appears as `playing`, as presses must not be revealed."""

Verifier = Literal["camera", "scanner", "hand"]
"""How the trays of a play were checked, the most reliable first; `hand` means that nothing was verified."""

# In Python `$` also matches before a final newline, in JSON Schema it does not: `$(?!\n)` means the same in both.
EventName = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$(?!\n)", description="an event; no dots (NATS client ids)")
]
MessageId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9-]{8,64}$(?!\n)", description="unique forever; a resent message keeps it")
]
DeviceId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{8,64}$(?!\n)", description="one kiosk's journal")]
StoreId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{8,64}$(?!\n)", description="one scorer's store")]
PlayerId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,32}$(?!\n)")]
LONGEST_PROFILE: Final = 20_000
"""Characters of a rule profile."""

ProfileId = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$(?!\n)")]
Code = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{1,47}$(?!\n)", description="stable; listed in docs/codes.md")]
Text = Annotated[str, Meta(max_length=500)]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
AT_THE_TABLE: Final = "arbiter at the table"
"""Author of rulings after a PIN was typed at the table: all arbiters share one PIN."""

InfractionId = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}$(?!\n)")]
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="SHA-256, lower-case hex")]
PublicKey = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="Ed25519, lower-case hex")]
MachineName = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9._-]{0,64}$(?!\n)", description="a device's own name, for people; empty: unknown")
]
Signature = Annotated[str, Meta(pattern=r"^[0-9a-f]{128}$(?!\n)", description="Ed25519, lower-case hex")]

LONGEST_LINE: Final = 60
"""Characters of a short text shown beside a name, such as a club or a federation number."""

COUNTRY: Final = "[A-Z]{2,3}"
"""A country code: ISO 3166-1 (FR), or the Olympic committee's (FRA), which mahjong federations use."""

LAST_TABLE: Final = 9999
TableNo = Annotated[int, Meta(ge=1, le=LAST_TABLE)]
SetNo = Annotated[int, Meta(ge=1, le=99, description="number of the tile set in a carrier")]
DealNo = Annotated[int, Meta(ge=1, le=9999)]
RoundNo = Annotated[int, Meta(ge=1, le=999)]
PlayMinutes = Annotated[int, Meta(ge=1, le=240, description="time for one play")]
Seq = Annotated[int, Meta(ge=1, le=2**31 - 1, description="order at the sender, without gaps")]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
HandValue = Annotated[int, Meta(ge=1, le=999, description="HV, in fan points")]
Points = Annotated[int, Meta(ge=-9999, le=9999)]
Imp = (
    int
    | Annotated[
        str, Meta(pattern=r"^-?[0-9]{1,18}/[0-9]{1,18}$(?!\n)", description="a mean of IMPs as an exact fraction")
    ]
)
Fault = Literal["nobody", "others", "own"]
"""Whose fault it was that a play could not be played, from one player's view; the profile sets the award for each."""

AWARD_IMP: Final = 99
FINE_IMP: Final = 99
"""The most IMP that one ruling can give or take."""

AwardImp = Annotated[
    int, Meta(ge=-AWARD_IMP, le=AWARD_IMP, description="IMP that an arbiter awards, or takes if negative")
]
LONGEST_REASON: Final = 500
Reason = Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON)]
RulerRole = Literal["head_arbiter", "table_arbiter"]
DeskRole = Literal["head_arbiter", "table_arbiter", "organiser"]
"""Roles that may decide at the desk; an organiser may only correct the plan."""
FineImp = Annotated[int, Meta(ge=1, le=FINE_IMP, description="IMP taken off after conversion")]
Serial = Annotated[int, Meta(ge=1, le=136)]
LATEST_MS: Final = 7_258_118_400_000

Milliseconds = Annotated[int, Meta(ge=0, le=LATEST_MS, description="since 1970, to the year 2200")]


def wall_clock_ms() -> int:
    """Return the wall clock as messages have it (`Milliseconds`)."""
    return time.time_ns() // 1_000_000


SESSION_START: Final = r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]$(?!\n)"
"""Local time, to the minute, in the format of a browser's date and time field."""


class Session(Struct, frozen=True, omit_defaults=True):
    """Rounds that are played without a long break, with their times."""

    name: Name
    first_round: RoundNo
    last_round: RoundNo
    starts: Annotated[str, Meta(pattern=SESSION_START, description="local date and time")] | None = None
    play_minutes: PlayMinutes | None = None


LONGEST_PUBLIC_ADDRESS: Final = 64
"""Characters. With a code appended, an ordinary screen can show it as a QR code of four pixels a module."""

_NAME: Final = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT: Final = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
PUBLIC_ADDRESS: Final = rf"^(https?://{_NAME}(\.{_NAME}){{0,15}}(:{_PORT})?(/[A-Za-z0-9._~-]{{1,64}}){{0,8}})?$(?!\n)"
"""A URL with a host name or IPv4 address; a path may follow, but no trailing slash, query or credentials."""

PublicAddress = Annotated[
    str,
    Meta(
        max_length=LONGEST_PUBLIC_ADDRESS,
        pattern=PUBLIC_ADDRESS,
        description="the desk's public URL; empty: none",
    ),
]

HandKind = Literal["ron", "tsumo", "draw", "abort", "chombo", "minor_fault", "end"]
"""How a hand ended. A minor fault does not end it; `end` is the end of the session."""

AbortReason = Literal["nine_terminals", "four_winds", "four_riichi", "four_kans", "triple_ron"]

Score = Annotated[int, Meta(ge=-1_000_000, le=1_000_000, description="points")]

Seats = Annotated[tuple[Seat, ...], Meta(max_length=4)]


class RiichiWin(Struct, frozen=True, kw_only=True):
    """The value of one winner's hand: han, with fu below 5 han, or a number of yakuman."""

    han: Annotated[int, Meta(ge=0, le=99)] = 0
    fu: Annotated[int, Meta(ge=0, le=999)] = 0
    yakuman: Annotated[int, Meta(ge=0, le=6)] = 0
    responsible: Seat | None = None
    """The seat that fed the set which made the yakuman certain (pao)."""


class RiichiEvent(Struct, frozen=True, kw_only=True):
    """What happened in a hand. `riichi`: the seats that paid a deposit in it."""

    kind: HandKind
    wins: dict[Seat, RiichiWin] = {}
    loser: Seat | None = None
    tenpai: Seats = ()
    nagashi: Seats = ()
    reason: AbortReason | None = None
    offenders: Seats = ()
    dependent: Seats = ()
    """Offenders whose fault was caused by another's, and who do not pay."""
    yakuman_tenpai: Seats = ()
    """Seats whose hand could still have become a yakuman when a fault spoilt it."""
    kan_from: Seat | None = None
    """The seat whose discard was made a kan, when a tsumo wins on its replacement tile."""
    riichi: Seats = ()


class RiichiStanding(Struct, frozen=True, kw_only=True):
    """The state of a session before a hand; hands are counted from 1."""

    hand: Annotated[int, Meta(ge=1, le=9999)]
    round_wind: Wind
    dealer: Seat
    counters: Count
    deposits: Count
    scores: dict[Seat, Score]
    over: bool = False


class Player(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A player in the plan."""

    id: PlayerId
    name: Name
    without_standing: Annotated[
        bool, Meta(description="a guest or filler: the plays are compared, but the player takes no place")
    ] = False


Row13 = Annotated[tuple[Serial, ...], Meta(min_length=13, max_length=13)]
Row11 = Annotated[tuple[Serial, ...], Meta(min_length=11, max_length=11)]
Row10 = Annotated[tuple[Serial, ...], Meta(min_length=10, max_length=10)]
Tray = tuple[Row13, Row11, Row10]
"""One seat's 34 serials: the hand, then the wall in two rows, each from the player's left."""


class PlayRef(Struct, frozen=True, kw_only=True):
    """Which play a fact is about: one table playing one deal in one round."""

    round: RoundNo
    deal: DealNo


class PlannedPlay(PlayRef, frozen=True, kw_only=True):
    """One play in a table's plan. It contains serials, never faces."""

    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    players: dict[Seat, Player]
    order: dict[Seat, Tray]


class NextSeat(Struct, frozen=True, kw_only=True):
    """Where a player sits in the next play."""

    round: RoundNo
    table: TableNo
    seat: Seat


class PlannedSession(Struct, frozen=True, kw_only=True):
    """A riichi session at one table, where hands are dealt one after the other.

    `set` is the tile set in use. `standing` and `entries` are the session's state and number of entries at the scorer,
    for a device that has none of its own.
    """

    round: RoundNo
    players: dict[Seat, Player]
    set: SetNo = 1
    standing: RiichiStanding | None = None
    entries: Count = 0


PIN_HASH: Final = r"^\$argon2id\$v=19\$m=65536,t=3,p=4\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$(?!\n)"
"""Accepts our own parameters only: a hash dictates the memory needed to verify it, and tables have little."""

PIN_MARK_DIGITS: Final = 16
"""Hexadecimal digits: enough to tell one setting of a PIN from another."""

PinMark = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{PIN_MARK_DIGITS}}}$(?!\n)")]

Anchor = Annotated[str, Meta(pattern=r"^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){6}$(?!\n)")]
"""28 characters of base 32 in groups of four."""

PinHash = Annotated[str, Meta(pattern=PIN_HASH, description="of the arbiters' PIN, Argon2id")]

SealedPin = Annotated[
    str, Meta(pattern=r"^[0-9a-f]{120}$(?!\n)", description="a PIN sealed to the event's key (arbiter_session.py)")
]

SessionNonce = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}$(?!\n)")]

SessionId = Annotated[
    str,
    Meta(
        pattern=r"^(?:given\.[0-9a-f]{32}|[a-z_]{1,16}\.[0-9a-f]{32}\.[0-9]{1,15}\.[0-9a-f]{32})$(?!\n)",
        description="an arbiter's session at a table (arbiter_session.py)",
    ),
]

DESK_PORT: Final = 8136
"""Port of a desk whose address names none."""

LAST_PORT: Final = 65_535

HOST_PATTERN: Final = r"[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){0,15}\.?|[0-9A-Fa-f:]{2,45}"
"""A broker's name or address. Anything else makes the resolver raise on the client's own thread, which then ends."""
