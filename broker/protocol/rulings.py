"""What an arbiter may decide: one struct a kind. Who said so, when and why is in `Ruling` and `Ruled` (messages.py).

A ruling never erases: it is laid over the result, in the order in which rulings were taken, and an `Undo` takes one
back. Players are named, not seats: who sat where may itself be ruled on.
"""

from collections.abc import Collection
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from broker.protocol.types import (
    COUNTRY,
    FINE_IMP,
    LONGEST_LINE,
    AwardImp,
    DealNo,
    Fault,
    FineImp,
    HandValue,
    InfractionId,
    MessageId,
    Milliseconds,
    Name,
    Player,
    PlayerId,
    Points,
    RiichiEvent,
    RoundNo,
    Seat,
    Session,
    TableNo,
    WinKind,
)

AwardGiven = (
    Fault | Annotated[AwardImp, Meta(description="IMP, freely; a word instead: what the profile gives for that fault")]
)

Awards = Annotated[dict[PlayerId, AwardGiven], Meta(min_length=1, max_length=64)]


MOST_FACTS: Final = 100
"""Facts of one play that a ruling names."""


class Decision(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """One kind of ruling."""


class Correct(Decision, frozen=True, tag="correct", kw_only=True):
    """The play ended otherwise than was entered, or was written on paper and not entered. Fines of the result stay."""

    source: Literal["arbiter", "paper"] = "arbiter"
    """`paper`: keyed from a sheet with four signatures, of a play that had no result."""

    replaces: Annotated[
        MessageId | None, Meta(description="the result, or the ruling, whose outcome it takes the place of; null: none")
    ]
    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None
    points: dict[Seat, Points]
    hand: Annotated[RiichiEvent | None, Meta(description="how a hand of riichi ended; null in other events")] = None
    fines: Annotated[
        dict[PlayerId, FineImp], Meta(max_length=4, description="of a sheet; the table's own result has its own")
    ] = {}


class Void(Decision, frozen=True, tag="void", kw_only=True):
    """The play counts for nobody, and is in no datum. Its fines stay."""


class Adjusted(Decision, frozen=True, tag="adjusted", kw_only=True):
    """The play is in no datum; each of its four players is given something instead."""

    gives: Awards


class Award(Decision, frozen=True, tag="award", kw_only=True):
    """IMPs beside what was played: of a play, or of none."""

    gives: Awards


Measure = Literal["fine", "dead_hand", "warning"]


class FineRuled(Decision, frozen=True, tag="fine", kw_only=True):
    """What an infraction costs, of a play (a false hu) or of none: IMPs taken off, in no datum; or it is a warning."""

    takes: Annotated[
        dict[PlayerId, Annotated[int, Meta(ge=0, le=FINE_IMP)]],
        Meta(min_length=1, max_length=64, description="IMP by player; 0: a warning, or a dead hand alone"),
    ]
    measure: Annotated[Measure, Meta(description="`dead_hand`: who has one cannot win the play")] = "fine"
    infraction: Annotated[
        InfractionId | None, Meta(description="as the profile's catalogue has it; null: a false hu at a table, or none")
    ] = None
    exception: Annotated[
        bool, Meta(description="whether it was confirmed that the profile has no such fine, or that it is too late")
    ] = False


class Fouled(Decision, frozen=True, tag="fouled", kw_only=True):
    """How the tiles of a deal lay: tables of one group had them alike and are compared. Others stay as restored."""

    groups: Annotated[
        tuple[Annotated[tuple[TableNo, ...], Meta(min_length=1, max_length=999)], ...],
        Meta(min_length=1, max_length=50),
    ]


class SeatsPlayed(Decision, frozen=True, tag="seats_played", kw_only=True):
    """Who really sat where."""

    players: dict[Seat, PlayerId]


class DealPlayed(Decision, frozen=True, tag="deal_played", kw_only=True):
    """Which deal was really played, or, of a play that is to come, is to be played."""

    played: DealNo
    result: Annotated[MessageId | None, Meta(description="the result that this is true of; null: the play is to come")]


class Reopen(Decision, frozen=True, tag="reopen", kw_only=True):
    """The result is taken back, and the table enters another."""


Facts = Annotated[
    tuple[MessageId, ...], Meta(min_length=1, max_length=MOST_FACTS, description="ids of facts that were kept apart")
]


class TakenOver(Decision, frozen=True, tag="taken_over", kw_only=True):
    """Facts of a play count although they do not follow from those before them."""

    facts: Facts
    replaces: Annotated[
        MessageId | None, Meta(description="the result in whose place one of these stands; null: the play had none")
    ]


class Discarded(Decision, frozen=True, tag="discarded", kw_only=True):
    """Facts of a play that do not follow from those before them never count."""

    facts: Facts


class Deadline(Decision, frozen=True, tag="deadline", kw_only=True):
    """When the correction period ends: after it the head arbiter alone rules."""

    at: Milliseconds


class Substitute(Decision, frozen=True, tag="substitute", kw_only=True):
    """From a round on somebody else sits in a player's seats, and plays for that player: all counts as it did."""

    player: Annotated[PlayerId, Meta(description="whose seats they are, and who goes on getting the IMPs")]
    name: Annotated[Name, Meta(description="who sits there; the player's own name: is back")]
    first_round: RoundNo


class Withdrawn(Decision, frozen=True, tag="withdrawn", kw_only=True):
    """From a round on somebody is gone and nobody comes instead: plays without a result are adjusted, not played.

    Who is gone gets what the profile has for `fault`; everybody else at such a table what it has for others' fault.
    """

    player: PlayerId
    first_round: RoundNo
    fault: Fault = "own"


Line = Annotated[str, Meta(max_length=LONGEST_LINE)]
MOST_SESSIONS: Final = 50


class PlayerCorrected(Decision, frozen=True, tag="player_corrected", kw_only=True):
    """Who a player is was written wrong in the plan. Who plays what stays, and so does the id."""

    player: PlayerId
    name: Name
    country: Annotated[
        str, Meta(pattern=rf"^({COUNTRY})?$(?!\n)", description="as flags are named; empty: not said")
    ] = ""
    club: Line = ""
    national: Annotated[Line, Meta(description="number of the national federation")] = ""
    ema: Annotated[Line, Meta(description="number of the European association")] = ""
    first_name: Annotated[Line, Meta(description="as federations list it")] = ""
    last_name: Line = ""
    without_standing: Annotated[bool | None, Meta(description="null: as it was planned")] = None


class TitleCorrected(Decision, frozen=True, tag="title_corrected", kw_only=True):
    """The event is called otherwise than the plan has it. Its name, which is part of every topic, stays."""

    title: Name


class SessionsCorrected(Decision, frozen=True, tag="sessions_corrected", kw_only=True):
    """When rounds are played, and how long a play may take: all sessions, in place of those of the plan."""

    sessions: Annotated[tuple[Session, ...], Meta(max_length=MOST_SESSIONS)]


MOST_CHANGED: Final = 700
"""Plays that one change of the plan reseats: the tables keep each ruling, and have room for so much."""


class SeatedAnew(Struct, frozen=True, array_like=True):
    """Who sits where in one play from now on; its deal stays."""

    round: RoundNo
    table: TableNo
    east: PlayerId
    south: PlayerId
    west: PlayerId
    north: PlayerId

    @property
    def players(self) -> dict[Seat, PlayerId]:
        """Who sits where."""
        return {"east": self.east, "south": self.south, "west": self.west, "north": self.north}


class PlanChanged(Decision, frozen=True, tag="plan_changed", kw_only=True):
    """Others play, or elsewhere, in plays that no table has begun. A play keeps its table, round and deal."""

    entered: Annotated[tuple[Player, ...], Meta(max_length=64, description="who was not in the list before")] = ()
    left: Annotated[
        tuple[PlayerId, ...],
        Meta(max_length=MOST_CHANGED, description="who plays no more; off the list, if they have played nothing"),
    ] = ()
    plays: Annotated[tuple[SeatedAnew, ...], Meta(max_length=MOST_CHANGED, description="plays that change")] = ()
    dropped: Annotated[
        tuple[tuple[RoundNo, TableNo], ...],
        Meta(max_length=MOST_CHANGED, description="plays that take place no more: their tables stand empty"),
    ] = ()
    stage: Annotated[
        Name | None, Meta(description="the stage by rank whose players these are; null: a change of who plays")
    ] = None


class FinalDeclared(Decision, frozen=True, tag="final_declared", kw_only=True):
    """The standings are final: everything is played and decided, and corrections are over."""


class CheckedIn(Decision, frozen=True, tag="checked_in", kw_only=True):
    """Whether a player was seen at the door."""

    player: PlayerId
    present: Annotated[bool | None, Meta(description="null: not known again")]


class Appealed(Decision, frozen=True, tag="appeal", kw_only=True):
    """Players appeal against a ruling; the reason of this one is theirs."""

    ruling: MessageId
    players: Annotated[tuple[PlayerId, ...], Meta(min_length=1, max_length=4)]
    exception: Annotated[bool, Meta(description="whether it was admitted although the time was over")] = False


Verdict = Literal["upheld", "changed", "rejected"]


class AppealDecided(Decision, frozen=True, tag="appeal_decided", kw_only=True):
    """A committee has decided on the appeal against a ruling. What it changes is ruled beside this."""

    ruling: MessageId
    verdict: Annotated[Verdict, Meta(description="the ruling is upheld or to be changed; or the appeal not admitted")]
    committee: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=9)]


class Undo(Decision, frozen=True, tag="undo", kw_only=True):
    """Another ruling counts no longer; undone in its turn, it counts again."""

    ruling: MessageId


TableDecision = Void | Adjusted | FineRuled | Reopen
"""What may be ruled at the table itself."""

AnyDecision = (
    Correct
    | Void
    | Adjusted
    | Award
    | FineRuled
    | Fouled
    | SeatsPlayed
    | DealPlayed
    | Reopen
    | TakenOver
    | Discarded
    | Deadline
    | Substitute
    | Withdrawn
    | PlayerCorrected
    | TitleCorrected
    | SessionsCorrected
    | PlanChanged
    | FinalDeclared
    | CheckedIn
    | Appealed
    | AppealDecided
    | Undo
)

PLAY_DECISIONS: Final = (Correct, Void, Adjusted, SeatsPlayed, DealPlayed, Reopen, TakenOver, Discarded)
APART_DECISIONS: Final = (TakenOver, Discarded)
"""On facts that were kept apart."""
DEAL_DECISIONS: Final = (Fouled,)
PLAYER_DECISIONS: Final = (Substitute, Withdrawn)
PLAN_DECISIONS: Final = (PlayerCorrected, TitleCorrected, SessionsCorrected)
APPEAL_DECISIONS: Final = (Appealed, AppealDecided)
EVENT_DECISIONS: Final = (
    *(Deadline, *PLAYER_DECISIONS, *PLAN_DECISIONS, PlanChanged, FinalDeclared, CheckedIn, *APPEAL_DECISIONS, Undo),
)
"""An award or a fine is of a play or of none."""


def decision_kind(decision: AnyDecision) -> str:
    """Return the word for a kind: the tag that it has on the wire; of an infraction the measure."""
    return decision.measure if isinstance(decision, FineRuled) else str(decision.__struct_config__.tag)


def players_named(decision: AnyDecision) -> Collection[str]:
    """Return the players whom a ruling names."""
    match decision:
        case Adjusted() | Award():
            return decision.gives.keys()
        case FineRuled():
            return decision.takes.keys()
        case Correct():
            return decision.fines.keys()
        case SeatsPlayed() | Appealed():
            return decision.players if isinstance(decision, Appealed) else decision.players.values()
        case Substitute() | Withdrawn() | PlayerCorrected() | CheckedIn():
            return (decision.player,)
        case _:
            return decision.left if isinstance(decision, PlanChanged) else ()
