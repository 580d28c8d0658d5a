"""Everything that an arbiter may decide, one struct for each kind. `Ruling` and `Ruled` add who, when and why.

A ruling never erases anything: it is applied on top of the result, in the order in which rulings were made, and an
`Undo` cancels one. Rulings name players, not seats, because who sat where may itself be ruled on.
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

AwardGiven = Fault | Annotated[AwardImp, Meta(description="IMP, chosen freely; or a fault: the profile sets its award")]

Awards = Annotated[dict[PlayerId, AwardGiven], Meta(min_length=1, max_length=64)]


MOST_FACTS: Final = 100
"""Facts of one play that a ruling can name."""


class Decision(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all kinds of ruling."""


class Correct(Decision, frozen=True, tag="correct", kw_only=True):
    """Replaces the outcome of a play, or records one that exists only on paper. Fines of the result stay."""

    source: Literal["arbiter", "paper"] = "arbiter"
    """`paper`: entered from a sheet with four signatures, for a play that had no result."""

    replaces: Annotated[
        MessageId | None, Meta(description="the result or ruling whose outcome it replaces; null: none")
    ]
    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None
    points: dict[Seat, Points]
    hand: Annotated[RiichiEvent | None, Meta(description="how a hand of riichi ended; null in other events")] = None
    fines: Annotated[
        dict[PlayerId, FineImp], Meta(max_length=4, description="from a paper sheet; a table's result has its own")
    ] = {}


class Void(Decision, frozen=True, tag="void", kw_only=True):
    """The play counts for nobody and is left out of the datum. Its fines stay."""


class Adjusted(Decision, frozen=True, tag="adjusted", kw_only=True):
    """The play is left out of the datum, and its players receive awards instead."""

    gives: Awards


class Award(Decision, frozen=True, tag="award", kw_only=True):
    """IMPs on top of what was played, for a play or for none."""

    gives: Awards


Measure = Literal["fine", "dead_hand", "warning"]


class FineRuled(Decision, frozen=True, tag="fine", kw_only=True):
    """The penalty for an infraction, in a play (a false hu) or outside one: IMPs that affect no datum, or a warning."""

    takes: Annotated[
        dict[PlayerId, Annotated[int, Meta(ge=0, le=FINE_IMP)]],
        Meta(min_length=1, max_length=64, description="IMP by player; 0: a warning, or a dead hand alone"),
    ]
    measure: Annotated[Measure, Meta(description="`dead_hand`: the player cannot win the play")] = "fine"
    infraction: Annotated[
        InfractionId | None, Meta(description="from the profile's catalogue; null: a false hu at a table, or none")
    ] = None
    exception: Annotated[
        bool, Meta(description="whether a fine outside the profile, or after the deadline, was confirmed")
    ] = False


class Fouled(Decision, frozen=True, tag="fouled", kw_only=True):
    """How a deal's tiles really lay. Tables in a group had the same tiles and are compared; others stay as restored."""

    groups: Annotated[
        tuple[Annotated[tuple[TableNo, ...], Meta(min_length=1, max_length=999)], ...],
        Meta(min_length=1, max_length=50),
    ]


class SeatsPlayed(Decision, frozen=True, tag="seats_played", kw_only=True):
    """Who really sat where."""

    players: dict[Seat, PlayerId]


class DealPlayed(Decision, frozen=True, tag="deal_played", kw_only=True):
    """Which deal was really played or, for a play to come, is to be played."""

    played: DealNo
    result: Annotated[MessageId | None, Meta(description="the result of that play; null: the play is to come")]


class Reopen(Decision, frozen=True, tag="reopen", kw_only=True):
    """The result is withdrawn, and the table enters a new one."""


Facts = Annotated[
    tuple[MessageId, ...], Meta(min_length=1, max_length=MOST_FACTS, description="ids of facts that were kept apart")
]


class TakenOver(Decision, frozen=True, tag="taken_over", kw_only=True):
    """Facts of a play count although they do not follow from those before them."""

    facts: Facts
    replaces: Annotated[
        MessageId | None, Meta(description="the result that one of these replaces; null: the play had none")
    ]


class Discarded(Decision, frozen=True, tag="discarded", kw_only=True):
    """Facts of a play that do not follow from those before them never count."""

    facts: Facts


class Deadline(Decision, frozen=True, tag="deadline", kw_only=True):
    """When the correction period ends. After it, only the head arbiter makes rulings."""

    at: Milliseconds


class Substitute(Decision, frozen=True, tag="substitute", kw_only=True):
    """From a round on somebody else plays in a player's seats, on behalf of that player. Results count as before."""

    player: Annotated[PlayerId, Meta(description="the player replaced, who still receives the IMPs")]
    name: Annotated[Name, Meta(description="the person who sits there; the player's own name: the player is back")]
    first_round: RoundNo


class Withdrawn(Decision, frozen=True, tag="withdrawn", kw_only=True):
    """From a round on a player is gone without a substitute: plays without a result are adjusted, not played.

    The player gets what the profile gives for `fault`, everybody else at these tables what it gives for others' fault.
    """

    player: PlayerId
    first_round: RoundNo
    fault: Fault = "own"


Line = Annotated[str, Meta(max_length=LONGEST_LINE)]
MOST_SESSIONS: Final = 50


class PlayerCorrected(Decision, frozen=True, tag="player_corrected", kw_only=True):
    """Corrects the details of a player in the plan. The player's id and plays stay the same."""

    player: PlayerId
    name: Name
    country: Annotated[str, Meta(pattern=rf"^({COUNTRY})?$(?!\n)", description="a country code; empty: unknown")] = ""
    club: Line = ""
    national: Annotated[Line, Meta(description="number of the national federation")] = ""
    ema: Annotated[Line, Meta(description="number of the European association")] = ""
    first_name: Annotated[Line, Meta(description="as federations list it")] = ""
    last_name: Line = ""
    without_standing: Annotated[bool | None, Meta(description="null: as it was planned")] = None


class TitleCorrected(Decision, frozen=True, tag="title_corrected", kw_only=True):
    """Corrects the title of the event. Its name, which is part of every topic, stays."""

    title: Name


class SessionsCorrected(Decision, frozen=True, tag="sessions_corrected", kw_only=True):
    """Replaces all sessions of the plan: when rounds are played and how long a play may take."""

    sessions: Annotated[tuple[Session, ...], Meta(max_length=MOST_SESSIONS)]


MOST_CHANGED: Final = 700
"""Plays that one change of the plan may reseat. Tables store each ruling, and have room for this many."""


class SeatedAnew(Struct, frozen=True, array_like=True):
    """New seats for one play; its deal stays."""

    round: RoundNo
    table: TableNo
    east: PlayerId
    south: PlayerId
    west: PlayerId
    north: PlayerId

    @property
    def players(self) -> dict[Seat, PlayerId]:
        """The players by seat."""
        return {"east": self.east, "south": self.south, "west": self.west, "north": self.north}


class PlanChanged(Decision, frozen=True, tag="plan_changed", kw_only=True):
    """Changes the players or seats of plays that no table has begun. A play keeps its table, round and deal."""

    entered: Annotated[tuple[Player, ...], Meta(max_length=64, description="new players")] = ()
    left: Annotated[
        tuple[PlayerId, ...],
        Meta(max_length=MOST_CHANGED, description="players who leave; off the list, if they have played nothing"),
    ] = ()
    plays: Annotated[tuple[SeatedAnew, ...], Meta(max_length=MOST_CHANGED, description="plays that change")] = ()
    dropped: Annotated[
        tuple[tuple[RoundNo, TableNo], ...],
        Meta(max_length=MOST_CHANGED, description="plays that no longer take place: their tables stay empty"),
    ] = ()
    stage: Annotated[
        Name | None, Meta(description="the stage by rank that these qualifiers play; null: another change of players")
    ] = None


class FinalDeclared(Decision, frozen=True, tag="final_declared", kw_only=True):
    """The standings are final: everything is played and decided, and corrections are over."""


class CheckedIn(Decision, frozen=True, tag="checked_in", kw_only=True):
    """Whether a player has arrived."""

    player: PlayerId
    present: Annotated[bool | None, Meta(description="null: unknown again")]


class Appealed(Decision, frozen=True, tag="appeal", kw_only=True):
    """Players appeal against a ruling. The reason given is theirs."""

    ruling: MessageId
    players: Annotated[tuple[PlayerId, ...], Meta(min_length=1, max_length=4)]
    exception: Annotated[bool, Meta(description="whether it was admitted after the deadline")] = False


Verdict = Literal["upheld", "changed", "rejected"]


class AppealDecided(Decision, frozen=True, tag="appeal_decided", kw_only=True):
    """A committee has decided the appeal against a ruling. What it changes is ruled separately."""

    ruling: MessageId
    verdict: Annotated[Verdict, Meta(description="the ruling is upheld or is to be changed; or the appeal is rejected")]
    committee: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=9)]


class Undo(Decision, frozen=True, tag="undo", kw_only=True):
    """Cancels another ruling. If the `Undo` is itself undone, that ruling counts again."""

    ruling: MessageId


TableDecision = Void | Adjusted | FineRuled | Reopen
"""Rulings that can be made at the table itself."""

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
"""Rulings on facts that were kept apart."""
DEAL_DECISIONS: Final = (Fouled,)
PLAYER_DECISIONS: Final = (Substitute, Withdrawn)
PLAN_DECISIONS: Final = (PlayerCorrected, TitleCorrected, SessionsCorrected)
APPEAL_DECISIONS: Final = (Appealed, AppealDecided)
EVENT_DECISIONS: Final = (
    *(Deadline, *PLAYER_DECISIONS, *PLAN_DECISIONS, PlanChanged, FinalDeclared, CheckedIn, *APPEAL_DECISIONS, Undo),
)
"""Rulings on the whole event. Awards and fines are in no list, as they may belong to a play or to none."""


def decision_kind(decision: AnyDecision) -> str:
    """Return the kind of a ruling: its tag in messages, or the measure for an infraction."""
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
