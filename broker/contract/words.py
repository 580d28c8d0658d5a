"""The words that every message is made of, each with one meaning (RULES.md, "Words")."""

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta

Seat = Literal["east", "south", "west", "north"]
"""The chair. Turn order is the order of this list."""

SEATS: Final[tuple[Seat, ...]] = get_args(Seat)

Wind = Literal["east", "south", "west", "north"]
"""A prevalent wind or a seat's wind; never called just "wind" in a message."""

WinKind = Literal["discard", "self_drawn", "draw"]
"""How a play ended; a draw is a play that nobody won."""

Lifecycle = Literal["init", "ready", "alert", "disconnected", "lost"]
"""Of a table's device, as in the Homie convention; `lost` is said by its last will."""

PublicState = Literal[
    "waiting", "restoring", "seating", "confirming", "playing", "declared", "accepting", "recorded", "finished"
]
"""What a table says of itself. An open claim window is told as `playing`: nothing about a press may show."""

Verifier = Literal["camera", "scanner", "hand"]
"""How the trays of a play were found to be right, the surest first; by hand nothing was verified."""

# In Python `$` also matches before a newline at the end, in JSON Schema it does not: `$(?!\n)` is the same in both.
EventName = Annotated[
    str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$(?!\n)", description="an event; no dots (NATS client ids)")
]
MessageId = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9-]{8,64}$(?!\n)", description="unique for ever; a resend keeps it")
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
Hash = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="SHA-256, lower-case hex")]

LONGEST_LINE: Final = 60
"""Characters of what stands in one line beside a name: a club, a number of a federation."""

COUNTRY: Final = "[A-Z]{2,3}"
"""A code as flags are named by: ISO 3166-1 (FR), or of the Olympic committee (FRA), as mahjong federations write."""

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
"""Whose fault it was that a play could not be played, seen from one player; the profile says what each gives."""

AWARD_IMP: Final = 99
FINE_IMP: Final = 99
"""The most IMP that one ruling gives or takes."""

AwardImp = Annotated[
    int, Meta(ge=-AWARD_IMP, le=AWARD_IMP, description="IMP that an arbiter gives, or below zero takes")
]
LONGEST_REASON: Final = 500
Reason = Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON)]
RulerRole = Literal["head_arbiter", "table_arbiter"]
DeskRole = Literal["head_arbiter", "table_arbiter", "organiser"]
"""Who may decide at the desk; an organiser corrects the plan alone."""
FineImp = Annotated[int, Meta(ge=1, le=FINE_IMP, description="IMP taken off after conversion")]
Serial = Annotated[int, Meta(ge=1, le=136)]
Milliseconds = Annotated[int, Meta(ge=0, le=7_258_118_400_000, description="since 1970, to the year 2200")]
